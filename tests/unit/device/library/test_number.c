/* Numbers of every cudaDataType: what is written is read again; rounding; what does not fit. */
#include "runtime/device/library/number.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* Every finite number of a type of 16 bits is read and written without change. */
static void round_trip_16(int type)
{
    for (uint32_t bits = 0; bits < 65536; bits++) {
        uint16_t from = (uint16_t)bits, to = 0;
        const double value = creal(number_read(type, &from, 0));
        if (!isfinite(value))
            continue;
        number_write(type, &to, 0, value);
        assert_int_equal(to, from);
    }
}

static void halves_are_read_and_written(void **state)
{
    (void)state;
    round_trip_16(NUMBER_16F);
    round_trip_16(NUMBER_16BF);
}

static void halves_round_to_even(void **state)
{
    uint16_t half = 0;
    (void)state;
    number_write(NUMBER_16F, &half, 0, 2049); /* between 2048 and 2050 */
    assert_true(creal(number_read(NUMBER_16F, &half, 0)) == 2048);
    number_write(NUMBER_16F, &half, 0, 2051);
    assert_true(creal(number_read(NUMBER_16F, &half, 0)) == 2052);
    number_write(NUMBER_16F, &half, 0, 1e6);
    assert_true(isinf(creal(number_read(NUMBER_16F, &half, 0))));
}

static void complex_numbers_have_two_parts(void **state)
{
    float c[4] = {0};
    (void)state;
    number_write(NUMBER_C32F, c, 1, CMPLX(1.5, -2));
    assert_true(c[0] == 0 && c[2] == 1.5f && c[3] == -2);
    assert_true(number_read(NUMBER_C32F, c, 1) == CMPLX(1.5, -2));
    assert_int_equal(number_bytes(NUMBER_C64F), 16);
    assert_true(number_is_complex(NUMBER_C16BF) && !number_is_complex(NUMBER_16BF));
}

static void integers_stop_at_their_ends(void **state)
{
    int8_t small[2] = {0};
    int32_t large = 0;
    (void)state;
    number_write(NUMBER_8I, small, 0, 300);
    number_write(NUMBER_8I, small, 1, -300);
    assert_int_equal(small[0], 127);
    assert_int_equal(small[1], -128);
    number_write(NUMBER_32I, &large, 0, 1e12);
    assert_int_equal(large, INT32_MAX);
}

static void other_types_are_unknown(void **state)
{
    (void)state;
    assert_int_equal(number_bytes(28), 0); /* CUDA_R_8F_E4M3 */
    assert_int_equal(number_bytes(-1), 0);
    assert_int_equal(number_bytes(1000), 0);
    assert_int_equal(number_of_letter('Q'), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_are_read_and_written),
        cmocka_unit_test(halves_round_to_even),
        cmocka_unit_test(complex_numbers_have_two_parts),
        cmocka_unit_test(integers_stop_at_their_ends),
        cmocka_unit_test(other_types_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
