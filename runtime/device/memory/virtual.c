/* Virtual memory (CUDA Driver API, "Virtual Memory Management"): address ranges that are reserved,
 * physical memory, and mappings of the second into the first. Physical memory is a file without a
 * name; a mapping puts it where the device looks, so that what is mapped twice is the same bytes.
 * Only what is mapped and made accessible can be touched: memory_at asks here. */
#include "runtime/device/driver/graph/graph.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GRANULARITY = 2 << 20 };

struct physical {
    struct object object;
    uint64_t bytes;
    unsigned handles, mappings;
    int file;
    CUmemAllocationProp properties;
};

struct mapping {
    struct mapping *next; /* by address */
    uint64_t base, bytes;
    struct physical *physical;
    CUmemAccess_flags access[ORDINALS_MAX]; /* by device */
};

static struct {
    struct mapping *mappings;
    uint64_t used; /* bytes of physical memory */
} space;           /* under the device's lock */

/* ---- Physical memory ------------------------------------------------------------------------ */

static struct physical *physical_create(int file, uint64_t bytes, const CUmemAllocationProp *prop)
{
    struct physical *physical = file >= 0 ? calloc(1, sizeof *physical) : NULL;
    if (!physical) {
        if (file >= 0)
            close(file);
        return NULL;
    }
    physical->bytes = bytes;
    physical->handles = 1;
    physical->file = file;
    physical->properties = *prop;
    object_add(&physical->object, OBJECT_PHYSICAL);
    space.used += bytes;
    return physical;
}

/* "The memory allocation will be freed when all outstanding mappings to the memory are unmapped and
 * when all outstanding references to the handle (including its shareable counterparts) are also
 * released." */
static void physical_release(struct physical *physical)
{
    if (physical->handles)
        return;
    if (physical->object.kind) {
        object_remove(&physical->object); /* the handle is not valid any more */
        physical->object.kind = 0;
    }
    if (physical->mappings)
        return;
    space.used -= physical->bytes;
    close(physical->file);
    free(physical);
}

static struct physical *physical_of(CUmemGenericAllocationHandle handle)
{
    return object_find((const void *)(uintptr_t)handle, OBJECT_PHYSICAL);
}

static CUmemGenericAllocationHandle handle_of(const struct physical *physical)
{
    return (uintptr_t)physical;
}

static bool properties_are_valid(const CUmemAllocationProp *prop)
{
    return prop && prop->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
           prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE && device_exists(prop->location.id) &&
           (prop->requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE ||
            prop->requestedHandleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

CUresult CUDAAPI cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                             const CUmemAllocationProp *prop, unsigned long long flags)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle || !size || size % GRANULARITY || flags || !properties_are_valid(prop))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if (size > device.total_memory - space.used)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    int file = memfd_create("csan device memory", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, (off_t)size)) {
        close(file);
        file = -1;
    }
    struct physical *physical = physical_create(file, size, prop);
    if (!physical)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    *handle = handle_of(physical);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemRelease(CUmemGenericAllocationHandle handle)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    struct physical *physical = physical_of(handle);
    if (!physical)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    physical->handles--;
    physical_release(physical);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                               CUmemAllocationGranularity_flags option)
{
    if (!granularity || !properties_are_valid(prop) ||
        (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
         option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
        return CUDA_ERROR_INVALID_VALUE;
    *granularity = GRANULARITY;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                        CUmemGenericAllocationHandle handle)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    struct physical *physical = physical_of(handle);
    if (!physical || !prop)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *prop = physical->properties;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemExportToShareableHandle(void *shareableHandle,
                                              CUmemGenericAllocationHandle handle,
                                              CUmemAllocationHandleType handleType,
                                              unsigned long long flags)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    struct physical *physical = physical_of(handle);
    if (!physical || !shareableHandle || flags ||
        handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        physical->properties.requestedHandleTypes != handleType)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    int file = dup(physical->file);
    if (file < 0)
        return device_leave(CUDA_ERROR_OPERATING_SYSTEM);
    *(int *)shareableHandle = file;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle,
                                                void *osHandle,
                                                CUmemAllocationHandleType shHandleType)
{
    const CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                            .requestedHandleTypes =
                                                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                            .location.type = CU_MEM_LOCATION_TYPE_DEVICE};
    struct stat status;
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    int given = (int)(uintptr_t)osHandle;
    if (!handle || shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        fstat(given, &status) || !status.st_size || status.st_size % GRANULARITY)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct physical *physical = physical_create(dup(given), (uint64_t)status.st_size, &properties);
    if (!physical)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    *handle = handle_of(physical);
    return device_leave(CUDA_SUCCESS);
}

/* ---- Reservations ---------------------------------------------------------------------------- */

static bool reservation_find(uint64_t address, struct arena_info *info)
{
    return arena_find(&device.device_memory, address, info) &&
           memory_tag_owner(info->tag) == OWNER_RESERVED;
}

/* The first mapping that ends behind the address. */
static struct mapping **mapping_seek(uint64_t address)
{
    struct mapping **link = &space.mappings;
    while (*link && (*link)->base + (*link)->bytes <= address)
        link = &(*link)->next;
    return link;
}

static bool is_mapped(uint64_t base, uint64_t bytes)
{
    const struct mapping *mapping = *mapping_seek(base);
    return mapping && mapping->base < base + bytes;
}

CUresult CUDAAPI cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment,
                                     CUdeviceptr addr, unsigned long long flags)
{
    (void)addr; /* a hint */
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!ptr || !size || size % GRANULARITY || flags || (alignment & (alignment - 1)))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    uint64_t base =
        arena_reserve(&device.device_memory, size,
                      alignment > GRANULARITY ? alignment : GRANULARITY, OWNER_RESERVED);
    if (!base)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    *ptr = base;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
    struct arena_info info;
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!reservation_find(ptr, &info) || info.base != ptr || info.bytes != size ||
        is_mapped(ptr, size))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    arena_free(&device.device_memory, ptr);
    return device_leave(CUDA_SUCCESS);
}

/* ---- Mappings -------------------------------------------------------------------------------- */

static bool place(uint64_t base, uint64_t bytes, int file)
{
    void *at = (void *)(base + device.device_memory.delta);
    int flags = file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_FIXED | flags, file, 0) != MAP_FAILED;
}

CUresult CUDAAPI cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
                          CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    struct arena_info info;
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    struct physical *physical = physical_of(handle);
    if (!physical || !size || size % GRANULARITY || ptr % GRANULARITY || offset || flags ||
        size > physical->bytes || !reservation_find(ptr, &info) ||
        size > info.base + info.bytes - ptr || is_mapped(ptr, size))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct mapping *mapping = calloc(1, sizeof *mapping);
    if (!mapping || !place(ptr, size, physical->file)) {
        free(mapping);
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    struct mapping **link = mapping_seek(ptr);
    *mapping = (struct mapping){.next = *link, .base = ptr, .bytes = size, .physical = physical};
    *link = mapping;
    physical->mappings++;
    return device_leave(CUDA_SUCCESS);
}

/* The mappings that are all of [base, base + bytes), or NULL. */
static struct mapping **mapping_cover(uint64_t base, uint64_t bytes)
{
    struct mapping **first = mapping_seek(base);
    uint64_t at = base;
    for (struct mapping *mapping = *first; mapping && mapping->base == at; mapping = mapping->next)
        if ((at += mapping->bytes) >= base + bytes)
            break;
    return bytes && at == base + bytes ? first : NULL;
}

/* "This function exhibits synchronous behavior for most use cases": what still runs is waited for.
 */
CUresult CUDAAPI cuMemUnmap(CUdeviceptr ptr, size_t size)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!mapping_cover(ptr, size))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    schedule_all();
    struct mapping **link = mapping_cover(ptr, size); /* others were let in */
    if (!link || !place(ptr, size, -1))
        return device_leave(link ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE);
    while (*link && (*link)->base < ptr + size) {
        struct mapping *mapping = *link;
        *link = mapping->next;
        mapping->physical->mappings--;
        physical_release(mapping->physical);
        free(mapping);
    }
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc,
                                size_t count)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    struct mapping **link = mapping_cover(ptr, size);
    bool valid = link && desc && count;
    for (size_t i = 0; valid && i < count; i++)
        valid = desc[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
                device_exists(desc[i].location.id) &&
                (desc[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ||
                 desc[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
                 desc[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    if (!valid)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    for (struct mapping *mapping = *link; mapping && mapping->base < ptr + size;
         mapping = mapping->next)
        for (size_t i = 0; i < count; i++)
            mapping->access[desc[i].location.id] = desc[i].flags;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
                                CUdeviceptr ptr)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    const struct mapping *mapping = *mapping_seek(ptr);
    if (!flags || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE ||
        !device_exists(location->id) || !mapping || mapping->base > ptr)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *flags = mapping->access[location->id];
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
    uint64_t address = (uintptr_t)addr;
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    struct mapping *mapping = *mapping_seek(address);
    if (!handle || !mapping || mapping->base > address)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct physical *physical = mapping->physical;
    if (!physical->handles++)
        object_add(&physical->object, OBJECT_PHYSICAL);
    *handle = handle_of(physical);
    return device_leave(CUDA_SUCCESS);
}

bool virtual_reach(uint64_t address, int ordinal, int *owner, bool *reaches)
{
    const struct mapping *mapping = *mapping_seek(address);
    if (!mapping || mapping->base > address)
        return false;
    *owner = mapping->physical->properties.location.id;
    *reaches = mapping->access[ordinal] != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return true;
}

/* What the device that may do most with it may do. Who touches it is not asked. */
static CUmemAccess_flags widest(const struct mapping *mapping)
{
    CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    for (int i = 0; i < ORDINALS_MAX; i++)
        if (mapping->access[i] > access)
            access = mapping->access[i];
    return access;
}

/* Neighbours that may be touched alike are one piece. */
bool virtual_find(uint64_t address, struct arena_info *info, bool *writable)
{
    struct mapping *mapping = *mapping_seek(address);
    uint64_t base = 0, end = 0;
    CUmemAccess_flags access =
        mapping && mapping->base <= address ? widest(mapping) : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    if (access == CU_MEM_ACCESS_FLAGS_PROT_NONE)
        return false;
    for (mapping = space.mappings; mapping && mapping->base <= (end > address ? end : address);
         mapping = mapping->next) {
        if (widest(mapping) != access || mapping->base < info->base)
            continue;
        if (mapping->base != end) {
            if (end > address)
                break;
            base = mapping->base;
        }
        end = mapping->base + mapping->bytes;
    }
    info->base = base;
    info->bytes = info->span = end - base;
    *writable = access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return true;
}
