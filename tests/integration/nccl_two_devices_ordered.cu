// verdict: none
// library: nccl
// devices: 2
// Two GPUs of one process, each by its default stream, while the second one is current: the sums
// are read on streams that wait for the default stream of their own GPU.
#include "collectives.h"

int main()
{
    ncclComm_t comms[2];
    cudaStream_t readers[2];
    int *from[2], *to[2], *copy[2];
    NCCL(ncclCommInitAll(comms, 2, nullptr));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaSetDevice(i));
        readers[i] = blocking_stream();
        from[i] = zeroed(), to[i] = zeroed(), copy[i] = zeroed();
        launch_fill(nullptr, from[i]);
    }
    for (int round = 0; round < 10; round++) {
        NCCL(ncclGroupStart());
        for (int i = 0; i < 2; i++)
            NCCL(ncclAllReduce(from[i], to[i], N, ncclInt32, ncclSum, comms[i], nullptr));
        NCCL(ncclGroupEnd());
        for (int i = 0; i < 2; i++) {
            CHECK(cudaSetDevice(i));
            CHECK(cudaMemcpyAsync(copy[i], to[i], BYTES, cudaMemcpyDeviceToDevice, readers[i]));
        }
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(0));
    return finish();
}
