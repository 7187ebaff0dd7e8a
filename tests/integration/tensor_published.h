// A map in global memory: one stream copies it there anew, another one loads a tile by it.
#pragma once

#include "bulk_barrier.h"
#include "tiled_map.h"

enum { ROWS = 24, COLUMNS = 32, TILE_ROWS = 8, TILE_COLUMNS = 16, TILE = TILE_ROWS * TILE_COLUMNS };

__global__ void load_by(const CUtensorMap *map, int *out)
{
    __shared__ alignas(128) int tile[TILE];
    __shared__ alignas(8) uint64_t barrier;
    if (threadIdx.x == 0) {
        bulk_barrier_begin(&barrier);
        bulk_barrier_expect(&barrier, sizeof tile);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::"
                     "bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(tile)),
                     "l"(map), "r"(0), "r"(0), "r"(shared_address(&barrier))
                     : "memory");
    }
    __syncwarp();
    bulk_barrier_wait(&barrier);
    for (int i = threadIdx.x; i < TILE; i += 32)
        out[i] = tile[i];
}

static int publish_and_load(bool ordered)
{
    int *matrix = device_array<int>(ROWS * COLUMNS), *out = device_array<int>(TILE);
    CUtensorMap *host, *map;
    CHECK(cudaMallocHost(&host, sizeof *host));
    CHECK(cudaMalloc(&map, sizeof *map));
    const CUtensorMap encoded =
        tiled_map(matrix, {COLUMNS, ROWS, TILE_COLUMNS, TILE_ROWS, CU_TENSOR_MAP_SWIZZLE_NONE});
    *host = encoded;
    CHECK(cudaMemcpy(map, host, sizeof *map, cudaMemcpyHostToDevice));
    cudaStream_t first = nonblocking_stream(), second = nonblocking_stream();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpyAsync(map, host, sizeof *map, cudaMemcpyHostToDevice, first));
    if (ordered) {
        cudaEvent_t event = event_create();
        CHECK(cudaEventRecord(event, first));
        CHECK(cudaStreamWaitEvent(second, event));
    }
    load_by<<<1, 32, 0, second>>>(map, out);
    CHECK(cudaGetLastError());
    return finish();
}
