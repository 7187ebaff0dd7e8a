/* The execution engine on kernels as nvcc compiles them: tests/data/exec/basic.cu. */
#include "tests/unit/device/exec/exec_harness.h"

#include <math.h>

static struct harness h;

static int open_basic(void **unused)
{
    (void)unused;
    harness_open(&h, "basic");
    return 0;
}

static int close_basic(void **unused)
{
    (void)unused;
    harness_close(&h);
    return 0;
}

static void runs_saxpy(void **unused)
{
    (void)unused;
    int n = 1000;
    float a = 2.5f;
    uint64_t x = harness_allocate(&h, 4 * (uint64_t)n), y = harness_allocate(&h, 4 * (uint64_t)n);
    float *hx = harness_host(&h, x), *hy = harness_host(&h, y);
    for (int i = 0; i < n; i++) {
        hx[i] = (float)i;
        hy[i] = 1.0f;
    }
    harness_run(&h, "saxpy", 4, 256, 0, ARGUMENTS(&y, &x, &a, &n));
    for (int i = 0; i < n; i++)
        assert_true(hy[i] == 2.5f * (float)i + 1.0f);
}

static void records_what_saxpy_touches(void **unused)
{
    (void)unused;
    int n = 1000;
    float a = 2.5f;
    uint64_t x = harness_allocate(&h, 4 * (uint64_t)n), y = harness_allocate(&h, 4 * (uint64_t)n);
    h.touches = true;
    harness_run(&h, "saxpy", 4, 256, 0, ARGUMENTS(&y, &x, &a, &n));
    assert_int_equal(h.range_count, 3);
    const uint64_t bases[] = {x, y, y};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(h.ranges[i].address, bases[i]);
        assert_int_equal(h.ranges[i].bytes, 4000);
        assert_int_equal(h.ranges[i].dims, 0);
        assert_int_equal(h.ranges[i].kind, i < 2 ? DEVICE_TRACE_READ : DEVICE_TRACE_WRITE);
    }
    h.touches = false;
}

static void reduces_in_shared_memory(void **unused)
{
    (void)unused;
    int n = 5000;
    uint64_t in = harness_allocate(&h, 4 * (uint64_t)n), out = harness_allocate(&h, 16);
    float *values = harness_host(&h, in), *sums = harness_host(&h, out);
    for (int i = 0; i < n; i++)
        values[i] = (float)(i % 17);
    harness_run(&h, "reduce", 4, 256, 0, ARGUMENTS(&out, &in, &n));
    float expected = 0;
    for (int i = 0; i < n; i++)
        expected += values[i];
    assert_true(sums[0] + sums[1] + sums[2] + sums[3] == expected);
}

static void shuffles(void **unused)
{
    (void)unused;
    uint64_t in = harness_allocate(&h, 512), out = harness_allocate(&h, 16);
    int *values = harness_host(&h, in), *sums = harness_host(&h, out);
    for (int i = 0; i < 128; i++)
        values[i] = i * i;
    harness_run(&h, "shuffle_sum", 1, 128, 0, ARGUMENTS(&out, &in));
    for (int w = 0; w < 4; w++) {
        int expected = 0;
        for (int i = 32 * w; i < 32 * w + 32; i++)
            expected += i * i;
        assert_int_equal(sums[w], expected);
    }
}

static int collatz_steps(uint64_t x)
{
    int count = 0;
    for (; x != 1; count++)
        x = x & 1 ? 3 * x + 1 : x / 2;
    return count;
}

static void diverges_in_loops(void **unused)
{
    (void)unused;
    int n = 300;
    uint64_t out = harness_allocate(&h, 4 * (uint64_t)n);
    int *steps = harness_host(&h, out);
    harness_run(&h, "collatz", 3, 128, 0, ARGUMENTS(&out, &n));
    for (int i = 0; i < n; i++)
        assert_int_equal(steps[i], collatz_steps((uint64_t)i + 1));
}

/* The engine's slices are no part of a kernel's meaning. */
static void gives_the_same_whatever_the_budget(void **unused)
{
    (void)unused;
    static const uint64_t budgets[] = {1, 2, 7, 100, 5000};
    int n = 100, m = 500;
    uint64_t out = harness_allocate(&h, 4 * (uint64_t)n), in = harness_allocate(&h, 2000);
    uint64_t sum = harness_allocate(&h, 16);
    int *steps = harness_host(&h, out);
    float *values = harness_host(&h, in), *sums = harness_host(&h, sum);
    for (int i = 0; i < m; i++)
        values[i] = (float)i;
    for (int k = 0; k < 5; k++) {
        h.budget = budgets[k];
        memset(steps, 0, 4 * (size_t)n);
        memset(sums, 0, 16);
        harness_run(&h, "collatz", 2, 64, 0, ARGUMENTS(&out, &n));
        for (int i = 0; i < n; i++)
            assert_int_equal(steps[i], collatz_steps((uint64_t)i + 1));
        harness_run(&h, "reduce", 2, 128, 0, ARGUMENTS(&sum, &in, &m));
        assert_true(sums[0] + sums[1] == 124750.0f);
        assert_true(k == 4 || h.steps > 1);
    }
    h.budget = 0;
}

static void recurses(void **unused)
{
    (void)unused;
    static const int fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
    uint64_t out = harness_allocate(&h, 256);
    int *values = harness_host(&h, out);
    harness_run(&h, "recursion", 1, 40, 0, ARGUMENTS(&out));
    for (int i = 0; i < 40; i++)
        assert_int_equal(values[i], fibonacci[i % 12]);
}

static void calls_through_pointers(void **unused)
{
    (void)unused;
    uint64_t out = harness_allocate(&h, 256);
    int *values = harness_host(&h, out);
    harness_run(&h, "pointers", 1, 64, 0, ARGUMENTS(&out));
    for (int i = 0; i < 64; i++)
        assert_int_equal(values[i], i % 3 == 0 ? i + 7 : i % 3 == 1 ? i - 7 : i * 7);
}

static void calls_virtual_functions(void **unused)
{
    (void)unused;
    uint64_t out = harness_allocate(&h, 256);
    float *values = harness_host(&h, out);
    harness_run(&h, "virtuals", 1, 50, 0, ARGUMENTS(&out));
    for (int i = 0; i < 50; i++)
        assert_true(values[i] == (i & 1 ? 3.0f : 1.0f) * (float)(i * i));
}

static void keeps_local_arrays(void **unused)
{
    (void)unused;
    uint64_t out = harness_allocate(&h, 256);
    int *values = harness_host(&h, out), shift = 3;
    harness_run(&h, "locals", 1, 64, 0, ARGUMENTS(&out, &shift));
    for (int t = 0; t < 64; t++) {
        int sum = 0;
        for (int i = 0; i < 16; i++) {
            int k = (i * shift + t) & 15;
            sum += (k * k + t) * i;
        }
        assert_int_equal(values[t], sum);
    }
}

static void lets_lock_holders_go_on(void **unused)
{
    (void)unused;
    uint64_t lock = harness_allocate(&h, 4), counter = harness_allocate(&h, 4);
    harness_run(&h, "spin_lock", 3, 64, 0, ARGUMENTS(&lock, &counter));
    assert_int_equal(*(int *)harness_host(&h, counter), 3 * 3 * 64);
}

static void lets_blocks_wait_for_later_ones(void **unused)
{
    (void)unused;
    uint64_t ready = harness_allocate(&h, 4), out = harness_allocate(&h, 4);
    harness_run(&h, "wait_for_others", 200, 64, 0, ARGUMENTS(&ready, &out));
    assert_int_equal(*(int *)harness_host(&h, out), 42);
}

static void prints(void **unused)
{
    (void)unused;
    int n = 3;
    harness_run(&h, "print", 1, 32, 0, ARGUMENTS(&n));
    assert_string_equal(h.printed, "thread 0 of many:  4.50 x 123456789abc %\n"
                                   "thread 1 of many:  4.50 x 123456789abc %\n");
}

static void faults_on_assertions(void **unused)
{
    (void)unused;
    int n = 5;
    uint64_t data = harness_allocate(&h, 256);
    harness_run(&h, "fails", 1, 32, 0, ARGUMENTS(&data, &n));
    ((int *)harness_host(&h, data))[7] = 5;
    assert_int_equal(harness_launch(&h, "fails", 1, 32, 0, ARGUMENTS(&data, &n)), EXEC_FAULT);
    assert_int_equal(h.fault.kind, EXEC_FAULT_ASSERT);
    assert_non_null(strstr(h.printed, "block: [0,0,0], thread: [7,0,0] Assertion `data[threadIdx.x]"
                                      " < n` failed.\n"));
}

static void faults_on_traps(void **unused)
{
    (void)unused;
    int n = 9;
    assert_int_equal(harness_launch(&h, "trapped", 1, 32, 0, ARGUMENTS(&n)), EXEC_FAULT);
    assert_int_equal(h.fault.kind, EXEC_FAULT_TRAP);
    assert_int_equal(h.fault.thread[0], 9);
}

static void faults_on_bad_addresses(void **unused)
{
    (void)unused;
    uint64_t data = harness_allocate(&h, 128), odd = data + 2, null = 0;
    int64_t index = 0;
    harness_run(&h, "out_of_bounds", 1, 32, 0, ARGUMENTS(&data, &index));
    index = 4;
    assert_int_equal(harness_launch(&h, "out_of_bounds", 1, 32, 0, ARGUMENTS(&data, &index)),
                     EXEC_FAULT);
    assert_int_equal(h.fault.kind, EXEC_FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(h.fault.address, data + 128);
    assert_int_equal(h.fault.thread[0], 28);
    assert_non_null(strstr(h.fault.message, "out_of_bounds"));
    assert_non_null(strstr(h.fault.message, "instruction 'st.global"));
    assert_int_equal(harness_launch(&h, "out_of_bounds", 1, 1, 0, ARGUMENTS(&odd, &index)),
                     EXEC_FAULT);
    assert_int_equal(h.fault.kind, EXEC_FAULT_MISALIGNED_ADDRESS);
    assert_int_equal(harness_launch(&h, "out_of_bounds", 1, 1, 0, ARGUMENTS(&null, &index)),
                     EXEC_FAULT);
    assert_int_equal(h.fault.kind, EXEC_FAULT_ILLEGAL_ADDRESS);
}

static void votes_and_matches(void **unused)
{
    (void)unused;
    uint64_t out = harness_allocate(&h, 1024);
    uint32_t *values = harness_host(&h, out), thirds = 0;
    for (int i = 0; i < 32; i += 3)
        thirds |= 1u << i;
    harness_run(&h, "votes", 1, 32, 0, ARGUMENTS(&out));
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t fives = 0;
        for (uint32_t k = 0; k < 32; k++)
            if (k / 5 == i / 5)
                fives |= 1u << k;
        assert_int_equal(values[i], thirds);
        assert_int_equal(values[i + 32], 3);
        assert_int_equal(values[i + 64], fives);
        assert_int_equal(values[i + 96], 0xffffffffu + 1);
        assert_int_equal(values[i + 128], 496 + 31);
        assert_int_equal(values[i + 160], (i / 8 * 8 + 3) * 10);
    }
}

static void shuffles_across_branches(void **unused)
{
    (void)unused;
    uint64_t out = harness_allocate(&h, 128);
    int *values = harness_host(&h, out);
    harness_run(&h, "diverged_shuffle", 1, 32, 0, ARGUMENTS(&out));
    for (int i = 0; i < 32; i++)
        assert_int_equal(values[i], (i ^ 1) & 1 ? (i ^ 1) * 2 : (i ^ 1) * 3);
}

static void reads_variables(void **unused)
{
    (void)unused;
    static const int table[] = {3, 1, 4, 1, 5, 9, 2, 6};
    uint64_t out = harness_allocate(&h, 400);
    int *values = harness_host(&h, out);
    harness_run(&h, "variables", 1, 64, 0, ARGUMENTS(&out));
    for (int i = 0; i < 64; i++)
        assert_int_equal(values[i], table[i % 8]);
    assert_int_equal(values[64], 31 * 8);
}

static void gives_dynamic_shared_memory(void **unused)
{
    (void)unused;
    uint64_t out = harness_allocate(&h, 1024);
    double *values = harness_host(&h, out);
    harness_run(&h, "dynamic_shared", 1, 100, 800, ARGUMENTS(&out));
    for (int i = 0; i < 100; i++)
        assert_true(values[i] == (99 - i) * 0.5);
}

static void passes_structs_by_value(void **unused)
{
    (void)unused;
    struct {
        int values[40];
        double scale;
    } big = {.scale = 0.5};
    uint64_t out = harness_allocate(&h, 512);
    double *values = harness_host(&h, out);
    int index = 7;
    for (int i = 0; i < 40; i++)
        big.values[i] = i - 11;
    harness_run(&h, "by_value", 1, 64, 0, ARGUMENTS(&out, &big, &index));
    for (int t = 0; t < 64; t++) {
        double sum = 0;
        for (int i = 0; i < 40; i++)
            sum += big.values[i] * (i == index ? t : big.values[i]);
        assert_true(values[t] == sum * 0.5 + 0.5 + big.values[(t + index) % 40]);
    }
}

static void barriers_do_not_wait_for_the_gone(void **unused)
{
    (void)unused;
    uint64_t out = harness_allocate(&h, 512);
    int *values = harness_host(&h, out);
    harness_run(&h, "early_exit", 1, 100, 0, ARGUMENTS(&out));
    for (int i = 0; i < 100; i++)
        assert_int_equal(values[i], i % 3 ? 66 : 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_basic, close_basic)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(runs_saxpy),
        TEST(records_what_saxpy_touches),
        TEST(reduces_in_shared_memory),
        TEST(shuffles),
        TEST(diverges_in_loops),
        TEST(gives_the_same_whatever_the_budget),
        TEST(recurses),
        TEST(calls_through_pointers),
        TEST(calls_virtual_functions),
        TEST(keeps_local_arrays),
        TEST(lets_lock_holders_go_on),
        TEST(lets_blocks_wait_for_later_ones),
        TEST(prints),
        TEST(faults_on_assertions),
        TEST(faults_on_traps),
        TEST(faults_on_bad_addresses),
        TEST(votes_and_matches),
        TEST(shuffles_across_branches),
        TEST(reads_variables),
        TEST(gives_dynamic_shared_memory),
        TEST(passes_structs_by_value),
        TEST(barriers_do_not_wait_for_the_gone),
    };
    return harness_run_tests(tests);
}
