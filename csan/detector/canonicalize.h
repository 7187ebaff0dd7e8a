/* Accesses as the detector is to see them: by the first names of their memory (alias.h), and
 * without the bytes that the program does not want looked at (benign.h). An op whose accesses come
 * later is seen by the names, and without the bytes, of when it was enqueued; where memory ends is
 * asked when they come. */
#ifndef CSAN_DETECTOR_CANONICALIZE_H
#define CSAN_DETECTOR_CANONICALIZE_H

#include "csan/detector/alias.h"
#include "csan/detector/benign.h"
#include "csan/detector/live_memory.h"

/* What was allocated for them; all zero before. */
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
        *former; /* for ops whose accesses are still to come; newest first */
};

void canonicalizations_init(struct canonicalizations *canonicalizations);
void canonicalizations_clear(struct canonicalizations *canonicalizations);
/* Before `now` changes: the ops that are pending, of the tickets from `first` to `last`, are seen
 * as it is. Where memory is short or it has very many ranges, they are seen as it will be, and
 * after very many changes as it was a little later. */
void canonicalizations_keep(struct canonicalizations *canonicalizations, uint64_t first,
                            uint64_t last);
/* No op is pending. */
void canonicalizations_forget(struct canonicalizations *canonicalizations);
/* What the pending op of that ticket is seen by. */
const struct canonicalization *
canonicalizations_at(const struct canonicalizations *canonicalizations, uint64_t ticket);

const struct csan_access *canonicalize_slow(const struct canonicalization *canonicalization,
                                            const struct live_memory *live,
                                            const struct csan_access *accesses, size_t *count,
                                            struct access_rooms *rooms);
void access_rooms_free_slow(const struct access_rooms *rooms);

/* The same array when nothing changes, else a new one, with *count of them, in *rooms. */
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
