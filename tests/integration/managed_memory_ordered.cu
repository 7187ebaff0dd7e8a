// verdict: none
// Host and device take turns on managed memory.
#include "program.h"

int main()
{
    int *p;
    CHECK(cudaMallocManaged((void **)&p, BYTES));
    csan_host_writes(p, BYTES);
    memset(p, 0, BYTES);
    cudaStream_t a = nonblocking_stream();
    launch_increment(a, p);
    CHECK(cudaStreamSynchronize(a));
    csan_host_reads(p, BYTES);
    if (p[N - 1] != 1)
        printf("wrong: %d\n", p[N - 1]);
    return finish();
}
