// flags: -arch=sm_90
// verdict: none
// The first kernel lets nobody begin early, so the second begins at its end.
#include "programmatic.h"

int main()
{
    int *p = device_array<int>(), *out = device_array<int>();
    cudaStream_t s = nonblocking_stream();
    launch_fill(s, p);
    launch_beside(s, copy, out, p, N);
    return finish();
}
