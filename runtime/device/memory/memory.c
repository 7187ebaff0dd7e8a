/* Memory that the host allocates and frees: device, pinned, registered and managed memory, and what
 * the driver knows about an address. Stream-ordered memory is in pool.c.
 *
 * Addresses are unified: pinned and managed memory is the same address for host and device. */
#include "runtime/device/driver/graph/graph.h"
#include "runtime/device/memory/shared_file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, PITCH = 512 };

/* ---- What an address is -------------------------------------------------------------------- */

static struct registered *registered_find(uint64_t address)
{
    for (struct registered *range = device.registered; range; range = range->next)
        if (address - range->base < range->bytes)
            return range;
    return NULL;
}

struct memory memory_at(uint64_t address)
{
    struct memory memory = {.kind = MEMORY_PAGEABLE};
    struct arena_info info = {0};
    if (arena_owns(&device.device_memory, address)) {
        memory.kind = MEMORY_DEVICE;
        /* Freed in stream order is not dead yet: as on a real device nothing stops late uses. */
        bool writable;
        if (arena_find(&device.device_memory, address, &info) &&
            !memory_mapped(address, &info, &writable))
            info = (struct arena_info){0};
    } else if (arena_owns(&device.host_memory, address)) {
        memory.kind = MEMORY_HOST;
        if (arena_find(&device.host_memory, address, &info) &&
            memory_tag_owner(info.tag) == OWNER_MANAGED)
            memory.kind = MEMORY_MANAGED;
    } else {
        const struct registered *range = registered_find(address);
        if (!range)
            return memory;
        memory.kind = MEMORY_REGISTERED;
        info.base = range->base;
        info.bytes = range->bytes;
        info.flags = range->flags;
        info.attribute = range->sync_memops;
    }
    memory.base = info.base;
    memory.bytes = info.bytes;
    memory.tag = info.tag;
    memory.flags = info.flags;
    memory.id = info.id;
    memory.sync_memops = info.attribute;
    return memory;
}

bool memory_contains(const struct memory *memory, uint64_t address, uint64_t bytes)
{
    uint64_t offset = address - memory->base;
    return offset < memory->bytes && bytes <= memory->bytes - offset;
}

/* "cuCtxDestroy() will not destroy memory allocations by cuMemCreate(), cuMemAllocAsync() and
 * cuMemAllocFromPoolAsync(). These memory allocations are not associated with any CUDA context." */
void memory_forget(struct CUctx_st *context)
{
    struct arena *arenas[] = {&device.device_memory, &device.host_memory};
    if (context->home) /* a green one: what it made is the primary one's */
        return;
    interprocess_forget(context);
    for (int i = 0; i < 2; i++) {
        struct arena_info info;
        for (uint64_t from = 0; arena_next(arenas[i], from, &info); from = info.base + 1) {
            if (info.tag >> 4 != memory_tag(context, 0) >> 4)
                continue;
            enum memory_owner owner = memory_tag_owner(info.tag);
            if (owner == OWNER_POOL || owner == OWNER_POOL_IDLE)
                continue;
            outcome_freed(&info);
            interprocess_freed(&info);
            arena_free(arenas[i], info.base);
        }
    }
    for (struct registered **link = &device.registered; *link;) {
        struct registered *range = *link;
        if (range->context == context) {
            *link = range->next;
            free(range);
        } else {
            link = &range->next;
        }
    }
}

/* ---- Device memory ------------------------------------------------------------------------- */

CUresult memory_enter_unsafe(struct CUctx_st **context)
{
    CUresult result = device_enter_context(context);
    if (result == CUDA_SUCCESS && (result = capture_admits_unsafe()) != CUDA_SUCCESS)
        return device_leave(result);
    return result;
}

CUresult CUDAAPI cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    struct CUctx_st *context;
    CUresult result = memory_enter_unsafe(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!dptr || !bytesize)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    uint64_t address =
        arena_allocate(&device.device_memory, bytesize, memory_tag(context, OWNER_PROGRAM), 0);
    if (!address && pool_release_idle(bytesize))
        address =
            arena_allocate(&device.device_memory, bytesize, memory_tag(context, OWNER_PROGRAM), 0);
    if (!address)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    outcome_born(address, bytesize);
    *dptr = address;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes,
                                    size_t Height, unsigned int ElementSizeBytes)
{
    size_t pitch, bytes;
    if (!dptr || !pPitch || !WidthInBytes || !Height ||
        (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16) ||
        __builtin_add_overflow(WidthInBytes, PITCH - 1, &pitch) ||
        __builtin_mul_overflow(pitch / PITCH * PITCH, Height, &bytes))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = cuMemAlloc_v2(dptr, bytes);
    if (result == CUDA_SUCCESS)
        *pPitch = pitch / PITCH * PITCH;
    return result;
}

CUresult memory_settle(struct CUctx_st *context)
{
    schedule_all();
    return context->error;
}

CUresult CUDAAPI cuMemFree_v2(CUdeviceptr dptr)
{
    struct CUctx_st *context;
    CUresult result = memory_enter_unsafe(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!dptr)
        return device_leave(CUDA_SUCCESS);
    if (pool_free_now(dptr))
        return device_leave(CUDA_SUCCESS);
    if (interprocess_is_open(dptr, SHARED_POOL_MEMORY)) {
        if ((result = memory_settle(context)) == CUDA_SUCCESS)
            result = pool_import_free(NULL, dptr);
        return device_leave(result);
    }
    struct memory memory = memory_at(dptr);
    enum memory_owner owner = memory_tag_owner(memory.tag);
    if (owner == OWNER_GRAPH && memory.base == dptr) {
        if ((result = memory_settle(context)) == CUDA_SUCCESS && !graph_block_free(dptr))
            result = CUDA_ERROR_INVALID_VALUE;
        return device_leave(result);
    }
    if (!memory.bytes || memory.base != dptr ||
        (owner != OWNER_PROGRAM && owner != OWNER_MANAGED) ||
        (memory.kind != MEMORY_DEVICE && memory.kind != MEMORY_MANAGED))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    result = memory_settle(context);
    if (result != CUDA_SUCCESS)
        return device_leave(result);
    struct arena *arena =
        memory.kind == MEMORY_DEVICE ? &device.device_memory : &device.host_memory;
    outcome_freed_at(arena, dptr);
    struct arena_info info;
    if (arena_find(arena, dptr, &info))
        interprocess_freed(&info);
    return device_leave(arena_free(arena, dptr) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (free_bytes)
        *free_bytes = device.device_memory.limit - device.device_memory.used;
    if (total)
        *total = device.total_memory;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct memory memory = memory_at(dptr);
    if (!memory.bytes)
        return device_leave(CUDA_ERROR_NOT_FOUND);
    if (pbase)
        *pbase = memory.base;
    if (psize)
        *psize = memory.bytes;
    return device_leave(CUDA_SUCCESS);
}

/* ---- Pinned memory ------------------------------------------------------------------------- */

CUresult CUDAAPI cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    const unsigned known =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    struct CUctx_st *context;
    CUresult result = memory_enter_unsafe(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pp || !bytesize || Flags & ~known)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    uint64_t address =
        arena_allocate(&device.host_memory, bytesize, memory_tag(context, OWNER_PROGRAM), Flags);
    if (!address)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    *pp = (void *)address;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemAllocHost_v2(void **pp, size_t bytesize)
{
    return cuMemHostAlloc(pp, bytesize, 0);
}

CUresult CUDAAPI cuMemFreeHost(void *p)
{
    struct CUctx_st *context;
    CUresult result = memory_enter_unsafe(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!p)
        return device_leave(CUDA_SUCCESS);
    struct memory memory = memory_at((uint64_t)p);
    if (memory.kind != MEMORY_HOST || !memory.bytes || memory.base != (uint64_t)p)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    result = memory_settle(context);
    if (result != CUDA_SUCCESS)
        return device_leave(result);
    outcome_freed_at(&device.host_memory, (uint64_t)p);
    return device_leave(arena_free(&device.host_memory, (uint64_t)p) ? CUDA_SUCCESS
                                                                     : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct memory memory = memory_at((uint64_t)p);
    if (!pdptr || Flags || !memory.bytes || memory.kind == MEMORY_DEVICE)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *pdptr = (CUdeviceptr)p;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct memory memory = memory_at((uint64_t)p);
    if (!pFlags || !memory.bytes ||
        (memory.kind != MEMORY_HOST && memory.kind != MEMORY_REGISTERED))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *pFlags = memory.flags;
    return device_leave(CUDA_SUCCESS);
}

/* ---- Registered memory --------------------------------------------------------------------- */

bool memory_is_mapped(uint64_t address, uint64_t bytes)
{
    uint64_t first = address / PAGE * PAGE;
    return !(msync((void *)first, address + bytes - first, MS_ASYNC) && errno == ENOMEM);
}

static bool overlaps_registered(uint64_t address, uint64_t bytes)
{
    for (const struct registered *range = device.registered; range; range = range->next)
        if (address < range->base + range->bytes && range->base < address + bytes)
            return true;
    return false;
}

CUresult CUDAAPI cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
    const unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                           CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
    struct CUctx_st *context;
    uint64_t address = (uint64_t)p;
    CUresult result = memory_enter_unsafe(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!p || !bytesize || Flags & ~known || address + bytesize < address ||
        arena_owns(&device.device_memory, address) || !memory_is_mapped(address, bytesize))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if (arena_owns(&device.host_memory, address) || overlaps_registered(address, bytesize))
        return device_leave(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    result = memory_settle(context);
    struct registered *range = result == CUDA_SUCCESS ? calloc(1, sizeof *range) : NULL;
    if (!range)
        return device_leave(result != CUDA_SUCCESS ? result : CUDA_ERROR_OUT_OF_MEMORY);
    *range = (struct registered){device.registered, context, address, bytesize, Flags};
    device.registered = range;
    return device_leave(CUDA_SUCCESS);
}

/* The first version took the same arguments. */
CUresult CUDAAPI cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags)
{
    return cuMemHostRegister_v2(p, bytesize, Flags);
}

CUresult CUDAAPI cuMemHostUnregister(void *p)
{
    struct CUctx_st *context;
    CUresult result = memory_enter_unsafe(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!p)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    result = memory_settle(context);
    if (result != CUDA_SUCCESS)
        return device_leave(result);
    for (struct registered **link = &device.registered; *link; link = &(*link)->next) {
        struct registered *range = *link;
        if (range->base == (uint64_t)p) {
            *link = range->next;
            free(range);
            return device_leave(CUDA_SUCCESS);
        }
    }
    return device_leave(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

/* ---- Managed memory ------------------------------------------------------------------------ */

CUresult CUDAAPI cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    struct CUctx_st *context;
    CUresult result = memory_enter_unsafe(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!dptr || !bytesize || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    uint64_t address =
        arena_allocate(&device.host_memory, bytesize, memory_tag(context, OWNER_MANAGED), flags);
    if (!address)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    *dptr = address;
    return device_leave(CUDA_SUCCESS);
}

/* ---- Attributes of an address --------------------------------------------------------------- */

static void put(void *data, size_t bytes, uint64_t value)
{
    switch (bytes) { /* little endian or not, each is stored as its own type */
    case 1:
        *(uint8_t *)data = (uint8_t)value;
        break;
    case 4:
        *(uint32_t *)data = (uint32_t)value;
        break;
    default:
        *(uint64_t *)data = value;
        break;
    }
}

static struct CUctx_st *context_of(const struct memory *memory)
{
    for (struct CUctx_st *context = device.contexts; context; context = context->next)
        if (memory_tag(context, 0) >> 4 == memory->tag >> 4)
            return context;
    return NULL;
}

static int ordinal_of(const struct memory *memory, uint64_t address)
{
    const struct CUmemPoolHandle_st *pool = pool_of(address);
    int owner;
    bool reaches;
    if (virtual_reach(address, 0, &owner, &reaches))
        return owner;
    return pool ? pool->ordinal : context_ordinal_of_tag(memory->tag);
}

/* Kernels of the current context: memory of its own device, or of a peer that it may access. Pools
 * and mappings say themselves who may. */
static bool current_reaches(const struct memory *memory, uint64_t address)
{
    const struct CUctx_st *current = context_current();
    const struct CUmemPoolHandle_st *pool = pool_of(address);
    const int ordinal = ordinal_of(memory, address);
    int owner;
    bool reaches;
    if (memory->kind != MEMORY_DEVICE)
        return true;
    if (virtual_reach(address, current->ordinal, &owner, &reaches))
        return reaches;
    if (ordinal == current->ordinal)
        return true;
    return pool ? pool->readers >> current->ordinal & 1 : current->peers >> ordinal & 1;
}

static CUresult pointer_attribute(void *data, CUpointer_attribute attribute, uint64_t address)
{
    struct memory memory = memory_at(address);
    bool known = memory.bytes != 0;
    bool on_device = memory.kind == MEMORY_DEVICE || memory.kind == MEMORY_MANAGED;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        put(data, 8, known ? (uint64_t)context_of(&memory) : 0);
        break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        put(data, 4, !known ? 0 : on_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST);
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        if (known && !current_reaches(&memory, address))
            return CUDA_ERROR_INVALID_VALUE;
        put(data, 8, known ? address : 0);
        break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        put(data, 8, known && memory.kind != MEMORY_DEVICE ? address : 0);
        if (known && memory.kind == MEMORY_DEVICE)
            return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        put(data, 1, memory.sync_memops);
        break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        put(data, 1, memory.kind == MEMORY_DEVICE && memory_tag_owner(memory.tag) == OWNER_PROGRAM);
        break;
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        put(data, 1, 0);
        break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        put(data, 8, memory.id);
        break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        put(data, 1, known && memory.kind == MEMORY_MANAGED);
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        put(data, 4, known ? (uint64_t)ordinal_of(&memory, address) : (uint64_t)CU_DEVICE_INVALID);
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        put(data, 8, memory.base);
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        put(data, 8, memory.bytes);
        break;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        put(data, 1, known);
        break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        put(data, 8, 0);
        break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        put(data, 4, known ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE : 0);
        break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        put(data, 8, known ? (uint64_t)pool_of(address) : 0);
        break;
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        put(data, 8, memory.id);
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    struct CUctx_st *context;
    CUresult result = device_enter_failed(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!data)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    return device_leave(pointer_attribute(data, attribute, ptr));
}

/* "Unlike cuPointerGetAttribute, this function will not return an error when the ptr encountered is
 * not a valid CUDA pointer. Instead, the attributes are assigned default NULL values." */
CUresult CUDAAPI cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes,
                                        void **data, CUdeviceptr ptr)
{
    struct CUctx_st *context;
    CUresult result = device_enter_failed(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!attributes || !data)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < numAttributes; i++) {
        if (!data[i] || attributes[i] < CU_POINTER_ATTRIBUTE_CONTEXT ||
            attributes[i] > CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE)
            return device_leave(CUDA_ERROR_INVALID_VALUE);
        pointer_attribute(data[i], attributes[i], ptr);
    }
    return device_leave(CUDA_SUCCESS);
}

static void set_sync_memops(const struct memory *memory, uint64_t address, bool on)
{
    if (memory->kind == MEMORY_REGISTERED)
        registered_find(address)->sync_memops = on;
    else
        arena_set_attribute(memory->kind == MEMORY_DEVICE ? &device.device_memory
                                                          : &device.host_memory,
                            address, on);
}

/* The one attribute that can be set, SYNC_MEMOPS, makes synchronous copies and sets wait. */
CUresult CUDAAPI cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                                       CUdeviceptr ptr)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct memory memory = memory_at(ptr);
    bool valid = value && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS && memory.bytes;
    if (valid)
        set_sync_memops(&memory, ptr, *(const unsigned *)value != 0);
    return device_leave(valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}
