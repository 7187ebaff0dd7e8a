// verdict: race
// expect: host_page_shared_race.cu:{access}
// options: host=guard
// content: none
// After a hundred accesses to other bytes of its page, the access that meets the copy is still
// found.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpyAsync(host, device, 64, cudaMemcpyDeviceToHost, stream));
    for (int i = 0; i < 100; i++)
        store(&host[1000], i);
    load(&host[15]); // at: access
    return finish();
}
