// verdict: race
// expect: Overlap: 64 bytes, 0 to 63
// options: host=content
// A copy of rows: the host changes a row.
#include "host_memory.h"

enum { ROWS = 16, ROW = 64, PITCH = 256 };

int main()
{
    char *device = (char *)device_array<int>(HOST_N), *host = (char *)pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpy2DAsync(device, ROW, host, PITCH, ROW, ROWS, cudaMemcpyHostToDevice, stream));
    memset(host, 1, ROW);
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
