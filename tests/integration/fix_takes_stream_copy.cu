// verdict: race
// expect: Fix: make cu(da)?Memcpy(DtoD)? \(.*fix_takes_stream_copy.cu:{copy}\) in stream [A-Z] instead of the legacy default stream \(cudaMemcpyAsync takes the stream
// A copy within the device in the legacy default stream, which the host does not wait for, and a
// kernel in a non-blocking one that changes what was copied.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    CHECK(cudaMemset(p, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    cudaStream_t s = nonblocking_stream();
    CHECK(cudaMemcpy(q, p, BYTES, cudaMemcpyDeviceToDevice)); // at: copy
    launch_increment(s, q);
    return finish();
}
