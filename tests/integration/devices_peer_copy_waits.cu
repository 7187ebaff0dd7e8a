// devices: 2
// verdict: none
// A peer copy without Async is ordered with the blocking streams and the legacy ones of both
// devices, before and after.
#include "devices.h"

static cudaStream_t blocking_on(int device)
{
    cudaStream_t stream;
    on(device);
    CHECK(cudaStreamCreate(&stream));
    on(0);
    return stream;
}

int main()
{
    two_devices();
    cudaStream_t a = blocking_on(0), b = blocking_on(1);
    int *p = array_on(0), *q = array_on(1);
    fill_on(0, a, p);
    fill_on(1, b, q);
    CHECK(cudaMemcpyPeer(p, 0, q, 1, BYTES));
    increment_on(0, a, p);
    increment_on(1, b, q);
    CHECK(cudaMemcpyPeer(q, 1, p, 0, BYTES));
    increment_on(0, nullptr, p);
    increment_on(1, nullptr, q);
    return finish_both();
}
