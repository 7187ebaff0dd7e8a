/* A race as it is kept: all that a report needs, made from a conflict while lanes, calls and sites
 * are as they were at that moment. Not thread-safe: the context's lock covers every user. */
#ifndef CSAN_DETECTOR_RACE_RECORD_H
#define CSAN_DETECTOR_RACE_RECORD_H

#include "csan/detector/conflict.h"
#include "csan/detector/explain.h"
#include "csan/order/order.h"
#include "csan/detector/range_history.h"
#include "csan/stack/site.h"

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

/* Which order is missing: from one lane to another, after the later one last learned of the earlier
 * one. */
struct missing_order {
    uint32_t from, to;
    uint64_t known;  /* of `from` by `to` */
    uint64_t born;   /* where that life of `to` began */
    csan_site later; /* of the access that lacks it */
    uint8_t kind;    /* enum csan_race_kind */
};

struct race_record {
    struct csan_race race;
    struct csan_race_order order;
    struct csan_error error;
    struct missing_order missing;
    uint64_t occurrences;
    uint64_t
        grouped_at; /* the number of changes, from 1, as of which the group is right; 0: not yet */
    bool suppressed, renews; /* `renews`: the next race of its sites is news */
    struct csan_race_also
        also[]; /* behind it: the text that the race points to, of lanes and arguments */
};

/* Conflicts of the same op in which the same call did the earlier access, on other lanes. */
struct also_list {
    const struct conflict *items[CSAN_ALSO_MAX];
    size_t count, total;
};

/* Returns one piece of memory, for free(). The race has no number and no group yet. NULL when
 * memory is short. */
struct race_record *race_record_create(const struct conflict *conflict,
                                       const struct also_list *also,
                                       const struct race_scene *scene);

#endif
