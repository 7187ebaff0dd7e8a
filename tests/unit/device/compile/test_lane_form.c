/* Which loads and stores are known to be rows or one place, and above all which are not. */
#include "runtime/device/compile/lane_form.h"
#include "tests/unit/device/exec/exec_harness.h"

#define KERNEL(...)                                                                                \
    ".version 8.0\n.target sm_90\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 in, .param .u32 n)\n{\n"                                        \
    ".reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<4>; .reg .f32 %f<3>;\n"                       \
    ".shared .align 4 .b8 part[1024];\n"                                                           \
    "ld.param.u64 %d0, [in]; ld.param.u32 %r1, [n]; mov.u32 %r0, %tid.x;\n"                        \
    "cvta.to.global.u64 %d0, %d0; mul.wide.u32 %d1, %r0, 4; add.s64 %d1, %d0, %d1;\n" __VA_ARGS__  \
    "\nret;\n}\n"

/* A letter for each load and store, in the order of the text: row, uniform, or - for unknown. */
static void expect(const char *text, const char *expected)
{
    struct harness h;
    char found[64] = "";
    harness_open_text(&h, text);
    const struct program *program =
        image_program(h.image, image_function(h.image, harness_kernel(&h, "k")));
    struct plan *plan = plan_create(program);
    assert_non_null(plan);
    uint8_t *accesses = lane_form_accesses(plan);
    assert_non_null(accesses);
    for (uint32_t pc = 0, count = 0; pc < program->code_count; pc++) {
        if (plan_step_of(&program->code[pc], true).kind == STEP_ACCESS)
            found[count++] = "-ru"[accesses[pc]];
    }
    assert_string_equal(found, expected);
    free(accesses);
    plan_destroy(plan);
    harness_close(&h);
}

static void threads_one_behind_the_other_are_rows(void **unused)
{
    (void)unused;
    expect(KERNEL("ld.global.u32 %r2, [%d1]; st.global.u32 [%d1+64], %r2;"), "rr");
    expect(KERNEL("mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %r2, %r2, %r3, %r0;"
                  "cvt.u64.u32 %d2, %r2; shl.b64 %d2, %d2, 3; add.s64 %d2, %d0, %d2;"
                  "ld.global.u64 %d3, [%d2];"),
           "r");
    expect(KERNEL("mov.u32 %r2, %ctaid.x; cvt.s64.s32 %d2, %r2; sub.s64 %d2, %d1, %d2;"
                  "mad.wide.s32 %d3, %r0, 4, %d0; ld.global.u32 %r3, [%d2];"
                  "st.global.u32 [%d3], %r3;"),
           "rr");
    expect(KERNEL("shl.b32 %r2, %r0, 2; mov.u32 %r3, part; add.s32 %r2, %r3, %r2;"
                  "ld.shared.u32 %r4, [%r2]; st.shared.u32 [%r2+512], %r4;"
                  "ld.shared.u32 %r5, [part+4];"),
           "rru");
}

static void one_place_for_all_is_uniform(void **unused)
{
    (void)unused;
    expect(KERNEL("mul.wide.u32 %d2, %r1, 4; add.s64 %d2, %d0, %d2; ld.global.u32 %r2, [%d2];"
                  "st.global.u32 [%d2], %r2;"),
           "u-"); /* stores go in order */
}

static void other_distances_are_not_rows(void **unused)
{
    (void)unused;
    expect(KERNEL("mul.wide.u32 %d2, %r0, 8; add.s64 %d2, %d0, %d2; ld.global.u32 %r2, [%d2];"),
           "-");
    expect(KERNEL("mul.wide.u32 %d2, %r0, %r1; add.s64 %d2, %d0, %d2; ld.global.u32 %r2, [%d2];"),
           "-");
    expect(KERNEL("and.b32 %r2, %r0, 15; mul.wide.u32 %d2, %r2, 4; add.s64 %d2, %d0, %d2;"
                  "ld.global.u32 %r2, [%d2];"),
           "-");
    expect(KERNEL("ld.global.u32 %r2, [%d1]; mul.wide.u32 %d2, %r2, 4; add.s64 %d2, %d0, %d2;"
                  "ld.global.u32 %r2, [%d2];"),
           "r-");
}

/* Each may wrap between other lanes; so the last lane's address says nothing of the others. */
static void two_that_may_wrap_are_not_known(void **unused)
{
    (void)unused;
    expect(KERNEL("add.u32 %r2, %r0, %r1; mul.wide.u32 %d2, %r2, 8; mul.wide.u32 %d3, %r0, 4;"
                  "sub.s64 %d2, %d2, %d3; add.s64 %d2, %d0, %d2; ld.global.u32 %r2, [%d2];"),
           "-");
    expect(KERNEL("add.u32 %r2, %r0, %r1; mul.wide.u32 %d2, %r2, 4; add.s64 %d2, %d0, %d2;"
                  "ld.global.u32 %r2, [%d2];"),
           "r");
}

static void loops_keep_what_all_lanes_go_through(void **unused)
{
    (void)unused;
    expect(KERNEL("mov.u32 %r2, 0; loop: ld.global.u32 %r3, [%d1]; add.s64 %d1, %d1, 1024;"
                  "add.s32 %r2, %r2, 1; setp.lt.s32 %p0, %r2, %r1; @%p0 bra loop;"
                  "st.global.u32 [%d1], %r3;"),
           "rr");
}

/* A full warp in the loop has lost no lane yet; behind it, lanes left in different rounds. */
static void lanes_that_leave_a_loop_apart_are_known_in_it_alone(void **unused)
{
    (void)unused;
    expect(KERNEL("mov.u32 %r2, %r0; loop: mul.wide.u32 %d2, %r2, 4; add.s64 %d2, %d0, %d2;"
                  "ld.global.u32 %r3, [%d2]; add.u32 %r2, %r2, 256; setp.lt.u32 %p0, %r2, %r1;"
                  "@%p0 bra loop; st.global.u32 [%d2], %r3; st.global.u32 [%d1], %r3;"),
           "r-r");
    expect(KERNEL("setp.ge.u32 %p0, %r0, %r1; @%p0 bra end; loop: ld.global.u32 %r3, [%d1];"
                  "add.s64 %d1, %d1, 1024; add.u32 %r1, %r1, -1; setp.ne.u32 %p1, %r1, 0;"
                  "@%p1 bra loop; end:"),
           "r");
}

/* Lanes may meet again in another round: those that took the long way are a round behind. */
static void lanes_may_meet_in_other_rounds(void **unused)
{
    (void)unused;
    expect(
        KERNEL("mov.u32 %r2, 0; loop: setp.gt.u32 %p0, %r0, 7; @%p0 bra skip; xor.b32 %r4, %r4, 1;"
               "skip: ld.global.u32 %r3, [%d1]; add.s64 %d1, %d1, 1024; add.u32 %r2, %r2, 1;"
               "setp.lt.u32 %p1, %r2, %r1; @%p1 bra loop;"),
        "-");
}

static void what_one_way_assigns_is_not_known_behind(void **unused)
{
    (void)unused;
    expect(KERNEL("setp.gt.u32 %p0, %r0, 7; @%p0 bra skip; add.s64 %d1, %d1, 1024;"
                  "ld.global.u32 %r2, [%d1]; skip: ld.global.u32 %r3, [%d1];"),
           "r-");
    expect(
        KERNEL("setp.gt.u32 %p0, %r0, 7; @%p0 add.s64 %d1, %d1, 1024; ld.global.u32 %r2, [%d1];"),
        "-");
    expect(KERNEL("setp.gt.u32 %p0, %r1, 7; @%p0 bra skip; add.s64 %d1, %d1, 1024;"
                  "skip: ld.global.u32 %r3, [%d1];"),
           "r"); /* all go the same way */
    expect(KERNEL("setp.gt.u32 %p0, %r0, 7; selp.b64 %d2, %d1, %d0, %p0;"
                  "ld.global.u32 %r3, [%d2];"),
           "-");
}

static void who_leaves_does_not_come_back(void **unused)
{
    (void)unused;
    expect(
        KERNEL("setp.gt.u32 %p0, %r0, 7; @%p0 exit; mov.u32 %r2, 0; loop: add.s64 %d1, %d1, 1024;"
               "ld.global.u32 %r3, [%d1]; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1;"
               "@%p1 bra loop;"),
        "r");
}

static void lanes_may_part_at_collectives_of_some(void **unused)
{
    (void)unused;
    expect(KERNEL("loop: shfl.sync.bfly.b32 %r2, %r0, 1, 31, -1; add.s64 %d1, %d1, 1024;"
                  "ld.global.u32 %r3, [%d1]; add.u32 %r1, %r1, -1; setp.ne.u32 %p1, %r1, 0;"
                  "@%p1 bra loop;"),
           "r");
    expect(KERNEL("loop: shfl.sync.bfly.b32 %r2, %r0, 1, 31, %r4; add.s64 %d1, %d1, 1024;"
                  "ld.global.u32 %r3, [%d1]; add.u32 %r1, %r1, -1; setp.ne.u32 %p1, %r1, 0;"
                  "@%p1 bra loop;"),
           "-");
    expect(KERNEL("loop: bar.sync 0; add.s64 %d1, %d1, 1024; ld.global.u32 %r3, [%d1];"
                  "add.u32 %r1, %r1, -1; setp.ne.u32 %p1, %r1, 0; @%p1 bra loop;"),
           "r");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_one_behind_the_other_are_rows),
        cmocka_unit_test(one_place_for_all_is_uniform),
        cmocka_unit_test(other_distances_are_not_rows),
        cmocka_unit_test(two_that_may_wrap_are_not_known),
        cmocka_unit_test(loops_keep_what_all_lanes_go_through),
        cmocka_unit_test(lanes_that_leave_a_loop_apart_are_known_in_it_alone),
        cmocka_unit_test(lanes_may_meet_in_other_rounds),
        cmocka_unit_test(what_one_way_assigns_is_not_known_behind),
        cmocka_unit_test(who_leaves_does_not_come_back),
        cmocka_unit_test(lanes_may_part_at_collectives_of_some),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
