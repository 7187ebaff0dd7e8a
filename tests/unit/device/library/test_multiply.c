/* Products of matrices whose columns lie farther apart than OpenBLAS's integers say. Numbers of all
 * types are in tests/integration (cublas_numbers.cu, cublaslt_numbers.cu). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/device/library/cpu.h"
#include "runtime/device/library/multiply.h"

enum { M = 5, K = 3 };
#define FAR ((INT64_C(1) << 32) + 1)

/* Of one column nothing follows. */
static void one_column_may_have_any_leading_dimension(void **state)
{
    float a[M * K], b[K] = {1, 2, 3}, c[M];
    (void)state;
    if (!cpu_open(CPU_OPENBLAS, "test_multiply"))
        skip();
    for (int i = 0; i < M; i++) {
        c[i] = 100;
        for (int k = 0; k < K; k++)
            a[i + k * M] = (float)(10 * i + k);
    }
    const struct operand left = {a, NUMBER_32F, M, OPERATION_N},
                         right = {b, NUMBER_32F, FAR, OPERATION_N},
                         sum = {c, NUMBER_32F, FAR, OPERATION_N};
    assert_true(multiply(M, 1, K, 1, &left, &right, 1, &sum));
    for (int i = 0; i < M; i++)
        assert_true(c[i] == (float)(100 + 60 * i + 8));
    assert_true(multiply(M, 1, K, 1, &left, &right, 0, &sum));
    for (int i = 0; i < M; i++)
        assert_true(c[i] == (float)(60 * i + 8));
}

static void more_rows_than_its_integers_say_are_refused(void **state)
{
    float a[1] = {1}, c[1] = {7};
    (void)state;
    const struct operand one = {a, NUMBER_32F, FAR, OPERATION_N},
                         sum = {c, NUMBER_32F, FAR, OPERATION_N};
    assert_false(multiply(FAR, 1, 1, 1, &one, &one, 0, &sum));
    assert_true(c[0] == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_column_may_have_any_leading_dimension),
        cmocka_unit_test(more_rows_than_its_integers_say_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
