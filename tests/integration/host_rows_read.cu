// verdict: race
// options: host=guard
// expect: the host's load
// expect: host_rows_read.cu:{access}
// expect: , 1 race,
// Rows with gaps between: the host may use the gaps while the rows are copied, and reads a row too
// early.
#include "host_memory.h"

enum { PITCH = 400, WIDTH = 100, ROWS = 20 };

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    CHECK(
        cudaMemcpy2DAsync(host, PITCH, device, PITCH, WIDTH, ROWS, cudaMemcpyDeviceToHost, stream));
    for (int row = 0; row < ROWS; row++)
        store(host + (row * PITCH + WIDTH) / (int)sizeof *host, row);
    int value = load(host + 3 * PITCH / (int)sizeof *host); // at: access
    CHECK(cudaStreamSynchronize(stream));
    return value == 0 ? finish() : 102;
}
