// flags: -arch=sm_90
// verdict: none
// What the second kernel reads before it waits, the first one does not write.
#include "programmatic.h"

int main()
{
    int *p = device_array<int>(), *weights = device_array<int>(), *out = device_array<int>();
    cudaStream_t s = nonblocking_stream();
    launch_fill(s, weights);
    launch_fill_and_let(s, p);
    launch_beside(s, add_waiting, out, weights, p, N);
    return finish();
}
