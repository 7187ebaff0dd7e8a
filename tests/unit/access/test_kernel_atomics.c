/* Which kernels order themselves with others through memory, by PTX. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/access/kernel_atomics.h"
#include "runtime/ptx/ptx.h"

#include <stdio.h>
#include <string.h>

#define HEAD                                                                                       \
    ".version 8.0\n.target sm_90\n.address_size 64\n"                                              \
    ".func fences()\n{\n    fence.acq_rel.gpu;\n    ret;\n}\n"                                     \
    ".visible .entry k(.param .u64 p)\n{\n    .reg .b32 %r<3>;\n    .reg .b64 %rd<3>;\n"           \
    "    ld.param.u64 %rd1, [p];\n    cvta.to.global.u64 %rd2, %rd1;\n"
#define TAIL "    ret;\n}\n"

static struct kernel_atomics atomics_of(const char *body)
{
    char text[4096];
    struct ptx_error error;
    snprintf(text, sizeof text, "%s%s%s", HEAD, body, TAIL);
    struct ptx_module *module = ptx_parse(text, strlen(text), &error);
    if (!module)
        fail_msg("line %u: %s", error.line, error.message);
    struct kernel_atomics found = kernel_atomics_find(ptx_module_function(module, "k"));
    ptx_module_release(module);
    return found;
}

static void expect_order(const char *body, int order)
{
    assert_int_equal(atomics_of(body).order, order);
}

static void releases_and_acquires(void **state)
{
    (void)state;
    expect_order("    st.release.gpu.global.u32 [%rd2], 1;\n", CSAN_RELEASES);
    expect_order("    ld.acquire.sys.global.u32 %r1, [%rd2];\n", CSAN_ACQUIRES);
    expect_order("    red.release.gpu.global.add.u32 [%rd2], 1;\n", CSAN_RELEASES);
    expect_order("    atom.acquire.gpu.global.add.u32 %r1, [%rd2], 1;\n", CSAN_ACQUIRES);
    expect_order("    atom.acq_rel.gpu.global.add.u32 %r1, [%rd2], 1;\n",
                 CSAN_ACQUIRES | CSAN_RELEASES);
}

static void fences(void **state)
{
    (void)state;
    expect_order("    membar.gl;\n    st.volatile.global.u32 [%rd2], 1;\n", CSAN_RELEASES);
    expect_order("    ld.volatile.global.u32 %r1, [%rd2];\n    membar.sys;\n", CSAN_ACQUIRES);
    expect_order("    fence.sc.gpu;\n    atom.global.add.u32 %r1, [%rd2], 1;\n",
                 CSAN_ACQUIRES | CSAN_RELEASES);
    expect_order("    call fences;\n    st.relaxed.gpu.global.u32 [%rd2], 1;\n", CSAN_RELEASES);
}

static void neither(void **state)
{
    (void)state;
    expect_order("    st.volatile.global.u32 [%rd2], 1;\n", 0);
    expect_order("    atom.global.add.u32 %r1, [%rd2], 1;\n", 0);
    expect_order("    membar.gl;\n    st.global.u32 [%rd2], 1;\n", 0);
    expect_order("    membar.cta;\n    st.volatile.global.u32 [%rd2], 1;\n", 0);
    expect_order("    st.release.cta.global.u32 [%rd2], 1;\n", 0);
    expect_order("    ld.acquire.cluster.global.u32 %r1, [%rd2];\n", 0);
    expect_order("    fence.proxy.async;\n    st.volatile.global.u32 [%rd2], 1;\n", 0);
    expect_order("    membar.gl;\n    atom.shared.add.u32 %r1, [%rd2], 1;\n", 0);
}

static void widths(void **state)
{
    (void)state;
    assert_int_equal(atomics_of("    atom.global.add.u32 %r1, [%rd2], 1;\n").bytes, 4);
    assert_int_equal(atomics_of("    atom.global.add.u32 %r1, [%rd2], 1;\n"
                                "    atom.global.exch.b64 %rd1, [%rd2], 1;\n")
                         .bytes,
                     0);
    assert_int_equal(atomics_of("    call fences;\n").bytes, 0);
}

/* Traces of machine code do not say that a load was strong. */
static void kinds_without_strength(void **state)
{
    (void)state;
    const struct kernel_atomics both =
        atomics_of("    ld.volatile.global.u32 %r1, [%rd2];\n    membar.gl;\n"
                   "    st.volatile.global.u32 [%rd2], 1;\n");
    const struct kernel_atomics updates =
        atomics_of("    membar.gl;\n    atom.global.add.u32 %r1, [%rd2], 1;\n");
    assert_int_equal(kernel_atomics_order(both, CSAN_ATOMIC, 4, true), both.order);
    assert_int_equal(kernel_atomics_order(both, CSAN_READ, 4, false), CSAN_ACQUIRES);
    assert_int_equal(kernel_atomics_order(both, CSAN_WRITE, 4, false), CSAN_RELEASES);
    assert_int_equal(kernel_atomics_order(both, CSAN_WRITE, 4, true), 0);
    assert_int_equal(kernel_atomics_order(both, CSAN_WRITE, 1024, false), 0);
    assert_int_equal(kernel_atomics_order(updates, CSAN_READ, 4, false), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(releases_and_acquires),
        cmocka_unit_test(fences),
        cmocka_unit_test(neither),
        cmocka_unit_test(widths),
        cmocka_unit_test(kinds_without_strength),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
