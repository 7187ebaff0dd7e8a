/* The processor's counter as a clock, held against the system's. */
#include "csan/base/tick_clock.h"
#include "csan/base/now.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <time.h>

static void rest(long nanoseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL);
}

/* The clock was asked between the two. */
static void expect_between(uint64_t before, uint64_t now, uint64_t after)
{
    enum { TOLERANCE = 50000 };
    assert_true(now + TOLERANCE >= before);
    assert_true(now <= after + TOLERANCE);
}

static void agrees_with_the_system(void **state)
{
    (void)state;
    struct tick_clock clock = {0};
    for (int i = 0; i < 60; i++) {
        const uint64_t before = now_wall(), now = tick_clock_now(&clock) * 100, after = now_wall();
        expect_between(before, now, after);
        rest(i % 3 ? 300000 : 5000000);
    }
    for (int i = 0; i < 200000; i++) {
        const uint64_t before = now_wall(), now = tick_clock_now(&clock) * 100, after = now_wall();
        expect_between(before, now, after);
    }
}

static void goes_back_by_little(void **state)
{
    (void)state;
    struct tick_clock clock = {0};
    uint64_t newest = 0;
    for (int i = 0; i < 3000000; i++) {
        const uint64_t now = tick_clock_now(&clock);
        assert_true(now + 10 >= newest);
        newest = now > newest ? now : newest;
    }
}

/* A counter that jumps, as where a machine slept or moved: the next look at the system mends it. */
static void mends_what_went_astray(void **state)
{
    (void)state;
    struct tick_clock clock = {0};
    tick_clock_now(&clock);
    rest(3000000);
    tick_clock_now(&clock);
    clock.rate *= 2; /* twice as fast as the system's */
    rest(12000000);
    tick_clock_now(&clock);
    for (int i = 0; i < 5; i++) {
        rest(12000000);
        tick_clock_now(&clock);
    }
    const uint64_t before = now_wall(), now = tick_clock_now(&clock) * 100, after = now_wall();
    expect_between(before, now, after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_system),
        cmocka_unit_test(goes_back_by_little),
        cmocka_unit_test(mends_what_went_astray),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
