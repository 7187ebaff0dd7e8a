// link: -lcuda
// ways: run run-static
// verdict: none
// Two pieces of physical memory.
#include "mapping.h"

int main()
{
    space s;
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUmemGenericAllocationHandle memory = s.create();
    int *p = s.map(s.reserve(), memory), *q = s.map(s.reserve(), s.create());
    launch_fill(a, p);
    launch_fill(b, q);
    return finish();
}
