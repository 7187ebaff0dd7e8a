// flags: -arch=sm_90
// verdict: race
// The third kernel waits for the second, which did not wait for the first.
#include "programmatic.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *out = device_array<int>();
    cudaStream_t s = nonblocking_stream();
    launch_fill_and_let(s, p);
    launch_beside(s, fill_not_waiting_and_let, q, 1, N);
    launch_beside(s, copy_waiting, out, p, N);
    return finish();
}
