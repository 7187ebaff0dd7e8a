/* Folds runs of bytes, one after the other, into strided ranges (trace.h). Runs of equal length at
 * equal distance become one range with one dimension, and such ranges again one with two. For code
 * that keeps what a launch touched as bits: touch.h, and the tracer's records. */
#ifndef RUNTIME_TRACE_FOLD_H
#define RUNTIME_TRACE_FOLD_H

#include "runtime/trace/trace.h"

/* First and last addresses of allocations, sorted, each once. All zero means none. */
struct bounds {
    uint64_t *addresses;
    size_t count, capacity;
    bool failed; /* memory was short: some are missing */
};

/* Bytes [base, limit) are one allocation: no range will cover bytes inside and outside of it. */
void bounds_add(struct bounds *bounds, uint64_t base, uint64_t limit);
/* Those of the other, too. */
void bounds_join(struct bounds *bounds, const struct bounds *other);
void bounds_clear(struct bounds *bounds);

/* Ranges that are being folded: runs become rows (one stride), rows become planes (two). `row`,
 * `plane` and the run itself are still open: the next run may belong to them. */
struct folding {
    struct device_trace_range *ranges;
    size_t count, capacity;
    struct device_trace_range row, plane;
    uint32_t kind;
    uint64_t address, bytes; /* the run */
    const struct bounds *bounds;
    uint64_t limit; /* the next bound, across which nothing is folded; UINT64_MAX: there is none */
    bool failed;
};

/* `bounds` may be NULL; it is used until fold_end. */
void fold_begin(struct folding *folding, const struct bounds *bounds);

void fold_run_slow(struct folding *folding, uint32_t kind, uint64_t address, uint64_t bytes);

/* Adds the next run, of at least one byte, in the order of kind (enum device_trace_kind), then
 * address. If it begins where the last run of its kind ended, it continues that run. */
static inline void fold_run(struct folding *folding, uint32_t kind, uint64_t address,
                            uint64_t bytes)
{
    if (folding->bytes && folding->kind == kind && folding->address + folding->bytes == address)
        folding->bytes += bytes;
    else
        fold_run_slow(folding, kind, address, bytes);
}

/* Returns all of them, malloc'd. They hold exactly the bytes of the runs; no two of a kind overlap.
 * NULL with *count 0 when there are none, or memory is short. */
struct device_trace_range *fold_end(struct folding *folding, size_t *count);

/* Such ranges, cut at the bounds: malloc'd, as fold_end would have returned them. */
struct device_trace_range *fold_bounded(const struct device_trace_range *ranges, size_t range_count,
                                        const struct bounds *bounds, size_t *count);

#endif
