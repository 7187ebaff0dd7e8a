// flags: -arch=sm_90
// verdict: none
// As programmatic_no_wait, and the second kernel waits before it reads.
#include "programmatic.h"

int main()
{
    int *p = device_array<int>(), *out = device_array<int>();
    cudaStream_t s = nonblocking_stream();
    launch_fill_and_let(s, p);
    launch_beside(s, copy_waiting, out, p, N);
    return finish();
}
