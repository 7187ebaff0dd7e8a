/* Merging the access sets of a graph's nodes. See merge.h. */
#include "runtime/hook/merge.h"
#include "runtime/hook/node.h"
#include "runtime/hook/summary.h"

#include <stdlib.h>
#include <string.h>

enum { SPECIAL_LIMIT = 64 };

/* ---- Access sets --------------------------------------------------------------------------- */

struct item {
    const struct csan_access *access; /* of the first node that has it */
    csan_site site;
    enum csan_level level;
    uint64_t base, bytes; /* an interval that grew */
    bool dropped;
};

struct items {
    struct item *all;
    size_t count;
    uint32_t *slots; /* hash of shapes: places in `all` plus one */
    size_t slot_count;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0xff51afd7ed558ccdu;
    return hash ^ (hash >> 32);
}

static uint64_t hash_access(const struct csan_access *access)
{
    uint64_t hash = mix(access->base, access->bytes);
    hash = mix(hash,
               (uint64_t)access->kind << 16 | (uint64_t)access->bound << 8 | access->element_bytes);
    for (uint8_t i = 0; i < access->dim_count; i++)
        hash = mix(mix(hash, (uint64_t)access->dims[i].stride), access->dims[i].count);
    return hash;
}

static bool same_bytes(const struct csan_access *a, const struct csan_access *b)
{
    return a->base == b->base && a->bytes == b->bytes && a->kind == b->kind &&
           a->bound == b->bound && a->element_bytes == b->element_bytes &&
           a->dim_count == b->dim_count &&
           (!a->dim_count || !memcmp(a->dims, b->dims, a->dim_count * sizeof *a->dims));
}

/* Whoever touches the same bytes in the same way races with the same others: one of them is kept.
 */
static void items_add(struct items *items, const struct node_work *work,
                      const struct csan_access *access)
{
    size_t slot = hash_access(access) % items->slot_count;
    for (; items->slots[slot]; slot = (slot + 1) % items->slot_count)
        if (same_bytes(items->all[items->slots[slot] - 1].access, access))
            return;
    items->all[items->count++] = (struct item){.access = access,
                                               .site = work->site,
                                               .level = work->level,
                                               .base = access->base,
                                               .bytes = access->bytes};
    items->slots[slot] = (uint32_t)items->count;
}

static bool is_interval(const struct item *item)
{
    return !item->access->dim_count && item->access->bytes != CSAN_TO_END;
}

/* Intervals that may become one: of one kind, by one argument of one site. */
static int compare_families(const struct item *a, const struct item *b)
{
    const struct csan_access *left = a->access, *right = b->access;
    uint64_t of_left[] = {!is_interval(a), a->site,     a->level,           left->argument,
                          left->kind,      left->bound, left->element_bytes};
    uint64_t of_right[] = {!is_interval(b),     b->site,     b->level,
                           right->argument,     right->kind, right->bound,
                           right->element_bytes};
    for (size_t i = 0; i < sizeof of_left / sizeof *of_left; i++)
        if (of_left[i] != of_right[i])
            return of_left[i] < of_right[i] ? -1 : 1;
    return 0;
}

static int by_family_and_place(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    int order = compare_families(a, b);
    return order ? order : a->base < b->base ? -1 : a->base > b->base;
}

/* Atomics keep their own: where one operation ends and the next begins matters. */
static void join_neighbours(struct items *items)
{
    struct item *into = NULL;
    qsort(items->all, items->count, sizeof *items->all, by_family_and_place);
    for (size_t i = 0; i < items->count; i++) {
        struct item *item = &items->all[i];
        bool joins = into && is_interval(item) && item->access->kind != CSAN_ATOMIC &&
                     compare_families(into, item) == 0 && item->base <= into->base + into->bytes;
        if (!joins) {
            into = is_interval(item) ? item : NULL;
            continue;
        }
        uint64_t end = item->base + item->bytes;
        if (end > into->base + into->bytes)
            into->bytes = end - into->base;
        item->dropped = true;
    }
}

struct interval {
    uint64_t start, end;
};

static int by_start(const void *left, const void *right)
{
    const struct interval *a = left, *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

/* What is surely written, as disjoint intervals. */
static size_t written(const struct items *items, struct interval *intervals)
{
    size_t count = 0, merged = 0;
    for (size_t i = 0; i < items->count; i++) {
        const struct item *item = &items->all[i];
        if (!item->dropped && is_interval(item) && item->access->kind == CSAN_WRITE &&
            item->access->bound == CSAN_EXACT)
            intervals[count++] = (struct interval){item->base, item->base + item->bytes};
    }
    qsort(intervals, count, sizeof *intervals, by_start);
    for (size_t i = 0; i < count; i++) {
        if (!merged || intervals[i].start > intervals[merged - 1].end)
            intervals[merged++] = intervals[i];
        else if (intervals[i].end > intervals[merged - 1].end)
            intervals[merged - 1].end = intervals[i].end;
    }
    return merged;
}

static bool lies_within(const struct item *item, const struct interval *intervals, size_t count)
{
    int64_t low = 0;
    uint64_t reach = item->bytes, start;
    size_t first = 0, last = count;
    if (item->access->bytes == CSAN_TO_END)
        return false;
    for (uint8_t i = 0; i < item->access->dim_count; i++) {
        const struct csan_dim *dim = &item->access->dims[i];
        int64_t span = (int64_t)(dim->count ? dim->count - 1 : 0) * dim->stride;
        low += span < 0 ? span : 0;
        reach += (uint64_t)(span < 0 ? -span : span);
    }
    start = item->base + (uint64_t)low;
    while (first < last) {
        size_t middle = (first + last) / 2;
        if (intervals[middle].end <= start)
            first = middle + 1;
        else
            last = middle;
    }
    return first < count && intervals[first].start <= start &&
           start + reach <= intervals[first].end;
}

/* What races with anything else on those bytes races with the write, too. */
static bool drop_written_over(struct items *items)
{
    struct interval *intervals = malloc((items->count + 1) * sizeof *intervals);
    if (!intervals)
        return false;
    size_t count = written(items, intervals);
    for (size_t i = 0; i < items->count; i++) {
        struct item *item = &items->all[i];
        bool is_write = item->access->kind == CSAN_WRITE && item->access->bound == CSAN_EXACT &&
                        is_interval(item);
        if (!item->dropped && !is_write && lies_within(item, intervals, count))
            item->dropped = true;
    }
    free(intervals);
    return true;
}

static int by_site(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    if (a->level != b->level)
        return a->level < b->level ? -1 : 1;
    return a->base < b->base ? -1 : a->base > b->base;
}

/* One op for each site: dropped items are gone by now. */
static bool make_ops(struct items *items, struct merged_step *step)
{
    struct merged_op *op = NULL;
    qsort(items->all, items->count, sizeof *items->all, by_site);
    step->ops = calloc(items->count + 1, sizeof *step->ops);
    for (size_t i = 0; step->ops && i < items->count; i++) {
        const struct item *item = &items->all[i];
        if (!op || op->site != item->site || op->level != item->level) {
            op = &step->ops[step->op_count++];
            *op = (struct merged_op){.site = item->site, .level = item->level};
            size_t same = i;
            while (same < items->count && items->all[same].site == item->site &&
                   items->all[same].level == item->level)
                same++;
            op->accesses = calloc(same - i, sizeof *op->accesses);
            if (!op->accesses)
                return false;
        }
        op->accesses[op->count] = *item->access;
        op->accesses[op->count].base = item->base;
        op->accesses[op->count++].bytes = item->bytes;
    }
    return step->ops != NULL;
}

static void compact(struct items *items)
{
    size_t kept = 0;
    for (size_t i = 0; i < items->count; i++)
        if (!items->all[i].dropped)
            items->all[kept++] = items->all[i];
    items->count = kept;
}

/* ---- Steps --------------------------------------------------------------------------------- */

/* Of an entry: which event and host nodes come before it and after it. */
struct sides {
    uint64_t before, after;
    uint32_t step;
};

struct grouping {
    const struct shape *shape;
    struct sides *sides;
    uint64_t *groups; /* pairs of masks, by step; a special entry's step has none */
    struct merged *merged;
};

static int special_kind(const struct shape_entry *entry)
{
    switch (entry->type) {
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return MERGED_RECORD;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return MERGED_WAIT;
    case CU_GRAPH_NODE_TYPE_HOST:
        return MERGED_HOST;
    default:
        return MERGED_NODES;
    }
}

static size_t special_count(const struct shape *shape)
{
    size_t count = 0;
    for (size_t i = 0; i < shape->count; i++)
        count += special_kind(&shape->entries[i]) != MERGED_NODES;
    return count;
}

/* Entries come in an order that the edges allow. A record lets others behind it know what came
 * before it; a wait lets what comes behind know others; a host function does both. */
static void find_sides(const struct grouping *grouping)
{
    const struct shape *shape = grouping->shape;
    struct sides *sides = grouping->sides;
    uint64_t *bits = grouping->groups; /* free so far */
    unsigned next = 0;
    for (size_t i = 0; i < shape->count; i++)
        bits[i] = special_kind(&shape->entries[i]) != MERGED_NODES ? UINT64_C(1) << next++ : 0;
    for (size_t i = 0; i < shape->count; i++) {
        const struct shape_entry *entry = &shape->entries[i];
        for (size_t k = 0; k < entry->dependency_count; k++) {
            uint32_t d = entry->dependencies[k];
            bool waits = special_kind(&shape->entries[d]) >= MERGED_WAIT;
            sides[i].before |= sides[d].before | (waits ? bits[d] : 0);
        }
    }
    for (size_t i = shape->count; i-- > 0;) {
        const struct shape_entry *entry = &shape->entries[i];
        int kind = special_kind(entry);
        uint64_t own = kind == MERGED_RECORD || kind == MERGED_HOST ? bits[i] : 0;
        for (size_t k = 0; k < entry->dependency_count; k++)
            sides[entry->dependencies[k]].after |= sides[i].after | own;
    }
}

static uint32_t step_add(struct merged *merged, int kind)
{
    merged->steps[merged->count] = (struct merged_step){.kind = (uint8_t)kind};
    return (uint32_t)merged->count++;
}

static void find_steps(const struct grouping *grouping)
{
    struct merged *merged = grouping->merged;
    for (size_t i = 0; i < grouping->shape->count; i++) {
        const struct shape_entry *entry = &grouping->shape->entries[i];
        struct sides *sides = &grouping->sides[i];
        int kind = special_kind(entry);
        uint32_t step = (uint32_t)merged->count;
        for (uint32_t s = 0; kind == MERGED_NODES && s < merged->count; s++)
            if (merged->steps[s].kind == MERGED_NODES && grouping->groups[2 * s] == sides->before &&
                grouping->groups[2 * s + 1] == sides->after) {
                step = s;
                break;
            }
        if (step == merged->count) {
            step_add(merged, kind);
            grouping->groups[2 * step] = sides->before;
            grouping->groups[2 * step + 1] = sides->after;
            merged->steps[step].event = entry->event;
            merged->steps[step].host = entry->work ? entry->work->host : NULL;
        }
        sides->step = step;
    }
}

/* Which steps a step comes after: a matrix, since there are few steps. */
static bool link_steps(const struct grouping *grouping)
{
    struct merged *merged = grouping->merged;
    size_t count = merged->count;
    uint8_t *edges = calloc(count * count + 1, 1);
    for (size_t i = 0; edges && i < grouping->shape->count; i++) {
        const struct shape_entry *entry = &grouping->shape->entries[i];
        for (size_t k = 0; k < entry->dependency_count; k++)
            edges[grouping->sides[i].step * count + grouping->sides[entry->dependencies[k]].step] =
                1;
    }
    bool room = edges != NULL;
    for (size_t s = 0; room && s < count; s++) {
        struct merged_step *step = &merged->steps[s];
        room = (step->after = calloc(count, sizeof *step->after)) != NULL;
        for (size_t t = 0; room && t < count; t++)
            if (edges[s * count + t] && s != t)
                step->after[step->after_count++] = (uint32_t)t;
    }
    free(edges);
    return room;
}

static bool is_placed(const struct merged_step *step, const uint32_t *places)
{
    for (size_t k = 0; k < step->after_count; k++)
        if (places[step->after[k]] == UINT32_MAX)
            return false;
    return true;
}

/* Put the steps into an order in which each comes after those that it waits for. Along an edge of
 * the graph the nodes before only grow and those after only shrink, so no two groups wait for each
 * other. */
static bool order_steps(const struct grouping *grouping)
{
    struct merged *merged = grouping->merged;
    uint32_t *places = malloc((merged->count + 1) * sizeof *places);
    struct merged_step *ordered = calloc(merged->count + 1, sizeof *ordered);
    size_t done = 0, before;
    for (size_t s = 0; places && s < merged->count; s++)
        places[s] = UINT32_MAX;
    if (!places || !ordered) {
        free(places);
        free(ordered);
        return false;
    }
    do {
        before = done;
        for (size_t s = 0; s < merged->count; s++)
            if (places[s] == UINT32_MAX && is_placed(&merged->steps[s], places)) {
                places[s] = (uint32_t)done;
                ordered[done++] = merged->steps[s];
            }
    } while (done > before);
    bool all = done == merged->count;
    for (size_t s = 0; all && s < done; s++)
        for (size_t k = 0; k < ordered[s].after_count; k++)
            ordered[s].after[k] = places[ordered[s].after[k]];
    for (size_t i = 0; all && i < grouping->shape->count; i++)
        grouping->sides[i].step = places[grouping->sides[i].step];
    if (all) {
        free(merged->steps);
        merged->steps = ordered;
    } else {
        free(ordered);
    }
    free(places);
    return all;
}

static bool comes_after(struct merged *merged, uint32_t step, uint32_t first, uint32_t end)
{
    struct merged_step *late = &merged->steps[step];
    late->after = calloc(end - first + 1, sizeof *late->after);
    for (uint32_t s = first; late->after && s < end; s++)
        late->after[late->after_count++] = s;
    return late->after != NULL;
}

/* More of them than a mask holds: all waits come first, then all nodes, then the rest. */
static bool flatten(const struct grouping *grouping)
{
    struct merged *merged = grouping->merged;
    const struct shape *shape = grouping->shape;
    summary_unmodelled("the event and host nodes of graphs with more than 64");
    for (size_t i = 0; i < shape->count; i++)
        if (special_kind(&shape->entries[i]) == MERGED_WAIT) {
            grouping->sides[i].step = step_add(merged, MERGED_WAIT);
            merged->steps[grouping->sides[i].step].event = shape->entries[i].event;
        }
    uint32_t nodes = step_add(merged, MERGED_NODES);
    bool room = comes_after(merged, nodes, 0, nodes);
    for (size_t i = 0; room && i < shape->count; i++) {
        int kind = special_kind(&shape->entries[i]);
        uint32_t step = kind == MERGED_NODES ? nodes : grouping->sides[i].step;
        if (kind == MERGED_RECORD || kind == MERGED_HOST) {
            step = step_add(merged, kind);
            merged->steps[step].event = shape->entries[i].event;
            merged->steps[step].host = shape->entries[i].work ? shape->entries[i].work->host : NULL;
            room = comes_after(merged, step, nodes, nodes + 1);
        }
        grouping->sides[i].step = step;
    }
    return room;
}

static bool make_steps(const struct grouping *grouping)
{
    if (special_count(grouping->shape) > SPECIAL_LIMIT)
        return flatten(grouping);
    find_sides(grouping);
    find_steps(grouping);
    return link_steps(grouping) && order_steps(grouping);
}

/* ---- The whole ----------------------------------------------------------------------------- */

static bool fill_memory(const struct grouping *grouping, uint32_t number)
{
    struct merged_step *step = &grouping->merged->steps[number];
    size_t room = grouping->shape->count + 1;
    bool any = false;
    for (size_t i = 0; i < grouping->shape->count; i++) {
        struct node_work *work = grouping->shape->entries[i].work;
        any |= work && grouping->sides[i].step == number &&
               (work->kind == NODE_BIRTH || work->kind == NODE_DEATH);
    }
    if (!any)
        return true;
    step->births = calloc(room, sizeof(*step->births));
    step->deaths = calloc(room, sizeof(*step->deaths));
    for (size_t i = 0; step->births && step->deaths && i < grouping->shape->count; i++) {
        struct node_work *work = grouping->shape->entries[i].work;
        if (!work || grouping->sides[i].step != number)
            continue;
        if (work->kind == NODE_BIRTH)
            step->births[step->birth_count++] = work;
        else if (work->kind == NODE_DEATH)
            step->deaths[step->death_count++] = work;
    }
    return step->births && step->deaths;
}

static bool fill_ops(const struct grouping *grouping, uint32_t number)
{
    struct items items = {.slot_count = 8};
    const struct shape *shape = grouping->shape;
    size_t total = 0;
    for (size_t i = 0; i < shape->count; i++)
        if (grouping->sides[i].step == number && shape->entries[i].work)
            total += shape->entries[i].work->count;
    items.slot_count += 2 * total;
    items.all = calloc(total + 1, sizeof *items.all);
    items.slots = calloc(items.slot_count, sizeof *items.slots);
    bool done = items.all && items.slots;
    for (size_t i = 0; done && i < shape->count; i++) {
        const struct shape_entry *entry = &shape->entries[i];
        if (grouping->sides[i].step != number || !entry->work || entry->disabled)
            continue;
        for (size_t k = 0; k < entry->work->count; k++)
            items_add(&items, entry->work, &entry->work->accesses[k]);
    }
    if (done) {
        join_neighbours(&items);
        done = drop_written_over(&items);
        compact(&items);
        done = done && make_ops(&items, &grouping->merged->steps[number]);
    }
    free(items.all);
    free(items.slots);
    return done;
}

static void count_nodes(const struct shape *shape, struct merged *merged)
{
    for (size_t i = 0; i < shape->count; i++) {
        const struct shape_entry *entry = &shape->entries[i];
        if (entry->type == CU_GRAPH_NODE_TYPE_EMPTY || entry->disabled)
            continue;
        merged->nodes++;
        merged->unknown_kernels += entry->type == CU_GRAPH_NODE_TYPE_KERNEL &&
                                   (!entry->work || entry->work->level == CSAN_LEVEL_UNKNOWN);
    }
}

bool merge(const struct shape *shape, struct merged *merged)
{
    *merged = (struct merged){0};
    struct grouping grouping = {.shape = shape,
                                .sides = calloc(shape->count + 1, sizeof(struct sides)),
                                .groups = calloc(2 * shape->count + 2, sizeof(uint64_t)),
                                .merged = merged};
    merged->steps = calloc(shape->count + 2, sizeof *merged->steps);
    bool done = grouping.sides && grouping.groups && merged->steps && make_steps(&grouping);
    for (uint32_t s = 0; done && s < merged->count; s++)
        if (merged->steps[s].kind == MERGED_NODES)
            done = fill_memory(&grouping, s) && fill_ops(&grouping, s);
    count_nodes(shape, merged);
    merged->step_of = calloc(shape->count + 1, sizeof *merged->step_of);
    for (size_t i = 0; done && merged->step_of && i < shape->count; i++)
        merged->step_of[i] = grouping.sides[i].step;
    done = done && merged->step_of;
    free(grouping.sides);
    free(grouping.groups);
    return done;
}

void merged_free(struct merged *merged)
{
    for (size_t s = 0; s < merged->count; s++) {
        struct merged_step *step = &merged->steps[s];
        for (size_t i = 0; i < step->op_count; i++)
            free(step->ops[i].accesses);
        free(step->ops);
        free(step->after);
        free(step->births);
        free(step->deaths);
    }
    free(merged->steps);
    free(merged->step_of);
    *merged = (struct merged){0};
}
