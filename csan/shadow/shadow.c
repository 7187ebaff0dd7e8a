#include "csan/shadow/shadow.h"

#include <assert.h>
#include <stddef.h>

static_assert(offsetof(struct shadow_cell, range) == 0,
              "range_map elements begin with their range");

/* ---- cells */

/* Split the cell at the cursor at `address`; the cursor stays on the lower part. */
static bool cell_split(struct shadow *shadow, struct range_cursor *cursor, uint64_t address)
{
    struct shadow_cell *lower = range_map_at(&shadow->cells, *cursor);
    struct shadow_cell copy = *lower;
    lower->range.end = address;
    struct range_cursor upper_cursor = range_map_next(&shadow->cells, *cursor);
    struct shadow_cell *upper =
        range_map_insert(&shadow->cells, &upper_cursor, (struct range){address, copy.range.end});
    if (!upper) {
        lower = range_map_at(&shadow->cells, *cursor);
        lower->range.end = copy.range.end;
        return false;
    }
    upper->history = access_history_copy(&copy.history);
    *cursor = range_map_seek(&shadow->cells, address - 1); /* chunks may have moved */
    return true;
}

/* Merge equal neighbours from the cell that holds `start` to the one at `end`. */
static void cells_merge(struct shadow *shadow, uint64_t start, uint64_t end)
{
    struct range_cursor cursor = range_map_seek(&shadow->cells, start ? start - 1 : 0);
    struct shadow_cell *cell = range_map_at(&shadow->cells, cursor);
    while (cell && cell->range.start < end) {
        struct range_cursor next_cursor = range_map_next(&shadow->cells, cursor);
        struct shadow_cell *next = range_map_at(&shadow->cells, next_cursor);
        if (!next || next->range.start > end)
            return;
        if (next->range.start == cell->range.end &&
            access_history_equal(&cell->history, &next->history)) {
            cell->range.end = next->range.end;
            access_history_release(&next->history);
            range_map_remove(&shadow->cells, &next_cursor);
            cell = range_map_at(&shadow->cells, cursor);
            continue;
        }
        cursor = next_cursor;
        cell = next;
    }
}

/* A stretch nobody has touched, up to `end`. */
static void cell_create(struct shadow *shadow, struct range_cursor *cursor, uint64_t start,
                        uint64_t end, const struct shadow_access *access)
{
    struct shadow_cell *cell = range_map_insert(&shadow->cells, cursor, (struct range){start, end});
    if (cell)
        access_history_put(&cell->history, access);
}

/* The gap, or as much of a cell, as lies at the cursor between `position` and `end`. Returns where
 * it ends; 0: memory is short. */
static uint64_t cells_touch_part(struct shadow *shadow, const struct shadow_access *access,
                                 struct range_cursor cursor, uint64_t position, uint64_t end)
{
    struct shadow_cell *cell = range_map_at(&shadow->cells, cursor);
    if (!cell || cell->range.start > position) {
        uint64_t gap_end = cell && cell->range.start < end ? cell->range.start : end;
        cell_create(shadow, &cursor, position, gap_end, access);
        return gap_end;
    }
    uint64_t common_end = cell->range.end < end ? cell->range.end : end;
    access_history_check(&cell->history, access, position, common_end, false);
    if (cell->range.start < position) {
        if (!cell_split(shadow, &cursor, position))
            return 0;
        cursor = range_map_seek(&shadow->cells, position);
        cell = range_map_at(&shadow->cells, cursor);
    }
    if (cell->range.end > end) {
        if (!cell_split(shadow, &cursor, end))
            return 0;
        cell = range_map_at(&shadow->cells, cursor);
    }
    access_history_put(&cell->history, access);
    return common_end;
}

/* The general case of a contiguous access: gaps, parts of cells, many cells. The cursor is where
 * `start` lies. */
static void cells_touch_slow(struct shadow *shadow, const struct shadow_access *access,
                             struct range_cursor cursor, uint64_t start, uint64_t end)
{
    uint64_t position = cells_touch_part(shadow, access, cursor, start, end);
    while (position && position < end) {
        cursor = range_map_seek(&shadow->cells, position);
        position = cells_touch_part(shadow, access, cursor, position, end);
    }
    if (position)
        cells_merge(shadow, start, end);
}

static void cells_touch(struct shadow *shadow, const struct shadow_access *access)
{
    uint64_t start = access->lmad->base, end = start + access->lmad->span;
    struct range_cursor cursor = range_map_seek(&shadow->cells, start);
    struct shadow_cell *cell = range_map_at(&shadow->cells, cursor);
    if (cell && cell->range.start == start && cell->range.end == end) {
        access_history_check(&cell->history, access, start, end, false);
        access_history_put(&cell->history, access);
        return;
    }
    cells_touch_slow(shadow, access, cursor, start, end);
}

/* Check only: contiguous or strided, nothing split. */
static void cells_check(const struct shadow *shadow, const struct shadow_access *access)
{
    uint64_t end = access->lmad->base + access->lmad->span;
    struct range_cursor cursor = range_map_seek(&shadow->cells, access->lmad->base);
    for (;; cursor = range_map_next(&shadow->cells, cursor)) {
        const struct shadow_cell *cell = range_map_at(&shadow->cells, cursor);
        if (!cell || cell->range.start >= end)
            return;
        uint64_t run_start, run_end;
        if (!access_history_race(&cell->history, access) ||
            !lmad_next_run(access->lmad, cell->range.start, &run_start, &run_end) ||
            run_start >= cell->range.end)
            continue;
        access_history_check(&cell->history, access, run_start,
                             run_end < cell->range.end ? run_end : cell->range.end, false);
    }
}

/* Does the access's lane know all past accesses of all cells? Computed once for all strided
 * accesses of an op: what the op itself puts into cells meanwhile, its lane knows. */
static bool cells_known(struct shadow *shadow, const struct shadow_access *access)
{
    if (shadow->asked_op == access->self.op)
        return shadow->asked_known;
    shadow->asked_op = access->self.op;
    shadow->asked_known = false;
    struct range_cursor cursor = {0, 0};
    const struct shadow_cell *cell;
    for (; (cell = range_map_at(&shadow->cells, cursor));
         cursor = range_map_next(&shadow->cells, cursor))
        if (!access_history_known(&cell->history, access->order, epoch_lane(access->self.epoch)))
            return false;
    return shadow->asked_known = true;
}

/* ---- the shadow */

void shadow_init(struct shadow *shadow)
{
    *shadow = (struct shadow){.sweep_at = 64};
    range_map_init(&shadow->cells, sizeof(struct shadow_cell));
}

void shadow_clear(struct shadow *shadow)
{
    struct range_cursor cursor = {0, 0};
    struct shadow_cell *cell;
    for (; (cell = range_map_at(&shadow->cells, cursor));
         cursor = range_map_next(&shadow->cells, cursor))
        access_history_release(&cell->history);
    range_map_clear(&shadow->cells);
    strided_clear(&shadow->strided);
    shadow_init(shadow);
}

void shadow_check(struct shadow *shadow, const struct shadow_access *access)
{
    cells_check(shadow, access);
    if (shadow->strided.count)
        strided_check(&shadow->strided, access);
}

void shadow_touch(struct shadow *shadow, const struct shadow_access *access)
{
    if (!lmad_is_contiguous(access->lmad)) {
        if (!cells_known(shadow, access))
            cells_check(shadow, access);
        strided_touch(&shadow->strided, access);
        return;
    }
    if (__builtin_expect(shadow->strided.count != 0, 0))
        strided_check(&shadow->strided, access);
    cells_touch(shadow, access);
    if (__builtin_expect(shadow->cells.count >= shadow->sweep_at, 0))
        shadow_sweep(shadow, access->order);
}

bool shadow_sweep(struct shadow *shadow, const struct order *order)
{
    struct range_cursor cursor = {0, 0};
    struct shadow_cell *cell;
    while ((cell = range_map_at(&shadow->cells, cursor))) {
        access_history_forget_finished(&cell->history, order);
        if (access_history_empty(&cell->history))
            range_map_remove(&shadow->cells, &cursor);
        else
            cursor = range_map_next(&shadow->cells, cursor);
    }
    strided_sweep(&shadow->strided, order);
    shadow->sweep_at = shadow->cells.count * 2 > 64 ? shadow->cells.count * 2 : 64;
    return shadow->cells.count == 0 && shadow->strided.count == 0;
}

/* ---- between two shadows */

/* Take the cell's contents over into `to` at the same range, less what is not worth keeping. */
static void cell_move(struct shadow *to, struct shadow_cell cell,
                      bool (*keep)(void *, const struct past_access *), void *user)
{
    access_history_filter(&cell.history, keep, user);
    if (access_history_empty(&cell.history))
        return;
    struct range_cursor place = range_map_seek(&to->cells, cell.range.start);
    struct shadow_cell *moved = range_map_insert(&to->cells, &place, cell.range);
    if (moved)
        *moved = cell;
    else
        access_history_release(&cell.history);
}

static void split_at(struct shadow *shadow, uint64_t address)
{
    struct range_cursor cursor = range_map_seek(&shadow->cells, address);
    const struct shadow_cell *cell = range_map_at(&shadow->cells, cursor);
    if (cell && cell->range.start < address)
        cell_split(shadow, &cursor, address);
}

void shadow_move(struct shadow *to, struct shadow *from, uint64_t start, uint64_t end,
                 bool (*keep)(void *user, const struct past_access *past), void *user)
{
    split_at(from, start);
    split_at(from, end);
    struct range_cursor cursor = range_map_seek(&from->cells, start);
    struct shadow_cell *cell;
    while ((cell = range_map_at(&from->cells, cursor)) && cell->range.end <= end) {
        struct shadow_cell copy = *cell;
        range_map_remove(&from->cells, &cursor);
        cell_move(to, copy, keep, user);
    }
    strided_inherit(&to->strided, &from->strided, (struct range){start, end}, keep, user);
}
