// devices: 2
// verdict: race
// Resetting one device ends its work alone: the other goes on.
#include "devices.h"

int main()
{
    two_devices();
    cudaStream_t a = stream_on(0), b = stream_on(1);
    int *p = array_on(0), *q = array_on(1);
    int *pinned = nullptr;
    CHECK(cudaHostAlloc((void **)&pinned, BYTES, cudaHostAllocPortable));
    fill_on(0, a, pinned); // at: first
    on(1);
    CHECK(cudaDeviceReset());
    cudaStream_t c = nonblocking_stream();
    launch_fill(c, pinned);
    on(0);
    (void)b, (void)p, (void)q;
    return finish_both();
}
