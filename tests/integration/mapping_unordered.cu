// link: -lcuda
// ways: run run-static
// verdict: race
// expect: cuMemMap|mapping.h
// Two streams write what is mapped at one address.
#include "mapping.h"

int main()
{
    space s;
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUmemGenericAllocationHandle memory = s.create();
    int *p = s.map(s.reserve(), memory); // at: mapped
    launch_fill(a, p);
    launch_fill(b, p);
    return finish();
}
