/* What a launch left in its record, as ranges of bytes. */
#ifndef RUNTIME_TRACER_RECORDED_H
#define RUNTIME_TRACER_RECORDED_H

#include "runtime/trace/trace.h"
#include "runtime/tracer/record.h"

#include <stdbool.h>

struct recorded {
    bool whole;     /* memory was not short */
    uint32_t flags; /* the record's: RECORD_... */
    size_t count;
    struct device_trace_range *ranges; /* as fold_end gives them; recorded_clear frees them */
};

/* Of a record of that size in host memory: its head, its uses, which are put in order, and the
 * chunks that those name. A granule has 1 << shift bytes. */
void recorded_fill(struct recorded *recorded, struct record *record, uint32_t size, uint32_t shift);
/* The same with these ranges added, which may overlap and have any order. If there are more rows
 * than can be sorted in reasonable time, what lies between them is included. */
void recorded_join(struct recorded *recorded, const struct device_trace_range *ranges,
                   uint32_t count);
void recorded_clear(struct recorded *recorded);

#endif
