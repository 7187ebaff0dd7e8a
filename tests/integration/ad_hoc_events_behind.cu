// verdict: possible
// Work behind the waiting kernel, on a third stream, knows what it knew.
#include "ad_hoc.h"

__global__ void copy(const int *data, int *out)
{
    out[threadIdx.x] = data[threadIdx.x];
}

int main()
{
    struct words w = words_make();
    cudaStream_t c;
    cudaEvent_t waited;
    CHECK(cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&waited));
    produce<<<1, THREADS, 0, w.a>>>(w.data, w.flag);
    wait_kernel<<<1, 1, 0, w.b>>>(w.flag);
    CHECK(cudaEventRecord(waited, w.b));
    CHECK(cudaStreamWaitEvent(c, waited, 0));
    copy<<<1, THREADS, 0, c>>>(w.data, w.out);
    return words_check(w);
}
