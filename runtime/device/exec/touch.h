/* The exact set of bytes a launch read, wrote and atomically updated: bits per touched page and
 * kind while it runs, folded into strided ranges (trace.h) at its end. */
#ifndef RUNTIME_DEVICE_EXEC_TOUCH_H
#define RUNTIME_DEVICE_EXEC_TOUCH_H

#include "csan/base/hash.h"
#include "runtime/trace/fold.h"
#include "runtime/trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TOUCH_KINDS = 3,
    TOUCH_PAGE_BITS = 12,
    TOUCH_PAGE = 1 << TOUCH_PAGE_BITS,
    TOUCH_WORDS = TOUCH_PAGE / 64,
    TOUCH_CACHE_BITS = 8
};

/* A page and a kind. */
struct touch_page {
    uint64_t key;   /* page number * 4 + kind */
    uint64_t full;  /* words of 64 bytes that are touched whole */
    uint64_t *bits; /* by word, of the others; NULL: none of their bytes */
};

struct touch {
    struct touch_page **table; /* open addressing, a power of two */
    size_t capacity, count;
    struct touch_page_block *blocks; /* the first one has room, unless count is a multiple */
    struct touch_page *cache[1 << TOUCH_CACHE_BITS];
    struct bounds bounds;
    bool failed;
};

/* NULL when memory is short. */
struct touch *touch_create(void);
void touch_destroy(struct touch *touch);

/* Records bytes [address, address + bytes) under an enum device_trace_kind. When memory is short,
 * the set is incomplete and touch_failed says so. */
void touch_record(struct touch *touch, uint32_t kind, uint64_t address, uint64_t bytes);
bool touch_failed(const struct touch *touch);
/* Words [first, first + count), count > 0. */
static inline uint64_t touch_words(uint32_t first, uint32_t count)
{
    return ~0ull >> (TOUCH_WORDS - count) << first;
}

/* Rows of a matrix lie at distances that are powers of two: spread, or they would all meet. */
static inline struct touch_page **touch_cached(struct touch *touch, uint64_t key)
{
    return &touch->cache[key * HASH_ODD >> (64 - TOUCH_CACHE_BITS)];
}

/* touch_record, fast for whole words of a page that was just touched. */
static inline void touch_record_near(struct touch *touch, uint32_t kind, uint64_t address,
                                     uint64_t bytes)
{
    const uint64_t key = (address >> TOUCH_PAGE_BITS) * 4 + kind;
    const uint32_t first = address % TOUCH_PAGE;
    struct touch_page *page = *touch_cached(touch, key);
    if (page && page->key == key && first + bytes <= TOUCH_PAGE && ((address | bytes) & 63) == 0)
        page->full |= touch_words(first / 64, (uint32_t)bytes / 64);
    else
        touch_record(touch, kind, address, bytes);
}

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
