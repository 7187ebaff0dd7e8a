// link: -lcuda
// ways: run run-static
// verdict: race
// expect: increment
// One green context ends after its work: what its part of the device did is in order, and the other
// one's stream still races with the primary context's.
#include "green.h"

int main()
{
    greens_create();
    int *p = device_array<int>();
    cudaStream_t a = green_stream(0), b = green_stream(1);
    launch_fill(b, p);
    CHECK(cudaStreamSynchronize(b));
    CHECK(cudaStreamDestroy(b));
    DRIVER_CHECK(cuGreenCtxDestroy(greens[1]));
    launch_fill(a, p);
    launch_increment(nonblocking_stream(), p);
    return finish();
}
