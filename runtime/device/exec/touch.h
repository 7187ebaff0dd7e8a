/* The exact set of bytes a launch read, wrote and atomically updated: bitmaps per touched page and
 * kind while it runs, folded into strided ranges (trace.h) at its end. */
#ifndef RUNTIME_DEVICE_EXEC_TOUCH_H
#define RUNTIME_DEVICE_EXEC_TOUCH_H

#include "runtime/trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct touch;

enum { TOUCH_KINDS = 3, TOUCH_PAGE_BITS = 12, TOUCH_PAGE = 1 << TOUCH_PAGE_BITS };

/* NULL when memory is short. */
struct touch *touch_create(void);
void touch_destroy(struct touch *touch);

/* Records bytes [address, address + bytes) under an enum device_trace_kind. When memory is short,
 * the set is incomplete and touch_failed says so. */
void touch_record(struct touch *touch, uint32_t kind, uint64_t address, uint64_t bytes);
bool touch_failed(const struct touch *touch);
bool touch_is_empty(const struct touch *touch);

/* Add all that the other has. */
void touch_join(struct touch *touch, const struct touch *other);

/* Bytes [base, limit) are one allocation: no range will cover bytes inside and outside of it. */
void touch_bound(struct touch *touch, uint64_t base, uint64_t limit);

/* The set as ranges, by kind, then address: contiguous runs, runs of equal length at equal distance
 * folded into dims 0, and those again into dims 1. Exactly the bytes recorded; no two ranges of a
 * kind overlap. malloc'd; NULL with *count 0 when the set is empty or memory is short. */
struct device_trace_range *touch_ranges(const struct touch *touch, size_t *count);

#endif
