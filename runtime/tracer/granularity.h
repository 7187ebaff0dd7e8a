/* The granularity and size of a launch's record. Earlier launches of its function determine them.
 * Not thread-safe. */
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
/* The granularity for a launch of `threads` threads whose pointers lead into blocks of `reach`
 * bytes (0: not known). `history` NULL: no launch of the function is known. */
struct granularity granularity_for(const struct granularity_history *history, uint64_t threads,
                                   uint64_t reach);
/* A launch's accesses were narrower than its granules: later launches get finer ones. */
void granularity_too_wide(struct granularity_history *history);
/* The record of a launch of `threads` threads was full; records exist up to size `largest`.
 * Launches of as many threads get a larger record, or coarser granules. */
void granularity_too_small(struct granularity_history *history,
                           const struct granularity *granularity, uint64_t threads,
                           uint32_t largest);

#endif
