/* The newest calls by which the program made order, or meant to: event records and waits, graph
 * launches, destroyed streams. They order nothing here; joins do that. They let a report explain
 * why two accesses have no order although the program looks as if they had one (explain.h).
 *
 * A ring of STEPS_KEPT: of what lies further back a report says less. Not thread-safe: the
 * context's lock covers every user. */
#ifndef CSAN_DETECTOR_STEPS_H
#define CSAN_DETECTOR_STEPS_H

#include "csan/order/clock.h"
#include <csan/csan.h>

enum { STEPS_KEPT = 4096 };

struct step {
    uint64_t after;  /* the number of the newest op before it */
    uint64_t object; /* what it was done to, as csan_step has it */
    uint64_t detail; /* likewise */
    epoch_t epoch;   /* the lane's newest */
    uint32_t lane, site;
    uint8_t kind; /* enum csan_step_kind */
};

struct steps {
    struct step *ring; /* NULL until the first, and without memory for it */
    uint64_t count;    /* ever */
};

/* Its detail is a site that bears the event's name, or 0. */
static inline bool step_is_of_event(const struct step *step)
{
    return step->kind == CSAN_STEP_RECORD || step->kind == CSAN_STEP_WAIT ||
           step->kind == CSAN_STEP_WAIT_UNRECORDED;
}

void steps_add(struct steps *steps, const struct step *step);
void steps_clear(struct steps *steps);

/* From the newest, 0, to the oldest that is kept; NULL beyond. */
static inline const struct step *steps_at(const struct steps *steps, uint64_t back)
{
    if (back >= steps->count || back >= STEPS_KEPT || !steps->ring)
        return NULL;
    return &steps->ring[(steps->count - 1 - back) % STEPS_KEPT];
}

#endif
