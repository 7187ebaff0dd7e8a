// verdict: none
// A prefetch of memory that is not managed: the error of the driver, and no work.
#include "managed.h"

int main()
{
    int *p = managed();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *q = device_array<int>();
    launch_fill(a, p);
    if (cudaMemPrefetchAsync(q, BYTES, first_device(), 0, b) != cudaErrorInvalidValue)
        return 102;
    if (cudaGetLastError() != cudaErrorInvalidValue)
        return 103;
    return finish();
}
