// verdict: none
// An event query that said "success".
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t e = event_create();
    launch_fill(a, p);
    CHECK(cudaEventRecord(e, a));
    cudaError_t status;
    while ((status = cudaEventQuery(e)) == cudaErrorNotReady)
        ;
    CHECK(status);
    (void)cudaGetLastError(); // "not ready" stays the last error otherwise
    launch_increment(b, p);
    return finish();
}
