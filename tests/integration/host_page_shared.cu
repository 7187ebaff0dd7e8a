// verdict: none
// options: host=guard
// content: none
// Other bytes of the same page are the program's own, and are used meanwhile, with the right
// result.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    host[1024] = 1;
    CHECK(cudaMemcpyAsync(host, device, 64, cudaMemcpyDeviceToHost, stream));
    for (int i = 0; i < 100; i++)
        store(&host[1000], load(&host[1000]) + 1);
    if (load(&host[1000]) != 100 || load(&host[1024]) != 1)
        return 102;
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
