// verdict: race
// Memory of malloc, registered: a kernel writes it through its device pointer, the host reads.
#include "program.h"

int main()
{
    int *host = (int *)aligned_alloc(4096, 4096), *p;
    memset(host, 0, 4096);
    CHECK(cudaHostRegister(host, 4096, cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer((void **)&p, host, 0));
    cudaStream_t a = nonblocking_stream();
    launch_fill(a, p);
    csan_host_reads(host, BYTES);
    return finish();
}
