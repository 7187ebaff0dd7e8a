/* The newest calls by which the program made order, or meant to: event records and waits, graph
 * launches, destroyed streams. They make no order in the detector; joins do that. A report uses
 * them to explain why two accesses have no order although the program looks as if they had one
 * (explain.h).
 *
 * The last STEPS_KEPT are kept in a ring. A report says less about earlier ones. Not thread-safe:
 * the context's lock covers every user. */
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
    struct step *ring; /* NULL before the first step, and when memory is short */
    uint64_t count;    /* ever */
};

/* Its detail is a site whose name is the event's name, or 0. */
static inline bool step_is_of_event(const struct step *step)
{
    return step->kind == CSAN_STEP_RECORD || step->kind == CSAN_STEP_WAIT ||
           step->kind == CSAN_STEP_WAIT_UNRECORDED;
}

/* Whether no report needs it: it is for recordings alone. */
static inline bool step_is_for_recordings(const struct step *step)
{
    return step->kind >= CSAN_STEP_ELAPSED_FROM && step->kind <= CSAN_STEP_DEVICE;
}

void steps_add(struct steps *steps, const struct step *step);
void steps_clear(struct steps *steps);

/* The kept step of that age, from 0, the newest; NULL: it is not kept. */
static inline const struct step *steps_at(const struct steps *steps, uint64_t back)
{
    if (back >= steps->count || back >= STEPS_KEPT || !steps->ring)
        return NULL;
    return &steps->ring[(steps->count - 1 - back) % STEPS_KEPT];
}

#endif
