/* Calls by kind and device, entry by entry, and a random recording against plain counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/cli/statistics/call_statistics.h"

#include <csan/detector.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNKNOWN = 0,
    FIRST = 1,
    SECOND = 2,
    A = 1,
    B = 2,
    ADD = 1,
    COPY = 2,
    SET = 3,
    GEMM = 4,
    TEXTURE = 5
};

static struct call_statistics *statistics;

static void take(struct recorded recorded)
{
    call_statistics_take(statistics, &recorded);
}

/* ---- Entries as csan records them */

static void lane(uint64_t number)
{
    take((struct recorded){.kind = RECORDED_LANE, .value = {[FIELD_LANE] = number}});
}
static void lane_as(uint64_t number, enum csan_lane_role role)
{
    take((struct recorded){.kind = RECORDED_LANE_AS,
                           .value = {[FIELD_LANE] = number, [FIELD_FLAGS] = role}});
}
static void step(uint64_t number, enum csan_step_kind kind, uint64_t object)
{
    take((struct recorded){
        .kind = RECORDED_STEP,
        .value = {[FIELD_LANE] = number, [FIELD_FLAGS] = kind, [FIELD_FIRST] = object}});
}
static void stream_of(uint64_t number, uint64_t device)
{
    lane(number);
    step(number, CSAN_STEP_DEVICE, device);
}
static void site(uint64_t number, const char *name)
{
    take((struct recorded){.kind = RECORDED_SITE, .value = {[FIELD_SITE] = number}, .text = name});
}
static void op(uint64_t number, uint64_t of, enum csan_level level)
{
    const struct recording_set set = {.site = (uint32_t)of, .level = (uint16_t)level};
    take((struct recorded){.kind = RECORDED_OP, .value = {[FIELD_LANE] = number}, .set = &set});
}
static void birth(uint64_t number, enum csan_memory_kind kind, uint64_t base, uint64_t of)
{
    take((struct recorded){
        .kind = RECORDED_BIRTH,
        .value = {
            [FIELD_LANE] = number, [FIELD_MEMORY] = kind, [FIELD_BASE] = base, [FIELD_SITE] = of}});
}
static void freed(uint64_t base)
{
    take((struct recorded){.kind = RECORDED_FREE_BEGIN, .value = {[FIELD_BASE] = base}});
}
static void context(uint64_t number)
{
    take((struct recorded){.kind = RECORDED_CONTEXT, .value = {[FIELD_CONTEXT] = number}});
}

static uint64_t calls(enum call_kind kind, uint64_t device)
{
    return call_statistics_count(statistics, kind, device);
}

static int begin(void **state)
{
    (void)state;
    statistics = call_statistics_create();
    site(ADD, "add(float*, int)");
    site(COPY, "cuMemcpyHtoDAsync");
    site(SET, "cuMemsetD8Async");
    site(GEMM, "cublasSgemm");
    site(TEXTURE, "cuTexObjectCreate");
    return !statistics;
}
static int end(void **state)
{
    (void)state;
    call_statistics_destroy(statistics);
    return 0;
}

static void test_ops_count_for_their_streams_device(void **state)
{
    (void)state;
    stream_of(A, FIRST);
    stream_of(B, SECOND);
    op(A, ADD, CSAN_LEVEL_RANGES);
    op(B, ADD, CSAN_LEVEL_UNKNOWN);
    op(B, ADD, CSAN_LEVEL_OPERATOR);
    op(A, COPY, CSAN_LEVEL_LIBRARY);
    op(B, SET, CSAN_LEVEL_LIBRARY);
    op(B, GEMM, CSAN_LEVEL_LIBRARY);
    assert_int_equal(calls(CALL_KERNEL, FIRST), 1);
    assert_int_equal(calls(CALL_KERNEL, SECOND), 2);
    assert_int_equal(calls(CALL_COPY, FIRST), 1);
    assert_int_equal(calls(CALL_SET, SECOND), 1);
    assert_int_equal(calls(CALL_LIBRARY, SECOND), 1);
    assert_int_equal(calls(CALL_LIBRARY, FIRST), 0);
}

static void test_a_lanes_number_may_come_again(void **state)
{
    (void)state;
    stream_of(A, SECOND);
    lane(A);
    op(A, ADD, CSAN_LEVEL_RANGES);
    assert_int_equal(calls(CALL_KERNEL, SECOND), 0);
    assert_int_equal(calls(CALL_KERNEL, UNKNOWN), 1);
}

static void test_the_hosts_own_are_of_no_device(void **state)
{
    (void)state;
    step(CSAN_HOST, CSAN_STEP_DEVICE, SECOND);
    op(CSAN_HOST, ADD, CSAN_LEVEL_ANNOTATED);
    take((struct recorded){.kind = RECORDED_HOST_LANE, .value = {[FIELD_LANE] = A}});
    op(A, ADD, CSAN_LEVEL_ANNOTATED);
    lane_as(B, CSAN_LANE_FUNCTION);
    op(B, ADD, CSAN_LEVEL_ANNOTATED);
    assert_int_equal(calls(CALL_HOST_ACCESS, UNKNOWN), 2);
    assert_int_equal(calls(CALL_HOST_FUNCTION, UNKNOWN), 1);
    assert_int_equal(calls(CALL_KERNEL, UNKNOWN), 0);
}

static void test_a_streams_calls_are_for_its_device(void **state)
{
    (void)state;
    stream_of(A, SECOND);
    lane_as(B, CSAN_LANE_CALL);
    take((struct recorded){.kind = RECORDED_LANE_PART,
                           .value = {[FIELD_LANE] = B, [FIELD_OTHER] = A}});
    op(B, COPY, CSAN_LEVEL_LIBRARY);
    assert_int_equal(calls(CALL_COPY, SECOND), 1);
}

static void test_memory_is_of_the_current_device_and_freed_for_it(void **state)
{
    (void)state;
    stream_of(A, FIRST);
    step(CSAN_HOST, CSAN_STEP_DEVICE, SECOND);
    birth(CSAN_HOST, CSAN_MEMORY_DEVICE, 0x1000, 0);
    birth(CSAN_HOST, CSAN_MEMORY_HOST, 0x2000, 0);
    birth(CSAN_HOST, CSAN_MEMORY_VARIABLE, 0x3000, 0);
    birth(CSAN_HOST, CSAN_MEMORY_DEVICE, 0x4000, TEXTURE);
    birth(A, CSAN_MEMORY_STREAM, 0x5000, 0);
    step(CSAN_HOST, CSAN_STEP_DEVICE, UNKNOWN);
    birth(CSAN_HOST, CSAN_MEMORY_DEVICE, 0x6000, 0);
    for (uint64_t base = 0x1000; base <= 0x6000; base += 0x1000)
        freed(base);
    freed(0x1000);
    assert_int_equal(calls(CALL_ALLOCATION, SECOND), 1);
    assert_int_equal(calls(CALL_HOST_ALLOCATION, SECOND), 1);
    assert_int_equal(calls(CALL_ALLOCATION, FIRST), 1);
    assert_int_equal(calls(CALL_ALLOCATION, UNKNOWN), 1);
    assert_int_equal(calls(CALL_FREE, SECOND), 2);
    assert_int_equal(calls(CALL_FREE, FIRST), 1);
    assert_int_equal(calls(CALL_FREE, UNKNOWN), 1);
}

static void test_waits_records_and_graphs(void **state)
{
    (void)state;
    stream_of(A, FIRST);
    stream_of(B, SECOND);
    step(A, CSAN_STEP_RECORD, 1);
    step(B, CSAN_STEP_WAIT, 1);
    step(B, CSAN_STEP_WAIT_UNRECORDED, 2);
    step(B, CSAN_STEP_GRAPH_LAUNCH, 1);
    step(B, CSAN_STEP_GRAPH_LAUNCHED, 1);
    step(CSAN_HOST, CSAN_STEP_DEVICE, SECOND);
    step(CSAN_HOST, CSAN_STEP_HOST_WAIT, CSAN_SYNCHRONIZED_DEVICE);
    step(CSAN_HOST, CSAN_STEP_HOST_WAITED, 0);
    assert_int_equal(calls(CALL_RECORD, FIRST), 1);
    assert_int_equal(calls(CALL_STREAM_WAIT, SECOND), 2);
    assert_int_equal(calls(CALL_GRAPH_LAUNCH, SECOND), 1);
    assert_int_equal(calls(CALL_HOST_WAIT, SECOND), 1);
}

static void test_a_graph_that_is_checked_by_itself_is_no_call(void **state)
{
    (void)state;
    stream_of(A, FIRST);
    context(1);
    stream_of(A, SECOND);
    op(A, ADD, CSAN_LEVEL_RANGES);
    context(0);
    op(A, ADD, CSAN_LEVEL_RANGES);
    assert_int_equal(calls(CALL_KERNEL, FIRST), 1);
    assert_int_equal(calls(CALL_KERNEL, SECOND), 0);
}

static void test_numbers_of_a_damaged_recording_harm_nothing(void **state)
{
    (void)state;
    stream_of(UINT64_MAX, UINT64_MAX);
    op(UINT64_MAX, UINT32_MAX, CSAN_LEVEL_RANGES);
    stream_of(A, UINT64_MAX);
    op(A, ADD, CSAN_LEVEL_RANGES);
    site(UINT64_MAX, "cuMemcpy");
    assert_int_equal(calls(CALL_KERNEL, UNKNOWN), 2);
}

static void test_random_recordings_count_as_plain_arrays_do(void **state)
{
    (void)state;
    enum { LANES = 100, DEVICES = 9 };
    uint64_t devices[LANES + 1] = {0}, expected[CALL_KINDS][DEVICES] = {{0}};
    srand(43);
    for (int i = 0; i < 20000; i++) {
        const uint64_t number = 1 + (uint64_t)(rand() % LANES);
        const int what = rand() % 4;
        if (what == 0) {
            devices[number] = (uint64_t)(rand() % DEVICES);
            stream_of(number, devices[number]);
        } else if (what == 1) {
            op(number, ADD, CSAN_LEVEL_RANGES);
            expected[CALL_KERNEL][devices[number]]++;
        } else if (what == 2) {
            op(number, COPY, CSAN_LEVEL_LIBRARY);
            expected[CALL_COPY][devices[number]]++;
        } else {
            step(number, CSAN_STEP_RECORD, 1);
            expected[CALL_RECORD][devices[number]]++;
        }
    }
    for (uint64_t device = 0; device < DEVICES; device++)
        for (int kind = 0; kind < CALL_KINDS; kind++)
            assert_int_equal(calls((enum call_kind)kind, device), expected[kind][device]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ops_count_for_their_streams_device, begin, end),
        cmocka_unit_test_setup_teardown(test_a_lanes_number_may_come_again, begin, end),
        cmocka_unit_test_setup_teardown(test_the_hosts_own_are_of_no_device, begin, end),
        cmocka_unit_test_setup_teardown(test_a_streams_calls_are_for_its_device, begin, end),
        cmocka_unit_test_setup_teardown(test_memory_is_of_the_current_device_and_freed_for_it,
                                        begin, end),
        cmocka_unit_test_setup_teardown(test_waits_records_and_graphs, begin, end),
        cmocka_unit_test_setup_teardown(test_a_graph_that_is_checked_by_itself_is_no_call, begin,
                                        end),
        cmocka_unit_test_setup_teardown(test_numbers_of_a_damaged_recording_harm_nothing, begin,
                                        end),
        cmocka_unit_test_setup_teardown(test_random_recordings_count_as_plain_arrays_do, begin,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
