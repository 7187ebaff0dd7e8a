/* How often loops turn. See evaluate.h.
 *
 * A loop's index numbers its rounds from 0: round r runs when the head was entered and, for r > 0,
 * every way out was declined in the rounds before (loop_condition.h). Ways out that depend on data
 * bound nothing; then rounds that may not run are counted in, and what they touch is not exact. */
#include "runtime/access/loop_condition.h"

#include <string.h>

/* ---- The range of rounds in which counters do not wrap ---- */

static void limit_rounds(struct evaluation *e, const struct node *node, uint32_t width,
                         int64_t step, int64_t *limit)
{
    if (step == 0)
        return;
    const struct value *before = evaluate_node(e, node->a);
    int64_t size = (int64_t)1 << (width < 60 ? width : 60);
    for (uint32_t p = 0; p < before->count; p++) {
        struct interval start = piece_interval(e, &before->pieces[p]);
        int64_t top = start.high < size / 2 ? size / 2 - 1 : size - 1;
        int64_t bottom = start.high < size / 2 ? -(size / 2) : 0;
        /* also the value after that round, which the test reads */
        int64_t room = (step > 0 ? (top - start.high) / step : (start.low - bottom) / -step) - 1;
        if (!interval_is_finite(start) || room < 0)
            room = 0;
        if (room < *limit)
            *limit = room;
    }
}

/* The rounds in which no counter that the predicate is made of leaves its width, or the `width` to
 * which it is cut on the way. `seen`: what was looked at, as it is and cut. */
static void limit_by(struct evaluation *e, uint32_t loop, uint32_t from, uint32_t width,
                     uint8_t *seen[2], int64_t *limit)
{
    const struct node *at = &e->graph->nodes[from];
    if (!at->loop || !value_graph_loop_contains(e->graph, loop, at->loop) || evaluate_is_deep(e) ||
        !node_set_add(seen[width < 64], from))
        return;
    if (at->kind == NODE_OPERATION && at->operation == NODE_TRUNCATE && at->width < width)
        width = at->width;
    if (at->kind == NODE_LOOP && at->loop == loop) {
        struct affine_form round = affine_index(e->loops[loop]->index, 1);
        const struct value *value = evaluate_node(e, from);
        for (uint32_t p = 0; p < value->count; p++)
            limit_rounds(e, at, at->width < width ? at->width : width,
                         affine_coefficient(value->pieces[p].form, round.terms[0].index), limit);
        return;
    }
    if (at->a)
        limit_by(e, loop, at->a, width, seen, limit);
    if (at->b && at->kind == NODE_OPERATION)
        limit_by(e, loop, at->b, width, seen, limit);
    if (at->c && at->kind == NODE_OPERATION)
        limit_by(e, loop, at->c, width, seen, limit);
}

/* Of all ways out. */
static int64_t last_without_wrap(struct evaluation *e, uint32_t loop)
{
    const struct value_graph_loop *at = &e->graph->loops[loop];
    int64_t limit = AFFINE_INFINITE - 1;
    uint8_t *seen[2] = {node_set_new(e), node_set_new(e)};
    for (uint32_t i = 0; i < at->exit_count; i++) {
        const struct value_graph_block *block = &e->graph->blocks[at->exits[i].block];
        if (block->loop == loop && block->guard)
            limit_by(e, loop, block->guard, 64, seen, &limit);
    }
    return limit;
}

/* ---- Rounds ---- */

static struct condition first_round(struct evaluation *e, const struct loop_state *state)
{
    struct condition first = state->entry;
    struct affine_form zero = affine_index(state->index, -1);
    struct disjunction is_first = disjunction_of(&zero, &e->indices, e->pool);
    bool exact = true;
    first.when = disjunction_and(&first.when, &is_first, &e->indices, e->pool, &exact);
    if (!exact)
        first.bound = bound_worst(first.bound, ACCESS_BOUND_SHAPE);
    return first;
}

/* A round of the case after the first: every test of the round before said so. `with_first`: that
 * holds in round 0 as well. */
static bool later_rounds(struct evaluation *e, const struct loop_state *state,
                         const struct loop_condition_case *one, struct disjunction *rounds,
                         bool *with_first, bool *exact)
{
    struct conjunction *more = conjunction_new(e->pool, one->always);
    *with_first = true;
    for (uint32_t i = 0; i < one->count; i++) {
        struct affine_form constraint = one->constraints[i], at_start;
        constraint.constant -= affine_coefficient(&constraint, state->index);
        if (!loop_condition_at_start(state, &constraint, &at_start)) {
            *exact = false;
            continue;
        }
        for (uint32_t c = 0; c < state->entry.when.count; c++) {
            const struct conjunction *among;
            if (loop_condition_case_among(e, one, state->entry.when.items[c], &among))
                *with_first &= affine_interval(&at_start, &e->indices).low >= 0 ||
                               (among && conjunction_implies(among, &at_start, &e->indices));
        }
        if (!conjunction_add(more, &constraint, &e->indices, e->pool, exact))
            return false;
    }
    struct affine_form positive = affine_index(state->index, 1);
    positive.constant = -1;
    if (!*with_first && !conjunction_add(more, &positive, &e->indices, e->pool, exact))
        return false;
    rounds->count = 0;
    rounds->items[rounds->count++] = more;
    *rounds = disjunction_and(&state->entry.when, rounds, &e->indices, e->pool, exact);
    return true;
}

/* The head runs in the first round, and in those that some case makes. */
static struct condition header_condition(struct evaluation *e, const struct loop_state *state,
                                         const struct loop_condition *conditions)
{
    struct condition result = first_round(e, state);
    struct disjunction all = disjunction_never(), cover = disjunction_never();
    bool exact = true, all_with_first = true;
    for (uint32_t i = 0; i < conditions->count; i++) {
        struct disjunction rounds, threads = disjunction_never();
        bool with_first;
        if (!later_rounds(e, state, &conditions->cases[i], &rounds, &with_first, &exact))
            continue;
        all = disjunction_or(&all, &rounds, &e->indices, e->pool, &exact);
        all_with_first &= with_first;
        threads.items[threads.count++] = conjunction_new(e->pool, conditions->cases[i].always);
        cover = disjunction_or(&cover, &threads, &e->indices, e->pool, &exact);
    }
    if (all_with_first && disjunction_is_always(&cover))
        result.when = all;
    else
        result.when = disjunction_or(&result.when, &all, &e->indices, e->pool, &exact);
    result.bound = bound_worst(state->entry.bound, conditions->bound);
    if (!exact)
        result.bound = bound_worst(result.bound, ACCESS_BOUND_SHAPE);
    return result;
}

/* The threads that leave in the first round have made none before. */
static bool leave_at_start(struct evaluation *e, const struct loop_state *state,
                           const struct disjunction *leaving, struct maker *maker)
{
    struct affine_form zero = affine_constant(0);
    for (uint32_t c = 0; c < leaving->count; c++) {
        struct conjunction *when = conjunction_new(e->pool, NULL);
        bool exact = true, possible = true;
        for (uint32_t i = 0; i < leaving->items[c]->count && possible; i++) {
            struct affine_form constraint = *leaving->items[c]->constraints[i];
            if (form_bends(e, &constraint, state->index) ||
                !loop_condition_at_start(state, &constraint, &constraint))
                return false;
            possible = conjunction_add(when, &constraint, &e->indices, e->pool, &exact);
        }
        if (!exact)
            return false;
        if (possible)
            maker_put(e, maker, when->count ? when : NULL, &zero, BASE_NONE, ACCESS_EXACT);
    }
    return true;
}

/* The threads of a case leave in the first round that its constraint forbids. */
static bool leave_case(struct evaluation *e, const struct loop_state *state,
                       const struct loop_condition_case *one, struct maker *maker)
{
    struct affine_form rest;
    int64_t step;
    const struct conjunction *when;
    bool exact = true;
    if (one->count != 1 || !loop_condition_rest(state, &one->constraints[0], &rest, &step))
        return false;
    if (!when_also(e, one->always, &rest, &when, &exact))
        return true;
    struct piece piece = {when, &rest, BASE_NONE, ACCESS_EXACT};
    struct maker quotients = maker_start();
    divide_piece(e, &quotients, &piece, step, false);
    const struct value *quotient = maker_finish(e, &quotients);
    for (uint32_t p = 0; p < quotient->count; p++) {
        struct affine_form next;
        affine_scale(&next, quotient->pieces[p].form, 1, 1);
        maker_put(e, maker, quotient->pieces[p].when, &next, BASE_NONE,
                  exact ? quotient->pieces[p].bound : ACCESS_BOUND_SHAPE);
    }
    return true;
}

/* How many rounds were made when the loop is left. NULL: not known. */
static const struct value *rounds_at_exit(struct evaluation *e, const struct loop_state *state,
                                          const struct loop_condition *conditions)
{
    struct maker maker = maker_start();
    if (!conditions->count)
        return value_constant(e, 0);
    if (!conditions->leaving || conditions->bound ||
        !leave_at_start(e, state, &conditions->leaving->when, &maker))
        return NULL;
    for (uint32_t i = 0; i < conditions->count; i++)
        if (!leave_case(e, state, &conditions->cases[i], &maker))
            return NULL;
    return maker.overflow || !maker.any ? NULL : maker_finish(e, &maker);
}

static struct condition entry_condition(struct evaluation *e, uint32_t loop)
{
    const struct value_graph_loop *at = &e->graph->loops[loop];
    const struct value_graph_block *head = &e->graph->blocks[at->head];
    struct condition entry = evaluate_way(e, &head->ways[0], at->parent);
    for (uint32_t w = 1; w < at->outside_ways; w++) {
        struct condition way = evaluate_way(e, &head->ways[w], at->parent);
        bool exact = true;
        entry.when = disjunction_or(&entry.when, &way.when, &e->indices, e->pool, &exact);
        entry.bound = bound_worst(bound_worst(entry.bound, way.bound),
                                  exact ? ACCESS_EXACT : ACCESS_BOUND_SHAPE);
    }
    return entry;
}

/* What was evaluated inside while the rounds were not known goes, but for what is still being
 * evaluated. */
static void forget(struct evaluation *e, uint32_t loop)
{
    const struct value_graph *graph = e->graph;
    for (uint32_t i = 1; i < graph->node_count; i++) {
        if (!graph->nodes[i].loop || !value_graph_loop_contains(graph, loop, graph->nodes[i].loop))
            continue;
        if (e->values[i] != &value_busy)
            e->values[i] = NULL;
        if (e->predicates[i] != &predicate_busy)
            e->predicates[i] = NULL;
    }
    for (uint32_t i = 0; i < graph->block_count; i++)
        if (graph->blocks[i].loop && value_graph_loop_contains(graph, loop, graph->blocks[i].loop))
            e->conditions[i] = NULL;
    for (uint32_t i = 1; i < graph->loop_count; i++)
        if (i != loop && value_graph_loop_contains(graph, loop, i) && e->loops[i] &&
            !e->loops[i]->busy)
            e->loops[i] = NULL;
}

static void count_rounds(struct evaluation *e, uint32_t loop)
{
    struct loop_state *state = e->loops[loop];
    struct loop_condition conditions;
    int64_t limit = last_without_wrap(e, loop);
    e->indices.ranges[state->index].high = limit;
    loop_condition_find(e, loop, &conditions);
    int64_t last = loop_condition_last_round(e, state, &conditions);
    /* counters were taken not to wrap around */
    bool wraps = last > limit && !(last >= AFFINE_INFINITE && limit >= AFFINE_INFINITE - 1);
    if (wraps) {
        conditions.count = 1;
        conditions.cases[0] = (struct loop_condition_case){.always = NULL, .count = 0};
        conditions.bound = bound_worst(conditions.bound, ACCESS_BOUND_SHAPE);
        conditions.leaving = NULL;
        last = AFFINE_INFINITE;
    }
    e->indices.ranges[state->index].high = last;
    if (last >= AFFINE_INFINITE)
        e->indices.ranges[state->index].bound =
            conditions.bound ? conditions.bound : ACCESS_BOUND_SHAPE;
    state->header = header_condition(e, state, &conditions);
    state->rounds = rounds_at_exit(e, state, &conditions);
    if (wraps || state->asked)
        forget(e, loop);
}

struct loop_state *evaluate_loop(struct evaluation *e, uint32_t loop)
{
    if (e->loops[loop])
        return e->loops[loop];
    struct loop_state *state = pool_allocate(e->pool, sizeof *state);
    memset(state, 0, sizeof *state);
    state->index = index_add(&e->indices, 0, AFFINE_INFINITE);
    if (state->index == UINT32_MAX)
        longjmp(*e->pool->exhausted, 1);
    e->loops[loop] = state;
    state->busy = true;
    state->entry.when = state->header.when = disjunction_always(e->pool);
    state->entry.bound = state->header.bound = ACCESS_BOUND_SHAPE;
    state->entry = entry_condition(e, loop);
    count_rounds(e, loop);
    state->busy = false;
    return state;
}
