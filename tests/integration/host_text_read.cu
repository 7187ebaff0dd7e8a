// verdict: race
// options: host=guard
// expect: the host's load
// expect: host_text_read.cu:{access}
// own-errors: yes
// The C library's printf reads a text that a copy may still write.
#include "host_memory.h"

int main()
{
    char *device = (char *)device_array<int>(HOST_N), *host = (char *)pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpy(device, "text", 5, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpyAsync(host, device, 5, cudaMemcpyDeviceToHost, stream));
    fprintf(stderr, "%s\n", host); // at: access
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
