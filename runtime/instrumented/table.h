/* What libcsan_host.so exports to the calls that are linked into programs, the table that
 * libcsan.so registered, and the test that every load and store makes. */
#ifndef RUNTIME_INSTRUMENTED_TABLE_H
#define RUNTIME_INSTRUMENTED_TABLE_H

#include "runtime/instrumented/instrumented.h"

#include <stdbool.h>

#define EXPORTED __attribute__((visibility("default")))

/* The counters, and what to do where one is not 0. Programs have the calls of them in their own
 * code, so they stay what they are as long as the library has its name. */
extern uint16_t csan_host_written[INSTRUMENTED_PAGES] EXPORTED;
extern uint16_t csan_host_touched[INSTRUMENTED_PAGES] EXPORTED;
void csan_host_access(const void *address, size_t bytes, int writes, const void *pc) EXPORTED;
/* Of any length: each page counts. */
void csan_host_range(const void *address, size_t bytes, int writes, const void *pc) EXPORTED;

extern struct csan_host_table host_table;

static inline bool may_meet(const void *address, const uint16_t *pages)
{
    return __builtin_expect(
        pages[(uintptr_t)address >> INSTRUMENTED_PAGE_SHIFT & (INSTRUMENTED_PAGES - 1)] != 0, 0);
}

static inline void reads(const void *address, size_t bytes, const void *pc)
{
    if (may_meet(address, csan_host_written))
        csan_host_access(address, bytes, 0, pc);
}

static inline void writes(const void *address, size_t bytes, const void *pc)
{
    if (may_meet(address, csan_host_touched))
        csan_host_access(address, bytes, 1, pc);
}

#endif
