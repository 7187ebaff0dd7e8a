// verdict: possible
// From kernel to kernel by two flags: the last one knows what the first one wrote.
#include "ad_hoc.h"

__global__ void pass_on(int *flag, int *next)
{
    wait_for(flag);
    __threadfence();
    *(volatile int *)next = 1;
}

int main()
{
    struct words w = words_make();
    cudaStream_t c;
    CHECK(cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking));
    produce<<<1, THREADS, 0, w.a>>>(w.data, w.flag);
    pass_on<<<1, 1, 0, c>>>(w.flag, w.other_flag);
    consume<<<1, THREADS, 0, w.b>>>(w.data, w.other_flag, w.out);
    return words_check(w);
}
