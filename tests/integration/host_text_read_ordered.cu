// verdict: none
// options: host=guard
// output: text\ndone
// The same behind the copy, and texts that are made in other memory meanwhile.
#include "host_memory.h"

int main()
{
    char *device = (char *)device_array<int>(HOST_N), *host = (char *)pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpy(device, "text", 5, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpyAsync(host, device, 5, cudaMemcpyDeviceToHost, stream));
    char other[64];
    snprintf(other, sizeof other, "%s %d", "other", 5);
    sprintf(host + 100, "%s", other);
    CHECK(cudaStreamSynchronize(stream));
    puts(host);
    return strcmp(host + 100, "other 5") == 0 ? finish() : 102;
}
