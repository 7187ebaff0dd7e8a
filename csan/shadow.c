#include "shadow.h"

#include <stdlib.h>
#include <assert.h>
#include <string.h>

static_assert(sizeof(struct mark) == 32, "two marks to a cache line");
static_assert(offsetof(struct shadow_cell, range) == 0,
              "range_map elements begin with their range");

/* ---- marks */

static uint64_t mark_key(const struct mark *mark)
{
    return (uint64_t)epoch_lane(mark->epoch) << 1 | (mark->bound != CSAN_EXACT);
}

/* Do two kinds of access to the same bytes need an order? Atomics of one width never do; atomics of
 * different widths overlap in part, which PTX leaves undefined (PTX ISA, "Memory Consistency
 * Model": morally strong operations must overlap completely). */
static bool kinds_conflict(const struct mark *a, const struct mark *b)
{
    if (a->kind == CSAN_READ && b->kind == CSAN_READ)
        return false;
    if (a->kind == CSAN_ATOMIC && b->kind == CSAN_ATOMIC)
        return a->element_bytes && b->element_bytes && a->element_bytes != b->element_bytes;
    return true;
}

static bool races(const struct shadow_access *access, const struct mark *earlier)
{
    return earlier->kind && kinds_conflict(&access->mark, earlier) &&
           !order_knows(access->order, epoch_lane(access->mark.epoch), earlier->epoch);
}

static bool same_mark(const struct mark *a, const struct mark *b)
{
    if (a->kind == 0 && b->kind == 0)
        return true;
    return a->epoch == b->epoch && a->kind == b->kind && a->bound == b->bound &&
           a->argument == b->argument && a->site == b->site && a->generation == b->generation &&
           a->element_bytes == b->element_bytes;
}

/* ---- lists of marks */

static uint32_t list_place(const struct mark_list *list, uint64_t key)
{
    uint32_t low = 0, high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (mark_key(&list->marks[middle]) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct mark_list *list_copy(const struct mark_list *list)
{
    if (!list)
        return NULL;
    struct mark_list *copy = malloc(sizeof(*copy) + list->count * sizeof(copy->marks[0]));
    if (!copy)
        return NULL;
    copy->count = copy->capacity = list->count;
    memcpy(copy->marks, list->marks, list->count * sizeof(copy->marks[0]));
    return copy;
}

static bool list_equal(const struct mark_list *a, const struct mark_list *b)
{
    if (!a || !b)
        return a == b;
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!same_mark(&a->marks[i], &b->marks[i]))
            return false;
    return true;
}

/* Remove the marks `lane` knows to have finished; an emptied list is freed. */
static void list_forget(struct mark_list **slot, const struct order *order, uint32_t lane)
{
    struct mark_list *list = *slot;
    if (!list)
        return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (!order_knows(order, lane, list->marks[i].epoch))
            list->marks[kept++] = list->marks[i];
    list->count = kept;
    if (kept == 0) {
        free(list);
        *slot = NULL;
    }
}

/* The slow half of list_put: a lane's first mark of its class in this cell. */
static void list_insert_slow(struct mark_list **slot, const struct mark *mark,
                             const struct order *order)
{
    if (*slot && (*slot)->count == (*slot)->capacity && mark->bound == CSAN_EXACT)
        list_forget(slot, order, epoch_lane(mark->epoch)); /* exact of this kind covers those */
    struct mark_list *list = *slot;
    if (!list || list->count == list->capacity) {
        uint32_t capacity = list ? list->capacity * 2 : 1;
        struct mark_list *grown = realloc(list, sizeof(*grown) + capacity * sizeof(*mark));
        if (!grown)
            return; /* one mark less: a race may go unseen, nothing worse */
        if (!list)
            grown->count = 0;
        grown->capacity = capacity;
        *slot = list = grown;
    }
    uint32_t place = list_place(list, mark_key(mark));
    memmove(list->marks + place + 1, list->marks + place,
            (list->count - place) * sizeof(list->marks[0]));
    list->marks[place] = *mark;
    list->count++;
}

static void list_put(struct mark_list **slot, const struct mark *mark, const struct order *order)
{
    struct mark_list *list = *slot;
    if (list) {
        uint32_t place = list_place(list, mark_key(mark));
        if (place < list->count && mark_key(&list->marks[place]) == mark_key(mark)) {
            list->marks[place] = *mark;
            return;
        }
    }
    list_insert_slow(slot, mark, order);
}

/* ---- cells */

static void cell_release(struct shadow_cell *cell)
{
    for (int kind = CSAN_READ; kind <= CSAN_ATOMIC; kind++)
        free(cell->others[kind]);
}

static bool cell_is_empty(const struct shadow_cell *cell)
{
    return !cell->write.kind && !cell->others[CSAN_READ] && !cell->others[CSAN_WRITE] &&
           !cell->others[CSAN_ATOMIC];
}

static bool cell_equal(const struct shadow_cell *a, const struct shadow_cell *b)
{
    if (!same_mark(&a->write, &b->write))
        return false;
    for (int kind = CSAN_READ; kind <= CSAN_ATOMIC; kind++)
        if (!list_equal(a->others[kind], b->others[kind]))
            return false;
    return true;
}

/* Report each mark of the cell that the access races with, on the common bytes [start, end). */
static void cell_check(const struct shadow_cell *cell, const struct shadow_access *access,
                       uint64_t start, uint64_t end)
{
    if (races(access, &cell->write))
        access->conflict(access->user, &cell->write, start, end, false);
    for (int kind = CSAN_READ; kind <= CSAN_ATOMIC; kind++) {
        const struct mark_list *list = cell->others[kind];
        if (!list || (kind == CSAN_READ && access->mark.kind == CSAN_READ))
            continue;
        for (uint32_t i = 0; i < list->count; i++)
            if (races(access, &list->marks[i]))
                access->conflict(access->user, &list->marks[i], start, end, false);
    }
}

static bool cell_races(const struct shadow_cell *cell, const struct shadow_access *access)
{
    if (races(access, &cell->write))
        return true;
    for (int kind = CSAN_READ; kind <= CSAN_ATOMIC; kind++) {
        const struct mark_list *list = cell->others[kind];
        for (uint32_t i = 0; list && i < list->count; i++)
            if (races(access, &list->marks[i]))
                return true;
    }
    return false;
}

/* Remember the access on a cell it covers whole. */
static void cell_touch(struct shadow_cell *cell, const struct shadow_access *access)
{
    const struct mark *mark = &access->mark;
    if (mark->kind == CSAN_WRITE && mark->bound == CSAN_EXACT) {
        uint32_t lane = epoch_lane(mark->epoch);
        for (int kind = CSAN_READ; kind <= CSAN_ATOMIC; kind++)
            list_forget(&cell->others[kind], access->order, lane);
        cell->write = *mark;
        return;
    }
    list_put(&cell->others[mark->kind], mark, access->order);
}

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
    upper->write = copy.write;
    for (int kind = CSAN_READ; kind <= CSAN_ATOMIC; kind++)
        upper->others[kind] = list_copy(copy.others[kind]);
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
        if (next->range.start == cell->range.end && cell_equal(cell, next)) {
            cell->range.end = next->range.end;
            cell_release(next);
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
        cell_touch(cell, access);
}

/* The general case of a contiguous access: gaps, parts of cells, many cells. */
static void cells_touch_slow(struct shadow *shadow, const struct shadow_access *access,
                             uint64_t start, uint64_t end)
{
    uint64_t position = start;
    while (position < end) {
        struct range_cursor cursor = range_map_seek(&shadow->cells, position);
        struct shadow_cell *cell = range_map_at(&shadow->cells, cursor);
        if (!cell || cell->range.start > position) {
            uint64_t gap_end = cell && cell->range.start < end ? cell->range.start : end;
            cell_create(shadow, &cursor, position, gap_end, access);
            position = gap_end;
            continue;
        }
        uint64_t common_end = cell->range.end < end ? cell->range.end : end;
        cell_check(cell, access, position, common_end);
        if (cell->range.start < position) {
            if (!cell_split(shadow, &cursor, position))
                return;
            cursor = range_map_seek(&shadow->cells, position);
            cell = range_map_at(&shadow->cells, cursor);
        }
        if (cell->range.end > end) {
            if (!cell_split(shadow, &cursor, end))
                return;
            cell = range_map_at(&shadow->cells, cursor);
        }
        cell_touch(cell, access);
        position = common_end;
    }
    cells_merge(shadow, start, end);
}

static void cells_touch(struct shadow *shadow, const struct shadow_access *access)
{
    uint64_t start = access->lmad->base, end = start + access->lmad->span;
    struct range_cursor cursor = range_map_seek(&shadow->cells, start);
    struct shadow_cell *cell = range_map_at(&shadow->cells, cursor);
    if (cell && cell->range.start == start && cell->range.end == end) {
        cell_check(cell, access, start, end);
        cell_touch(cell, access);
        return;
    }
    cells_touch_slow(shadow, access, start, end);
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
        if (!cell_races(cell, access) ||
            !lmad_next_run(access->lmad, cell->range.start, &run_start, &run_end) ||
            run_start >= cell->range.end)
            continue;
        cell_check(cell, access, run_start, run_end < cell->range.end ? run_end : cell->range.end);
    }
}

/* ---- strided records */

static void records_check(const struct shadow *shadow, const struct shadow_access *access)
{
    for (uint32_t i = 0; i < shadow->record_count; i++) {
        const struct shadow_record *record = &shadow->records[i];
        if (access->lmad->base >= record->lmad.base + record->lmad.span ||
            record->lmad.base >= access->lmad->base + access->lmad->span ||
            !races(access, &record->mark))
            continue;
        uint64_t start, end;
        enum lmad_meeting meeting = lmad_meet(access->lmad, &record->lmad, &start, &end);
        if (meeting != LMAD_APART)
            access->conflict(access->user, &record->mark, start, end, meeting == LMAD_UNDECIDED);
    }
}

static void record_remove(struct shadow *shadow, uint32_t index)
{
    shadow->records[index] = shadow->records[--shadow->record_count];
}

/* Forget the records that this exact access covers, is ordered after, and whose kind it may drop.
 */
static void records_forget(struct shadow *shadow, const struct shadow_access *access)
{
    const struct mark *mark = &access->mark;
    if (mark->bound != CSAN_EXACT)
        return;
    for (uint32_t i = shadow->record_count; i-- > 0;) {
        const struct shadow_record *record = &shadow->records[i];
        if ((mark->kind == CSAN_WRITE || mark->kind == record->mark.kind) &&
            order_knows(access->order, epoch_lane(mark->epoch), record->mark.epoch) &&
            record->mark.op != mark->op && lmad_covers(access->lmad, &record->lmad))
            record_remove(shadow, i);
    }
}

static void records_forget_finished(struct shadow *shadow, const struct order *order)
{
    for (uint32_t i = shadow->record_count; i-- > 0;)
        if (order_knows(order, ORDER_HOST, shadow->records[i].mark.epoch))
            record_remove(shadow, i);
}

static uint32_t record_oldest(const struct shadow *shadow)
{
    uint32_t oldest = 0;
    for (uint32_t i = 1; i < shadow->record_count; i++)
        if (shadow->records[i].mark.op < shadow->records[oldest].mark.op)
            oldest = i;
    return oldest;
}

static bool records_reserve(struct shadow *shadow)
{
    if (shadow->record_count < shadow->record_capacity)
        return true;
    uint32_t capacity = shadow->record_capacity ? shadow->record_capacity * 2 : 4;
    struct shadow_record *records = realloc(shadow->records, capacity * sizeof(*records));
    if (!records)
        return false;
    shadow->records = records;
    shadow->record_capacity = capacity;
    return true;
}

static void record_put(struct shadow *shadow, const struct shadow_access *access)
{
    for (uint32_t i = 0; i < shadow->record_count; i++) {
        struct shadow_record *record = &shadow->records[i];
        if (record->mark.kind == access->mark.kind &&
            mark_key(&record->mark) == mark_key(&access->mark) &&
            lmad_covers(access->lmad, &record->lmad) && lmad_covers(&record->lmad, access->lmad)) {
            record->mark = access->mark;
            return;
        }
    }
    if (shadow->record_count >= access->strided_cap)
        records_forget_finished(shadow, access->order);
    if (shadow->record_count && shadow->record_count >= access->strided_cap) {
        record_remove(shadow, record_oldest(shadow));
        ++*access->strided_dropped;
    }
    if (records_reserve(shadow))
        shadow->records[shadow->record_count++] =
            (struct shadow_record){*access->lmad, access->mark};
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
        cell_release(cell);
    range_map_clear(&shadow->cells);
    free(shadow->records);
    shadow_init(shadow);
}

void shadow_check(struct shadow *shadow, const struct shadow_access *access)
{
    cells_check(shadow, access);
    if (shadow->record_count)
        records_check(shadow, access);
}

void shadow_touch(struct shadow *shadow, const struct shadow_access *access)
{
    if (__builtin_expect(shadow->record_count != 0, 0)) {
        records_check(shadow, access);
        records_forget(shadow, access);
    }
    if (lmad_is_contiguous(access->lmad)) {
        cells_touch(shadow, access);
        if (__builtin_expect(shadow->cells.count >= shadow->sweep_at, 0))
            shadow_sweep(shadow, access->order);
        return;
    }
    cells_check(shadow, access);
    record_put(shadow, access);
}

bool shadow_sweep(struct shadow *shadow, const struct order *order)
{
    struct range_cursor cursor = {0, 0};
    struct shadow_cell *cell;
    while ((cell = range_map_at(&shadow->cells, cursor))) {
        if (cell->write.kind && order_knows(order, ORDER_HOST, cell->write.epoch))
            cell->write.kind = 0;
        for (int kind = CSAN_READ; kind <= CSAN_ATOMIC; kind++)
            list_forget(&cell->others[kind], order, ORDER_HOST);
        if (cell_is_empty(cell))
            range_map_remove(&shadow->cells, &cursor);
        else
            cursor = range_map_next(&shadow->cells, cursor);
    }
    records_forget_finished(shadow, order);
    shadow->sweep_at = shadow->cells.count * 2 > 64 ? shadow->cells.count * 2 : 64;
    return shadow->cells.count == 0 && shadow->record_count == 0;
}

/* ---- between two shadows */

static void list_filter(struct mark_list **slot, bool (*keep)(void *, const struct mark *),
                        void *user)
{
    struct mark_list *list = *slot;
    if (!list)
        return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (keep(user, &list->marks[i]))
            list->marks[kept++] = list->marks[i];
    list->count = kept;
    if (kept == 0) {
        free(list);
        *slot = NULL;
    }
}

/* Take the cell's contents over into `to` at the same range, less what is not worth keeping. */
static void cell_move(struct shadow *to, struct shadow_cell cell,
                      bool (*keep)(void *, const struct mark *), void *user)
{
    if (cell.write.kind && !keep(user, &cell.write))
        cell.write.kind = 0;
    for (int kind = CSAN_READ; kind <= CSAN_ATOMIC; kind++)
        list_filter(&cell.others[kind], keep, user);
    if (cell_is_empty(&cell))
        return;
    struct range_cursor place = range_map_seek(&to->cells, cell.range.start);
    struct shadow_cell *moved = range_map_insert(&to->cells, &place, cell.range);
    if (moved)
        *moved = cell;
    else
        cell_release(&cell);
}

static void split_at(struct shadow *shadow, uint64_t address)
{
    struct range_cursor cursor = range_map_seek(&shadow->cells, address);
    const struct shadow_cell *cell = range_map_at(&shadow->cells, cursor);
    if (cell && cell->range.start < address)
        cell_split(shadow, &cursor, address);
}

void shadow_move(struct shadow *to, struct shadow *from, uint64_t start, uint64_t end,
                 bool (*keep)(void *user, const struct mark *mark), void *user)
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
    for (uint32_t i = 0; i < from->record_count; i++) {
        const struct shadow_record *record = &from->records[i];
        if (record->lmad.base < end && start < record->lmad.base + record->lmad.span &&
            keep(user, &record->mark) && records_reserve(to))
            to->records[to->record_count++] = *record;
    }
}
