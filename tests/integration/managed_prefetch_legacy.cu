// verdict: none
// A prefetch in the legacy stream is work there: it waits for blocking streams, and they for it.
#include "managed.h"

int main()
{
    int *p = managed();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaStream_t c = blocking_stream(), d = blocking_stream();
    launch_fill(c, p);
    CHECK(cudaMemPrefetchAsync(p, BYTES, first_device(), 0, nullptr));
    launch_increment(d, p);
    (void)a, (void)b;
    return finish();
}
