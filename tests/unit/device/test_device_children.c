/* Kernels that launch kernels on the embedded device: what runs after what, and what the trace says
 * of it. The file runs once under each scheduling policy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cuda.h>
#include "runtime/trace/trace.h"
#include "tests/unit/device/test_schedules.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ok(call) assert_int_equal((call), CUDA_SUCCESS)

/* append(log, value) adds a number to a log whose first word counts. parent(log, stream, n): n
 * times append(log, 1...n) into the stream, whose own number is 100. loop(log) launches itself as a
 * tail as long as the log has less than 4 numbers. wide(log): a grid that is too large. */
static const char module_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2 (.param .b64 f, "
    ".param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);\n"
    ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2 (.param .b64 p, .param .b64 s);\n"
    ".visible .entry append(.param .u64 log, .param .u64 v)\n{\n.reg .b64 %rd<6>;\n"
    "ld.param.u64 %rd1, [log];\nld.param.u64 %rd2, [v];\nld.global.u64 %rd3, [%rd1];\n"
    "add.s64 %rd3, %rd3, 1;\nst.global.u64 [%rd1], %rd3;\nshl.b64 %rd4, %rd3, 3;\n"
    "add.s64 %rd5, %rd1, %rd4;\nst.global.u64 [%rd5], %rd2;\nret;\n}\n"
#define LAUNCH(kernel, grid, log, value, stream)                                                   \
    "{\n.param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s;\n"     \
    ".param .b64 r; .param .b64 p; .param .b64 t; .param .b32 e;\n.reg .b64 %k<2>;\n"              \
    "mov.u64 %k0, " kernel ";\nst.param.b64 [f], %k0;\nst.param.b32 [g], " grid ";\n"              \
    "st.param.b32 [g+4], 1;\nst.param.b32 [g+8], 1;\nst.param.b32 [b], 1;\n"                       \
    "st.param.b32 [b+4], 1;\nst.param.b32 [b+8], 1;\nst.param.b32 [s], 0;\n"                       \
    "call (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s);\nld.param.b64 %k1, [r];\n"            \
    "st.u64 [%k1], " log ";\nst.u64 [%k1+8], " value ";\nst.param.b64 [p], %k1;\n"                 \
    "st.param.b64 [t], " stream ";\ncall (e), __cudaCDP2LaunchDeviceV2, (p, t);\n"                 \
    "ld.param.b32 %error, [e];\n}\n"
    ".visible .entry parent(.param .u64 log, .param .u64 stream, .param .u64 n)\n{\n"
    ".reg .b64 %rd<6>;\n.reg .b32 %error;\n.reg .pred %p;\n"
    "ld.param.u64 %rd1, [log];\nld.param.u64 %rd2, [stream];\nld.param.u64 %rd3, [n];\n"
    "mov.u64 %rd4, 0;\n"
    "$L:\nadd.s64 %rd4, %rd4, 1;\n" LAUNCH(
        "append", "1", "%rd1", "%rd4",
        "%rd2") "setp.lt.u64 %p, %rd4, %rd3;\n@%p bra $L;\nret;\n}\n"
                ".visible .entry loop(.param .u64 log, .param .u64 unused)\n{\n.reg .b64 %rd<6>;\n"
                ".reg .b32 %error;\n.reg .pred %p;\nld.param.u64 %rd1, [log];\nld.global.u64 %rd2, "
                "[%rd1];\n"
                "add.s64 %rd3, %rd2, 10;\n" LAUNCH(
                    "append", "1", "%rd1", "%rd3",
                    "0") "setp.ge.u64 %p, %rd2, 3;\n@%p bra "
                         "$E;\n" LAUNCH("loop", "1", "%rd1", "%rd1",
                                        "3") "$E:\nret;\n}\n"
                                             ".visible .entry "
                                             "wide(.param .u64 "
                                             "log)\n{\n.reg .b64 "
                                             "%rd<6>;\n.reg .b32 "
                                             "%error;\n"
                                             "ld.param.u64 %rd1, "
                                             "[log];\n" LAUNCH("append", "0", "%rd1", "%rd1",
                                                               "0") "cvt.u64.u32 "
                                                                    "%rd2, "
                                                                    "%error;\nst."
                                                                    "global.u64 "
                                                                    "[%rd1+8], "
                                                                    "%rd2;\nret;"
                                                                    "\n}\n";

/* moves(log): the first row of three words of 8 bytes, 16 bytes apart, to the half behind, and then
 * zero. */
static const char moving_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".extern .func (.param .b32 r) __cudaCDP2Memcpy2DAsync (.param .b64 d, .param .b64 dp, "
    ".param .b64 s, .param .b64 sp, .param .b64 w, .param .b64 h, .param .b32 k, .param .b64 t);\n"
    ".extern .func (.param .b32 r) __cudaCDP2MemsetAsync (.param .b64 d, .param .b32 v, "
    ".param .b64 n, .param .b64 t);\n"
    ".visible .entry moves(.param .u64 log)\n{\n.reg .b64 %rd<6>;\n.reg .b32 %error;\n"
    ".param .b32 e; .param .b64 d; .param .b64 dp; .param .b64 s; .param .b64 sp; .param .b64 w;\n"
    ".param .b64 h; .param .b32 k; .param .b64 t; .param .b32 v; .param .b64 n;\n"
    "ld.param.u64 %rd1, [log];\nadd.s64 %rd2, %rd1, 256;\n"
    "st.param.b64 [d], %rd2;\nst.param.b64 [dp], 32;\nst.param.b64 [s], %rd1;\n"
    "st.param.b64 [sp], 16;\nst.param.b64 [w], 8;\nst.param.b64 [h], 3;\n"
    "st.param.b32 [k], 3;\nst.param.b64 [t], 0;\n"
    "call (e), __cudaCDP2Memcpy2DAsync, (d, dp, s, sp, w, h, k, t);\n"
    "st.param.b64 [d], %rd1;\nst.param.b32 [v], 0;\nst.param.b64 [n], 48;\n"
    "call (e), __cudaCDP2MemsetAsync, (d, v, n, t);\nld.param.b32 %error, [e];\nret;\n}\n";

enum { NUMBERS = 64, BYTES = NUMBERS * 8 };

static CUcontext context;
static CUmodule module;
static CUdeviceptr logged;
static CUstream stream;

static int start(void **state)
{
    (void)state;
    return cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
           cuModuleLoadData(&module, module_text) || cuMemAlloc(&logged, BYTES) ||
           cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
}

static int set_up(void **state)
{
    (void)state;
    return cuMemsetD32(logged, 0, BYTES / 4) || cuCtxSynchronize();
}

static void launch(const char *name, uint64_t a, uint64_t b)
{
    CUfunction function;
    void *parameters[] = {&logged, &a, &b};
    ok(cuModuleGetFunction(&function, module, name));
    ok(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

static const uint64_t *numbers(void)
{
    static uint64_t found[NUMBERS];
    ok(cuStreamSynchronize(stream));
    ok(cuMemcpyDtoH(found, logged, BYTES));
    return found;
}

static void one_stream_is_in_order(void **state)
{
    (void)state;
    launch("parent", 0, 6);
    launch("append", 99, 0); /* the parent ends when its children have ended */
    const uint64_t *found = numbers();
    assert_int_equal(found[0], 7);
    for (uint64_t i = 1; i <= 6; i++)
        assert_int_equal(found[i], i);
    assert_int_equal(found[7], 99);
}

static void tails_come_last_and_in_order(void **state)
{
    (void)state;
    launch("parent", 3, 5);
    launch("append", 99, 0);
    const uint64_t *found = numbers();
    for (uint64_t i = 1; i <= 5; i++)
        assert_int_equal(found[i], i);
    assert_int_equal(found[6], 99);
}

/* A tail launch may launch one, too, and that comes after its children. */
static void tails_go_on(void **state)
{
    (void)state;
    launch("loop", 0, 0);
    launch("append", 99, 0);
    const uint64_t *found = numbers();
    assert_int_equal(found[0], 5);
    for (uint64_t i = 1; i <= 4; i++)
        assert_int_equal(found[i], 10 + i - 1);
    assert_int_equal(found[5], 99);
}

static void wrong_launches_are_errors(void **state)
{
    (void)state;
    launch("wide", 0, 0);
    assert_int_equal(numbers()[1], 9); /* cudaErrorInvalidConfiguration */
    launch("parent", 0x20000, 1);      /* no such stream: nothing is launched */
    assert_int_equal(numbers()[0], 0);
}

/* ---- The trace ---- */

static struct {
    size_t parts, children, ranges;
    bool after_all; /* the last child comes after the first */
} traced;

static void done(void *user, const struct device_trace_launch *launch)
{
    (void)user;
    traced.parts = launch->part_count;
    traced.ranges = launch->count;
    traced.children = 0;
    for (size_t i = 0; i < launch->part_count; i++) {
        const struct device_trace_part *part = &launch->parts[i];
        traced.children += part->child;
        for (size_t k = 0; k < part->after_count; k++)
            assert_true(part->after[k] < i);
        if (part->child)
            assert_string_equal(part->kernel, "append");
    }
    traced.after_all =
        launch->part_count > 3 && launch->parts[3].child && launch->parts[3].after_count >= 2;
}

static void a_trace_has_parts(void **state)
{
    (void)state;
    device_trace_subscribe(done, NULL);
    launch("parent", 0, 2);
    numbers();
    assert_int_equal(traced.children, 2);
    assert_int_equal(traced.parts, 5); /* the parent's before, between and after */
    assert_true(traced.after_all);
    assert_true(traced.ranges > 0);
    launch("parent", 4, 2); /* fire and forget: beside each other */
    ok(cuStreamSynchronize(stream));
    assert_int_equal(traced.children, 2);
    assert_false(traced.after_all);
    launch("append", 1, 0);
    ok(cuStreamSynchronize(stream));
    assert_int_equal(traced.parts, 0);
    device_trace_subscribe(NULL, NULL);
}

/* Of copies and sets: the ranges of a part, and whether the record as a whole has their bytes. */
static struct {
    size_t children, reads, writes, whole;
    bool in_order;
} moved;

static void done_moving(void *user, const struct device_trace_launch *launch)
{
    (void)user;
    memset(&moved, 0, sizeof moved);
    moved.in_order = true;
    for (size_t i = 0; i < launch->count; i++)
        moved.whole += launch->ranges[i].kind == DEVICE_TRACE_WRITE;
    for (size_t i = 0; i < launch->part_count; i++) {
        const struct device_trace_part *part = &launch->parts[i];
        if (!part->child)
            continue;
        const bool copies = strcmp(part->kernel, "cudaMemcpyAsync") == 0;
        assert_true(copies || strcmp(part->kernel, "cudaMemsetAsync") == 0);
        moved.in_order &= copies == (moved.children == 0);
        moved.children++;
        for (size_t k = 0; k < part->count; k++) {
            const struct device_trace_range *range = &part->ranges[k];
            moved.reads += range->kind == DEVICE_TRACE_READ;
            moved.writes += range->kind == DEVICE_TRACE_WRITE;
            if (range->kind == DEVICE_TRACE_READ) {
                assert_int_equal(range->address, logged);
                assert_int_equal(range->bytes, 8);
                assert_int_equal(range->count[0], 3);
                assert_int_equal(range->stride[0], 16);
            }
        }
    }
}

static void copies_and_sets_are_parts(void **state)
{
    (void)state;
    CUmodule moving;
    CUfunction function;
    void *parameters[] = {&logged};
    const uint64_t before[6] = {1, 2, 3, 4, 5, 6};
    ok(cuModuleLoadData(&moving, moving_text));
    ok(cuModuleGetFunction(&function, moving, "moves"));
    ok(cuMemcpyHtoD(logged, before, sizeof before));
    ok(cuCtxSynchronize()); /* the stream does not wait for the copy */
    device_trace_subscribe(done_moving, NULL);
    ok(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    const uint64_t *found = numbers();
    device_trace_subscribe(NULL, NULL);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(found[32 + 4 * i], before[2 * i]);
        assert_int_equal(found[33 + 4 * i], 0);
        assert_int_equal(found[2 * i], 0);
    }
    assert_int_equal(moved.children, 2);
    assert_true(moved.in_order);
    assert_int_equal(moved.reads, 1);
    assert_int_equal(moved.writes, 2);
    assert_int_equal(moved.whole, 2); /* three words, and six beside each other */
    ok(cuModuleUnload(moving));
}

int main(int count, char **arguments)
{
    (void)count;
    if (!test_schedule())
        return test_under_each_schedule(arguments);
#define TEST(name) cmocka_unit_test_setup(name, set_up)
    const struct CMUnitTest tests[] = {
        TEST(one_stream_is_in_order),
        TEST(tails_come_last_and_in_order),
        TEST(tails_go_on),
        TEST(wrong_launches_are_errors),
        TEST(a_trace_has_parts),
        TEST(copies_and_sets_are_parts),
    };
    return cmocka_run_group_tests_name("device_children", tests, start, NULL);
}
