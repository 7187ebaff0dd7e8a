// verdict: none
// options: host=guard
// content: none
// A forked child uses the memory as if nothing were guarded.
#include "host_memory.h"
#include <sys/wait.h>
#include <unistd.h>

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    const pid_t child = fork();
    if (child == 0) {
        store(&host[5], 1);
        _exit(load(&host[5]) == 1 ? 0 : 103);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0)
        return 102;
    CHECK(cudaStreamSynchronize(stream));
    load(&host[5]);
    return finish();
}
