/* The detector: takes entries in their order, keeps happens-before, shadow memory and allocations,
 * and finds races. Everything CUDA was translated into lanes, joins and access sets before it comes
 * here. Not thread-safe: the context's lock covers every user. */
#ifndef CSAN_DETECT_H
#define CSAN_DETECT_H

#include "memory.h"
#include "queue.h"
#include "race.h"

enum { UNPROMISED_MAX = 16 }; /* calls told apart; of more nothing is said */

struct detector {
    struct detector *parent; /* of a branch: allocations are looked up and races kept there */
    struct order order;
    struct memory memory;
    struct race_log races;
    struct conflict_list conflicts; /* of the op being processed */
    struct site_table *sites;
    struct stack_depot *stacks;
    uint32_t strided_cap;
    /* The host as it would be if a call's waits were promised: one lane for each such call. */
    struct {
        const char *what;
        uint32_t lane;
    } unpromised[UNPROMISED_MAX];
    uint32_t unpromised_count;
    struct csan_stats stats; /* what is counted as it happens */
};

bool detector_init(struct detector *detector);
void detector_clear(struct detector *detector);

/* Process one entry. Handles it destroys or fills are the entry's own. */
void detector_process(struct detector *detector, struct entry *entry);
/* An entry that is not to be looked at: what it ends is freed, ops are counted. */
void detector_pass_by(struct detector *detector, struct entry *entry);

#endif
