// verdict: race
// expect: the host's load, in the host function's call .*host_function_guarded.cu:{function}., does not wait for cudaMemcpyAsync
// options: host=guard
// content: none
// skip: gpu
// A host function on another stream than the copy reads its result. It says nothing of that to
// csan.
#include "host_memory.h"

static void read_result(void *host)
{
    load((int *)host);
}

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, a));
    CHECK(cudaLaunchHostFunc(b, read_result, host)); // at: function
    return finish();
}
