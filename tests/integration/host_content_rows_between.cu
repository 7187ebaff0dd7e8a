// verdict: none
// options: host=content
// A copy of rows: the host changes what lies between them.
#include "host_memory.h"

enum { ROWS = 16, ROW = 64, PITCH = 256 };

int main()
{
    char *device = (char *)device_array<int>(HOST_N), *host = (char *)pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpy2DAsync(device, ROW, host, PITCH, ROW, ROWS, cudaMemcpyHostToDevice, stream));
    for (int row = 0; row < ROWS; row++)
        memset(host + row * PITCH + ROW, 1, PITCH - ROW);
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
