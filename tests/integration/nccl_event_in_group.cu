// verdict: race
// library: nccl
// expect: ncclAllReduce
// expect: writing to argument\(s\) recvbuff
// The event is recorded before the group ends, and so before anything of it is enqueued.
#include "collectives.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t early = event_create();
    ncclComm_t comm = communicator();
    int *from = zeroed(), *to = zeroed(), *copy = zeroed();
    NCCL(ncclGroupStart());
    NCCL(ncclAllReduce(from, to, N, ncclInt32, ncclSum, comm, a));
    CHECK(cudaEventRecord(early, a));
    NCCL(ncclGroupEnd());
    CHECK(cudaStreamWaitEvent(b, early, 0));
    CHECK(cudaMemcpyAsync(copy, to, BYTES, cudaMemcpyDeviceToDevice, b));
    return finish();
}
