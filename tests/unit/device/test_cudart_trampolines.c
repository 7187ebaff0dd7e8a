/* libcsan_rt: what it exports, what programs linked with -lcsan bind to, and what becomes of calls
 * when there is no runtime library to forward them to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Runs bash; 0 on success. */
static int shell(const char *command)
{
    char line[4096];
    snprintf(line, sizeof line, "bash -c '%s'", command);
    return system(line);
}

/* For each function of the table a trampoline under the version of each library that has it, and
 * one under csan's own, the only one that a linker takes. */
static void test_exports_the_table(void **state)
{
    (void)state;
    assert_int_equal(shell(CHECK_TABLE " --trampolines " LIBDIR "/libcsan_rt.so.0"), 0);
}

/* Without a runtime library of either kind every call fails with an error, and none crashes. */
static void test_no_target(void **state)
{
    (void)state;
    assert_int_equal(shell("set -e; d=$(mktemp -d); trap \"rm -rf $d\" EXIT; cp " LIBDIR
                           "/libcsan.so.0 " LIBDIR "/libcsan_rt.so.0 $d; cd $d; "
                           "export CSAN=0 CSAN_DEVICE=embedded LD_LIBRARY_PATH=$d; "
                           "out=$(" TRAMPOLINE_PROGRAM " 2>err); [ \"$out\" = \"3 3 3 8\" ]; "
                           "[ $(grep -c \"csan: the embedded device cannot be used\" err) = 1 ]"),
                     0);
}

/* A program's runtime calls bind to the trampolines, and libcsan is searched before the C library.
 */
static void test_program_binds(void **state)
{
    (void)state;
    assert_int_equal(
        shell("set -e; export CSAN=0 CSAN_DEVICE=gpu; log=$(mktemp); trap \"rm -f $log\" EXIT; "
              "LD_DEBUG=bindings LD_LIBRARY_PATH=" LIBDIR " " TRAMPOLINE_PROGRAM
              " >$log.out 2>$log; rm $log.out; "
              "grep -q \"trampoline_program .*libcsan_rt.so.0.*cudaMalloc\" $log; "
              "grep -q \"trampoline_program .*libcsan.so.0.*dlsym\" $log; "
              "if grep -E \"trampoline_program .0. to .*cuda[A-Z]\" $log | grep -v libcsan_rt; "
              "then exit 1; fi"),
        0);
}

/* A program that is linked with -lcsan gets the runtime library that it was built for, of the
 * embedded device here. Those for CUDA 12 are built where its headers are at hand. */
static void linked(const char *name, const char *runtime)
{
    char command[1024];
    snprintf(command, sizeof command, PROGRAMS "/%s", name);
    if (access(command, X_OK) != 0)
        skip();
    snprintf(command, sizeof command,
             SANITIZER "CSAN=0 CSAN_DEVICE=embedded LD_LIBRARY_PATH=" LIBDIR
                       ":%s timeout 60 " PROGRAMS "/%s >/dev/null",
             runtime, name);
    assert_int_equal(shell(command), 0);
}

static void test_linked_static(void **state)
{
    (void)state;
    linked("linked13_static", "");
    linked("linked12_static", "");
}
static void test_linked_shared(void **state)
{
    (void)state;
    linked("linked13_shared", CUDA_LIB);
    linked("linked12_shared", CUDA12_LIB);
}
static void test_linked_without_kernels(void **state)
{
    (void)state;
    linked("linked13_host", "");
    linked("linked12_host", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exports_the_table), cmocka_unit_test(test_no_target),
        cmocka_unit_test(test_program_binds),     cmocka_unit_test(test_linked_static),
        cmocka_unit_test(test_linked_shared),     cmocka_unit_test(test_linked_without_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
