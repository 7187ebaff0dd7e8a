/* The handler of SIGSEGV for accesses of the host to guarded pages. It finds out which access
 * faulted, has it checked, and lets the program go on. A fault that is not csan's goes to the
 * handler that the program has set, or would have had without csan.
 *
 * While it is in use, the program's handlers of SIGSEGV and SIGTRAP stand behind csan's (sigaction
 * and signal are interposed). No thread and no handler can block these two signals, because a fault
 * whose signal is blocked ends the process (sigprocmask(2)). */
#ifndef RUNTIME_HOOK_HOST_HOST_FAULT_H
#define RUNTIME_HOOK_HOST_HOST_FAULT_H

#include "csan/base/range_map.h"

#include <stdbool.h>
#include <stdint.h>

struct host_fault {
    uint64_t pc;        /* of the instruction */
    uint64_t caller;    /* the word on top of the stack, which may be the return address */
    uint64_t stack;     /* how far the thread's has come */
    struct range bytes; /* that it accesses */
    bool writes;
};

/* Called for each access that meets an op, on the thread that makes it, within the handler. */
enum host_fault_checked {
    HOST_FAULT_UNCHECKED, /* it could not be */
    HOST_FAULT_CHECKED,
    HOST_FAULT_ORDERED, /* the thread knows that the op is over; others may not */
};
typedef enum host_fault_checked host_fault_check(const struct host_fault *fault);

/* Once. False: not on this machine. `before_end` is called before a signal ends the process. */
bool host_fault_start(host_fault_check *check, void (*before_end)(void));

/* Whether SIGSEGV still comes to csan: a program may set a handler past the C library. */
bool host_fault_is_handled(void);

/* Restores the signals that the program has set. */
void host_fault_stop(void);

#endif
