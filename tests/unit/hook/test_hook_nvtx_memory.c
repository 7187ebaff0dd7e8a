/* NVTX's memory API: what a pool that registers its heap and regions does to reports. The test
 * stands in for a copy of NVTX in the program; descriptions are those of NVTX's own header. */
#include "tests/unit/hook/test_hook.h"

#include "runtime/hook/api/nvtx_memory.h"

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExtMem.h>

#include <stdbool.h>
#include <string.h>

_Static_assert(sizeof(struct nvtx_extension) == sizeof(nvtxExtModuleInfo_t), "as NVTX has it");
_Static_assert(sizeof(struct nvtx_segment) == sizeof(nvtxExtModuleSegment_t), "as NVTX has it");

enum { FUNCTIONS = 63, BYTES = 64 };

static intptr_t functions[FUNCTIONS];

static int attach(uint16_t version, uint16_t module, uint16_t compatibility, uint16_t bytes)
{
    nvtxExtModuleSegment_t segment = {1, FUNCTIONS, functions};
    nvtxExtModuleInfo_t info = {version, bytes, module, compatibility, 1, &segment, NULL, NULL};
    return InitializeInjectionNvtxExtension((struct nvtx_extension *)&info);
}

static int setup(void **state)
{
    hook_setup(state);
    return attach(3, NVTX_EXT_MODULEID_MEM, NVTX_EXT_COMPATID_MEM, sizeof(nvtxExtModuleInfo_t)) == 1
               ? 0
               : -1;
}

/* ---- NVTX's functions, as the program calls them */

static nvtxMemHeapHandle_t heap_register(const nvtxMemHeapDesc_t *is)
{
    typedef nvtxMemHeapHandle_t function(nvtxDomainHandle_t, const nvtxMemHeapDesc_t *);
    return ((function *)functions[NVTX3EXT_CBID_nvtxMemHeapRegister])(NULL, is);
}

static nvtxMemHeapHandle_t heap(CUdeviceptr base, uint32_t usage)
{
    const nvtxMemVirtualRangeDesc_t range = {16 * BYTES, (void *)base};
    const nvtxMemHeapDesc_t is = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                  .structSize = sizeof is,
                                  .usage = usage,
                                  .type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                  .typeSpecificDescSize = sizeof range,
                                  .typeSpecificDesc = &range};
    return heap_register(&is);
}

static nvtxMemHeapHandle_t pool(CUdeviceptr base)
{
    return heap(base, NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR);
}

static void heap_end(int number, nvtxMemHeapHandle_t heap)
{
    ((void (*)(nvtxDomainHandle_t, nvtxMemHeapHandle_t))functions[number])(NULL, heap);
}

static void batch_register(const nvtxMemRegionsRegisterBatch_t *batch)
{
    typedef void function(nvtxDomainHandle_t, const nvtxMemRegionsRegisterBatch_t *);
    ((function *)functions[NVTX3EXT_CBID_nvtxMemRegionsRegister])(NULL, batch);
}

static nvtxMemRegionsRegisterBatch_t batch_of(nvtxMemHeapHandle_t heap,
                                              const nvtxMemVirtualRangeDesc_t *range)
{
    return (nvtxMemRegionsRegisterBatch_t){.extCompatID = NVTX_EXT_COMPATID_MEM,
                                           .structSize = sizeof(nvtxMemRegionsRegisterBatch_t),
                                           .regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                           .heap = heap,
                                           .regionCount = 1,
                                           .regionDescElementSize = sizeof *range,
                                           .regionDescElements = range};
}

static void region(nvtxMemHeapHandle_t heap, CUdeviceptr base, size_t bytes)
{
    const nvtxMemVirtualRangeDesc_t range = {bytes, (void *)base};
    const nvtxMemRegionsRegisterBatch_t batch = batch_of(heap, &range);
    batch_register(&batch);
}

static void resize(CUdeviceptr base, size_t bytes)
{
    typedef void function(nvtxDomainHandle_t, const nvtxMemRegionsResizeBatch_t *);
    const nvtxMemVirtualRangeDesc_t range = {bytes, (void *)base};
    const nvtxMemRegionsResizeBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                               .structSize = sizeof batch,
                                               .regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                               .regionDescCount = 1,
                                               .regionDescElementSize = sizeof range,
                                               .regionDescElements = &range};
    ((function *)functions[NVTX3EXT_CBID_nvtxMemRegionsResize])(NULL, &batch);
}

static void unregister_by(uint32_t kind, nvtxMemRegionRef_t which)
{
    typedef void function(nvtxDomainHandle_t, const nvtxMemRegionsUnregisterBatch_t *);
    const nvtxMemRegionsUnregisterBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                                   .structSize = sizeof batch,
                                                   .refType = kind,
                                                   .refCount = 1,
                                                   .refElementSize = sizeof which,
                                                   .refElements = &which};
    ((function *)functions[NVTX3EXT_CBID_nvtxMemRegionsUnregister])(NULL, &batch);
}

static void unregister(CUdeviceptr base)
{
    unregister_by(NVTX_MEM_REGION_REF_TYPE_POINTER, (nvtxMemRegionRef_t){.pointer = (void *)base});
}

/* ---- who owns what, as two sets of the same bytes show it */

static void set(CUdeviceptr p, CUstream stream)
{
    assert_int_equal(cuMemsetD8Async(p, 0, BYTES, stream), CUDA_SUCCESS);
}

static CUstream a, b;
static CUdeviceptr memory;

static int setup_memory(void **state)
{
    const int result = setup(state);
    a = non_blocking();
    b = non_blocking();
    memory = device(16 * BYTES);
    return result;
}

/* ---- tests */

static void other_modules_and_versions_are_refused(void **state)
{
    (void)state;
    enum { MODULE = NVTX_EXT_MODULEID_MEM, VERSION = NVTX_EXT_COMPATID_MEM };
    const uint16_t bytes = sizeof(nvtxExtModuleInfo_t);
    memset(functions, 0, sizeof functions);
    assert_int_equal(attach(3, 2, VERSION, bytes), 0); /* payloads */
    assert_int_equal(attach(4, MODULE, VERSION, bytes), 0);
    assert_int_equal(attach(3, MODULE, VERSION + 1, bytes), 0);
    assert_int_equal(attach(3, MODULE, VERSION, bytes - 8), 0);
    assert_int_equal(InitializeInjectionNvtxExtension(NULL), 0);
    for (int i = 0; i < FUNCTIONS; i++)
        assert_int_equal(functions[i], 0);
}

/* As long as its segment is. */
static void a_short_table_gets_what_it_has(void **state)
{
    (void)state;
    intptr_t few[3] = {0, 0, 0};
    nvtxExtModuleSegment_t segment = {1, 2, few};
    nvtxExtModuleInfo_t info = {
        3, sizeof info, NVTX_EXT_MODULEID_MEM, NVTX_EXT_COMPATID_MEM, 1, &segment, NULL, NULL};
    assert_int_equal(InitializeInjectionNvtxExtension((struct nvtx_extension *)&info), 1);
    assert_true(few[0] && few[1]);
    assert_int_equal(few[2], 0);
}

static void names_and_permissions_stay_unattached(void **state)
{
    (void)state;
    assert_int_equal(functions[NVTX3EXT_CBID_nvtxMemRegionsName], 0);
    assert_int_equal(functions[NVTX3EXT_CBID_nvtxMemPermissionsBind], 0);
    assert_int_equal(functions[NVTX3EXT_CBID_nvtxMemCudaMarkInitialized], 0);
    typedef nvtxMemPermissionsHandle_t function(nvtxDomainHandle_t, int32_t);
    function *create = (function *)functions[NVTX3EXT_CBID_nvtxMemPermissionsCreate];
    assert_non_null(create(NULL, 0));
}

static void a_region_given_to_another_stream_is_a_reuse(void **state)
{
    (void)state;
    nvtxMemHeapHandle_t heap = pool(memory);
    assert_ptr_equal(heap, (void *)memory);
    region(heap, memory, BYTES);
    set(memory, a);
    unregister(memory);
    region(heap, memory, BYTES);
    set(memory, b);
    assert_int_equal(races(), 1);
    assert_int_equal(first_kind(), CSAN_RACE_REUSE);
}

static void an_order_between_two_owners_counts(void **state)
{
    (void)state;
    nvtxMemHeapHandle_t heap = pool(memory);
    CUevent e = event();
    region(heap, memory, BYTES);
    set(memory, a);
    unregister(memory);
    cuEventRecord(e, a);
    cuStreamWaitEvent(b, e, 0);
    region(heap, memory, BYTES);
    set(memory, b);
    assert_int_equal(races(), 0);
}

/* Where no region is declared, both are the allocation's. */
static void one_owner_has_a_data_race(void **state)
{
    (void)state;
    region(pool(memory), memory, BYTES);
    set(memory, a);
    set(memory, b);
    assert_int_equal(races(), 1);
    assert_int_equal(first_kind(), CSAN_RACE_DATA);
}

/* The memory is that of whom the pool had it from, who may use it, and is another owner. */
static void regions_end_with_their_heap(void **state)
{
    (void)state;
    nvtxMemHeapHandle_t heap = pool(memory);
    region(heap, memory, BYTES);
    region(heap, memory + BYTES, BYTES);
    unregister(memory + BYTES);
    set(memory, a);
    heap_end(NVTX3EXT_CBID_nvtxMemHeapUnregister, heap);
    set(memory + BYTES, b);
    assert_int_equal(races(), 0);
    set(memory, b);
    assert_int_equal(races(), 1);
    assert_int_equal(first_kind(), CSAN_RACE_REUSE);
}

/* CUDA's free took the blocks with the memory. */
static void a_heap_may_end_after_its_memory(void **state)
{
    (void)state;
    nvtxMemHeapHandle_t heap = pool(memory);
    region(heap, memory, BYTES);
    set(memory, a);
    assert_int_equal(cuMemFree_v2(memory), CUDA_SUCCESS);
    heap_end(NVTX3EXT_CBID_nvtxMemHeapUnregister, heap);
    assert_int_equal(races(), 0);
}

/* CUDA gave the memory to the next pool before the first one's heap ended. */
static void a_heap_that_ends_late_leaves_the_next_one_alone(void **state)
{
    (void)state;
    nvtxMemHeapHandle_t first = pool(memory), second = pool(memory);
    region(second, memory, BYTES);
    set(memory, a);
    heap_end(NVTX3EXT_CBID_nvtxMemHeapUnregister, first);
    set(memory, b);
    assert_int_equal(first_kind(), CSAN_RACE_DATA);
    heap_end(NVTX3EXT_CBID_nvtxMemHeapUnregister, second);
}

static void regions_end_with_a_reset(void **state)
{
    (void)state;
    nvtxMemHeapHandle_t heap = pool(memory);
    region(heap, memory, BYTES);
    set(memory, a);
    heap_end(NVTX3EXT_CBID_nvtxMemHeapReset, heap);
    region(heap, memory, BYTES);
    set(memory, b);
    assert_int_equal(races(), 1);
    assert_int_equal(first_kind(), CSAN_RACE_REUSE);
}

static void the_process_wide_heap_has_no_end(void **state)
{
    (void)state;
    region(pool(memory), memory, BYTES);
    set(memory, a);
    heap_end(NVTX3EXT_CBID_nvtxMemHeapUnregister, NVTX_MEM_HEAP_HANDLE_PROCESS_WIDE);
    heap_end(NVTX3EXT_CBID_nvtxMemHeapReset, NVTX_MEM_HEAP_HANDLE_PROCESS_WIDE);
    set(memory, b);
    assert_int_equal(first_kind(), CSAN_RACE_DATA);
}

/* The bytes that a region got are the region's, those that it lost are not. */
static void a_region_can_be_resized(void **state)
{
    (void)state;
    nvtxMemHeapHandle_t heap = pool(memory);
    region(heap, memory, BYTES);
    resize(memory, 2 * BYTES);
    set(memory + BYTES, a);
    set(memory + BYTES, b);
    assert_int_equal(first_kind(), CSAN_RACE_DATA);
    hook_setup(state);
    set(memory + BYTES, a);
    resize(memory, BYTES);
    set(memory + BYTES, b);
    assert_int_equal(first_kind(), CSAN_RACE_REUSE);
    hook_setup(state);
    resize(memory + 4 * BYTES, BYTES); /* no region */
    set(memory + 4 * BYTES, a);
    set(memory + 4 * BYTES, b);
    assert_int_equal(first_kind(), CSAN_RACE_DATA);
}

/* Their regions are parts of memory: nothing begins with them. */
static void regions_of_layouts_are_no_blocks(void **state)
{
    (void)state;
    nvtxMemHeapHandle_t heaps[] = {heap(memory, NVTX_MEM_HEAP_USAGE_TYPE_LAYOUT),
                                   NVTX_MEM_HEAP_HANDLE_PROCESS_WIDE, heap(memory, 7),
                                   (nvtxMemHeapHandle_t)0x1234};
    for (size_t i = 0; i < sizeof heaps / sizeof *heaps; i++) {
        hook_setup(state);
        set(memory, a);
        region(heaps[i], memory, BYTES);
        set(memory, b);
        unregister(memory);
        assert_int_equal(first_kind(), CSAN_RACE_DATA);
    }
}

/* A pool within a block of another one: the inner heap has a handle of its own. */
static void heaps_of_one_address_are_two(void **state)
{
    (void)state;
    nvtxMemHeapHandle_t outer = pool(memory), inner = pool(memory);
    assert_ptr_equal(outer, (void *)memory);
    assert_non_null(inner);
    assert_ptr_not_equal(inner, outer);
    region(outer, memory + BYTES, BYTES);
    region(inner, memory, BYTES);
    heap_end(NVTX3EXT_CBID_nvtxMemHeapUnregister, inner);
    set(memory + BYTES, a);
    set(memory + BYTES, b);
    assert_int_equal(first_kind(), CSAN_RACE_DATA); /* the outer one's region is as it was */
    heap_end(NVTX3EXT_CBID_nvtxMemHeapUnregister, outer);
}

/* When the inner pool ends, its memory is the block that it was before. */
static void a_pool_may_be_in_another_ones_block(void **state)
{
    (void)state;
    nvtxMemHeapHandle_t outer = pool(memory);
    region(outer, memory, 16 * BYTES);
    nvtxMemHeapHandle_t inner = pool(memory);
    region(inner, memory, BYTES);
    set(memory, a);
    unregister(memory);
    heap_end(NVTX3EXT_CBID_nvtxMemHeapUnregister, inner);
    set(memory, a);
    set(memory + BYTES, b);
    assert_int_equal(races(), 0);
    unregister(memory);
    region(outer, memory, 8 * BYTES);
    set(memory, b);
    assert_int_equal(races(), 1);
    assert_int_equal(first_kind(), CSAN_RACE_REUSE);
}

static void a_regions_handle_is_its_address(void **state)
{
    (void)state;
    nvtxMemVirtualRangeDesc_t ranges[2] = {{BYTES, (void *)memory},
                                           {BYTES, (void *)(memory + BYTES)}};
    nvtxMemRegionHandle_t handles[2] = {NULL, NULL};
    nvtxMemRegionsRegisterBatch_t batch = batch_of(pool(memory), ranges);
    batch.regionCount = 2;
    batch.regionHandleElementsOut = handles;
    batch_register(&batch);
    assert_ptr_equal(handles[0], (void *)memory);
    assert_ptr_equal(handles[1], (void *)(memory + BYTES));
    set(memory + BYTES, a);
    unregister_by(3, (nvtxMemRegionRef_t){.handle = handles[1]}); /* an unknown kind */
    set(memory + BYTES, b);
    assert_int_equal(first_kind(), CSAN_RACE_DATA);
    hook_setup(state);
    set(memory + BYTES, a);
    unregister_by(NVTX_MEM_REGION_REF_TYPE_HANDLE, (nvtxMemRegionRef_t){.handle = handles[1]});
    set(memory + BYTES, b);
    assert_int_equal(first_kind(), CSAN_RACE_REUSE);
}

/* Elements of a later version may be longer than csan knows them. */
static void elements_may_be_longer(void **state)
{
    (void)state;
    struct {
        nvtxMemVirtualRangeDesc_t range;
        uint64_t more;
    } ranges[2] = {{{BYTES, (void *)memory}, 1}, {{BYTES, (void *)(memory + BYTES)}, 2}};
    nvtxMemRegionsRegisterBatch_t batch = batch_of(pool(memory), &ranges[0].range);
    batch.regionCount = 2;
    batch.regionDescElementSize = sizeof *ranges;
    batch_register(&batch);
    set(memory + BYTES, a);
    unregister(memory + BYTES);
    set(memory + BYTES, b);
    assert_int_equal(first_kind(), CSAN_RACE_REUSE);
}

/* Each is ignored as a whole. */
static void wrong_descriptions_are_ignored(void **state)
{
    (void)state;
    const nvtxMemVirtualRangeDesc_t range = {BYTES, (void *)memory};
    nvtxMemHeapHandle_t heap = pool(memory);
    nvtxMemRegionsRegisterBatch_t batches[7];
    for (int i = 0; i < 7; i++)
        batches[i] = batch_of(heap, &range);
    batches[0].extCompatID++;
    batches[1].structSize -= 8;
    batches[2].regionType = 0x11; /* arrays */
    batches[3].regionDescElementSize = 8;
    batches[4].regionDescElements = NULL;
    batches[5].regionCount = 0;
    batches[6].heap = NULL;
    for (int i = 0; i < 7; i++) {
        hook_setup(state);
        set(memory, a);
        batch_register(&batches[i]);
        set(memory, b);
        assert_int_equal(first_kind(), CSAN_RACE_DATA);
    }
    batch_register(NULL);
    region(heap, memory, 0);
    region(heap, memory, SIZE_MAX);
    region(heap, 0, BYTES);
    nvtxMemHeapDesc_t is = {.extCompatID = NVTX_EXT_COMPATID_MEM, .structSize = sizeof is - 8};
    assert_null(heap_register(&is));
    assert_null(heap_register(NULL));
    is.structSize = sizeof is;
    is.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    assert_null(heap_register(&is)); /* no range */
    is.type = 0x11;
    assert_non_null(heap_register(&is)); /* so that its regions are known to be none */
}

int main(int argc, char **argv)
{
    (void)argc;
    hook_test_start(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_modules_and_versions_are_refused),
        cmocka_unit_test(a_short_table_gets_what_it_has),
        cmocka_unit_test_setup(names_and_permissions_stay_unattached, setup),
        cmocka_unit_test_setup(a_region_given_to_another_stream_is_a_reuse, setup_memory),
        cmocka_unit_test_setup(an_order_between_two_owners_counts, setup_memory),
        cmocka_unit_test_setup(one_owner_has_a_data_race, setup_memory),
        cmocka_unit_test_setup(regions_end_with_their_heap, setup_memory),
        cmocka_unit_test_setup(a_heap_may_end_after_its_memory, setup_memory),
        cmocka_unit_test_setup(a_heap_that_ends_late_leaves_the_next_one_alone, setup_memory),
        cmocka_unit_test_setup(regions_end_with_a_reset, setup_memory),
        cmocka_unit_test_setup(the_process_wide_heap_has_no_end, setup_memory),
        cmocka_unit_test_setup(a_region_can_be_resized, setup_memory),
        cmocka_unit_test_setup(regions_of_layouts_are_no_blocks, setup_memory),
        cmocka_unit_test_setup(heaps_of_one_address_are_two, setup_memory),
        cmocka_unit_test_setup(a_pool_may_be_in_another_ones_block, setup_memory),
        cmocka_unit_test_setup(a_regions_handle_is_its_address, setup_memory),
        cmocka_unit_test_setup(elements_may_be_longer, setup_memory),
        cmocka_unit_test_setup(wrong_descriptions_are_ignored, setup_memory),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_nvtx_memory", tests, NULL, NULL));
}
