// verdict: race
// expect: host_large_loop.cu:{access}
// options: host=guard:host_guard_us=1000000
// One place of a buffer that is too large to be guarded as a whole is refilled too early, turn
// after turn: the pages that are guarded change from op to op, and one of the turns shows it.
#include "host_memory.h"

enum { LARGE = 1 << 20, TURNS = 400 };

int main()
{
    int *host, *device = device_array<int>(LARGE / sizeof(int));
    CHECK(cudaHostAlloc((void **)&host, LARGE, cudaHostAllocDefault));
    memset(host, 0, LARGE);
    cudaStream_t stream = nonblocking_stream();
    for (int turn = 0; turn < TURNS; turn++) {
        CHECK(cudaMemcpyAsync(device, host, LARGE, cudaMemcpyHostToDevice, stream));
        store(&host[100000], turn); // at: access
        CHECK(cudaStreamSynchronize(stream));
    }
    return finish();
}
