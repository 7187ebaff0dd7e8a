/* The store of summaries: a table of shapes with their entries, bounded as a whole. See
 * summaries.h. */
#include "runtime/learn/summaries.h"
#include "csan/base/array.h"
#include "csan/base/hash.h"
#include "runtime/learn/summaries_state.h"

#include <string.h>

enum { TABLE_START = 256 };

/* ---- Shapes ---- */

static size_t shape_bytes(uint32_t word_count)
{
    return sizeof(struct shape) + word_count * (sizeof(uint16_t) + 3);
}

static struct shape **shape_slot(const struct summaries *all, const struct summary_shape *id)
{
    size_t at = id->words[0] & (all->table_size - 1);
    while (all->table[at] && memcmp(&all->table[at]->id, id, sizeof *id) != 0)
        at = (at + 1) & (all->table_size - 1);
    return &all->table[at];
}

struct shape *summary_shape_find(const struct summaries *all, const struct summary_shape *id)
{
    return all->table_size ? *shape_slot(all, id) : NULL;
}

/* The same shapes in a table of that size. */
static bool table_make(struct summaries *all, size_t size)
{
    struct shape **before = all->table;
    const size_t before_size = all->table_size;
    struct shape **table = calloc(size, sizeof *table);
    if (!table)
        return false;
    all->table = table;
    all->table_size = size;
    for (size_t i = 0; i < before_size; i++)
        if (before[i])
            *shape_slot(all, &before[i]->id) = before[i];
    free(before);
    return true;
}

struct shape *summary_shape_make(struct summaries *all, const struct summary_shape *id,
                                 uint32_t word_count)
{
    if (all->shape_count * 2 >= all->table_size &&
        !table_make(all, all->table_size ? all->table_size * 2 : TABLE_START))
        return NULL;
    struct shape *shape = summaries_take(all, shape_bytes(word_count));
    if (!shape)
        return NULL;
    shape->id = *id;
    shape->word_count = word_count;
    shape->counting = (uint16_t *)(shape + 1);
    shape->skipped = (uint8_t *)(shape->counting + word_count);
    shape->strikes = shape->skipped + word_count;
    shape->shifts = shape->strikes + word_count;
    summary_skipped_changed(shape);
    *shape_slot(all, id) = shape;
    all->shape_count++;
    return shape;
}

static void entry_clear(struct summaries *all, struct entry *entry, uint32_t word_count)
{
    all->version++;
    summary_set_drop(all, entry->set);
    summary_names_drop(all, entry->names);
    summaries_give(all, entry->words, word_count * sizeof *entry->words);
}

static void shape_free(struct summaries *all, struct shape *shape)
{
    for (uint32_t i = 0; i < shape->entry_count; i++)
        entry_clear(all, &shape->entries[i], shape->word_count);
    summaries_give(all, shape->entries, shape->entry_room * sizeof *shape->entries);
    summaries_give(all, shape, shape_bytes(shape->word_count));
}

static int ticks_compare(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Those go that were not used for longest: half of them. */
static void shapes_shrink(struct summaries *all)
{
    if (!all->table_size)
        return;
    uint64_t *ticks = malloc(all->shape_count * sizeof *ticks);
    size_t count = 0;
    if (!ticks)
        return;
    for (size_t i = 0; i < all->table_size; i++)
        if (all->table[i])
            ticks[count++] = all->table[i]->used;
    qsort(ticks, count, sizeof *ticks, ticks_compare);
    const uint64_t oldest_left = ticks[count / 2];
    free(ticks);
    for (size_t i = 0; i < all->table_size; i++) {
        struct shape *shape = all->table[i];
        if (!shape || shape->used >= oldest_left)
            continue;
        shape_free(all, shape);
        all->table[i] = NULL;
        all->shape_count--;
    }
    if (!table_make(all, all->table_size)) { /* without it some could not be found */
        for (size_t i = 0; i < all->table_size; i++)
            if (all->table[i])
                shape_free(all, all->table[i]);
        memset(all->table, 0, all->table_size * sizeof *all->table);
        all->shape_count = 0;
    }
}

/* ---- Entries ---- */

void summary_skipped_changed(struct shape *shape)
{
    shape->counting_count = 0;
    for (uint32_t i = 0; i < shape->word_count; i++)
        if (!shape->skipped[i])
            shape->counting[shape->counting_count++] = (uint16_t)i;
}

uint64_t summary_words_hash(const struct shape *shape, const uint32_t *words)
{
    /* Chains, so that the processor multiplies in all of them at a time. */
    uint64_t chains[4] = {HASH_START, HASH_START + 1, HASH_START + 2, HASH_START + 3};
    const uint16_t *counting = shape->counting;
    uint32_t i = 0;
    for (; i + 8 <= shape->counting_count; i += 8)
#pragma GCC unroll 4
        for (uint32_t k = 0; k < 4; k++)
            chains[k] = hash_mix(chains[k], words[counting[i + 2 * k]] |
                                                (uint64_t)words[counting[i + 2 * k + 1]] << 32);
    for (; i < shape->counting_count; i++)
        chains[0] = hash_mix(chains[0], words[counting[i]]);
    return hash_mix(hash_mix(chains[0], chains[1]), hash_mix(chains[2], chains[3]));
}

bool summary_words_agree(const struct shape *shape, const uint32_t *a, const uint32_t *b)
{
    const uint16_t *counting = shape->counting;
    for (uint32_t i = 0; i < shape->counting_count; i++)
        if (a[counting[i]] != b[counting[i]])
            return false;
    return true;
}

static bool word_counts(const struct shape *shape, const struct entry *entry, uint32_t i)
{
    return shape->skipped[i] == COUNTS ||
           (shape->skipped[i] == LEFT_BY_VALUES && !summary_set_varied(entry->set)[i]);
}

bool summary_word_differs(const struct shape *shape, const struct entry *entry,
                          const uint32_t *words, uint32_t i)
{
    return entry->words[i] != words[i] && word_counts(shape, entry, i);
}

bool summaries_word_counts(const struct summary_used *used, uint32_t word)
{
    return word >= used->shape->word_count || word_counts(used->shape, used->entry, word);
}

bool summaries_words_count(const struct summary_used *used)
{
    return used->shape->counting_count == used->shape->word_count;
}

struct entry *summary_entry_find(const struct shape *shape, const uint32_t *words)
{
    const uint64_t hash = summary_words_hash(shape, words);
    for (uint32_t i = 0; i < shape->entry_count; i++)
        if (shape->entries[i].hash == hash &&
            summary_words_agree(shape, shape->entries[i].words, words))
            return &shape->entries[i];
    return NULL;
}

void summary_entry_remove(struct summaries *all, struct shape *shape, uint32_t at)
{
    entry_clear(all, &shape->entries[at], shape->word_count);
    shape->entries[at] = shape->entries[--shape->entry_count];
}

/* What is unsteady is forgotten last. */
static void entry_make_room(struct summaries *all, struct shape *shape)
{
    uint32_t oldest = 0;
    for (uint32_t i = 1; i < shape->entry_count; i++) {
        const struct entry *a = &shape->entries[i], *b = &shape->entries[oldest];
        if (a->unsteady != b->unsteady ? b->unsteady : a->used < b->used)
            oldest = i;
    }
    summary_entry_remove(all, shape, oldest);
}

static bool entries_grow(struct summaries *all, struct shape *shape)
{
    if (shape->entry_count == SUMMARY_ENTRIES_MOST)
        entry_make_room(all, shape);
    size_t room = shape->entry_room;
    if (!array_room(&shape->entries, shape->entry_count, &room, 2, SUMMARY_ENTRIES_MOST,
                    sizeof *shape->entries))
        return false;
    all->bytes += (room - shape->entry_room) * sizeof *shape->entries;
    shape->entry_room = (uint32_t)room;
    return true;
}

/* The set of the shape that is equal, so that equal ones are one; the given one goes then. A launch
 * of these words has it. */
static struct set *set_share(struct summaries *all, const struct shape *shape, struct set *set,
                             const uint32_t *words)
{
    for (uint32_t i = 0; i < shape->entry_count; i++) {
        struct set *other = shape->entries[i].set;
        if (other == set || !summary_set_is(other, set))
            continue;
        summary_set_loosen(other, set);
        summary_set_vary(other, shape->entries[i].words, words);
        summary_set_drop(all, set);
        return other;
    }
    return set;
}

struct entry *summary_entry_add(struct summaries *all, struct shape *shape, const uint32_t *words,
                                struct set *set, struct names *names)
{
    const size_t bytes = shape->word_count * sizeof *words;
    all->version++;
    uint32_t *copy = entries_grow(all, shape) ? summaries_take(all, bytes) : NULL;
    if (!copy) {
        summary_set_drop(all, set);
        summary_names_drop(all, names);
        return NULL;
    }
    if (bytes)
        memcpy(copy, words, bytes);
    struct entry *entry = &shape->entries[shape->entry_count];
    set = set_share(all, shape, set, words);
    set->users++;
    *entry = (struct entry){.hash = summary_words_hash(shape, words),
                            .used = all->tick,
                            .words = copy,
                            .set = set,
                            .names = names,
                            .several = !names,
                            .seen = 1};
    shape->entry_count++;
    return entry;
}

/* ---- Adding ---- */

static void entry_replace(struct summaries *all, struct shape *shape, struct entry *entry,
                          const struct summary_key *key, struct set *set, struct names *names)
{
    set = set_share(all, shape, set, key->words);
    if (key->word_count)
        memcpy(entry->words, key->words, key->word_count * sizeof *key->words);
    set->users++;
    summary_set_drop(all, entry->set);
    summary_names_drop(all, entry->names);
    entry->set = set;
    entry->names = names;
    entry->several = !names;
    entry->seen = 1;
    all->version++;
}

static void entry_confirm(struct summaries *all, struct entry *entry, struct set *set,
                          struct names *names)
{
    entry->seen += entry->seen < SEEN_MOST;
    summary_set_loosen(entry->set, set);
    if (!entry->several && !summary_names_are(entry->names, names)) {
        summary_names_drop(all, entry->names);
        entry->names = NULL;
        entry->several = true;
        all->version++;
    }
    summary_set_drop(all, set);
    summary_names_drop(all, names);
}

static enum summary_change entry_differs(struct summaries *all, struct shape *shape,
                                         struct entry *entry, const struct summary_key *key,
                                         struct set *set, struct names *names)
{
    all->version++;
    if (summary_words_return(shape, entry, key->words)) {
        entry = summary_entry_add(all, shape, key->words, set, names);
        return entry ? SUMMARY_DIFFERS : SUMMARY_DROPPED;
    }
    entry_replace(all, shape, entry, key, set, names);
    entry->unsteady |= ++entry->changes >= SUMMARY_CHANGES_MOST;
    return SUMMARY_DIFFERS;
}

/* Takes set and names. */
static enum summary_change entry_take(struct summaries *all, struct shape *shape,
                                      const struct summary_key *key, struct set *set,
                                      struct names *names)
{
    struct entry *entry = summary_entry_find(shape, key->words);
    if (!entry) {
        entry = summary_entry_add(all, shape, key->words, set, names);
        if (entry)
            summary_shape_reduce(all, shape, entry);
        return entry ? SUMMARY_NEW : SUMMARY_DROPPED;
    }
    entry->used = all->tick;
    if (entry->unsteady || (entry->set->operator_ran && !set->operator_ran)) {
        const bool same = summary_set_is(entry->set, set) || !set->operator_ran;
        summary_set_drop(all, set);
        summary_names_drop(all, names);
        return same ? SUMMARY_CONFIRMED : SUMMARY_DIFFERS;
    }
    if (summary_set_is(entry->set, set)) {
        summary_set_vary(entry->set, entry->words, key->words);
        if (key->word_count)
            memcpy(entry->words, key->words, key->word_count * sizeof *key->words);
        entry_confirm(all, entry, set, names);
        return SUMMARY_CONFIRMED;
    }
    if (!entry->set->operator_ran) {
        entry_replace(all, shape, entry, key, set, names);
        return SUMMARY_NEW;
    }
    return entry_differs(all, shape, entry, key, set, names);
}

static bool result_is_possible(const struct summary_key *key, const struct summary_result *result)
{
    bool possible = key->word_count <= SUMMARY_WORDS_MOST &&
                    result->count <= SUMMARY_ACCESSES_MOST &&
                    (!result->what || result->what->argument_count <= ARGUMENTS_MOST);
    for (uint32_t i = 0; possible && i < result->count; i++)
        possible = result->accesses[i].dim_count <= CSAN_MAX_DIMS;
    return possible;
}

enum summary_change summaries_add(struct summaries *all, const struct summary_key *key,
                                  const struct summary_result *result)
{
    struct shape *shape = summary_shape_find(all, &key->shape);
    if (!result_is_possible(key, result) || (shape && shape->word_count != key->word_count))
        return SUMMARY_DROPPED;
    if (!shape)
        shape = summary_shape_make(all, &key->shape, key->word_count);
    struct set *set = shape ? summary_set_make(all, key->word_count, result) : NULL;
    if (!set)
        return SUMMARY_DROPPED;
    shape->used = ++all->tick;
    const enum summary_change change =
        entry_take(all, shape, key, set, summary_names_make(all, result));
    shape->confirmed += change == SUMMARY_CONFIRMED && shape->confirmed < SEEN_MOST;
    if (shape->shifting && change != SUMMARY_CONFIRMED)
        summary_shifts_forget(shape);
    if (all->bytes > all->limits.bytes)
        shapes_shrink(all);
    return change;
}

void summaries_spoil(struct summaries *all, const struct summary_key *key)
{
    struct shape *shape = summary_shape_find(all, &key->shape);
    struct entry *entry = shape && shape->word_count == key->word_count
                              ? summary_entry_find(shape, key->words)
                              : NULL;
    all->version++;
    if (entry)
        entry->unsteady = true;
}

void summaries_doubt(struct summaries *all, const struct summary_key *key)
{
    struct shape *shape = summary_shape_find(all, &key->shape);
    struct entry *entry = shape && shape->word_count == key->word_count
                              ? summary_entry_find(shape, key->words)
                              : NULL;
    if (!entry || entry->unsteady || !entry->seen)
        return;
    all->version++;
    entry->seen = 0;
    entry->unsteady = ++entry->changes >= SUMMARY_CHANGES_MOST;
}

void summaries_trust(struct summaries *all)
{
    all->version++;
    for (size_t i = 0; i < all->table_size; i++) {
        struct shape *shape = all->table[i];
        for (uint32_t k = 0; shape && k < shape->entry_count; k++)
            if (shape->entries[k].seen && shape->entries[k].seen < all->limits.launches)
                shape->entries[k].seen = all->limits.launches;
    }
}

/* ---- Asking ---- */

/* In the room for what is found; false: memory is short. */
static bool found_fill(struct summaries *all, const struct entry *entry,
                       struct summary_found *found)
{
    const struct set *set = entry->set;
    if (!array_reserve(&all->found, set->count, &all->found_room, 16, SIZE_MAX, sizeof *all->found))
        return false;
    if (set->count)
        memcpy(all->found, set->items, set->count * sizeof *set->items);
    for (uint32_t i = 0; i < set->count; i++)
        all->found[i].argument = entry->names ? entry->names->arguments[i] : CSAN_NO_ARGUMENT;
    found->operator_ran = set->operator_ran;
    found->what = entry->names ? entry->names->what : NULL;
    found->accesses = all->found;
    found->count = set->count;
    found->loose = summary_set_loose(entry->set);
    return true;
}

/* What all launches of the shape did, if it is one thing and enough of them did it; NULL: it is
 * not.
 */
static struct entry *unanimous_find(const struct summaries *all, const struct shape *shape)
{
    struct entry *any = NULL;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < shape->entry_count; i++) {
        struct entry *entry = &shape->entries[i];
        if (summary_entry_is_doubted(entry) || !entry->set->operator_ran ||
            (any && any->set != entry->set))
            return NULL;
        any = entry;
        seen += entry->seen;
    }
    return seen >= all->limits.launches ? any : NULL;
}

/* Whether launches like it had the entry's result: with the words that count, and with the others,
 * of which one that never varied among them may be a reason for it. */
static bool entry_is_like(const struct shape *shape, const struct entry *entry,
                          const uint32_t *words)
{
    bool like = true;
    for (uint32_t i = 0; i < shape->word_count && like; i++)
        like = !summary_word_differs(shape, entry, words, i);
    return like;
}

void summaries_find(struct summaries *all, const struct summary_key *key,
                    struct summary_found *found)
{
    *found = (struct summary_found){.state = SUMMARY_NONE};
    struct shape *shape = summary_shape_find(all, &key->shape);
    struct entry *entry = shape && shape->word_count == key->word_count
                              ? summary_entry_find(shape, key->words)
                              : NULL;
    if (entry && !entry_is_like(shape, entry, key->words))
        entry = NULL;
    struct entry *alike =
        shape && (!entry || entry->seen < all->limits.launches) ? unanimous_find(all, shape) : NULL;
    if (alike && shape->word_count == key->word_count)
        found->alike = found_fill(all, alike, found);
    if (!entry)
        return;
    shape->used = entry->used = ++all->tick;
    found->used = (struct summary_used){shape, entry};
    found->state = entry->unsteady                      ? SUMMARY_UNSTEADY
                   : entry->seen < all->limits.launches ? SUMMARY_LEARNING
                   : found_fill(all, entry, found)      ? SUMMARY_KNOWN
                                                        : SUMMARY_NONE;
}

uint64_t summaries_version(const struct summaries *all)
{
    return all->version;
}

void summaries_find_again(struct summaries *all, const struct summary_used *used)
{
    used->shape->used = used->entry->used = ++all->tick;
}

static bool set_starts_from(const struct set *set, uint32_t pointer)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->items[i].pointer == pointer)
            return true;
    return false;
}

bool summary_shape_starts_from(const struct shape *shape, uint32_t pointer)
{
    for (uint32_t i = 0; i < shape->entry_count; i++)
        if (set_starts_from(shape->entries[i].set, pointer))
            return true;
    return false;
}

bool summaries_pointer_counts(const struct summaries *all, const struct summary_shape *id,
                              uint32_t pointer)
{
    const struct shape *shape = summary_shape_find(all, id);
    const uint32_t first = pointer * SUMMARY_POINTER_WORDS;
    bool counts = !shape || first + SUMMARY_POINTER_WORDS > shape->word_count;
    for (uint32_t i = 0; i < SUMMARY_POINTER_WORDS && !counts; i++)
        counts = !shape->skipped[first + i];
    return counts || summary_shape_starts_from(shape, pointer);
}

/* How many words that count are not those of the entry. */
static uint32_t words_differing(const struct shape *shape, const struct entry *entry,
                                const uint32_t *words, struct summary_nearest *to)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < shape->word_count; i++) {
        if (!summary_word_differs(shape, entry, words, i))
            continue;
        if (to && count < SUMMARY_NEAREST_WORDS) {
            to->words[count] = i;
            to->before[count] = entry->words[i];
        }
        count++;
    }
    return count;
}

const struct entry *summary_entry_nearest(const struct shape *shape, const uint32_t *words,
                                          uint32_t *differing)
{
    const struct entry *nearest = NULL;
    for (uint32_t i = 0; i < shape->entry_count; i++) {
        const uint32_t count = words_differing(shape, &shape->entries[i], words, NULL);
        if (nearest && count >= *differing)
            continue;
        nearest = &shape->entries[i];
        *differing = count;
    }
    return nearest;
}

void summaries_nearest(const struct summaries *all, const struct summary_key *key,
                       struct summary_nearest *nearest)
{
    const struct shape *shape = summary_shape_find(all, &key->shape);
    uint32_t differing = 0;
    const struct entry *entry = shape && shape->word_count == key->word_count
                                    ? summary_entry_nearest(shape, key->words, &differing)
                                    : NULL;
    *nearest = (struct summary_nearest){0};
    if (!entry)
        return;
    for (uint32_t i = 0; i < shape->word_count; i++)
        nearest->counting += !shape->skipped[i];
    nearest->entries = shape->entry_count;
    nearest->differing = words_differing(shape, entry, key->words, nearest);
}

void summaries_answered(struct summaries *all, const struct summary_key *key)
{
    struct shape *shape = summary_shape_find(all, &key->shape);
    if (shape && shape->shifting)
        summary_shifts_forget(shape);
}

void summaries_count(const struct summaries *all, struct summary_counts *counts)
{
    *counts = (struct summary_counts){.shapes = all->shape_count, .bytes = all->bytes};
    for (size_t i = 0; i < all->table_size; i++) {
        const struct shape *shape = all->table[i];
        for (uint32_t k = 0; shape && k < shape->entry_count; k++) {
            const struct entry *entry = &shape->entries[k];
            counts->entries++;
            counts->unsteady += entry->unsteady;
            counts->known += !entry->unsteady && entry->seen >= all->limits.launches;
        }
    }
}

/* ---- Beginning and end ---- */

struct summaries *summaries_create(const struct summary_limits *limits)
{
    struct summaries *all = calloc(1, sizeof *all);
    if (all)
        all->limits = *limits;
    return all;
}

void summaries_clear(struct summaries *all)
{
    for (size_t i = 0; i < all->table_size; i++)
        if (all->table[i])
            shape_free(all, all->table[i]);
    free(all->table);
    all->table = NULL;
    all->table_size = all->shape_count = 0;
}

void summaries_destroy(struct summaries *all)
{
    if (!all)
        return;
    summaries_clear(all);
    for (uint32_t i = 0; i < all->operator_count; i++)
        free(all->operators[i]);
    free(all->operators);
    free(all->found);
    free(all);
}
