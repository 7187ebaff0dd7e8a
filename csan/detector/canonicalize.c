/* First names, and what is benign. See canonicalize.h. */
#include "csan/detector/canonicalize.h"

#include <stdlib.h>

enum { FORMER_MAX = 64, RANGES_MAX = 1024 /* copying them takes a tenth of a millisecond */ };

/* What was true until after the op of that ticket had been enqueued. */
struct former_translation {
    uint64_t last_ticket;
    struct canonicalization translation;
    struct former_translation *next; /* older */
};

void canonicalizations_init(struct canonicalizations *translations)
{
    alias_init(&translations->now.aliases);
    benign_init(&translations->now.benign);
    translations->former = NULL;
}

static void canonicalization_clear(struct canonicalization *translation)
{
    alias_clear(&translation->aliases);
    benign_clear(&translation->benign);
}

/* From there on, the oldest. */
static void drop_from(struct former_translation **at)
{
    while (*at) {
        struct former_translation *former = *at;
        *at = former->next;
        canonicalization_clear(&former->translation);
        free(former);
    }
}

void canonicalizations_forget(struct canonicalizations *translations)
{
    drop_from(&translations->former);
}

void canonicalizations_clear(struct canonicalizations *translations)
{
    canonicalizations_forget(translations);
    canonicalization_clear(&translations->now);
}

static bool canonicalization_copy(struct canonicalization *to, const struct canonicalization *from)
{
    if (!range_map_copy(&to->aliases.second, &from->aliases.second))
        return false;
    if (range_map_copy(&to->benign.ranges, &from->benign.ranges))
        return true;
    alias_clear(&to->aliases);
    return false;
}

static bool is_large(const struct canonicalization *translation)
{
    return translation->aliases.second.count + translation->benign.ranges.count > RANGES_MAX;
}

void canonicalizations_keep(struct canonicalizations *translations, uint64_t first, uint64_t last)
{
    struct former_translation **at = &translations->former;
    if ((*at && (*at)->last_ticket == last) || is_large(&translations->now))
        return; /* nobody came since */
    struct former_translation *fresh = calloc(1, sizeof(*fresh));
    if (!fresh || !canonicalization_copy(&fresh->translation, &translations->now)) {
        free(fresh);
        return;
    }
    fresh->last_ticket = last;
    fresh->next = *at;
    *at = fresh;
    for (int kept = 0; *at && kept < FORMER_MAX && (*at)->last_ticket >= first; kept++)
        at = &(*at)->next;
    drop_from(at);
}

const struct canonicalization *canonicalizations_at(const struct canonicalizations *translations,
                                                    uint64_t ticket)
{
    const struct canonicalization *found = &translations->now;
    for (const struct former_translation *former = translations->former;
         former && former->last_ticket >= ticket; former = former->next)
        found = &former->translation;
    return found;
}

static uint64_t end_of_owner(void *user, uint64_t address)
{
    const struct live_memory *front = user;
    struct range owner;
    return live_memory_owner(front, address, &owner) ? owner.end : 0;
}

const struct csan_access *canonicalize_slow(const struct canonicalization *translation,
                                            const struct live_memory *front,
                                            const struct csan_access *accesses, size_t *count,
                                            struct access_rooms *rooms)
{
    accesses = alias_translate(&translation->aliases, accesses, count, &rooms->aliased);
    return benign_cut(&translation->benign, accesses, count, end_of_owner, (void *)front,
                      &rooms->cut);
}

void access_rooms_free_slow(const struct access_rooms *rooms)
{
    free(rooms->aliased);
    free(rooms->cut);
}
