/* Stream-ordered memory (CUDA C++ Programming Guide, Stream Ordered Memory Allocator):
 * cuMemAllocAsync, cuMemFreeAsync and the pools behind them.
 *
 * The address is chosen at the call. Memory freed earlier is given out again when the allocating
 * stream surely comes after the free:
 *   - it was freed on the same stream;
 *   - the stream waited for an event recorded after the free (ReuseFollowEventDependencies);
 *   - the free has been executed (ReuseAllowOpportunistic);
 *   - or, when memory is short, by making the stream wait for the free
 * (ReuseAllowInternalDependencies). Nobody but the pool sees these dependencies, as on a real
 * device.
 *
 * Memory in a pool does not wait in the arena's quarantine: these rules are documented, and whether
 * a program relies on more than they promise is seen only where they are followed. It waits there
 * once the pool has returned it. */
#include "runtime/device/driver/graph/graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- Blocks -------------------------------------------------------------------------------- */

static struct CUmemPoolHandle_st *pool_by_id(uint32_t id)
{
    struct CUmemPoolHandle_st *pool = device.pools;
    while (pool && pool->id != id)
        pool = pool->next;
    return pool;
}

static bool find_owned(uint64_t address, struct arena_info *info)
{
    return arena_find(&device.device_memory, address, info) &&
           memory_tag_owner(info->tag) == OWNER_POOL;
}

struct CUmemPoolHandle_st *pool_of(uint64_t address)
{
    struct arena_info info;
    return find_owned(address, &info) ? pool_by_id(info.flags) : NULL;
}

static bool is_executed(const struct pool_block *block)
{
    return !block->freed || (block->freed->done && !device.fixed_memory);
}

static bool is_ordered(const struct pool_block *block, const struct CUstream_st *stream)
{
    for (size_t i = 0; i < stream->order_count; i++)
        if (stream->orders[i].stream == block->freed->stream &&
            stream->orders[i].sequence > block->freed->sequence)
            return true;
    return false;
}

/* How well the rules let the stream have the block: the lower the better; -1 not at all. */
static int reuse_rank(const struct CUmemPoolHandle_st *pool, const struct pool_block *block,
                      const struct CUstream_st *stream)
{
    if (block->freed && block->freed->stream == stream->serial)
        return 0;
    if (pool->reuse_events && block->freed && is_ordered(block, stream))
        return 1;
    if (!block->freed || (pool->reuse_opportunistic && is_executed(block)))
        return 2;
    return -1;
}

/* A block may be larger than asked for, but not so much that the pool wastes more than it saves. */
static bool fits(const struct pool_block *block, uint64_t bytes)
{
    return block->span >= bytes && block->span / 2 <= bytes + 4096;
}

static void unlink_block(struct CUmemPoolHandle_st *pool, struct pool_block *block)
{
    struct pool_block **link = &pool->idle;
    while (*link != block)
        link = &(*link)->next;
    *link = block->next;
}

static void release_block(struct CUmemPoolHandle_st *pool, struct pool_block *block)
{
    unlink_block(pool, block);
    interprocess_return(block->address, block->span);
    arena_free(&device.device_memory, block->address);
    pool->reserved -= block->span;
    mark_release(block->freed);
    free(block);
}

/* Return executed frees to the system until the pool reserves at most `keep` bytes. */
static bool release_above(struct CUmemPoolHandle_st *pool, uint64_t keep)
{
    bool any = false;
    struct pool_block *next;
    for (struct pool_block *block = pool->idle; block && pool->reserved > keep; block = next) {
        next = block->next;
        if (is_executed(block)) {
            release_block(pool, block);
            any = true;
        }
    }
    return any;
}

/* "If any pointers obtained from this pool haven't been freed or the pool has free operations that
 * haven't completed when cuMemPoolDestroy is invoked, [...] the resources associated with the pool
 * will be released automatically once there are no more outstanding allocations." */
static void release_if_unused(struct CUmemPoolHandle_st *pool)
{
    if (!pool->destroyed || pool->live)
        return;
    for (const struct pool_block *block = pool->idle; block; block = block->next)
        if (block->freed && !block->freed->done)
            return;
    while (pool->idle)
        release_block(pool, pool->idle);
    struct CUmemPoolHandle_st **link = &device.pools;
    while (*link != pool)
        link = &(*link)->next;
    *link = pool->next;
    pool_import_release(pool);
    free(pool);
}

/* "Pools return memory above the release threshold to the OS when they are synchronized." */
void pool_trim(void)
{
    struct CUmemPoolHandle_st *next;
    for (struct CUmemPoolHandle_st *pool = device.pools; pool; pool = next) {
        next = pool->next;
        release_above(pool, pool->threshold);
        release_if_unused(pool);
    }
}

bool pool_release_idle(uint64_t bytes)
{
    bool any = false;
    (void)bytes;
    for (struct CUmemPoolHandle_st *pool = device.pools; pool; pool = pool->next)
        any |= release_above(pool, 0);
    return any;
}

static void account(struct CUmemPoolHandle_st *pool, uint64_t bytes)
{
    pool->live++;
    pool->used += bytes;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
    if (pool->reserved > pool->reserved_high)
        pool->reserved_high = pool->reserved;
}

static uint64_t take(struct CUmemPoolHandle_st *pool, struct pool_block *block, uint64_t bytes,
                     uint32_t tag)
{
    uint64_t address = block->address;
    arena_reuse(&device.device_memory, address, bytes, tag, pool->id);
    unlink_block(pool, block);
    mark_release(block->freed);
    free(block);
    account(pool, bytes);
    return address;
}

static struct pool_block *best_block(struct CUmemPoolHandle_st *pool, uint64_t bytes,
                                     const struct CUstream_st *stream)
{
    struct pool_block *best = NULL;
    int best_rank = -1;
    for (struct pool_block *block = pool->idle; block; block = block->next) {
        int rank = fits(block, bytes) ? reuse_rank(pool, block, stream) : -1;
        if (rank >= 0 &&
            (!best || rank < best_rank || (rank == best_rank && block->span < best->span))) {
            best = block;
            best_rank = rank;
        }
    }
    return best;
}

static uint64_t take_fresh(struct CUmemPoolHandle_st *pool, uint64_t bytes, uint32_t tag)
{
    struct arena_info info;
    uint64_t address = arena_allocate(&device.device_memory, bytes, tag, pool->id);
    if (!address && pool_release_idle(bytes))
        address = arena_allocate(&device.device_memory, bytes, tag, pool->id);
    if (!address)
        return 0;
    arena_find(&device.device_memory, address, &info);
    outcome_born(address, bytes);
    pool->reserved += info.span;
    account(pool, bytes);
    return address;
}

/* Memory is short: let the stream wait for somebody's free. */
static uint64_t take_waiting(struct CUmemPoolHandle_st *pool, uint64_t bytes, uint32_t tag,
                             struct CUstream_st *stream)
{
    for (struct pool_block *block = pool->idle; block && pool->reuse_internal;
         block = block->next) {
        if (block->span < bytes || !block->freed)
            continue;
        struct item *wait = queue_marker(NULL, mark_retain(block->freed));
        if (!wait) {
            mark_release(block->freed);
            return 0;
        }
        uint64_t address = take(pool, block, bytes, tag);
        queue_enqueue(stream, wait);
        return address;
    }
    return 0;
}

/* "If this API is called during stream capture, an allocation node is created" */
static CUresult allocate_captured(struct CUstream_st *stream, size_t bytes, CUdeviceptr *dptr)
{
    struct CUgraphNode_st *node;
    struct graph_block *block = graph_block_create(bytes);
    if (!block)
        return CUDA_ERROR_OUT_OF_MEMORY;
    block->references = 1;
    CUresult result = capture_node(stream, CU_GRAPH_NODE_TYPE_MEM_ALLOC, &node);
    if (result != CUDA_SUCCESS) {
        graph_block_release(block);
        return result;
    }
    node->memory.bytesize = bytes;
    node->memory.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    node->memory.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    node->memory.dptr = *dptr = block->address;
    return CUDA_SUCCESS;
}

/* "Inserts an allocation operation into hStream" (cuMemAllocAsync): there is nothing to do when its
 * turn comes, but blocking streams wait for it in the legacy stream, as for any work. */
static CUresult allocate(CUdeviceptr *dptr, size_t bytes, CUmemoryPool handle, CUstream hStream,
                         bool per_thread, bool current)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUstream_st *stream = stream_resolve(context, hStream, per_thread);
    if (!stream)
        return device_leave(CUDA_ERROR_INVALID_HANDLE);
    struct CUmemPoolHandle_st *pool = current
                                          ? device.ordinals[stream->context->ordinal].current_pool
                                          : object_find(handle, OBJECT_POOL);
    /* "Imported memory pools [do] not support creating new allocations." */
    if (!dptr || !bytes || !pool || pool->import)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if ((result = capture_admits(stream)) != CUDA_SUCCESS)
        return device_leave(result);
    if (stream->capture)
        return device_leave(allocate_captured(stream, bytes, dptr));
    uint32_t tag = memory_tag(context, OWNER_POOL);
    struct pool_block *block = best_block(pool, bytes, stream);
    uint64_t address = block ? take(pool, block, bytes, tag) : take_fresh(pool, bytes, tag);
    if (!address)
        address = take_waiting(pool, bytes, tag, stream);
    struct item *work = address ? queue_marker(NULL, NULL) : NULL;
    if (!address)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    *dptr = address;
    if (work)
        queue_enqueue(stream, work);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    return allocate(dptr, bytesize, NULL, hStream, false, true);
}

CUresult CUDAAPI cuMemAllocAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    return allocate(dptr, bytesize, NULL, hStream, true, true);
}

CUresult CUDAAPI cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                                         CUstream hStream)
{
    return allocate(dptr, bytesize, pool, hStream, false, false);
}

CUresult CUDAAPI cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                                              CUstream hStream)
{
    return allocate(dptr, bytesize, pool, hStream, true, false);
}

/* ---- Free ---------------------------------------------------------------------------------- */

/* Into the pool's idle list. `freed` becomes the block's. */
static bool make_idle(const struct arena_info *info, struct mark *freed)
{
    struct CUmemPoolHandle_st *pool = pool_by_id(info->flags);
    struct pool_block *block = pool ? calloc(1, sizeof *block) : NULL;
    if (!block)
        return false;
    interprocess_withdraw(info);
    arena_reuse(&device.device_memory, info->base, info->bytes,
                (info->tag & ~15u) | OWNER_POOL_IDLE, info->flags);
    block->address = info->base;
    block->span = info->span;
    block->freed = freed;
    pool->live--;
    pool->used -= info->bytes;
    struct pool_block **link = &pool->idle;
    while (*link && (*link)->address < block->address)
        link = &(*link)->next;
    block->next = *link;
    *link = block;
    release_if_unused(pool);
    return true;
}

bool pool_free_now(uint64_t address)
{
    struct arena_info info;
    if (!find_owned(address, &info) || info.base != address)
        return false;
    outcome_freed(&info);
    return make_idle(&info, NULL);
}

/* A free in stream order: of a pool's memory, which gave it out as `block`, or of cuMemAlloc's. */
struct free_item {
    struct item item;
    struct arena_info block;
    bool of_pool;
};

static enum step free_step(struct item *item)
{
    struct free_item *work = (struct free_item *)item;
    outcome_freed(&work->block);
    if (!work->of_pool && !device.fixed_memory)
        arena_free(&device.device_memory, work->block.base);
    return STEP_DONE;
}

static void free_discard(struct item *item)
{
    free(item);
}

static struct item *make_free(const struct arena_info *info, struct mark *done)
{
    struct free_item *work = calloc(1, sizeof *work);
    if (!work)
        return NULL;
    work->item.step = free_step;
    work->item.discard = free_discard;
    work->item.done = done;
    work->block = *info;
    work->of_pool = done != NULL;
    return &work->item;
}

static CUresult enqueue_plain_free(struct CUstream_st *stream, const struct arena_info *info)
{
    struct item *item = make_free(info, NULL);
    if (!item)
        return CUDA_ERROR_OUT_OF_MEMORY;
    /* From now on only the stream knows it: a second free is an error. */
    arena_reuse(&device.device_memory, info->base, info->bytes, (info->tag & ~15u) | OWNER_DRIVER,
                info->flags);
    queue_enqueue(stream, item);
    return CUDA_SUCCESS;
}

static CUresult enqueue_pool_free(struct CUstream_st *stream, const struct arena_info *info)
{
    struct mark *mark = mark_create();
    struct item *item = mark ? make_free(info, mark) : NULL;
    if (!item) {
        mark_release(mark);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    mark_retain(mark);
    queue_enqueue(stream, item);
    if (make_idle(info, mark))
        return CUDA_SUCCESS;
    mark_release(mark);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* "During stream capture, this function results in the creation of a free node and must therefore
 * be passed the address of a graph allocation." */
static CUresult free_captured(struct CUstream_st *stream, CUdeviceptr dptr)
{
    struct CUgraphNode_st *node;
    if (!graph_block_at(dptr))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = capture_node(stream, CU_GRAPH_NODE_TYPE_MEM_FREE, &node);
    if (result == CUDA_SUCCESS)
        node->memory.dptr = dptr;
    return result;
}

/* What a graph allocated and left, freed outside: the graph may be launched again. */
static CUresult free_of_graph(struct CUstream_st *stream, CUdeviceptr dptr)
{
    struct item *work = queue_marker(NULL, NULL);
    if (!work || !graph_block_free(dptr)) {
        free(work);
        return work ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_OUT_OF_MEMORY;
    }
    queue_enqueue(stream, work);
    return CUDA_SUCCESS;
}

static CUresult free_async(CUdeviceptr dptr, CUstream hStream, bool per_thread)
{
    struct CUstream_st *stream;
    CUresult result = stream_enter(hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!dptr)
        return device_leave(CUDA_SUCCESS);
    struct arena_info info;
    if ((result = capture_admits(stream)) != CUDA_SUCCESS)
        return device_leave(result);
    if (stream->capture)
        return device_leave(free_captured(stream, dptr));
    if ((result = pool_import_free(stream, dptr)) != CUDA_ERROR_NOT_FOUND)
        return device_leave(result);
    if (!arena_find(&device.device_memory, dptr, &info) || info.base != dptr)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    switch (memory_tag_owner(info.tag)) {
    case OWNER_GRAPH:
        return device_leave(free_of_graph(stream, dptr));
    case OWNER_POOL:
        return device_leave(enqueue_pool_free(stream, &info));
    case OWNER_PROGRAM:
        return device_leave(enqueue_plain_free(stream, &info));
    default:
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    }
}

CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    return free_async(dptr, hStream, false);
}

CUresult CUDAAPI cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream)
{
    return free_async(dptr, hStream, true);
}

/* ---- Pools --------------------------------------------------------------------------------- */

struct CUmemPoolHandle_st *pool_create(int ordinal)
{
    struct CUmemPoolHandle_st *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->id = ++device.next_pool;
    pool->ordinal = ordinal;
    pool->reuse_events = pool->reuse_opportunistic = pool->reuse_internal = 1;
    pool->next = device.pools;
    device.pools = pool;
    object_add(&pool->object, OBJECT_POOL);
    return pool;
}

void pool_start(void)
{
    for (int i = 0; i < device.ordinal_count; i++)
        device.ordinals[i].default_pool = device.ordinals[i].current_pool = pool_create(i);
}

/* Only memory on a device can be pooled. */
static bool is_a_device(CUmemLocation location)
{
    return location.type == CU_MEM_LOCATION_TYPE_DEVICE && device_exists(location.id);
}

/* -1: none. */
static CUdevice location_device(const CUmemLocation *location)
{
    return is_a_device(*location) ? location->id : -1;
}

CUresult CUDAAPI cuMemPoolCreate(CUmemoryPool *handle, const CUmemPoolProps *poolProps)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle || !poolProps || poolProps->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    const unsigned handles = poolProps->handleTypes;
    if (!is_a_device(poolProps->location) ||
        (handles & ~(unsigned)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
        return device_leave(CUDA_ERROR_NOT_SUPPORTED);
    *handle = pool_create(poolProps->location.id);
    if (*handle)
        (*handle)->shareable = handles != 0;
    return device_leave(*handle ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

static CUresult enter(CUmemoryPool handle, struct CUmemPoolHandle_st **pool)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    *pool = object_find(handle, OBJECT_POOL);
    return *pool ? CUDA_SUCCESS : device_leave(CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuMemPoolDestroy(CUmemoryPool handle)
{
    struct CUmemPoolHandle_st *pool;
    CUresult result = enter(handle, &pool);
    if (result != CUDA_SUCCESS)
        return result;
    struct ordinal *ordinal = &device.ordinals[pool->ordinal];
    if (pool == ordinal->default_pool)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if (pool == ordinal->current_pool)
        ordinal->current_pool = ordinal->default_pool;
    object_remove(&pool->object);
    pool->destroyed = true;
    release_if_unused(pool);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemPoolTrimTo(CUmemoryPool handle, size_t minBytesToKeep)
{
    struct CUmemPoolHandle_st *pool;
    CUresult result = enter(handle, &pool);
    if (result != CUDA_SUCCESS)
        return result;
    release_above(pool, minBytesToKeep);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attr, void *value)
{
    struct CUmemPoolHandle_st *pool;
    CUresult result = enter(handle, &pool);
    if (result != CUDA_SUCCESS)
        return result;
    if (!value)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    switch (attr) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        pool->reuse_events = *(int *)value;
        break;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        pool->reuse_opportunistic = *(int *)value;
        break;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        pool->reuse_internal = *(int *)value;
        break;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        pool->threshold = *(cuuint64_t *)value;
        break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: /* "can only be reset to zero" */
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        if (*(cuuint64_t *)value)
            return device_leave(CUDA_ERROR_INVALID_VALUE);
        if (attr == CU_MEMPOOL_ATTR_USED_MEM_HIGH)
            pool->used_high = pool->used;
        else
            pool->reserved_high = pool->reserved;
        break;
    default:
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    }
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attr, void *value)
{
    struct CUmemPoolHandle_st *pool;
    CUresult result = enter(handle, &pool);
    if (result != CUDA_SUCCESS)
        return result;
    if (!value)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    switch (attr) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        *(int *)value = pool->reuse_events;
        break;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        *(int *)value = pool->reuse_opportunistic;
        break;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        *(int *)value = pool->reuse_internal;
        break;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        *(cuuint64_t *)value = pool->threshold;
        break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
        *(cuuint64_t *)value = pool->reserved;
        break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        *(cuuint64_t *)value = pool->reserved_high;
        break;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        *(cuuint64_t *)value = pool->used;
        break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        *(cuuint64_t *)value = pool->used_high;
        break;
    default:
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    }
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *map, size_t count)
{
    struct CUmemPoolHandle_st *pool;
    CUresult result = enter(handle, &pool);
    if (result != CUDA_SUCCESS)
        return result;
    if (!map && count)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    /* "Access to memory from the device the pool resides on" cannot be taken away. */
    for (size_t i = 0; i < count; i++)
        if (!is_a_device(map[i].location) || (map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE &&
                                              (map[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE ||
                                               map[i].location.id == pool->ordinal)))
            return device_leave(CUDA_ERROR_INVALID_DEVICE);
    for (size_t i = 0; i < count; i++) {
        const unsigned bit = 1u << map[i].location.id;
        pool->readers = map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ? pool->readers & ~bit
                                                                      : pool->readers | bit;
    }
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool handle,
                                    CUmemLocation *location)
{
    struct CUmemPoolHandle_st *pool;
    CUresult result = enter(handle, &pool);
    if (result != CUDA_SUCCESS)
        return result;
    if (!flags || !location)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *flags = is_a_device(*location) &&
                     (location->id == pool->ordinal || pool->readers >> location->id & 1)
                 ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                 : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return device_leave(CUDA_SUCCESS);
}

static CUresult get_pool(CUmemoryPool *handle, CUdevice dev, bool is_current)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if (!device_exists(dev))
        return device_leave(CUDA_ERROR_INVALID_DEVICE);
    const struct ordinal *ordinal = &device.ordinals[dev];
    *handle = is_current ? ordinal->current_pool : ordinal->default_pool;
    return device_leave(CUDA_SUCCESS);
}

static CUresult set_pool(CUmemoryPool handle, CUdevice dev)
{
    struct CUmemPoolHandle_st *pool;
    CUresult result = enter(handle, &pool);
    if (result != CUDA_SUCCESS)
        return result;
    if (!device_exists(dev) || pool->ordinal != dev)
        return device_leave(CUDA_ERROR_INVALID_DEVICE);
    device.ordinals[dev].current_pool = pool;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    return get_pool(pool_out, dev, false);
}

CUresult CUDAAPI cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    return get_pool(pool, dev, true);
}

CUresult CUDAAPI cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    return set_pool(pool, dev);
}

CUresult CUDAAPI cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location,
                                        CUmemAllocationType type)
{
    if (!location || type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    return get_pool(pool_out, location_device(location), false);
}

CUresult CUDAAPI cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location,
                                 CUmemAllocationType type)
{
    if (!location || type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    return get_pool(pool, location_device(location), true);
}

CUresult CUDAAPI cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type,
                                 CUmemoryPool pool)
{
    if (!location || type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    return set_pool(pool, location_device(location));
}
