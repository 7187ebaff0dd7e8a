// A small pool that declares its memory by NVTX's memory API, for any tool that reads it, and by
// nothing else: one allocation, handed out from its begin on. A block that is taken back is the
// begin of what is free.
#pragma once

#include "program.h"

#include <nvtx3/nvToolsExtMem.h>

// Where a block's elements go, PTX does not know.
__global__ void scatter(int *out, const int *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[to[i]] = i;
}

class nvtx_pool
{
  public:
    explicit nvtx_pool(size_t bytes)
        : domain_(nvtxDomainCreateA("pool")), memory_(device_array<char>(bytes)),
          heap_(register_heap(bytes))
    {
    }

    ~nvtx_pool()
    {
        nvtxMemHeapUnregister(domain_, heap_);
        CHECK(cudaFree(memory_));
    }

    template <typename T> T *allocate(size_t bytes)
    {
        char *block = memory_ + used_;
        used_ += bytes;
        nvtxMemVirtualRangeDesc_t range = {bytes, block};
        nvtxMemRegionsRegisterBatch_t batch = {};
        batch.extCompatID = NVTX_EXT_COMPATID_MEM;
        batch.structSize = sizeof batch;
        batch.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
        batch.heap = heap_;
        batch.regionCount = 1;
        batch.regionDescElementSize = sizeof range;
        batch.regionDescElements = &range;
        nvtxMemRegionsRegister(domain_, &batch);
        return reinterpret_cast<T *>(block);
    }

    void deallocate(void *block)
    {
        nvtxMemRegionRef_t region;
        region.pointer = block;
        nvtxMemRegionsUnregisterBatch_t batch = {};
        batch.extCompatID = NVTX_EXT_COMPATID_MEM;
        batch.structSize = sizeof batch;
        batch.refType = NVTX_MEM_REGION_REF_TYPE_POINTER;
        batch.refCount = 1;
        batch.refElementSize = sizeof region;
        batch.refElements = &region;
        nvtxMemRegionsUnregister(domain_, &batch);
        used_ = static_cast<size_t>(static_cast<char *>(block) - memory_);
    }

    void resize(void *block, size_t bytes)
    {
        nvtxMemVirtualRangeDesc_t range = {bytes, block};
        nvtxMemRegionsResizeBatch_t batch = {};
        batch.extCompatID = NVTX_EXT_COMPATID_MEM;
        batch.structSize = sizeof batch;
        batch.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
        batch.regionDescCount = 1;
        batch.regionDescElementSize = sizeof range;
        batch.regionDescElements = &range;
        nvtxMemRegionsResize(domain_, &batch);
        used_ = static_cast<size_t>(static_cast<char *>(block) - memory_) + bytes;
    }

    // Takes all blocks back at once, as an arena does.
    void reset()
    {
        nvtxMemHeapReset(domain_, heap_);
        used_ = 0;
    }

  private:
    nvtxMemHeapHandle_t register_heap(size_t bytes)
    {
        nvtxMemVirtualRangeDesc_t range = {bytes, memory_};
        nvtxMemHeapDesc_t is = {};
        is.extCompatID = NVTX_EXT_COMPATID_MEM;
        is.structSize = sizeof is;
        is.usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR;
        is.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
        is.typeSpecificDescSize = sizeof range;
        is.typeSpecificDesc = &range;
        return nvtxMemHeapRegister(domain_, &is);
    }

    nvtxDomainHandle_t domain_;
    char *memory_;
    nvtxMemHeapHandle_t heap_;
    size_t used_ = 0;
};
