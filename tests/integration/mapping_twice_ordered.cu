// link: -lcuda
// ways: run run-static
// verdict: none
// As mapping_twice_unordered, with an event between the two.
#include "mapping.h"

int main()
{
    space s;
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUmemGenericAllocationHandle memory = s.create();
    int *p = s.map(s.reserve(), memory), *q = s.map(s.reserve(), memory);
    cudaEvent_t e = event_create();
    launch_fill(a, p);
    CHECK(cudaEventRecord(e, a));
    CHECK(cudaStreamWaitEvent(b, e, 0));
    launch_increment(b, q);
    return finish();
}
