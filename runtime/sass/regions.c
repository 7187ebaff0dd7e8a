/* Regions. See regions.h. */
#include "runtime/sass/regions.h"

#include <stdlib.h>
#include <string.h>

enum { WAYS_MOST = 4096, BLOCKS_A_UNIT = 4 };

struct filler {
    const struct regions_of *of;
    uint32_t *work, most;
    uint32_t *region_of; /* by block, then by what is guarded: that begins there, plus one */
    bool *is_in;         /* by block: the region that is filled has it */
    uint32_t *turns, turn_count;
    uint32_t *read; /* of each region, as of blocks */
    uint32_t region_count, way_count;
    struct reads_way ways[WAYS_MOST];
    struct reads_region regions[READS_REGIONS_MOST];
    uint32_t begins[READS_REGIONS_MOST]; /* the region's first block, or behind these */
};

/* From the region that is filled; false: there are too many. */
static bool way_add(struct filler *filler, uint32_t block, uint16_t condition, bool holds)
{
    if (block == FLOW_NOWHERE)
        return true;
    uint32_t *region = &filler->region_of[block];
    if ((!*region && filler->region_count == READS_REGIONS_MOST) || filler->way_count == WAYS_MOST)
        return false;
    if (!*region) {
        filler->begins[filler->region_count] = block;
        *region = ++filler->region_count;
    }
    filler->ways[filler->way_count++] =
        (struct reads_way){.condition = condition, .to = (uint16_t)(*region - 1), .holds = holds};
    return true;
}

static void block_add(struct filler *filler, uint32_t block)
{
    if (block == FLOW_NOWHERE || filler->is_in[block])
        return;
    filler->is_in[block] = true;
    filler->turns[filler->turn_count++] = block;
}

/* What its blocks have that is guarded. False: there are too many. */
static bool guarded_add(struct filler *filler)
{
    const uint32_t blocks = filler->of->flow->block_count;
    uint64_t guarded = 0;
    bool known = true;
    for (uint32_t block = 0; block < blocks; block++)
        if (filler->is_in[block])
            guarded |= filler->of->guarded_in[block];
    for (; known && guarded; guarded &= guarded - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(guarded);
        const struct regions_guarded *by = &filler->of->guarded[i];
        known = way_add(filler, blocks + i, by->condition, by->holds);
    }
    return known;
}

/* All blocks that control comes to from its first but by such branches. False: there is too much of
 * it. */
static bool region_fill(struct filler *filler, uint32_t region)
{
    const struct flow *flow = filler->of->flow;
    const uint32_t first_way = filler->way_count;
    bool known = true;
    memset(filler->is_in, 0, flow->block_count * sizeof *filler->is_in);
    *filler->work += 1 + flow->block_count / BLOCKS_A_UNIT;
    if (filler->begins[region] < flow->block_count)
        block_add(filler, filler->begins[region]);
    while (known && filler->turn_count) {
        const uint32_t index = filler->turns[--filler->turn_count];
        const struct flow_block *block = &flow->blocks[index];
        const uint16_t condition = (uint16_t)(filler->of->decided_by[index] - 1);
        const bool holds = !(flow->steps[block->end - 1].guard & STEP_NEGATED);
        known = ++*filler->work <= filler->most;
        if (filler->of->decided_by[index]) {
            known = known && way_add(filler, block->taken, condition, holds) &&
                    way_add(filler, block->next, condition, !holds);
            continue;
        }
        block_add(filler, block->taken);
        block_add(filler, block->next);
        for (uint32_t i = 0; block->to_reconvergence && i < flow->reconvergence_count; i++)
            block_add(filler, flow->reconvergence[i]);
    }
    known = known && guarded_add(filler);
    filler->regions[region] = (struct reads_region){first_way, filler->way_count - first_way};
    return known;
}

static void region_note(const struct filler *filler, uint32_t begins, uint32_t *read)
{
    const uint32_t chunks = reads_chunks(filler->of->words),
                   guarded = begins - filler->of->flow->block_count;
    for (uint32_t i = 0; guarded < filler->of->guarded_count && i < chunks; i++)
        read[i] |= filler->of->guarded_read[(size_t)guarded * chunks + i];
    for (uint32_t block = 0; block < filler->of->flow->block_count; block++)
        for (uint32_t i = 0; filler->is_in[block] && i < chunks; i++)
            read[i] |= filler->of->read[(size_t)block * chunks + i];
}

/* What control does not come to, as far as is known, counts for each launch. */
static void unreached_note(const struct filler *filler, uint32_t *read)
{
    const uint32_t chunks = reads_chunks(filler->of->words);
    for (uint32_t block = 0; block < filler->of->flow->block_count; block++)
        for (uint32_t i = 0; !filler->of->flow->blocks[block].is_reached && i < chunks; i++)
            read[i] |= filler->of->read[(size_t)block * chunks + i];
}

/* Whether a launch is asked in some microseconds at most. */
static bool is_asked_soon(const struct filler *filler)
{
    enum { WORK_REGION = 4, WORK_WAY = 2, WORK_LAUNCH_MOST = 8192 /* nanoseconds or so */ };
    return filler->region_count * (WORK_REGION + reads_chunks(filler->of->words)) +
               filler->way_count * WORK_WAY <=
           WORK_LAUNCH_MOST;
}

/* Whether some are read by others, and not by the first, or off tables. */
static bool narrows(const struct reads *reads)
{
    if (reads->table_count)
        return true;
    const uint32_t chunks = reads_chunks(reads->words), *first = reads_region_words(reads, 0);
    for (uint32_t region = 1; region < reads->region_count; region++)
        for (uint32_t i = 0; i < chunks; i++)
            if (reads_region_words(reads, region)[i] & ~first[i])
                return true;
    return false;
}

static bool filler_open(struct filler *filler)
{
    const uint32_t count = filler->of->flow->block_count;
    filler->region_of = calloc(count + REGIONS_GUARDED_MOST, sizeof *filler->region_of);
    filler->is_in = calloc(count, sizeof *filler->is_in);
    filler->turns = calloc(count, sizeof *filler->turns);
    filler->read = calloc((size_t)READS_REGIONS_MOST * reads_chunks(filler->of->words) + 1,
                          sizeof *filler->read);
    return filler->region_of && filler->is_in && filler->turns && filler->read;
}

static void filler_close(struct filler *filler)
{
    free(filler->region_of);
    free(filler->is_in);
    free(filler->turns);
    free(filler->read);
    free(filler);
}

/* False: there is too much of it. */
static bool regions_fill(struct filler *filler)
{
    bool known = true;
    filler->region_count = filler->region_of[0] = 1;
    unreached_note(filler, filler->read);
    for (uint32_t i = 0; known && i < filler->region_count; i++) {
        known = region_fill(filler, i) && is_asked_soon(filler);
        region_note(filler, filler->begins[i],
                    filler->read + (size_t)i * reads_chunks(filler->of->words));
    }
    return known;
}

static struct reads *reads_of(const struct filler *filler)
{
    const struct regions_of *of = filler->of;
    struct reads *reads = reads_create(&(struct reads){.words = of->words,
                                                       .lesser_count = of->lesser_count,
                                                       .table_count = of->table_count,
                                                       .condition_count = of->condition_count,
                                                       .region_count = filler->region_count,
                                                       .way_count = filler->way_count});
    if (!reads)
        return NULL;
    memcpy(reads_lessers(reads), of->lessers, of->lesser_count * sizeof *of->lessers);
    memcpy(reads_tables(reads), of->tables, of->table_count * sizeof *of->tables);
    memcpy(reads_conditions(reads), of->conditions, of->condition_count * sizeof *of->conditions);
    memcpy(reads_ways(reads), filler->ways, filler->way_count * sizeof *filler->ways);
    memcpy(reads_regions(reads), filler->regions, filler->region_count * sizeof *filler->regions);
    memcpy(reads_region_words(reads, 0), filler->read,
           (size_t)filler->region_count * reads_chunks(of->words) * sizeof *filler->read);
    return reads;
}

struct reads *regions_find(const struct regions_of *of, uint32_t *work, uint32_t most)
{
    struct filler *filler = calloc(1, sizeof *filler);
    struct reads *reads = NULL;
    if (!filler)
        return NULL;
    filler->of = of;
    filler->work = work;
    filler->most = most;
    if (filler_open(filler) && regions_fill(filler))
        reads = reads_of(filler);
    filler_close(filler);
    if (!reads || narrows(reads))
        return reads;
    free(reads);
    return NULL;
}
