#include "csan/shadow/strided.h"
#include "csan/base/array.h"
#include "csan/base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { NO_SLOT = UINT32_MAX, HULL_BLOCK = 16, NEIGHBOURS_MAX = 64, SWEEP_FIRST = 64 };

/* Another record that overlaps this one, and where. */
struct neighbour {
    uint64_t serial; /* the record in the slot has gone when it is another's */
    uint64_t start, end;
    uint32_t slot;
    bool undecided;
    bool covered; /* by this record */
};

struct strided_record {
    struct lmad lmad;
    struct access_history history;
    uint64_t hash;
    uint64_t serial; /* by age; renewed when the record is first touched in another way. 0: free */
    uint32_t next;   /* in its bucket, or in the list of free slots */
    uint8_t kinds;   /* a bit for each kind of access it has ever had */
    bool crowded;    /* too many neighbours to list */
    uint32_t neighbour_count, neighbour_capacity;
    uint64_t neighbours_of; /* all neighbours up to this serial are listed; 0: none */
    struct neighbour *neighbours;
};

/* ---- patterns */

static uint64_t pattern_hash(const struct lmad *lmad)
{
    uint64_t hash = hash_mix(hash_mix(lmad->dim_count, lmad->base), lmad->bytes);
    for (uint32_t i = 0; i < lmad->dim_count; i++)
        hash = hash_mix(hash_mix(hash, lmad->dims[i].stride), lmad->dims[i].count);
    return hash;
}

static bool pattern_equal(const struct lmad *a, const struct lmad *b)
{
    return a->base == b->base && a->bytes == b->bytes && a->dim_count == b->dim_count &&
           memcmp(a->dims, b->dims, a->dim_count * sizeof(a->dims[0])) == 0;
}

static uint32_t *bucket_of(const struct strided *strided, uint64_t hash)
{
    return &strided->buckets[hash >> 32 & (strided->capacity - 1)];
}

static struct strided_record *find(const struct strided *strided, const struct lmad *lmad,
                                   uint64_t hash)
{
    if (!strided->count)
        return NULL;
    for (uint32_t slot = *bucket_of(strided, hash); slot != NO_SLOT;
         slot = strided->records[slot].next)
        if (strided->records[slot].hash == hash &&
            pattern_equal(&strided->records[slot].lmad, lmad))
            return &strided->records[slot];
    return NULL;
}

/* ---- hulls */

static uint32_t hull_place(const struct strided *strided, uint64_t start)
{
    uint32_t low = 0, high = strided->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strided->hulls[middle].range.start < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The hulls from `place` on have moved. */
static void block_ends_update(struct strided *strided, uint32_t place)
{
    for (uint32_t i = place - place % HULL_BLOCK; i < strided->count; i++) {
        uint64_t *end = &strided->block_ends[i / HULL_BLOCK];
        if (i % HULL_BLOCK == 0 || *end < strided->hulls[i].range.end)
            *end = strided->hulls[i].range.end;
    }
}

/* The first hull at or after `place` that reaches into the range, or the end. */
static uint32_t hull_next(const struct strided *strided, uint32_t place, struct range range)
{
    while (place < strided->count && strided->hulls[place].range.start < range.end) {
        if (place % HULL_BLOCK == 0 && strided->block_ends[place / HULL_BLOCK] <= range.start)
            place += HULL_BLOCK;
        else if (strided->hulls[place].range.end <= range.start)
            place++;
        else
            return place;
    }
    return strided->count;
}

static struct range hull_of(const struct lmad *lmad)
{
    return (struct range){lmad->base, lmad->base + lmad->span};
}

/* ---- records come and go */

static void buckets_fill(struct strided *strided)
{
    for (uint32_t i = 0; i < strided->capacity; i++)
        strided->buckets[i] = NO_SLOT;
    for (uint32_t i = 0; i < strided->count; i++) {
        uint32_t slot = strided->hulls[i].slot;
        struct strided_record *record = &strided->records[slot];
        uint32_t *bucket = bucket_of(strided, record->hash);
        record->next = *bucket;
        *bucket = slot;
    }
}

static bool grow(struct strided *strided)
{
    uint32_t capacity = strided->capacity ? strided->capacity * 2 : 4;
    struct strided_record *records =
        realloc(strided->records, capacity * sizeof(strided->records[0]));
    if (!records)
        return false;
    strided->records = records;
    struct strided_brief *briefs = realloc(strided->briefs, capacity * sizeof(briefs[0]));
    if (!briefs)
        return false;
    strided->briefs = briefs;
    struct strided_hull *hulls = realloc(strided->hulls, capacity * sizeof(hulls[0]));
    if (!hulls)
        return false;
    strided->hulls = hulls;
    uint64_t *block_ends =
        realloc(strided->block_ends, (capacity / HULL_BLOCK + 1) * sizeof(block_ends[0]));
    if (!block_ends)
        return false;
    strided->block_ends = block_ends;
    uint32_t *buckets = realloc(strided->buckets, capacity * sizeof(buckets[0]));
    if (!buckets)
        return false;
    strided->buckets = buckets;
    for (uint32_t slot = strided->capacity; slot < capacity; slot++)
        strided->records[slot] =
            (struct strided_record){.next = slot + 1 < capacity ? slot + 1 : NO_SLOT};
    strided->free_slots = strided->capacity; /* only called when there are none left */
    strided->capacity = capacity;
    buckets_fill(strided);
    return true;
}

static struct strided_record *create(struct strided *strided, const struct lmad *lmad,
                                     uint64_t hash)
{
    if (strided->count == strided->capacity && !grow(strided))
        return NULL;
    uint32_t slot = strided->free_slots;
    struct strided_record *record = &strided->records[slot];
    strided->free_slots = record->next;
    uint32_t *bucket = bucket_of(strided, hash);
    *record = (struct strided_record){
        .lmad = *lmad, .hash = hash, .serial = ++strided->serial, .next = *bucket};
    *bucket = slot;
    strided->briefs[slot] = (struct strided_brief){.lane = STRIDED_EMPTY};
    uint32_t place = hull_place(strided, lmad->base);
    memmove(strided->hulls + place + 1, strided->hulls + place,
            (strided->count - place) * sizeof(strided->hulls[0]));
    strided->hulls[place] = (struct strided_hull){hull_of(lmad), slot};
    strided->count++;
    block_ends_update(strided, place);
    return record;
}

/* Everything of a record but its place among the hulls. */
static void release(struct strided *strided, uint32_t slot)
{
    struct strided_record *record = &strided->records[slot];
    uint32_t *link = bucket_of(strided, record->hash);
    while (*link != slot)
        link = &strided->records[*link].next;
    *link = record->next;
    access_history_release(&record->history);
    free(record->neighbours);
    *record = (struct strided_record){.next = strided->free_slots};
    strided->free_slots = slot;
}

/* ---- their histories */

static uint32_t slot_of(const struct strided *strided, const struct strided_record *record)
{
    return (uint32_t)(record - strided->records);
}

static void put(struct strided *strided, struct strided_record *record,
                const struct shadow_access *access)
{
    struct strided_brief *brief = &strided->briefs[slot_of(strided, record)];
    uint32_t lane = epoch_lane(access->self.epoch);
    access_history_put(&record->history, access);
    if (brief->lane == STRIDED_EMPTY || access_history_is_one_write(&record->history))
        brief->lane = lane;
    else if (brief->lane != lane)
        brief->lane = STRIDED_LANES;
    brief->last_op = access->self.op;
}

static void forget(struct strided *strided, struct strided_record *record,
                   const struct shadow_access *access)
{
    access_history_forget(&record->history, access);
    if (access_history_empty(&record->history))
        strided->briefs[slot_of(strided, record)].lane = STRIDED_EMPTY;
}

static void forget_neighbours(struct strided_record *record)
{
    free(record->neighbours);
    record->neighbours = NULL;
    record->neighbour_count = record->neighbour_capacity = 0;
    record->neighbours_of = 0;
}

void strided_sweep(struct strided *strided, const struct order *order)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < strided->count; i++) {
        uint32_t slot = strided->hulls[i].slot;
        struct strided_record *record = &strided->records[slot];
        access_history_forget_finished(&record->history, order);
        record->crowded = false; /* perhaps no more */
        if (access_history_empty(&record->history))
            release(strided, slot);
        else
            strided->hulls[kept++] = strided->hulls[i];
    }
    strided->count = kept;
    block_ends_update(strided, 0);
    strided->sweep_at = kept * 2 > SWEEP_FIRST ? kept * 2 : SWEEP_FIRST;
    strided->swept_at = strided->serial;
}

static void remove_oldest(struct strided *strided, uint64_t *dropped)
{
    uint32_t oldest = 0;
    uint64_t last_op = UINT64_MAX;
    for (uint32_t i = 0; i < strided->count; i++) {
        const struct strided_brief *brief = &strided->briefs[strided->hulls[i].slot];
        uint64_t age = brief->lane == STRIDED_EMPTY ? 0 : brief->last_op;
        if (age < last_op) {
            last_op = age;
            oldest = i;
        }
    }
    *dropped += last_op != 0;
    release(strided, strided->hulls[oldest].slot);
    strided->count--;
    memmove(strided->hulls + oldest, strided->hulls + oldest + 1,
            (strided->count - oldest) * sizeof(strided->hulls[0]));
    block_ends_update(strided, oldest);
}

/* A sweep looks at every record: at the cap, where each new one might ask for it, not each time. */
static void make_room(struct strided *strided, const struct shadow_access *access)
{
    uint32_t cap = access->strided_cap ? access->strided_cap : 1;
    if (strided->count >= cap
            ? strided->serial - strided->swept_at >= cap / 8
            : strided->count >= SWEEP_FIRST && strided->count >= strided->sweep_at)
        strided_sweep(strided, access->order);
    while (strided->count >= cap)
        remove_oldest(strided, access->strided_dropped);
}

/* ---- against all records */

/* May the access remove past accesses that it covers? */
static bool forgets(const struct shadow_access *access)
{
    return access->self.kind <= CSAN_ATOMIC && access->self.bound == CSAN_EXACT;
}

static void check_record(struct strided *strided, struct strided_record *record,
                         const struct shadow_access *access)
{
    if (access_history_race(&record->history, access)) {
        uint64_t start, end;
        enum lmad_overlap overlap = lmad_intersect(access->lmad, &record->lmad, &start, &end);
        if (overlap != LMAD_DISJOINT)
            access_history_check(&record->history, access, start, end, overlap == LMAD_UNDECIDED);
    }
    if (forgets(access) && lmad_covers(access->lmad, &record->lmad))
        forget(strided, record, access);
}

/* A lane's own past accesses race with none of its accesses: most records need no closer look. */
void strided_check(struct strided *strided, const struct shadow_access *access)
{
    struct range range = hull_of(access->lmad);
    uint32_t lane = epoch_lane(access->self.epoch);
    bool may_forget = forgets(access);
    for (uint32_t i = hull_next(strided, 0, range); i < strided->count;
         i = hull_next(strided, i + 1, range)) {
        const struct strided_hull *hull = &strided->hulls[i];
        uint32_t whose = strided->briefs[hull->slot].lane;
        if (whose == STRIDED_EMPTY)
            continue;
        bool inside = range.start <= hull->range.start && hull->range.end <= range.end;
        if (whose != lane || (may_forget && inside))
            check_record(strided, &strided->records[hull->slot], access);
    }
}

/* ---- against neighbours */

static bool add_neighbour(struct strided_record *record, struct neighbour neighbour)
{
    size_t capacity = record->neighbour_capacity;
    if (!array_room(&record->neighbours, record->neighbour_count, &capacity, 2, NEIGHBOURS_MAX,
                    sizeof *record->neighbours))
        return false;
    record->neighbour_capacity = (uint32_t)capacity;
    record->neighbours[record->neighbour_count++] = neighbour;
    return true;
}

/* Two patterns that are only ever read cannot race. */
static bool only_read(const struct strided_record *a, const struct strided_record *b)
{
    return (a->kinds | b->kinds) == 1 << CSAN_READ;
}

/* List the neighbours among the records newer than those seen so far. */
static void find_neighbours(struct strided *strided, struct strided_record *record)
{
    struct range range = hull_of(&record->lmad);
    for (uint32_t i = hull_next(strided, 0, range); i < strided->count;
         i = hull_next(strided, i + 1, range)) {
        uint32_t slot = strided->hulls[i].slot;
        const struct strided_record *other = &strided->records[slot];
        if (other == record || other->serial <= record->neighbours_of || only_read(record, other))
            continue;
        struct neighbour neighbour = {.serial = other->serial, .slot = slot};
        enum lmad_overlap overlap =
            lmad_intersect(&record->lmad, &other->lmad, &neighbour.start, &neighbour.end);
        if (overlap == LMAD_DISJOINT)
            continue;
        neighbour.undecided = overlap == LMAD_UNDECIDED;
        neighbour.covered = lmad_covers(&record->lmad, &other->lmad);
        if (!add_neighbour(record, neighbour)) {
            forget_neighbours(record);
            record->crowded = true;
            return;
        }
    }
    record->neighbours_of = strided->serial;
}

static void check_neighbours(struct strided *strided, struct strided_record *record,
                             const struct shadow_access *access)
{
    for (uint32_t i = 0; i < record->neighbour_count; i++) {
        const struct neighbour *neighbour = &record->neighbours[i];
        struct strided_record *other = &strided->records[neighbour->slot];
        if (other->serial != neighbour->serial) {
            record->neighbours[i--] = record->neighbours[--record->neighbour_count];
            continue;
        }
        access_history_check(&other->history, access, neighbour->start, neighbour->end,
                             neighbour->undecided);
        if (neighbour->covered)
            forget(strided, other, access);
    }
}

/* ---- a strided access */

/* Listed pairs have one side at least that was more than read: a kind of access that is new to the
 * record makes it new to all others. */
static void add_kind(struct strided *strided, struct strided_record *record, uint8_t kind)
{
    uint8_t bit = (uint8_t)(1 << kind);
    if (record->kinds & bit)
        return;
    record->kinds |= bit;
    record->serial = ++strided->serial;
    record->crowded = false;
    forget_neighbours(record);
}

static void touch_known(struct strided *strided, struct strided_record *record,
                        const struct shadow_access *access)
{
    add_kind(strided, record, access->self.kind);
    if (!record->crowded && record->neighbours_of != strided->serial)
        find_neighbours(strided, record);
    if (record->crowded) {
        strided_check(strided, access); /* itself among them */
    } else {
        check_neighbours(strided, record, access);
        const struct lmad *lmad = &record->lmad;
        access_history_check(&record->history, access, lmad->base, lmad->base + lmad->bytes, false);
    }
    put(strided, record, access);
}

void strided_touch(struct strided *strided, const struct shadow_access *access)
{
    uint64_t hash = pattern_hash(access->lmad);
    struct strided_record *record = find(strided, access->lmad, hash);
    if (record) {
        touch_known(strided, record, access);
        return;
    }
    strided_check(strided, access);
    make_room(strided, access);
    record = create(strided, access->lmad, hash);
    if (!record)
        return; /* out of memory: a race may go unseen, nothing worse */
    record->kinds = (uint8_t)(1 << access->self.kind);
    put(strided, record, access);
}

/* ---- the whole */

void strided_clear(struct strided *strided)
{
    for (uint32_t i = 0; i < strided->count; i++) {
        struct strided_record *record = &strided->records[strided->hulls[i].slot];
        access_history_release(&record->history);
        free(record->neighbours);
    }
    free(strided->records);
    free(strided->briefs);
    free(strided->hulls);
    free(strided->block_ends);
    free(strided->buckets);
    *strided = (struct strided){0};
}

void strided_inherit(struct strided *to, const struct strided *from, struct range range,
                     bool (*keep)(void *user, const struct past_access *past), void *user)
{
    for (uint32_t i = hull_next(from, 0, range); i < from->count;
         i = hull_next(from, i + 1, range)) {
        const struct strided_record *record = &from->records[from->hulls[i].slot];
        struct access_history history = access_history_copy(&record->history);
        access_history_filter(&history, keep, user);
        struct strided_record *heir = NULL;
        if (!access_history_empty(&history) && !find(to, &record->lmad, record->hash))
            heir = create(to, &record->lmad, record->hash);
        if (!heir) {
            access_history_release(&history);
            continue;
        }
        heir->history = history;
        heir->kinds = record->kinds;
        to->briefs[slot_of(to, heir)] =
            (struct strided_brief){from->briefs[from->hulls[i].slot].last_op, STRIDED_LANES};
    }
}

size_t strided_count(const struct strided *strided)
{
    size_t count = 0;
    for (uint32_t i = 0; i < strided->count; i++)
        count += strided->briefs[strided->hulls[i].slot].lane != STRIDED_EMPTY;
    return count;
}
