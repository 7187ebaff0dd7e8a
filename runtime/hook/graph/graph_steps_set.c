/* Access sets of many nodes as one. See graph_steps_set.h. */
#include "runtime/hook/graph/graph_steps_set.h"
#include "csan/base/hash.h"
#include "runtime/hook/graph/graph_node_accesses.h"

#include <stdlib.h>
#include <string.h>

struct item {
    const struct csan_access *access; /* of the first node that has it */
    csan_site site;
    enum csan_level level;
    uint64_t base, bytes; /* an interval that grew */
    bool dropped;
};

struct graph_steps_set {
    struct item *all;
    size_t count;
    uint32_t *slots; /* hash of shapes: places in `all` plus one */
    size_t slot_count;
};

static uint64_t hash_access(const struct csan_access *access)
{
    uint64_t hash = hash_mix(access->base, access->bytes);
    hash = hash_mix(hash, (uint64_t)access->order << 24 | (uint64_t)access->kind << 16 |
                              (uint64_t)access->bound << 8 | access->element_bytes);
    for (uint8_t i = 0; i < access->dim_count; i++)
        hash = hash_mix(hash_mix(hash, (uint64_t)access->dims[i].stride), access->dims[i].count);
    return hash;
}

static bool same_bytes(const struct csan_access *a, const struct csan_access *b)
{
    return a->base == b->base && a->bytes == b->bytes && a->kind == b->kind &&
           a->bound == b->bound && a->element_bytes == b->element_bytes &&
           a->dim_count == b->dim_count && a->order == b->order &&
           (!a->dim_count || !memcmp(a->dims, b->dims, a->dim_count * sizeof *a->dims));
}

/* Whoever touches the same bytes in the same way races with the same others: one of them is kept.
 */
void graph_steps_set_add(struct graph_steps_set *set, const struct graph_node_work *work,
                         const struct csan_access *access)
{
    size_t slot = hash_access(access) % set->slot_count;
    for (; set->slots[slot]; slot = (slot + 1) % set->slot_count)
        if (same_bytes(set->all[set->slots[slot] - 1].access, access))
            return;
    set->all[set->count++] = (struct item){.access = access,
                                           .site = work->site,
                                           .level = work->level,
                                           .base = access->base,
                                           .bytes = access->bytes};
    set->slots[slot] = (uint32_t)set->count;
}

static bool is_interval(const struct item *item)
{
    return !item->access->dim_count && item->access->bytes != CSAN_TO_END;
}

/* Intervals that may become one: of one kind, by one argument of one site. */
static int compare_families(const struct item *a, const struct item *b)
{
    const struct csan_access *left = a->access, *right = b->access;
    uint64_t of_left[] = {!is_interval(a),     a->site,    a->level,
                          left->argument,      left->kind, left->bound,
                          left->element_bytes, left->order};
    uint64_t of_right[] = {!is_interval(b),      b->site,     b->level,
                           right->argument,      right->kind, right->bound,
                           right->element_bytes, right->order};
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
static void join_neighbours(struct graph_steps_set *set)
{
    struct item *into = NULL;
    qsort(set->all, set->count, sizeof *set->all, by_family_and_place);
    for (size_t i = 0; i < set->count; i++) {
        struct item *item = &set->all[i];
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
static size_t written(const struct graph_steps_set *set, struct interval *intervals)
{
    size_t count = 0, merged = 0;
    for (size_t i = 0; i < set->count; i++) {
        const struct item *item = &set->all[i];
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
static bool drop_written_over(struct graph_steps_set *set)
{
    struct interval *intervals = malloc((set->count + 1) * sizeof *intervals);
    if (!intervals)
        return false;
    size_t count = written(set, intervals);
    for (size_t i = 0; i < set->count; i++) {
        struct item *item = &set->all[i];
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
static bool make_ops(struct graph_steps_set *set, struct graph_step_op **made, size_t *count)
{
    struct graph_step_op *op = NULL, *ops = calloc(set->count + 1, sizeof *ops);
    *made = ops;
    *count = 0;
    qsort(set->all, set->count, sizeof *set->all, by_site);
    for (size_t i = 0; ops && i < set->count; i++) {
        const struct item *item = &set->all[i];
        if (!op || op->site != item->site || op->level != item->level) {
            op = &ops[(*count)++];
            *op = (struct graph_step_op){.site = item->site, .level = item->level};
            size_t same = i;
            while (same < set->count && set->all[same].site == item->site &&
                   set->all[same].level == item->level)
                same++;
            op->accesses = calloc(same - i, sizeof *op->accesses);
            if (!op->accesses)
                return false;
        }
        op->accesses[op->count] = *item->access;
        op->accesses[op->count].base = item->base;
        op->accesses[op->count++].bytes = item->bytes;
    }
    return ops != NULL;
}

static void compact(struct graph_steps_set *set)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++)
        if (!set->all[i].dropped)
            set->all[kept++] = set->all[i];
    set->count = kept;
}

struct graph_steps_set *graph_steps_set_create(size_t accesses)
{
    struct graph_steps_set *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->slot_count = 8 + 2 * accesses;
    set->all = calloc(accesses + 1, sizeof *set->all);
    set->slots = calloc(set->slot_count, sizeof *set->slots);
    if (set->all && set->slots)
        return set;
    graph_steps_set_free(set);
    return NULL;
}

void graph_steps_set_free(struct graph_steps_set *set)
{
    if (!set)
        return;
    free(set->all);
    free(set->slots);
    free(set);
}

bool graph_steps_set_ops(struct graph_steps_set *set, struct graph_step_op **ops, size_t *count)
{
    join_neighbours(set);
    bool done = drop_written_over(set);
    compact(set);
    return done && make_ops(set, ops, count);
}
