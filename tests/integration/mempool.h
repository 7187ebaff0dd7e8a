// Pools of stream-ordered memory.
#pragma once

#include "program.h"

static inline cudaMemPool_t mempool_create()
{
    cudaMemPoolProps properties = {};
    cudaMemPool_t pool;
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaMemPoolCreate(&pool, &properties));
    return pool;
}

static inline void mempool_set(cudaMemPool_t pool, cudaMemPoolAttr attribute, int value)
{
    CHECK(cudaMemPoolSetAttribute(pool, attribute, &value));
}

static inline int *mempool_array(cudaMemPool_t pool, cudaStream_t stream)
{
    int *p = nullptr;
    CHECK(cudaMallocFromPoolAsync((void **)&p, BYTES, pool, stream));
    return p;
}
