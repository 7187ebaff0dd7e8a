// verdict: none
// library: nccl
// Groups nest. What the stream is given within comes before the collectives, which are enqueued at
// the end of the outermost one.
#include "collectives.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t filled = event_create(), done = event_create();
    ncclComm_t comm = communicator();
    int *from = zeroed(), *to = zeroed();
    NCCL(ncclGroupStart());
    NCCL(ncclGroupStart());
    NCCL(ncclAllReduce(from, to, N / 2, ncclInt32, ncclSum, comm, a));
    NCCL(ncclAllReduce(from + N / 2, to + N / 2, N / 2, ncclInt32, ncclSum, comm, a));
    NCCL(ncclGroupEnd());
    launch_fill(b, from);
    CHECK(cudaEventRecord(filled, b));
    CHECK(cudaStreamWaitEvent(a, filled, 0));
    NCCL(ncclGroupEnd());
    CHECK(cudaEventRecord(done, a));
    CHECK(cudaStreamWaitEvent(b, done, 0));
    launch_fill(b, to);
    return finish();
}
