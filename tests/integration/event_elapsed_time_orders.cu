// verdict: none
// cudaEventElapsedTime succeeds only when both events have happened.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(start, a));
    launch_fill(a, p);
    CHECK(cudaEventRecord(end, a));
    float milliseconds = 0;
    cudaError_t status;
    while ((status = cudaEventElapsedTime(&milliseconds, start, end)) == cudaErrorNotReady)
        ;
    CHECK(status);
    (void)cudaGetLastError(); // "not ready" stays the last error otherwise
    launch_increment(b, p);
    return finish();
}
