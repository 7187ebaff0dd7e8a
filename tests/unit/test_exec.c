/* The execution engine on kernels as nvcc compiles them. */
#include "exec_harness.h"

static void runs_saxpy(void **unused)
{
    struct harness h;
    (void)unused;
    harness_open(&h, "basic");
    int n = 1000;
    float a = 2.5f;
    uint64_t x = harness_allocate(&h, 4 * (uint64_t)n), y = harness_allocate(&h, 4 * (uint64_t)n);
    float *hx = harness_host(&h, x), *hy = harness_host(&h, y);
    for (int i = 0; i < n; i++) {
        hx[i] = (float)i;
        hy[i] = 1.0f;
    }
    harness_run(&h, "saxpy", 4, 256, 0, ARGUMENTS(&y, &x, &a, &n));
    for (int i = 0; i < n; i++)
        assert_true(hy[i] == 2.5f * (float)i + 1.0f);
    harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_saxpy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
