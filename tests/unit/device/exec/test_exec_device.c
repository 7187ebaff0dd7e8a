/* The execution engine on what goes beyond plain kernels: tests/data/exec/device.cu. */
#include "tests/unit/device/exec/exec_harness.h"

#include <math.h>

static struct harness h;

static int open_device(void **unused)
{
    (void)unused;
    harness_open(&h, "device");
    return 0;
}

static int close_device(void **unused)
{
    (void)unused;
    harness_close(&h);
    return 0;
}

static void near(const char *name, double x, double got, double expected, double tolerance)
{
    if (isnan(expected) ? isnan(got) : got == expected)
        return;
    if (!(fabs(got - expected) <= tolerance * fmax(fabs(expected), 1e-30)))
        fail_msg("%s(%g): %.17g, expected %.17g", name, x, got, expected);
}

static void computes_float_math(void **unused)
{
    (void)unused;
    enum { N = 200, R = 20 };
    int n = N;
    uint64_t in = harness_allocate(&h, 4 * N), out = harness_allocate(&h, 4 * N * R);
    float *x = harness_host(&h, in), *got = harness_host(&h, out);
    for (int i = 0; i < N; i++)
        x[i] = 0.001f + (float)(i * i) * 0.0021f;
    harness_run(&h, "math_float", 1, 64, 0, ARGUMENTS(&out, &in, &n));
    static const char *const names[R] = {"exp",   "log",   "sin",   "cos",  "pow",   "sqrt", "tanh",
                                         "atan",  "div",   "log1p", "exp2", "cbrt",  "erf",  "fmod",
                                         "rsqrt", "floor", "rint",  "ceil", "__exp", "__sin"};
    for (int i = 0; i < N; i++) {
        double v = x[i];
        double expected[R] = {exp(v),
                              log(v),
                              sin(v),
                              cos(v),
                              pow(v, (double)1.7f),
                              sqrt(v),
                              tanh(v),
                              atan(v),
                              v / (double)3.7f,
                              log1p(v),
                              exp2(v),
                              cbrt(v),
                              erf(v),
                              (double)fmodf(x[i], .7f),
                              1 / sqrt(v),
                              floor(v),
                              rint(v),
                              ceil(-v),
                              exp(v),
                              sin(v)};
        for (int k = 0; k < R; k++) {
            double tolerance = k == 2 || k == 3 || k == 19 ? 2e-4 : 1e-5;
            if (k == 19 && fabs(expected[k]) < 0.01)
                continue;
            near(names[k], v, (double)got[i * R + k],
                 expected[k] > 3.4028235e38 ? INFINITY : expected[k], tolerance);
        }
    }
}

static void computes_double_math(void **unused)
{
    (void)unused;
    enum { N = 200, R = 8 };
    int n = N;
    uint64_t in = harness_allocate(&h, 8 * N), out = harness_allocate(&h, 8 * N * R);
    double *x = harness_host(&h, in), *got = harness_host(&h, out);
    for (int i = 0; i < N; i++)
        x[i] = 0.001 + i * i * 0.0021;
    harness_run(&h, "math_double", 1, 64, 0, ARGUMENTS(&out, &in, &n));
    static const char *const names[R] = {"exp", "log", "sin", "cos", "pow", "sqrt", "tanh", "div"};
    for (int i = 0; i < N; i++) {
        double v = x[i];
        double expected[R] = {exp(v),      log(v),  sin(v),  cos(v),
                              pow(v, 1.7), sqrt(v), tanh(v), v / 3.7};
        for (int k = 0; k < R; k++)
            near(names[k], v, got[i * R + k], expected[k], 1e-13);
    }
}

static void updates_atomically(void **unused)
{
    (void)unused;
    struct {
        int sum, least, most, bits_and, bits_or, bits_xor;
        unsigned wrapped, last;
        float sum_float;
        double sum_double;
        unsigned long long sum_long, most_long;
        int by_cas;
        unsigned short half_words[2];
        unsigned pair;
    } * t;
    uint64_t totals = harness_allocate(&h, sizeof *t);
    t = harness_host(&h, totals);
    t->bits_and = -1;
    harness_run(&h, "atomics", 5, 100, 0, ARGUMENTS(&totals));
    int exclusive = 0;
    for (int i = 0; i < 500; i++)
        exclusive ^= i;
    assert_int_equal(t->sum, 500 * 499 / 2);
    assert_int_equal(t->least, -499);
    assert_int_equal(t->most, 499);
    assert_int_equal(t->bits_and, (int)0x80000000);
    assert_int_equal(t->bits_or, 0x7fffffff);
    assert_int_equal(t->bits_xor, exclusive);
    assert_int_equal(t->wrapped, 0); /* 500 times modulo 100 */
    assert_int_equal(t->last, 7);
    assert_true(t->sum_float == 250.0f);
    assert_true(t->sum_double == 125.0);
    assert_true(t->sum_long == 500ull << 33);
    assert_true(t->most_long == 499ull << 40);
    assert_int_equal(t->by_cas, 1500);
    assert_int_equal(t->half_words[0], 0);
    assert_int_equal(t->half_words[1], 9);
    assert_int_equal(t->pair, 0x5bd05fd0); /* 500 and 250 */
}

static void updates_vectors(void **unused)
{
    (void)unused;
    uint64_t four = harness_allocate(&h, 16), two = harness_allocate(&h, 16),
             old = harness_allocate(&h, 16);
    float *sums = harness_host(&h, four), *halves = harness_host(&h, two);
    memset(harness_host(&h, old), 0xff, 16);
    h.touches = true;
    harness_run(&h, "vector_atomics", 2, 64, 0, ARGUMENTS(&four, &two, &old));
    h.touches = false;
    float rest = 63 * 64;
    assert_true(sums[0] == 128 && sums[1] == rest && sums[2] == -128 && sums[3] == 64);
    assert_true(halves[0] == 128 && halves[1] == 2 * 31 * 32);
    assert_true(halves[2] == 128 && halves[3] == 2 * 32 * 32);
    assert_int_equal(*(uint32_t *)harness_host(&h, old), 0); /* the first saw what was there */
    assert_int_equal(h.range_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(h.ranges[i].bytes, 16);
        assert_int_equal(h.ranges[i].kind,
                         h.ranges[i].address == old ? DEVICE_TRACE_WRITE : DEVICE_TRACE_ATOMIC);
    }
}

static void synchronizes_grids(void **unused)
{
    (void)unused;
    enum { BLOCKS = 20 };
    uint64_t partial = harness_allocate(&h, 4 * BLOCKS), out = harness_allocate(&h, 4 * BLOCKS);
    int *sums = harness_host(&h, out);
    h.cooperative = true;
    h.touches = true;
    harness_run(&h, "grid_sums", BLOCKS, 64, 0, ARGUMENTS(&partial, &out));
    h.cooperative = h.touches = false;
    for (int i = 0; i < BLOCKS; i++)
        assert_int_equal(sums[i], BLOCKS * (BLOCKS - 1) / 2 + 2 * BLOCKS);
    for (size_t i = 0; i < h.range_count; i++) /* the barrier's own memory is not reported */
        assert_true(h.ranges[i].address == partial || h.ranges[i].address == out);
}

static void partitions_groups(void **unused)
{
    (void)unused;
    uint64_t out = harness_allocate(&h, 256);
    int *values = harness_host(&h, out);
    harness_run(&h, "groups", 1, 64, 0, ARGUMENTS(&out));
    for (int i = 0; i < 64; i++) {
        int expected = 8 * (i / 8 * 8) + 28;
        int active = 11; /* multiples of three in either warp */
        if (i % 3 == 0)
            expected += 1000 * active + 100000;
        assert_int_equal(values[i], expected);
    }
}

static void reaches_into_clusters(void **unused)
{
    (void)unused;
    uint64_t out = harness_allocate(&h, 4 * 32 * 8);
    int *values = harness_host(&h, out);
    harness_run(&h, "clusters", 8, 32, 0, ARGUMENTS(&out));
    for (int b = 0; b < 8; b++)
        for (int i = 1; i < 32; i++)
            assert_int_equal(values[b * 32 + i],
                             (b / 4 * 4 + (b + 1) % 4) * 100 + i + 10000 * (b % 4));
    for (int b = 0; b < 8; b++)
        assert_int_equal(values[b * 32] / 1000000, 32);
}

static void waits_at_barriers_in_memory(void **unused)
{
    (void)unused;
    uint64_t out = harness_allocate(&h, 512);
    int *values = harness_host(&h, out);
    harness_run(&h, "shared_barrier", 1, 128, 0, ARGUMENTS(&out));
    for (int i = 0; i < 128; i++)
        assert_int_equal(values[i], 4 * ((i + 33) % 128) + 6);
}

static void copies_asynchronously(void **unused)
{
    (void)unused;
    uint64_t in = harness_allocate(&h, 1024), out = harness_allocate(&h, 1024);
    int *from = harness_host(&h, in), *values = harness_host(&h, out);
    for (int i = 0; i < 256; i++)
        from[i] = i * i;
    h.touches = true;
    harness_run(&h, "async_copies", 1, 256, 0, ARGUMENTS(&out, &in));
    h.touches = false;
    for (int i = 0; i < 256; i++)
        assert_int_equal(values[i], i * i + (255 - i) * (255 - i));
    assert_int_equal(h.range_count, 2);
    assert_int_equal(h.ranges[0].address, in);
    assert_int_equal(h.ranges[0].bytes, 1024);
}

static void copies_in_bulk(void **unused)
{
    (void)unused;
    uint64_t in = harness_allocate(&h, 1024), out = harness_allocate(&h, 1024);
    int *from = harness_host(&h, in), *values = harness_host(&h, out);
    for (int i = 0; i < 256; i++)
        from[i] = 7 * i;
    h.touches = true;
    harness_run(&h, "bulk_copies", 1, 256, 0, ARGUMENTS(&out, &in));
    h.touches = false;
    for (int i = 0; i < 256; i++)
        assert_int_equal(values[i], 7 * i + 1);
    assert_int_equal(h.range_count, 2);
    assert_int_equal(h.ranges[1].kind, DEVICE_TRACE_WRITE);
    assert_int_equal(h.ranges[1].bytes, 1024);
}

static void passes_messages_between_blocks(void **unused)
{
    (void)unused;
    uint64_t data = harness_allocate(&h, 4), flag = harness_allocate(&h, 4);
    uint64_t out = harness_allocate(&h, 4);
    harness_run(&h, "messages", 2, 32, 0, ARGUMENTS(&data, &flag, &out));
    assert_int_equal(*(int *)harness_host(&h, out), 42);
}

/* One block waits for what nobody stores: the launch says so and goes on when it is stored. */
static void says_when_it_only_waits(void **unused)
{
    (void)unused;
    uint64_t pointers[3];
    for (int i = 0; i < 3; i++)
        pointers[i] = harness_allocate(&h, 4);
    struct exec_launch launch = {.image = h.image,
                                 .kernel = harness_kernel(&h, "messages"),
                                 .grid = {1, 1, 1},
                                 .block = {64, 1, 1},
                                 .params = pointers,
                                 .memory = {harness_find, &h, h.window}};
    exec_state *state = exec_begin(&launch, h.message, sizeof h.message);
    assert_non_null(state);
    for (int i = 0; i < 5; i++)
        assert_int_equal(exec_step(state, 1 << 20), EXEC_SPINNING);
    *(int *)harness_host(&h, pointers[0]) = 43;
    *(int *)harness_host(&h, pointers[1]) = 1;
    assert_int_equal(exec_step(state, 1 << 20), EXEC_DONE);
    assert_int_equal(*(int *)harness_host(&h, pointers[2]), 43);
    exec_end(state);
}

static void advances_clocks(void **unused)
{
    (void)unused;
    uint64_t out = harness_allocate(&h, 16);
    int64_t *values = harness_host(&h, out);
    harness_run(&h, "clocks", 1, 1, 0, ARGUMENTS(&out));
    assert_true(values[0] >= 100000);
    assert_true(values[1] > 0 && values[1] < 10000000000);
}

static float half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    float value = exponent ? ldexpf((float)(1024 + (bits & 1023)), exponent - 25)
                           : ldexpf((float)(bits & 1023), -24);
    return bits & 0x8000 ? -value : value;
}

static void computes_halves(void **unused)
{
    (void)unused;
    uint64_t in = harness_allocate(&h, 256), out = harness_allocate(&h, 256);
    uint16_t *x = harness_host(&h, in), *got = harness_host(&h, out);
    for (int i = 0; i < 65; i++)
        x[i] = (uint16_t)(0x3000 + 61 * i); /* 0.125 to 1.9 */
    int n = 64;
    harness_run(&h, "halves", 1, 64, 0, ARGUMENTS(&out, &in, &n));
    for (int i = 0; i < 64; i++) {
        float a = half_value(x[i]), b = half_value(x[i + 1]);
        float expected = a > 1 ? exp2f(a) : a * a + .5f + (b * b + .5f) * a;
        assert_true(fabsf(half_value(got[i]) - expected) <= expected * 0.002f);
    }
}

static void loads_and_stores_every_width(void **unused)
{
    (void)unused;
    struct pixel {
        unsigned char r, g, b, a;
        short depth;
        float weight;
        int extra;
    } * in, *out;
    int n = 50;
    uint64_t from = harness_allocate(&h, 16 * 50), to = harness_allocate(&h, 16 * 50);
    uint64_t vectors = harness_allocate(&h, 16 * 50);
    int *v = harness_host(&h, vectors);
    in = harness_host(&h, from);
    out = harness_host(&h, to);
    for (int i = 0; i < 50; i++) {
        in[i] = (struct pixel){
            (unsigned char)(5 * i), 7, (unsigned char)(4 * i), (unsigned char)i, (short)(-300 * i),
            0.5f * (float)i,        9};
        for (int k = 0; k < 4; k++)
            v[4 * i + k] = 1000 * i + 77 * k;
    }
    harness_run(&h, "mixed", 2, 32, 0, ARGUMENTS(&to, &from, &vectors, &n));
    for (int i = 0; i < 50; i++) {
        assert_int_equal(out[i].r, (unsigned char)(5 * i + v[4 * i]));
        assert_int_equal(out[i].g, 4 * i > 100 ? (unsigned char)(4 * i - 100) : 0);
        assert_int_equal(out[i].b, (unsigned char)(4 * i));
        assert_int_equal(out[i].depth, (short)(-300 * i - (short)v[4 * i + 1]));
        assert_true(out[i].weight == 0.5f * (float)i * (float)v[4 * i + 2]);
        assert_int_equal(out[i].extra, v[4 * i + 3] ^ i);
    }
}

static void branches_by_table(void **unused)
{
    (void)unused;
    uint64_t out = harness_allocate(&h, 256);
    int *values = harness_host(&h, out);
    harness_run(&h, "switches", 1, 64, 0, ARGUMENTS(&out));
    for (int i = 0; i < 64; i++)
        assert_int_equal(values[i], 10 + 11 * (i % 4));
}

static void counts_at_named_barriers(void **unused)
{
    (void)unused;
    uint64_t out = harness_allocate(&h, 4 * 384);
    int *values = harness_host(&h, out);
    harness_run(&h, "named_barriers", 1, 192, 0, ARGUMENTS(&out));
    for (int i = 0; i < 64; i++)
        assert_int_equal(values[i], 5);
    for (int i = 0; i < 192; i++)
        assert_int_equal(values[192 + i], 96 + 1000);
}

static const struct device_trace_range *find_range(uint64_t address, uint32_t kind)
{
    for (size_t i = 0; i < h.range_count; i++)
        if (h.ranges[i].address == address && h.ranges[i].kind == kind)
            return &h.ranges[i];
    fail_msg("no range of kind %u at %llx", kind, (unsigned long long)address);
    return NULL;
}

static void distinguishes_kinds_of_touches(void **unused)
{
    (void)unused;
    uint64_t p[5];
    for (int i = 0; i < 5; i++)
        p[i] = harness_allocate(&h, 1024);
    h.touches = true;
    harness_run(&h, "kinds", 1, 64, 0, ARGUMENTS(&p[0], &p[1], &p[2], &p[3], &p[4]));
    h.touches = false;
    const struct device_trace_range *read = find_range(p[0], DEVICE_TRACE_READ);
    assert_int_equal(read->dims, 1);
    assert_int_equal(read->bytes, 4);
    assert_int_equal(read->stride[0], 8);
    assert_int_equal(read->count[0], 64);
    assert_int_equal(find_range(p[1], DEVICE_TRACE_WRITE)->bytes, 512);
    assert_int_equal(find_range(p[2], DEVICE_TRACE_ATOMIC)->bytes, 64);
    assert_int_equal(find_range(p[3], DEVICE_TRACE_ATOMIC)->bytes, 256);
    assert_int_equal(find_range(p[4], DEVICE_TRACE_READ)->bytes, 4); /* .cta protects nothing */
    assert_int_equal(find_range(p[4], DEVICE_TRACE_WRITE)->bytes, 4);
    assert_int_equal(h.range_count, 6);
}

static void stops_endless_recursion(void **unused)
{
    (void)unused;
    uint64_t out = harness_allocate(&h, 4);
    int n = 1000;
    harness_run(&h, "deep", 1, 1, 0, ARGUMENTS(&out, &n));
    assert_int_equal(*(int *)harness_host(&h, out), 1000);
    n = 100000000;
    assert_int_equal(harness_launch(&h, "deep", 1, 32, 0, ARGUMENTS(&out, &n)), EXEC_FAULT);
    assert_int_equal(h.fault.kind, EXEC_FAULT_STACK);
}

static void reports_deadlocks(void **unused)
{
    (void)unused;
    assert_int_equal(harness_launch(&h, "deadlocks", 1, 64, 0, ARGUMENTS(NULL)), EXEC_FAULT);
    assert_int_equal(h.fault.kind, EXEC_FAULT_DEADLOCK);
}

static void names_what_it_lacks(void **unused)
{
    struct harness text;
    (void)unused;
    harness_open_text(&text, ".version 8.0\n.target sm_100a\n.address_size 64\n"
                             ".visible .entry k(.param .u64 p)\n{\n"
                             "tcgen05.wait::ld.sync.aligned;\nret;\n}\n"
                             ".extern .func (.param .b64 r) elsewhere (.param .b64 size);\n"
                             ".visible .entry m()\n{\n.param .b64 s; .param .b64 r;\n"
                             "st.param.b64 [s], 8;\ncall (r), elsewhere, (s);\nret;\n}\n");
    char message[256];
    const struct ptx_function *k = harness_kernel(&text, "k"), *m = harness_kernel(&text, "m");
    assert_false(exec_prepare(text.image, k, message, sizeof message));
    assert_string_equal(message,
                        "kernel 'k': line 6: instruction 'tcgen05.wait::ld.sync.aligned' is not "
                        "supported");
    assert_false(exec_prepare(text.image, m, message, sizeof message));
    assert_string_equal(message, "kernel 'm': line 14: instruction 'call elsewhere' is not "
                                 "supported (the function has no body)");
    harness_close(&text);
}

/* Each lane's malloc is its own; a free is a write of the block; a second free is a fault. */
static void kernels_have_a_heap(void **unused)
{
    struct harness text;
    (void)unused;
    harness_open_text(
        &text, ".version 8.0\n.target sm_90\n.address_size 64\n"
               ".extern .func (.param .b64 r) malloc (.param .b64 size);\n"
               ".extern .func free (.param .b64 p);\n"
               ".visible .entry make(.param .u64 out)\n{\n.param .b64 s; .param .b64 r;\n"
               ".reg .b64 %rd<5>;\n.reg .b32 %r<2>;\nld.param.u64 %rd1, [out];\n"
               "mov.u32 %r1, %tid.x;\nst.param.b64 [s], 24;\ncall (r), malloc, (s);\n"
               "ld.param.b64 %rd2, [r];\nmul.wide.u32 %rd3, %r1, 8;\nadd.s64 %rd4, %rd1, %rd3;\n"
               "st.u64 [%rd4], %rd2;\nst.u64 [%rd2+16], %rd3;\nret;\n}\n"
               ".visible .entry end(.param .u64 p)\n{\n.param .b64 a;\n.reg .b64 %rd<3>;\n"
               "ld.param.u64 %rd1, [p];\nld.u64 %rd2, [%rd1];\nst.param.b64 [a], %rd2;\n"
               "call free, (a);\nret;\n}\n");
    text.touches = true;
    uint64_t out = harness_allocate(&text, 4 * sizeof(uint64_t));
    harness_run(&text, "make", 1, 4, 0, ARGUMENTS(&out));
    const uint64_t *blocks = harness_host(&text, out);
    for (uint64_t i = 0; i < 4; i++) {
        assert_true(blocks[i] && (i == 0 || blocks[i] != blocks[i - 1]));
        assert_int_equal(((uint64_t *)harness_host(&text, blocks[i]))[2], 8 * i);
    }
    const uint64_t first = blocks[0];
    harness_run(&text, "end", 1, 1, 0, ARGUMENTS(&out));
    bool written = false;
    for (size_t i = 0; i < text.range_count; i++)
        written |= text.ranges[i].kind == DEVICE_TRACE_WRITE && text.ranges[i].address == first &&
                   text.ranges[i].bytes == 24;
    assert_true(written);
    assert_int_equal(harness_launch(&text, "end", 1, 1, 0, ARGUMENTS(&out)), EXEC_FAULT);
    assert_int_equal(text.fault.kind, EXEC_FAULT_FREE);
    assert_int_equal(text.fault.address, first);
    harness_close(&text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_device, close_device)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(computes_float_math),
        TEST(computes_double_math),
        TEST(updates_atomically),
        TEST(updates_vectors),
        TEST(synchronizes_grids),
        TEST(partitions_groups),
        TEST(reaches_into_clusters),
        TEST(waits_at_barriers_in_memory),
        TEST(copies_asynchronously),
        TEST(copies_in_bulk),
        TEST(passes_messages_between_blocks),
        TEST(says_when_it_only_waits),
        TEST(advances_clocks),
        TEST(computes_halves),
        TEST(loads_and_stores_every_width),
        TEST(branches_by_table),
        TEST(counts_at_named_barriers),
        TEST(distinguishes_kinds_of_touches),
        TEST(stops_endless_recursion),
        TEST(reports_deadlocks),
        TEST(names_what_it_lacks),
        TEST(kernels_have_a_heap),
    };
    return harness_run_tests(tests);
}
