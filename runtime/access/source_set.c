/* Hash-consed sets of sources. An item is coded as source * MODE_COUNT + mode; a set is a sorted
 * array of codes. */
#include "runtime/access/source_set.h"
#include "csan/base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SOURCES = 1 << 14, MAX_SETS = 1 << 15, MAX_FRAME_OFFSETS = 16, MAX_ITEMS = 1 << 21 };

struct set {
    uint32_t count, hash;
    bool has_whole, has_frame;
    const uint32_t *codes;
};

enum operation { OPERATION_NONE, UNION, SUM, PIECES, WHOLE, MOVE, BLUR, INDEXED };

/* A result computed before. */
struct memo {
    uint32_t operation;
    source_set a, result;
    uint64_t b;
};

/* Open-addressing tables of indices plus one; 0 is free. */
struct index_table {
    uint32_t *slots;
    size_t capacity, count;
};

struct source_table {
    struct arena *arena;
    struct source *sources;
    size_t source_count, source_capacity;
    struct index_table by_source;
    struct set *sets;
    size_t set_count, set_capacity;
    struct index_table by_set;
    struct memo *memos;
    size_t memo_count, memo_capacity;
    uint32_t *scratch; /* codes of a set under construction */
    size_t scratch_capacity, item_total;
    bool full;
};

struct source_table *source_table_create(struct arena *arena)
{
    struct source_table *table = ptx_arena_allocate(arena, sizeof *table);
    table->arena = arena;
    table->sets = ptx_arena_grow(arena, NULL, 0, &table->set_capacity, sizeof *table->sets);
    table->set_count = 1; /* the empty set */
    return table;
}

bool source_table_full(const struct source_table *table)
{
    return table->full;
}

source_set source_set_limit(void)
{
    return MAX_SETS;
}

const struct source *source_get(const struct source_table *table, uint32_t source)
{
    return &table->sources[source];
}

uint32_t source_set_count(const struct source_table *table, source_set set)
{
    return table->sets[set].count;
}

struct source_item source_set_item(const struct source_table *table, source_set set, uint32_t i)
{
    uint32_t code = table->sets[set].codes[i];
    return (struct source_item){code / MODE_COUNT, (enum source_mode)(code % MODE_COUNT)};
}

bool source_set_has_whole(const struct source_table *table, source_set set)
{
    return table->sets[set].has_whole;
}

/* ---- sources ---- */

static uint64_t hash_source(const struct source *s)
{
    return hash_mix(hash_mix(hash_mix(1, s->kind), (uintptr_t)s->object), (uint64_t)s->offset);
}

static bool same_source(const struct source *a, const struct source *b)
{
    return a->kind == b->kind && a->object == b->object && a->offset == b->offset;
}

static void grow_by_source(struct source_table *table)
{
    struct index_table *index = &table->by_source;
    index->capacity = index->capacity ? index->capacity * 4 : 256;
    index->slots = ptx_arena_array(table->arena, index->capacity, sizeof *index->slots);
    for (size_t i = 0; i < table->source_count; i++) {
        size_t at = hash_source(&table->sources[i]) & (index->capacity - 1);
        while (index->slots[at])
            at = (at + 1) & (index->capacity - 1);
        index->slots[at] = (uint32_t)i + 1;
    }
}

/* The number of a source, new or known. When there are too many, the last one: the table is full.
 */
static uint32_t intern_source(struct source_table *table, const struct source *source)
{
    struct index_table *index = &table->by_source;
    if (table->source_count * 2 >= index->capacity)
        grow_by_source(table);
    size_t at = hash_source(source) & (index->capacity - 1);
    for (; index->slots[at]; at = (at + 1) & (index->capacity - 1))
        if (same_source(&table->sources[index->slots[at] - 1], source))
            return index->slots[at] - 1;
    if (table->source_count == MAX_SOURCES) {
        table->full = true;
        return MAX_SOURCES - 1;
    }
    table->sources = ptx_arena_grow(table->arena, table->sources, table->source_count,
                                    &table->source_capacity, sizeof *table->sources);
    table->sources[table->source_count] = *source;
    index->slots[at] = (uint32_t)table->source_count + 1;
    return (uint32_t)table->source_count++;
}

/* ---- sets ---- */

static void grow_by_set(struct source_table *table)
{
    struct index_table *index = &table->by_set;
    index->capacity = index->capacity ? index->capacity * 4 : 256;
    index->slots = ptx_arena_array(table->arena, index->capacity, sizeof *index->slots);
    for (size_t i = 1; i < table->set_count; i++) {
        size_t at = table->sets[i].hash & (index->capacity - 1);
        while (index->slots[at])
            at = (at + 1) & (index->capacity - 1);
        index->slots[at] = (uint32_t)i;
    }
}

static source_set add_set(struct source_table *table, const uint32_t *codes, uint32_t count,
                          uint32_t hash)
{
    if (table->set_count == MAX_SETS || table->item_total + count > MAX_ITEMS) {
        table->full = true;
        return 0;
    }
    table->sets = ptx_arena_grow(table->arena, table->sets, table->set_count, &table->set_capacity,
                                 sizeof *table->sets);
    uint32_t *kept = ptx_arena_array(table->arena, count, sizeof *kept);
    memcpy(kept, codes, count * sizeof *kept);
    struct set *set = &table->sets[table->set_count];
    *set = (struct set){.count = count, .hash = hash, .codes = kept};
    for (uint32_t i = 0; i < count; i++) {
        set->has_whole |= kept[i] % MODE_COUNT != MODE_PIECE;
        set->has_frame |= table->sources[kept[i] / MODE_COUNT].kind == SOURCE_FRAME;
    }
    table->item_total += count;
    return (source_set)table->set_count++;
}

/* The set of these codes, sorted and without doubles. */
static source_set intern_set(struct source_table *table, const uint32_t *codes, uint32_t count)
{
    struct index_table *index = &table->by_set;
    uint64_t hash = count;
    if (count == 0)
        return 0;
    if (table->set_count * 2 >= index->capacity)
        grow_by_set(table);
    for (uint32_t i = 0; i < count; i++)
        hash = hash_mix(hash, codes[i]);
    size_t at = (uint32_t)hash & (index->capacity - 1);
    for (; index->slots[at]; at = (at + 1) & (index->capacity - 1)) {
        const struct set *set = &table->sets[index->slots[at]];
        if (set->hash == (uint32_t)hash && set->count == count &&
            memcmp(set->codes, codes, count * sizeof *codes) == 0)
            return index->slots[at];
    }
    source_set set = add_set(table, codes, count, (uint32_t)hash);
    if (set)
        index->slots[at] = set;
    return set;
}

static uint32_t *scratch_room(struct source_table *table, size_t count)
{
    if (table->scratch_capacity < count) {
        table->scratch_capacity = count * 2;
        table->scratch =
            ptx_arena_array(table->arena, table->scratch_capacity, sizeof *table->scratch);
    }
    return table->scratch;
}

source_set source_set_of(struct source_table *table, struct source source)
{
    uint32_t code = intern_source(table, &source) * MODE_COUNT + MODE_WHOLE;
    return intern_set(table, &code, 1);
}

/* ---- operations, remembered ---- */

static struct memo *find_memo(const struct source_table *table, enum operation operation,
                              source_set a, uint64_t b)
{
    size_t mask = table->memo_capacity - 1;
    size_t at = hash_mix(hash_mix(hash_mix(operation, a), b), 7) & mask;
    for (;; at = (at + 1) & mask) {
        struct memo *memo = &table->memos[at];
        if (!memo->operation || (memo->operation == operation && memo->a == a && memo->b == b))
            return memo;
    }
}

static void grow_memos(struct source_table *table)
{
    struct memo *old = table->memos;
    size_t old_capacity = table->memo_capacity;
    table->memo_capacity = old_capacity ? old_capacity * 4 : 1024;
    table->memos = ptx_arena_array(table->arena, table->memo_capacity, sizeof *table->memos);
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].operation)
            *find_memo(table, (enum operation)old[i].operation, old[i].a, old[i].b) = old[i];
}

static source_set remember(struct source_table *table, enum operation operation, source_set a,
                           uint64_t b, source_set result)
{
    if (table->memo_count * 2 >= table->memo_capacity)
        grow_memos(table);
    struct memo *memo = find_memo(table, operation, a, b);
    if (!memo->operation)
        table->memo_count++;
    *memo = (struct memo){operation, a, result, b};
    return result;
}

static bool recall(const struct source_table *table, enum operation operation, source_set a,
                   uint64_t b, source_set *result)
{
    if (!table->memo_capacity)
        return false;
    const struct memo *memo = find_memo(table, operation, a, b);
    *result = memo->result;
    return memo->operation != OPERATION_NONE;
}

source_set source_set_union(struct source_table *table, source_set a, source_set b)
{
    source_set result;
    if (a == b || b == 0)
        return a;
    if (a == 0)
        return b;
    if (a > b) {
        source_set swap = a;
        a = b;
        b = swap;
    }
    if (recall(table, UNION, a, b, &result))
        return result;
    struct set x = table->sets[a], y = table->sets[b];
    uint32_t *codes = scratch_room(table, (size_t)x.count + y.count), count = 0, i = 0, k = 0;
    while (i < x.count || k < y.count) {
        bool left = k == y.count || (i < x.count && x.codes[i] <= y.codes[k]);
        uint32_t code = left ? x.codes[i] : y.codes[k];
        i += i < x.count && x.codes[i] == code;
        k += k < y.count && y.codes[k] == code;
        codes[count++] = code;
    }
    return remember(table, UNION, a, b, intern_set(table, codes, count));
}

static int compare_codes(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* The set of codes in any order, doubles among them; the array is reordered. */
static source_set intern_unsorted(struct source_table *table, uint32_t *codes, uint32_t count)
{
    uint32_t kept = 0;
    if (count > 1)
        qsort(codes, count, sizeof *codes, compare_codes);
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || codes[kept - 1] != codes[i])
            codes[kept++] = codes[i];
    return intern_set(table, codes, kept);
}

/* Every item in one mode; but a sum stays a sum, and what was a piece does not become a summand. */
static source_set in_mode(struct source_table *table, source_set set, enum source_mode mode)
{
    struct set from = table->sets[set];
    uint32_t *codes = scratch_room(table, from.count);
    for (uint32_t i = 0; i < from.count; i++) {
        enum source_mode had = (enum source_mode)(from.codes[i] % MODE_COUNT), now = mode;
        bool is_mark = table->sources[from.codes[i] / MODE_COUNT].kind == SOURCE_DIFFERENCE;
        if (mode == MODE_WHOLE && had == MODE_MIXED)
            now = MODE_MIXED;
        if (is_mark || (mode == MODE_MIXED && had == MODE_PIECE))
            now = MODE_PIECE;
        codes[i] = from.codes[i] / MODE_COUNT * MODE_COUNT + now;
    }
    return intern_unsorted(table, codes, from.count);
}

source_set source_set_pieces(struct source_table *table, source_set set)
{
    source_set result;
    if (set == 0 || recall(table, PIECES, set, 0, &result))
        return set == 0 ? 0 : result;
    return remember(table, PIECES, set, 0, in_mode(table, set, MODE_PIECE));
}

source_set source_set_whole(struct source_table *table, source_set set)
{
    source_set result;
    if (set == 0 || recall(table, WHOLE, set, 0, &result))
        return set == 0 ? 0 : result;
    return remember(table, WHOLE, set, 0, in_mode(table, set, MODE_WHOLE));
}

source_set source_set_sum(struct source_table *table, source_set a, source_set b)
{
    source_set result;
    if (!table->sets[a].has_whole || !table->sets[b].has_whole)
        return source_set_union(table, a, b);
    if (recall(table, SUM, a, b, &result))
        return result;
    source_set left = source_set_blur(table, in_mode(table, a, MODE_MIXED));
    source_set right = source_set_blur(table, in_mode(table, b, MODE_MIXED));
    return remember(table, SUM, a, b, source_set_union(table, left, right));
}

/* Every item with its source replaced. */
static source_set replace_sources(struct source_table *table, source_set set,
                                  struct source (*replace)(struct source source, int64_t argument),
                                  int64_t argument)
{
    struct set from = table->sets[set];
    uint32_t *codes = scratch_room(table, from.count);
    for (uint32_t i = 0; i < from.count; i++) {
        struct source source = replace(table->sources[from.codes[i] / MODE_COUNT], argument);
        codes[i] = intern_source(table, &source) * MODE_COUNT + from.codes[i] % MODE_COUNT;
    }
    return intern_unsorted(table, codes, from.count);
}

static struct source move_frame(struct source source, int64_t offset)
{
    if (source.kind != SOURCE_FRAME || source.offset == SOURCE_ANYWHERE)
        return source;
    source.offset = offset == SOURCE_ANYWHERE
                        ? SOURCE_ANYWHERE
                        : (int64_t)((uint64_t)source.offset + (uint64_t)offset);
    if (source.offset < 0 || source.offset > 1 << 24)
        source.offset = SOURCE_ANYWHERE;
    return source;
}

static struct source index_param(struct source source, int64_t unused)
{
    (void)unused;
    if (source.kind == SOURCE_PARAM)
        source.kind = SOURCE_INDEXED;
    return source;
}

/* A loop that walks a frame makes ever new offsets: beyond a limit they become ANYWHERE. */
source_set source_set_move(struct source_table *table, source_set set, int64_t offset)
{
    source_set result;
    if (!table->sets[set].has_frame || offset == 0)
        return set;
    if (table->sets[set].count > MAX_FRAME_OFFSETS)
        return source_set_blur(table, set);
    if (recall(table, MOVE, set, (uint64_t)offset, &result))
        return result;
    return remember(table, MOVE, set, (uint64_t)offset,
                    replace_sources(table, set, move_frame, offset));
}

source_set source_set_blur(struct source_table *table, source_set set)
{
    source_set result;
    if (!table->sets[set].has_frame)
        return set;
    if (recall(table, BLUR, set, 0, &result))
        return result;
    return remember(table, BLUR, set, 0, replace_sources(table, set, move_frame, SOURCE_ANYWHERE));
}

source_set source_set_indexed(struct source_table *table, source_set set)
{
    source_set result;
    if (set == 0 || recall(table, INDEXED, set, 0, &result))
        return set == 0 ? 0 : result;
    return remember(table, INDEXED, set, 0, replace_sources(table, set, index_param, 0));
}

source_set source_set_of_row(struct source_table *table, struct source first, uint32_t count,
                             int64_t stride)
{
    uint32_t *codes = scratch_room(table, count);
    for (uint32_t i = 0; i < count; i++) {
        codes[i] = intern_source(table, &first) * MODE_COUNT + MODE_WHOLE;
        first.offset += stride;
    }
    return intern_unsorted(table, codes, count);
}
