// verdict: race
// expect: memops_cleared.cu:{set}
// ways: run
// link: -lcuda
// CU_CTX_SYNC_MEMOPS taken back: a set of memory of the device no longer waits.
#include "program.h"
#include "driver_check.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    unsigned flags;
    DRIVER_CHECK(cuCtxGetFlags(&flags));
    DRIVER_CHECK(cuCtxSetFlags(flags | CU_CTX_SYNC_MEMOPS));
    CHECK(cudaMemset(p, 0, BYTES));
    launch_increment(a, p);
    DRIVER_CHECK(cuCtxSetFlags(flags));
    CHECK(cudaMemset(q, 0, BYTES)); // at: set
    launch_increment(a, q);
    return finish();
}
