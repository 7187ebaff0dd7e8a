/* Conditions to continue a loop. See loop_condition.h.
 *
 * Take an exit that every round tests, and whose condition to continue is a constraint a * round +
 * rest >= 0 with a < 0. If the loop did not leave by it in round r - 1, it did not in any earlier
 * round. Where a counter starts at one of several forms, the condition is a choice of such
 * constraints, each for threads of its own. */
#include "runtime/access/loop_condition.h"

/* ---- One conjunction of a condition ---- */

/* Splits it into what changes with the round and what does not. A constraint that only weakens is
 * as good as that of round 0. False: it changes in another way, or has too many parts. */
static bool case_of(struct evaluation *e, const struct loop_state *state,
                    const struct conjunction *when, struct loop_condition_case *one, bool *possible)
{
    struct conjunction *always = conjunction_new(e->pool, NULL);
    bool exact = true;
    one->count = 0;
    *possible = true;
    for (uint32_t i = 0; i < when->count && *possible; i++) {
        struct affine_form constraint = *when->constraints[i];
        if (form_bends(e, &constraint, state->index))
            return false;
        if (affine_coefficient(&constraint, state->index) < 0) {
            if (affine_interval(&constraint, &e->indices).high < 0)
                *possible = false; /* not even in round 0 */
            else if (one->count == LOOP_CONDITION_CONSTRAINTS)
                return false;
            else
                one->constraints[one->count++] = constraint;
        } else {
            if (!loop_condition_at_start(state, &constraint, &constraint))
                return false;
            *possible = conjunction_add(always, &constraint, &e->indices, e->pool, &exact);
        }
    }
    one->always = always->count ? always : NULL;
    return exact;
}

/* What is the same in all rounds. */
static const struct conjunction *fixed_part(struct evaluation *e, const struct loop_state *state,
                                            const struct conjunction *when)
{
    struct conjunction *fixed = conjunction_new(e->pool, NULL);
    for (uint32_t i = 0; i < when->count; i++)
        if (!affine_coefficient(when->constraints[i], state->index) &&
            !form_bends(e, when->constraints[i], state->index))
            fixed->constraints[fixed->count++] = when->constraints[i];
    return fixed;
}

/* Whether a part of it, known only by its bounds, is another value in each round: then what held
 * in the round before says nothing of this. A quotient or remainder is if what was divided is. */
static bool is_of_the_round(const struct evaluation *e, uint32_t loop,
                            const struct affine_form *form)
{
    for (uint32_t i = 0; i < form->count; i++) {
        const struct index_range *range = &e->indices.ranges[form->terms[i].index];
        if (range->bound && range->loop && value_graph_loop_contains(e->graph, loop, range->loop))
            return true;
    }
    for (uint32_t d = 0; d < e->indices.division_count; d++) {
        const struct division *division = &e->indices.divisions[d];
        if ((affine_coefficient(form, division->quotient) ||
             affine_coefficient(form, division->remainder)) &&
            is_of_the_round(e, loop, &division->form))
            return true;
    }
    return false;
}

/* What of it holds in the last round before, whatever held in those before that: never less than
 * the conjunction. */
static void loose_case_of(struct evaluation *e, uint32_t loop, const struct conjunction *when,
                          struct loop_condition_case *one, bool *possible)
{
    const struct loop_state *state = e->loops[loop];
    struct conjunction *always = conjunction_new(e->pool, NULL);
    bool exact = true;
    one->count = 0;
    *possible = true;
    for (uint32_t i = 0; i < when->count && *possible; i++) {
        const struct affine_form *constraint = when->constraints[i];
        int64_t coefficient = affine_coefficient(constraint, state->index);
        if (affine_interval(constraint, &e->indices).high < 0)
            *possible = false;
        else if (form_bends(e, constraint, state->index) || is_of_the_round(e, loop, constraint))
            continue;
        else if (coefficient == 0)
            *possible = conjunction_add(always, constraint, &e->indices, e->pool, &exact);
        else if (coefficient != 0 && one->count < LOOP_CONDITION_CONSTRAINTS)
            one->constraints[one->count++] = *constraint;
    }
    one->always = always->count ? always : NULL;
}

bool loop_condition_case_among(struct evaluation *e, const struct loop_condition_case *one,
                               const struct conjunction *among, const struct conjunction **both)
{
    bool exact = true;
    return when_both(e, among, one->always, both, &exact);
}

/* ---- i != n ---- */

static const struct affine_form *only_varying(const struct loop_state *state,
                                              const struct conjunction *when)
{
    const struct affine_form *found = NULL;
    for (uint32_t i = 0; i < when->count; i++) {
        if (!affine_coefficient(when->constraints[i], state->index))
            continue;
        if (found)
            return NULL;
        found = when->constraints[i];
    }
    return found;
}

static bool same_but(const struct conjunction *a, const struct affine_form *without_a,
                     const struct conjunction *b, const struct affine_form *without_b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        bool there = a->constraints[i] == without_a;
        for (uint32_t k = 0; k < b->count && !there; k++)
            there = b->constraints[k] != without_b &&
                    affine_equal(a->constraints[i], b->constraints[k]);
        if (!there)
            return false;
    }
    return true;
}

/* Whether distance - step * round, at least 0 at first for the case's threads, becomes exactly 0.
 */
static bool reaches_zero(struct evaluation *e, const struct loop_state *state,
                         const struct affine_form *distance, int64_t step,
                         const struct conjunction *among)
{
    struct affine_form first;
    if (!loop_condition_at_start(state, distance, &first))
        return false;
    if (step != 1 && first.constant % step)
        return false;
    for (uint32_t i = 0; step != 1 && i < first.count; i++)
        if (first.terms[i].coefficient % step)
            return false;
    for (uint32_t c = 0; c < state->entry.when.count; c++) {
        const struct conjunction *both;
        bool exact = true;
        if (when_both(e, state->entry.when.items[c], among, &both, &exact) &&
            (!both || !conjunction_implies(both, &first, &e->indices)) &&
            affine_interval(&first, &e->indices).low < 0)
            return false; /* it might start beyond, and would wrap around */
    }
    return true;
}

/* Two conjunctions that say "below or above": staying means to be on the side it starts on, when
 * the counter cannot step over the end. */
static bool case_of_two(struct evaluation *e, const struct loop_state *state,
                        const struct conjunction *a, const struct conjunction *b,
                        struct loop_condition_case *one)
{
    const struct affine_form *below = only_varying(state, a), *above = only_varying(state, b);
    struct affine_form sum;
    if (!below || !above || !same_but(a, below, b, above) || !affine_add(&sum, below, above, 1) ||
        !affine_is_constant(&sum) || sum.constant != -2)
        return false;
    const struct affine_form *ends = affine_coefficient(below, state->index) < 0 ? below : above;
    int64_t step = -affine_coefficient(ends, state->index);
    struct affine_form distance;
    affine_scale(&distance, ends, 1, 1);
    bool possible;
    if (step <= 0 || !case_of(e, state, ends == below ? a : b, one, &possible))
        return false;
    return possible && one->count == 1 && reaches_zero(e, state, &distance, step, one->always);
}

/* ---- The last round ---- */

/* Of the threads of a conjunction. */
static int64_t last_round_among(struct evaluation *e, const struct loop_state *state,
                                const struct loop_condition_case *one,
                                const struct conjunction *among)
{
    int64_t last = AFFINE_INFINITE;
    for (uint32_t i = 0; i < one->count; i++) {
        struct affine_form rest;
        int64_t step;
        if (!loop_condition_rest(state, &one->constraints[i], &rest, &step) || step <= 0)
            continue;
        struct piece piece = {among, &rest, BASE_NONE, ACCESS_EXACT};
        int64_t high = piece_interval(e, &piece).high;
        int64_t own = high >= AFFINE_INFINITE ? AFFINE_INFINITE : high < 0 ? 0 : high / step + 1;
        last = own < last ? own : last;
    }
    return last;
}

static int64_t last_round_of(struct evaluation *e, const struct loop_state *state,
                             const struct loop_condition_case *one)
{
    int64_t last = 0;
    for (uint32_t c = 0; c < state->entry.when.count; c++) {
        const struct conjunction *among;
        if (!loop_condition_case_among(e, one, state->entry.when.items[c], &among))
            continue;
        int64_t own = last_round_among(e, state, one, among);
        last = own > last ? own : last;
    }
    return last;
}

int64_t loop_condition_last_round(struct evaluation *e, const struct loop_state *state,
                                  const struct loop_condition *conditions)
{
    int64_t last = 0;
    for (uint32_t i = 0; i < conditions->count; i++) {
        int64_t own = last_round_of(e, state, &conditions->cases[i]);
        last = own > last ? own : last;
    }
    return last;
}

/* ---- Ways out ---- */

static bool ever_entered(struct evaluation *e, const struct loop_state *state,
                         const struct loop_condition_case *one)
{
    const struct conjunction *among;
    for (uint32_t c = 0; c < state->entry.when.count; c++)
        if (loop_condition_case_among(e, one, state->entry.when.items[c], &among))
            return true;
    return false;
}

/* Whether no thread can be in both parts, be it in different rounds: a thread that starts by one
 * might otherwise go on by the other, though that did not hold at first. */
static bool exclusive(struct evaluation *e, const struct loop_state *state,
                      const struct conjunction *a, const struct conjunction *b)
{
    const struct conjunction *both;
    bool exact = true;
    return !when_both(e, fixed_part(e, state, a), fixed_part(e, state, b), &both, &exact);
}

/* The cases in which a condition holds round after round; false: they are not known. */
static bool cases_of(struct evaluation *e, const struct loop_state *state,
                     const struct disjunction *staying,
                     struct loop_condition_case cases[LOOP_CONDITION_CASES], uint32_t *count)
{
    uint32_t pair[AFFINE_CONJUNCTIONS] = {0}; /* that one is the other side of it, plus one */
    *count = 0;
    for (uint32_t i = 0; i < staying->count; i++) {
        bool possible = true, paired = false;
        for (uint32_t k = i + 1; k < staying->count && !pair[i] && !paired; k++) {
            if (pair[k] ||
                !case_of_two(e, state, staying->items[i], staying->items[k], &cases[*count]))
                continue;
            pair[k] = i + 1;
            paired = true;
        }
        if (pair[i])
            continue;
        if (!paired && !case_of(e, state, staying->items[i], &cases[*count], &possible))
            return false;
        *count += possible && ever_entered(e, state, &cases[*count]);
    }
    for (uint32_t i = 0; i < staying->count; i++)
        for (uint32_t k = i + 1; k < staying->count; k++)
            if (pair[k] != i + 1 && !exclusive(e, state, staying->items[i], staying->items[k]))
                return false;
    return true;
}

/* The cases of which one holds in the round before, if any round follows. */
static void loose_cases_of(struct evaluation *e, uint32_t loop, const struct disjunction *staying,
                           struct loop_condition_case cases[LOOP_CONDITION_CASES], uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < staying->count; i++) {
        bool possible;
        loose_case_of(e, loop, staying->items[i], &cases[*count], &possible);
        *count += possible && ever_entered(e, e->loops[loop], &cases[*count]);
    }
}

/* Both a case of the ways out before and one of this. */
static bool add_both(struct evaluation *e, struct loop_condition *conditions,
                     const struct loop_condition_case *a, const struct loop_condition_case *b)
{
    const struct conjunction *both;
    if (!loop_condition_case_among(e, a, b->always, &both))
        return true;
    if (conditions->count == LOOP_CONDITION_CASES ||
        a->count + b->count > LOOP_CONDITION_CONSTRAINTS)
        return false;
    struct loop_condition_case *one = &conditions->cases[conditions->count++];
    *one = *a;
    one->always = both;
    for (uint32_t i = 0; i < b->count; i++)
        one->constraints[one->count++] = b->constraints[i];
    return true;
}

/* False: there is no room for all. */
static bool add_cases(struct evaluation *e, struct loop_condition *conditions,
                      const struct loop_condition_case *cases, uint32_t count)
{
    struct loop_condition before = *conditions;
    conditions->count = 0;
    for (uint32_t i = 0; i < before.count; i++)
        for (uint32_t k = 0; k < count; k++)
            if (!add_both(e, conditions, &before.cases[i], &cases[k])) {
                *conditions = before;
                return false;
            }
    return true;
}

/* Returns why the number of rounds is not exact. */
static uint8_t add_way_out(struct evaluation *e, uint32_t loop, struct loop_condition *conditions,
                           const struct condition *staying)
{
    struct loop_condition_case cases[LOOP_CONDITION_CASES] = {0};
    uint32_t count;
    if (!staying->bound && cases_of(e, e->loops[loop], &staying->when, cases, &count) &&
        add_cases(e, conditions, cases, count))
        return ACCESS_EXACT;
    loose_cases_of(e, loop, &staying->when, cases, &count);
    add_cases(e, conditions, cases, count);
    return staying->bound ? staying->bound : ACCESS_BOUND_SHAPE;
}

static void collect_way_out(struct evaluation *e, uint32_t loop,
                            const struct value_graph_edge *exit, struct loop_condition *conditions)
{
    const struct value_graph *graph = e->graph;
    const struct value_graph_block *block = &graph->blocks[exit->block];
    const struct value_graph_block *head = &graph->blocks[graph->loops[loop].head];
    bool always_tested = block->loop == loop && !block->guard_unknown;
    for (uint32_t w = graph->loops[loop].outside_ways; w < head->way_count; w++)
        always_tested &= value_graph_dominates(graph, exit->block, head->ways[w].block);
    if (!always_tested || !block->guard) {
        conditions->bound = bound_worst(conditions->bound, ACCESS_BOUND_GUARD);
        return;
    }
    const struct predicate *guard = evaluate_predicate(e, block->guard);
    bool continues_on_yes = exit->taken == block->guard_negated;
    const struct condition *staying = continues_on_yes ? &guard->yes : &guard->no;
    const struct condition *leaving = continues_on_yes ? &guard->no : &guard->yes;
    uint8_t why = add_way_out(e, loop, conditions, staying);
    conditions->bound = bound_worst(conditions->bound, why);
    if (!why && graph->loops[loop].exit_count == 1 && !leaving->bound)
        conditions->leaving = leaving;
}

void loop_condition_find(struct evaluation *e, uint32_t loop, struct loop_condition *conditions)
{
    const struct value_graph_loop *at = &e->graph->loops[loop];
    conditions->count = 1;
    conditions->cases[0] = (struct loop_condition_case){.always = NULL, .count = 0};
    conditions->bound = ACCESS_EXACT;
    conditions->leaving = NULL;
    for (uint32_t i = 0; i < at->exit_count; i++)
        collect_way_out(e, loop, &at->exits[i], conditions);
}
