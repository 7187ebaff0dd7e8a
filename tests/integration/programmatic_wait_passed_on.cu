// flags: -arch=sm_90
// verdict: none
// Each kernel waits for the one before it.
#include "programmatic.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *out = device_array<int>();
    cudaStream_t s = nonblocking_stream();
    launch_fill_and_let(s, p);
    launch_beside(s, copy_waiting, q, p, N);
    launch_beside(s, copy_waiting, out, p, N);
    launch_beside(s, copy_waiting, p, q, N);
    return finish();
}
