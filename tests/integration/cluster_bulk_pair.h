// One stream spreads a piece over a cluster; another one sets the last of its ints.
#include "cluster_bulk.h"

static int set_beside(int first, bool ordered)
{
    int *in = device_array<int>(2 * PIECE), *out = device_array<int>(CLUSTER * PIECE);
    cudaStream_t one = nonblocking_stream(), other = nonblocking_stream();
    CHECK(cudaDeviceSynchronize());
    spread<<<CLUSTER, 32, 0, one>>>(in, 15, out);
    CHECK(cudaGetLastError());
    if (ordered) {
        cudaEvent_t event = event_create();
        CHECK(cudaEventRecord(event, one));
        CHECK(cudaStreamWaitEvent(other, event));
    }
    CHECK(cudaMemsetAsync(in + first, 0, sizeof(int), other));
    return finish();
}
