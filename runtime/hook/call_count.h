/* How often each entry point of the driver API came to its hook. For tests, which compare it with
 * what the driver's own tools count: the environment variable CSAN_CALL_COUNTS names a file, to
 * whose name the process id is added, and the process writes it when it ends and any entry point
 * was called:
 *
 *   csan calls 1
 *   op cuLaunchKernel 12           class and exported symbol of the table, and the calls
 *   unmodelled cuMemMap 1          passes through: 1 if it was called at all
 *
 * Every entry point of these two classes has its line. */
#ifndef RUNTIME_HOOK_CALL_COUNT_H
#define RUNTIME_HOOK_CALL_COUNT_H

#include <stdint.h>

extern uint64_t *call_counts; /* by entry; NULL: nobody asked */

/* For the generated wrappers. */
static inline void call_count(unsigned number)
{
    if (__builtin_expect(call_counts != 0, 0))
        __atomic_fetch_add(&call_counts[number], 1, __ATOMIC_RELAXED);
}

/* Once, when csan is on. */
void call_count_start(void);

#endif
