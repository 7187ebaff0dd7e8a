// verdict: none
// With CU_CTX_SYNC_MEMOPS every synchronous copy and set waits for itself: inside the device, from
// pageable memory, and a set of memory of the device.
#include "program.h"

static int pageable[N];

int main()
{
    CHECK(cudaSetDeviceFlags(cudaDeviceSyncMemops));
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    CHECK(cudaMemset(p, 0, BYTES));
    launch_increment(a, p);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(q, p, BYTES, cudaMemcpyDeviceToDevice));
    launch_increment(a, q);
    launch_increment(a, p);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(p, pageable, BYTES, cudaMemcpyHostToDevice));
    launch_increment(a, p);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemset2D(p, 64, 1, 64, BYTES / 64));
    launch_increment(a, p);
    return finish();
}
