/* From conflicts to races: what the shadow finds is grouped by op, de-duplicated by the pair of
 * sites and kept as struct csan_race until the process ends.
 *
 * A conflict is one pair of accesses on one run of bytes. The conflicts of an op are collected
 * first, so that a report names all arguments that take part. Not thread-safe: the context's lock
 * covers every user. Kept races never move, and only their group changes. */
#ifndef CSAN_RACE_H
#define CSAN_RACE_H

#include "explain.h"
#include "order.h"
#include "range_history.h"
#include "shadow.h"
#include "site.h"

enum { CONFLICT_ARGUMENTS = 8 }; /* named in a report; more are rare and add nothing */

struct argument_set {
    uint16_t indices[CONFLICT_ARGUMENTS];
    uint8_t count;
};

struct conflict {
    struct mark current, earlier;
    uint64_t start, end;    /* common bytes */
    uint64_t pointer;       /* the current access's base */
    uint64_t base, bytes;   /* the allocation's range; 0, 0: none */
    const char *unpromised; /* see struct csan_race */
    uint32_t birth_site;
    uint8_t kind; /* enum csan_race_kind */
    bool possible;
    bool reported;   /* with another one */
    uint8_t at_call; /* bit 0: the current access is of a lane of calls; bit 1: the earlier one */
    const struct csan_error *error; /* of kinds that are no race; the list keeps a copy */
    struct argument_set current_arguments, earlier_arguments;
};

struct conflict_list {
    struct conflict *items;
    size_t count, capacity;
    bool each; /* keep each conflict apart: de-duplication is off */
};

/* Add a conflict, or fold it into the one of the same two sites and the same kind. */
void conflict_list_add(struct conflict_list *list, const struct conflict *conflict);
void conflict_list_clear(struct conflict_list *list);

struct race_log {
    struct race_record **races;
    size_t count, capacity;
    size_t cleared;                  /* races before this index were cleared */
    size_t delivered;                /* ... were handed to the callback */
    struct race_pair *pairs;         /* uthash: pairs of sites already reported */
    uint64_t certain, possible;      /* races since the last clear */
    uint64_t errors;                 /* other findings since then */
    uint64_t grouped;                /* of them, listed below another one */
    uint64_t suppressed, duplicates; /* ever */
    uint64_t changes;                /* that may move a race to another group */
};

void race_log_clear_all(struct race_log *log); /* frees everything */

/* Where conflicts happen: what a report is made from. */
struct race_scene {
    const struct order *order;
    const struct steps *steps;
    const struct range_history *ranges;
    struct site_table *sites;
    struct stack_depot *stacks;
    bool in_graph, framework;
    uint64_t wall; /* see struct detector */
};

/* Report the op's conflicts, certain ones first, then forget them. */
void race_log_commit(struct race_log *log, struct conflict_list *list,
                     const struct race_scene *scene);

/* The next race not yet handed out, or NULL. */
const struct csan_race *race_log_next(struct race_log *log);
/* Sets the race's group: the first race that the same missing order explains. Call it before the
 * race is reported. */
void race_log_group(struct race_log *log, const struct csan_race *race);
/* The race is suppressed: it counts apart from the others. */
void race_log_suppress(struct race_log *log, const struct csan_race *race);
/* How often the pair of sites was met so far. */
uint64_t race_log_occurrences(const struct race_log *log, uint64_t number);
uint64_t race_log_mark(const struct race_log *log);
size_t race_log_since(const struct race_log *log, uint64_t mark, struct csan_race *races,
                      size_t capacity, bool errors_too);
void race_log_forget(struct race_log *log);

#endif
