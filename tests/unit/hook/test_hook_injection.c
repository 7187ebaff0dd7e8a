/* Leaving out synchronizations is for the embedded device: with any other driver nothing is left
 * out, and that is said once. */
#include "tests/unit/hook/test_hook.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[256];

static size_t lines_with(const char *text)
{
    char line[512];
    size_t count = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        count += strstr(line, text) != NULL;
    fclose(file);
    return count;
}

static void nothing_is_dropped_on_a_gpu(void **state)
{
    (void)state;
    CUstream a = non_blocking(), b = non_blocking();
    CUdeviceptr p = device(64);
    cuMemsetD8Async(p, 0, 64, a);
    uint64_t before = fake_calls();
    assert_int_equal(cuStreamSynchronize(a), CUDA_SUCCESS); /* number 1 */
    assert_true(fake_calls() > before);
    cuMemsetD8Async(p, 0, 64, b);
    assert_int_equal(races(), 0);
    assert_int_equal(cuCtxSynchronize(), CUDA_SUCCESS);
    assert_int_equal(lines_with("drop_sync and list_syncs work on the embedded device only"), 1);
    assert_int_equal(lines_with("csan: sync "), 0);
}

int main(int argc, char **argv)
{
    char options[512];
    (void)argc;
    snprintf(path, sizeof path, "/tmp/csan-injection.%d", (int)getpid());
    snprintf(
        options, sizeof options,
        "symbolize=0:print_summary=0:drop_sync=1:list_syncs=1:log_path=/tmp/csan-injection.%%p");
    setenv("CSAN_OPTIONS", options, 0);
    hook_test_start(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_is_dropped_on_a_gpu, hook_setup),
    };
    int failed = cmocka_run_group_tests_name("hook_injection", tests, NULL, NULL);
    unlink(path);
    return hook_finish(failed);
}
