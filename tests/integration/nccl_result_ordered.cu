// verdict: none
// library: nccl
// The other stream waits for the sum; the source may be read at any time.
#include "collectives.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t done = event_create();
    ncclComm_t comm = communicator();
    int *from = zeroed(), *to = zeroed(), *copy = zeroed();
    NCCL(ncclAllReduce(from, to, N, ncclInt32, ncclSum, comm, a));
    CHECK(cudaMemcpyAsync(copy, from, BYTES, cudaMemcpyDeviceToDevice, b));
    CHECK(cudaEventRecord(done, a));
    CHECK(cudaStreamWaitEvent(b, done, 0));
    CHECK(cudaMemcpyAsync(copy, to, BYTES, cudaMemcpyDeviceToDevice, b));
    return finish();
}
