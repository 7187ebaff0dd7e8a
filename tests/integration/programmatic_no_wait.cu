// flags: -arch=sm_90
// verdict: race
// expect: overlapping launch
// expect: Fix: call cudaGridDependencySynchronize\(\) \(griddepcontrol.wait\) in copy
// The second kernel may begin early and does not wait: no stream order holds between the two.
#include "programmatic.h"

int main()
{
    int *p = device_array<int>(), *out = device_array<int>();
    cudaStream_t s = nonblocking_stream();
    launch_fill_and_let(s, p); // at: first
    launch_beside(s, copy, out, p, N);
    return finish();
}
