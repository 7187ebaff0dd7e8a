// verdict: none
// expect: host memory: 0 sources hashed
// options: host=content
// A copy without Async has read its pinned source when the call returns: nothing is looked at.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    for (int turn = 0; turn < 3; turn++) {
        memset(host, turn, HOST_BYTES);
        CHECK(cudaMemcpy(device, host, HOST_BYTES, cudaMemcpyHostToDevice));
    }
    return finish();
}
