// verdict: none
// flags: -arch=sm_90
// cuda: 13
// All blocks of a cluster but one get the tile, and each waits at a barrier of its own. The tile
// reaches beyond the tensor's last row.
#include "tensor_multicast.h"

int main()
{
    int count = ROWS * COLUMNS, *p = device_array<int>(count);
    int *out = device_array<int>(BLOCKS * TILE * TILE);
    static int host[BLOCKS * TILE * TILE];
    fill<<<(count + BLOCK - 1) / BLOCK, BLOCK>>>(p, 5, count);
    load_for_all<<<BLOCKS, 64>>>(tensor_map(p, CU_TENSOR_MAP_SWIZZLE_NONE), out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < BLOCKS * TILE * TILE; i++) {
        int block = i / TILE / TILE, y = 2 * TILE + i / TILE % TILE, x = TILE + i % TILE;
        int wanted = block == SKIPPED ? -1 : y < ROWS ? 5 + y * COLUMNS + x : 0;
        if (host[i] != wanted) {
            printf("%d: %d, not %d\n", i, host[i], wanted);
            break;
        }
    }
    return finish();
}
