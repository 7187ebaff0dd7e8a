/* The time of day at the least cost: the processor's counter, held against the system's clock now
 * and then. Ten nanoseconds a look, half of what clock_gettime takes.
 *
 * The caller sees to it that one thread at a time uses a clock. Where the processor has no counter
 * of constant rate, each look asks the system. */
#ifndef CSAN_BASE_TICK_CLOCK_H
#define CSAN_BASE_TICK_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* `tenths`, of a microsecond since 1970, is the time of `ticks`. From then on `rate` tenths pass in
 * 2^TICK_CLOCK_SHIFT ticks, for `valid` ticks; then the system is asked again. All zero: a clock
 * that has not begun. */
struct tick_clock {
    uint64_t ticks, tenths, rate, valid;
    uint64_t time;                    /* nanoseconds of the system's clock then */
    uint64_t first_ticks, first_time; /* of the system's monotonic clock */
    uint64_t wall_offset;             /* from that to nanoseconds since 1970 */
    bool begun, constant;             /* constant: the counter's rate */
};

enum { TICK_CLOCK_SHIFT = 32 };

static inline uint64_t tick_clock_ticks(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0;
#endif
}

uint64_t tick_clock_now_slow(struct tick_clock *clock);

/* Tenths of a microsecond since 1970, as the system had it at the first look. It may go back by
 * some tenths, where the system is asked again. */
static inline uint64_t tick_clock_now(struct tick_clock *clock)
{
    const uint64_t passed = tick_clock_ticks() - clock->ticks;
    if (__builtin_expect(passed >= clock->valid, 0))
        return tick_clock_now_slow(clock);
    return clock->tenths + (passed * clock->rate >> TICK_CLOCK_SHIFT);
}

#endif
