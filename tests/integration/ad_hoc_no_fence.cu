// verdict: race
// A flag without a fence orders nothing but itself.
#include "ad_hoc.h"

__global__ void produce_unfenced(int *data, int *flag)
{
    data[threadIdx.x] = threadIdx.x + 1;
    if (threadIdx.x == 0)
        *(volatile int *)flag = 1;
}

__global__ void consume_unfenced(const int *data, int *flag, int *out)
{
    if (*(volatile int *)flag)
        out[threadIdx.x] = 1;
    out[threadIdx.x] = data[threadIdx.x];
}

int main()
{
    struct words w = words_make();
    produce_unfenced<<<1, THREADS, 0, w.a>>>(w.data, w.flag);
    consume_unfenced<<<1, THREADS, 0, w.b>>>(w.data, w.flag, w.out);
    CHECK(cudaDeviceSynchronize());
    return finish();
}
