// verdict: none
// A query that said "success" is as good as a wait.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    cudaError_t status;
    while ((status = cudaStreamQuery(a)) == cudaErrorNotReady)
        ;
    CHECK(status);
    (void)cudaGetLastError(); // "not ready" stays the last error otherwise
    launch_increment(b, p);
    return finish();
}
