/* What time it is. */
#ifndef CSAN_BASE_NOW_H
#define CSAN_BASE_NOW_H

#include <stdint.h>
#include <time.h>

static inline uint64_t now_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Nanoseconds since 1970. */
static inline uint64_t now_wall(void)
{
    return now_of(CLOCK_REALTIME);
}

/* Nanoseconds since an arbitrary moment, exact to a few milliseconds, at little cost. Never 0. */
static inline uint64_t now_coarse(void)
{
    return now_of(CLOCK_MONOTONIC_COARSE) + 1;
}

/* Milliseconds from some beginning. */
static inline int64_t now_ms(void)
{
    return (int64_t)(now_of(CLOCK_MONOTONIC) / 1000000u);
}

#endif
