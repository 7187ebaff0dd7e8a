/* The host's floating-point environment, which the handlers of instructions compute in: rounding,
 * and that no exception traps and subnormal numbers are kept. fesetenv would do too, at ten times
 * the price. */
#ifndef RUNTIME_DEVICE_EXEC_FLOAT_CONTROL_H
#define RUNTIME_DEVICE_EXEC_FLOAT_CONTROL_H

#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>

/* MXCSR (Intel's manual, volume 1, 10.2.3). */
enum {
    FLOAT_CONTROL_DEFAULT = 0x1f80,
    FLOAT_ROUND_MASK = _MM_ROUND_MASK,
    FLOAT_ROUND_ZERO = _MM_ROUND_TOWARD_ZERO,
    FLOAT_ROUND_DOWN = _MM_ROUND_DOWN,
    FLOAT_ROUND_UP = _MM_ROUND_UP
};

static inline uint64_t float_control_get(void)
{
    return _mm_getcsr();
}

static inline void float_control_set(uint64_t control)
{
    _mm_setcsr((unsigned)control);
}
#elif defined(__aarch64__)
/* FPCR (Arm Architecture Reference Manual, C5.2.8). */
enum {
    FLOAT_CONTROL_DEFAULT = 0,
    FLOAT_ROUND_MASK = 3 << 22,
    FLOAT_ROUND_ZERO = 3 << 22,
    FLOAT_ROUND_DOWN = 2 << 22,
    FLOAT_ROUND_UP = 1 << 22
};

static inline uint64_t float_control_get(void)
{
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
}

static inline void float_control_set(uint64_t control)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
}
#else
#error "the embedded device runs on x86-64 and on aarch64"
#endif

#endif
