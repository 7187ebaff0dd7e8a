/* Translates aliases and removes benign bytes. See canonicalize.h. */
#include "csan/detector/canonicalize.h"

#include <stdlib.h>

enum { FORMER_MAX = 64, RANGES_MAX = 1024 /* copying them takes a tenth of a millisecond */ };

/* What was true until after the op of that ticket had been enqueued. */
struct former_canonicalization {
    uint64_t last_ticket;
    struct canonicalization canonicalization;
    struct former_canonicalization *next; /* older */
};

void canonicalizations_init(struct canonicalizations *canonicalizations)
{
    alias_init(&canonicalizations->now.aliases);
    benign_init(&canonicalizations->now.benign);
    canonicalizations->former = NULL;
}

static void canonicalization_clear(struct canonicalization *canonicalization)
{
    alias_clear(&canonicalization->aliases);
    benign_clear(&canonicalization->benign);
}

/* From there on, the oldest. */
static void drop_from(struct former_canonicalization **at)
{
    while (*at) {
        struct former_canonicalization *former = *at;
        *at = former->next;
        canonicalization_clear(&former->canonicalization);
        free(former);
    }
}

void canonicalizations_forget(struct canonicalizations *canonicalizations)
{
    drop_from(&canonicalizations->former);
}

void canonicalizations_clear(struct canonicalizations *canonicalizations)
{
    canonicalizations_forget(canonicalizations);
    canonicalization_clear(&canonicalizations->now);
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

static bool is_large(const struct canonicalization *canonicalization)
{
    return canonicalization->aliases.second.count + canonicalization->benign.ranges.count >
           RANGES_MAX;
}

void canonicalizations_keep(struct canonicalizations *canonicalizations, uint64_t first,
                            uint64_t last)
{
    struct former_canonicalization **at = &canonicalizations->former;
    if ((*at && (*at)->last_ticket == last) || is_large(&canonicalizations->now))
        return; /* nobody came since */
    struct former_canonicalization *fresh = calloc(1, sizeof(*fresh));
    if (!fresh || !canonicalization_copy(&fresh->canonicalization, &canonicalizations->now)) {
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

const struct canonicalization *
canonicalizations_at(const struct canonicalizations *canonicalizations, uint64_t ticket)
{
    const struct canonicalization *found = &canonicalizations->now;
    for (const struct former_canonicalization *former = canonicalizations->former;
         former && former->last_ticket >= ticket; former = former->next)
        found = &former->canonicalization;
    return found;
}

static uint64_t end_of_owner(void *user, uint64_t address)
{
    const struct live_memory *live = user;
    struct range owner;
    return live_memory_owner(live, address, &owner) ? owner.end : 0;
}

const struct csan_access *canonicalize_slow(const struct canonicalization *canonicalization,
                                            const struct live_memory *live,
                                            const struct csan_access *accesses, size_t *count,
                                            struct access_rooms *rooms)
{
    accesses = alias_canonicalize(&canonicalization->aliases, accesses, count, &rooms->aliased);
    return benign_cut(&canonicalization->benign, accesses, count, end_of_owner, (void *)live,
                      &rooms->cut);
}

void access_rooms_free_slow(const struct access_rooms *rooms)
{
    free(rooms->aliased);
    free(rooms->cut);
}
