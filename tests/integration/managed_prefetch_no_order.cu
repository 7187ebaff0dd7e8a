// verdict: race
// A prefetch in the other stream orders nothing.
#include "managed.h"

int main()
{
    int *p = managed();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    CHECK(cudaMemPrefetchAsync(p, BYTES, first_device(), 0, b));
    launch_increment(b, p);
    return finish();
}
