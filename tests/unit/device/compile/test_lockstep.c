/* Warps of compiled kernels that go from barrier to barrier together (exec_lockstep.h): memory is
 * the interpreter's behind each slice, whatever ends that they go together. What is right for a
 * barrier itself: test_exec.c. */
#include "runtime/device/compile/compile.h"
#include "runtime/device/exec/exec_engine.h"
#include "tests/unit/device/exec/exec_harness.h"

enum {
    THREADS = 160,       /* all warps are full */
    THREADS_FEWER = 104, /* the last one is not */
    BLOCKS = 2,
    BYTES = BLOCKS * THREADS * 4,
    SLICES_MOST = 200000
};

#define SHARED "2048"

/* %t: the thread in its block; %s: its word of shared memory; %x: a number that goes to memory. */
static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 out)\n{\n"
    ".reg .b32 %t, %s, %x, %y, %n, %b, %c; .reg .b64 %o, %a; .reg .pred %p, "
    "%q;\n.shared .align 16 .b8 m[" SHARED "];\n"
    "ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x;\n"
    "mov.u32 %c, %ntid.x; mad.lo.u32 %y, %b, %c, %t; mul.wide.u32 %a, %y, 4;"
    " add.s64 %o, %o, %a;\nshl.b32 %s, %t, 2; mov.u32 %x, m; add.u32 %s, %s, "
    "%x;\nmov.u32 %x, %y; mov.u32 %n, 9; setp.lt.u32 %q, %t, 32;\n";
static const char tail[] = "st.global.u32 [%o], %x;\nret;\n}\n";

#define EXCHANGE                                                                                   \
    "st.shared.u32 [%s], %x; bar.sync 0; ld.shared.u32 %y, [m+40]; mad.lo.u32 %x, %x, 3, %y;\n"    \
    "bar.sync 0; st.global.u32 [%o], %x;\n"
#define SPIN(rounds)                                                                               \
    "mov.u32 %c, " #rounds ";\nM: mad.lo.u32 %x, %x, 5, %c; sub.u32 %c, %c, 1;\n"                  \
    "setp.ne.u32 %p, %c, 0; @%p bra M;\n"
#define PART                                                                                       \
    "and.b32 %y, %t, 16; setp.eq.u32 %p, %y, 0; @%p bra M;\n"                                      \
    "add.u32 %x, %x, 9; ld.shared.u32 %y, [%s]; add.u32 %x, %x, %y; st.shared.u32 [%s], %x;\n"     \
    "M: bar.sync 0; ld.shared.u32 %y, [m+100]; add.u32 %x, %x, %y; bar.sync 0;\n"
/* Rows, the last of which ends with shared memory; or so many bytes behind it. In each warp 14
 * lanes have one more. */
#define ROWS(all, part)                                                                            \
    "mov.u32 %b, %ntid.x; shl.b32 %c, %b, 2; sub.u32 %c, " SHARED ", %c; add.u32 %c, %c, %s;\n"    \
    "ld.shared.u32 %y, [%c+" #all "]; add.u32 %x, %x, %y; bar.sync 0;\n"                           \
    "and.b32 %y, %t, 31; setp.gt.u32 %p, %y, 13; @%p bra M;\n"                                     \
    "ld.shared.u32 %y, [%c+72+" #part "]; add.u32 %x, %x, %y; st.shared.u32 [%c+72+" #part         \
    "], %x;\nM: add.u32 %x, %x, 1; bar.sync 0;\n"
#define WIDE_ROWS(all, part)                                                                       \
    "mov.u32 %b, %ntid.x; shl.b32 %c, %b, 3; sub.u32 %c, " SHARED ", %c; shl.b32 %y, %t, 2;\n"     \
    "add.u32 %c, %c, %y; add.u32 %c, %c, %s; cvt.u64.u32 %a, %x; st.shared.u64 [%c+" #all          \
    "], %a; bar.sync 0;\n"                                                                         \
    "and.b32 %y, %t, 31; setp.gt.u32 %p, %y, 13; @%p bra M;\n"                                     \
    "ld.shared.u64 %a, [%c+144+" #part "]; st.shared.u64 [%c+144+" #part "], %a;\n"                \
    "M: cvt.u32.u64 %y, %a; add.u32 %x, %x, %y; bar.sync 0;\n"
#define AGAIN "sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra L;\n"

static const struct {
    const char *what, *body;
    enum exec_status status;
} cases[] = {
    {"all of them", "L: " EXCHANGE AGAIN, EXEC_DONE},
    {"two numbers", "L: " EXCHANGE "bar.sync 3; add.u32 %x, %x, 1; bar.sync 5;\n" AGAIN, EXEC_DONE},
    {"some threads compute", "L: @!%q bra M;\nadd.u32 %x, %x, 7;\nM: " EXCHANGE AGAIN, EXEC_DONE},
    {"each part has its own instruction",
     "L: " EXCHANGE "@%q bra M;\nbar.sync 0; bra N;\nM: bar.sync 0;\nN: " AGAIN, EXEC_DONE},
    {"a warp leaves",
     "L: " EXCHANGE "setp.eq.u32 %p, %n, 4; and.pred %p, %p, %q; @%p bra M;\n" AGAIN "M:\n",
     EXEC_DONE},
    {"lanes leave",
     "L: " EXCHANGE "and.b32 %y, %t, 15; setp.eq.u32 %p, %y, %n; @%p bra M;\n" AGAIN "M:\n",
     EXEC_DONE},
    {"somebody arrives alone",
     "L: " EXCHANGE "@!%q bra M;\nbar.arrive 2, 64; bra N;\nM: setp.ge.u32 %p, %t, 64; @%p bra N;\n"
     "bar.sync 2, 64;\nN: " AGAIN,
     EXEC_DONE},
    {"some wait elsewhere",
     "L: " EXCHANGE "setp.eq.u32 %p, %n, 3; and.pred %p, %p, %q; @%p bra M;\n" AGAIN
     "bra N;\nM: bar.sync 1;\nN:\n",
     EXEC_FAULT},
    {"together longer than a turn", "L: " EXCHANGE SPIN(300) AGAIN, EXEC_DONE},
    {"each longer than a turn", "L: " EXCHANGE SPIN(1500) AGAIN, EXEC_DONE},
    {"an address fails in one warp",
     "L: " EXCHANGE
     "setp.eq.u32 %p, %n, 5; and.pred %p, %p, %q; selp.u32 %s, 0x10000, %s, %p;\n" AGAIN,
     EXEC_FAULT},
    {"lanes part for a short way", "L: " EXCHANGE PART AGAIN, EXEC_DONE},
    {"an address fails where lanes part",
     "L: " EXCHANGE "shr.u32 %y, %t, 5; setp.eq.u32 %p, %n, 5; setp.eq.and.u32 %p, %y, 2, %p;\n"
     "selp.u32 %s, 0x10000, %s, %p;\n" PART AGAIN,
     EXEC_FAULT},
    {"rows up to the end of memory", "L: " EXCHANGE ROWS(0, 0) AGAIN, EXEC_DONE},
    {"the last row ends behind it", "L: " EXCHANGE ROWS(4, 0) AGAIN, EXEC_FAULT},
    {"a part of a row ends behind it", "L: " EXCHANGE ROWS(0, 4) AGAIN, EXEC_FAULT},
    {"rows of 8 bytes", "L: " EXCHANGE WIDE_ROWS(0, 0) AGAIN, EXEC_DONE},
    {"the last of them ends behind it", "L: " EXCHANGE WIDE_ROWS(8, 0) AGAIN, EXEC_FAULT},
    {"a part of one ends behind it", "L: " EXCHANGE WIDE_ROWS(0, 8) AGAIN, EXEC_FAULT},
    {"a word behind it", "L: " EXCHANGE "ld.shared.u32 %y, [m+" SHARED "];\n" AGAIN, EXEC_FAULT},
    {"an address fails",
     "L: " EXCHANGE "setp.eq.u32 %p, %n, 5; selp.u32 %s, 0x10000, %s, %p;\n" AGAIN, EXEC_FAULT},
};

struct outcome {
    enum exec_status status;
    uint32_t slices;
    uint64_t hash, instructions;
    char message[sizeof((struct exec_fault *)0)->message];
};

static struct outcome run(const char *text, bool compiled, uint32_t threads, uint64_t budget)
{
    struct harness h;
    struct outcome outcome = {.hash = 5381};
    char message[512];
    uint64_t warps;
    compile_start(COMPILE_OFF);
    harness_open_text(&h, text);
    const uint64_t out = harness_allocate(&h, BYTES);
    memset(harness_host(&h, out), 0, BYTES);
    exec_image *image = exec_image_create(h.module, 0, 0);
    compile_start(compiled ? COMPILE_ALWAYS : COMPILE_OFF);
    const struct exec_launch launch = {.image = image,
                                       .kernel = harness_kernel(&h, "k"),
                                       .grid = {BLOCKS, 1, 1},
                                       .block = {threads, 1, 1},
                                       .params = &out,
                                       .memory = {harness_find, &h, h.window, NULL, NULL}};
    exec_state *state = exec_begin(&launch, message, sizeof message);
    assert_non_null(state);
    do {
        outcome.status = exec_step(state, budget);
        for (const uint8_t *at = harness_host(&h, out), *end = at + BYTES; at < end; at++)
            outcome.hash = outcome.hash * 33 + *at;
    } while (outcome.status == EXEC_RUNNING && ++outcome.slices < SLICES_MOST);
    exec_counts(state, &warps, &outcome.instructions);
    memcpy(outcome.message, exec_fault(state)->message, sizeof outcome.message);
    exec_end(state);
    exec_image_release(image);
    compile_start(COMPILE_OFF);
    harness_close(&h);
    return outcome;
}

static void each_slice_leaves_what_the_interpreter_leaves(void **unused)
{
    static const uint64_t budgets[] = {1 << 20, 10000, 1000, 61, 7};
    static const uint32_t threads[] = {THREADS, THREADS_FEWER};
    const size_t ways = 2 * sizeof budgets / sizeof *budgets;
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t way = 0; way < ways; way++) {
            char text[4096];
            const size_t k = way / 2;
            snprintf(text, sizeof text, "%s%s%s", head, cases[i].body, tail);
            const struct outcome a = run(text, false, threads[way % 2], budgets[k]);
            const struct outcome b = run(text, true, threads[way % 2], budgets[k]);
            if (a.status != b.status || a.hash != b.hash || a.slices != b.slices)
                print_error("%s, slices of %llu\n", cases[i].what, (unsigned long long)budgets[k]);
            if (threads[way % 2] == THREADS)
                assert_int_equal(a.status, cases[i].status);
            assert_int_equal(b.status, a.status);
            assert_int_equal(b.slices, a.slices);
            assert_int_equal(b.hash, a.hash);
            assert_int_equal(b.instructions, a.instructions);
            assert_string_equal(b.message, a.message);
        }
}

int main(void)
{
    char root[] = "/tmp/csan-lockstep-XXXXXX", command[64];
    if (!mkdtemp(root))
        return 1;
    setenv("CSAN_CACHE", root, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_slice_leaves_what_the_interpreter_leaves)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command) != 0 || failed;
}
