// verdict: race
// expect: the host's store .* does not wait for
// expect: host_remembered_kernel.cu:{access}
// options: host=guard:host_guard_us=1000000:trace=0
// Kernels that a thread knows may be deferred. One that writes managed memory is guarded from its
// call on all the same, among others that touch the device's memory alone.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *managed = managed_memory();
    cudaStream_t stream = nonblocking_stream();
    for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < 10; i++)
            launch_fill(stream, device, i, HOST_N);
        launch_fill(stream, managed, 1, HOST_N);
        if (turn == 19)
            store(&managed[7], 5); // at: access
        CHECK(cudaStreamSynchronize(stream));
        store(&managed[9], 5);
    }
    return finish();
}
