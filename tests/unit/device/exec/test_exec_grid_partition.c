/* Launches in parts that run at the same time: the same results, touches, counts and faults as on
 * one thread, and no grid is divided whose results depend on the order of blocks. */
#include "tests/unit/device/exec/exec_harness.h"

#include "runtime/device/driver/worker_pool.h"

#include <ctype.h>
#include <stdatomic.h>

enum { BLOCKS = 203, THREADS = 128, N = BLOCKS * THREADS - 5, MANY_ROUNDS = 40 };

static struct harness h;
static atomic_uint together_calls;

static void together(void (*run)(void *job, uint32_t part), void *job, uint32_t parts)
{
    atomic_fetch_add(&together_calls, 1);
    worker_pool_run(run, job, parts);
}

/* What a launch left behind. */
struct left {
    enum exec_status status;
    struct exec_fault fault;
    uint64_t warp_instructions, thread_instructions;
    uint8_t *out; /* the first allocation, OUT_BYTES */
    struct device_trace_range *ranges;
    size_t range_count;
};
enum { OUT_BYTES = N * 4 };

static void hide_address(char *message)
{
    char *at = strstr(message, "0x");
    for (at = at ? at + 2 : message + strlen(message); isxdigit((unsigned char)*at); at++)
        *at = 'x';
}

/* kernel(out, in, number, rounds) in so many parts, in steps of `budget` */
static struct left run(const char *name, uint32_t parts, uint64_t budget, int number, int rounds)
{
    struct left left = {0};
    harness_open(&h, "parts");
    uint64_t out = harness_allocate(&h, OUT_BYTES), in = harness_allocate(&h, OUT_BYTES);
    for (uint32_t i = 0; i < N; i++)
        ((float *)harness_host(&h, in))[i] = (float)(i % 1000);
    struct {
        uint64_t out, in;
        int number, rounds;
    } params = {out, in, number, rounds};
    struct exec_launch launch = {.image = h.image,
                                 .kernel = harness_kernel(&h, name),
                                 .grid = {BLOCKS, 1, 1},
                                 .block = {THREADS, 1, 1},
                                 .params = &params,
                                 .touches = true,
                                 .parts = parts,
                                 .together = together,
                                 .memory = {harness_find, &h, h.window},
                                 .print = harness_print,
                                 .print_user = &h};
    exec_state *state = exec_begin(&launch, h.message, sizeof h.message);
    if (!state)
        fail_msg("%s", h.message);
    h.budget = budget;
    together_calls = 0;
    left.status = harness_steps(&h, state);
    left.fault = *exec_fault(state);
    exec_counts(state, &left.warp_instructions, &left.thread_instructions);
    h.ranges = NULL;
    harness_keep_touches(&h, state);
    left.ranges = h.ranges;
    left.range_count = h.range_count;
    left.out = malloc(OUT_BYTES);
    memcpy(left.out, harness_host(&h, out), OUT_BYTES);
    for (size_t i = 0; i < left.range_count; i++) /* addresses differ from run to run */
        left.ranges[i].address -= out;
    hide_address(left.fault.message);
    h.ranges = NULL;
    exec_end(state);
    harness_close(&h);
    return left;
}

static void left_free(struct left *left)
{
    free(left->out);
    free(left->ranges);
}

static void assert_equal(const struct left *one, const struct left *other)
{
    assert_int_equal(one->status, other->status);
    assert_int_equal(one->warp_instructions, other->warp_instructions);
    assert_int_equal(one->thread_instructions, other->thread_instructions);
    assert_memory_equal(one->out, other->out, OUT_BYTES);
    assert_int_equal(one->range_count, other->range_count);
    assert_memory_equal(one->ranges, other->ranges, one->range_count * sizeof *one->ranges);
}

static void equal_to_one_thread(void **unused)
{
    (void)unused;
    static const char *const kernels[] = {"scale", "histogram"};
    static const uint64_t budgets[] = {100, 4096, 1 << 20};
    for (size_t k = 0; k < 2; k++) {
        struct left whole = run(kernels[k], 1, 1 << 20, N, MANY_ROUNDS);
        assert_int_equal(whole.status, EXEC_DONE);
        assert_int_equal(together_calls, 0);
        assert_true(whole.range_count >= 2);
        for (uint32_t parts = 2; parts <= 5; parts++)
            for (size_t b = 0; b < 3; b++) {
                struct left divided = run(kernels[k], parts, budgets[b], N, MANY_ROUNDS);
                assert_true(together_calls > 0);
                assert_equal(&whole, &divided);
                left_free(&divided);
            }
        left_free(&whole);
    }
}

/* How far each block is after a step does not depend on the threads: neither do partial results. */
static void steps_are_repeatable(void **unused)
{
    (void)unused;
    uint64_t steps = 0;
    struct left first = {0};
    for (int i = 0; i < 8; i++) {
        struct left left = run("faulty", 4, 3000, 150, 60);
        assert_int_equal(left.status, EXEC_FAULT);
        assert_int_equal(left.fault.kind, EXEC_FAULT_ILLEGAL_ADDRESS);
        assert_true(left.fault.block[0] >= 150);
        if (i == 0) {
            first = left;
            steps = h.steps;
            continue;
        }
        assert_equal(&first, &left);
        assert_int_equal(first.fault.block[0], left.fault.block[0]);
        assert_string_equal(first.fault.message, left.fault.message);
        assert_int_equal(steps, h.steps);
        left_free(&left);
    }
    left_free(&first);
}

/* One after the other, as if nobody had asked for parts. */
static void ordered_kernels_stay_whole(void **unused)
{
    (void)unused;
    static const char *const kernels[] = {"tickets", "floats", "waits", "tickets_in_call"};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        struct left whole = run(kernels[k], 1, 500, N, 1), same = run(kernels[k], 4, 500, N, 1);
        assert_int_equal(whole.status, EXEC_DONE);
        assert_int_equal(together_calls, 0);
        assert_equal(&whole, &same);
        left_free(&whole);
        left_free(&same);
    }
}

/* ---- the pool itself ------------------------------------------------------------------------- */

struct sum {
    atomic_uint_fast64_t calls[40];
    atomic_uint_fast64_t total;
};

static void add(void *job, uint32_t part)
{
    struct sum *sum = job;
    atomic_fetch_add(&sum->calls[part], 1);
    atomic_fetch_add(&sum->total, part);
}

static void every_part_is_run_once(void **unused)
{
    (void)unused;
    static struct sum sum;
    for (int round = 0; round < 5000; round++)
        worker_pool_run(add, &sum, (uint32_t)round % 40);
    uint64_t expected = 0;
    for (uint64_t round = 0; round < 5000; round++)
        expected += round % 40 * (round % 40 ? round % 40 - 1 : 0) / 2;
    assert_int_equal(sum.total, expected);
    for (uint32_t part = 0; part < 40; part++)
        assert_int_equal(sum.calls[part], 5000 / 40 * (39 - part));
    assert_true(worker_pool_size() >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_to_one_thread), cmocka_unit_test(steps_are_repeatable),
        cmocka_unit_test(ordered_kernels_stay_whole), cmocka_unit_test(every_part_is_run_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
