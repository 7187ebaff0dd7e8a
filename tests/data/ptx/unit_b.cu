/* The other unit: see unit_a.cu. */
__device__ float value = 2;
static __device__ int calls;
struct link {
    link *next;
    int payload;
};
__device__ link tail = {0, 9};
template <typename T> __device__ __noinline__ T in_both(T x)
{
    return x * x + 1;
}
__device__ int other(int x)
{
    return x + calls++ + in_both<int>(x);
}
static __global__ void from_b(int *p)
{
    *p = calls++;
}
void launch_b(int *p)
{
    from_b<<<1, 1>>>(p);
}
