/* See initialized.h. */
#include "csan/shadow/initialized.h"
#include "csan/shadow/lmad.h"
#include "csan/shadow/memory.h"

enum { VECTOR_BYTES = 16, RUNS_MOST = 4096, PIECES_MOST = 1 << 16 };

void initialized_init(struct initialized *initialized)
{
    *initialized = (struct initialized){.wanted = false};
    range_map_init(&initialized->unwritten, sizeof(struct range));
}

void initialized_clear(struct initialized *initialized)
{
    range_map_clear(&initialized->unwritten);
}

void initialized_doubt(struct initialized *initialized)
{
    if (!initialized->unwritten.count)
        return;
    range_map_clear(&initialized->unwritten);
    range_map_init(&initialized->unwritten, sizeof(struct range));
}

/* Where memory is short for a cut, what remains is not known. */
void initialized_written(struct initialized *initialized, struct range range)
{
    if (!initialized->unwritten.count || !range_map_overlaps(&initialized->unwritten, range))
        return;
    if (!range_map_cut(&initialized->unwritten, range) ||
        initialized->unwritten.count > PIECES_MOST)
        initialized_doubt(initialized);
}

void initialized_born(struct initialized *initialized, struct range range)
{
    initialized_written(initialized, range);
    struct range_cursor cursor = range_map_seek(&initialized->unwritten, range.start);
    range_map_insert(&initialized->unwritten, &cursor, range);
}

/* ---- reads */

/* The rest of a vector behind bytes that were written. */
static bool is_rounded_up(struct range unwritten, uint64_t piece_start)
{
    const uint64_t vector = unwritten.start & ~(uint64_t)(VECTOR_BYTES - 1);
    return unwritten.start == piece_start && vector < unwritten.start &&
           unwritten.end <= vector + VECTOR_BYTES;
}

static bool find_in_run(const struct range_map *map, struct range run, struct range *found)
{
    struct range_cursor at = range_map_seek(map, run.start);
    const struct range *piece;
    for (; (piece = range_map_at(map, at)) && piece->start < run.end;
         at = range_map_next(map, at)) {
        *found = (struct range){piece->start > run.start ? piece->start : run.start,
                                piece->end < run.end ? piece->end : run.end};
        if (!is_rounded_up(*found, piece->start))
            return true;
    }
    return false;
}

bool initialized_find(const struct initialized *initialized, const struct lmad *lmad,
                      struct range *found)
{
    const struct range_map *map = &initialized->unwritten;
    struct range run;
    uint64_t from = lmad->base;
    if (!map->count || !range_map_overlaps(map, (struct range){from, from + lmad->span}))
        return false;
    for (int i = 0; i < RUNS_MOST && lmad_next_run(lmad, from, &run.start, &run.end); i++) {
        if (find_in_run(map, run, found))
            return true;
        from = run.end;
    }
    return false;
}

/* ---- ops */

/* Of all allocations that the bytes are in. */
static void whole_written(struct initialized *initialized, struct memory *memory,
                          struct range bytes)
{
    initialized_written(initialized, bytes);
    while (bytes.start < bytes.end) {
        const struct allocation *allocation = memory_find(memory, bytes.start);
        if (!allocation && !(allocation = memory_next(memory, bytes.start)))
            return;
        if (allocation->range.start >= bytes.end)
            return;
        initialized_written(initialized, allocation->range);
        bytes.start = allocation->range.end;
    }
}

static bool is_known(const struct initialized_op *op)
{
    return (op->level == CSAN_LEVEL_RANGES || op->level == CSAN_LEVEL_TRACED ||
            op->level == CSAN_LEVEL_LIBRARY) &&
           !op->launched;
}

static void access_written(struct initialized *initialized, struct memory *memory,
                           const struct initialized_op *op, const struct csan_access *access)
{
    struct lmad lmad;
    const bool known = is_known(op);
    if (known && access->kind == CSAN_READ)
        return;
    if (access->bytes == CSAN_TO_END)
        whole_written(initialized, memory, (struct range){access->base, access->base + 1});
    else if (!lmad_from_access(&lmad, access))
        return;
    else if (known && access->bound == CSAN_EXACT)
        initialized_written(initialized, (struct range){lmad.base, lmad.base + lmad.span});
    else
        whole_written(initialized, memory, (struct range){lmad.base, lmad.base + lmad.span});
}

size_t initialized_op(struct initialized *initialized, struct memory *memory,
                      const struct initialized_op *op,
                      struct initialized_fault faults[INITIALIZED_FAULTS])
{
    size_t count = 0;
    if (op->level == CSAN_LEVEL_UNKNOWN)
        initialized_doubt(initialized);
    if (!initialized->unwritten.count)
        return 0;
    for (size_t i = 0; i < op->count; i++)
        access_written(initialized, memory, op, &op->accesses[i]);
    if (!op->judged || !is_known(op) || op->level == CSAN_LEVEL_LIBRARY)
        return 0;
    for (size_t i = 0; i < op->count && count < INITIALIZED_FAULTS; i++) {
        const struct csan_access *access = &op->accesses[i];
        struct lmad lmad;
        if (access->kind != CSAN_READ || access->bound != CSAN_EXACT ||
            access->bytes == CSAN_TO_END || !lmad_from_access(&lmad, access) ||
            !initialized_find(initialized, &lmad, &faults[count].bytes))
            continue;
        faults[count++].access = access;
        initialized_written(initialized, (struct range){lmad.base, lmad.base + lmad.span});
    }
    return count;
}
