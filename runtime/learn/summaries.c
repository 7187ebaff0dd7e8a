/* Summaries of what operators made of launches. See summaries.h. */
#include "runtime/learn/summaries.h"
#include "csan/base/hash.h"
#include "csan/recording/recording_format.h"

#include <stdlib.h>
#include <string.h>

enum {
    TABLE_START = 256,
    OPERATORS_MOST = 4096,
    ARGUMENTS_MOST = 1024,
    SEEN_MOST = 1 << 20,
    STRIKES_MOST = 3, /* then a word counts for good */
    FORMAT = 2
};

/* Accesses, without whose arguments they are. */
struct set {
    uint64_t hash;
    uint32_t users, count, pointers;
    bool operator_ran;
    struct summary_access items[]; /* behind them, of each pointer: whether it was loose */
};

/* Who names a launch, and the argument of each access. */
struct names {
    const struct csan_operator *what;
    uint32_t count;
    uint16_t arguments[];
};

struct entry {
    uint64_t hash;   /* of the words that count */
    uint64_t used;   /* the tick of its newest launch */
    uint32_t *words; /* of its newest launch */
    struct set *set;
    struct names *names; /* NULL: several did, or none */
    uint32_t seen;       /* launches with that result */
    uint8_t changes;
    bool unsteady, several;
};

struct shape {
    struct summary_shape id;
    uint64_t used;
    uint32_t word_count, entry_count, entry_room;
    struct entry *entries;
    uint8_t *skipped; /* of each word: whether it does not count; */
    uint8_t *strikes; /* and how often it had to count again */
};

struct operator_kept {
    uint64_t hash;
    struct csan_operator declared;
    const char *texts[]; /* the arguments' */
};

struct summaries {
    struct summary_limits limits;
    uint64_t tick;
    size_t bytes;
    struct shape **table; /* open addressing; at most half full */
    size_t table_size, shape_count;
    struct operator_kept **operators;
    uint32_t operator_count, operator_room;
    struct summary_access *found; /* of summaries_find */
    uint32_t found_room;
};

/* ---- Memory ---- */

static void *take(struct summaries *all, size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    if (memory)
        all->bytes += bytes;
    return memory;
}

static void give(struct summaries *all, void *memory, size_t bytes)
{
    if (memory)
        all->bytes -= bytes;
    free(memory);
}

/* ---- Operators ---- */

static uint64_t operator_hash(const struct csan_operator *what)
{
    uint64_t hash = hash_mix(0, what->output);
    hash = hash_mix_bytes(hash, what->name, strlen(what->name));
    for (size_t i = 0; i < what->argument_count; i++)
        hash = hash_mix_bytes(hash, what->arguments[i], strlen(what->arguments[i]));
    return hash;
}

static bool operator_is(const struct csan_operator *a, const struct csan_operator *b)
{
    bool same = a->output == b->output && a->argument_count == b->argument_count &&
                strcmp(a->name, b->name) == 0;
    for (size_t i = 0; same && i < a->argument_count; i++)
        same = strcmp(a->arguments[i], b->arguments[i]) == 0;
    return same;
}

static struct operator_kept *operator_copy(const struct csan_operator *what, uint64_t hash)
{
    size_t bytes = strlen(what->name) + 1;
    for (size_t i = 0; i < what->argument_count; i++)
        bytes += strlen(what->arguments[i]) + 1;
    struct operator_kept *kept =
        malloc(sizeof *kept + what->argument_count * sizeof *kept->texts + bytes);
    if (!kept)
        return NULL;
    char *text = (char *)(kept->texts + what->argument_count);
    kept->hash = hash;
    kept->declared = *what;
    kept->declared.arguments = kept->texts;
    kept->declared.name = text;
    text = stpcpy(text, what->name) + 1;
    for (size_t i = 0; i < what->argument_count; i++) {
        kept->texts[i] = text;
        text = stpcpy(text, what->arguments[i]) + 1;
    }
    return kept;
}

/* The one of these texts that is kept; NULL: memory is short, or there are too many. */
static const struct csan_operator *operator_keep(struct summaries *all,
                                                 const struct csan_operator *what)
{
    const uint64_t hash = operator_hash(what);
    for (uint32_t i = 0; i < all->operator_count; i++)
        if (all->operators[i]->hash == hash && operator_is(&all->operators[i]->declared, what))
            return &all->operators[i]->declared;
    if (all->operator_count == OPERATORS_MOST)
        return NULL;
    if (all->operator_count == all->operator_room) {
        const uint32_t room = all->operator_room ? all->operator_room * 2 : 64;
        struct operator_kept **bigger = realloc(all->operators, room * sizeof *bigger);
        if (!bigger)
            return NULL;
        all->operators = bigger;
        all->operator_room = room;
    }
    struct operator_kept *kept = operator_copy(what, hash);
    if (!kept)
        return NULL;
    all->operators[all->operator_count++] = kept;
    return &kept->declared;
}

/* ---- Sets and names ---- */

static size_t set_bytes(uint32_t count, uint32_t pointers)
{
    return sizeof(struct set) + count * sizeof(struct summary_access) + pointers;
}

static uint8_t *set_loose(struct set *set)
{
    return (uint8_t *)(set->items + set->count);
}

static size_t names_bytes(uint32_t count)
{
    return sizeof(struct names) + count * sizeof(uint16_t);
}

/* Without padding or dims that say nothing, so that bytes can be compared. */
static void access_copy_plain(struct summary_access *to, const struct summary_access *from)
{
    memset(to, 0, sizeof *to);
    to->pointer = from->pointer;
    to->kind = from->kind;
    to->bound = from->bound;
    to->dim_count = from->dim_count;
    to->offset = from->offset;
    to->bytes = from->bytes;
    for (uint8_t i = 0; i < from->dim_count; i++)
        to->dims[i] = from->dims[i];
}

static struct set *set_room(struct summaries *all, uint32_t count, uint32_t pointers)
{
    struct set *set = take(all, set_bytes(count, pointers));
    if (set) {
        set->count = count;
        set->pointers = pointers;
    }
    return set;
}

/* What is loose in one is so in the other, which is equal. */
static void set_loosen(struct set *set, struct set *other)
{
    for (uint32_t i = 0; i < set->pointers && i < other->pointers; i++)
        set_loose(set)[i] |= set_loose(other)[i];
}

static struct set *set_make(struct summaries *all, uint32_t word_count,
                            const struct summary_result *result)
{
    struct set *set = set_room(all, result->count, word_count / SUMMARY_POINTER_WORDS);
    if (!set)
        return NULL;
    set->operator_ran = result->what != NULL;
    for (uint32_t i = 0; result->loose && i < set->pointers; i++)
        set_loose(set)[i] = result->loose[i] != 0;
    for (uint32_t i = 0; i < result->count; i++)
        access_copy_plain(&set->items[i], &result->accesses[i]);
    set->hash = hash_mix_bytes(set->operator_ran, set->items, set->count * sizeof *set->items);
    return set;
}

static bool set_is(const struct set *a, const struct set *b)
{
    return a == b ||
           (a->hash == b->hash && a->count == b->count && a->operator_ran == b->operator_ran &&
            memcmp(a->items, b->items, a->count * sizeof *a->items) == 0);
}

static void set_drop(struct summaries *all, struct set *set)
{
    if (set && (!set->users || !--set->users))
        give(all, set, set_bytes(set->count, set->pointers));
}

static struct names *names_make(struct summaries *all, const struct summary_result *result)
{
    const struct csan_operator *what = result->what ? operator_keep(all, result->what) : NULL;
    struct names *names = what ? take(all, names_bytes(result->count)) : NULL;
    if (!names)
        return NULL;
    names->what = what;
    names->count = result->count;
    for (uint32_t i = 0; i < result->count; i++)
        names->arguments[i] = result->accesses[i].argument;
    return names;
}

static void names_drop(struct summaries *all, struct names *names)
{
    if (names)
        give(all, names, names_bytes(names->count));
}

static bool names_are(const struct names *a, const struct names *b)
{
    return a && b && a->what == b->what && a->count == b->count &&
           memcmp(a->arguments, b->arguments, a->count * sizeof *a->arguments) == 0;
}

/* ---- Shapes ---- */

static size_t shape_bytes(const struct shape *shape)
{
    return sizeof *shape + 2 * (size_t)shape->word_count;
}

static struct shape **shape_slot(const struct summaries *all, const struct summary_shape *id)
{
    size_t at = id->words[0] & (all->table_size - 1);
    while (all->table[at] && memcmp(&all->table[at]->id, id, sizeof *id) != 0)
        at = (at + 1) & (all->table_size - 1);
    return &all->table[at];
}

static struct shape *shape_find(const struct summaries *all, const struct summary_shape *id)
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

static struct shape *shape_make(struct summaries *all, const struct summary_shape *id,
                                uint32_t word_count)
{
    if (all->shape_count * 2 >= all->table_size &&
        !table_make(all, all->table_size ? all->table_size * 2 : TABLE_START))
        return NULL;
    struct shape *shape = take(all, sizeof *shape + 2 * (size_t)word_count);
    if (!shape)
        return NULL;
    shape->id = *id;
    shape->word_count = word_count;
    shape->skipped = (uint8_t *)(shape + 1);
    shape->strikes = shape->skipped + word_count;
    *shape_slot(all, id) = shape;
    all->shape_count++;
    return shape;
}

static void entry_clear(struct summaries *all, struct entry *entry, uint32_t word_count)
{
    set_drop(all, entry->set);
    names_drop(all, entry->names);
    give(all, entry->words, word_count * sizeof *entry->words);
}

static void shape_free(struct summaries *all, struct shape *shape)
{
    for (uint32_t i = 0; i < shape->entry_count; i++)
        entry_clear(all, &shape->entries[i], shape->word_count);
    give(all, shape->entries, shape->entry_room * sizeof *shape->entries);
    give(all, shape, shape_bytes(shape));
}

static int ticks_compare(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Those go that were not used for longest: half of them. */
static void shapes_shrink(struct summaries *all)
{
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

static uint64_t words_hash(const struct shape *shape, const uint32_t *words)
{
    uint64_t hash = HASH_START;
    for (uint32_t i = 0; i < shape->word_count; i++)
        if (!shape->skipped[i])
            hash = hash_mix(hash, words[i]);
    return hash;
}

static bool words_agree(const struct shape *shape, const uint32_t *a, const uint32_t *b)
{
    for (uint32_t i = 0; i < shape->word_count; i++)
        if (!shape->skipped[i] && a[i] != b[i])
            return false;
    return true;
}

static struct entry *entry_find(const struct shape *shape, const uint32_t *words)
{
    const uint64_t hash = words_hash(shape, words);
    for (uint32_t i = 0; i < shape->entry_count; i++)
        if (shape->entries[i].hash == hash && words_agree(shape, shape->entries[i].words, words))
            return &shape->entries[i];
    return NULL;
}

static void entry_remove(struct summaries *all, struct shape *shape, uint32_t at)
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
    entry_remove(all, shape, oldest);
}

static bool entries_grow(struct summaries *all, struct shape *shape)
{
    if (shape->entry_count == SUMMARY_ENTRIES_MOST)
        entry_make_room(all, shape);
    if (shape->entry_count < shape->entry_room)
        return true;
    const uint32_t room = shape->entry_room ? shape->entry_room * 2 : 2;
    struct entry *bigger = realloc(shape->entries, room * sizeof *bigger);
    if (!bigger)
        return false;
    all->bytes += (room - shape->entry_room) * sizeof *bigger;
    shape->entries = bigger;
    shape->entry_room = room;
    return true;
}

/* The set of the shape that is equal, so that equal ones are one; the given one goes then. */
static struct set *set_share(struct summaries *all, const struct shape *shape, struct set *set)
{
    for (uint32_t i = 0; i < shape->entry_count; i++) {
        struct set *other = shape->entries[i].set;
        if (other == set || !set_is(other, set))
            continue;
        set_loosen(other, set);
        set_drop(all, set);
        return other;
    }
    return set;
}

/* Takes set and names. */
static struct entry *entry_add(struct summaries *all, struct shape *shape, const uint32_t *words,
                               struct set *set, struct names *names)
{
    const size_t bytes = shape->word_count * sizeof *words;
    uint32_t *copy = entries_grow(all, shape) ? take(all, bytes) : NULL;
    if (!copy) {
        set_drop(all, set);
        names_drop(all, names);
        return NULL;
    }
    if (bytes)
        memcpy(copy, words, bytes);
    struct entry *entry = &shape->entries[shape->entry_count];
    set = set_share(all, shape, set);
    set->users++;
    *entry = (struct entry){.hash = words_hash(shape, words),
                            .used = all->tick,
                            .words = copy,
                            .set = set,
                            .names = names,
                            .several = !names,
                            .seen = 1};
    shape->entry_count++;
    return entry;
}

/* ---- Words that leave, and come back ---- */

/* Whether the pointers that the set starts from lie alike. */
static bool pointers_agree(const struct shape *shape, const struct set *set, const uint32_t *a,
                           const uint32_t *b)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const uint64_t word = (uint64_t)set->items[i].pointer * SUMMARY_POINTER_WORDS;
        if (word < shape->word_count && a[word] != b[word])
            return false;
    }
    return true;
}

/* Words in which entries of the newest one's result differ, whose pointers lie alike: sets their
 * bytes in `leaving`. Returns how many entries there are. */
static uint32_t group_differences(const struct shape *shape, const struct entry *newest,
                                  uint8_t *leaving)
{
    uint32_t count = 0;
    memset(leaving, 0, shape->word_count);
    for (uint32_t i = 0; i < shape->entry_count; i++) {
        const struct entry *other = &shape->entries[i];
        if (other->set != newest->set || other->unsteady ||
            !pointers_agree(shape, newest->set, other->words, newest->words))
            continue;
        count++;
        for (uint32_t k = 0; k < shape->word_count; k++)
            if (!shape->skipped[k] && other->words[k] != newest->words[k])
                leaving[k] = 1;
    }
    return count;
}

/* How many values they need; 0: they may not. */
static uint32_t values_needed(const struct summaries *all, const struct shape *shape,
                              const uint8_t *leaving)
{
    uint8_t strikes = 0;
    for (uint32_t i = 0; i < shape->word_count; i++)
        if (leaving[i] && shape->strikes[i] > strikes)
            strikes = shape->strikes[i];
    return strikes < STRIKES_MOST ? all->limits.values << 2 * strikes : 0;
}

static bool would_meet(const struct shape *shape, const struct entry *a, const struct entry *b,
                       const uint8_t *leaving)
{
    for (uint32_t i = 0; i < shape->word_count; i++)
        if (!shape->skipped[i] && !leaving[i] && a->words[i] != b->words[i])
            return false;
    return true;
}

static bool results_would_meet(const struct shape *shape, const uint8_t *leaving)
{
    for (uint32_t i = 0; i < shape->entry_count; i++)
        for (uint32_t k = 0; k < i; k++) {
            const struct entry *a = &shape->entries[i], *b = &shape->entries[k];
            if ((a->set != b->set || a->unsteady || b->unsteady) &&
                would_meet(shape, a, b, leaving))
                return true;
        }
    return false;
}

/* The later used one has both. */
static void entries_merge(struct summaries *all, struct shape *shape, uint32_t first,
                          uint32_t second)
{
    struct entry *a = &shape->entries[first], *b = &shape->entries[second];
    if (a->used < b->used) {
        const struct entry older = *a;
        *a = *b;
        *b = older;
    }
    a->seen = a->seen + b->seen < SEEN_MOST ? a->seen + b->seen : SEEN_MOST;
    if (a->several || b->several || !names_are(a->names, b->names)) {
        names_drop(all, a->names);
        a->names = NULL;
        a->several = true;
    }
    entry_remove(all, shape, second);
}

static void words_leave(struct summaries *all, struct shape *shape, const uint8_t *leaving)
{
    for (uint32_t i = 0; i < shape->word_count; i++)
        shape->skipped[i] |= leaving[i];
    for (uint32_t i = 0; i < shape->entry_count; i++)
        shape->entries[i].hash = words_hash(shape, shape->entries[i].words);
    for (uint32_t i = 0; i < shape->entry_count; i++)
        for (uint32_t k = shape->entry_count - 1; k > i; k--)
            if (words_agree(shape, shape->entries[i].words, shape->entries[k].words))
                entries_merge(all, shape, i, k);
}

static void shape_reduce(struct summaries *all, struct shape *shape, const struct entry *newest)
{
    uint8_t *leaving = malloc(shape->word_count + 1);
    if (!leaving)
        return;
    const uint32_t count = group_differences(shape, newest, leaving);
    const uint32_t needed = values_needed(all, shape, leaving);
    if (count >= all->limits.values && needed && count >= needed &&
        !results_would_meet(shape, leaving))
        words_leave(all, shape, leaving);
    free(leaving);
}

/* The words count again that may be why the result differs. False: there are none. What was known
 * for many of their values is known of the newest one only, and counted anew. */
static bool words_return(struct shape *shape, const struct entry *entry, const uint32_t *words)
{
    bool any = false;
    for (uint32_t i = 0; i < shape->word_count; i++) {
        if (!shape->skipped[i] || entry->words[i] == words[i])
            continue;
        shape->skipped[i] = 0;
        shape->strikes[i] += shape->strikes[i] < STRIKES_MOST;
        any = true;
    }
    for (uint32_t i = 0; any && i < shape->entry_count; i++) {
        struct entry *each = &shape->entries[i];
        each->hash = words_hash(shape, each->words);
        each->seen = each->seen ? 1 : 0;
    }
    return any;
}

/* ---- Adding ---- */

static void entry_replace(struct summaries *all, struct shape *shape, struct entry *entry,
                          struct set *set, struct names *names)
{
    set = set_share(all, shape, set);
    set->users++;
    set_drop(all, entry->set);
    names_drop(all, entry->names);
    entry->set = set;
    entry->names = names;
    entry->several = !names;
    entry->seen = 1;
}

static void entry_confirm(struct summaries *all, struct entry *entry, struct set *set,
                          struct names *names)
{
    entry->seen += entry->seen < SEEN_MOST;
    set_loosen(entry->set, set);
    if (!entry->several && !names_are(entry->names, names)) {
        names_drop(all, entry->names);
        entry->names = NULL;
        entry->several = true;
    }
    set_drop(all, set);
    names_drop(all, names);
}

static enum summary_change entry_differs(struct summaries *all, struct shape *shape,
                                         struct entry *entry, const struct summary_key *key,
                                         struct set *set, struct names *names)
{
    if (words_return(shape, entry, key->words)) {
        entry = entry_add(all, shape, key->words, set, names);
        return entry ? SUMMARY_DIFFERS : SUMMARY_DROPPED;
    }
    entry_replace(all, shape, entry, set, names);
    entry->unsteady |= ++entry->changes >= SUMMARY_CHANGES_MOST;
    return SUMMARY_DIFFERS;
}

/* Takes set and names. */
static enum summary_change entry_take(struct summaries *all, struct shape *shape,
                                      const struct summary_key *key, struct set *set,
                                      struct names *names)
{
    struct entry *entry = entry_find(shape, key->words);
    if (!entry) {
        entry = entry_add(all, shape, key->words, set, names);
        if (entry)
            shape_reduce(all, shape, entry);
        return entry ? SUMMARY_NEW : SUMMARY_DROPPED;
    }
    entry->used = all->tick;
    if (entry->unsteady || (entry->set->operator_ran && !set->operator_ran)) {
        const bool same = set_is(entry->set, set) || !set->operator_ran;
        set_drop(all, set);
        names_drop(all, names);
        return same ? SUMMARY_CONFIRMED : SUMMARY_DIFFERS;
    }
    if (set_is(entry->set, set)) {
        if (key->word_count)
            memcpy(entry->words, key->words, key->word_count * sizeof *key->words);
        entry_confirm(all, entry, set, names);
        return SUMMARY_CONFIRMED;
    }
    if (!entry->set->operator_ran) {
        entry_replace(all, shape, entry, set, names);
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
    struct shape *shape = shape_find(all, &key->shape);
    if (!result_is_possible(key, result) || (shape && shape->word_count != key->word_count))
        return SUMMARY_DROPPED;
    if (!shape)
        shape = shape_make(all, &key->shape, key->word_count);
    struct set *set = shape ? set_make(all, key->word_count, result) : NULL;
    if (!set)
        return SUMMARY_DROPPED;
    shape->used = ++all->tick;
    const enum summary_change change = entry_take(all, shape, key, set, names_make(all, result));
    if (all->bytes > all->limits.bytes)
        shapes_shrink(all);
    return change;
}

void summaries_spoil(struct summaries *all, const struct summary_key *key)
{
    struct shape *shape = shape_find(all, &key->shape);
    struct entry *entry =
        shape && shape->word_count == key->word_count ? entry_find(shape, key->words) : NULL;
    if (entry)
        entry->unsteady = true;
}

void summaries_trust(struct summaries *all)
{
    for (size_t i = 0; i < all->table_size; i++) {
        struct shape *shape = all->table[i];
        for (uint32_t k = 0; shape && k < shape->entry_count; k++)
            if (shape->entries[k].seen < all->limits.launches)
                shape->entries[k].seen = all->limits.launches;
    }
}

/* ---- Asking ---- */

/* In the room for what is found; false: memory is short. */
static bool found_fill(struct summaries *all, const struct entry *entry,
                       struct summary_found *found)
{
    const struct set *set = entry->set;
    if (set->count > all->found_room) {
        struct summary_access *bigger = realloc(all->found, set->count * 2 * sizeof *bigger);
        if (!bigger)
            return false;
        all->found = bigger;
        all->found_room = set->count * 2;
    }
    if (set->count)
        memcpy(all->found, set->items, set->count * sizeof *set->items);
    for (uint32_t i = 0; i < set->count; i++)
        all->found[i].argument = entry->names ? entry->names->arguments[i] : CSAN_NO_ARGUMENT;
    found->operator_ran = set->operator_ran;
    found->what = entry->names ? entry->names->what : NULL;
    found->accesses = all->found;
    found->count = set->count;
    found->loose = set_loose(entry->set);
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
        if (entry->unsteady || !entry->set->operator_ran || (any && any->set != entry->set))
            return NULL;
        any = entry;
        seen += entry->seen;
    }
    return seen >= all->limits.launches ? any : NULL;
}

void summaries_find(struct summaries *all, const struct summary_key *key,
                    struct summary_found *found)
{
    *found = (struct summary_found){.state = SUMMARY_NONE};
    struct shape *shape = shape_find(all, &key->shape);
    struct entry *entry =
        shape && shape->word_count == key->word_count ? entry_find(shape, key->words) : NULL;
    struct entry *alike =
        shape && (!entry || entry->seen < all->limits.launches) ? unanimous_find(all, shape) : NULL;
    if (alike && shape->word_count == key->word_count)
        found->alike = found_fill(all, alike, found);
    if (!entry)
        return;
    shape->used = entry->used = ++all->tick;
    found->state = entry->unsteady                      ? SUMMARY_UNSTEADY
                   : entry->seen < all->limits.launches ? SUMMARY_LEARNING
                   : found_fill(all, entry, found)      ? SUMMARY_KNOWN
                                                        : SUMMARY_NONE;
}

/* From the first byte to the last. */
static void access_reach(const struct summary_access *access, int64_t *first, uint64_t *bytes)
{
    *first = access->offset;
    *bytes = access->bytes;
    for (uint8_t i = 0; i < access->dim_count; i++) {
        const int64_t span = access->dims[i].stride * (int64_t)(access->dims[i].count - 1);
        *first += span < 0 ? span : 0;
        *bytes += (uint64_t)(span < 0 ? -span : span);
    }
}

static bool access_covers(const struct summary_access *wide, const struct summary_access *narrow)
{
    int64_t first, from;
    uint64_t bytes, room;
    if (wide->pointer != narrow->pointer ||
        (wide->kind != narrow->kind && wide->kind != CSAN_WRITE) ||
        (wide->bound != CSAN_EXACT && narrow->bound == CSAN_EXACT))
        return false;
    if (wide->offset == narrow->offset && wide->bytes == narrow->bytes &&
        wide->dim_count == narrow->dim_count &&
        memcmp(wide->dims, narrow->dims, wide->dim_count * sizeof *wide->dims) == 0)
        return true;
    if (wide->dim_count)
        return false;
    access_reach(narrow, &first, &bytes);
    access_reach(wide, &from, &room);
    return first >= from && (uint64_t)(first - from) <= room &&
           bytes <= room - (uint64_t)(first - from);
}

bool summary_covers(const struct summary_found *found, const struct summary_result *result)
{
    bool all = true;
    for (uint32_t i = 0; all && i < result->count; i++) {
        all = false;
        for (uint32_t k = 0; !all && k < found->count; k++)
            all = access_covers(&found->accesses[k], &result->accesses[i]);
    }
    return all;
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

static void shapes_clear(struct summaries *all)
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
    shapes_clear(all);
    for (uint32_t i = 0; i < all->operator_count; i++)
        free(all->operators[i]);
    free(all->operators);
    free(all->found);
    free(all);
}

/* ---- As bytes ---- */

static void put(struct byte_buffer *buffer, uint64_t value)
{
    if (byte_buffer_reserve(buffer, NUMBER_BYTES_MAX))
        byte_buffer_put(buffer, value);
}

static void put_words(struct byte_buffer *buffer, const uint32_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        put(buffer, words[i]);
}

static void put_operators(struct byte_buffer *buffer, const struct summaries *all)
{
    put(buffer, all->operator_count);
    for (uint32_t i = 0; i < all->operator_count; i++) {
        const struct csan_operator *what = &all->operators[i]->declared;
        put(buffer, what->output);
        put(buffer, what->argument_count);
        byte_buffer_put_text(buffer, what->name);
        for (size_t k = 0; k < what->argument_count; k++)
            byte_buffer_put_text(buffer, what->arguments[k]);
    }
}

static void put_access(struct byte_buffer *buffer, const struct summary_access *access)
{
    put(buffer, access->pointer);
    put(buffer, access->kind);
    put(buffer, access->bound);
    put(buffer, zigzag((uint64_t)access->offset));
    put(buffer, access->bytes);
    put(buffer, access->dim_count);
    for (uint8_t i = 0; i < access->dim_count; i++) {
        put(buffer, zigzag((uint64_t)access->dims[i].stride));
        put(buffer, access->dims[i].count);
    }
}

static uint32_t operator_number(const struct summaries *all, const struct csan_operator *what)
{
    uint32_t at = 0;
    while (at < all->operator_count && &all->operators[at]->declared != what)
        at++;
    return at;
}

static void put_entry(struct byte_buffer *buffer, const struct summaries *all,
                      const struct shape *shape, const struct entry *entry)
{
    const struct set *set = entry->set;
    put_words(buffer, entry->words, shape->word_count);
    put(buffer, entry->seen);
    put(buffer, entry->changes);
    put(buffer, entry->unsteady);
    put(buffer, set->operator_ran);
    put(buffer, set->count);
    for (uint32_t i = 0; i < set->count; i++)
        put_access(buffer, &set->items[i]);
    for (uint32_t i = 0; i < set->pointers; i++)
        put(buffer, set_loose(entry->set)[i]);
    put(buffer, entry->names ? operator_number(all, entry->names->what) + 1 : 0);
    for (uint32_t i = 0; entry->names && i < set->count; i++)
        put(buffer, entry->names->arguments[i]);
}

static void put_shape(struct byte_buffer *buffer, const struct summaries *all,
                      const struct shape *shape)
{
    put(buffer, shape->id.words[0]);
    put(buffer, shape->id.words[1]);
    put(buffer, shape->word_count);
    for (uint32_t i = 0; i < shape->word_count; i++)
        put(buffer, (uint64_t)shape->strikes[i] << 1 | shape->skipped[i]);
    put(buffer, shape->entry_count);
    for (uint32_t i = 0; i < shape->entry_count; i++)
        put_entry(buffer, all, shape, &shape->entries[i]);
}

uint8_t *summaries_write(const struct summaries *all, size_t *bytes)
{
    struct byte_buffer buffer = {0};
    put(&buffer, FORMAT);
    put_operators(&buffer, all);
    put(&buffer, all->shape_count);
    for (size_t i = 0; i < all->table_size; i++)
        if (all->table[i])
            put_shape(&buffer, all, all->table[i]);
    if (buffer.failed) {
        free(buffer.data);
        return NULL;
    }
    *bytes = buffer.length;
    return buffer.data;
}

static uint64_t take_up_to(struct byte_cursor *cursor, uint64_t most)
{
    const uint64_t value = byte_cursor_number(cursor);
    cursor->failed |= value > most;
    return cursor->failed ? 0 : value;
}

static void take_operator(struct byte_cursor *cursor, struct summaries *all)
{
    const char *names[ARGUMENTS_MOST];
    struct csan_operator what = {.arguments = names};
    what.output = (uint16_t)take_up_to(cursor, UINT16_MAX);
    what.argument_count = take_up_to(cursor, ARGUMENTS_MOST);
    what.name = byte_cursor_text(cursor);
    for (size_t i = 0; !cursor->failed && i < what.argument_count; i++)
        names[i] = byte_cursor_text(cursor);
    if (!cursor->failed && !operator_keep(all, &what))
        cursor->failed = true;
}

static void take_access(struct byte_cursor *cursor, struct summary_access *access)
{
    memset(access, 0, sizeof *access);
    access->pointer = (uint32_t)take_up_to(cursor, UINT32_MAX);
    access->kind = (uint8_t)take_up_to(cursor, CSAN_ATOMIC);
    access->bound = (uint8_t)take_up_to(cursor, CSAN_BOUND_OBJECT);
    access->offset = (int64_t)unzigzag(byte_cursor_number(cursor));
    access->bytes = byte_cursor_number(cursor);
    access->dim_count = (uint8_t)take_up_to(cursor, CSAN_MAX_DIMS);
    for (uint8_t i = 0; i < access->dim_count; i++) {
        access->dims[i].stride = (int64_t)unzigzag(byte_cursor_number(cursor));
        access->dims[i].count = byte_cursor_number(cursor);
        cursor->failed |= !access->dims[i].count;
    }
    cursor->failed |= !access->kind || !access->bytes;
}

/* NULL: it makes no sense, or memory is short. */
static struct set *take_set(struct byte_cursor *cursor, struct summaries *all, uint32_t word_count)
{
    const bool ran = take_up_to(cursor, 1);
    const uint32_t count = (uint32_t)take_up_to(cursor, SUMMARY_ACCESSES_MOST);
    struct set *set =
        cursor->failed ? NULL : set_room(all, count, word_count / SUMMARY_POINTER_WORDS);
    if (!set)
        return NULL;
    set->operator_ran = ran;
    for (uint32_t i = 0; i < count; i++)
        take_access(cursor, &set->items[i]);
    for (uint32_t i = 0; i < set->pointers; i++)
        set_loose(set)[i] = (uint8_t)take_up_to(cursor, 1);
    set->hash = hash_mix_bytes(ran, set->items, count * sizeof *set->items);
    return set;
}

static struct names *take_names(struct byte_cursor *cursor, struct summaries *all, uint32_t count)
{
    const uint32_t number = (uint32_t)take_up_to(cursor, all->operator_count);
    struct names *names = number ? take(all, names_bytes(count)) : NULL;
    if (!names)
        return NULL;
    names->what = &all->operators[number - 1]->declared;
    names->count = count;
    for (uint32_t i = 0; i < count; i++)
        names->arguments[i] = (uint16_t)take_up_to(cursor, UINT16_MAX);
    return names;
}

static void take_entry(struct byte_cursor *cursor, struct summaries *all, struct shape *shape,
                       uint32_t *words)
{
    for (uint32_t i = 0; i < shape->word_count; i++)
        words[i] = (uint32_t)take_up_to(cursor, UINT32_MAX);
    const uint32_t seen = (uint32_t)take_up_to(cursor, SEEN_MOST);
    const uint8_t changes = (uint8_t)take_up_to(cursor, SUMMARY_CHANGES_MOST);
    const bool unsteady = take_up_to(cursor, 1);
    struct set *set = take_set(cursor, all, shape->word_count);
    struct names *names = set ? take_names(cursor, all, set->count) : NULL;
    cursor->failed |= !set || entry_find(shape, words);
    if (cursor->failed) {
        set_drop(all, set);
        names_drop(all, names);
        return;
    }
    struct entry *entry = entry_add(all, shape, words, set, names);
    cursor->failed |= !entry;
    if (entry) {
        entry->seen = seen;
        entry->changes = changes;
        entry->unsteady = unsteady;
    }
}

static void take_shape(struct byte_cursor *cursor, struct summaries *all)
{
    struct summary_shape id;
    id.words[0] = byte_cursor_number(cursor);
    id.words[1] = byte_cursor_number(cursor);
    const uint32_t word_count = (uint32_t)take_up_to(cursor, SUMMARY_WORDS_MOST);
    struct shape *shape =
        cursor->failed || shape_find(all, &id) ? NULL : shape_make(all, &id, word_count);
    uint32_t *words = shape ? malloc((word_count + 1) * sizeof *words) : NULL;
    cursor->failed |= !words;
    for (uint32_t i = 0; !cursor->failed && i < word_count; i++) {
        const uint64_t flags = take_up_to(cursor, STRIKES_MOST << 1 | 1);
        shape->skipped[i] = flags & 1;
        shape->strikes[i] = (uint8_t)(flags >> 1);
    }
    const uint32_t count = (uint32_t)take_up_to(cursor, SUMMARY_ENTRIES_MOST);
    for (uint32_t i = 0; !cursor->failed && i < count; i++)
        take_entry(cursor, all, shape, words);
    free(words);
}

bool summaries_read(struct summaries *all, const uint8_t *bytes, size_t count)
{
    struct byte_cursor cursor = {bytes, bytes + count, false};
    cursor.failed |= byte_cursor_number(&cursor) != FORMAT;
    const uint32_t operators = (uint32_t)take_up_to(&cursor, OPERATORS_MOST);
    for (uint32_t i = 0; !cursor.failed && i < operators; i++)
        take_operator(&cursor, all);
    const size_t shapes = byte_cursor_count(&cursor);
    for (size_t i = 0; !cursor.failed && i < shapes; i++)
        take_shape(&cursor, all);
    const bool whole = !cursor.failed && cursor.at == cursor.end;
    if (!whole)
        shapes_clear(all);
    return whole;
}
