/* See memory_usage.h. */
#include "csan/detector/memory_usage.h"

#include <stdlib.h>

static int compare(uint64_t left, uint64_t right)
{
    return left < right ? -1 : left > right;
}

static int by_place(const void *left, const void *right)
{
    const struct memory_usage *a = left, *b = right;
    if (a->class != b->class)
        return compare(a->class, b->class);
    return a->kind != b->kind ? compare(a->kind, b->kind) : compare(a->site, b->site);
}

/* Of equal ones the oldest site, so that reports are alike in each run. */
static int by_bytes(const void *left, const void *right)
{
    const struct memory_usage *a = left, *b = right;
    return a->bytes != b->bytes ? compare(b->bytes, a->bytes) : by_place(left, right);
}

static bool block_counts(const struct live_memory *live, memory_usage_wanted *wanted, void *user,
                         const struct live_memory_block *block)
{
    const struct live_memory_entry *entry =
        wanted ? live_memory_find(live, block->range.start) : NULL;
    return !entry || wanted(user, entry->range.start);
}

static struct memory_usage of_entry(const struct live_memory_entry *entry)
{
    return (struct memory_usage){.class =
                                     entry->pooled ? MEMORY_USAGE_POOL : MEMORY_USAGE_ALLOCATION,
                                 .kind = entry->kind,
                                 .site = entry->site,
                                 .count = 1,
                                 .bytes = entry->range.end - entry->range.start,
                                 .oldest = entry->born,
                                 .newest = entry->born};
}

static struct memory_usage of_block(const struct live_memory_block *block)
{
    return (struct memory_usage){.class = MEMORY_USAGE_BLOCK,
                                 .site = block->site,
                                 .count = 1,
                                 .bytes = block->range.end - block->range.start};
}

static size_t take_all(const struct live_memory *live, memory_usage_wanted *wanted, void *user,
                       struct memory_usage *items)
{
    const struct live_memory_entry *entry;
    const struct live_memory_block *block;
    size_t taken = 0;
    for (struct range_cursor at = {0, 0}; (entry = range_map_at(&live->allocations, at));
         at = range_map_next(&live->allocations, at))
        if (!wanted || wanted(user, entry->range.start))
            items[taken++] = of_entry(entry);
    for (struct range_cursor at = {0, 0}; (block = range_map_at(&live->blocks, at));
         at = range_map_next(&live->blocks, at))
        if (block_counts(live, wanted, user, block))
            items[taken++] = of_block(block);
    return taken;
}

static void add(struct memory_usage *sum, const struct memory_usage *one)
{
    sum->count += one->count;
    sum->bytes += one->bytes;
    sum->oldest = one->oldest < sum->oldest ? one->oldest : sum->oldest;
    sum->newest = one->newest > sum->newest ? one->newest : sum->newest;
}

size_t memory_usage_gather(const struct live_memory *live, memory_usage_wanted *wanted, void *user,
                           struct memory_usage **holdings)
{
    const size_t most = live->allocations.count + live->blocks.count;
    struct memory_usage *items = *holdings = calloc(most + 1, sizeof *items);
    if (!items)
        return 0;
    const size_t all = take_all(live, wanted, user, items);
    size_t count = 0;
    qsort(items, all, sizeof *items, by_place);
    for (size_t i = 0; i < all; i++)
        if (count && by_place(&items[count - 1], &items[i]) == 0)
            add(&items[count - 1], &items[i]);
        else
            items[count++] = items[i];
    qsort(items, count, sizeof *items, by_bytes);
    return count;
}
