/* Heaps and regions of NVTX's memory API against a model that keeps them in two arrays: after each
 * of many random calls, the blocks declared are those of the model. And several threads at once. */
#include "csan/base/fork_lock.h"
#include "runtime/hook/api/nvtx_memory.h"
#include "runtime/hook/api/pool_block.h"
#include "runtime/hook/session/counters.h"
#include "runtime/hook/session/session.h"

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExtMem.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { HEAPS = 6, PLACES = 12, CALLS_MAX = 64, STEPS = 200000, FUNCTIONS = 63, PLACE = 256 };

static intptr_t functions[FUNCTIONS];

/* ---- what was declared, and what should have been */

struct call {
    uint64_t base, bytes; /* bytes 0: a free */
};
struct calls {
    struct call all[CALLS_MAX];
    size_t count;
};
static struct calls declared, expected;
static bool is_owner, is_allocated, counting;
static int64_t balance;

static void calls_add(struct calls *calls, uint64_t base, uint64_t bytes)
{
    assert_true(calls->count < CALLS_MAX);
    calls->all[calls->count++] = (struct call){base, bytes};
}

void pool_block_alloc(uint64_t base, uint64_t bytes, const char *call)
{
    assert_non_null(call);
    if (counting)
        __atomic_add_fetch(&balance, 1, __ATOMIC_RELAXED);
    else
        calls_add(&declared, base, bytes);
}

void pool_block_free(uint64_t base)
{
    if (counting)
        __atomic_sub_fetch(&balance, 1, __ATOMIC_RELAXED);
    else
        calls_add(&declared, base, 0);
}

bool pool_block_owner_has(uint64_t base, uint64_t bytes)
{
    assert_true(base && bytes);
    return is_owner;
}

bool pool_block_is_allocated(uint64_t base, uint64_t bytes)
{
    assert_true(base && bytes);
    return is_allocated;
}

void fork_lock_keep(pthread_mutex_t *mutex)
{
    assert_non_null(mutex);
}

bool session_start(void)
{
    return true;
}

void counters_unmodelled(const char *what)
{
    assert_non_null(what);
}

/* ---- NVTX's functions, as a program calls them */

static nvtxMemHeapHandle_t heap_register(uint64_t base, uint64_t bytes, uint32_t usage)
{
    typedef nvtxMemHeapHandle_t function(nvtxDomainHandle_t, const nvtxMemHeapDesc_t *);
    const nvtxMemVirtualRangeDesc_t range = {bytes, (void *)(uintptr_t)base};
    const nvtxMemHeapDesc_t is = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                  .structSize = sizeof is,
                                  .usage = usage,
                                  .type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                  .typeSpecificDescSize = sizeof range,
                                  .typeSpecificDesc = &range};
    return ((function *)functions[NVTX3EXT_CBID_nvtxMemHeapRegister])(NULL, &is);
}

static void heap_end(int number, nvtxMemHeapHandle_t heap)
{
    ((void (*)(nvtxDomainHandle_t, nvtxMemHeapHandle_t))functions[number])(NULL, heap);
}

static void regions_register(nvtxMemHeapHandle_t heap, const nvtxMemVirtualRangeDesc_t *ranges,
                             size_t count)
{
    typedef void function(nvtxDomainHandle_t, const nvtxMemRegionsRegisterBatch_t *);
    const nvtxMemRegionsRegisterBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                                 .structSize = sizeof batch,
                                                 .regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                                 .heap = heap,
                                                 .regionCount = count,
                                                 .regionDescElementSize = sizeof *ranges,
                                                 .regionDescElements = ranges};
    ((function *)functions[NVTX3EXT_CBID_nvtxMemRegionsRegister])(NULL, &batch);
}

static void regions_resize(const nvtxMemVirtualRangeDesc_t *ranges, size_t count)
{
    typedef void function(nvtxDomainHandle_t, const nvtxMemRegionsResizeBatch_t *);
    const nvtxMemRegionsResizeBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                               .structSize = sizeof batch,
                                               .regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                               .regionDescCount = count,
                                               .regionDescElementSize = sizeof *ranges,
                                               .regionDescElements = ranges};
    ((function *)functions[NVTX3EXT_CBID_nvtxMemRegionsResize])(NULL, &batch);
}

static void regions_unregister(const nvtxMemRegionRef_t *which, size_t count)
{
    typedef void function(nvtxDomainHandle_t, const nvtxMemRegionsUnregisterBatch_t *);
    const nvtxMemRegionsUnregisterBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                                   .structSize = sizeof batch,
                                                   .refType = NVTX_MEM_REGION_REF_TYPE_POINTER,
                                                   .refCount = count,
                                                   .refElementSize = sizeof *which,
                                                   .refElements = which};
    ((function *)functions[NVTX3EXT_CBID_nvtxMemRegionsUnregister])(NULL, &batch);
}

static int attach(void **state)
{
    (void)state;
    nvtxExtModuleSegment_t segment = {1, FUNCTIONS, functions};
    nvtxExtModuleInfo_t info = {
        3, sizeof info, NVTX_EXT_MODULEID_MEM, NVTX_EXT_COMPATID_MEM, 1, &segment, NULL, NULL};
    return InitializeInjectionNvtxExtension((struct nvtx_extension *)&info) == 1 ? 0 : -1;
}

/* ---- the model */

static struct {
    struct {
        nvtxMemHeapHandle_t handle; /* NULL: there is none in this slot */
        uint64_t base, bytes;
        bool pool, whole;
        int number; /* of the step that registered it */
    } heaps[HEAPS];
    struct {
        uint64_t base;
        int heap;
    } regions[PLACES]; /* as they were registered, oldest first */
    size_t count;
} model;

static int64_t model_find(uint64_t base)
{
    for (size_t i = 0; i < model.count; i++)
        if (model.regions[i].base == base)
            return (int64_t)i;
    return -1;
}

static void model_remove(int64_t at)
{
    model.count--;
    memmove(&model.regions[at], &model.regions[at + 1],
            (model.count - (size_t)at) * sizeof *model.regions);
}

static bool model_has_handle(nvtxMemHeapHandle_t handle)
{
    for (int i = 0; i < HEAPS; i++)
        if (model.heaps[i].handle == handle)
            return true;
    return false;
}

static bool model_is_followed(int slot)
{
    for (int i = 0; i < HEAPS; i++)
        if (model.heaps[i].handle && model.heaps[i].number > model.heaps[slot].number &&
            model.heaps[i].base < model.heaps[slot].base + model.heaps[slot].bytes &&
            model.heaps[slot].base < model.heaps[i].base + model.heaps[i].bytes)
            return true;
    return false;
}

/* ---- random calls */

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % limit;
}

static uint64_t random_place(void)
{
    return 0x10000 + random_below(PLACES) * PLACE;
}

static nvtxMemVirtualRangeDesc_t random_range(void)
{
    const uint64_t bytes = random_below(10) ? 1 + random_below(3 * PLACE) : 0;
    return (nvtxMemVirtualRangeDesc_t){bytes, (void *)(uintptr_t)random_place()};
}

static void step_heap_register(void)
{
    const int slot = (int)random_below(HEAPS);
    const uint64_t base = random_place(), bytes = 1 + random_below(8 * PLACE);
    const uint32_t usage =
        random_below(4) ? NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR : NVTX_MEM_HEAP_USAGE_TYPE_LAYOUT;
    if (model.heaps[slot].handle)
        return;
    is_owner = random_below(2);
    const nvtxMemHeapHandle_t at = (nvtxMemHeapHandle_t)(uintptr_t)base;
    const bool taken = model_has_handle(at);
    const nvtxMemHeapHandle_t handle = heap_register(base, bytes, usage);
    assert_non_null(handle);
    assert_false(model_has_handle(handle));
    assert_int_equal(handle == at, !taken);
    static int number;
    model.heaps[slot].number = ++number;
    model.heaps[slot].handle = handle;
    model.heaps[slot].base = base;
    model.heaps[slot].bytes = bytes;
    model.heaps[slot].pool = usage == NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR;
    model.heaps[slot].whole = model.heaps[slot].pool && is_owner;
}

static void step_heap_end(void)
{
    const int slot = (int)random_below(HEAPS);
    const bool ends = random_below(2);
    is_allocated = random_below(2);
    heap_end(ends ? NVTX3EXT_CBID_nvtxMemHeapUnregister : NVTX3EXT_CBID_nvtxMemHeapReset,
             model.heaps[slot].handle);
    if (!model.heaps[slot].handle)
        return;
    for (int64_t i = 0; i < (int64_t)model.count;) {
        if (model.regions[i].heap != slot) {
            i++;
            continue;
        }
        calls_add(&expected, model.regions[i].base, 0);
        model_remove(i);
    }
    if (ends && model.heaps[slot].whole && is_allocated && !model_is_followed(slot))
        calls_add(&expected, model.heaps[slot].base, model.heaps[slot].bytes);
    if (ends)
        model.heaps[slot].handle = NULL;
}

static void step_register(void)
{
    const int slot = (int)random_below(HEAPS);
    const size_t count = 1 + random_below(3);
    nvtxMemVirtualRangeDesc_t ranges[3];
    for (size_t i = 0; i < count; i++) {
        ranges[i] = random_range();
        const uint64_t base = (uintptr_t)ranges[i].ptr;
        if (!ranges[i].size || !model.heaps[slot].handle || !model.heaps[slot].pool)
            continue;
        const int64_t former = model_find(base);
        if (former >= 0)
            model_remove(former);
        model.regions[model.count].base = base;
        model.regions[model.count++].heap = slot;
        calls_add(&expected, base, ranges[i].size);
    }
    regions_register(model.heaps[slot].handle, ranges, count);
}

static void step_resize(void)
{
    nvtxMemVirtualRangeDesc_t ranges[2] = {random_range(), random_range()};
    for (int i = 0; i < 2; i++) {
        const uint64_t base = (uintptr_t)ranges[i].ptr;
        if (ranges[i].size && model_find(base) >= 0) {
            calls_add(&expected, base, 0);
            calls_add(&expected, base, ranges[i].size);
        }
    }
    regions_resize(ranges, 2);
}

static void step_unregister(void)
{
    nvtxMemRegionRef_t which[2];
    for (int i = 0; i < 2; i++) {
        const uint64_t base = random_place();
        const int64_t at = model_find(base);
        which[i].pointer = (void *)(uintptr_t)base;
        if (at >= 0) {
            calls_add(&expected, base, 0);
            model_remove(at);
        }
    }
    regions_unregister(which, 2);
}

static void random_calls_declare_what_the_model_says(void **state)
{
    (void)state;
    static void (*const steps[])(void) = {step_heap_register, step_heap_end,   step_register,
                                          step_register,      step_register,   step_resize,
                                          step_unregister,    step_unregister, step_heap_register};
    size_t blocks = 0;
    for (int i = 0; i < STEPS; i++) {
        declared.count = expected.count = 0;
        steps[random_below(sizeof steps / sizeof *steps)]();
        assert_int_equal(declared.count, expected.count);
        assert_memory_equal(declared.all, expected.all, expected.count * sizeof *expected.all);
        blocks += expected.count;
    }
    assert_true(blocks > STEPS / 4); /* it was not about nothing */
    for (int i = 0; i < HEAPS; i++)
        heap_end(NVTX3EXT_CBID_nvtxMemHeapUnregister, model.heaps[i].handle);
}

/* ---- threads */

enum { THREADS = 4, ROUNDS = 20000 };
static nvtxMemHeapHandle_t shared;

static void *use_pool(void *argument)
{
    const uintptr_t base = 0x100000 + (uintptr_t)argument * PLACE;
    for (int i = 0; i < ROUNDS; i++) {
        const nvtxMemVirtualRangeDesc_t range = {PLACE, (void *)base};
        const nvtxMemRegionRef_t which = {.pointer = (void *)base};
        regions_register(shared, &range, 1);
        if (i % 8 == 0)
            regions_resize(&range, 1);
        if (i % 64 == 0)
            heap_end(NVTX3EXT_CBID_nvtxMemHeapUnregister,
                     heap_register(base, PLACE, NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR));
        regions_unregister(&which, 1);
    }
    return NULL;
}

static void threads_may_use_one_heap(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    counting = true;
    is_owner = is_allocated = false;
    shared = heap_register(0x100000 - PLACE, PLACE, NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, use_pool, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(balance, 0);
    heap_end(NVTX3EXT_CBID_nvtxMemHeapUnregister, shared);
    assert_int_equal(balance, 0);
    counting = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_calls_declare_what_the_model_says),
        cmocka_unit_test(threads_may_use_one_heap),
    };
    return cmocka_run_group_tests_name("nvtx_memory", tests, attach, NULL);
}
