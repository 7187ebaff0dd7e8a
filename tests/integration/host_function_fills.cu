// verdict: none
// options: host=guard
// content: none
// A host function fills pageable memory, and the copy behind it may read that at the call. Pages of
// pageable memory are not guarded; code that announces its accesses shows the race
// (tests/shell/test_host_instrumented.sh).
#include "host_memory.h"

static void fill(void *memory)
{
    store((int *)memory, 3); // at: access
}

int main()
{
    int *device = device_array<int>(HOST_N), *host = (int *)malloc(HOST_BYTES);
    memset(host, 0, HOST_BYTES);
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaLaunchHostFunc(stream, fill, host));
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    return finish();
}
