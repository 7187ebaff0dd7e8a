// verdict: none
// options: host=guard
// content: none
// fread behind the copy.
#include "host_memory.h"

#define CHECK_CALL(what)                                                                           \
    if (!(what))                                                                                   \
    exit(102)

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    FILE *zeros = fopen("/dev/zero", "r");
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK_CALL(fread(host, 1, HOST_BYTES, zeros) == HOST_BYTES);
    return finish();
}
