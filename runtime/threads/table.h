/* The table that libcsan.so gave, and whether the call at hand is to be told. */
#ifndef RUNTIME_THREADS_TABLE_H
#define RUNTIME_THREADS_TABLE_H

#include "runtime/threads/caller.h"
#include "runtime/threads/threads.h"

#include <stddef.h>

#define EXPORTED __attribute__((visibility("default")))

extern const struct csan_threads_table *threads_table; /* NULL: nobody listens */

/* NULL: pass the call on and tell nobody. */
static inline const struct csan_threads_table *table_for(const void *caller)
{
    const struct csan_threads_table *table = __atomic_load_n(&threads_table, __ATOMIC_ACQUIRE);
    return __builtin_expect(table != NULL, 0) && !caller_is_aside(caller) ? table : NULL;
}

/* In an exported function: the table for who called it. */
#define TABLE() table_for(__builtin_return_address(0))

#endif
