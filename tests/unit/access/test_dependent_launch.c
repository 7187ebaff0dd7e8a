/* What a kernel may touch before its griddepcontrol.wait, and whether it lets the next one begin
 * early. Kernels write p[0] first and q[0] last; what lies around is each test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/access/access_set.h"
#include "runtime/ptx/ptx.h"
#include <stdio.h>
#include <string.h>

#define HEAD                                                                                       \
    ".version 7.8\n.target sm_90\n.address_size 64\n"                                              \
    ".func waits()\n{\n    griddepcontrol.wait;\n    ret;\n}\n"                                    \
    ".func may_wait(.param .u32 n)\n{\n    .reg .pred %p<2>;\n    .reg .b32 %r<2>;\n"              \
    "    ld.param.u32 %r1, [n];\n    setp.eq.s32 %p1, %r1, 0;\n    @%p1 bra DONE;\n"               \
    "    griddepcontrol.wait;\nDONE:\n    ret;\n}\n"                                               \
    ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)\n{\n"                          \
    "    .reg .pred %p<2>;\n    .reg .b32 %r<3>;\n    .reg .b64 %rd<5>;\n"                         \
    "    ld.param.u64 %rd1, [p];\n    ld.param.u64 %rd2, [q];\n    ld.param.u32 %r1, [n];\n"       \
    "    cvta.to.global.u64 %rd3, %rd1;\n    cvta.to.global.u64 %rd4, %rd2;\n"                     \
    "    setp.eq.s32 %p1, %r1, 0;\n"
#define FIRST "    st.global.u32 [%rd3], %r1;\n"
#define LAST  "    st.global.u32 [%rd4], %r1;\n"
#define TAIL  "    ret;\n}\n"
#define WAIT  "    griddepcontrol.wait;\n"
#define LET   "    griddepcontrol.launch_dependents;\n"

/* As "p q": what is early; then "waits", "lets", "lets early". */
static void assert_overlap(const char *body, const char *expected)
{
    char text[4096], found[64] = "";
    struct ptx_error error;
    uint64_t p = 0x10000000, q = 0x20000000;
    uint32_t n = 1;
    const void *parameters[] = {&p, &q, &n};
    struct access_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .parameters = parameters};
    snprintf(text, sizeof text, "%s%s%s", HEAD, body, TAIL);
    struct ptx_module *module = ptx_parse(text, strlen(text), &error);
    if (!module)
        fail_msg("line %u: %s", error.line, error.message);
    struct access_kernel *kernel = access_kernel_create(ptx_module_function(module, "k"));
    const struct access_set *set = access_set_find(kernel, &launch);
    assert_true(set->complete);
    for (uint32_t base = 0; base < 2; base++)
        for (uint32_t i = 0; i < set->range_count; i++)
            if (set->bases[set->ranges[i].base].param_index == base && set->ranges[i].early)
                strcat(found, base ? "q " : "p ");
    struct dependent_launch dependent = access_dependent_launch(kernel);
    strcat(found, dependent.waits ? "waits " : "");
    strcat(found, dependent.lets_early ? "lets early" : dependent.lets ? "lets" : "");
    assert_string_equal(found, expected);
    access_kernel_release(kernel);
    ptx_module_release(module);
}

static void without_griddepcontrol_all_is_early(void **state)
{
    (void)state;
    assert_overlap(FIRST LAST, "p q ");
}

static void behind_a_wait_nothing_is(void **state)
{
    (void)state;
    assert_overlap(WAIT FIRST LAST, "waits ");
    assert_overlap(FIRST WAIT LAST, "p waits ");
    assert_overlap(FIRST LAST WAIT, "p q waits ");
}

static void a_wait_on_one_way_is_none(void **state)
{
    (void)state;
    assert_overlap("    @%p1 bra ON;\n" WAIT "ON:\n" FIRST LAST, "p q waits ");
    assert_overlap("    @%p1 griddepcontrol.wait;\n" FIRST LAST, "p q waits ");
    assert_overlap("    @%p1 bra ON;\n" WAIT FIRST "ON:\n" LAST, "q waits ");
}

static void waits_on_every_way_are_one_only_if_one_is_passed(void **state)
{
    (void)state;
    /* Both ways wait, each by itself: taken for early, which is the safe side. */
    assert_overlap("    @%p1 bra ON;\n" WAIT FIRST "    bra BEHIND;\nON:\n" WAIT FIRST
                   "BEHIND:\n" LAST,
                   "q waits ");
}

static void in_a_loop_the_first_round_counts(void **state)
{
    (void)state;
    assert_overlap("LOOP:\n" FIRST WAIT "    @!%p1 bra OUT;\n    bra LOOP;\nOUT:\n" LAST,
                   "p waits ");
}

static void device_functions_wait_for_their_callers(void **state)
{
    (void)state;
    assert_overlap(FIRST "    call waits;\n" LAST, "p waits ");
    assert_overlap(
        "    {\n    .param .b32 a;\n    st.param.b32 [a], %r1;\n    call may_wait, (a);\n"
        "    }\n" FIRST LAST,
        "p q waits ");
}

static void who_lets_the_next_begin(void **state)
{
    (void)state;
    assert_overlap(LET FIRST LAST, "p q lets early");
    assert_overlap(LET WAIT FIRST LAST, "waits lets early");
    assert_overlap(WAIT LET FIRST LAST, "waits lets");
    assert_overlap("    @%p1 bra ON;\n" WAIT "ON:\n" LET FIRST LAST, "p q waits lets early");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_griddepcontrol_all_is_early),
        cmocka_unit_test(behind_a_wait_nothing_is),
        cmocka_unit_test(a_wait_on_one_way_is_none),
        cmocka_unit_test(waits_on_every_way_are_one_only_if_one_is_passed),
        cmocka_unit_test(in_a_loop_the_first_round_counts),
        cmocka_unit_test(device_functions_wait_for_their_callers),
        cmocka_unit_test(who_lets_the_next_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
