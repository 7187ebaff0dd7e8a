// verdict: race
// Destroying a blocking stream makes no order between what it did and another blocking stream,
// though both are ordered after the same work in the legacy stream.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *other = device_array<int>();
    cudaStream_t a = blocking_stream(), b = blocking_stream();
    launch_fill(0, other);
    launch_fill(a, p);
    CHECK(cudaStreamDestroy(a));
    launch_increment(b, p);
    return finish();
}
