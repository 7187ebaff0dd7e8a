/* One of two units of -rdc=true: uses what unit_b.cu defines, and has private names equal to its.
 */
extern __device__ int other(int);
extern __device__ float value;
static __device__ int calls;
struct link {
    link *next;
    int payload;
};
extern __device__ link tail;
__device__ link head = {&tail, 7};
template <typename T> __device__ __noinline__ T in_both(T x)
{
    return x * x + 1;
}
__global__ void from_a(int *p)
{
    calls++;
    p[threadIdx.x] = other(3) + (int)value + in_both<int>(p[0]) + head.next->payload;
}
