// verdict: race
// The host writes managed memory while a kernel does.
#include "program.h"

int main()
{
    int *p;
    CHECK(cudaMallocManaged((void **)&p, BYTES));
    cudaStream_t a = nonblocking_stream();
    launch_fill(a, p);
    csan_host_writes(p, BYTES);
    return finish();
}
