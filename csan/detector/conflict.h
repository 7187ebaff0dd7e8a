/* Conflicts: what the shadow finds. A conflict is a pair of accesses to one contiguous run of
 * bytes. The conflicts of one op are collected first, and joined by pair of sites, so that a report
 * names all arguments that take part. Not thread-safe: the context's lock covers every user. */
#ifndef CSAN_DETECTOR_CONFLICT_H
#define CSAN_DETECTOR_CONFLICT_H

#include "csan/base/range_map.h"
#include "csan/shadow/access_history.h"

enum { CONFLICT_ARGUMENTS = 8 }; /* named in a report; more are rare and add nothing */

struct argument_set {
    uint16_t indices[CONFLICT_ARGUMENTS];
    uint8_t count;
};

struct conflict {
    struct past_access current, earlier;
    uint64_t start, end;    /* common bytes */
    uint64_t pointer;       /* the current access's base */
    uint64_t base, bytes;   /* the allocation's range; 0, 0: none */
    const char *unpromised; /* see struct csan_race */
    uint32_t birth_site;
    struct range word; /* through which ad-hoc synchronization may order the two; else zeros */
    uint8_t kind;      /* enum csan_race_kind */
    bool possible;
    bool reported; /* with another one */
    uint8_t
        at_call; /* bit 0: the current access is on a call's own lane; bit 1: the earlier one is */
    const struct csan_error *error; /* of kinds that are no race; the list keeps a copy */
    struct argument_set current_arguments, earlier_arguments;
};

struct conflict_list {
    struct conflict *items;
    size_t count, capacity;
    bool each; /* keep each conflict apart: de-duplication is off */
};

/* Adds a conflict. One of the same two sites and the same kind is joined with it. */
void conflict_list_add(struct conflict_list *list, const struct conflict *conflict);
void conflict_list_clear(struct conflict_list *list);

/* Whether, for one op, the same call did the earlier access. */
bool conflict_same_sites(const struct conflict *a, const struct conflict *b);

#endif
