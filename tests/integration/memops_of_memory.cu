// verdict: race
// expect: , 1 race,
// expect: memops_of_memory.cu:{other}
// ways: run
// link: -lcuda
// CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: synchronous copies from or to that memory wait, until it is
// taken back or the memory is; those of other memory do not.
#include "program.h"
#include "driver_check.h"

static void attribute(int *p, unsigned on)
{
    unsigned now = 2;
    DRIVER_CHECK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)p));
    DRIVER_CHECK(
        cuPointerGetAttribute(&now, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)(p + 1)));
    if ((now & 1) != on)
        exit(102);
}

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *r = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    attribute(p, 1);
    CHECK(cudaMemset(p, 0, BYTES));
    launch_increment(a, p);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(q, p, BYTES, cudaMemcpyDeviceToDevice));
    launch_increment(a, q);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(r, q, BYTES, cudaMemcpyDeviceToDevice)); // at: other
    launch_increment(a, r);
    CHECK(cudaDeviceSynchronize());
    attribute(p, 0);
    return finish();
}
