// flags: -arch=sm_90
// verdict: race
// expect: and this access comes before any griddepcontrol.wait of its own\.
// expect: Fix: call cudaGridDependencySynchronize\(\) \(griddepcontrol.wait\) in add_waiting before that access, or launch it
// The second kernel waits, but reads what the first one writes before.
#include "programmatic.h"

int main()
{
    int *p = device_array<int>(), *weights = device_array<int>(), *out = device_array<int>();
    cudaStream_t s = nonblocking_stream();
    launch_fill(s, weights);
    launch_fill_and_let(s, p);
    launch_beside(s, add_waiting, out, p, weights, N);
    return finish();
}
