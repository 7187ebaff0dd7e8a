/* The gate between launches and changes. See gate.h. */
#include "runtime/tracer/gate.h"

#include <stdint.h>
#include <time.h>

#define CLOSED (UINT32_C(1) << 31)

/* How long a launch waits, as a thread sleeps: 5 to 10 ms. */
enum { STEPS = 100, STEP_US = 20 };

/* How many threads are within, and whether it is closed. */
static uint32_t gate;
static uint32_t entries; /* while it was closed, since it was */

void gate_enter(void)
{
    for (int left = STEPS; __atomic_fetch_add(&gate, 1, __ATOMIC_SEQ_CST) & CLOSED; left--) {
        if (left == 0) {
            __atomic_fetch_add(&entries, 1, __ATOMIC_SEQ_CST);
            return;
        }
        gate_leave();
        nanosleep(&(struct timespec){.tv_nsec = STEP_US * 1000L}, NULL);
    }
}

void gate_leave(void)
{
    __atomic_fetch_sub(&gate, 1, __ATOMIC_SEQ_CST);
}

bool gate_close(void)
{
    uint32_t nobody = 0;
    return __atomic_compare_exchange_n(&gate, &nobody, CLOSED, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED);
}

/* Who enters right now counts for the next one: an entry too many, never one too few. */
bool gate_open(void)
{
    bool nobody = __atomic_exchange_n(&entries, 0, __ATOMIC_SEQ_CST) == 0;
    __atomic_fetch_and(&gate, ~CLOSED, __ATOMIC_SEQ_CST);
    return nobody;
}
