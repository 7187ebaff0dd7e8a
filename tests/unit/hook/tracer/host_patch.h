// What runtime/tracer/patch.cu takes from the device, for the host: a warp of one lane, and a
// device whose other lanes are the host's threads. Included before it by the compiler's command
// line.
#ifndef TESTS_UNIT_HOOK_TRACER_HOST_PATCH_H
#define TESTS_UNIT_HOOK_TRACER_HOST_PATCH_H

#include <stddef.h>
#include <stdint.h>

#define __device__
#define __noinline__ __attribute__((noinline))

static inline bool __isGlobal(const void *)
{
    return true;
}
static inline uint32_t __activemask()
{
    return 1;
}
static inline uint32_t __ffs(uint32_t bits)
{
    return (uint32_t)__builtin_ffs((int)bits);
}
static inline uint32_t lane_id()
{
    return 0;
}

static inline unsigned long long atomicCAS(unsigned long long *at, unsigned long long expected,
                                           unsigned long long value)
{
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
static inline uint32_t atomicAdd(uint32_t *at, uint32_t value)
{
    return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}
static inline uint32_t atomicOr(uint32_t *at, uint32_t value)
{
    return __atomic_fetch_or(at, value, __ATOMIC_RELAXED);
}

#endif
