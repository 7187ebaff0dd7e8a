/* See shared_memory.h. */
#include "csan/replay/shared_memory.h"
#include "csan/shadow/lmad.h"

struct shared_range {
    struct range own;
    uint64_t unified;
};

void shared_memory_init(struct shared_memory *memory)
{
    range_map_init(&memory->ranges, sizeof(struct shared_range));
}

void shared_memory_clear(struct shared_memory *memory)
{
    range_map_clear(&memory->ranges);
}

bool shared_memory_add(struct shared_memory *memory, uint64_t base, uint64_t bytes,
                       uint64_t unified)
{
    const struct range own = {base, base + bytes};
    if (own.end <= own.start)
        return false;
    struct range_cursor place = range_map_make_room(&memory->ranges, own);
    struct shared_range *range = range_map_insert(&memory->ranges, &place, own);
    if (range)
        range->unified = unified;
    return range != NULL;
}

bool shared_memory_find(const struct shared_memory *memory, uint64_t address, uint64_t *unified)
{
    const struct shared_range *range = range_map_find(&memory->ranges, address);
    if (range)
        *unified = range->unified + (address - range->own.start);
    return range != NULL;
}

void shared_memory_remove(struct shared_memory *memory, uint64_t base, uint64_t bytes)
{
    if (bytes) {
        if (base + bytes > base)
            range_map_make_room(&memory->ranges, (struct range){base, base + bytes});
        return;
    }
    struct range_cursor place = range_map_seek(&memory->ranges, base);
    const struct shared_range *range = range_map_find(&memory->ranges, base);
    if (range && range->own.start == base)
        range_map_remove(&memory->ranges, &place);
}

/* The bytes from the access's first to its last; of one without an end, the first alone. */
static bool hull_of(const struct csan_access *access, struct range *hull)
{
    if (access->bytes != CSAN_TO_END)
        return lmad_hull(access, &hull->start, &hull->end);
    *hull = (struct range){access->base, access->base + 1};
    return true;
}

/* What of the access lies in the range. */
static struct csan_access part_of(const struct csan_access *access, struct range hull,
                                  const struct shared_range *range)
{
    struct csan_access part = *access;
    const uint64_t from = hull.start > range->own.start ? hull.start : range->own.start;
    const uint64_t to = hull.end < range->own.end ? hull.end : range->own.end;
    if (access->bytes == CSAN_TO_END)
        part.bytes = range->own.end - from;
    if (from == hull.start && to == hull.end) {
        part.base += range->unified - range->own.start;
        return part;
    }
    part.base = range->unified + (from - range->own.start);
    part.bytes = to - from;
    part.dim_count = 0;
    if (access->dim_count && part.bound == CSAN_EXACT)
        part.bound = CSAN_BOUND_SHAPE;
    return part;
}

bool shared_memory_translate(const struct shared_memory *memory, const struct csan_access *access,
                             shared_memory_take *take, void *user)
{
    struct range hull;
    if (shared_memory_is_empty(memory) || !hull_of(access, &hull))
        return true;
    struct range_cursor cursor = range_map_seek(&memory->ranges, hull.start);
    const struct shared_range *range;
    while ((range = range_map_at(&memory->ranges, cursor)) && range->own.start < hull.end) {
        const struct csan_access part = part_of(access, hull, range);
        if (!take(user, &part))
            return false;
        cursor = range_map_next(&memory->ranges, cursor);
    }
    return true;
}
