// link: -lcuda
// ways: run run-static
// verdict: race
// The handle of mapped memory, got back by its address, maps the same bytes.
#include "mapping.h"

int main()
{
    space s;
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUmemGenericAllocationHandle memory = s.create();
    CUmemGenericAllocationHandle again;
    int *p = s.map(s.reserve(), memory);
    DRIVER_CHECK(cuMemRetainAllocationHandle(&again, p));
    int *q = s.map(s.reserve(), again);
    launch_fill(a, p);
    launch_fill(b, q);
    return finish();
}
