/* The table that libcsan.so registered, and whether csan must see the current call. */
#ifndef RUNTIME_THREADS_TABLE_H
#define RUNTIME_THREADS_TABLE_H

#include "runtime/threads/caller.h"
#include "runtime/threads/threads.h"

#include <stddef.h>

#define EXPORTED __attribute__((visibility("default")))

extern const struct csan_threads_table *threads_table; /* NULL: libcsan.so has registered none */

/* NULL: pass the call on; csan does not see it. */
static inline const struct csan_threads_table *table_for(const void *caller)
{
    const struct csan_threads_table *table = __atomic_load_n(&threads_table, __ATOMIC_ACQUIRE);
    return __builtin_expect(table != NULL, 0) && !caller_is_aside(caller) ? table : NULL;
}

/* In an exported function: the table for who called it. */
#define TABLE() table_for(__builtin_return_address(0))

#endif
