/* Merges ranges. See range_list.h. */
#include "runtime/access/range_list.h"

#include <stdlib.h>
#include <string.h>

static bool is_open(const struct range_item *item)
{
    return item->footprint.bytes == ACCESS_TO_END || item->footprint.bytes == ACCESS_WHOLE;
}

static bool same_group(const struct range_item *a, const struct range_item *b)
{
    return a->base == b->base && a->kind == b->kind && a->bound == b->bound &&
           a->width == b->width && a->early == b->early;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* By group, then by dimensions, then by place. */
static int compare(const void *left, const void *right)
{
    const struct range_item *a = left, *b = right;
    int order = compare_numbers(a->base, b->base);
    order = order ? order : compare_numbers(a->kind, b->kind);
    order = order ? order : compare_numbers(a->bound, b->bound);
    order = order ? order : compare_numbers(a->width, b->width);
    order = order ? order : compare_numbers(a->early, b->early);
    order = order ? order : compare_numbers(a->footprint.dim_count, b->footprint.dim_count);
    for (uint32_t i = 0; !order && i < a->footprint.dim_count; i++) {
        order = compare_numbers((uint64_t)a->footprint.dims[i].stride,
                                (uint64_t)b->footprint.dims[i].stride);
        order =
            order ? order : compare_numbers(a->footprint.dims[i].count, b->footprint.dims[i].count);
    }
    if (!order)
        order = a->footprint.offset < b->footprint.offset
                    ? -1
                    : a->footprint.offset > b->footprint.offset;
    return order ? order : -compare_numbers(a->footprint.bytes, b->footprint.bytes);
}

static bool same_dims(const struct footprint *a, const struct footprint *b)
{
    return a->dim_count == b->dim_count &&
           memcmp(a->dims, b->dims, a->dim_count * sizeof a->dims[0]) == 0;
}

/* b, which comes after a in order, becomes part of a. */
static bool join(struct range_item *a, const struct range_item *b)
{
    if (!same_group(a, b) || !same_dims(&a->footprint, &b->footprint) || is_open(a) || is_open(b))
        return false;
    uint64_t apart = (uint64_t)(b->footprint.offset - a->footprint.offset);
    if (b->footprint.offset < a->footprint.offset || apart > a->footprint.bytes)
        return false;
    if (apart + b->footprint.bytes > a->footprint.bytes)
        a->footprint.bytes = apart + b->footprint.bytes;
    if (b->line < a->line)
        a->line = b->line;
    footprint_normalize(&a->footprint);
    return true;
}

static bool join_neighbours(struct range_list *list)
{
    uint32_t kept = 0;
    bool changed = false;
    qsort(list->items, list->count, sizeof list->items[0], compare);
    for (uint32_t i = 0; i < list->count; i++) {
        if (kept && join(&list->items[kept - 1], &list->items[i]))
            changed = true;
        else
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
    return changed;
}

/* Equal shapes at equal distances: one more dimension. Sorted, so that they lie side by side. */
static bool join_series(struct range_list *list)
{
    uint32_t kept = 0;
    bool changed = false;
    for (uint32_t i = 0; i < list->count;) {
        struct range_item item = list->items[i];
        uint32_t run = 1;
        int64_t distance = 0;
        while (i + run < list->count && item.footprint.dim_count < ACCESS_MAX_DIMS &&
               !is_open(&item)) {
            const struct range_item *next = &list->items[i + run];
            int64_t step = next->footprint.offset - list->items[i + run - 1].footprint.offset;
            if (!same_group(&item, next) || !same_dims(&item.footprint, &next->footprint) ||
                item.footprint.bytes != next->footprint.bytes || step <= 0 ||
                (run > 1 && step != distance))
                break;
            distance = step;
            run++;
        }
        if (run > 1) {
            item.footprint.dims[item.footprint.dim_count++] = (struct access_dim){distance, run};
            footprint_normalize(&item.footprint);
            changed = true;
        }
        list->items[kept++] = item;
        i += run;
    }
    list->count = kept;
    return changed;
}

/* One row more: b continues a's outermost (or any) dimension. */
static bool continues(struct range_item *a, const struct range_item *b)
{
    if (!same_group(a, b) || a->footprint.dim_count != b->footprint.dim_count || is_open(a) ||
        is_open(b) || a->footprint.bytes != b->footprint.bytes)
        return false;
    uint32_t differs = ACCESS_MAX_DIMS;
    for (uint32_t i = 0; i < a->footprint.dim_count; i++) {
        if (a->footprint.dims[i].stride != b->footprint.dims[i].stride)
            return false;
        if (a->footprint.dims[i].count != b->footprint.dims[i].count) {
            if (differs != ACCESS_MAX_DIMS)
                return false;
            differs = i;
        }
    }
    for (uint32_t i = 0; i < a->footprint.dim_count; i++) {
        struct access_dim *dim = &a->footprint.dims[i];
        if (differs != ACCESS_MAX_DIMS && differs != i)
            continue;
        int64_t apart = b->footprint.offset - a->footprint.offset;
        if (apart < 0 || apart % dim->stride || (uint64_t)(apart / dim->stride) > dim->count)
            continue;
        uint64_t end = (uint64_t)(apart / dim->stride) + b->footprint.dims[i].count;
        if (end > dim->count)
            dim->count = end;
        footprint_normalize(&a->footprint);
        return true;
    }
    return false;
}

static bool covers(const struct range_item *outer, const struct range_item *inner)
{
    if (outer->base != inner->base || outer->kind != inner->kind || outer->early < inner->early)
        return false;
    if (is_open(inner))
        return outer->footprint.bytes == ACCESS_WHOLE ||
               (outer->footprint.bytes == ACCESS_TO_END &&
                inner->footprint.bytes == ACCESS_TO_END &&
                outer->footprint.offset <= inner->footprint.offset);
    if (outer->kind == ACCESS_ATOMIC && outer->width != inner->width)
        return false;
    if (outer->bound != ACCESS_EXACT && inner->bound == ACCESS_EXACT)
        return false;
    uint64_t span = inner->footprint.bytes;
    for (uint32_t i = 0; i < inner->footprint.dim_count; i++)
        span += (uint64_t)inner->footprint.dims[i].stride * (inner->footprint.dims[i].count - 1);
    if (outer->footprint.bytes == ACCESS_WHOLE)
        return true;
    if (outer->footprint.dim_count || outer->footprint.offset > inner->footprint.offset)
        return outer->footprint.dim_count && same_dims(&outer->footprint, &inner->footprint) &&
               outer->footprint.offset == inner->footprint.offset &&
               outer->footprint.bytes >= inner->footprint.bytes;
    uint64_t apart = (uint64_t)(inner->footprint.offset - outer->footprint.offset);
    return outer->footprint.bytes == ACCESS_TO_END || apart + span <= outer->footprint.bytes;
}

/* b lies in the gaps between a's innermost rows, which become one run of bytes: blocks of which
 * each thread takes two halves, rows in unequal parts. The row that one of them has more is left
 * over: it takes b's place, or *left_over is false. */
static bool fills_gaps(struct range_item *a, struct range_item *b, bool *left_over)
{
    const struct access_dim *rows = a->footprint.dims, *outer = b->footprint.dims;
    if (!same_group(a, b) || is_open(a) || is_open(b) || !a->footprint.dim_count)
        return false;
    bool has_rows = b->footprint.dim_count && outer->stride == rows->stride;
    uint64_t count = has_rows ? outer->count : 1;
    uint32_t rest = b->footprint.dim_count - has_rows;
    int64_t apart = b->footprint.offset - a->footprint.offset;
    if (rest != a->footprint.dim_count - 1 ||
        memcmp(rows + 1, outer + has_rows, rest * sizeof *rows) != 0 || apart <= 0 ||
        (uint64_t)apart > a->footprint.bytes ||
        (uint64_t)apart + b->footprint.bytes < (uint64_t)rows->stride || count > rows->count + 1 ||
        rows->count > count + 1)
        return false;
    uint64_t both = count < rows->count ? count : rows->count;
    struct range_item last = rows->count > count ? *a : *b;
    *left_over = rows->count != count;
    if (*left_over) {
        last.footprint.offset += (int64_t)both * rows->stride;
        memmove(last.footprint.dims, rows + 1, rest * sizeof *rows);
        last.footprint.dim_count = rest;
    }
    a->footprint.bytes = (uint64_t)apart + b->footprint.bytes;
    a->footprint.dims[0].count = both;
    footprint_normalize(&a->footprint);
    if (b->line < a->line)
        a->line = b->line;
    *b = last;
    return true;
}

/* Pairs that are not side by side in order. */
static bool join_pairs(struct range_list *list)
{
    bool changed = false;
    if (list->count > 128)
        return false;
    for (uint32_t i = 0; i < list->count; i++)
        for (uint32_t k = 0; k < list->count; k++) {
            bool left_over = false;
            if (i == k || !(covers(&list->items[i], &list->items[k]) ||
                            join(&list->items[i], &list->items[k]) ||
                            continues(&list->items[i], &list->items[k]) ||
                            fills_gaps(&list->items[i], &list->items[k], &left_over)))
                continue;
            if (!left_over)
                list->items[k] = list->items[--list->count];
            changed = true;
            k = UINT32_MAX; /* i has grown, or moved */
            if (i >= list->count)
                break;
        }
    return changed;
}

/* a becomes the hull of both. */
static void widen_by(struct footprint *a, const struct footprint *b)
{
    if (a->bytes == ACCESS_WHOLE || b->bytes == ACCESS_WHOLE) {
        *a = (struct footprint){.bytes = ACCESS_WHOLE};
        return;
    }
    bool to_end = a->bytes == ACCESS_TO_END || b->bytes == ACCESS_TO_END;
    int64_t end_a = a->offset + (int64_t)a->bytes, end_b = b->offset + (int64_t)b->bytes;
    if (b->offset < a->offset)
        a->offset = b->offset;
    a->bytes = to_end ? ACCESS_TO_END : (uint64_t)((end_a > end_b ? end_a : end_b) - a->offset);
}

/* Every base and kind as one range around all of it: no more than bases times kinds are left. */
static void widen(struct range_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct footprint *footprint = &list->items[i].footprint;
        list->items[i].bound = ACCESS_BOUND_SHAPE;
        list->items[i].width = 0;
        for (uint32_t d = 0; d < footprint->dim_count; d++)
            footprint->bytes +=
                (uint64_t)footprint->dims[d].stride * (footprint->dims[d].count - 1);
        footprint->dim_count = 0;
    }
    qsort(list->items, list->count, sizeof list->items[0], compare);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (kept && same_group(&list->items[kept - 1], &list->items[i]))
            widen_by(&list->items[kept - 1].footprint, &list->items[i].footprint);
        else
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

static void bring_together(struct range_list *list)
{
    for (uint32_t rounds = 0; rounds < 8; rounds++) {
        bool changed = join_neighbours(list);
        changed |= join_series(list);
        changed |= join_pairs(list);
        if (!changed)
            break;
    }
}

void range_list_add(struct range_list *list, const struct range_item *item)
{
    uint32_t recent = list->count > 8 ? list->count - 8 : 0;
    for (uint32_t i = recent; i < list->count; i++)
        if (list->items[i].width == item->width && covers(&list->items[i], item))
            return; /* each round of an unrolled loop says it again */
    if (list->count == RANGE_LIST_MAX) {
        bring_together(list);
        if (list->count > RANGE_LIST_MAX / 2)
            widen(list);
    }
    list->items[list->count++] = *item;
}

void range_list_finish(struct range_list *list)
{
    bring_together(list);
    if (list->count > RANGE_SET_MAX) {
        widen(list);
        bring_together(list);
    }
}
