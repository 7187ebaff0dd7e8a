// verdict: race
// library: nccl
// devices: 2
// expect: ncclAllReduce
// expect: writing to argument\(s\) recvbuff
// Two GPUs of one process; on the second one another stream reads the sum early.
#include "collectives.h"

int main()
{
    ncclComm_t comms[2];
    cudaStream_t streams[2], other = nullptr;
    int *from[2], *to[2], *copy = nullptr;
    NCCL(ncclCommInitAll(comms, 2, nullptr));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaSetDevice(i));
        streams[i] = nonblocking_stream();
        from[i] = zeroed(), to[i] = zeroed(), copy = zeroed();
        other = nonblocking_stream();
    }
    NCCL(ncclGroupStart());
    for (int i = 0; i < 2; i++)
        NCCL(ncclAllReduce(from[i], to[i], N, ncclInt32, ncclSum, comms[i], streams[i]));
    NCCL(ncclGroupEnd());
    CHECK(cudaMemcpyAsync(copy, to[1], BYTES, cudaMemcpyDeviceToDevice, other));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(0));
    return finish();
}
