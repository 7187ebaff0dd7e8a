// verdict: race
// library: nccl
// expect: ncclAllReduce
// expect: writing to argument\(s\) recvbuff
// expect: Overlap: 4096 bytes
// Another stream reads the sum before it is there.
#include "collectives.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    ncclComm_t comm = communicator();
    int *from = zeroed(), *to = zeroed(), *copy = zeroed();
    NCCL(ncclAllReduce(from, to, N, ncclInt32, ncclSum, comm, a));
    CHECK(cudaMemcpyAsync(copy, to, BYTES, cudaMemcpyDeviceToDevice, b));
    return finish();
}
