// verdict: none
// flags: -arch=sm_90
// link: -lcuda
// cuda: 13
// Tiles of a matrix go through shared memory; the last ones reach beyond its end, where nothing is
// read and nothing is written. One map was made for other memory, and moved.
#include "driver_check.h"
#include "tensor_copy.h"

int main()
{
    int count = ROWS * COLUMNS, *p = device_array<int>(count), *q = device_array<int>(count + 64);
    static int host[ROWS * COLUMNS + 64];
    CHECK(cudaMemset(q, 0, sizeof host));
    fill<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(p, 5, count);
    CUtensorMap from = tensor_map(q);
    DRIVER_CHECK(cuTensorMapReplaceAddress(&from, p));
    move_tiles<<<tiles(), 64>>>(from, tensor_map(q));
    CHECK(cudaMemcpy(host, q, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < count + 64; i++)
        if (host[i] != (i < count ? 6 + i : 0)) {
            printf("%d: %d\n", i, host[i]);
            break;
        }
    return finish();
}
