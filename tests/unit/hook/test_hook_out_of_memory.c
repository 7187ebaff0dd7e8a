/* Allocations that the driver refuses for want of memory, of each kind: what csan reports, with
 * oom=1. Against the fake driver. */
#include "tests/unit/hook/test_hook.h"

#include <stdlib.h>
#include <string.h>

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)

static struct csan_race findings[4];

/* One was made since hook_setup; or none, without a size. */
static void expect(const char *call, uint64_t asked, int host)
{
    const size_t count = csan_findings_since(hook_mark(), findings, 4);
    assert_int_equal(count, asked ? 1 : 0);
    if (!asked)
        return;
    assert_int_equal(findings[0].kind, CSAN_RACE_OUT_OF_MEMORY);
    assert_string_equal(findings[0].current.name, call);
    assert_string_equal(findings[0].error->code, "CUDA_ERROR_OUT_OF_MEMORY");
    assert_non_null(findings[0].error->out_of_memory);
    assert_int_equal(findings[0].error->out_of_memory->asked, asked);
    assert_int_equal(findings[0].error->out_of_memory->host, host);
}

#define REFUSED(call)                                                                              \
    do {                                                                                           \
        fake_fail_next(CUDA_ERROR_OUT_OF_MEMORY);                                                  \
        assert_int_equal((call), CUDA_ERROR_OUT_OF_MEMORY);                                        \
    } while (0)

static void memory_of_the_device(void **state)
{
    (void)state;
    CUdeviceptr p;
    REFUSED(cuMemAlloc_v2(&p, 1000));
    expect("cuMemAlloc", 1000, 0);
}

static void managed_memory(void **state)
{
    (void)state;
    CUdeviceptr p;
    REFUSED(cuMemAllocManaged(&p, 1001, CU_MEM_ATTACH_GLOBAL));
    expect("cuMemAllocManaged", 1001, 0);
}

static void memory_of_a_stream(void **state)
{
    (void)state;
    CUdeviceptr p;
    CUstream a = non_blocking();
    REFUSED(cuMemAllocAsync(&p, 1002, a));
    expect("cuMemAllocAsync", 1002, 0);
}

static void memory_of_the_host(void **state)
{
    (void)state;
    void *p;
    REFUSED(cuMemHostAlloc(&p, 1003, 0));
    expect("cuMemHostAlloc", 1003, 1);
    free(p); /* the driver that stands in made it all the same */
}

static void physical_memory(void **state)
{
    (void)state;
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    REFUSED(cuMemCreate(&handle, 1 << 21, &prop, 0));
    expect("cuMemCreate", 1 << 21, 0);
}

static void arrays(void **state)
{
    (void)state;
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR_v2 plain = {
        .Width = 10, .Height = 20, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 2};
    REFUSED(cuArrayCreate_v2(&array, &plain));
    expect("cuArrayCreate", 10 * 20 * 4 * 2, 0);
}

static void other_errors_are_none(void **state)
{
    (void)state;
    CUdeviceptr p;
    fake_fail_next(CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemAlloc_v2(&p, 1000), CUDA_ERROR_INVALID_VALUE);
    device(1000);
    expect(NULL, 0, 0);
}

static const struct csan_held *held_of(const struct csan_out_of_memory *out_of_memory,
                                       uint64_t bytes)
{
    for (size_t i = 0; i < out_of_memory->held_count; i++)
        if (out_of_memory->held[i].bytes == bytes)
            return &out_of_memory->held[i];
    return NULL;
}

static CUdeviceptr of_another_line(size_t bytes)
{
    CUdeviceptr p;
    OK(cuMemAlloc_v2(&p, bytes));
    return p;
}

/* What is of another context is of another device. */
static void what_is_held(void **state)
{
    (void)state;
    CUdeviceptr p, freed = of_another_line(1 << 20);
    void *host;
    for (int i = 0; i < 3; i++)
        device(1 << 20);
    OK(cuMemFree_v2(freed));
    OK(cuMemHostAlloc(&host, 5 << 20, 0));
    fake_set_context((void *)0xc1);
    of_another_line(7 << 20);
    fake_set_context((void *)0xc0);
    csan_pool_alloc((const void *)of_another_line(9 << 20), 4096, NULL);
    REFUSED(cuMemAlloc_v2(&p, 1 << 30));
    expect("cuMemAlloc", 1 << 30, 0);
    const struct csan_out_of_memory *out_of_memory = findings[0].error->out_of_memory;
    assert_non_null(held_of(out_of_memory, 9 << 20));
    assert_int_equal(held_of(out_of_memory, 9 << 20)->count, 1);
    assert_null(held_of(out_of_memory, 7 << 20));
    assert_null(held_of(out_of_memory, 5 << 20));
    assert_int_equal(out_of_memory->held[0].bytes, 9 << 20); /* the largest is the first */
    assert_true(out_of_memory->own >= 12 << 20);
    assert_int_equal(out_of_memory->reserved, 9 << 20);
    assert_int_equal(out_of_memory->allocated, 4096);
}

int main(int argc, char **argv)
{
    (void)argc;
    setenv("CSAN_OPTIONS", "symbolize=0:print_summary=0:log_path=/dev/null:oom=1:dedup=0", 0);
    hook_test_start(argv);
#define TEST(name) cmocka_unit_test_setup(name, hook_setup)
    const struct CMUnitTest tests[] = {
        TEST(memory_of_the_device),  TEST(managed_memory),  TEST(memory_of_a_stream),
        TEST(memory_of_the_host),    TEST(physical_memory), TEST(arrays),
        TEST(other_errors_are_none), TEST(what_is_held),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_out_of_memory", tests, NULL, NULL));
}
