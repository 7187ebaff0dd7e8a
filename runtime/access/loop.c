/* How often loops turn. See evaluate.h.
 *
 * A loop's index numbers its rounds from 0: round r runs when the head was entered and, for r > 0,
 * every way out was declined in the rounds before. A way out that every round tests, and whose
 * condition to stay is a constraint a*r + rest >= 0 with a < 0, is declined in all rounds before r
 * if it was declined in round r - 1. Ways out that depend on data bound nothing; then rounds that
 * may not run are counted in, and what they touch is not exact. */
#include "evaluate.h"

#include <string.h>

enum { STAY_MAX = 6 };

/* What all rounds but the last fulfil. */
struct stay {
    struct form constraints[STAY_MAX]; /* in the round they are tested in */
    uint32_t count;
    uint8_t bound;   /* not EXACT: some way out is not told by the constraints */
    bool single_way; /* one way out, told whole */
    bool never;
};

/* ---- The range of rounds in which counters do not wrap ---- */

static void limit_rounds(struct evaluation *e, const struct node *node, int64_t step,
                         int64_t *limit)
{
    if (step == 0)
        return;
    const struct value *before = evaluate_node(e, node->a);
    int64_t size = (int64_t)1 << (node->width < 60 ? node->width : 60);
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

/* The rounds in which no counter that the predicate is made of leaves its width. */
static void limit_by(struct evaluation *e, uint32_t loop, uint32_t from, unsigned depth,
                     int64_t *limit)
{
    const struct node *at = &e->graph->nodes[from];
    if (depth > 40 || !at->loop || !graph_loop_contains(e->graph, loop, at->loop))
        return;
    if (at->kind == NODE_LOOP && at->loop == loop) {
        struct form round = form_index(e->loops[loop]->index, 1);
        const struct value *value = evaluate_node(e, from);
        for (uint32_t p = 0; p < value->count; p++)
            limit_rounds(e, at, form_coefficient(value->pieces[p].form, round.terms[0].index),
                         limit);
        return;
    }
    if (at->a)
        limit_by(e, loop, at->a, depth + 1, limit);
    if (at->b && at->kind == NODE_OPERATION)
        limit_by(e, loop, at->b, depth + 1, limit);
    if (at->c && at->kind == NODE_OPERATION)
        limit_by(e, loop, at->c, depth + 1, limit);
}

/* ---- Conditions to stay ---- */

/* i != n: staying means to be below, when the counter cannot step over n. */
static bool stay_by_inequality(struct evaluation *e, const struct loop_state *state,
                               const struct disjunction *when, struct form *constraint)
{
    if (when->count != 2 || when->items[0]->count != 1 || when->items[1]->count != 1)
        return false;
    struct form below = *when->items[0]->constraints[0], above = *when->items[1]->constraints[0];
    struct form sum;
    if (!form_add(&sum, &below, &above, 1) || !form_is_constant(&sum) || sum.constant != -2)
        return false;
    if (form_coefficient(&below, state->index) > 0)
        below = above; /* the one that ends */
    int64_t step = -form_coefficient(&below, state->index);
    if (step <= 0)
        return false;
    /* below = distance - 1 >= 0 where distance = rest - step * round, and 0 must be met */
    below.constant += 1;
    if (step != 1) {
        if (below.constant % step)
            return false;
        for (uint32_t i = 0; i < below.count; i++)
            if (below.terms[i].coefficient % step)
                return false;
    }
    struct form first = below, round = form_index(state->index, -step);
    if (!form_add(&first, &below, &round, -1)) /* the distance in round 0 */
        return false;
    for (uint32_t c = 0; c < state->entry.when.count; c++)
        if (!conjunction_implies(state->entry.when.items[c], &first, &e->indices))
            return false; /* it might start beyond, and would wrap around */
    below.constant -= 1;
    *constraint = below;
    return true;
}

static void add_stay(struct stay *stay, const struct form *constraint)
{
    if (stay->count == STAY_MAX) {
        stay->bound = bound_worst(stay->bound, ACCESS_BOUND_SHAPE);
        stay->single_way = false;
        return;
    }
    stay->constraints[stay->count++] = *constraint;
}

/* The constraint of a test that only weakens over the rounds is that of round 0. */
static bool in_every_round(struct evaluation *e, const struct loop_state *state,
                           struct form *constraint)
{
    int64_t step = form_coefficient(constraint, state->index);
    (void)e;
    if (step <= 0)
        return true;
    struct form round = form_index(state->index, step);
    return form_add(constraint, constraint, &round, -1);
}

static void collect_way_out(struct evaluation *e, uint32_t loop, const struct graph_edge *exit,
                            struct stay *stay)
{
    const struct graph *graph = e->graph;
    const struct graph_block *block = &graph->blocks[exit->block];
    const struct graph_block *head = &graph->blocks[graph->loops[loop].head];
    struct loop_state *state = e->loops[loop];
    bool always_tested = block->loop == loop && !block->guard_unknown;
    for (uint32_t w = graph->loops[loop].outside_ways; w < head->way_count; w++)
        always_tested &= graph_dominates(graph, exit->block, head->ways[w].block);
    if (!always_tested || !block->guard) {
        stay->bound = bound_worst(stay->bound, ACCESS_BOUND_GUARD);
        stay->single_way = false;
        return;
    }
    const struct predicate *guard = evaluate_predicate(e, block->guard);
    const struct condition *staying =
        exit->taken != block->guard_negated ? &guard->no : &guard->yes;
    struct form constraint;
    if (staying->bound) {
        stay->bound = bound_worst(stay->bound, staying->bound);
        stay->single_way = false;
    } else if (staying->when.count == 0) {
        stay->never = true;
    } else if (disjunction_is_always(&staying->when)) {
        stay->single_way = false; /* it is never left here */
    } else if (staying->when.count == 1) {
        for (uint32_t i = 0; i < staying->when.items[0]->count; i++) {
            constraint = *staying->when.items[0]->constraints[i];
            if (!in_every_round(e, state, &constraint))
                stay->bound = ACCESS_BOUND_SHAPE;
            else if (form_interval(&constraint, &e->indices).high < 0)
                stay->never = true; /* not even in round 0 */
            else
                add_stay(stay, &constraint);
        }
        stay->single_way &= staying->when.items[0]->count == 1;
    } else if (stay_by_inequality(e, state, &staying->when, &constraint)) {
        add_stay(stay, &constraint);
    } else {
        stay->bound = bound_worst(stay->bound, ACCESS_BOUND_SHAPE);
        stay->single_way = false;
    }
}

/* ---- Rounds ---- */

/* The last round that any thread can reach. */
static int64_t last_round(struct evaluation *e, const struct loop_state *state,
                          const struct stay *stay)
{
    int64_t last = FORM_INFINITE;
    if (stay->never)
        return 0;
    for (uint32_t i = 0; i < stay->count; i++) {
        struct form rest = stay->constraints[i];
        int64_t step = -form_coefficient(&rest, state->index);
        struct form round = form_index(state->index, -step);
        if (step <= 0 || !form_add(&rest, &rest, &round, -1))
            continue;
        int64_t high = FORM_INFINITE, own;
        for (uint32_t c = 0; c < state->entry.when.count; c++) {
            struct piece piece = {state->entry.when.items[c], &rest, BASE_NONE, ACCESS_EXACT};
            struct interval interval = piece_interval(e, &piece);
            high = c == 0 || interval.high > high ? interval.high : high;
        }
        if (high >= FORM_INFINITE)
            continue;
        own = high < 0 ? 0 : high / step + 1;
        last = own < last ? own : last;
    }
    return last;
}

static struct condition first_round(struct evaluation *e, const struct loop_state *state)
{
    struct condition first = state->entry;
    struct form zero = form_index(state->index, -1);
    struct disjunction is_first = disjunction_of(&zero, &e->indices, e->pool);
    bool exact = true;
    first.when = disjunction_and(&first.when, &is_first, &e->indices, e->pool, &exact);
    if (!exact)
        first.bound = bound_worst(first.bound, ACCESS_BOUND_SHAPE);
    return first;
}

/* The head runs in a round after the first if every test of the round before said so. */
static struct condition header_condition(struct evaluation *e, const struct loop_state *state,
                                         const struct stay *stay)
{
    struct condition first = state->entry, later = state->entry, result;
    bool exact = true, at_first = true;
    struct conjunction *more = conjunction_new(e->pool, NULL);
    for (uint32_t i = 0; i < stay->count; i++) {
        struct form constraint = stay->constraints[i], at_start;
        int64_t step = form_coefficient(&constraint, state->index);
        struct form round = form_index(state->index, step);
        constraint.constant -= step; /* as of the round before */
        if (!form_add(&at_start, &constraint, &round, -1)) {
            exact = false;
            continue;
        }
        for (uint32_t c = 0; c < state->entry.when.count; c++)
            at_first &= conjunction_implies(state->entry.when.items[c], &at_start, &e->indices);
        if (!conjunction_add(more, &constraint, &e->indices, e->pool, &exact))
            return first_round(e, state); /* no later one */
    }
    struct disjunction stays = disjunction_never();
    stays.items[stays.count++] = more;
    later.when = disjunction_and(&later.when, &stays, &e->indices, e->pool, &exact);
    result = later;
    if (!at_first) {
        struct form zero = form_index(state->index, -1), positive = form_index(state->index, 1);
        positive.constant = -1;
        struct disjunction is_first = disjunction_of(&zero, &e->indices, e->pool);
        struct disjunction is_later = disjunction_of(&positive, &e->indices, e->pool);
        first.when = disjunction_and(&first.when, &is_first, &e->indices, e->pool, &exact);
        later.when = disjunction_and(&later.when, &is_later, &e->indices, e->pool, &exact);
        result.when = disjunction_or(&first.when, &later.when, &e->indices, e->pool, &exact);
    }
    result.bound = bound_worst(state->entry.bound, stay->bound);
    if (!exact)
        result.bound = bound_worst(result.bound, ACCESS_BOUND_SHAPE);
    return result;
}

/* How many rounds were made when the loop is left: the first in which the test says no. */
static const struct value *rounds_at_exit(struct evaluation *e, const struct loop_state *state,
                                          const struct stay *stay)
{
    struct maker maker = maker_start();
    struct form zero = form_constant(0);
    if (stay->bound || !stay->single_way || stay->never || stay->count != 1) {
        if (!stay->never)
            return NULL;
        maker_put(e, &maker, NULL, &zero, BASE_NONE, ACCESS_EXACT);
        return maker_finish(e, &maker);
    }
    struct form rest = stay->constraints[0];
    int64_t step = -form_coefficient(&rest, state->index);
    struct form round = form_index(state->index, -step);
    if (step <= 0 || !form_add(&rest, &rest, &round, -1))
        return NULL;
    /* stays while step * round <= rest */
    const struct conjunction *when;
    bool exact = true;
    struct form negative;
    form_scale(&negative, &rest, -1, -1);
    if (when_also(e, NULL, &negative, &when, &exact))
        maker_put(e, &maker, when, &zero, BASE_NONE, ACCESS_EXACT);
    if (when_also(e, NULL, &rest, &when, &exact)) {
        struct piece piece = {when, &rest, BASE_NONE, ACCESS_EXACT};
        struct maker quotients = maker_start();
        divide_piece(e, &quotients, &piece, step, false);
        const struct value *quotient = maker_finish(e, &quotients);
        for (uint32_t p = 0; p < quotient->count; p++) {
            struct form next;
            form_scale(&next, quotient->pieces[p].form, 1, 1);
            maker_put(e, &maker, quotient->pieces[p].when, &next, BASE_NONE,
                      exact ? quotient->pieces[p].bound : ACCESS_BOUND_SHAPE);
        }
    }
    return maker.overflow || !maker.any ? NULL : maker_finish(e, &maker);
}

static struct condition entry_condition(struct evaluation *e, uint32_t loop)
{
    const struct graph_loop *at = &e->graph->loops[loop];
    const struct graph_block *head = &e->graph->blocks[at->head];
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

/* What was evaluated for the tests while the number of rounds was not known may count on counters
 * that do not wrap: when they do, it must go. */
static void forget(struct evaluation *e, uint32_t loop)
{
    for (uint32_t i = 1; i < e->graph->node_count; i++)
        if (e->graph->nodes[i].loop &&
            graph_loop_contains(e->graph, loop, e->graph->nodes[i].loop)) {
            e->values[i] = NULL;
            e->predicates[i] = NULL;
        }
}

static void count_rounds(struct evaluation *e, uint32_t loop)
{
    struct loop_state *state = e->loops[loop];
    const struct graph_loop *at = &e->graph->loops[loop];
    struct stay stay = {.single_way = at->exit_count == 1};
    int64_t limit = FORM_INFINITE - 1;
    for (uint32_t i = 0; i < at->exit_count; i++) {
        const struct graph_block *block = &e->graph->blocks[at->exits[i].block];
        if (block->loop == loop && block->guard)
            limit_by(e, loop, block->guard, 0, &limit);
    }
    e->indices.ranges[state->index].high = limit;
    for (uint32_t i = 0; i < at->exit_count; i++)
        collect_way_out(e, loop, &at->exits[i], &stay);
    int64_t last = last_round(e, state, &stay);
    if (last > limit && !(last >= FORM_INFINITE && limit >= FORM_INFINITE - 1)) {
        forget(e, loop);
        stay = (struct stay){.bound = ACCESS_BOUND_SHAPE};
        last = FORM_INFINITE;
    }
    e->indices.ranges[state->index].high = last;
    if (last >= FORM_INFINITE)
        e->indices.ranges[state->index].bound = stay.bound ? stay.bound : ACCESS_BOUND_SHAPE;
    state->header = header_condition(e, state, &stay);
    state->rounds = rounds_at_exit(e, state, &stay);
}

struct loop_state *evaluate_loop(struct evaluation *e, uint32_t loop)
{
    if (e->loops[loop])
        return e->loops[loop];
    struct loop_state *state = pool_allocate(e->pool, sizeof *state);
    memset(state, 0, sizeof *state);
    state->index = index_add(&e->indices, 0, FORM_INFINITE);
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
