/* Results of the summaries: what launches did as a set of accesses, and the names that an operator
 * gives them. A set counts the entries that use it. Equal texts of operators are kept once. */
#include "csan/base/array.h"
#include "csan/base/hash.h"
#include "runtime/learn/summaries_state.h"

#include <string.h>

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

const struct csan_operator *summary_operator_keep(struct summaries *all,
                                                  const struct csan_operator *what)
{
    const uint64_t hash = operator_hash(what);
    for (uint32_t i = 0; i < all->operator_count; i++)
        if (all->operators[i]->hash == hash && operator_is(&all->operators[i]->declared, what))
            return &all->operators[i]->declared;
    if (!array_room(&all->operators, all->operator_count, &all->operator_room, 64, OPERATORS_MOST,
                    sizeof(struct operator_kept *)))
        return NULL;
    struct operator_kept *kept = operator_copy(what, hash);
    if (!kept)
        return NULL;
    all->operators[all->operator_count++] = kept;
    return &kept->declared;
}

/* ---- Sets and names ---- */

static size_t set_bytes(uint32_t count, uint32_t word_count)
{
    return sizeof(struct set) + count * sizeof(struct summary_access) +
           word_count / SUMMARY_POINTER_WORDS + word_count;
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

struct set *summary_set_room(struct summaries *all, uint32_t count, uint32_t word_count)
{
    struct set *set = summaries_take(all, set_bytes(count, word_count));
    if (set) {
        set->count = count;
        set->pointers = word_count / SUMMARY_POINTER_WORDS;
        set->words = word_count;
    }
    return set;
}

void summary_set_vary(struct set *set, const uint32_t *a, const uint32_t *b)
{
    for (uint32_t i = 0; i < set->words; i++)
        summary_set_varied(set)[i] |= a[i] != b[i];
}

void summary_set_loosen(struct set *set, struct set *other)
{
    for (uint32_t i = 0; i < set->words && i < other->words; i++)
        summary_set_varied(set)[i] |= summary_set_varied(other)[i];
    for (uint32_t i = 0; i < set->pointers && i < other->pointers; i++)
        summary_set_loose(set)[i] |= summary_set_loose(other)[i];
}

struct set *summary_set_make(struct summaries *all, uint32_t word_count,
                             const struct summary_result *result)
{
    struct set *set = summary_set_room(all, result->count, word_count);
    if (!set)
        return NULL;
    set->operator_ran = result->what != NULL;
    for (uint32_t i = 0; result->loose && i < set->pointers; i++)
        summary_set_loose(set)[i] = result->loose[i] != 0;
    for (uint32_t i = 0; i < result->count; i++)
        access_copy_plain(&set->items[i], &result->accesses[i]);
    set->hash = hash_mix_bytes(set->operator_ran, set->items, set->count * sizeof *set->items);
    return set;
}

bool summary_set_is(const struct set *a, const struct set *b)
{
    return a == b ||
           (a->hash == b->hash && a->count == b->count && a->operator_ran == b->operator_ran &&
            memcmp(a->items, b->items, a->count * sizeof *a->items) == 0);
}

void summary_set_drop(struct summaries *all, struct set *set)
{
    if (set && (!set->users || !--set->users))
        summaries_give(all, set, set_bytes(set->count, set->words));
}

struct names *summary_names_make(struct summaries *all, const struct summary_result *result)
{
    const struct csan_operator *what =
        result->what ? summary_operator_keep(all, result->what) : NULL;
    struct names *names = what ? summaries_take(all, summary_names_bytes(result->count)) : NULL;
    if (!names)
        return NULL;
    names->what = what;
    names->count = result->count;
    for (uint32_t i = 0; i < result->count; i++)
        names->arguments[i] = result->accesses[i].argument;
    return names;
}

void summary_names_drop(struct summaries *all, struct names *names)
{
    if (names)
        summaries_give(all, names, summary_names_bytes(names->count));
}

bool summary_names_are(const struct names *a, const struct names *b)
{
    return a && b && a->what == b->what && a->count == b->count &&
           memcmp(a->arguments, b->arguments, a->count * sizeof *a->arguments) == 0;
}

/* ---- Whether one result holds another ---- */

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
