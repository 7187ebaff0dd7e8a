/* Warps of compiled kernels that go from barrier to barrier together (exec_lockstep.h): memory is
 * the interpreter's behind each slice, whatever ends that they go together. What is right for a
 * barrier itself: test_exec.c. */
#include "runtime/device/compile/compile.h"
#include "runtime/device/exec/exec_engine.h"
#include "tests/unit/device/exec/exec_harness.h"

enum { THREADS = 104, BLOCKS = 2, BYTES = BLOCKS * THREADS * 4, SLICES_MOST = 20000 };

/* %t: the thread in its block; %s: its word of shared memory; %x: a number that goes to memory. */
static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 out)\n{\n"
    ".reg .b32 %t, %s, %x, %y, %n, %b, %c; .reg .b64 %o, %a; .reg .pred %p, "
    "%q;\n.shared .align 16 .b8 m[1024];\n"
    "ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x;\n"
    "mov.u32 %c, %ntid.x; mad.lo.u32 %y, %b, %c, %t; mul.wide.u32 %a, %y, 4;"
    " add.s64 %o, %o, %a;\nshl.b32 %s, %t, 2; mov.u32 %x, m; add.u32 %s, %s, "
    "%x;\nmov.u32 %x, %y; mov.u32 %n, 9; setp.lt.u32 %q, %t, 32;\n";
static const char tail[] = "st.global.u32 [%o], %x;\nret;\n}\n";

#define EXCHANGE                                                                                   \
    "st.shared.u32 [%s], %x; bar.sync 0; ld.shared.u32 %y, [m+40]; mad.lo.u32 %x, %x, 3, %y;\n"    \
    "bar.sync 0; st.global.u32 [%o], %x;\n"
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
    {"an address fails",
     "L: " EXCHANGE "setp.eq.u32 %p, %n, 5; selp.u32 %s, 0x10000, %s, %p;\n" AGAIN, EXEC_FAULT},
};

struct outcome {
    enum exec_status status;
    uint32_t slices;
    uint64_t hash, instructions;
    char message[sizeof((struct exec_fault *)0)->message];
};

static struct outcome run(const char *text, bool compiled, uint64_t budget)
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
                                       .block = {THREADS, 1, 1},
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
    static const uint64_t budgets[] = {1 << 20, 1000, 61, 7};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < sizeof budgets / sizeof *budgets; k++) {
            char text[4096];
            snprintf(text, sizeof text, "%s%s%s", head, cases[i].body, tail);
            const struct outcome a = run(text, false, budgets[k]), b = run(text, true, budgets[k]);
            if (a.status != cases[i].status || a.hash != b.hash || a.slices != b.slices)
                print_error("%s, slices of %llu\n", cases[i].what, (unsigned long long)budgets[k]);
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
