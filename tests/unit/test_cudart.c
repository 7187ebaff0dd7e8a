/* The embedded device's runtime library: what it exports, and programs by nvcc that run on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

static int shell(const char *command)
{
    char line[2048];
    snprintf(line, sizeof line, "bash -c '%s'", command);
    return system(line);
}

static void test_exports_the_toolkits_symbols(void **state)
{
    (void)state;
    assert_int_equal(
        shell("diff <(nm -D --defined-only " EMBEDDED "/libcudart.so.13 | cut -d\" \" -f2- | sort)"
              " <(nm -D --defined-only " CUDA_LIB "/libcudart.so.13 | cut -d\" \" -f2- | sort)"),
        0);
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
    run("runtime_api_plain");
}
static void test_relocatable_device_code(void **state)
{
    (void)state;
    run("runtime_api_relocatable");
}
static void test_per_thread_default_stream(void **state)
{
    (void)state;
    run("runtime_api_per_thread");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exports_the_toolkits_symbols),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_relocatable_device_code),
        cmocka_unit_test(test_per_thread_default_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
