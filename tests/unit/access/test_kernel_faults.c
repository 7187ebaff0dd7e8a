/* Which kernels can fail only by the address of an access to global memory, by PTX. */
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
    "    .reg .pred %p<3>;\n    .reg .b32 %r<3>;\n    .reg .b64 %rd<4>;\n"                         \
    "    .shared .u32 tile[32];\n    .local .u32 kept[8];\n"                                       \
    "    ld.param.u64 %rd1, [p];\n    cvta.to.global.u64 %rd2, %rd1;\n"
#define TAIL "    ret;\n}\n"

static bool only_global(const char *body)
{
    char text[4096];
    struct ptx_error error;
    snprintf(text, sizeof text, "%s%s%s", HEAD, body, TAIL);
    struct ptx_module *module = ptx_parse(text, strlen(text), &error);
    if (!module)
        fail_msg("line %u: %s", error.line, error.message);
    const bool found = kernel_faults_are_global(ptx_module_function(module, "k"));
    ptx_module_release(module);
    return found;
}

static void global_memory_and_arithmetic(void **state)
{
    (void)state;
    assert_true(only_global(""));
    assert_true(only_global("    mov.u32 %r1, %tid.x;\n    setp.ne.u32 %p1, %r1, 0;\n"
                            "    @%p1 bra END;\n    ld.global.u32 %r2, [%rd2];\n"
                            "    st.global.v2.u32 [%rd2+8], {%r1, %r2};\n"
                            "    atom.global.add.u32 %r1, [%rd2], 1;\n    bar.sync 0;\nEND:\n"));
    assert_true(only_global("    ld.global.u32 %r1, [table+4];\n"));
}

static void other_memory_has_bounds_of_its_own(void **state)
{
    (void)state;
    assert_false(only_global("    st.shared.u32 [tile], 1;\n"));
    assert_false(only_global("    ld.local.u32 %r1, [kept+4];\n"));
    assert_false(only_global("    ld.const.u32 %r1, [fixed];\n"));
    assert_false(only_global("    ld.u32 %r1, [%rd1];\n"));
    assert_false(only_global("    suld.b.1d.b32.trap %r1, [%rd1, {%r2}];\n"));
}

static void what_fails_by_itself_or_goes_elsewhere(void **state)
{
    (void)state;
    assert_false(only_global("    trap;\n"));
    assert_false(only_global("    brkpt;\n"));
    assert_false(only_global("    call adds;\n"));
    assert_false(only_global("    nonsense.u32 %r1, %r2;\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(global_memory_and_arithmetic),
        cmocka_unit_test(other_memory_has_bounds_of_its_own),
        cmocka_unit_test(what_fails_by_itself_or_goes_elsewhere),
    };
    return cmocka_run_group_tests_name("kernel_faults", tests, NULL, NULL);
}
