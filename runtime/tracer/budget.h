/* A budget of the program's time, for learning kernels or for confirming what is known of them.
 * csan spends it when it changes code, and when changed code runs at a fraction of its speed. The
 * budget is a fixed amount at first, and then a fraction of the time in which the program launches.
 * While the program waits for something else, it earns and spends nothing.
 *
 * Times are nanoseconds of one monotonic clock. Not thread-safe unless a function says so. */
#ifndef RUNTIME_TRACER_BUDGET_H
#define RUNTIME_TRACER_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

enum {
    BUDGET_GAP_MS = 20, /* of a longer pause between launches, only so much counts */
    BUDGET_WAIT_MS =
        1000 /* the same for the time from the last launch until the device was seen idle */
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

/* A launch. Returns whether more may be spent, as far as that is known without asking what runs
 * now. Thread-safe. */
bool budget_launch(struct budget *budget, uint64_t now);
/* Whether more may be spent. */
bool budget_allows(const struct budget *budget, uint64_t now);
/* A change took that long. */
void budget_spend(struct budget *budget, uint64_t begin, uint64_t end);
/* Changed code is launched; and later, the device is idle, or no code is changed any more. The time
 * in between in which the program worked or waited is spent. */
void budget_busy(struct budget *budget, uint64_t now);
void budget_idle(struct budget *budget, uint64_t now);

#endif
