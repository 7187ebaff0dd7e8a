/* Keeps launches and changes of code apart. See patch_gate.h. */
#include "runtime/tracer/patch_gate.h"

#include <stdint.h>
#include <time.h>

#define CLOSED (UINT32_C(1) << 31)

/* How a launch waits: often at first, then longer; two seconds in all, and what the sleeps take.
 * Once one has waited for so long, the others do not. */
enum { SHORT_STEPS = 100, SHORT_US = 20, LONG_STEPS = 1000, LONG_US = 2000 };

static struct {
    uint32_t within; /* threads, and CLOSED */
    uint32_t forced; /* entries while it was closed, since it was */
} gate;

static bool enter(void)
{
    return !(__atomic_fetch_add(&gate.within, 1, __ATOMIC_SEQ_CST) & CLOSED);
}

bool patch_gate_is_forced(void)
{
    return __atomic_load_n(&gate.forced, __ATOMIC_SEQ_CST) > 0;
}

void patch_gate_enter(void)
{
    for (int step = 0; !enter(); step++) {
        if (step == SHORT_STEPS + LONG_STEPS || patch_gate_is_forced()) {
            __atomic_fetch_add(&gate.forced, 1, __ATOMIC_SEQ_CST);
            return;
        }
        patch_gate_leave();
        const long us = step < SHORT_STEPS ? SHORT_US : LONG_US;
        nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
    }
}

void patch_gate_leave(void)
{
    __atomic_fetch_sub(&gate.within, 1, __ATOMIC_SEQ_CST);
}

bool patch_gate_close(void)
{
    uint32_t nobody = 0;
    return __atomic_compare_exchange_n(&gate.within, &nobody, CLOSED, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED);
}

/* Who enters right now counts for the next one: an entry too many, never one too few. */
bool patch_gate_open(void)
{
    bool nobody = __atomic_exchange_n(&gate.forced, 0, __ATOMIC_SEQ_CST) == 0;
    __atomic_fetch_and(&gate.within, ~CLOSED, __ATOMIC_SEQ_CST);
    return nobody;
}
