/* The execution engine on hand-written PTX: what nvcc seldom or never writes. */
#include "tests/unit/device/exec/exec_harness.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define ENTRY(name)                                                                                \
    ".visible .entry " name "(.param .u64 out)\n{\n"                                               \
    ".reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p<9>;\n"                     \
    "ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4;\n"                    \
    "add.s64 %d1, %d0, %d1;\n"
#define STORE(value) "st.global.b32 [%d1], " value ";\n"

static struct harness h;
static uint64_t out;
static uint32_t *values;

static void open_text(const char *text)
{
    harness_open_text(&h, text);
    out = harness_allocate(&h, 4096);
    values = harness_host(&h, out);
}

static void run(const char *kernel, uint32_t threads)
{
    memset(values, 0, 4096);
    harness_run(&h, kernel, 1, threads, 0, ARGUMENTS(&out));
}

static enum exec_fault_kind fault_of(const char *kernel, uint32_t threads)
{
    enum exec_status status = harness_launch(&h, kernel, 1, threads, 0, ARGUMENTS(&out));
    assert_int_equal(status, EXEC_FAULT);
    return h.fault.kind;
}

static void leaves_lane_by_lane(void **unused)
{
    (void)unused;
    open_text(
        HEAD ENTRY("exits") "setp.lt.u32 %p1, %r0, 5; @%p1 exit;\n"
                            "mov.u32 %r1, 1;" STORE(
                                "%r1") "setp.gt.u32 %p1, %r0, 20; @%p1 ret;\n"
                                       "activemask.b32 %r1;" STORE("%r1") "ret;\n}\n" ENTRY(
                                           "vote_after") "setp.lt.u32 %p1, %r0, 3; @%p1 exit;\n"
                                                         "setp.ge.u32 %p2, %r0, 3;\n"
                                                         "vote.sync.all.pred %p3, %p2, -1; "
                                                         "vote.sync.ballot.b32 %r1, %p2, -1;\n"
                                                         "selp.u32 %r2, 1, 0, %p3; add.u32 %r1, "
                                                         "%r1, %r2;\n" STORE("%r1") "ret;\n}\n"
        /* some lanes leave while others already wait for them */
        ENTRY("leave_late") "setp.lt.u32 %p1, %r0, 8; @%p1 bra go;\n"
                            "bar.warp.sync 0xffffffff; mov.u32 %r1, 5;" STORE(
                                "%r1") "ret;\n"
                                       "go: mov.u32 %r2, 0;\n"
                                       "loop: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 100; @%p2 "
                                       "bra loop;\n" STORE("%r2") "exit;\n}\n");
    run("exits", 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(values[i], i < 5 ? 0 : i > 20 ? 1 : 0x1fffe0);
    run("vote_after", 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(values[i], i < 3 ? 0 : 0xfffffff8u + 1);
    run("leave_late", 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(values[i], i < 8 ? 100 : 5);
    harness_close(&h);
}

static void distinguishes_spaces(void **unused)
{
    (void)unused;
    open_text(HEAD ".global .b32 g = 11; .const .b32 k = 22;\n" ENTRY(
        "spaces") ".shared .b32 s; .local .b32 l;\n"
                  "mov.u64 %d2, g; cvta.global.u64 %d2, %d2; mov.u64 %d3, k; cvta.const.u64 %d3, "
                  "%d3;\n"
                  "mov.u64 %d4, s; cvta.shared.u64 %d4, %d4; mov.u64 %d5, l; cvta.local.u64 %d5, "
                  "%d5;\n"
                  "st.shared.b32 [s], 33; st.local.b32 [l], 44;\n"
                  "ld.b32 %r2, [%d2]; ld.b32 %r3, [%d3]; ld.b32 %r4, [%d4]; ld.b32 %r5, [%d5];\n"
                  "st.b32 [%d4], 34; ld.shared.b32 %r6, [s];\n"
                  "cvta.to.local.u64 %d6, %d5; ld.local.b32 %r7, [%d6];\n"
                  "isspacep.global %p1, %d2; isspacep.const %p2, %d3; isspacep.shared %p3, %d4;\n"
                  "isspacep.local %p4, %d5; isspacep.shared %p5, %d5; isspacep.global %p6, %d4;\n"
                  "and.pred %p1, %p1, %p2; and.pred %p1, %p1, %p3; and.pred %p1, %p1, %p4;\n"
                  "or.pred %p5, %p5, %p6; selp.u32 %r8, 1, 0, %p1; selp.u32 %r9, 1, 0, %p5;\n"
                  "st.global.v4.b32 [%d0], {%r2, %r3, %r4, %r5};\n"
                  "st.global.v4.b32 [%d0+16], {%r6, %r7, %r8, %r9}; ret;\n}\n");
    run("spaces", 1);
    static const uint32_t expected[] = {11, 22, 33, 44, 34, 44, 1, 0};
    for (int i = 0; i < 8; i++)
        assert_int_equal(values[i], expected[i]);
    harness_close(&h);
}

static void knows_where_threads_are(void **unused)
{
    (void)unused;
    open_text(HEAD ENTRY(
        "where") "mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z; mov.u32 %r3, %ctaid.x; mov.u32 %r4, "
                 "%ctaid.y;\n"
                 "mov.u32 %r5, %ntid.x; mov.u32 %r6, %ntid.y; mov.u32 %r7, %nctaid.x;\n"
                 "mov.u32 %r8, %laneid; mov.u32 %r9, %lanemask_lt; mov.u32 %r10, %warpid;\n"
                 "mad.lo.u32 %r11, %r2, %r6, %r1; mad.lo.u32 %r11, %r11, %r5, %r0;\n" /* in the
                                                                                         block */
                 "mad.lo.u32 %r12, %r4, %r7, %r3;\n"
                 "mad.lo.u32 %r13, %r12, 60, %r11;\n"
                 "mul.wide.u32 %d2, %r13, 4; add.s64 %d2, %d0, %d2;\n"
                 "mad.lo.u32 %r14, %r10, 32, %r8; popc.b32 %r15, %r9; mad.lo.u32 %r14, %r15, 100, "
                 "%r14;\n"
                 "mad.lo.u32 %r14, %r13, 10000, %r14;\n"
                 "st.global.b32 [%d2], %r14; ret;\n}\n");
    struct exec_launch launch = {.image = h.image,
                                 .kernel = harness_kernel(&h, "where"),
                                 .grid = {3, 2, 1},
                                 .block = {5, 4, 3},
                                 .params = &out,
                                 .memory = {harness_find, &h, h.window}};
    exec_state *state = exec_begin(&launch, h.message, sizeof h.message);
    assert_non_null(state);
    assert_int_equal(exec_step(state, 1 << 20), EXEC_DONE);
    exec_end(state);
    for (uint32_t i = 0; i < 360; i++)
        assert_int_equal(values[i], i * 10000 + i % 60 % 32 * 100 + i % 60);
    harness_close(&h);
}

static void faults_where_it_should(void **unused)
{
    (void)unused;
    open_text(HEAD ENTRY(
        "shared_beyond") ".shared .b32 s[4]; mov.u64 %d2, s; ld.shared.b32 %r1, "
                         "[%d2+2000000]; ret;\n}\n" ENTRY(
                             "write_param") "mov.b64 %d2, out; cvta.param.u64 %d2, %d2; "
                                            "ld.b64 %d3, [%d2];\n"
                                            "st.b64 [%d2], %d3; ret;\n}\n" ENTRY(
                                                "bad_call") "mov.u64 %d2, 1234;\n"
                                                            "proto: .callprototype _ "
                                                            "();\ncall %d2, proto; "
                                                            "ret;\n}\n" ENTRY(
                                                                "odd_"
                                                                "vector") "add.s64 %d2, "
                                                                          "%d0, 8; "
                                                                          "ld.global.v4."
                                                                          "b32 "
                                                                          "{%r1,%r2,%r3,%"
                                                                          "r4}, [%d2]; "
                                                                          "ret;\n}"
                                                                          "\n" ENTRY(
                                                                              "hal"
                                                                              "f_"
                                                                              "out"
                                                                              "sid"
                                                                              "e") "add.s64 "
                                                                                   "%d2, "
                                                                                   "%d0, "
                                                                                   "4092; "
                                                                                   "ld."
                                                                                   "global."
                                                                                   "b32 "
                                                                                   "%r1, "
                                                                                   "[%d2];\n"
                                                                                   "ld."
                                                                                   "global."
                                                                                   "b64 "
                                                                                   "%d3, "
                                                                                   "[%d2+4];"
                                                                                   " ret;\n}"
                                                                                   "\n" ENTRY(
                                                                                       "table") "t:"
                                                                                                " ."
                                                                                                "br"
                                                                                                "an"
                                                                                                "ch"
                                                                                                "ta"
                                                                                                "rg"
                                                                                                "et"
                                                                                                "s "
                                                                                                "a,"
                                                                                                " b"
                                                                                                ";"
                                                                                                "\n"
                                                                                                "ad"
                                                                                                "d."
                                                                                                "u3"
                                                                                                "2 "
                                                                                                "%r"
                                                                                                "1,"
                                                                                                " %"
                                                                                                "r0"
                                                                                                ", "
                                                                                                "1;"
                                                                                                " b"
                                                                                                "rx"
                                                                                                ".i"
                                                                                                "dx"
                                                                                                " %"
                                                                                                "r1"
                                                                                                ", "
                                                                                                "t;"
                                                                                                " a"
                                                                                                ": "
                                                                                                "b:"
                                                                                                " r"
                                                                                                "et"
                                                                                                ";"
                                                                                                "\n"
                                                                                                "}"
                                                                                                "\n" ENTRY(
                                                                                                    "brea"
                                                                                                    "kpoi"
                                                                                                    "nt") "brkpt; ret;\n}\n");
    assert_int_equal(fault_of("shared_beyond", 1), EXEC_FAULT_OUT_OF_RANGE);
    assert_int_equal(fault_of("write_param", 1), EXEC_FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(fault_of("bad_call", 1), EXEC_FAULT_INVALID_PC);
    assert_int_equal(fault_of("odd_vector", 1), EXEC_FAULT_MISALIGNED_ADDRESS);
    assert_int_equal(fault_of("half_outside", 1), EXEC_FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(fault_of("table", 2), EXEC_FAULT_INVALID_PC);
    assert_int_equal(fault_of("breakpoint", 1), EXEC_FAULT_TRAP);
    harness_close(&h);
}

/* 28 bytes of an array of 16-byte alignment: NVVM loads elements 4 to 6 as a vector of four. */
static void rounds_shared_memory_up(void **unused)
{
    (void)unused;
    open_text(HEAD ".extern .shared .align 16 .b8 s[];\n" ENTRY(
        "last_vector") "st.shared.b32 [s+24], 7; ld.shared.v4.b32 {%r1,%r2,%r3,%r4}, [s+16];\n"
                       "st.global.b32 [%d0], %r3;\n"
                       "mov.u32 %r5, %dynamic_smem_size; st.global.b32 [%d0+4], %r5;\n"
                       "mov.u32 %r6, %total_smem_size; rem.u32 %r6, %r6, 128;\n"
                       "st.global.b32 [%d0+8], %r6; ret;\n}\n" ENTRY(
                           "next_vector") "ld.shared.b32 %r1, [s+32]; ret;\n}\n");
    memset(values, 0xff, 4096);
    harness_run(&h, "last_vector", 1, 1, 28, ARGUMENTS(&out));
    assert_int_equal(values[0], 7);
    assert_int_equal(values[1], 28);
    assert_int_equal(values[2], 0);
    assert_int_equal(harness_launch(&h, "next_vector", 1, 1, 28, ARGUMENTS(&out)), EXEC_FAULT);
    harness_close(&h);
}

/* Lanes that are in different calls of one function, or at different instructions, still
 * reconverge. */
static void meets_across_calls(void **unused)
{
    (void)unused;
    open_text(
        HEAD
        ".func (.param .b32 r) swap(.param .b32 x)\n{\n.reg .b32 %r<3>;\n"
        "ld.param.b32 %r0, [x]; shfl.sync.bfly.b32 %r1, %r0, 16, 31, -1;\n"
        "st.param.b32 [r], %r1; ret;\n}\n" ENTRY(
            "calls") "setp.lt.u32 %p1, %r0, 16; @%p1 bra low;\n"
                     "{ .param .b32 a; .param .b32 b; add.u32 %r1, %r0, 100; st.param.b32 [a], "
                     "%r1;\n"
                     "call (b), swap, (a); ld.param.b32 %r2, [b]; }\n"
                     "bra done;\n"
                     "low: { .param .b32 a; .param .b32 b; add.u32 %r1, %r0, 200; st.param.b32 "
                     "[a], %r1;\n"
                     "call (b), swap, (a); ld.param.b32 %r2, [b]; }\n"
                     "done:" STORE("%r2") "ret;\n}\n" ENTRY(
                         "elects") "setp.gt.u32 %p1, %r0, 6; @!%p1 bra end;\n"
                                   "elect.sync %r1|%p2, 0xffffff80; selp.u32 %r2, 1000, 0, %p2; "
                                   "add.u32 %r2, %r2, %r1;\n" STORE("%r2") "end: ret;\n}\n" ENTRY(
                                       "matches") "cvt.u64.u32 %d2, %r0; shr.u64 %d2, %d2, 3; "
                                                  "shl.b64 %d2, %d2, 40;\n"
                                                  "match.any.sync.b64 %r1, %d2, -1;\n" STORE(
                                                      "%r1") "ret;\n}\n");
    run("calls", 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(values[i], i < 16 ? i + 16 + 100 : i - 16 + 200);
    run("elects", 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(values[i], i < 7 ? 0 : i == 7 ? 1007 : 7);
    run("matches", 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(values[i], 0xffu << (i / 8 * 8));
    harness_close(&h);
}

/* Every source lane of every shuffle mode against section 9.7.9.6's own words. */
static void shuffles_by_the_book(void **unused)
{
    (void)unused;
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    char text[4096];
    for (int mode = 0; mode < 4; mode++) {
        for (uint32_t b = 0; b < 32; b += 3) {
            for (uint32_t width = 4; width <= 32; width *= 2) {
                uint32_t c = (32 - width) << 8 | (mode == 0 ? 0 : 31);
                snprintf(text, sizeof text,
                         HEAD "%s shfl.sync.%s.b32 %%r1|%%p1, %%r0, %u, %u, -1;\n"
                              "selp.u32 %%r2, 100, 0, %%p1; add.u32 %%r1, %%r1, %%r2;\n"
                              "%s ret;\n}\n",
                         ENTRY("k"), modes[mode], b, c, STORE("%r1"));
                open_text(text);
                run("k", 32);
                for (int lane = 0; lane < 32; lane++) {
                    int first = lane / (int)width * (int)width, last = first + (int)width - 1;
                    int from = mode == 0   ? lane - (int)b
                               : mode == 1 ? lane + (int)b
                               : mode == 2 ? lane ^ (int)b
                                           : first + (int)(b % width);
                    bool inside = mode == 0 ? from >= first : from <= last;
                    assert_int_equal(values[lane], inside ? from + 100 : lane);
                }
                harness_close(&h);
            }
        }
    }
}

/* Whatever slice ends where: an instruction with a guard is for its lanes only. */
static void guards_hold_over_slices(void **unused)
{
    (void)unused;
    open_text(HEAD ENTRY("guarded") "and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0;\n"
                                    "mov.u32 %r2, 10; mov.u32 %r3, 0;\n"
                                    "loop: @%p1 add.u32 %r2, %r2, 1; @!%p1 add.u32 %r2, %r2, 100;\n"
                                    "@%p1 st.global.b32 [%d1], %r2;\n"
                                    "add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 50;\n"
                                    "@%p2 bra loop;\n"
                                    "@!%p1 st.global.b32 [%d1], %r2; ret;\n}\n");
    for (uint64_t budget = 1; budget < 40; budget++) {
        h.budget = budget;
        run("guarded", 32);
        for (uint32_t i = 0; i < 32; i++)
            assert_int_equal(values[i], i % 2 ? 5010 : 60);
    }
    harness_close(&h);
}

/* A negated guard of what changes the flow: its other lanes go on right behind it, however many
 * micro-operations the instructions before it became. */
static void negated_guards_go_on_behind(void **unused)
{
    (void)unused;
    open_text(HEAD ENTRY(
        "leaves") "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y; mov.u32 %r5, %ctaid.z;\n"
                  "mov.u32 %r6, %ntid.x; mov.u32 %r7, %ntid.y; mov.u32 %r8, %ntid.z;\n"
                  "setp.lt.u32 %p1, %r0, 5; mov.u32 %r1, 1;\n" STORE(
                      "%r1") "@!%p1 exit; bra one;\none: mov.u32 %r2, 7; bra two;\n"
                             "two: add.u32 %r2, %r2, 1;" STORE(
                                 "%r2") "bra three;\n"
                                        "three: add.u32 %r2, %r2, 1;" STORE("%r2") "ret;\n}\n");
    run("leaves", 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(values[i], i < 5 ? 9 : 1);
    harness_close(&h);
}

/* Where dynamic shared memory begins does not hang on the shared variables of the module's other
 * kernels: swizzles of 128 bytes need a multiple of 1024. */
static void dynamic_shared_memory_is_aligned(void **unused)
{
    (void)unused;
    open_text(HEAD ".extern .shared .align 16 .b8 dynamic[];\n" ENTRY(
        "other") ".shared .align 4 .b8 "
                 "x[20];\nst.shared.b32 [x], "
                 "%r0; ret;\n}\n" ENTRY("begins") "mov.u32 %r1, "
                                                  "dynamic; "
                                                  "and.b32 %r1, "
                                                  "%r1, "
                                                  "1023;" STORE("%r"
                                                                "1") "ret;\n}\n");
    memset(values, 0xff, 4096);
    harness_run(&h, "begins", 1, 32, 2048, ARGUMENTS(&out));
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(values[i], 0);
    harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_lane_by_lane),
        cmocka_unit_test(distinguishes_spaces),
        cmocka_unit_test(knows_where_threads_are),
        cmocka_unit_test(faults_where_it_should),
        cmocka_unit_test(rounds_shared_memory_up),
        cmocka_unit_test(meets_across_calls),
        cmocka_unit_test(shuffles_by_the_book),
        cmocka_unit_test(guards_hold_over_slices),
        cmocka_unit_test(negated_guards_go_on_behind),
        cmocka_unit_test(dynamic_shared_memory_is_aligned),
    };
    return harness_run_tests(tests);
}
