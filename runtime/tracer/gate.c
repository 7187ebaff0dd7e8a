/* The gate between launches and changes. See gate.h. */
#include "runtime/tracer/gate.h"

#include <stdint.h>
#include <time.h>

#define CLOSED (UINT32_C(1) << 31)

/* How long a launch waits, as a thread sleeps: 5 to 10 ms. */
enum { STEPS = 100, STEP_US = 20 };

/* How many threads are within, and whether it is closed. */
static uint32_t gate;

void gate_enter(void)
{
    for (int left = STEPS; __atomic_fetch_add(&gate, 1, __ATOMIC_SEQ_CST) & CLOSED && left > 0;
         left--) {
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

void gate_open(void)
{
    __atomic_fetch_and(&gate, ~CLOSED, __ATOMIC_SEQ_CST);
}
