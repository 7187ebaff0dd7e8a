/* What keeps a loop turning: the conditions under which no exit is taken, as constraints on the
 * number of the round. loop.c counts rounds by them. */
#ifndef RUNTIME_ACCESS_LOOP_CONDITION_H
#define RUNTIME_ACCESS_LOOP_CONDITION_H

#include "runtime/access/evaluate.h"

enum { LOOP_CONDITION_CONSTRAINTS = 6, LOOP_CONDITION_CASES = AFFINE_CONJUNCTIONS };

/* Threads that continue by the same constraints: `always` does not change while the loop runs. */
struct loop_condition_case {
    const struct conjunction *always; /* NULL: all threads */
    uint32_t count;
    /* In the round of the test: a * round + rest, with a < 0 if the condition is exact. */
    struct affine_form constraints[LOOP_CONDITION_CONSTRAINTS];
};

/* Every round but the last fulfils one of the cases. With bound EXACT it is always the same: no two
 * hold for one thread, and rounds go on as long as it does. */
struct loop_condition {
    uint32_t count; /* 0: there is no second round */
    struct loop_condition_case cases[LOOP_CONDITION_CASES];
    uint8_t bound; /* not EXACT: the cases do not describe some exit */
    /* If there is only one exit and it is known exactly: the condition to leave by it. */
    const struct condition *leaving;
};

void loop_condition_find(struct evaluation *e, uint32_t loop, struct loop_condition *conditions);

/* The case's threads among those of a conjunction; false: there are none. */
bool loop_condition_case_among(struct evaluation *e, const struct loop_condition_case *one,
                               const struct conjunction *among, const struct conjunction **both);
/* The constraint in round 0. False: it has too many terms. */
static inline bool loop_condition_at_start(const struct loop_state *state,
                                           const struct affine_form *constraint,
                                           struct affine_form *at_start)
{
    struct affine_form round =
        affine_index(state->index, affine_coefficient(constraint, state->index));
    return affine_add(at_start, constraint, &round, -1);
}

/* step * round <= rest. False: the constraint has too many terms. */
static inline bool loop_condition_rest(const struct loop_state *state,
                                       const struct affine_form *constraint,
                                       struct affine_form *rest, int64_t *step)
{
    *step = -affine_coefficient(constraint, state->index);
    return loop_condition_at_start(state, constraint, rest);
}
/* The last round that any thread can reach; AFFINE_INFINITE: there is no limit. */
int64_t loop_condition_last_round(struct evaluation *e, const struct loop_state *state,
                                  const struct loop_condition *conditions);

#endif
