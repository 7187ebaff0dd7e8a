/* Copies and sets as the hooks take them, on a driver that does nothing: which wait, for what, and
 * which bytes they touch (test_hook_order.h). */
#include "tests/unit/hook/test_hook_order.h"

#include <stdlib.h>

/* ---- Copies ---- */

static char pageable[256];

static void copy_to_device_from_pageable_may_be_under_way(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    OK(cuMemcpyHtoD_v2(p, pageable, 64));
    READ(p, non_blocking());
    assert_int_equal(races(), 1);
    csan_host_writes(pageable, 64); /* the source has been read */
    assert_int_equal(races(), 1);
}

static void copy_to_device_from_pinned_waits(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    void *pinned;
    OK(cuMemHostAlloc(&pinned, 64, 0));
    OK(cuMemcpyHtoD_v2(p, pinned, 64));
    READ(p, non_blocking());
    csan_host_writes(pinned, 64);
    assert_int_equal(races(), 0);
    OK(cuMemFreeHost(pinned));
}

static void copy_to_host_waits_for_blocking_streams(void **state)
{
    (void)state;
    CUdeviceptr p = device(64), q = device(64);
    WRITE(p, blocking());
    OK(cuMemcpyDtoH_v2(pageable, p, 64));
    csan_host_reads(pageable, 64);
    WRITE(p, non_blocking());
    assert_int_equal(races(), 0);
    WRITE(q, non_blocking());
    OK(cuMemcpyDtoH_v2(pageable, q, 64));
    assert_int_equal(races(), 1);
}

static void copy_on_the_device_does_not_wait(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    OK(cuMemcpyDtoD_v2(p, scratch(), 64));
    READ(p, non_blocking());
    assert_int_equal(races(), 1);
}

static void async_copy_is_asynchronous(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream s = non_blocking();
    OK(cuMemcpyDtoHAsync_v2(pageable, p, 64, s));
    csan_host_reads(pageable, 64);
    assert_int_equal(races(), 1);
    OK(cuStreamSynchronize(s));
    csan_host_reads(pageable + 1, 8);
    assert_int_equal(races(), 1);
}

static void a_generic_copy_is_known_by_its_pointers(void **state)
{
    (void)state;
    CUdeviceptr p = device(64), q = device(64);
    OK(cuMemcpy((CUdeviceptr)pageable, p, 64));
    WRITE(p, non_blocking());
    assert_int_equal(races(), 0);
    OK(cuMemcpy(q, p, 64));
    WRITE(q, non_blocking());
    assert_int_equal(races(), 2); /* p is read after the unordered write, q is written */
}

static void function_writes(void *data)
{
    csan_host_writes(data, 64);
}

/* The newest race, of a read that may take place at the call. */
static void assert_race_at_call(int copy_is_current)
{
    struct csan_race found[8];
    size_t count = csan_races_since(hook_mark(), found, 8);
    assert_in_range(count, 1, 8);
    assert_int_equal(found[count - 1].current.at_call, copy_is_current);
    assert_int_equal(found[count - 1].previous.at_call, !copy_is_current);
}

static void async_copy_may_read_pageable_memory_at_the_call(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream s = non_blocking();
    OK(cuLaunchHostFunc(s, function_writes, pageable));
    OK(cuMemcpyHtoDAsync_v2(p, pageable, 64, s));
    fake_run_host_functions();
    assert_int_equal(races(), 1);
    assert_race_at_call(0);
    csan_races_clear();
    OK(cuStreamSynchronize(s));
    OK(cuLaunchHostFunc(s, function_writes, pageable));
    OK(cuMemcpyAsync(p, (CUdeviceptr)pageable, 64, s));
    fake_run_host_functions();
    assert_int_equal(races(), 1);
}

/* As the host was ordered when it called, not when the call returned. */
static void function_that_runs_during_the_copy(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream s = non_blocking();
    OK(cuLaunchHostFunc(s, function_writes, pageable));
    fake_run_at_once(1);
    OK(cuMemcpyHtoDAsync_v2(p, pageable, 64, s));
    fake_run_at_once(0);
    fake_run_host_functions();
    assert_int_equal(races(), 1);
}

/* A long copy was seen to wait for its stream first. */
static void function_that_the_copy_was_seen_to_wait_for(void **state)
{
    (void)state;
    enum { LONG = 128 << 10 };
    char *source = calloc(1, LONG);
    struct csan_race found[8];
    CUdeviceptr p = device(LONG);
    CUstream s = non_blocking();
    assert_non_null(source);
    OK(cuLaunchHostFunc(s, function_writes, source));
    fake_run_at_once(1);
    OK(cuMemcpyHtoDAsync_v2(p, source, LONG, s));
    fake_run_at_once(0);
    assert_int_equal(csan_races_since(hook_mark(), found, 8), 1);
    assert_string_equal(found[0].unpromised, "cuMemcpyHtoDAsync");
    free(source);
}

static void async_copy_reads_what_was_written_before_the_call(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream s = non_blocking(), other = non_blocking();
    void *pinned;
    OK(cuMemHostAlloc(&pinned, 64, 0));
    csan_host_writes(pageable, 64);
    OK(cuMemcpyHtoDAsync_v2(p, pageable, 64, s));
    OK(cuStreamSynchronize(s));
    csan_host_writes(pageable, 64);
    OK(cuLaunchHostFunc(s, function_writes, pinned));
    OK(cuMemcpyHtoDAsync_v2(p, pinned, 64, s));
    OK(cuLaunchHostFunc(s, function_writes, pageable));
    fake_run_host_functions();
    OK(cuMemcpyHtoDAsync_v2(p, pageable, 64, s)); /* the function was seen to have run */
    OK(cuMemcpyDtoHAsync_v2(pageable, p, 64, s));
    OK(cuMemcpyHtoDAsync_v2(p, pageable, 64, s)); /* the driver's own */
    assert_int_equal(races(), 0);
    OK(cuStreamSynchronize(s));
    fake_fail_next(1);
    assert_int_not_equal(cuMemcpyHtoDAsync_v2(p, pageable, 64, other), CUDA_SUCCESS);
    csan_host_writes(pageable, 64);
    assert_int_equal(races(), 0);
    OK(cuMemFreeHost(pinned));
}

/* Unordered with the read in its stream's order, too. */
static void race_of_both_moments_is_one(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    struct csan_race found[8];
    OK(cuMemcpyHtoDAsync_v2(p, pageable, 64, non_blocking()));
    csan_host_writes(pageable, 64);
    assert_int_equal(csan_races_since(hook_mark(), found, 8), 1);
    assert_false(found[0].current.at_call || found[0].previous.at_call);
}

static void host_to_host_copy_waits_even_when_async(void **state)
{
    (void)state;
    static char other[64];
    CUstream s = non_blocking();
    OK(cuMemcpyAsync((CUdeviceptr)other, (CUdeviceptr)pageable, 64, s));
    csan_host_writes(pageable, 64);
    csan_host_writes(other, 64);
    assert_int_equal(races(), 0);
}

/* The newest race is on these bytes. */
static void assert_race_on(uint64_t address, uint64_t bytes)
{
    struct csan_race found[8];
    size_t count = csan_races_since(hook_mark(), found, 8);
    assert_in_range(count, 1, 8);
    assert_int_equal(found[count - 1].address, address);
    assert_int_equal(found[count - 1].bytes, bytes);
}

static void rows_of_two_copies_side_by_side(void **state)
{
    (void)state;
    CUdeviceptr p = device(64 * 64);
    CUDA_MEMCPY2D left = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = device(64 * 64),
                          .srcPitch = 64,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = p,
                          .dstPitch = 64,
                          .WidthInBytes = 32,
                          .Height = 64};
    CUDA_MEMCPY2D right = left;
    right.dstXInBytes = 32;
    OK(cuMemcpy2DAsync_v2(&left, non_blocking()));
    OK(cuMemcpy2DAsync_v2(&right, non_blocking()));
    assert_int_equal(races(), 0);
    right.dstXInBytes = 31;
    OK(cuMemcpy2DAsync_v2(&right, non_blocking()));
    assert_int_equal(races(), 2); /* with the left half, and with the right one */
    csan_races_clear();
    CUDA_MEMCPY2D column = left;
    column.dstXInBytes = 31;
    column.WidthInBytes = 1;
    column.srcDevice = device(64 * 64);
    OK(cuMemcpy2DAsync_v2(&column, non_blocking()));
    assert_race_on(p + 31, 1); /* of the first row, not the hull of all */
}

static void planes_of_a_three_dimensional_copy(void **state)
{
    (void)state;
    CUdeviceptr p = device(16 * 8 * 4);
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = device(16 * 8 * 4),
                          .srcPitch = 16,
                          .srcHeight = 8,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = p,
                          .dstPitch = 16,
                          .dstHeight = 8,
                          .WidthInBytes = 16,
                          .Height = 4,
                          .Depth = 4};
    OK(cuMemcpy3DAsync_v2(&copy, non_blocking()));
    /* rows 4 to 7 of plane 2 are untouched, row 3 is not */
    OK(cuMemsetD8Async(p + 2 * 128 + 64, 0, 64, non_blocking()));
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(p + 2 * 128 + 63, 0, 1, non_blocking()));
    assert_int_equal(races(), 1);
    assert_race_on(p + 2 * 128 + 63, 1);
}

static void boxes_of_two_three_dimensional_copies(void **state)
{
    (void)state;
    CUdeviceptr p = device(64 * 8 * 4);
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = device(64 * 8 * 4),
                         .srcPitch = 64,
                         .srcHeight = 8,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = p,
                         .dstPitch = 64,
                         .dstHeight = 8,
                         .WidthInBytes = 16,
                         .Height = 4,
                         .Depth = 4};
    CUDA_MEMCPY3D below = box, beside = box, corner = box;
    below.dstY = 4;
    beside.dstXInBytes = 16;
    corner.dstXInBytes = 15, corner.dstY = 3, corner.dstZ = 2, corner.Depth = 1;
    corner.srcDevice = device(64 * 8 * 4);
    OK(cuMemcpy3DAsync_v2(&box, non_blocking()));
    OK(cuMemcpy3DAsync_v2(&below, non_blocking()));
    OK(cuMemcpy3DAsync_v2(&beside, non_blocking()));
    assert_int_equal(races(), 0);
    corner.Height = corner.WidthInBytes = 1;
    OK(cuMemcpy3DAsync_v2(&corner, non_blocking()));
    assert_int_equal(races(), 1); /* one byte, of the first box alone */
    assert_race_on(p + 2 * 512 + 3 * 64 + 15, 1);
}

static CUcontext here = (CUcontext)0xc0, there = (CUcontext)0xc1;

static void peer_copy_is_work_of_legacy_stream(void **state)
{
    (void)state;
    CUdeviceptr p = device(64), q = device(64);
    CUstream a = blocking(), b = blocking();
    WRITE(p, a);
    OK(cuMemcpyPeer(q, here, p, there, 64));
    WRITE(p, b);
    READ(q, b);
    assert_int_equal(races(), 0);
}

/* Documented to be serialized with all work, and seen to overlap. */
static void peer_copy_overlaps_non_blocking(void **state)
{
    (void)state;
    CUdeviceptr p = device(64), q = device(64);
    CUstream a = non_blocking();
    WRITE(p, a);
    OK(cuMemcpyPeer(q, here, p, there, 64));
    assert_int_equal(races(), 1);
    READ(q, a);
    assert_int_equal(races(), 2);
}

/* ---- Sets ---- */

static void set_does_not_wait(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    OK(cuMemsetD8_v2(p, 0, 64));
    READ(p, non_blocking());
    assert_int_equal(races(), 1);
}

static void set_of_pinned_memory_waits(void **state)
{
    (void)state;
    void *pinned;
    OK(cuMemHostAlloc(&pinned, 64, 0));
    OK(cuMemsetD8_v2((CUdeviceptr)pinned, 0, 64));
    csan_host_reads(pinned, 64);
    assert_int_equal(races(), 0);
    OK(cuMemFreeHost(pinned));
}

static void set_in_two_dimensions_and_words(void **state)
{
    (void)state;
    CUdeviceptr p = device(4096);
    OK(cuMemsetD2D8Async(p, 64, 0, 16, 8, non_blocking()));
    OK(cuMemsetD32Async(p + 16, 0, 12, non_blocking()));
    assert_int_equal(races(), 0);
    OK(cuMemsetD32Async(p + 16, 0, 13, non_blocking()));
    assert_int_equal(races(), 2);
}

#define TEST(name) cmocka_unit_test_setup(name, hook_setup)

int main(int argc, char **argv)
{
    (void)argc;
    hook_test_start(argv);
    const struct CMUnitTest tests[] = {
        TEST(copy_to_device_from_pageable_may_be_under_way),
        TEST(copy_to_device_from_pinned_waits),
        TEST(copy_to_host_waits_for_blocking_streams),
        TEST(copy_on_the_device_does_not_wait),
        TEST(async_copy_is_asynchronous),
        TEST(a_generic_copy_is_known_by_its_pointers),
        TEST(async_copy_may_read_pageable_memory_at_the_call),
        TEST(function_that_runs_during_the_copy),
        TEST(function_that_the_copy_was_seen_to_wait_for),
        TEST(async_copy_reads_what_was_written_before_the_call),
        TEST(race_of_both_moments_is_one),
        TEST(host_to_host_copy_waits_even_when_async),
        TEST(rows_of_two_copies_side_by_side),
        TEST(planes_of_a_three_dimensional_copy),
        TEST(boxes_of_two_three_dimensional_copies),
        TEST(peer_copy_is_work_of_legacy_stream),
        TEST(peer_copy_overlaps_non_blocking),
        TEST(set_does_not_wait),
        TEST(set_of_pinned_memory_waits),
        TEST(set_in_two_dimensions_and_words),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_copy", tests, NULL, NULL));
}
