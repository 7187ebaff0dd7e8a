/* What the embedded device reports of a kernel that failed: which thread did what with which
 * address, on which line; and which addresses are nobody's. The kernels are PTX text, so that lines
 * and accesses are known here. Runs once under each scheduling policy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cuda.h>
#include "tests/unit/device/test_schedules.h"
#include <stdbool.h>
#include <string.h>

#include "runtime/device/driver/failure.h"
#include "runtime/trace/trace.h"

#define ok(call) assert_int_equal((call), CUDA_SUCCESS)

#define HEAD  ".version 8.0\n.target sm_90\n.address_size 64\n"
#define FILES "\n.file 1 \"/src/kernels.cu\"\n.file 2 \"/src/inlined.cuh\"\n"
#define ENTRY(name)                                                                                \
    "\n.visible .entry " name "(.param .u64 p, .param .u64 q)\n{\n"                                \
    ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %d<8>;\n"                       \
    "ld.param.u64 %d0, [p]; ld.param.u64 %d1, [q]; mov.u32 %r0, %tid.x;\n"                         \
    "mul.wide.u32 %d2, %r0, 4; add.u64 %d3, %d0, %d2;\n"

static const char kernels[] =
    HEAD ".global .align 1 .b8 text[6] = {119, 114, 111, 110, 103, 0};\n"
         ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d,\n"
         "    .param .b64 e) .noreturn;\n"
         ".func stores(.param .b64 where)\n{\n.reg .b64 %d<2>;\nld.param.b64 %d0, [where];\n"
         ".loc 1 77 3\nst.v2.u64 [%d0], {%d0, %d0};\nret;\n}\n"
         ".func recurses(.param .b64 n)\n{\n.local .b8 big[4096];\n.reg .b64 %d<4>;\n"
         "ld.param.b64 %d0, [n];\nmov.u64 %d1, big;\nst.local.u64 [%d1], %d0;\n"
         ".loc 1 88 3\n{\n.param .b64 n0;\nst.param.b64 [n0], %d0;\ncall recurses, (n0);\n}\n"
         "ld.local.u64 %d2, [%d1];\nret;\n}\n"
    /* global memory */
    ENTRY("reads") ".loc 1 10 5\nld.global.v4.f32 {%f0,%f1,%f2,%f3}, [%d0];\nret;\n}\n" ENTRY(
        "writes") ".loc 1 20 5\n.loc 2 21 5, function_name $L, inlined_at 1 22 5\n"
                  "st.global.u32 [%d3], %r0;\nret;\n}\n" ENTRY(
                      "adds") ".loc 1 30 "
                              "5\nred.global.add.u64 "
                              "[%d0], "
                              "%d0;\nret;\n}\n" ENTRY(
                                  "copies") ".shared "
                                            ".align 16 "
                                            ".b8 "
                                            "s[16];\nmov."
                                            "u32 %r1, s;\n"
                                            ".loc 1 40 "
                                            "5\ncp.async."
                                            "ca.shared."
                                            "global "
                                            "[%r1], "
                                            "[%d0], "
                                            "16;\nret;\n}"
                                            "\n" ENTRY("no"
                                                       "_l"
                                                       "in"
                                                       "e"
                                                       "s") "st.global.u8 [%d0], "
                                                            "%r0;\nret;\n}\n" ENTRY("calls") "{\n."
                                                                                             "param"
                                                                                             " ."
                                                                                             "b64 "
                                                                                             "where"
                                                                                             ";\nst"
                                                                                             ".para"
                                                                                             "m."
                                                                                             "b64 "
                                                                                             "[wher"
                                                                                             "e], "
                                                                                             "%d0;"
                                                                                             "\n"
                                                                                             ".loc "
                                                                                             "1 45 "
                                                                                             "5\nca"
                                                                                             "ll "
                                                                                             "store"
                                                                                             "s, "
                                                                                             "(wher"
                                                                                             "e);"
                                                                                             "\n}"
                                                                                             "\nret"
                                                                                             ";\n}"
                                                                                             "\n"
    /* other ends */
    ENTRY("traps") "setp.lt.u32 %p0, %r0, 36;\n@%p0 ret;\n.loc 1 50 5\ntrap;\n}\n" ENTRY(
        "asserts") "setp.ne.u32 %p0, %r0, 3;\n@%p0 ret;\nmov.u64 %d4, text;\n"
                   "cvta.global.u64 %d4, %d4;\n{\n.param .b64 a; .param .b64 b; .param .b32 c;\n"
                   ".param .b64 d; .param .b64 e;\nst.param.b64 [a], %d4; st.param.b64 [b], %d4;\n"
                   "st.param.b32 [c], 60; st.param.b64 [d], %d4; st.param.b64 [e], 1;\n"
                   ".loc 1 60 5\ncall __assertfail, (a, b, c, d, e);\n}\nret;\n}\n" ENTRY(
                       "jumps") "{\nproto: .callprototype _ ();\n.loc 1 70 5\ncall %d0, (), "
                                "proto;\n}\nret;\n}\n" ENTRY("nests") "{\n.param .b64 "
                                                                      "n;\nst.param.b64 [n], "
                                                                      "%d0;\ncall recurses, "
                                                                      "(n);\n}\nret;\n}\n" ENTRY(
                                                                          "waits") "setp.lt.u32 "
                                                                                   "%p0, %r0, "
                                                                                   "32;\n@%p0 "
                                                                                   "bar.sync 1, "
                                                                                   "64;\n@!%p0 "
                                                                                   "bar.sync 2, "
                                                                                   "64;\nret;\n}"
                                                                                   "\n" FILES;

static CUcontext own;
static CUmodule module;

/* What the subscriber received; its strings are gone when it returns. */
static struct {
    struct device_failure failure;
    char what[64], kernel[64], function[64], file[64], message[512];
    int calls, traced;
    uint64_t traced_before; /* launches whose trace ended before the failure was reported */
} seen;

static void keep(char *to, const char *from)
{
    strcpy(to, from ? from : "(none)");
}

static void note_failure(void *user, const struct device_failure *failure)
{
    assert_ptr_equal(user, &seen);
    seen.failure = *failure;
    keep(seen.what, failure->what);
    keep(seen.kernel, failure->kernel);
    keep(seen.function, failure->function);
    keep(seen.file, failure->file);
    keep(seen.message, failure->message);
    seen.calls++;
    seen.traced_before = (uint64_t)seen.traced;
}

static void note_launch(void *user, const struct device_trace_launch *launch)
{
    (void)user;
    (void)launch;
    seen.traced++;
}

static int start(void **state)
{
    (void)state;
    ok(cuInit(0));
    ok(cuCtxCreate(&own, NULL, 0, 0));
    ok(cuModuleLoadData(&module, kernels));
    memset(&seen, 0, sizeof seen);
    device_failure_subscribe(note_failure, &seen);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    device_failure_subscribe(NULL, NULL);
    ok(cuCtxDestroy(own));
    return 0;
}

static CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr memory;
    ok(cuMemAlloc(&memory, bytes));
    return memory;
}

/* One block of `threads`, which fails with `code` and is reported once. */
static void fails(const char *name, unsigned threads, CUdeviceptr p, CUresult code,
                  const char *what)
{
    CUfunction function;
    CUdeviceptr q = 0;
    void *params[] = {&p, &q};
    ok(cuModuleGetFunction(&function, module, name));
    ok(cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, NULL, params, NULL));
    uint64_t launch = device_trace_last_launch();
    assert_int_equal(cuCtxSynchronize(), code);
    assert_int_equal(cuCtxSynchronize(), code);
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.failure.code, code);
    assert_int_equal(seen.failure.launch, launch);
    assert_int_equal(seen.failure.device, 0);
    assert_int_equal(seen.failure.grid[0], 1);
    assert_int_equal(seen.failure.block_size[0], threads);
    assert_int_equal(seen.failure.block_size[1], 1);
    assert_string_equal(seen.kernel, name);
    assert_string_equal(seen.what, what);
    assert_non_null(strstr(seen.message, name));
    assert_non_null(strstr(seen.message, what));
}

static void is_thread(unsigned thread, uint64_t threads)
{
    assert_true(seen.failure.has_thread);
    assert_int_equal(seen.failure.block[0], 0);
    assert_int_equal(seen.failure.thread[0], thread);
    assert_int_equal(seen.failure.threads, threads);
}

static void is_access(int access, uint32_t bytes, uint64_t address)
{
    assert_true(seen.failure.has_address);
    assert_int_equal(seen.failure.access, access);
    assert_int_equal(seen.failure.bytes, bytes);
    assert_int_equal(seen.failure.address, address);
}

static void is_at(const char *file, uint32_t line)
{
    assert_string_equal(seen.file, file);
    assert_int_equal(seen.failure.line, line);
}

static void reports_reads(void **state)
{
    (void)state;
    fails("reads", 2, 4096, CUDA_ERROR_ILLEGAL_ADDRESS, "illegal memory access");
    is_thread(0, 2);
    is_access(DEVICE_FAILURE_READ, 16, 4096);
    is_at("/src/kernels.cu", 10);
    assert_string_equal(seen.function, "(none)");
}

/* The line of code that was inlined is its own; five threads are outside. */
static void reports_writes(void **state)
{
    (void)state;
    CUdeviceptr p = allocate(256);
    fails("writes", 69, p, CUDA_ERROR_ILLEGAL_ADDRESS, "illegal memory access");
    is_thread(64, 5);
    is_access(DEVICE_FAILURE_WRITE, 4, p + 256);
    is_at("/src/inlined.cuh", 21);
}

static void reports_atomics(void **state)
{
    (void)state;
    fails("adds", 1, 64, CUDA_ERROR_ILLEGAL_ADDRESS, "illegal memory access");
    is_thread(0, 1);
    is_access(DEVICE_FAILURE_ATOMIC, 8, 64);
    is_at("/src/kernels.cu", 30);
}

/* Of a copy the half that failed: global memory is read. */
static void reports_copies(void **state)
{
    (void)state;
    fails("copies", 1, 128, CUDA_ERROR_ILLEGAL_ADDRESS, "illegal memory access");
    is_access(DEVICE_FAILURE_READ, 16, 128);
    is_at("/src/kernels.cu", 40);
}

static void reports_without_lines(void **state)
{
    (void)state;
    fails("no_lines", 1, 0, CUDA_ERROR_ILLEGAL_ADDRESS, "illegal memory access");
    is_access(DEVICE_FAILURE_WRITE, 1, 0);
    is_at("(none)", 0);
}

static void reports_functions(void **state)
{
    (void)state;
    fails("calls", 1, 16, CUDA_ERROR_ILLEGAL_ADDRESS, "illegal memory access");
    is_access(DEVICE_FAILURE_WRITE, 16, 16);
    assert_string_equal(seen.function, "stores");
    is_at("/src/kernels.cu", 77);
}

static void reports_misaligned(void **state)
{
    (void)state;
    CUdeviceptr p = allocate(256);
    fails("reads", 3, p + 4, CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned memory access");
    is_thread(0, 3);
    is_access(DEVICE_FAILURE_READ, 16, p + 4);
    is_at("/src/kernels.cu", 10);
}

static void has_no_access(void)
{
    assert_int_equal(seen.failure.access, DEVICE_FAILURE_NO_ACCESS);
    assert_int_equal(seen.failure.bytes, 0);
}

static void reports_traps(void **state)
{
    (void)state;
    fails("traps", 64, 0, CUDA_ERROR_LAUNCH_FAILED, "trap");
    is_thread(36, 28);
    has_no_access();
    assert_false(seen.failure.has_address);
    is_at("/src/kernels.cu", 50);
}

static void reports_assertions(void **state)
{
    (void)state;
    fails("asserts", 64, 0, CUDA_ERROR_ASSERT, "failed assert");
    is_thread(3, 1);
    has_no_access();
    is_at("/src/kernels.cu", 60);
}

static void reports_bad_calls(void **state)
{
    (void)state;
    fails("jumps", 1, 12345, CUDA_ERROR_INVALID_PC, "call or jump to an address without code");
    is_thread(0, 1);
    has_no_access();
    assert_true(seen.failure.has_address);
    assert_int_equal(seen.failure.address, 12345);
    is_at("/src/kernels.cu", 70);
}

static void reports_stack_overflows(void **state)
{
    (void)state;
    fails("nests", 2, 1, CUDA_ERROR_ILLEGAL_ADDRESS, "stack overflow: calls nest too deep");
    is_thread(0, 2);
    has_no_access();
    assert_false(seen.failure.has_address);
    assert_string_equal(seen.function, "recurses");
    is_at("/src/kernels.cu", 88);
}

static void reports_deadlocks(void **state)
{
    (void)state;
    fails("waits", 64, 0, CUDA_ERROR_LAUNCH_FAILED,
          "deadlock: every thread waits for another at a barrier");
    assert_false(seen.failure.has_thread);
    assert_false(seen.failure.has_address);
    has_no_access();
    assert_string_equal(seen.file, "(none)");
    assert_null(strstr(seen.message, "thread ("));
}

static void graph_nodes_are_no_launches(void **state)
{
    (void)state;
    CUstream stream;
    CUgraph graph;
    CUgraphExec executable;
    CUfunction function;
    CUdeviceptr p = 0, q = 0;
    void *params[] = {&p, &q};
    ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ok(cuModuleGetFunction(&function, module, "no_lines"));
    ok(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ok(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    ok(cuStreamEndCapture(stream, &graph));
    ok(cuGraphInstantiate(&executable, graph, 0));
    ok(cuGraphLaunch(executable, stream));
    assert_int_equal(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.failure.launch, 0);
    assert_string_equal(seen.kernel, "no_lines");
}

/* An observer of traces still knows which launch failed. */
static void reports_before_the_trace_ends(void **state)
{
    (void)state;
    device_trace_subscribe(note_launch, NULL);
    fails("no_lines", 1, 0, CUDA_ERROR_ILLEGAL_ADDRESS, "illegal memory access");
    device_trace_subscribe(NULL, NULL);
    assert_int_equal(seen.traced, 1);
    assert_int_equal(seen.traced_before, 0);
}

/* ---- Memory that is nobody's ---------------------------------------------------------------- */

enum kind { PLAIN, ASYNC, MANAGED, PINNED, KINDS };

static CUdeviceptr allocate_kind(enum kind kind, size_t bytes)
{
    CUdeviceptr memory = 0;
    void *pinned = NULL;
    switch (kind) {
    case PLAIN:
        ok(cuMemAlloc(&memory, bytes));
        break;
    case ASYNC:
        ok(cuMemAllocAsync(&memory, bytes, NULL));
        break;
    case MANAGED:
        ok(cuMemAllocManaged(&memory, bytes, CU_MEM_ATTACH_GLOBAL));
        break;
    default:
        ok(cuMemAllocHost(&pinned, bytes));
        memory = (CUdeviceptr)pinned;
    }
    return memory;
}

static void free_kind(enum kind kind, CUdeviceptr memory)
{
    ok(kind == PINNED ? cuMemFreeHost((void *)memory) : cuMemFree(memory));
}

static void again(void)
{
    finish(NULL);
    start(NULL);
}

/* Allocations end at their last byte, whatever they are rounded up to. */
static void memory_ends_where_asked(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        CUdeviceptr p = allocate_kind(kind, 59 * 4);
        fails("writes", 64, p, CUDA_ERROR_ILLEGAL_ADDRESS, "illegal memory access");
        is_thread(59, 5);
        is_access(DEVICE_FAILURE_WRITE, 4, p + 59 * 4);
        again();
    }
}

static void neighbours_are_apart(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int before = 0; before < 2; before++) {
            allocate_kind(kind, 4096);
            CUdeviceptr p = allocate_kind(kind, 4096);
            allocate_kind(kind, 4096);
            CUdeviceptr outside = before ? p - 4 : p + 4096;
            fails("writes", 1, outside, CUDA_ERROR_ILLEGAL_ADDRESS, "illegal memory access");
            again();
        }
}

/* Stream-ordered memory is reused in stream order, as documented; freed at once, it is not. */
static void freed_memory_is_not_reused(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        if (kind == ASYNC)
            continue;
        CUdeviceptr freed = allocate_kind(kind, 4096);
        free_kind(kind, freed);
        for (int i = 0; i < 100; i++)
            assert_int_not_equal(allocate_kind(kind, 4096), freed);
        fails("writes", 1, freed, CUDA_ERROR_ILLEGAL_ADDRESS, "illegal memory access");
        again();
    }
}

static void copies_are_checked(void **state)
{
    (void)state;
    CUdeviceptr a = allocate(1000), b = allocate(4096), freed = allocate(4096);
    char host[2048] = {0};
    size_t before, after;
    CUstream stream;
    ok(cuMemFree(freed));
    ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ok(cuMemsetD8(a, 0, 1000));
    assert_int_equal(cuMemsetD8(a, 0, 1001), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemsetD8(a + 1000, 0, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemsetD8(b - 1, 0, 2), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemsetD8(freed, 0, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyDtoD(b, a, 1001), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyDtoD(a, b, 1001), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyHtoD(a + 1000, host, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyDtoHAsync(host, freed, 1, stream), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemFree(freed), CUDA_ERROR_INVALID_VALUE);
    ok(cuMemGetInfo(&before, &after));
    CUdeviceptr c = allocate(1000);
    ok(cuMemGetInfo(&after, NULL));
    assert_int_equal(before - after, 1024); /* no red zone */
    ok(cuMemFree(c));
    ok(cuMemGetInfo(&after, NULL));
    assert_int_equal(before, after); /* no quarantine */
}

/* ---- The two variables ---------------------------------------------------------------------- */

static void guards_can_be_left_out(void **state)
{
    (void)state;
    CUdeviceptr a = allocate(4096), b = allocate(4096);
    assert_int_equal(b, a + 4096);
    ok(cuMemFree(a));
    assert_int_equal(allocate(4096), a);
}

static void zones_can_be_larger(void **state)
{
    (void)state;
    CUdeviceptr a = allocate(256), b = allocate(256);
    assert_int_equal(b, a + 512 + 10240);
    ok(cuMemFree(a)); /* the quarantine is too small for it */
    assert_int_equal(allocate(256), a);
}

/* What cannot be read is said, and the usual is taken. */
static void unclear_sizes_are_the_usual(void **state)
{
    (void)state;
    CUdeviceptr a = allocate(256), b = allocate(256);
    assert_int_equal(b, a + 1024);
    ok(cuMemFree(a));
    assert_int_not_equal(allocate(256), a);
}

/* In a process of its own: a device reads its environment once. */
static int run_with(const char *redzone, const char *quarantine, void (*test)(void **))
{
    pid_t child = fork();
    if (child == 0) {
        setenv("CSAN_DEVICE_REDZONE", redzone, 1);
        setenv("CSAN_DEVICE_QUARANTINE", quarantine, 1);
        const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test, start, finish)};
        _exit(cmocka_run_group_tests_name("variables", tests, NULL, NULL));
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

static int run_with_variables(void)
{
    return run_with("0", "0", guards_can_be_left_out) | run_with("10K", "1K", zones_can_be_larger) |
           run_with("65M", "-1", unclear_sizes_are_the_usual) |
           run_with("many", "", unclear_sizes_are_the_usual);
}

/* With a subscriber the device itself prints nothing; without one, one line. */
static void prints_without_subscriber(void **state)
{
    (void)state;
    char text[1024] = "";
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    assert_non_null(file);
    dup2(fileno(file), STDERR_FILENO);
    fails("no_lines", 1, 0, CUDA_ERROR_ILLEGAL_ADDRESS, "illegal memory access");
    off_t silent = lseek(fileno(file), 0, SEEK_END);
    device_failure_subscribe(NULL, NULL);
    ok(cuCtxDestroy(own));
    ok(cuCtxCreate(&own, NULL, 0, 0));
    ok(cuModuleLoadData(&module, kernels));
    CUfunction function;
    CUdeviceptr p = 0, q = 0;
    void *params[] = {&p, &q};
    ok(cuModuleGetFunction(&function, module, "no_lines"));
    ok(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_int_equal(silent, 0);
    assert_int_equal(seen.calls, 1);
    assert_int_equal(strcspn(text, "\n"), length - 1);
    assert_ptr_equal(strstr(text, "csan device: kernel 'no_lines': "), text);
}

int main(int count, char **arguments)
{
    (void)count;
    if (!test_schedule())
        return test_under_each_schedule(arguments) | (run_with_variables() != 0);
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)
    const struct CMUnitTest tests[] = {
        TEST(reports_reads),
        TEST(reports_writes),
        TEST(reports_atomics),
        TEST(reports_copies),
        TEST(reports_without_lines),
        TEST(reports_functions),
        TEST(reports_misaligned),
        TEST(reports_traps),
        TEST(reports_assertions),
        TEST(reports_bad_calls),
        TEST(reports_stack_overflows),
        TEST(reports_deadlocks),
        TEST(graph_nodes_are_no_launches),
        TEST(reports_before_the_trace_ends),
        TEST(prints_without_subscriber),
        TEST(memory_ends_where_asked),
        TEST(neighbours_are_apart),
        TEST(freed_memory_is_not_reused),
        TEST(copies_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
