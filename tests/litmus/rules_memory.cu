// Calls between A and B that enqueue nothing: memory, modules, limits, questions. Which of them
// make the host wait? And memory that a pool hands from one stream to another.
#include "litmus.h"

#include <cudaTypedefs.h>
#include <cstdlib>

static const char module_text[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                                  ".visible .entry litmus_nothing()\n{\n    ret;\n}\n";

// What a call between A and B takes or gives back: made before A, ended after B, when it must be.
struct thing {
    void *memory;
    CUmodule module;
    cudaArray_t array;
    cudaMemPool_t pool;
};

typedef void (*step)(struct trial &trial, struct thing &thing);

static void nothing(struct trial &, struct thing &) {}

template <step BEFORE, step CALL, step AFTER> static void between(struct trial &trial)
{
    struct thing thing = {};
    BEFORE(trial, thing);
    if (trial.failed || trial.skipped)
        return;
    TRY(cudaDeviceSynchronize());
    first(trial, trial.a);
    CALL(trial, thing);
    second(trial, trial.b);
    TRY(cudaDeviceSynchronize());
    AFTER(trial, thing);
}

enum { SMALL = 4096, LARGE = 64 << 20, PAGES = 1 << 20 };

template <size_t BYTES> static void make(struct trial &trial, struct thing &thing)
{
    TRY(cudaMalloc(&thing.memory, BYTES));
}
static void end(struct trial &trial, struct thing &thing)
{
    TRY(cudaFree(thing.memory));
}
static void make_pinned(struct trial &trial, struct thing &thing)
{
    TRY(cudaMallocHost(&thing.memory, PAGES));
}
static void end_pinned(struct trial &trial, struct thing &thing)
{
    TRY(cudaFreeHost(thing.memory));
}
static void make_managed(struct trial &trial, struct thing &thing)
{
    TRY(cudaMallocManaged(&thing.memory, PAGES));
}
static void make_pageable(struct trial &trial, struct thing &thing)
{
    if (!(thing.memory = aligned_alloc(4096, PAGES)))
        skip(trial, "no memory");
}
static void end_pageable(struct trial &, struct thing &thing)
{
    free(thing.memory);
}
static void lock_pages(struct trial &trial, struct thing &thing)
{
    TRY(cudaHostRegister(thing.memory, PAGES, cudaHostRegisterDefault));
}
static void unlock_pages(struct trial &trial, struct thing &thing)
{
    TRY(cudaHostUnregister(thing.memory));
}
static void make_locked(struct trial &trial, struct thing &thing)
{
    make_pageable(trial, thing);
    if (!trial.skipped)
        lock_pages(trial, thing);
}
static void unlock_and_end(struct trial &trial, struct thing &thing)
{
    unlock_pages(trial, thing);
    end_pageable(trial, thing);
}
static void make_async(struct trial &trial, struct thing &thing)
{
    TRY(cudaMallocAsync(&thing.memory, SMALL, trial.blocking));
}
static void end_async(struct trial &trial, struct thing &thing)
{
    TRY(cudaFreeAsync(thing.memory, trial.blocking));
}
static void make_array(struct trial &trial, struct thing &thing)
{
    cudaChannelFormatDesc format = {32, 0, 0, 0, cudaChannelFormatKindSigned};
    TRY(cudaMallocArray(&thing.array, &format, 64, 64));
}
static void end_array(struct trial &trial, struct thing &thing)
{
    TRY(cudaFreeArray(thing.array));
}
static void make_pool(struct trial &trial, struct thing &thing)
{
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    TRY(cudaMemPoolCreate(&thing.pool, &properties));
}
static void end_pool(struct trial &trial, struct thing &thing)
{
    TRY(cudaMemPoolDestroy(thing.pool));
}
static void trim_pool(struct trial &trial, struct thing &)
{
    cudaMemPool_t pool;
    TRY(cudaDeviceGetDefaultMemPool(&pool, 0));
    TRY(cudaMemPoolTrimTo(pool, 0));
}

static void load_module(struct trial &trial, struct thing &thing)
{
    PFN_cuModuleLoadData_v2000 load =
        (PFN_cuModuleLoadData_v2000)driver_function(trial, "cuModuleLoadData", 12000);
    if (load)
        TRY_DRIVER(load(&thing.module, module_text));
}
static void unload_module(struct trial &trial, struct thing &thing)
{
    PFN_cuModuleUnload_v2000 unload =
        (PFN_cuModuleUnload_v2000)driver_function(trial, "cuModuleUnload", 12000);
    if (unload)
        TRY_DRIVER(unload(thing.module));
}

static void set_stack_limit(struct trial &trial, struct thing &)
{
    TRY(cudaDeviceSetLimit(cudaLimitStackSize, trial.number % 2 ? 2048 : 4096));
}
static void set_print_limit(struct trial &trial, struct thing &)
{
    TRY(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, trial.number % 2 ? 1 << 20 : 2 << 20));
}
static void set_heap_limit(struct trial &trial, struct thing &)
{
    TRY(cudaDeviceSetLimit(cudaLimitMallocHeapSize, trial.number % 2 ? 8 << 20 : 16 << 20));
}
static void ask_occupancy(struct trial &trial, struct thing &)
{
    int blocks;
    TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, second_kernel(), 32, 0));
}
static void ask_attributes(struct trial &trial, struct thing &)
{
    cudaFuncAttributes attributes;
    TRY(cudaFuncGetAttributes(&attributes, second_kernel()));
}
static void set_attribute(struct trial &trial, struct thing &)
{
    TRY(cudaFuncSetAttribute(second_kernel(), cudaFuncAttributePreferredSharedMemoryCarveout,
                             trial.number % 2 ? 50 : 100));
}
static void ask_free_memory(struct trial &trial, struct thing &)
{
    size_t available, total;
    TRY(cudaMemGetInfo(&available, &total));
}
static void ask_pointer(struct trial &trial, struct thing &)
{
    cudaPointerAttributes attributes;
    TRY(cudaPointerGetAttributes(&attributes, trial.pinned));
}
static void prefetch(struct trial &trial, struct thing &)
{
    cudaMemLocation device = {cudaMemLocationTypeDevice, 0};
    TRY(cudaMemPrefetchAsync(trial.managed, 4096, device, 0, trial.blocking));
}

// ---- Virtual memory: mapped before A, unmapped between A and B

static struct {
    CUdeviceptr base;
    size_t bytes;
    CUmemGenericAllocationHandle handle;
} mapping;

static void map(struct trial &trial, struct thing &)
{
    PFN_cuMemGetAllocationGranularity_v10020 granularity =
        (PFN_cuMemGetAllocationGranularity_v10020)driver_function(
            trial, "cuMemGetAllocationGranularity", 12000);
    PFN_cuMemCreate_v10020 create =
        (PFN_cuMemCreate_v10020)driver_function(trial, "cuMemCreate", 12000);
    PFN_cuMemAddressReserve_v10020 reserve =
        (PFN_cuMemAddressReserve_v10020)driver_function(trial, "cuMemAddressReserve", 12000);
    PFN_cuMemMap_v10020 map_memory = (PFN_cuMemMap_v10020)driver_function(trial, "cuMemMap", 12000);
    PFN_cuMemSetAccess_v10020 set_access =
        (PFN_cuMemSetAccess_v10020)driver_function(trial, "cuMemSetAccess", 12000);
    CUmemAllocationProp properties = {};
    CUmemAccessDesc access = {};
    if (!granularity || !create || !reserve || !map_memory || !set_access)
        return;
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    TRY_DRIVER(granularity(&mapping.bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    TRY_DRIVER(create(&mapping.handle, mapping.bytes, &properties, 0));
    TRY_DRIVER(reserve(&mapping.base, mapping.bytes, 0, 0, 0));
    TRY_DRIVER(map_memory(mapping.base, mapping.bytes, 0, mapping.handle, 0));
    TRY_DRIVER(set_access(mapping.base, mapping.bytes, &access, 1));
}

static void unmap(struct trial &trial, struct thing &)
{
    PFN_cuMemUnmap_v10020 unmap_memory =
        (PFN_cuMemUnmap_v10020)driver_function(trial, "cuMemUnmap", 12000);
    if (unmap_memory)
        TRY_DRIVER(unmap_memory(mapping.base, mapping.bytes));
}

static void end_mapping(struct trial &trial, struct thing &)
{
    PFN_cuMemRelease_v10020 release =
        (PFN_cuMemRelease_v10020)driver_function(trial, "cuMemRelease", 12000);
    PFN_cuMemAddressFree_v10020 give_back =
        (PFN_cuMemAddressFree_v10020)driver_function(trial, "cuMemAddressFree", 12000);
    if (!release || !give_back)
        return;
    TRY_DRIVER(release(mapping.handle));
    TRY_DRIVER(give_back(mapping.base, mapping.bytes));
}

static void unmap_and_end(struct trial &trial, struct thing &thing)
{
    unmap(trial, thing);
    end_mapping(trial, thing);
}

// ---- Memory handed from stream to stream

// A stores into memory that its stream then frees; B looks at what another stream is given, which
// is to be the same address.
static void pool_hands_on(struct trial &trial)
{
    int *mine, *theirs;
    TRY(cudaMallocAsync((void **)&mine, SMALL, trial.a));
    TRY(cudaMemsetAsync(mine, 0, sizeof *mine, trial.a));
    TRY(cudaStreamSynchronize(trial.a));
    trial.word = mine;
    first(trial, trial.a);
    TRY(cudaFreeAsync(mine, trial.a));
    TRY(cudaMallocAsync((void **)&theirs, SMALL, trial.b));
    if (theirs == mine)
        second(trial, trial.b);
    TRY(cudaFreeAsync(theirs, trial.b));
    if (theirs != mine)
        skip(trial, "the pool gave other memory");
}

static const char *const order = "Runtime API, Memory Management (may synchronize)";
static const char *const loading = "Programming Guide, Lazy Loading";
static const char *const none = "nothing is said";

// clang-format off
static const struct rule table[] = {
    {"cudaMalloc, 4 KiB", NOTHING, order, between<nothing, make<SMALL>, end>},
    {"cudaMalloc, 64 MiB", NOTHING, order, between<nothing, make<LARGE>, end>},
    {"cudaFree, 4 KiB", NOTHING, order, between<make<SMALL>, end, nothing>},
    {"cudaFree, 64 MiB", NOTHING, order, between<make<LARGE>, end, nothing>},
    {"cudaMallocHost", NOTHING, order, between<nothing, make_pinned, end_pinned>},
    {"cudaFreeHost", NOTHING, order, between<make_pinned, end_pinned, nothing>},
    {"cudaMallocManaged", NOTHING, order, between<nothing, make_managed, end>},
    {"cudaFree of managed memory", NOTHING, order, between<make_managed, end, nothing>},
    {"cudaHostRegister", NOTHING, order, between<make_pageable, lock_pages, unlock_and_end>},
    {"cudaHostUnregister", NOTHING, order, between<make_locked, unlock_pages, end_pageable>},
    {"cudaMallocAsync in another stream", NOTHING, "Programming Guide, Stream Ordered Memory Allocator", between<nothing, make_async, end>},
    {"cudaFreeAsync in another stream", NOTHING, "Programming Guide, Stream Ordered Memory Allocator", between<make_async, end_async, nothing>},
    {"cudaFree of memory of cudaMallocAsync", NOTHING, "Programming Guide, Stream Ordered Memory Allocator", between<make_async, end, nothing>},
    {"pool memory freed by A's stream, given to B's", PROMISED, "Programming Guide, Stream Ordered Memory Allocator", pool_hands_on},
    {"cudaMallocArray", NOTHING, order, between<nothing, make_array, end_array>},
    {"cudaFreeArray", NOTHING, order, between<make_array, end_array, nothing>},
    {"cudaMemPoolCreate", NOTHING, none, between<nothing, make_pool, end_pool>},
    {"cudaMemPoolDestroy", NOTHING, none, between<make_pool, end_pool, nothing>},
    {"cudaMemPoolTrimTo", NOTHING, none, between<nothing, trim_pool, nothing>},
    {"cuMemCreate, cuMemMap, cuMemSetAccess", NOTHING, none, between<nothing, map, unmap_and_end>},
    {"cuMemUnmap", NOTHING, none, between<map, unmap, end_mapping>},
    {"cudaMemPrefetchAsync in another stream", NOTHING, "Runtime API, cudaMemPrefetchAsync", between<nothing, prefetch, nothing>},
    {"cuModuleLoadData", NOTHING, loading, between<nothing, load_module, unload_module>},
    {"cuModuleUnload", NOTHING, loading, between<load_module, unload_module, nothing>},
    {"B's kernel is launched for the first time", NOTHING, loading,
     [](struct trial &trial) {
         static int launched;
         first(trial, trial.a);
         if (!second_lazily(trial, trial.b, launched++))
             skip(trial, "no kernels left");
     }, 0, LAZY_KERNELS - 1, "csan cannot see that a launch loads code"},
    {"cudaDeviceSetLimit, stack", NOTHING, none, between<nothing, set_stack_limit, nothing>},
    {"cudaDeviceSetLimit, printf buffer", NOTHING, none, between<nothing, set_print_limit, nothing>},
    {"cudaDeviceSetLimit, heap", NOTHING, none, between<nothing, set_heap_limit, nothing>},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessor", NOTHING, none, between<nothing, ask_occupancy, nothing>},
    {"cudaFuncGetAttributes", NOTHING, none, between<nothing, ask_attributes, nothing>},
    {"cudaFuncSetAttribute", NOTHING, none, between<nothing, set_attribute, nothing>},
    {"cudaMemGetInfo", NOTHING, none, between<nothing, ask_free_memory, nothing>},
    {"cudaPointerGetAttributes", NOTHING, none, between<nothing, ask_pointer, nothing>},
};
// clang-format on

struct rules memory_rules()
{
    return {table, sizeof table / sizeof *table};
}
