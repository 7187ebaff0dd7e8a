/* Counts how often each entry point of the driver API reached its hook, or was called by csan
 * itself in place of one. Tests compare this with what the driver's own tools count. The
 * environment variable CSAN_CALL_COUNTS names a file, to whose name the process id is added. The
 * process writes it at its end, if any entry point was called:
 *
 *   csan calls 1
 *   op cuLaunchKernel 12 1    class and exported symbol of the table, the calls, and how many of
 *                             them did not succeed
 *   unmodelled cuMemMap 1 0   passes through: 1 if it was called at all
 *
 * Each entry point of these two classes has a line. */
#ifndef RUNTIME_HOOK_INTERPOSE_CALL_COUNT_H
#define RUNTIME_HOOK_INTERPOSE_CALL_COUNT_H

#include "runtime/hook/interpose/driver.h"

#include <stdint.h>

struct call_count {
    uint64_t calls, failures;
};
extern struct call_count *call_counts; /* by entry; NULL: nobody asked */

/* If counts are wanted: a call of the entry ended with `result`. */
void call_count(const struct driver_entry *entry, CUresult result);

/* The same for a call that csan made itself, without the hook of that exported symbol. */
void call_count_own(const char *symbol, CUresult result);

/* Call it once, when csan is on. True: counts are wanted. */
bool call_count_start(void);

#endif
