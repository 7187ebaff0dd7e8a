// skip: embedded
// flags: -arch=sm_90
// verdict: none
// As tensor_map_unordered, with an event between the two; and the tile that was stored is loaded.
#include "tensor.h"

int main()
{
    int sum = 0, *p = device_array<int>(COLUMNS * ROWS), *out = device_array<int>();
    CHECK(cudaMemset(p, 0, COLUMNS * ROWS * sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    CUtensorMap map = tensor_map(p, COLUMNS);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t stored = event_create();
    store_tile<<<1, 1, 0, a>>>(map, TILE, 0, 3);
    CHECK(cudaEventRecord(stored, a));
    CHECK(cudaStreamWaitEvent(b, stored, 0));
    load_tile<<<1, 1, 0, b>>>(map, TILE, 0, out);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(b));
    CHECK(cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost));
    if (sum != 3 * TILE * TILE) {
        fprintf(stderr, "the tile adds up to %d\n", sum);
        return 1;
    }
    return finish();
}
