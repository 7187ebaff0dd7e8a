/* From a record's bits to ranges. See recorded.h. */
#include "runtime/tracer/recorded.h"
#include "runtime/device/fold.h"

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

void recorded_clear(struct recorded *recorded)
{
    free(recorded->ranges);
    *recorded = (struct recorded){0};
}
