// A kernel adds tiles to a matrix; another stream clears the matrix, behind an event or at once.
#include "tensor_reduce.h"

int main()
{
    int *sums = device_array<int>(ROWS * COLUMNS);
    cudaStream_t first = nonblocking_stream(), second = nonblocking_stream();
    const CUtensorMap map = tensor_map(sums);
    CHECK(cudaMemset(sums, 0, ROWS * COLUMNS * sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    add_tiles<<<tiles(), 64, 0, first>>>(map, 1);
    if (ORDERED) {
        cudaEvent_t event = event_create();
        CHECK(cudaEventRecord(event, first));
        CHECK(cudaStreamWaitEvent(second, event));
    }
    CHECK(cudaMemsetAsync(sums, 0, ROWS * COLUMNS * sizeof(int), second));
    return finish();
}
