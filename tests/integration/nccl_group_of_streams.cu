// verdict: race
// library: nccl
// expect: ncclAllReduce
// expect: writing to argument\(s\) recvbuff
// output: 0 before\ndone
// One group with calls on two streams: each result is ready in its own stream, and in no other.
#include "collectives.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    ncclComm_t comm = communicator();
    int *from = zeroed(), *first = zeroed(), *second = zeroed(), *copy = zeroed();
    NCCL(ncclGroupStart());
    NCCL(ncclAllReduce(from, first, N, ncclInt32, ncclSum, comm, a));
    NCCL(ncclAllReduce(from, second, N, ncclInt32, ncclSum, comm, b));
    NCCL(ncclGroupEnd());
    CHECK(cudaMemcpyAsync(copy, first, BYTES, cudaMemcpyDeviceToDevice, a));
    printf("%zu before\n", csan_race_count());
    CHECK(cudaMemcpyAsync(copy, second, BYTES, cudaMemcpyDeviceToDevice, a));
    return finish();
}
