/* Kernels that run for long are compiled to the host's machine code: one warp as vectors of 32
 * lanes (lower.c). The engine interprets them until the code is there, and wherever it gives back.
 * So a program meets the same memory, touches, faults and schedules with and without.
 *
 * Everything may fail, and then the kernel is interpreted: no compiler, no cache, a kernel that is
 * too large. Nothing is printed; compile_report says it. */
#ifndef RUNTIME_DEVICE_COMPILE_COMPILE_H
#define RUNTIME_DEVICE_COMPILE_COMPILE_H

#include <stdbool.h>
#include <stdint.h>

enum compile_mode {
    COMPILE_OFF,
    COMPILE_HOT,   /* what has run for a while, in the background */
    COMPILE_ALWAYS /* everything, before its first launch: for tests */
};

/* "0", "1" and "always", as CSAN_DEVICE_COMPILE has them; `usual` for NULL and anything else. */
enum compile_mode compile_mode_of(const char *text, enum compile_mode usual);

/* From now on kernels are compiled. Call it once, before the first launch. */
void compile_start(enum compile_mode mode);

/* Why kernels are not compiled, in words that go on "kernels are interpreted: "; NULL: they are,
 * once they have run for long. Looks for compiler and cache. Valid for ever. Any thread may call
 * it. Symbol: device_compile_trouble, for csan doctor. */
const char *device_compile_trouble(void);

struct compile_report {
    bool on;
    const char *trouble;               /* why nothing is compiled; NULL: nothing is wrong */
    uint32_t compiled, cached, failed; /* kernels and functions: by now, from the cache, not */
    uint32_t refused;                  /* too large */
};
struct compile_report compile_report(void);

#endif
