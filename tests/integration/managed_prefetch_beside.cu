// verdict: none
// A prefetch changes no bytes: others may write meanwhile.
#include "managed.h"

int main()
{
    int *p = managed();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    CHECK(cudaMemPrefetchAsync(p, BYTES, first_device(), 0, b));
    return finish();
}
