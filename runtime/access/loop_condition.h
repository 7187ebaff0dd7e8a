/* What keeps a loop turning: the conditions under which every way out is declined, as constraints
 * on the number of the round. See loop.c, which counts rounds from it. */
#ifndef RUNTIME_ACCESS_LOOP_CONDITION_H
#define RUNTIME_ACCESS_LOOP_CONDITION_H

#include "runtime/access/evaluate.h"

enum { STAY_CONSTRAINTS = 6, STAY_CASES = FORM_CONJUNCTIONS };

/* Threads that stay by the same constraints: `always` does not change while the loop turns. */
struct stay_case {
    const struct conjunction *always; /* NULL: all threads */
    uint32_t count;
    /* In the round of the test: a * round + rest, with a < 0 where the stay is exact. */
    struct form constraints[STAY_CONSTRAINTS];
};

/* Every round but the last fulfils one of the cases. With bound EXACT it is always the same: no two
 * hold for one thread, and rounds go on as long as it does. */
struct stay {
    uint32_t count; /* 0: there is no second round */
    struct stay_case cases[STAY_CASES];
    uint8_t bound; /* not EXACT: some way out is not told by the cases */
    /* Where there is but one way out and it is told whole: what leaves by it. */
    const struct condition *leaving;
};

void stay_find(struct evaluation *e, uint32_t loop, struct stay *stay);

/* The case's threads among those of a conjunction; false: there are none. */
bool stay_case_among(struct evaluation *e, const struct stay_case *one,
                     const struct conjunction *among, const struct conjunction **both);
/* The constraint in round 0. False: it has too many terms. */
static inline bool stay_at_start(const struct loop_state *state, const struct form *constraint,
                                 struct form *at_start)
{
    struct form round = form_index(state->index, form_coefficient(constraint, state->index));
    return form_add(at_start, constraint, &round, -1);
}

/* step * round <= rest. False: the constraint has too many terms. */
static inline bool stay_rest(const struct loop_state *state, const struct form *constraint,
                             struct form *rest, int64_t *step)
{
    *step = -form_coefficient(constraint, state->index);
    return stay_at_start(state, constraint, rest);
}
/* The last round that any thread can reach; FORM_INFINITE: there is no end. */
int64_t stay_last_round(struct evaluation *e, const struct loop_state *state,
                        const struct stay *stay);

#endif
