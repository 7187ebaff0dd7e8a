/* The granularity of records. See granularity.h. */
#include "runtime/tracer/granularity.h"

#include <string.h>

/* What a thread touches, as a rule, at most. A record that proves too small is lost, and a larger
 * one is taken for the next launch. */
enum { THREAD_BYTES = 2048 };

/* Four bytes first, since few kernels touch less. */
enum { SHIFT = 2 };

void granularity_history_init(struct granularity_history *history)
{
    history->shift = history->coarse_shift = SHIFT;
    memset(history->too_many, 0xff, sizeof history->too_many);
}

/* The smallest size that has room for the blocks, as far as so many threads get round in them. */
static uint32_t size_for(uint64_t threads, uint64_t reach, uint32_t shift)
{
    uint32_t size = 0;
    uint64_t most = threads < UINT64_MAX / THREAD_BYTES ? threads * THREAD_BYTES : UINT64_MAX;
    uint64_t chunks = (reach < most ? reach : most) >> (RECORD_CHUNK_SHIFT + shift);
    while (size + 1 < RECORD_SIZES && chunks >= UINT64_C(3) << record_slot_shift(size) >> 2)
        size++;
    return size;
}

struct granularity granularity_for(const struct granularity_history *history, uint64_t threads,
                                   uint64_t reach)
{
    struct granularity granularity = {.shift = SHIFT};
    if (history) {
        while (granularity.size < RECORD_SIZES && threads >= history->too_many[granularity.size])
            granularity.size++;
        granularity.coarse = granularity.size == RECORD_SIZES;
        granularity.shift = granularity.coarse ? history->coarse_shift : history->shift;
        granularity.size -= granularity.coarse;
    }
    uint32_t likely = size_for(threads, reach, granularity.shift);
    granularity.size = granularity.size < likely ? likely : granularity.size;
    return granularity;
}

void granularity_too_wide(struct granularity_history *history)
{
    history->shift = 0;
}

void granularity_too_small(struct granularity_history *history,
                           const struct granularity *granularity, uint64_t threads,
                           uint32_t largest)
{
    for (uint32_t size = 0; size < RECORD_SIZES; size++)
        if ((size <= granularity->size || granularity->size >= largest) &&
            history->too_many[size] > threads)
            history->too_many[size] = threads;
    uint32_t coarser = granularity->shift < SHIFT ? SHIFT : granularity->shift + 4;
    if (granularity->size >= largest && history->coarse_shift < coarser &&
        coarser <= RECORD_GRANULE_MASK)
        history->coarse_shift = coarser;
}
