/* Words of the summaries' keys: they leave when many of their values have one result, and come back
 * when a result differs. See summaries.h. */
#include "runtime/learn/summaries_state.h"

#include <string.h>

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
        if (other->set != newest->set || summary_entry_is_doubted(other) ||
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
            if ((a->set != b->set || summary_entry_is_doubted(a) || summary_entry_is_doubted(b)) &&
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
    a->changes = a->changes > b->changes ? a->changes : b->changes;
    a->seen = a->seen + b->seen < SEEN_MOST ? a->seen + b->seen : SEEN_MOST;
    if (a->several || b->several || !summary_names_are(a->names, b->names)) {
        summary_names_drop(all, a->names);
        a->names = NULL;
        a->several = true;
    }
    summary_entry_remove(all, shape, second);
}

static void words_leave(struct summaries *all, struct shape *shape, const uint8_t *leaving,
                        enum skipped how)
{
    all->version++;
    for (uint32_t i = 0; i < shape->word_count; i++)
        if (leaving[i] && shape->skipped[i] < how)
            shape->skipped[i] = (uint8_t)how;
    summary_skipped_changed(shape);
    for (uint32_t i = 0; i < shape->entry_count; i++)
        shape->entries[i].hash = summary_words_hash(shape, shape->entries[i].words);
    for (uint32_t i = 0; i < shape->entry_count; i++)
        for (uint32_t k = shape->entry_count - 1; k > i; k--)
            if (summary_words_agree(shape, shape->entries[i].words, shape->entries[k].words))
                entries_merge(all, shape, i, k);
}

/* What nobody set in one launch of a kernel is set in none: such words leave at once. False: they
 * may not, or there are none. */
static bool unset_leave(struct summaries *all, struct shape *shape, const uint32_t *words,
                        uint8_t *leaving)
{
    bool any = false;
    memset(leaving, 0, shape->word_count);
    for (uint32_t i = 1; i < shape->word_count; i++) {
        if (words[i] != SUMMARY_UNSET_WORD || words[i - 1] || shape->strikes[i] ||
            shape->strikes[i - 1])
            continue;
        any |= shape->skipped[i] != LEFT_FOR_ALL || shape->skipped[i - 1] != LEFT_FOR_ALL;
        leaving[i] = leaving[i - 1] = 1;
    }
    if (!any || results_would_meet(shape, leaving))
        return false;
    words_leave(all, shape, leaving, LEFT_FOR_ALL);
    return true;
}

void summary_shape_reduce(struct summaries *all, struct shape *shape, const struct entry *newest)
{
    uint8_t *leaving = malloc(shape->word_count + 1);
    if (!leaving)
        return;
    if (unset_leave(all, shape, newest->words, leaving)) { /* it may be another one's by now */
        free(leaving);
        return;
    }
    const uint32_t count = group_differences(shape, newest, leaving);
    const uint32_t needed = values_needed(all, shape, leaving);
    if (count >= all->limits.values && needed && count >= needed &&
        !results_would_meet(shape, leaving))
        words_leave(all, shape, leaving, LEFT_BY_VALUES);
    free(leaving);
}

bool summary_words_return(struct shape *shape, const struct entry *entry, const uint32_t *words)
{
    bool any = false;
    for (uint32_t i = 0; i < shape->word_count; i++) {
        if (!shape->skipped[i] || entry->words[i] == words[i])
            continue;
        shape->skipped[i] = 0;
        shape->strikes[i] += shape->strikes[i] < STRIKES_MOST;
        any = true;
    }
    summary_skipped_changed(shape);
    for (uint32_t i = 0; any && i < shape->entry_count; i++) {
        struct entry *each = &shape->entries[i];
        each->hash = summary_words_hash(shape, each->words);
        each->seen = each->seen ? 1 : 0;
    }
    return any;
}

/* ---- Words that operators shift ---- */

void summary_shifts_forget(struct shape *shape)
{
    memset(shape->shifts, 0, shape->word_count);
    shape->shifting = false;
}

/* Whether that word was the same in a launch with its operator. */
static bool word_was_seen(const struct shape *shape, uint32_t word, uint32_t value)
{
    for (uint32_t i = 0; i < shape->entry_count; i++)
        if (shape->entries[i].words[word] == value)
            return true;
    return false;
}

/* Whether the launch differs from that entry in words alone that operators may shift. */
static bool may_be_shifted(const struct shape *shape, const struct entry *entry,
                           const uint32_t *words)
{
    for (uint32_t i = 0; i < shape->word_count; i++)
        if (summary_word_differs(shape, entry, words, i) &&
            (word_was_seen(shape, i, words[i]) ||
             summary_shape_starts_from(shape, i / SUMMARY_POINTER_WORDS)))
            return false;
    return true;
}

static bool word_differs(const struct shape *shape, const struct entry *entry,
                         const uint32_t *words, uint32_t i)
{
    return i < shape->word_count && summary_word_differs(shape, entry, words, i);
}

/* Counts what differs; sets `leaving` of those that did so often enough. Whether they are all. Of
 * eight bytes that nobody set, one half may differ one time and the other half the next. */
static bool shifts_count(struct shape *shape, const struct entry *entry, const uint32_t *words,
                         uint8_t *leaving)
{
    bool all = true;
    for (uint32_t i = 0; i < shape->word_count; i++) {
        const bool differs = word_differs(shape, entry, words, i);
        if (differs)
            shape->shifts[i] += shape->shifts[i] < SHIFTS;
        else if (!word_differs(shape, entry, words, i ^ 1))
            shape->shifts[i] = 0;
        leaving[i] = shape->shifts[i] >= SHIFTS;
        all = all && (!differs || leaving[i]);
    }
    shape->shifting = true;
    shape->confirmed = 0;
    return all;
}

bool summaries_missed(struct summaries *all, const struct summary_key *key)
{
    struct shape *shape = summary_shape_find(all, &key->shape);
    uint32_t differing = 0;
    if (!shape || shape->word_count != key->word_count || shape->confirmed < all->limits.launches)
        return false;
    all->version++;
    const struct entry *entry = summary_entry_nearest(shape, key->words, &differing);
    if (!entry || !differing || differing > SHIFT_WORDS_MOST ||
        !may_be_shifted(shape, entry, key->words)) {
        summary_shifts_forget(shape);
        return false;
    }
    uint8_t *leaving = calloc(1, shape->word_count);
    const bool leave = leaving && shifts_count(shape, entry, key->words, leaving) &&
                       !results_would_meet(shape, leaving);
    if (leave) {
        words_leave(all, shape, leaving, LEFT_FOR_ALL);
        summary_shifts_forget(shape);
    }
    free(leaving);
    return leave;
}
