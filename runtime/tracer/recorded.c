/* Turns a record's bits into ranges. See recorded.h. */
#include "runtime/tracer/recorded.h"
#include "runtime/trace/fold.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = RECORD_CHUNK_WORDS / 2 };

static int compare_uses(const void *left, const void *right)
{
    const struct record_use *a = left, *b = right;
    unsigned kind_a = record_key_kind(a->key), kind_b = record_key_kind(b->key);
    if (kind_a != kind_b)
        return kind_a < kind_b ? -1 : 1;
    return (a->key > b->key) - (a->key < b->key);
}

/* In order, without those that make no sense; returns how many. */
static uint32_t uses_sort(struct record_use *uses, uint32_t count, uint32_t size)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (uses[i].slot >> record_slot_shift(size) == 0 &&
            record_key_kind(uses[i].key) < RECORD_KINDS)
            uses[kept++] = uses[i];
    qsort(uses, kept, sizeof *uses, compare_uses);
    return kept;
}

/* The granules of the chunk that lie in a row, row after row. Most chunks are full, or nearly: a
 * word in which nothing begins or ends is passed over at once. */
static void chunk_fold(struct folding *folding, const struct record_chunk *chunk, unsigned kind,
                       uint64_t address, uint32_t shift)
{
    uint64_t last = 0; /* the last granule's bit, in all bits */
    uint32_t run = 0;  /* the granule where it began, where that is set */
    for (uint32_t word = 0; word < WORDS; word++) {
        uint64_t bits;
        memcpy(&bits, &chunk->bits[2 * word], sizeof bits);
        if (bits == last)
            continue;
        for (uint64_t turns = bits ^ (bits << 1 | (last & 1)); turns; turns &= turns - 1) {
            uint32_t granule = word * 64 + (uint32_t)__builtin_ctzll(turns);
            if (last)
                fold_run(folding, kind, address + ((uint64_t)run << shift),
                         (uint64_t)(granule - run) << shift);
            run = granule;
            last = ~last;
        }
    }
    if (last)
        fold_run(folding, kind, address + ((uint64_t)run << shift),
                 (uint64_t)((1 << RECORD_CHUNK_SHIFT) - run) << shift);
}

void recorded_fill(struct recorded *recorded, struct record *record, uint32_t size, uint32_t shift)
{
    uint8_t *base = (uint8_t *)record;
    struct record_use *uses = (struct record_use *)(base + record_uses_at(size));
    const struct record_chunk *chunks =
        (const struct record_chunk *)(base + record_chunks_at(size));
    const uint32_t count = uses_sort(uses, record->use_count, size);
    struct folding folding;
    fold_begin(&folding, NULL);
    for (uint32_t i = 0; i < count; i++)
        chunk_fold(&folding, &chunks[uses[i].slot], record_key_kind(uses[i].key),
                   record_key_number(uses[i].key) << (RECORD_CHUNK_SHIFT + shift), shift);
    recorded->flags = record->flags;
    recorded->ranges = fold_end(&folding, &recorded->count);
    recorded->whole = !folding.failed;
}

/* ---- Other ranges ---- */

struct run {
    uint64_t address, bytes;
    uint32_t kind;
};

/* What takes longer to put in order than anybody waits for. */
enum { RUNS_MOST = 1 << 16 };

static uint64_t runs_of(const struct device_trace_range *range)
{
    uint64_t runs = 1;
    for (uint32_t k = 0; k < range->dims && runs <= RUNS_MOST; k++)
        runs = range->count[k] <= RUNS_MOST ? runs * range->count[k] : RUNS_MOST + 1;
    return runs <= RUNS_MOST ? runs : RUNS_MOST + 1;
}

static uint64_t reach_of(const struct device_trace_range *range, uint32_t dim)
{
    return range->stride[dim] * (range->count[dim] - 1);
}

/* Less one dimension, that which reaches least: with all that lies between. */
static void range_coarsen(struct device_trace_range *range)
{
    const bool inner = range->dims > 1 && reach_of(range, 1) < reach_of(range, 0);
    range->bytes += reach_of(range, inner);
    if (!inner) {
        range->stride[0] = range->stride[1];
        range->count[0] = range->count[1];
    }
    range->dims--;
}

/* Until they are no more runs than that; returns how many. */
static uint64_t ranges_coarsen(struct device_trace_range *ranges, uint32_t count, uint64_t most)
{
    for (;;) {
        uint64_t total = 0;
        struct device_trace_range *largest = NULL;
        for (uint32_t i = 0; i < count; i++) {
            total += runs_of(&ranges[i]);
            if (ranges[i].dims > 0 && (!largest || runs_of(&ranges[i]) > runs_of(largest)))
                largest = &ranges[i];
        }
        if (total <= most || !largest)
            return total;
        range_coarsen(largest);
    }
}

static struct run *runs_put(struct run *runs, const struct device_trace_range *range)
{
    const uint64_t planes = range->dims > 1 ? range->count[0] : 1,
                   rows = range->dims > 0 ? range->count[range->dims - 1] : 1,
                   plane = range->dims > 1 ? range->stride[0] : 0,
                   row = range->dims > 0 ? range->stride[range->dims - 1] : 0;
    for (uint64_t i = 0; i < planes; i++)
        for (uint64_t k = 0; k < rows; k++)
            *runs++ = (struct run){range->address + i * plane + k * row, range->bytes, range->kind};
    return runs;
}

static int compare_runs(const void *left, const void *right)
{
    const struct run *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

static void runs_fold(struct recorded *recorded, const struct run *runs, uint64_t count)
{
    struct folding folding;
    fold_begin(&folding, NULL);
    for (uint64_t i = 0; i < count;) {
        uint64_t end = runs[i].address + runs[i].bytes, next = i + 1;
        for (; next < count && runs[next].kind == runs[i].kind && runs[next].address <= end; next++)
            if (runs[next].address + runs[next].bytes > end)
                end = runs[next].address + runs[next].bytes;
        fold_run(&folding, runs[i].kind, runs[i].address, end - runs[i].address);
        i = next;
    }
    free(recorded->ranges);
    recorded->ranges = fold_end(&folding, &recorded->count);
    recorded->whole &= !folding.failed;
}

static bool join(struct recorded *recorded, struct device_trace_range *ranges, uint32_t count)
{
    uint64_t total = 0;
    for (size_t i = 0; i < recorded->count && total <= RUNS_MOST; i++)
        total += runs_of(&recorded->ranges[i]);
    if (total <= RUNS_MOST)
        total += ranges_coarsen(ranges, count, RUNS_MOST - total);
    struct run *runs = total <= RUNS_MOST ? malloc((total + 1) * sizeof *runs) : NULL, *end = runs;
    if (!runs)
        return false;
    for (size_t i = 0; i < recorded->count; i++)
        end = runs_put(end, &recorded->ranges[i]);
    for (uint32_t i = 0; i < count; i++)
        end = runs_put(end, &ranges[i]);
    qsort(runs, total, sizeof *runs, compare_runs);
    runs_fold(recorded, runs, total);
    free(runs);
    return true;
}

void recorded_join(struct recorded *recorded, const struct device_trace_range *ranges,
                   uint32_t count)
{
    struct device_trace_range *own = malloc((count + 1) * sizeof *own);
    if (own && count)
        memcpy(own, ranges, count * sizeof *own);
    recorded->whole &= own && join(recorded, own, count);
    free(own);
}

void recorded_clear(struct recorded *recorded)
{
    free(recorded->ranges);
    *recorded = (struct recorded){0};
}
