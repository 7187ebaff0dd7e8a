/* Explains why two accesses have no order: what the program did between them that looks like an
 * order, in the words of the CUDA documentation, and which event it could wait for.
 *
 * It says only what is sure. A step counts for a race if it is on one of the two lanes, or about an
 * event that was recorded on the earlier access's lane after that access. Not thread-safe: the
 * context's lock covers every user. */
#ifndef CSAN_DETECTOR_EXPLAIN_H
#define CSAN_DETECTOR_EXPLAIN_H

#include "csan/order/order.h"
#include "csan/shadow/shadow.h"
#include "csan/detector/steps.h"

/* The steps that a report names. */
struct explanation {
    enum csan_cause cause;
    struct step record; /* kind 0 in all of them: there is none */
    struct step again;
    struct step wait;
    struct step usable;
};

struct explanation explain(const struct steps *steps, const struct order *order,
                           const struct past_access *current, const struct past_access *earlier);

#endif
