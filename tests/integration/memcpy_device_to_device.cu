// verdict: race
// A "synchronous" copy inside the device is not one: the host does not wait for it.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    CHECK(cudaMemset(p, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    cudaStream_t a = nonblocking_stream();
    CHECK(cudaMemcpy(q, p, BYTES, cudaMemcpyDeviceToDevice));
    launch_increment(a, q);
    return finish();
}
