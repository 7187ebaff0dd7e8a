// verdict: race
// expect: host_call_fread.cu:{access}
// expect: fread .* does not wait for cudaMemcpyAsync
// options: host=guard
// content: none
// fread, which reads past its own buffer into the program's.
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
    CHECK_CALL(fread(host, 1, HOST_BYTES, zeros) == HOST_BYTES); // at: access
    return finish();
}
