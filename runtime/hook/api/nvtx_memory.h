/* NVTX's memory API (nvToolsExtMem.h): a pool that registers its heap and the regions that it hands
 * out declares them to every tool. To csan the regions of a sub-allocator's heap are declared
 * blocks (pool_block.h). */
#ifndef RUNTIME_HOOK_API_NVTX_MEMORY_H
#define RUNTIME_HOOK_API_NVTX_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* What NVTX says of one of its extensions (nvtxDetail/nvtxExtTypes.h). */
struct nvtx_segment {
    size_t number, count;
    intptr_t *functions; /* `count` of them, by their numbers in the extension; 0: not attached */
};
struct nvtx_extension {
    uint16_t nvtx_version, bytes;
    uint16_t module, compatibility;
    size_t segment_count;
    struct nvtx_segment *segments;
    intptr_t (*get_function)(uint32_t number); /* may be NULL */
    const void *info;
};

/* NVTX looks this function up in an injection library, and calls it before the first use of an
 * extension in each object that has a copy of NVTX (nvtxDetail/nvtxExtInit.h). 1: the extension is
 * attached; 0: it is not, and does nothing. csan attaches to the memory API alone. Any thread. */
int InitializeInjectionNvtxExtension(struct nvtx_extension *extension)
    __attribute__((visibility("default")));

#endif
