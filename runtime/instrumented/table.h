/* The table that libcsan.so registered, and the test that every load and store makes. */
#ifndef RUNTIME_INSTRUMENTED_TABLE_H
#define RUNTIME_INSTRUMENTED_TABLE_H

#include "runtime/instrumented/instrumented.h"

#include <stdbool.h>

#define EXPORTED __attribute__((visibility("default")))

/* Until libcsan.so registers one, nothing is pending. */
extern struct csan_host_table host_table;

static inline bool may_meet(const void *address, const uint16_t *pages)
{
    return __builtin_expect(
        pages[(uintptr_t)address >> INSTRUMENTED_PAGE_SHIFT & (INSTRUMENTED_PAGES - 1)] != 0, 0);
}

static inline void reads(const void *address, size_t bytes, const void *pc)
{
    if (may_meet(address, host_table.written))
        host_table.access(address, bytes, 0, pc);
}

static inline void writes(const void *address, size_t bytes, const void *pc)
{
    if (may_meet(address, host_table.touched))
        host_table.access(address, bytes, 1, pc);
}

/* Of any length: each page counts. */
void reads_range(const void *address, size_t bytes, const void *pc);
void writes_range(const void *address, size_t bytes, const void *pc);

#endif
