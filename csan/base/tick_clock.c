/* See tick_clock.h. */
#include "csan/base/tick_clock.h"
#include "csan/base/now.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* A rate is taken over a millisecond at least, and is good for ten. ASTRAY: how far the counter may
 * be from the system's clock after that; farther, it is another processor's, or the machine slept.
 */
enum { BASELINE_NS = 1000000, VALID_NS = 10000000, ASTRAY_NS = 20000 };

/* Whether the counter runs at one rate, in sleep too: "Invariant TSC", Intel's manual, volume
 * 3, 19.17.1. That of aarch64 does ("Generic Timer"). */
static bool has_constant_rate(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8;
#elif defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

static void baseline_begin(struct tick_clock *clock, uint64_t ticks, uint64_t time)
{
    clock->first_ticks = ticks;
    clock->first_time = time;
    clock->rate = clock->valid = 0;
}

/* The longer the baseline, the better the rate. */
static void rate_set(struct tick_clock *clock, uint64_t ticks, uint64_t time)
{
    const uint64_t passed = ticks - clock->first_ticks, nanoseconds = time - clock->first_time;
    if (nanoseconds < BASELINE_NS || passed == 0)
        return;
    clock->rate =
        (uint64_t)((double)nanoseconds / 100 / (double)passed * (UINT64_C(1) << TICK_CLOCK_SHIFT));
    clock->valid = clock->rate ? ((uint64_t)VALID_NS / 100 << TICK_CLOCK_SHIFT) / clock->rate : 0;
}

static bool is_astray(const struct tick_clock *clock, uint64_t ticks, uint64_t time)
{
    const double passed = (double)(time - clock->time);
    const double counted = (double)(ticks - clock->ticks) * (double)clock->rate * 100 /
                           (double)(UINT64_C(1) << TICK_CLOCK_SHIFT);
    const double error = counted > passed ? counted - passed : passed - counted;
    return clock->rate && error > ASTRAY_NS + passed * 1e-3;
}

/* The two clocks are read one behind the other. Where something came between, once more. */
static uint64_t wall_offset(void)
{
    enum { TRIES = 8, CLOSE_NS = 300 };
    uint64_t offset = 0, nearest = UINT64_MAX;
    for (int i = 0; i < TRIES && nearest > CLOSE_NS; i++) {
        const uint64_t before = now_of(CLOCK_MONOTONIC), wall = now_wall();
        const uint64_t between = now_of(CLOCK_MONOTONIC) - before;
        if (between < nearest) {
            nearest = between;
            offset = wall - (before + between / 2);
        }
    }
    return offset;
}

uint64_t tick_clock_now_slow(struct tick_clock *clock)
{
    const uint64_t time = now_of(CLOCK_MONOTONIC), ticks = tick_clock_ticks();
    if (!clock->begun) {
        clock->begun = true;
        clock->constant = has_constant_rate();
        clock->wall_offset = wall_offset();
        baseline_begin(clock, ticks, time);
    } else if (is_astray(clock, ticks, time)) {
        baseline_begin(clock, ticks, time);
    } else if (clock->constant) {
        rate_set(clock, ticks, time);
    }
    clock->ticks = ticks;
    clock->time = time;
    return clock->tenths = (time + clock->wall_offset) / 100;
}
