// verdict: race
// Release and acquire at block scope reach no other kernel.
#include "ad_hoc.h"

__device__ inline int acquire(int *flag)
{
    int value;
    asm volatile("ld.acquire.cta.b32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
}

__global__ void produce_in_block(int *data, int *flag)
{
    data[threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("st.release.cta.b32 [%0], 1;" ::"l"(flag) : "memory");
}

__global__ void consume_in_block(const int *data, int *flag, int *out)
{
    if (threadIdx.x == 0)
        acquire(flag);
    __syncthreads();
    out[threadIdx.x] = data[threadIdx.x];
}

int main()
{
    struct words w = words_make();
    produce_in_block<<<1, THREADS, 0, w.a>>>(w.data, w.flag);
    consume_in_block<<<1, THREADS, 0, w.b>>>(w.data, w.flag, w.out);
    CHECK(cudaDeviceSynchronize());
    return finish();
}
