/* Learned sets: from a trace to ranges relative to anchors, in normal form. See learned_set.h. */
#include "runtime/learn/learned_set.h"
#include "csan/base/array.h"
#include "csan/base/hash.h"

#include <stdlib.h>
#include <string.h>

/* The part of memory around an address that belongs to one anchor. */
struct cell {
    uint16_t anchor;          /* or LEARNED_NO_ANCHOR */
    uint64_t end;             /* first address that is another's */
    struct learn_block block; /* without an anchor: what it is in */
};

/* A set in the making: ranges in the order they come, and where each lies. */
struct making {
    const struct learn_launch *launch;
    learn_find_block *find;
    void *user;
    struct piece {
        struct learned_range range;
        struct learn_block block; /* without an anchor */
    } * pieces;
    size_t count, capacity;
    struct learned_relation *relations;
    uint32_t relation_count;
    bool failed, inexact;
};

enum { PIECES_LIMIT = 1 << 20 };

/* ---- Whose is an address ---- */

static bool in_block(const struct learn_block *block, uint64_t address)
{
    return block->start <= address && address < block->end;
}

static uint64_t block_bytes(const struct learn_block *block)
{
    return block->end - block->start;
}

/* The block of some anchor that holds the address, end 0 when none does. A block of a pool lies in
 * the pool's own allocation, into which a pointer may lead that is stale: the smallest is meant. */
static struct learn_block block_of(const struct learn_launch *launch, uint64_t address)
{
    struct learn_block smallest = {0};
    for (uint32_t i = 0; i < launch->anchor_count; i++) {
        const struct learn_block *block = &launch->anchors[i].block;
        if (in_block(block, address) &&
            (!smallest.end || block_bytes(block) < block_bytes(&smallest)))
            smallest = *block;
    }
    return smallest;
}

/* Blocks that begin in the cell's are not its own. */
static void cell_cut(struct cell *cell, const struct learn_launch *launch, uint64_t address)
{
    for (uint32_t i = 0; i < launch->anchor_count; i++) {
        uint64_t start = launch->anchors[i].block.start;
        if (start > address && start < cell->end)
            cell->end = start;
    }
}

/* Anchors divide their block: bytes behind an anchor, up to the next one, belong to it. So a set
 * stays the same when two anchors move apart. */
static struct cell cell_of(const struct making *making, uint64_t address)
{
    const struct learn_launch *launch = making->launch;
    struct cell cell = {.anchor = LEARNED_NO_ANCHOR, .block = block_of(launch, address)};
    uint32_t below = UINT32_MAX, above = UINT32_MAX;
    for (uint32_t i = 0; cell.block.end && i < launch->anchor_count; i++) {
        const struct learn_anchor *anchor = &launch->anchors[i];
        if (anchor->block.start != cell.block.start || anchor->block.end != cell.block.end)
            continue;
        if (anchor->address <= address) {
            if (below == UINT32_MAX || anchor->address > launch->anchors[below].address)
                below = i;
        } else if (above == UINT32_MAX || anchor->address < launch->anchors[above].address) {
            above = i;
        }
    }
    if (!cell.block.end)
        cell.block = making->find(making->user, address);
    cell.end = cell.block.end ? cell.block.end : UINT64_MAX;
    if (above != UINT32_MAX && launch->anchors[above].address < cell.end)
        cell.end = launch->anchors[above].address;
    cell_cut(&cell, launch, address);
    if (below != UINT32_MAX)
        cell.anchor = (uint16_t)below;
    else if (above != UINT32_MAX)
        cell.anchor = (uint16_t)above;
    return cell;
}

/* ---- Cutting a traced range at the ends of cells ---- */

static uint64_t span_of(const struct device_trace_range *range)
{
    uint64_t span = range->bytes;
    for (uint32_t k = 0; k < range->dims; k++)
        span += range->stride[k] * (range->count[k] - 1);
    return span;
}

static void piece_add(struct making *making, const struct device_trace_range *range,
                      const struct cell *cell)
{
    if (!array_room(&making->pieces, making->count, &making->capacity, 64, PIECES_LIMIT,
                    sizeof *making->pieces)) {
        making->failed = true;
        return;
    }
    struct piece *piece = &making->pieces[making->count++];
    *piece = (struct piece){.range = {.anchor = cell->anchor,
                                      .kind = (uint8_t)range->kind,
                                      .dims = (uint8_t)range->dims,
                                      .offset = (int64_t)range->address,
                                      .bytes = range->bytes}};
    for (uint32_t k = 0; k < range->dims; k++) {
        piece->range.stride[k] = range->stride[k];
        piece->range.count[k] = range->count[k];
    }
    if (cell->anchor == LEARNED_NO_ANCHOR)
        piece->block = cell->block;
    else
        piece->range.offset -= (int64_t)making->launch->anchors[cell->anchor].address;
}

/* The first rows of the range, or its first row's own rows. */
static struct device_trace_range rows_of(const struct device_trace_range *range, uint64_t rows)
{
    struct device_trace_range part = *range;
    part.count[0] = rows;
    if (rows == 1) {
        part.dims--;
        part.stride[0] = part.stride[1];
        part.count[0] = part.count[1];
    }
    return part;
}

/* Takes the part of the range off that lies in one cell. False: nothing is left. */
static bool take_part(struct making *making, struct device_trace_range *range)
{
    struct cell cell = cell_of(making, range->address);
    uint64_t room = cell.end - range->address, span = span_of(range);
    if (span <= room) {
        piece_add(making, range, &cell);
        return false;
    }
    if (range->dims == 0) {
        struct device_trace_range part = *range;
        part.bytes = room;
        piece_add(making, &part, &cell);
        range->address += room;
        range->bytes -= room;
        return true;
    }
    uint64_t row = span - range->stride[0] * (range->count[0] - 1);
    uint64_t rows = room >= row ? (room - row) / range->stride[0] + 1 : 1;
    struct device_trace_range part = rows_of(range, rows);
    if (room >= row)
        piece_add(making, &part, &cell);
    else
        while (!making->failed && take_part(making, &part)) /* at most two deep */
            ;
    range->address += rows * range->stride[0];
    if (range->count[0] - rows == 1)
        *range = rows_of(range, 1);
    else
        range->count[0] -= rows;
    return true;
}

/* As the trace has it, without dims that are none. False: it makes no sense. */
static bool range_of_trace(const struct device_trace_range *recorded,
                           struct device_trace_range *range)
{
    *range = *recorded;
    range->dims = 0;
    if (!recorded->bytes || recorded->kind > DEVICE_TRACE_ATOMIC || recorded->dims > 2)
        return false;
    unsigned __int128 span = recorded->bytes;
    for (uint32_t k = 0; k < recorded->dims; k++) {
        if (!recorded->count[k] || !recorded->stride[k])
            return false;
        span += (unsigned __int128)recorded->stride[k] * (recorded->count[k] - 1);
        if (recorded->count[k] == 1)
            continue;
        range->stride[range->dims] = recorded->stride[k];
        range->count[range->dims++] = recorded->count[k];
    }
    return span + recorded->address <= UINT64_MAX;
}

/* ---- Normal form ---- */

static int compare_places(const struct piece *a, const struct piece *b)
{
    if (a->range.anchor != b->range.anchor)
        return a->range.anchor < b->range.anchor ? -1 : 1;
    if (a->block.start != b->block.start)
        return a->block.start < b->block.start ? -1 : 1;
    if (a->range.kind != b->range.kind)
        return a->range.kind < b->range.kind ? -1 : 1;
    return 0;
}

static int compare_pieces(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    int layout = compare_places(a, b);
    if (layout)
        return layout;
    if (a->range.offset != b->range.offset)
        return a->range.offset < b->range.offset ? -1 : 1;
    return (a->range.bytes > b->range.bytes) - (a->range.bytes < b->range.bytes);
}

/* How many runs of bytes the ranges are, or more than the limit. */
static size_t runs_of(const struct piece *pieces, size_t count, size_t limit)
{
    size_t runs = 0;
    for (size_t i = 0; i < count && runs <= limit; i++) {
        uint64_t own = 1;
        for (uint8_t k = 0; k < pieces[i].range.dims; k++)
            own = pieces[i].range.count[k] <= limit ? own * pieces[i].range.count[k] : limit + 1;
        runs = own <= limit ? runs + own : limit + 1;
    }
    return runs;
}

/* The runs of one piece, from `to` on. */
static size_t expand(const struct piece *piece, struct piece *to)
{
    const struct learned_range *range = &piece->range;
    uint64_t outer = range->dims == 2 ? range->count[0] : 1;
    uint64_t inner = range->dims ? range->count[range->dims - 1] : 1;
    size_t made = 0;
    for (uint64_t i = 0; i < outer; i++)
        for (uint64_t k = 0; k < inner; k++) {
            struct piece *run = &to[made++];
            *run = *piece;
            run->range.dims = 0;
            memset(run->range.stride, 0, sizeof run->range.stride);
            memset(run->range.count, 0, sizeof run->range.count);
            run->range.offset += (int64_t)(range->dims == 2 ? i * range->stride[0] : 0);
            run->range.offset += (int64_t)(range->dims ? k * range->stride[range->dims - 1] : 0);
        }
    return made;
}

/* Sorted runs that overlap or adjoin become one. */
static size_t join_runs(struct piece *runs, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct learned_range *last = kept ? &runs[kept - 1].range : NULL;
        const struct learned_range *next = &runs[i].range;
        if (!last || next->offset > last->offset + (int64_t)last->bytes) {
            runs[kept++] = runs[i];
            continue;
        }
        int64_t end = next->offset + (int64_t)next->bytes;
        if (end > last->offset + (int64_t)last->bytes)
            last->bytes = (uint64_t)(end - last->offset);
    }
    return kept;
}

static bool alike(const struct learned_range *a, const struct learned_range *b)
{
    return a->bytes == b->bytes && a->dims == b->dims &&
           memcmp(a->stride, b->stride, sizeof a->stride) == 0 &&
           memcmp(a->count, b->count, sizeof a->count) == 0;
}

static void add_dim(struct learned_range *range, uint64_t stride, uint64_t count)
{
    memmove(range->stride + 1, range->stride, range->dims * sizeof *range->stride);
    memmove(range->count + 1, range->count, range->dims * sizeof *range->count);
    range->stride[0] = stride;
    range->count[0] = count;
    range->dims++;
}

/* Ranges that are alike, at equal distances, become one with a dimension more. */
static size_t fold(struct piece *pieces, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count;) {
        struct piece *first = &pieces[i];
        int64_t distance = 0;
        size_t alike_count = 1;
        if (first->range.dims < LEARNED_DIMS && i + 1 < count)
            distance = pieces[i + 1].range.offset - first->range.offset;
        while (distance && i + alike_count < count &&
               alike(&first->range, &pieces[i + alike_count].range) &&
               pieces[i + alike_count].range.offset - pieces[i + alike_count - 1].range.offset ==
                   distance)
            alike_count++;
        pieces[kept] = *first;
        if (alike_count > 1)
            add_dim(&pieces[kept].range, (uint64_t)distance, alike_count);
        kept++;
        i += alike_count;
    }
    return kept;
}

/* Writes the pieces of one kind and anchor to `to`, which has room for their runs. */
static size_t normalize(const struct piece *pieces, size_t count, struct piece *to)
{
    size_t made = 0;
    for (size_t i = 0; i < count; i++)
        made += expand(&pieces[i], &to[made]);
    qsort(to, made, sizeof *to, compare_pieces);
    made = join_runs(to, made);
    for (size_t folded = 0; (folded = fold(to, made)) < made;)
        made = folded;
    return made;
}

/* Replaces the pieces by their normal form, as far as they have few enough runs. */
static void pieces_normalize(struct making *making)
{
    struct piece *made = NULL;
    size_t count = 0;
    for (size_t i = 0, end; i < making->count && !making->failed; i = end) {
        for (end = i + 1; end < making->count; end++)
            if (compare_places(&making->pieces[i], &making->pieces[end]))
                break;
        size_t runs = runs_of(&making->pieces[i], end - i, LEARNED_RUNS);
        size_t room = runs <= LEARNED_RUNS ? runs : end - i;
        struct piece *grown = realloc(made, (count + room) * sizeof *made);
        making->failed = !grown;
        if (!grown)
            break;
        made = grown;
        if (runs <= LEARNED_RUNS) {
            count += normalize(&making->pieces[i], end - i, made + count);
        } else {
            memcpy(made + count, &making->pieces[i], room * sizeof *made);
            count += room;
        }
    }
    free(making->pieces);
    making->pieces = made;
    making->count = count;
}

int64_t learned_range_end(const struct learned_range *range)
{
    uint64_t span = range->bytes;
    for (uint8_t k = 0; k < range->dims; k++)
        span += range->stride[k] * (range->count[k] - 1);
    return range->offset + (int64_t)span;
}

/* Too many to keep: one range from the first byte to the last for each kind and anchor. */
static void pieces_bound(struct making *making)
{
    size_t kept = 0;
    for (size_t i = 0, end; i < making->count; i = end) {
        struct piece hull = making->pieces[i];
        int64_t last = learned_range_end(&hull.range);
        for (end = i + 1; end < making->count; end++) {
            if (compare_places(&hull, &making->pieces[end]))
                break;
            if (learned_range_end(&making->pieces[end].range) > last)
                last = learned_range_end(&making->pieces[end].range);
        }
        hull.range = (struct learned_range){.anchor = hull.range.anchor,
                                            .kind = hull.range.kind,
                                            .offset = hull.range.offset,
                                            .bytes = (uint64_t)(last - hull.range.offset)};
        making->pieces[kept++] = hull;
    }
    making->count = kept;
    making->inexact = true;
}

/* ---- Relations ---- */

static int compare_relations(const void *left, const void *right)
{
    const struct learned_relation *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

static void relation_add(struct making *making, uint32_t from, uint32_t to, bool assumed)
{
    const struct learn_anchor *anchors = making->launch->anchors;
    for (uint32_t i = making->relation_count; i-- > 0;)
        if (making->relations[i].from == from && making->relations[i].to == to) {
            making->relations[i].assumed &= assumed;
            return;
        }
    struct learned_relation *grown =
        realloc(making->relations, (making->relation_count + 1) * sizeof *grown);
    if (!grown) {
        making->failed = true;
        return;
    }
    making->relations = grown;
    grown[making->relation_count++] =
        (struct learned_relation){(uint16_t)from, (uint16_t)to,
                                  (int64_t)(anchors[to].address - anchors[from].address), assumed};
}

/* The nearest anchor below or above in the same block; itself when there is none. */
static uint32_t neighbour(const struct learn_launch *launch, uint32_t of, bool above)
{
    const struct learn_anchor *anchors = launch->anchors;
    uint32_t nearest = of;
    for (uint32_t i = 0; i < launch->anchor_count; i++) {
        bool behind = anchors[i].address > anchors[of].address;
        if (anchors[i].address == anchors[of].address || behind != above ||
            anchors[i].block.start != anchors[of].block.start ||
            anchors[i].block.end != anchors[of].block.end)
            continue;
        if (nearest == of || (anchors[i].address > anchors[nearest].address) != above)
            nearest = i;
    }
    return nearest;
}

static bool has_equal(const struct learn_launch *launch, uint32_t of)
{
    for (uint32_t i = 0; i < launch->anchor_count; i++)
        if (i != of && launch->anchors[i].address == launch->anchors[of].address)
            return true;
    return false;
}

static bool begins_at(const struct making *making, uint32_t anchor)
{
    for (size_t i = 0; i < making->count; i++)
        if (making->pieces[i].range.anchor == anchor && making->pieces[i].range.offset == 0)
            return true;
    return false;
}

/* Whether another block most likely begins by chance where this one ends. Then the bytes from there
 * on belong to that block's pointer, and the pointer hardly marks this block's end. (Otherwise the
 * kernel would touch foreign memory between two pointers whenever their blocks do not adjoin.) */
static bool is_a_block_beside(const struct making *making, uint32_t from, uint32_t to)
{
    const struct learn_anchor *anchors = making->launch->anchors;
    return anchors[from].block.end == anchors[to].address &&
           anchors[to].block.start == anchors[to].address && begins_at(making, to) &&
           !has_equal(making->launch, to);
}

/* Anchors that are equal to that one, or lie where a range of it ends. */
static void relations_at(struct making *making, uint32_t from, uint64_t end)
{
    const struct learn_anchor *anchors = making->launch->anchors;
    for (uint32_t to = 0; to < making->launch->anchor_count; to++)
        if (to != from &&
            (anchors[to].address == anchors[from].address || anchors[to].address == end))
            relation_add(making, from, to, is_a_block_beside(making, from, to));
}

/* Any anchor below in the block may have been meant, and those above, too, where a range does not
 * begin at its anchor. */
static void relations_around(struct making *making, uint32_t anchor, bool begins_there)
{
    uint32_t to = anchor, from = neighbour(making->launch, anchor, false);
    for (; from != to && !making->failed; from = neighbour(making->launch, to = from, false))
        relation_add(making, from, to, false);
    to = neighbour(making->launch, anchor, true);
    if (!begins_there && to != anchor)
        relation_add(making, anchor, to, false);
}

static void relations_find(struct making *making)
{
    uint16_t last = LEARNED_NO_ANCHOR;
    uint64_t last_end = 0;
    for (size_t i = 0; i < making->count && !making->failed; i++) {
        const struct learned_range *range = &making->pieces[i].range;
        if (range->anchor == LEARNED_NO_ANCHOR)
            continue;
        uint64_t end =
            making->launch->anchors[range->anchor].address + (uint64_t)learned_range_end(range);
        if (range->anchor != last)
            relations_around(making, range->anchor, range->offset == 0);
        if (range->anchor != last || end != last_end)
            relations_at(making, range->anchor, end);
        last = range->anchor;
        last_end = end;
    }
    if (making->relation_count)
        qsort(making->relations, making->relation_count, sizeof *making->relations,
              compare_relations);
}

/* ---- Sets ---- */

size_t learned_set_bytes(const struct learned_set *set)
{
    return sizeof *set + set->count * sizeof *set->ranges + set->block_count * sizeof *set->blocks +
           set->relation_count * sizeof *set->relations;
}

/* A set with room for so much, in one piece of memory. */
static struct learned_set *set_allocate(uint32_t count, uint32_t block_count,
                                        uint32_t relation_count)
{
    const struct learned_set sized = {.references = 1,
                                      .count = count,
                                      .block_count = block_count,
                                      .relation_count = relation_count};
    struct learned_set *set = calloc(1, learned_set_bytes(&sized));
    if (!set)
        return NULL;
    *set = sized;
    set->ranges = (struct learned_range *)(set + 1);
    set->blocks = (struct learn_block *)(set->ranges + count);
    set->relations = (struct learned_relation *)(set->blocks + block_count);
    return set;
}

static struct learned_set *set_finish(struct learned_set *set)
{
    uint64_t hash = hash_mix(set->inexact, set->count);
    for (uint32_t i = 0; i < set->count; i++) {
        const struct learned_range *range = &set->ranges[i];
        set->whole |= range->whole;
        hash = hash_mix(hash, range->anchor | (uint64_t)range->kind << 16 |
                                  (uint64_t)range->dims << 24 | (uint64_t)range->whole << 32);
        hash = hash_mix(hash_mix(hash, (uint64_t)range->offset), range->bytes);
        for (uint8_t k = 0; k < range->dims; k++)
            hash = hash_mix(hash_mix(hash, range->stride[k]), range->count[k]);
    }
    set->hash = hash;
    return set;
}

static struct learned_set *set_of_pieces(const struct making *making)
{
    uint32_t blocks = 0;
    for (size_t i = 0; i < making->count; i++)
        blocks += making->pieces[i].range.anchor == LEARNED_NO_ANCHOR;
    struct learned_set *set = set_allocate((uint32_t)making->count, blocks, making->relation_count);
    if (!set)
        return NULL;
    blocks = 0;
    for (size_t i = 0; i < making->count; i++) {
        set->ranges[i] = making->pieces[i].range;
        if (set->ranges[i].anchor == LEARNED_NO_ANCHOR)
            set->blocks[blocks++] = making->pieces[i].block;
    }
    if (making->relation_count)
        memcpy(set->relations, making->relations, making->relation_count * sizeof *set->relations);
    set->inexact = making->inexact;
    return set_finish(set);
}

struct learned_set *learned_set_create(const struct device_trace_launch *trace,
                                       const struct learn_launch *launch, learn_find_block *find,
                                       void *user)
{
    struct making making = {
        .launch = launch, .find = find, .user = user, .inexact = trace->inexact};
    struct learned_set *set = NULL;
    for (size_t i = 0; i < trace->count && !making.failed; i++) {
        struct device_trace_range range;
        if (range_of_trace(&trace->ranges[i], &range))
            while (!making.failed && take_part(&making, &range))
                ;
    }
    if (!making.failed && making.count) {
        qsort(making.pieces, making.count, sizeof *making.pieces, compare_pieces);
        pieces_normalize(&making);
    }
    if (!making.failed && making.count > LEARNED_RANGES)
        pieces_bound(&making);
    relations_find(&making);
    if (!making.failed)
        set = set_of_pieces(&making);
    free(making.pieces);
    free(making.relations);
    return set;
}

struct learned_set *learned_set_of_ranges(const struct learned_range *ranges, uint32_t count,
                                          const struct learned_relation *relations,
                                          uint32_t relation_count, bool inexact)
{
    struct learned_set *set = set_allocate(count, 0, relation_count);
    if (!set)
        return NULL;
    if (count)
        memcpy(set->ranges, ranges, count * sizeof *ranges);
    if (relation_count)
        memcpy(set->relations, relations, relation_count * sizeof *relations);
    set->inexact = inexact;
    return set_finish(set);
}

struct learned_set *learned_set_retain(struct learned_set *set)
{
    if (set)
        __atomic_fetch_add(&set->references, 1, __ATOMIC_RELAXED);
    return set;
}

void learned_set_release(struct learned_set *set)
{
    if (set && __atomic_sub_fetch(&set->references, 1, __ATOMIC_ACQ_REL) == 0)
        free(set);
}

bool learned_range_equal(const struct learned_range *a, const struct learned_range *b)
{
    return a->anchor == b->anchor && a->kind == b->kind && a->whole == b->whole &&
           a->offset == b->offset && alike(a, b);
}

bool learned_set_equal(const struct learned_set *a, const struct learned_set *b)
{
    if (a == b)
        return true;
    if (a->hash != b->hash || a->count != b->count || a->inexact != b->inexact)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct learned_range *left = &a->ranges[i], *right = &b->ranges[i];
        if (!learned_range_equal(left, right))
            return false;
    }
    return true;
}

/* ---- In a launch ---- */

uint64_t learned_range_address(const struct learned_range *range, const struct learn_launch *launch)
{
    if (range->anchor == LEARNED_NO_ANCHOR)
        return (uint64_t)range->offset;
    const struct learn_anchor *anchor = &launch->anchors[range->anchor];
    return range->whole ? anchor->block.start : anchor->address + (uint64_t)range->offset;
}

bool learned_relations_within(const struct learned_set *set, const struct learned_set *other)
{
    for (uint32_t i = 0; i < set->relation_count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < other->relation_count && !found; k++)
            found = set->relations[i].from == other->relations[k].from &&
                    set->relations[i].to == other->relations[k].to &&
                    set->relations[i].distance == other->relations[k].distance;
        if (!found)
            return false;
    }
    return true;
}

static bool holds(const struct learned_relation *relation, const struct learn_launch *launch)
{
    return (int64_t)(launch->anchors[relation->to].address -
                     launch->anchors[relation->from].address) == relation->distance;
}

static bool relations_hold(const struct learned_set *set, const struct learn_launch *launch,
                           bool assumed_too)
{
    for (uint32_t i = 0; i < set->relation_count; i++) {
        const struct learned_relation *relation = &set->relations[i];
        if (relation->from >= launch->anchor_count || relation->to >= launch->anchor_count ||
            ((assumed_too || !relation->assumed) && !holds(relation, launch)))
            return false;
    }
    return true;
}

bool learned_set_stands(const struct learned_set *set, const struct learn_launch *launch)
{
    return relations_hold(set, launch, false);
}

bool learned_set_holds(const struct learned_set *set, const struct learn_launch *launch)
{
    return relations_hold(set, launch, true);
}

static bool stays_in(const struct learned_range *range, const struct learn_anchor *anchor)
{
    int64_t before = (int64_t)(anchor->block.start - anchor->address);
    int64_t behind = (int64_t)(anchor->block.end - anchor->address);
    return range->whole || (range->offset >= before && learned_range_end(range) <= behind);
}

bool learned_set_fits(const struct learned_set *set, const struct learn_launch *launch,
                      learn_find_block *find, void *user)
{
    uint32_t blocks = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct learned_range *range = &set->ranges[i];
        if (range->anchor != LEARNED_NO_ANCHOR) {
            if (range->anchor >= launch->anchor_count ||
                !stays_in(range, &launch->anchors[range->anchor]))
                return false;
            continue;
        }
        struct learn_block now = find(user, (uint64_t)range->offset);
        const struct learn_block *then = &set->blocks[blocks++];
        if (now.start != then->start || now.end != then->end)
            return false;
    }
    return true;
}
