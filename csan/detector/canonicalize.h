/* Accesses as the detector sees them: with aliases translated to first names (alias.h), and without
 * benign bytes (benign.h).
 *
 * If an op's accesses come later, the aliases and benign bytes of the moment when it was enqueued
 * apply. Where memory ends is looked up when the accesses come. */
#ifndef CSAN_DETECTOR_CANONICALIZE_H
#define CSAN_DETECTOR_CANONICALIZE_H

#include "csan/detector/alias.h"
#include "csan/detector/benign.h"
#include "csan/detector/live_memory.h"

/* Arrays that were allocated for the accesses. Must be zero before. */
struct access_rooms {
    struct csan_access *aliased;
    void *cut;
};

/* What it is done by. */
struct canonicalization {
    struct alias_table aliases;
    struct benign_table benign; /* by first names */
};

/* The program's. Not thread-safe: the context's lock covers every user. */
struct canonicalizations {
    struct canonicalization now;
    struct former_canonicalization
        *former; /* earlier states, for ops whose accesses are still to come; newest first */
};

void canonicalizations_init(struct canonicalizations *canonicalizations);
void canonicalizations_clear(struct canonicalizations *canonicalizations);
/* Call it before `now` changes. The pending ops with tickets from `first` to `last` keep the
 * present state. If memory is short, or there are very many ranges, they use the changed state
 * instead. After very many changes they use a slightly later one. */
void canonicalizations_keep(struct canonicalizations *canonicalizations, uint64_t first,
                            uint64_t last);
/* No op is pending. */
void canonicalizations_forget(struct canonicalizations *canonicalizations);
/* The state that applies to the pending op of that ticket. */
const struct canonicalization *
canonicalizations_at(const struct canonicalizations *canonicalizations, uint64_t ticket);

const struct csan_access *canonicalize_slow(const struct canonicalization *canonicalization,
                                            const struct live_memory *live,
                                            const struct csan_access *accesses, size_t *count,
                                            struct access_rooms *rooms);
void access_rooms_free_slow(const struct access_rooms *rooms);

/* Returns the same array if nothing changes, else a new one in *rooms, with *count of them. */
static inline const struct csan_access *
canonicalize(const struct canonicalization *canonicalization, const struct live_memory *live,
             const struct csan_access *accesses, size_t *count, struct access_rooms *rooms)
{
    if (__builtin_expect(
            canonicalization->aliases.second.count + canonicalization->benign.ranges.count != 0, 0))
        return canonicalize_slow(canonicalization, live, accesses, count, rooms);
    return accesses;
}

static inline void access_rooms_free(const struct access_rooms *rooms)
{
    if (__builtin_expect(rooms->aliased || rooms->cut, 0))
        access_rooms_free_slow(rooms);
}

#endif
