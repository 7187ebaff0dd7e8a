// link: -lcuda
// ways: run run-static
// verdict: race
// The second half of an array is unmapped while a stream writes there.
#include "mapping.h"

#include <unistd.h>

int main()
{
    space s;
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUmemGenericAllocationHandle memory = s.create();
    CUdeviceptr base = s.reserve(2);
    s.map(base, memory);
    int *q = s.map(base + s.unit, s.create());
    launch_fill(a, q);
    usleep(20000); // long enough, as a rule: but nothing says so
    DRIVER_CHECK(cuMemUnmap(base + s.unit, s.unit));
    return finish();
}
