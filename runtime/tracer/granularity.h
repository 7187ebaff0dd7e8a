/* How fine and how large a launch's record has to be, as launches of its function have shown. Not
 * thread-safe. */
#ifndef RUNTIME_TRACER_GRANULARITY_H
#define RUNTIME_TRACER_GRANULARITY_H

#include "runtime/tracer/record.h"

#include <stdbool.h>
#include <stdint.h>

struct granularity {
    uint32_t shift; /* log2 of a granule's bytes */
    uint32_t size;  /* of the record (record.h) */
    bool coarse;    /* finer is too much: its sets are bounds */
};

/* What is known of a function's launches. */
struct granularity_history {
    uint32_t shift;                  /* of launches whose records are not full */
    uint32_t coarse_shift;           /* of those that are whatever the record's size */
    uint64_t too_many[RECORD_SIZES]; /* threads of the smallest launch that filled that size */
};

void granularity_history_init(struct granularity_history *history);
/* What a launch of so many threads takes, whose pointers lead into blocks of so many bytes (0: it
 * is not known). NULL: nothing is known of others. */
struct granularity granularity_for(const struct granularity_history *history, uint64_t threads,
                                   uint64_t reach);
/* Some accesses of a launch were narrower than its granules, which later launches' are not. */
void granularity_too_wide(struct granularity_history *history);
/* The record of a launch of so many threads was full, of which there are larger ones up to
 * `largest`: launches of as many threads take one, or coarser granules. */
void granularity_too_small(struct granularity_history *history, const struct granularity *grain,
                           uint64_t threads, uint32_t largest);

#endif
