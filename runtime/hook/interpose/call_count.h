/* How often each entry point of the driver API came to its hook, or was called by csan itself in
 * place of one. For tests, which compare it with
 * what the driver's own tools count: the environment variable CSAN_CALL_COUNTS names a file, to
 * whose name the process id is added, and the process writes it when it ends and any entry point
 * was called:
 *
 *   csan calls 1
 *   op cuLaunchKernel 12 1         class and exported symbol of the table, the calls, and how many
 *                                  of them did not succeed
 *   unmodelled cuMemMap 1 0        passes through: 1 if it was called at all
 *
 * Every entry point of these two classes has its line. */
#ifndef RUNTIME_HOOK_INTERPOSE_CALL_COUNT_H
#define RUNTIME_HOOK_INTERPOSE_CALL_COUNT_H

#include "runtime/hook/interpose/driver.h"

#include <stdint.h>

struct call_count {
    uint64_t calls, failures;
};
extern struct call_count *call_counts; /* by entry; NULL: nobody asked */

/* Where somebody asked: a call of the entry ended with `result`. */
void call_count(const struct driver_entry *entry, CUresult result);

/* The same of a call that csan made itself, past the hook of that exported symbol. */
void call_count_own(const char *symbol, CUresult result);

/* Once, when csan is on. True: somebody asked. */
bool call_count_start(void);

#endif
