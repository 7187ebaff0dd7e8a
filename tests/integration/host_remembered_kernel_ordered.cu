// verdict: none
// options: host=guard:host_guard_us=1000000:trace=0
// The same program waits before each store.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *managed = managed_memory();
    cudaStream_t stream = nonblocking_stream();
    for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < 10; i++)
            launch_fill(stream, device, i, HOST_N);
        launch_fill(stream, managed, 1, HOST_N);
        CHECK(cudaStreamSynchronize(stream));
        store(&managed[7], 5);
        for (int i = 0; i < 10; i++)
            launch_fill(stream, device, i, HOST_N);
        store(&managed[9], 5);
    }
    return finish();
}
