/* What the functions of NVTX's memory API do when csan is attached. See nvtx_memory.h.
 *
 * The numbers and structs are those of version 1 of that API (nvToolsExtMem.h). A heap is memory
 * that the program divides into regions. csan keeps the heaps, and the regions of those that are
 * sub-allocators; these regions are blocks of a pool. The regions of a layout, and of the heap that
 * is the whole process, are parts of memory and no owners of it: nothing begins or ends with them.
 *
 * A region's handle is its address, as the header says. csan knows one region at each address: the
 * newest, as the detector does. */
#define HASH_NONFATAL_OOM 1
#include "runtime/hook/api/nvtx_memory.h"
#include "csan/base/fork_lock.h"
#include "csan/base/lock_order.h"
#include "runtime/hook/api/pool_block.h"
#include "runtime/hook/session/counters.h"
#include "runtime/hook/session/session.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

enum { NVTX_VERSION = 3, MODULE_MEMORY = 1, COMPATIBILITY = 0x0102 };
enum { USAGE_SUB_ALLOCATOR = 1, USAGE_LAYOUT = 2 };
enum { TYPE_VIRTUAL_ADDRESS = 1 };
enum { REFERENCE_POINTER = 1, REFERENCE_HANDLE = 2 };

/* Each description begins with these. */
struct head {
    uint16_t compatibility, bytes;
    uint32_t kind; /* of what is referred to or described; in a heap's it is reserved */
};
struct heap_description {
    struct head head;
    uint32_t usage, type;
    size_t specific_bytes;
    const void *specific;
    uint32_t category, message_type;
    const void *message;
};
struct virtual_range {
    size_t bytes;
    uintptr_t base;
};
struct elements {
    size_t count, bytes_each;
    const void *all;
};
struct register_batch {
    struct head head;
    const void *heap;
    struct elements elements; /* struct virtual_range */
    uintptr_t *handles;       /* may be NULL */
};
/* Of a resize: struct virtual_range. Of an unregistration: pointers or handles. */
struct region_batch {
    struct head head;
    struct elements elements;
};
_Static_assert(sizeof(struct heap_description) == 48, "as NVTX has it");
_Static_assert(sizeof(struct register_batch) == 48, "as NVTX has it");
_Static_assert(sizeof(struct region_batch) == 32, "as NVTX has it");

/* ---- heaps and their regions */

struct heap;
struct region {
    UT_hash_handle hh;
    uintptr_t base;
    struct heap *heap;
    struct region *prev, *next; /* in the heap's list */
};
struct heap {
    UT_hash_handle hh;
    const void *handle; /* the heap's address; its own if another heap has that */
    struct virtual_range range;
    bool sub_allocator;
    bool whole;             /* it was all of one owner's memory when it was registered */
    struct region *regions; /* utlist; of a sub-allocator */
};

static struct {
    pthread_mutex_t mutex;
    struct heap *heaps;
    struct region *regions; /* of all heaps, by their addresses */
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void table_lock(void)
{
    lock_order_take(LOCK_NVTX, &table.mutex);
}

static void table_unlock(void)
{
    lock_order_give(LOCK_NVTX, &table.mutex);
}

static struct heap *heap_find(const void *handle)
{
    struct heap *heap = NULL;
    HASH_FIND_PTR(table.heaps, &handle, heap);
    return heap;
}

static struct region *region_find(uintptr_t base)
{
    struct region *region = NULL;
    HASH_FIND(hh, table.regions, &base, sizeof base, region);
    return region;
}

/* NULL: there is no memory for it. */
static const void *heap_add(const struct heap *is)
{
    struct heap *heap = malloc(sizeof *heap);
    const void *handle = NULL;
    if (!heap)
        return NULL;
    *heap = *is;
    heap->handle = (const void *)is->range.base;
    table_lock();
    if (!heap->handle || heap_find(heap->handle))
        heap->handle = heap;
    HASH_ADD_PTR(table.heaps, handle, heap);
    if (heap->hh.tbl)
        handle = heap->handle;
    table_unlock();
    if (!handle)
        free(heap);
    return handle;
}

static struct region *region_new(uintptr_t base)
{
    struct region *region = calloc(1, sizeof *region);
    if (!region)
        return NULL;
    region->base = base;
    HASH_ADD(hh, table.regions, base, sizeof base, region);
    if (region->hh.tbl)
        return region;
    free(region);
    return NULL;
}

/* Whether the region is a block: its heap is a sub-allocator. */
static bool region_add(const void *handle, uintptr_t base)
{
    struct region *region = NULL;
    table_lock();
    struct heap *heap = heap_find(handle);
    const bool unknown = !heap && handle;
    if (heap && heap->sub_allocator) {
        region = region_find(base);
        if (region)
            DL_DELETE(region->heap->regions, region);
        else
            region = region_new(base);
        if (region) {
            region->heap = heap;
            DL_APPEND(heap->regions, region);
        }
    }
    table_unlock();
    if (unknown)
        counters_unmodelled("regions of NVTX heaps that csan did not see registered");
    return region != NULL;
}

static bool region_exists(uintptr_t base)
{
    table_lock();
    const bool exists = region_find(base) != NULL;
    table_unlock();
    return exists;
}

/* False: it is no block. */
static bool region_remove(uintptr_t base)
{
    table_lock();
    struct region *region = region_find(base);
    if (region) {
        DL_DELETE(region->heap->regions, region);
        HASH_DEL(table.regions, region);
    }
    table_unlock();
    free(region);
    return region != NULL;
}

/* Whether a heap that was registered later has some of the same memory. Then a pool of that memory
 * lives: the heap's own was freed before, and CUDA gave it out again. */
static bool heap_is_followed(const struct heap *heap)
{
    const struct virtual_range *range = &heap->range;
    for (const struct heap *later = heap->hh.next; later; later = later->hh.next)
        if (later->range.base < range->base + range->bytes &&
            range->base < later->range.base + later->range.bytes)
            return true;
    return false;
}

/* Takes all of a heap's regions out, and the heap, too, if it `ends`. *was: what it was. */
static struct region *heap_clear(const void *handle, bool ends, struct heap *was)
{
    struct region *regions = NULL, *region;
    table_lock();
    struct heap *heap = heap_find(handle);
    if (heap) {
        *was = *heap;
        was->whole = heap->whole && !heap_is_followed(heap);
        regions = heap->regions;
        heap->regions = NULL;
        for (region = regions; region; region = region->next)
            HASH_DEL(table.regions, region); // NOLINT(clang-analyzer-core.NullDereference)
    }
    if (heap && ends) {
        HASH_DEL(table.heaps, heap);
        free(heap);
    }
    table_unlock();
    return regions;
}

/* ---- the functions of NVTX */

/* Whether the description has all of version 1. `head` may be NULL. */
static bool is_described(const struct head *head, size_t bytes)
{
    if (head && head->compatibility == COMPATIBILITY && head->bytes >= bytes)
        return true;
    counters_unmodelled("descriptions of another version of NVTX's memory API");
    return false;
}

static bool is_virtual(uint32_t type)
{
    if (type != TYPE_VIRTUAL_ADDRESS)
        counters_unmodelled("NVTX heaps and regions that are no virtual addresses");
    return type == TYPE_VIRTUAL_ADDRESS;
}

static bool elements_have(const struct elements *elements, size_t bytes)
{
    if (!elements->count || (elements->all && elements->bytes_each >= bytes))
        return true;
    counters_unmodelled("descriptions of another version of NVTX's memory API");
    return false;
}

static void element_read(void *to, const struct elements *elements, size_t index, size_t bytes)
{
    memcpy(to, (const char *)elements->all + index * elements->bytes_each, bytes);
}

static bool is_range(const struct virtual_range *range)
{
    return range->base && range->bytes && range->bytes <= UINTPTR_MAX - range->base;
}

/* A heap of an unknown type or usage is kept all the same: its regions are known to be ignored. */
static const void *heap_register(const void *domain, const struct heap_description *is)
{
    struct heap heap = {.sub_allocator = false};
    (void)domain;
    if (!is_described(is ? &is->head : NULL, sizeof *is))
        return NULL;
    if (!is_virtual(is->type))
        return heap_add(&heap);
    if (!is->specific || is->specific_bytes < sizeof heap.range) {
        counters_unmodelled("descriptions of another version of NVTX's memory API");
        return NULL;
    }
    memcpy(&heap.range, is->specific, sizeof heap.range);
    if (is->usage != USAGE_SUB_ALLOCATOR && is->usage != USAGE_LAYOUT)
        counters_unmodelled("NVTX heaps of unknown usage");
    heap.sub_allocator = is->usage == USAGE_SUB_ALLOCATOR;
    heap.whole = heap.sub_allocator && is_range(&heap.range) &&
                 pool_block_owner_has(heap.range.base, heap.range.bytes);
    return heap_add(&heap);
}

/* The memory of a heap that ends goes back to whom the pool had it from: its next owner, who may
 * use it. Work of the regions' owners must come before that. */
static void heap_give_back(const void *handle, bool ends)
{
    struct heap was = {.whole = false};
    struct region *region = handle ? heap_clear(handle, ends, &was) : NULL;
    while (region) {
        struct region *next = region->next;
        pool_block_free(region->base);
        free(region);
        region = next;
    }
    if (ends && was.whole && pool_block_is_allocated(was.range.base, was.range.bytes))
        pool_block_alloc(was.range.base, was.range.bytes, "nvtxMemHeapUnregister");
}

static void heap_unregister(const void *domain, const void *handle)
{
    (void)domain;
    heap_give_back(handle, true);
}

static void heap_reset(const void *domain, const void *handle)
{
    (void)domain;
    heap_give_back(handle, false);
}

/* Whether the batch describes ranges of addresses. */
static bool are_ranges(const struct head *head, size_t bytes, const struct elements *elements)
{
    return is_described(head, bytes) && is_virtual(head->kind) &&
           elements_have(elements, sizeof(struct virtual_range));
}

static void regions_register(const void *domain, const struct register_batch *batch)
{
    (void)domain;
    if (!are_ranges(batch ? &batch->head : NULL, sizeof *batch, batch ? &batch->elements : NULL))
        return;
    for (size_t i = 0; i < batch->elements.count; i++) {
        struct virtual_range range;
        element_read(&range, &batch->elements, i, sizeof range);
        if (batch->handles)
            batch->handles[i] = range.base;
        if (is_range(&range) && region_add(batch->heap, range.base))
            pool_block_alloc(range.base, range.bytes, "nvtxMemRegionsRegister");
    }
}

/* Bounds of launches and findings are those of the whole block, so it is declared anew. Who uses
 * the block before and after must be ordered all the same: to a report that is a reuse. */
static void regions_resize(const void *domain, const struct region_batch *batch)
{
    (void)domain;
    if (!are_ranges(batch ? &batch->head : NULL, sizeof *batch, batch ? &batch->elements : NULL))
        return;
    for (size_t i = 0; i < batch->elements.count; i++) {
        struct virtual_range range;
        element_read(&range, &batch->elements, i, sizeof range);
        if (!is_range(&range) || !region_exists(range.base))
            continue;
        pool_block_free(range.base);
        pool_block_alloc(range.base, range.bytes, "nvtxMemRegionsResize");
    }
}

static void regions_unregister(const void *domain, const struct region_batch *batch)
{
    (void)domain;
    if (!is_described(batch ? &batch->head : NULL, sizeof *batch) ||
        !elements_have(&batch->elements, sizeof(uintptr_t)))
        return;
    if (batch->head.kind != REFERENCE_POINTER && batch->head.kind != REFERENCE_HANDLE) {
        counters_unmodelled("unknown references to NVTX regions");
        return;
    }
    for (size_t i = 0; i < batch->elements.count; i++) {
        uintptr_t base;
        element_read(&base, &batch->elements, i, sizeof base);
        if (region_remove(base))
            pool_block_free(base);
    }
}

/* Permissions say who may access memory, and not in which order: nothing for csan. A program that
 * asks for a handle gets one; the functions that take it stay unattached. */
static const void *permissions_any(void)
{
    static const char permissions;
    return &permissions;
}

/* ---- attaching */

/* NVTX's numbers of functions (NVTX3EXT_CBID_nvtxMem...). Names of regions stay unattached: reports
 * call a block by the call that declared it. So does what is only about unwritten memory: a pool's
 * block counts as written. */
enum {
    HEAP_REGISTER,
    HEAP_UNREGISTER,
    HEAP_RESET,
    REGIONS_REGISTER,
    REGIONS_RESIZE,
    REGIONS_UNREGISTER,
    PERMISSIONS_CREATE = 8,
    CUDA_PROCESS_WIDE_PERMISSIONS = 13,
    CUDA_DEVICE_WIDE_PERMISSIONS
};

static const struct {
    size_t number;
    void (*function)(void);
} attached[] = {
    {HEAP_REGISTER, (void (*)(void))heap_register},
    {HEAP_UNREGISTER, (void (*)(void))heap_unregister},
    {HEAP_RESET, (void (*)(void))heap_reset},
    {REGIONS_REGISTER, (void (*)(void))regions_register},
    {REGIONS_RESIZE, (void (*)(void))regions_resize},
    {REGIONS_UNREGISTER, (void (*)(void))regions_unregister},
    {PERMISSIONS_CREATE, (void (*)(void))permissions_any},
    {CUDA_PROCESS_WIDE_PERMISSIONS, (void (*)(void))permissions_any},
    {CUDA_DEVICE_WIDE_PERMISSIONS, (void (*)(void))permissions_any},
};

int InitializeInjectionNvtxExtension(struct nvtx_extension *extension)
{
    if (!extension || extension->bytes < sizeof *extension || extension->module != MODULE_MEMORY ||
        !session_start())
        return 0;
    if (extension->nvtx_version != NVTX_VERSION || extension->compatibility != COMPATIBILITY ||
        !extension->segment_count) {
        counters_unmodelled("another version of NVTX's memory API");
        return 0;
    }
    fork_lock_keep(&table.mutex);
    const struct nvtx_segment *segment = extension->segments; /* the API has one */
    for (size_t i = 0; i < sizeof attached / sizeof *attached; i++)
        if (attached[i].number < segment->count)
            segment->functions[attached[i].number] = (intptr_t)attached[i].function;
    return 1;
}
