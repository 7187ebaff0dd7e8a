// verdict: race
// Each kernel uses a word, but none that they share.
#include "ad_hoc.h"

__global__ void sum_up(int *data, int *counter)
{
    data[threadIdx.x] = threadIdx.x + 1;
    __threadfence();
    if (atomicAdd(counter, 1) == THREADS - 1)
        __threadfence();
}

int main()
{
    struct words w = words_make();
    sum_up<<<1, THREADS, 0, w.a>>>(w.data, w.flag);
    sum_up<<<1, THREADS, 0, w.b>>>(w.data, w.other_flag);
    CHECK(cudaDeviceSynchronize());
    return finish();
}
