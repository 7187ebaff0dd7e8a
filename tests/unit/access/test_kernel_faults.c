/* Which kernels can fail only by the address of an access to global memory, by PTX; and how wide
 * those accesses are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/access/kernel_faults.h"
#include "runtime/ptx/ptx.h"

#include <stdio.h>
#include <string.h>

#define HEAD                                                                                       \
    ".version 8.0\n.target sm_90\n.address_size 64\n"                                              \
    ".func adds()\n{\n    ret;\n}\n"                                                               \
    ".global .u32 table[4];\n.const .u32 fixed[4];\n"                                              \
    ".visible .entry k(.param .u64 p, .param .u64 .ptr .global q)\n{\n"                            \
    "    .reg .pred %p<3>;\n    .reg .b32 %r<3>;\n    .reg .b64 %rd<4>;\n    .reg .f32 %f<2>;\n"   \
    "    .shared .u32 tile[32];\n    .local .u32 kept[8];\n"                                       \
    "    ld.param.u64 %rd1, [p];\n    cvta.to.global.u64 %rd2, %rd1;\n"
#define TAIL "    ret;\n}\n"

static int width_of(const char *body)
{
    char text[4096];
    struct ptx_error error;
    snprintf(text, sizeof text, "%s%s%s", HEAD, body, TAIL);
    struct ptx_module *module = ptx_parse(text, strlen(text), &error);
    if (!module)
        fail_msg("line %u: %s", error.line, error.message);
    const int found = kernel_faults_width(ptx_module_function(module, "k"));
    ptx_module_release(module);
    return found;
}

static void global_memory_and_arithmetic(void **state)
{
    (void)state;
    assert_int_equal(width_of(""), 1);
    assert_int_equal(width_of("    mov.u32 %r1, %tid.x;\n    setp.ne.u32 %p1, %r1, 0;\n"
                              "    @%p1 bra END;\n    ld.global.u32 %r2, [%rd2];\n"
                              "    st.global.f32 [%rd2+8], %f1;\n"
                              "    atom.global.add.u32 %r1, [%rd2], 1;\n    bar.sync 0;\nEND:\n"),
                     4);
    assert_int_equal(width_of("    st.global.v2.u64 [%rd2], {%rd1, %rd2};\n"), 16);
    assert_int_equal(width_of("    ld.global.u32 %r1, [table+4];\n"), 4);
}

static void several_widths(void **state)
{
    (void)state;
    assert_int_equal(width_of("    ld.global.u32 %r1, [%rd2];\n    ld.global.u64 %rd3, [%rd2];\n"),
                     0);
}

static void other_memory_has_bounds_of_its_own(void **state)
{
    (void)state;
    assert_int_equal(0, width_of("    st.shared.u32 [tile], 1;\n"));
    assert_int_equal(0, width_of("    ld.local.u32 %r1, [kept+4];\n"));
    assert_int_equal(0, width_of("    ld.const.u32 %r1, [fixed];\n"));
    assert_int_equal(0, width_of("    ld.u32 %r1, [%rd1];\n"));
    assert_int_equal(0, width_of("    suld.b.1d.b32.trap %r1, [%rd1, {%r2}];\n"));
}

static void what_fails_by_itself_or_goes_elsewhere(void **state)
{
    (void)state;
    assert_int_equal(0, width_of("    trap;\n"));
    assert_int_equal(0, width_of("    brkpt;\n"));
    assert_int_equal(0, width_of("    call adds;\n"));
    assert_int_equal(0, width_of("    nonsense.u32 %r1, %r2;\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(global_memory_and_arithmetic),
        cmocka_unit_test(several_widths),
        cmocka_unit_test(other_memory_has_bounds_of_its_own),
        cmocka_unit_test(what_fails_by_itself_or_goes_elsewhere),
    };
    return cmocka_run_group_tests_name("kernel_faults", tests, NULL, NULL);
}
