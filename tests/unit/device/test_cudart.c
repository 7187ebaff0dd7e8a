/* The embedded device's runtime libraries: what they export, and programs by nvcc that run on it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int shell(const char *command)
{
    char line[2048];
    snprintf(line, sizeof line, "bash -c '%s'", command);
    return system(line);
}

/* Both libraries have all that the table of symbols has of their version. */
static void test_exports_the_table(void **state)
{
    (void)state;
    assert_int_equal(shell(CHECK_TABLE " --all 13 " EMBEDDED "/libcudart.so.13"), 0);
    assert_int_equal(shell(CHECK_TABLE " --all 12 " EMBEDDED "/libcudart.so.12"), 0);
}

/* The table is right: NVIDIA's libraries that are at hand export what it says of their version. */
static void test_table_is_nvidias(void **state)
{
    (void)state;
    assert_int_equal(shell(CHECK_TABLE " " CUDA_LIB "/libcudart.so.13"), 0);
    if (access(CUDA12_LIB "/libcudart.so.12", R_OK) != 0)
        skip();
    assert_int_equal(shell(CHECK_TABLE " " CUDA12_LIB "/libcudart.so.12"), 0);
}

/* The program checks itself; see tests/data/cudart/runtime_api.cu. */
static void run(const char *name)
{
    char command[1024];
    snprintf(command, sizeof command, SANITIZER "LD_LIBRARY_PATH=%s timeout 60 %s/%s", EMBEDDED,
             PROGRAMS, name);
    assert_int_equal(system(command), 0);
}

static void test_plain(void **state)
{
    (void)state;
    run("runtime_api13_plain");
}
static void test_relocatable_device_code(void **state)
{
    (void)state;
    run("runtime_api13_relocatable");
}
static void test_per_thread_default_stream(void **state)
{
    (void)state;
    run("runtime_api13_per_thread");
}

static void test_cuda_12(void **state)
{
    (void)state;
    /* Built where the headers of CUDA 12 are at hand. */
    if (access(PROGRAMS "/runtime_api12_plain", X_OK) != 0)
        skip();
    run("runtime_api12_plain");
    run("runtime_api12_relocatable");
    run("runtime_api12_per_thread");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exports_the_table),
        cmocka_unit_test(test_table_is_nvidias),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_relocatable_device_code),
        cmocka_unit_test(test_per_thread_default_stream),
        cmocka_unit_test(test_cuda_12),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
