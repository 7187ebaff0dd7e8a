/* Memory that nodes of graphs allocate: its blocks, and what a device says of all of them. */
#include "runtime/device/driver/graph/graph.h"

#include <stdlib.h>

struct graph_block *graph_block_at(uint64_t address)
{
    struct graph_block *block = device.graph_blocks;
    while (block && block->address != address)
        block = block->next;
    return block;
}

struct graph_block *graph_block_create(uint64_t bytes)
{
    struct graph_block *block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    block->address = arena_allocate(&device.device_memory, bytes, memory_tag(NULL, OWNER_GRAPH), 0);
    if (!block->address) {
        free(block);
        return NULL;
    }
    outcome_born(block->address, bytes);
    block->bytes = bytes;
    block->next = device.graph_blocks;
    device.graph_blocks = block;
    return block;
}

static void block_drop_unused(struct graph_block *block)
{
    if (block->references || block->live)
        return;
    struct graph_block **link = &device.graph_blocks;
    while (*link != block)
        link = &(*link)->next;
    *link = block->next;
    outcome_freed_at(&device.device_memory, block->address);
    if (!device.fixed_memory)
        arena_free(&device.device_memory, block->address);
    free(block);
}

void graph_block_release(struct graph_block *block)
{
    block->references--;
    block_drop_unused(block);
}

bool graph_block_free(uint64_t address)
{
    struct graph_block *block = graph_block_at(address);
    if (!block || !block->live)
        return false;
    block->live = false;
    block_drop_unused(block);
    return true;
}

CUresult CUDAAPI cuDeviceGraphMemTrim(CUdevice dev)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    return device_leave(device_exists(dev) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE);
}

CUresult CUDAAPI cuDeviceGetGraphMemAttribute(CUdevice dev, CUgraphMem_attribute attr, void *value)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!device_exists(dev) || !value || (unsigned)attr > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        return device_leave(!device_exists(dev) ? CUDA_ERROR_INVALID_DEVICE
                                                : CUDA_ERROR_INVALID_VALUE);
    bool used =
        attr == CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT || attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH;
    cuuint64_t bytes = 0;
    for (const struct graph_block *block = device.graph_blocks; block; block = block->next)
        bytes += !used || block->live ? block->bytes : 0;
    *(cuuint64_t *)value = bytes;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuDeviceSetGraphMemAttribute(CUdevice dev, CUgraphMem_attribute attr, void *value)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    bool high =
        attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    if (!device_exists(dev))
        return device_leave(CUDA_ERROR_INVALID_DEVICE);
    return device_leave(high && value && !*(cuuint64_t *)value ? CUDA_SUCCESS
                                                               : CUDA_ERROR_INVALID_VALUE);
}
