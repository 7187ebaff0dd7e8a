// verdict: possible
// The same by release and acquire of the whole device.
#include "ad_hoc.h"

__device__ inline int acquire(int *flag)
{
    int value;
    asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
}

__global__ void produce_scoped(int *data, int *flag)
{
    data[threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("st.release.gpu.b32 [%0], 1;" ::"l"(flag) : "memory");
}

__global__ void consume_scoped(const int *data, int *flag, int *out)
{
    if (threadIdx.x == 0)
        while (acquire(flag) == 0)
            ;
    __syncthreads();
    out[threadIdx.x] = data[threadIdx.x];
}

int main()
{
    struct words w = words_make();
    produce_scoped<<<1, THREADS, 0, w.a>>>(w.data, w.flag);
    consume_scoped<<<1, THREADS, 0, w.b>>>(w.data, w.flag, w.out);
    return words_check(w);
}
