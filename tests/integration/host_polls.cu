// verdict: none
// options: host=guard
// The host looks at a word that a kernel raises until it says that the copy before it is done,
// reads what came, and waits for nothing else.
#include "host_memory.h"

__global__ void raise(volatile int *flag, int value)
{
    __threadfence_system();
    *flag = value;
}

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory(), *flag = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    for (int turn = 1; turn <= 3; turn++) {
        launch_fill(stream, device, turn, HOST_N);
        CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
        raise<<<1, 1, 0, stream>>>(flag, turn);
        CHECK(cudaGetLastError());
        while (load(flag) != turn)
            ;
        if (load(&host[0]) != turn)
            return 102;
        store(&host[0], 0);
    }
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
