/* A GPU core dump that the user asked for: csan reads the file that the driver wrote, and changes
 * nothing. Against the fake driver; the dump is one of an H200. */
#include "tests/unit/hook/test_hook.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

static char folder[] = "/tmp/csan-test-XXXXXX";
static struct csan_race findings[4];
static void (*fake_fail_wait)(int result);

static void *unpacked(size_t *bytes)
{
    static uint8_t packed[1 << 16];
    enum { MOST = 1 << 20 };
    FILE *file = fopen(SOURCE "/tests/data/coredump/load.core.zst", "rb");
    assert_non_null(file);
    const size_t count = fread(packed, 1, sizeof packed, file);
    fclose(file);
    void *data = malloc(MOST);
    assert_non_null(data);
    *bytes = ZSTD_decompress(data, MOST, packed, count);
    assert_false(ZSTD_isError(*bytes));
    return data;
}

/* As the driver would, as CUDA_COREDUMP_FILE says. */
static void driver_writes(void)
{
    char path[256];
    size_t bytes;
    void *data = unpacked(&bytes);
    snprintf(path, sizeof path, "%s/core.%d", getenv("TEST_FOLDER"), (int)getpid());
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
    free(data);
}

static void names_what_the_users_dump_says(void **state)
{
    (void)state;
    CUcontext context;
    assert_int_equal(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    CUstream a = non_blocking();
    driver_writes();
    fake_fail_wait(CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cuStreamSynchronize(a), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(csan_findings_since(hook_mark(), findings, 4), 1);
    assert_int_equal(findings[0].kind, CSAN_RACE_DEVICE_EXCEPTION);
    const struct csan_error *error = findings[0].error;
    assert_string_equal(error->exception, "illegal memory access");
    assert_string_equal(error->reported_by, "cuStreamSynchronize");
    assert_true(error->has_thread);
    assert_int_equal(error->block[0], 1);
    assert_int_equal(error->thread[0], 13);
    assert_non_null(strstr(findings[0].current.name, "load"));
}

static void it_is_read_once(void **state)
{
    (void)state;
    CUstream a = non_blocking();
    fake_fail_wait(CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cuStreamSynchronize(a), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(csan_findings_since(hook_mark(), findings, 4), 0); /* it was said */
}

int main(int count, char **argv)
{
    (void)count;
    if (!getenv("TEST_FOLDER")) { /* the first of the two runs */
        char pattern[sizeof folder + 16];
        if (!mkdtemp(folder))
            return 1;
        snprintf(pattern, sizeof pattern, "%s/core.%%p", folder);
        setenv("TEST_FOLDER", folder, 1);
        setenv("CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "1", 1);
        setenv("CUDA_COREDUMP_FILE", pattern, 1);
    }
    setenv("CSAN_OPTIONS", "symbolize=0:print_summary=0:log_path=/dev/null", 0);
    hook_test_start(argv);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    *(void **)&fake_fail_wait = driver ? dlsym(driver, "fake_fail_wait") : NULL;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(names_what_the_users_dump_says, hook_setup),
        cmocka_unit_test_setup(it_is_read_once, hook_setup),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char path[256];
    snprintf(path, sizeof path, "%s/core.%d", getenv("TEST_FOLDER"), (int)getpid());
    unlink(path);
    rmdir(getenv("TEST_FOLDER"));
    return hook_finish(failed);
}
