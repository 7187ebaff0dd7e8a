/* How much of the program's time goes to an end, to learn of kernels or to confirm what is known of
 * them: to change their code, and to run code that is changed for that, at a fraction of its speed.
 * So much at first, and so large a part of the time in which the program launches: while it waits
 * for something else, nothing is earned, and nothing is spent.
 *
 * Times are nanoseconds of one clock that only goes forward. Not thread-safe but where said. */
#ifndef RUNTIME_TRACER_BUDGET_H
#define RUNTIME_TRACER_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

enum {
    BUDGET_GAP_MS = 20,   /* between launches: of a longer one, so much counts */
    BUDGET_WAIT_MS = 1000 /* from the last launch to where the device was seen idle: likewise */
};

/* What is not said is zero: nothing was spent. */
struct budget {
    uint64_t allowance;           /* at first */
    uint64_t part;                /* one of so many */
    uint64_t spent;               /* written by one thread at a time; atomic */
    uint64_t busy_since;          /* 0: changed code does not run */
    uint64_t worked_before;       /* what was worked by then */
    uint64_t worked, last_launch; /* atomic */
};

/* A launch; whether more might be spent, as far as that is known without asking what runs now.
 * Thread-safe. */
bool budget_launch(struct budget *budget, uint64_t now);
/* Whether more may be spent. */
bool budget_allows(const struct budget *budget, uint64_t now);
/* A change took that long. */
void budget_spend(struct budget *budget, uint64_t begin, uint64_t end);
/* Changed code is launched; and the device is idle, or no code is changed any more. What the
 * program worked or waited between is spent. */
void budget_busy(struct budget *budget, uint64_t now);
void budget_idle(struct budget *budget, uint64_t now);

#endif
