/* See recording_set.h. */
#include "csan/recording/recording_set.h"
#include "csan/base/array.h"
#include "csan/base/hash.h"

#include <stdlib.h>
#include <string.h>

enum {
    DIFFERS_BASE = 1,
    DIFFERS_BYTES = 2,
    DIFFERS_FORM = 4,
    DIFFERS_ARGUMENT = 8,
    DIFFERS_DIMS = 16
};
enum { ACCESS_BYTES_MAX = 1 + 3 * NUMBER_BYTES_MAX + 4, INDEX_PROBES = 4 };

enum { FORM_ORDER_SHIFT = 12, FORM_ORDER = 3 << FORM_ORDER_SHIFT };

/* dim_count, kind, bound and element_bytes as one; order in two of kind's bits. */
static inline uint32_t form_of(const struct csan_access *access)
{
    uint32_t form;
    _Static_assert(offsetof(struct csan_access, element_bytes) ==
                       offsetof(struct csan_access, dim_count) + 3,
                   "they lie side by side");
    memcpy(&form, &access->dim_count, sizeof form);
    return form | (uint32_t)access->order << FORM_ORDER_SHIFT;
}

static inline void form_take(struct csan_access *access, uint32_t form)
{
    const uint32_t plain = form & ~(uint32_t)FORM_ORDER;
    memcpy(&access->dim_count, &plain, sizeof plain);
    access->order = (uint8_t)((form & FORM_ORDER) >> FORM_ORDER_SHIFT);
}

static inline bool dims_equal(const struct csan_access *a, const struct csan_access *b)
{
    for (uint8_t i = 0; i < a->dim_count; i++)
        if (a->dims[i].stride != b->dims[i].stride || a->dims[i].count != b->dims[i].count)
            return false;
    return true;
}

static inline bool access_equal(const struct csan_access *a, const struct csan_access *b)
{
    return a->base == b->base && a->bytes == b->bytes && form_of(a) == form_of(b) &&
           a->argument == b->argument && dims_equal(a, b);
}

struct recording_sets *recording_sets_create(void)
{
    return calloc(1, sizeof(struct recording_sets));
}

static void slot_clear(struct recording_sets *sets, struct recording_set *slot)
{
    if (slot != &sets->slots[RECORDING_SLOTS])
        sets->weight -= slot->weight;
    free(slot->accesses);
    *slot = (struct recording_set){0};
}

void recording_sets_destroy(struct recording_sets *sets)
{
    if (!sets)
        return;
    for (int i = 0; i <= RECORDING_SLOTS; i++)
        free(sets->slots[i].accesses);
    free(sets->last);
    free(sets);
}

/* ---- what a set differs from */

static const struct csan_access no_access;

static const struct csan_access *like_access(const struct recording_set *like,
                                             const struct csan_access *accesses, size_t i)
{
    if (like && i < like->count)
        return &like->accesses[i];
    return i ? &accesses[i - 1] : &no_access;
}

/* ---- writing */

static uint64_t hash_of(uint32_t site, uint32_t level, const struct csan_access *accesses,
                        size_t count, size_t *weight)
{
    uint64_t hash = hash_mix((uint64_t)site << 32 | level, count);
    *weight = count;
    for (size_t i = 0; i < count; i++) {
        const struct csan_access *access = &accesses[i];
        hash = hash_mix(hash, access->base ^ (uint64_t)form_of(access) << 32);
        hash = hash_mix(hash, access->bytes ^ (uint64_t)access->argument << 48);
        for (uint8_t k = 0; k < access->dim_count; k++)
            hash =
                hash_mix(hash_mix(hash, (uint64_t)access->dims[k].stride), access->dims[k].count);
        *weight += access->dim_count;
    }
    return hash;
}

static inline bool holds(const struct recording_set *slot, uint32_t site, uint32_t level,
                         const struct csan_access *accesses, size_t count)
{
    if (slot->site != site || slot->level != level || slot->count != count || !slot->accesses)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!access_equal(&slot->accesses[i], &accesses[i]))
            return false;
    return true;
}

/* A copy with room for all dimensions in one block. */
static struct csan_access *accesses_copy(const struct csan_access *accesses, size_t count,
                                         size_t weight)
{
    struct csan_access *copy =
        malloc(count * sizeof *copy + (weight - count) * sizeof(struct csan_dim) + 1);
    struct csan_dim *dims = copy ? (struct csan_dim *)(copy + count) : NULL;
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = accesses[i];
        copy[i].dims = dims;
        for (uint8_t k = 0; k < accesses[i].dim_count; k++)
            *dims++ = accesses[i].dims[k];
    }
    return copy;
}

/* Where in the index the set goes: a place that is empty, or left behind by a set whose slot has
 * another one now. Else one of the others is no longer found, and will be written anew. */
static uint16_t *index_place(struct recording_sets *sets, uint64_t hash)
{
    for (uint64_t i = 0; i < INDEX_PROBES; i++) {
        uint64_t at = (hash + i) % RECORDING_INDEX;
        uint16_t place = sets->index[at];
        if (!place || (at - sets->slots[place - 1].hash) % RECORDING_INDEX >= INDEX_PROBES)
            return &sets->index[at];
    }
    return &sets->index[(hash + sets->next % INDEX_PROBES) % RECORDING_INDEX];
}

static void index_add(struct recording_sets *sets, uint64_t hash, uint32_t slot)
{
    *index_place(sets, hash) = (uint16_t)(slot + 1);
}

/* The slot of its site's newest set that is still there; NULL: none. */
static uint16_t *last_of(struct recording_sets *sets, uint32_t site)
{
    return array_reach(&sets->last, site, &sets->site_capacity, 64, SIZE_MAX, sizeof *sets->last)
               ? &sets->last[site]
               : NULL;
}

static void access_put(struct byte_buffer *buffer, const struct csan_access *access,
                       const struct csan_access *like)
{
    uint32_t form = form_of(access);
    uint8_t differs = (access->base != like->base ? DIFFERS_BASE : 0) |
                      (access->bytes != like->bytes ? DIFFERS_BYTES : 0) |
                      (form != form_of(like) ? DIFFERS_FORM : 0) |
                      (access->argument != like->argument ? DIFFERS_ARGUMENT : 0);
    if (access->dim_count != like->dim_count || !dims_equal(access, like))
        differs |= DIFFERS_DIMS;
    buffer->data[buffer->length++] = differs;
    if (differs & DIFFERS_BASE)
        byte_buffer_put(buffer, zigzag(access->base - like->base));
    if (differs & DIFFERS_BYTES)
        byte_buffer_put(buffer, access->bytes + 1);
    if (differs & DIFFERS_FORM) {
        memcpy(buffer->data + buffer->length, &form, sizeof form);
        buffer->length += sizeof form;
    }
    if (differs & DIFFERS_ARGUMENT)
        byte_buffer_put(buffer, access->argument);
    for (uint8_t k = 0; (differs & DIFFERS_DIMS) && k < access->dim_count; k++) {
        byte_buffer_put(buffer, zigzag((uint64_t)access->dims[k].stride));
        byte_buffer_put(buffer, access->dims[k].count);
    }
}

/* The next slot, emptied, or the one that keeps nothing. */
static uint32_t slot_take(struct recording_sets *sets, size_t weight, const uint16_t *last)
{
    uint32_t slot = sets->next % RECORDING_SLOTS;
    if (last && *last == slot + 1) /* the new set is encoded relative to it */
        slot = ++sets->next % RECORDING_SLOTS;
    if (sets->weight - sets->slots[slot].weight + weight > RECORDING_KEPT_ACCESSES)
        return RECORDING_SLOTS;
    sets->next++;
    return slot;
}

static void put_new(struct recording_sets *sets, struct byte_buffer *buffer,
                    const struct recording_set *set)
{
    uint16_t *last = last_of(sets, set->site);
    const struct recording_set *like = last && *last ? &sets->slots[*last - 1] : NULL;
    if (like && like->site != set->site)
        like = NULL;
    uint32_t slot = slot_take(sets, set->weight, last);
    struct recording_set kept = *set;
    kept.accesses =
        slot == RECORDING_SLOTS ? NULL : accesses_copy(set->accesses, set->count, set->weight);
    if (!kept.accesses)
        slot = RECORDING_SLOTS;
    bool given = !like || like->level != set->level || like->count != set->count;
    byte_buffer_put(buffer, (uint64_t)slot * 2 + 1);
    byte_buffer_put(buffer, like ? *last : 0);
    if (like)
        buffer->data[buffer->length++] = given;
    if (given) {
        byte_buffer_put(buffer, set->site);
        byte_buffer_put(buffer, set->level);
        byte_buffer_put(buffer, set->count);
    }
    for (size_t i = 0; i < set->count; i++)
        access_put(buffer, &set->accesses[i], like_access(like, set->accesses, i));
    if (slot == RECORDING_SLOTS)
        return;
    slot_clear(sets, &sets->slots[slot]);
    sets->slots[slot] = kept;
    sets->weight += kept.weight;
    sets->slots[sets->newest].next = (uint16_t)slot;
    sets->newest = slot;
    index_add(sets, kept.hash, slot);
    if (last)
        *last = (uint16_t)(slot + 1);
}

/* A set that is in a slot. */
static inline void put_known(struct recording_sets *sets, struct byte_buffer *buffer, uint32_t slot)
{
    sets->slots[sets->newest].next = (uint16_t)slot;
    sets->newest = slot;
    if (byte_buffer_reserve(buffer, NUMBER_BYTES_MAX))
        byte_buffer_put(buffer, (uint64_t)slot * 2);
}

static void put_slow(struct recording_sets *sets, struct byte_buffer *buffer, uint32_t site,
                     uint32_t level, const struct csan_access *accesses, size_t count)
{
    size_t weight;
    uint64_t hash = hash_of(site, level, accesses, count, &weight);
    for (int i = 0; i < INDEX_PROBES; i++) {
        uint16_t place = sets->index[(hash + (uint64_t)i) % RECORDING_INDEX];
        if (place && sets->slots[place - 1].hash == hash &&
            holds(&sets->slots[place - 1], site, level, accesses, count)) {
            put_known(sets, buffer, place - 1u);
            return;
        }
    }
    const struct recording_set set = {.hash = hash,
                                      .site = site,
                                      .level = (uint16_t)level,
                                      .count = count,
                                      .weight = weight,
                                      .accesses = (struct csan_access *)accesses};
    if (byte_buffer_reserve(buffer, 5 * NUMBER_BYTES_MAX + 1 + count * ACCESS_BYTES_MAX +
                                        (weight - count) * 2 * NUMBER_BYTES_MAX))
        put_new(sets, buffer, &set);
}

void recording_sets_put(struct recording_sets *sets, struct byte_buffer *buffer, uint32_t site,
                        uint32_t level, const struct csan_access *accesses, size_t count)
{
    uint32_t guess = sets->slots[sets->newest].next;
    if (__builtin_expect(holds(&sets->slots[guess], site, level, accesses, count), 1))
        put_known(sets, buffer, guess);
    else
        put_slow(sets, buffer, site, level, accesses, count);
}

/* ---- reading */

static bool access_get(struct byte_cursor *cursor, struct csan_access *access,
                       const struct csan_access *like, struct csan_dim *dims)
{
    uint8_t differs = cursor->at < cursor->end ? *cursor->at++ : 0xff;
    *access = *like;
    access->dims = dims;
    if (differs & DIFFERS_BASE)
        access->base += unzigzag(byte_cursor_number(cursor));
    if (differs & DIFFERS_BYTES)
        access->bytes = byte_cursor_number(cursor) - 1;
    if (differs & DIFFERS_FORM) {
        if (cursor->end - cursor->at < (ptrdiff_t)sizeof(uint32_t))
            return false;
        uint32_t form;
        memcpy(&form, cursor->at, sizeof form);
        form_take(access, form);
        cursor->at += sizeof form;
    }
    if (differs & DIFFERS_ARGUMENT)
        access->argument = (uint16_t)byte_cursor_number(cursor);
    if (access->dim_count > CSAN_MAX_DIMS || access->bound > CSAN_BOUND_OBJECT ||
        access->kind < CSAN_READ || access->kind > CSAN_ATOMIC || differs > 31)
        return false;
    if (!(differs & DIFFERS_DIMS) && access->dim_count != like->dim_count)
        return false;
    for (uint8_t k = 0; k < access->dim_count; k++) {
        if (differs & DIFFERS_DIMS) {
            dims[k].stride = (int64_t)unzigzag(byte_cursor_number(cursor));
            dims[k].count = byte_cursor_number(cursor);
        } else {
            dims[k] = like->dims[k];
        }
    }
    return !cursor->failed;
}

/* Into room for as many dimensions as there may be; then into what it takes. */
static struct csan_access *accesses_get(struct byte_cursor *cursor,
                                        const struct recording_set *like, size_t count,
                                        size_t *weight)
{
    enum { ROOM = 64 };
    size_t room = (like ? like->weight : 0) + ROOM, dims = 0;
    struct csan_access *accesses = malloc(count * sizeof *accesses + 1);
    struct csan_dim *dim = malloc(room * sizeof *dim);
    bool good = accesses && dim;
    for (size_t i = 0; good && i < count; i++) {
        if (room - dims < CSAN_MAX_DIMS) {
            struct csan_dim *grown = realloc(dim, 2 * room * sizeof *dim);
            for (size_t k = 0, at = 0; grown && k < i; at += accesses[k++].dim_count)
                accesses[k].dims = grown + at;
            good = grown != NULL;
            dim = grown ? grown : dim;
            room *= 2;
        }
        good = good && access_get(cursor, &accesses[i], like_access(like, accesses, i), dim + dims);
        if (good)
            dims += accesses[i].dim_count;
    }
    *weight = count + dims;
    struct csan_access *whole = good ? accesses_copy(accesses, count, *weight) : NULL;
    free(accesses);
    free(dim);
    return whole;
}

/* Site, level and count of a new set; the accesses are encoded relative to *like. */
static bool head_get(struct recording_sets *sets, struct byte_cursor *cursor,
                     const struct recording_set **like, struct recording_set *set)
{
    uint64_t number = byte_cursor_number(cursor);
    bool given = true;
    *like = NULL;
    if (number > RECORDING_SLOTS || (number && !sets->slots[number - 1].accesses))
        return false;
    if (number) {
        *like = &sets->slots[number - 1];
        given = byte_cursor_number(cursor) != 0;
    }
    if (given) {
        uint64_t site = byte_cursor_number(cursor), level = byte_cursor_number(cursor);
        *set = (struct recording_set){.site = (uint32_t)site, .level = (uint16_t)level};
        set->count = byte_cursor_count(cursor);
        if (site > UINT32_MAX || level >= CSAN_LEVEL_COUNT)
            return false;
    } else {
        *set = (struct recording_set){
            .site = (*like)->site, .level = (*like)->level, .count = (*like)->count};
    }
    return !cursor->failed && set->count <= (size_t)(cursor->end - cursor->at);
}

static const struct recording_set *get_new(struct recording_sets *sets, struct byte_cursor *cursor,
                                           uint64_t slot)
{
    const struct recording_set *like;
    struct recording_set set;
    if (slot > RECORDING_SLOTS || !head_get(sets, cursor, &like, &set))
        return NULL;
    set.accesses = accesses_get(cursor, like, set.count, &set.weight);
    if (!set.accesses)
        return NULL;
    bool kept = slot < RECORDING_SLOTS;
    slot_clear(sets, &sets->slots[slot]);
    sets->slots[slot] = set;
    sets->weight += kept ? set.weight : 0;
    return sets->weight <= RECORDING_KEPT_ACCESSES ? &sets->slots[slot] : NULL;
}

const struct recording_set *recording_sets_get(struct recording_sets *sets,
                                               struct byte_cursor *cursor)
{
    uint64_t number = byte_cursor_number(cursor);
    if (cursor->failed)
        return NULL;
    if (number & 1)
        return get_new(sets, cursor, number >> 1);
    number >>= 1;
    return number < RECORDING_SLOTS && sets->slots[number].accesses ? &sets->slots[number] : NULL;
}
