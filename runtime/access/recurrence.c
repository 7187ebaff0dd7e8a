/* How a value changes round after round, and its value when the loop is left. See evaluate.h.
 *
 *   x = x + step       a form over the number of the round
 *   x = y, y changes   the value of y in the previous round
 *   x = x / 2, ...     bounds that no round leaves, if there are any
 *   anything else      any value; an address stays in its memory if it is only moved */
#include "runtime/access/evaluate.h"

#include <string.h>

static bool form_uses(const struct evaluation *e, const struct affine_form *form, uint32_t index)
{
    return affine_coefficient(form, index) || form_bends(e, form, index);
}

bool form_bends(const struct evaluation *e, const struct affine_form *form, uint32_t index)
{
    for (uint32_t d = 0; d < e->indices.division_count; d++) {
        const struct division *division = &e->indices.divisions[d];
        if ((affine_coefficient(form, division->quotient) ||
             affine_coefficient(form, division->remainder)) &&
            form_uses(e, &division->form, index))
            return true;
    }
    return false;
}

/* Any value between those that the piece can have. */
static void put_widened(struct evaluation *e, struct maker *maker, const struct piece *piece)
{
    struct interval interval = piece_interval(e, piece);
    const struct value *any = value_between(e, interval.low, interval.high,
                                            bound_worst(piece->bound, ACCESS_BOUND_SHAPE));
    maker_put(e, maker, NULL, any->pieces[0].form, piece->base,
              bound_worst(piece->bound, ACCESS_BOUND_SHAPE));
}

/* The step of a LOOP whose value after a round is its value before, plus something that the loop
 * does not change; 0 in *node_count: it is not like that. */
static bool add_step(struct evaluation *e, uint32_t from, uint32_t loop_node, int64_t sign,
                     int64_t *step)
{
    const struct node *nodes = e->graph->nodes;
    uint32_t loop = nodes[loop_node].loop;
    for (unsigned depth = 0; from != loop_node; depth++) {
        const struct node *at = &nodes[from];
        int64_t amount;
        uint32_t other;
        bool adds = at->kind == NODE_OPERATION && at->operation == NODE_ADD;
        bool subtracts = at->kind == NODE_OPERATION && at->operation == NODE_SUB;
        if (depth > 64 || (!adds && !subtracts))
            return false;
        if (nodes[at->a].loop && value_graph_loop_contains(e->graph, loop, nodes[at->a].loop) &&
            !(adds && nodes[at->b].loop &&
              value_graph_loop_contains(e->graph, loop, nodes[at->b].loop))) {
            other = at->b;
            from = at->a;
        } else if (adds) {
            other = at->a;
            from = at->b;
        } else {
            return false;
        }
        if (nodes[other].loop && value_graph_loop_contains(e->graph, loop, nodes[other].loop))
            return false;
        const struct value *value = evaluate_node(e, other);
        if (!value_is_constant(value, &amount))
            return false;
        if (nodes[other].width < 64) /* the amount as the register's width reads it */
            amount = (int64_t)((uint64_t)amount << (64 - nodes[other].width)) >>
                     (64 - nodes[other].width);
        *step += sign * (subtracts ? -amount : amount);
    }
    return true;
}

/* Whether a node has a part in what the loop makes of `from`: p = q, q = q + 1: p is no part of q.
 * `seen`: where it has none. */
static bool depends_on(struct evaluation *e, uint32_t from, uint32_t node, uint8_t *seen)
{
    const struct node *at = &e->graph->nodes[from];
    if (from == node || evaluate_is_deep(e))
        return true;
    if (at->loop == 0 || at->kind == NODE_CONSTANT || !node_set_add(seen, from))
        return false;
    if (at->kind == NODE_LOOP && at->loop == e->graph->nodes[node].loop)
        return at->b && depends_on(e, at->b, node, seen);
    for (uint32_t i = 0; i < at->operand_count; i++)
        if (depends_on(e, at->operands[i], node, seen))
            return true;
    return (at->a && depends_on(e, at->a, node, seen)) ||
           (at->b && depends_on(e, at->b, node, seen)) ||
           (at->c && depends_on(e, at->c, node, seen));
}

/* In the first round what it was before, later what the round before made of it. */
static const struct value *evaluate_delayed(struct evaluation *e, const struct node *node,
                                            uint32_t index)
{
    struct maker maker = maker_start();
    const struct value *before = evaluate_node(e, node->a), *after = evaluate_node(e, node->b);
    struct affine_form first = affine_index(index, -1), later = affine_index(index, 1);
    struct affine_form last_round = affine_index(index, 1);
    later.constant = last_round.constant = -1;
    for (uint32_t p = 0; p < before->count; p++) {
        const struct conjunction *when;
        bool exact = true;
        if (when_also(e, before->pieces[p].when, &first, &when, &exact))
            maker_put(e, &maker, when, before->pieces[p].form, before->pieces[p].base,
                      exact ? before->pieces[p].bound : ACCESS_BOUND_SHAPE);
    }
    for (uint32_t p = 0; p < after->count; p++) {
        const struct piece *piece = &after->pieces[p];
        struct affine_form form = *piece->form;
        const struct conjunction *when;
        bool exact = !piece->when;
        if (!when_also(e, NULL, &later, &when, &exact))
            continue;
        /* what memory gave is another value in each round */
        if (form_bound(e, &form) || form_bends(e, &form, index) ||
            !affine_substitute(&form, index, &last_round))
            put_widened(e, &maker, piece);
        else
            maker_put(e, &maker, when, &form, piece->base,
                      exact ? piece->bound : bound_worst(piece->bound, ACCESS_BOUND_SHAPE));
    }
    return maker_finish(e, &maker);
}

enum { MOVE_STEPS = 200 };

/* Whether a node is the LOOP's own value moved by integers: then it stays in its memory. */
static bool moves_itself(struct evaluation *e, uint32_t from, uint32_t loop_node, unsigned *steps)
{
    const struct node *at = &e->graph->nodes[from];
    if (from == loop_node)
        return true;
    if (++*steps > MOVE_STEPS || evaluate_is_deep(e) || !at->loop)
        return false;
    if (at->kind == NODE_EXIT)
        return moves_itself(e, at->a, loop_node, steps);
    if (at->kind == NODE_LOOP && at->loop != e->graph->nodes[loop_node].loop)
        return moves_itself(e, at->a, loop_node, steps) &&
               (at->b == from || moves_itself(e, at->b, from, steps));
    if (at->kind == NODE_JOIN) {
        for (uint32_t i = 0; i < at->operand_count; i++)
            if (!moves_itself(e, at->operands[i], loop_node, steps))
                return false;
        return at->operand_count != 0;
    }
    if (at->kind != NODE_OPERATION)
        return false;
    if (at->operation == NODE_SELECT)
        return moves_itself(e, at->b, loop_node, steps) && moves_itself(e, at->c, loop_node, steps);
    if (at->operation != NODE_ADD && at->operation != NODE_SUB)
        return false;
    bool left = moves_itself(e, at->a, loop_node, steps);
    if (!left && (at->operation == NODE_SUB || !moves_itself(e, at->b, loop_node, steps)))
        return false;
    const struct value *amount = evaluate_node(e, left ? at->b : at->a);
    for (uint32_t p = 0; p < amount->count; p++)
        if (amount->pieces[p].base != BASE_NONE)
            return false;
    return true;
}

/* ---- Values that stay within bounds ---- */

/* All that evaluating adds, so that it can be taken back. */
struct snapshot {
    const struct value **values;
    const struct predicate **predicates;
    const struct condition **conditions;
    struct loop_state **loops;
    uint32_t specials[PTX_SREG_COUNT];
    uint32_t index_count, division_count, base_count;
    size_t used; /* of the pool, with the snapshot's own arrays */
};

static void *copy_of(struct evaluation *e, const void *array, size_t bytes)
{
    return memcpy(pool_allocate(e->pool, bytes), array, bytes);
}

static void snapshot_take(struct evaluation *e, struct snapshot *snapshot)
{
    const struct value_graph *graph = e->graph;
    snapshot->values = copy_of(e, e->values, graph->node_count * sizeof *e->values);
    snapshot->predicates = copy_of(e, e->predicates, graph->node_count * sizeof *e->predicates);
    snapshot->conditions =
        copy_of(e, e->conditions, (graph->block_count + 1) * sizeof *e->conditions);
    snapshot->loops = copy_of(e, e->loops, (graph->loop_count + 1) * sizeof *e->loops);
    memcpy(snapshot->specials, e->specials, sizeof e->specials);
    snapshot->index_count = e->indices.count;
    snapshot->division_count = e->indices.division_count;
    snapshot->base_count = e->base_count;
    snapshot->used = e->pool->used;
}

static void snapshot_restore(struct evaluation *e, const struct snapshot *snapshot)
{
    const struct value_graph *graph = e->graph;
    memcpy(e->values, snapshot->values, graph->node_count * sizeof *e->values);
    memcpy(e->predicates, snapshot->predicates, graph->node_count * sizeof *e->predicates);
    memcpy(e->conditions, snapshot->conditions, (graph->block_count + 1) * sizeof *e->conditions);
    memcpy(e->loops, snapshot->loops, (graph->loop_count + 1) * sizeof *e->loops);
    memcpy(e->specials, snapshot->specials, sizeof e->specials);
    e->indices.count = snapshot->index_count;
    e->indices.division_count = snapshot->division_count;
    e->base_count = snapshot->base_count;
    e->pool->bytes -= e->pool->used - snapshot->used; /* spent all the same */
    e->pool->used = snapshot->used;
}

/* What an integer can be; false: it has no bounds, or is an address. */
static bool hull_of(const struct evaluation *e, const struct value *value, struct interval *hull)
{
    *hull = (struct interval){AFFINE_INFINITE, -AFFINE_INFINITE};
    for (uint32_t p = 0; p < value->count; p++) {
        struct interval interval = piece_interval(e, &value->pieces[p]);
        if (value->pieces[p].base != BASE_NONE)
            return false;
        hull->low = interval.low < hull->low ? interval.low : hull->low;
        hull->high = interval.high > hull->high ? interval.high : hull->high;
    }
    return value->count && interval_is_finite(*hull);
}

enum { ATTEMPTS = 12, ATTEMPT_DEPTH = 2, ATTEMPT_NODES = 4096 };

/* If a round keeps it within bounds whenever it was within them, it is within them always: halved,
 * taken modulo n, wrapped around. Returns NULL, and leaves all as it was, if that is not so. */
static const struct value *evaluate_within(struct evaluation *e, uint32_t number, int64_t low,
                                           int64_t high)
{
    const struct node *node = &e->graph->nodes[number];
    struct snapshot snapshot;
    struct interval after;
    if (e->attempts == ATTEMPTS || e->attempt_depth == ATTEMPT_DEPTH)
        return NULL;
    e->attempts++;
    snapshot_take(e, &snapshot);
    const struct value *within = value_between(e, low, high, ACCESS_BOUND_SHAPE);
    e->values[number] = within;
    e->attempt_depth++;
    bool finite = hull_of(e, evaluate_node(e, node->b), &after);
    e->attempt_depth--;
    if (finite && after.low >= low && after.high <= high)
        return within;
    snapshot_restore(e, &snapshot);
    return NULL;
}

static const struct value *evaluate_bounded(struct evaluation *e, uint32_t number)
{
    const struct value *before = evaluate_node(e, e->graph->nodes[number].a), *within;
    struct interval start;
    if (e->graph->node_count > ATTEMPT_NODES || !hull_of(e, before, &start))
        return NULL;
    within = evaluate_within(e, number, start.low, start.high);
    if (!within && (start.low > 0 || start.high < 0))
        within = evaluate_within(e, number, start.low > 0 ? 0 : start.low,
                                 start.high < 0 ? 0 : start.high);
    return within;
}

/* Wherever it goes from where it starts: within its memory where it is only moved. */
static const struct value *evaluate_wandering(struct evaluation *e, uint32_t number)
{
    const struct node *node = &e->graph->nodes[number];
    const struct value *before = evaluate_node(e, node->a);
    const struct value *any = value_any(e, node->width, ACCESS_BOUND_DATA);
    struct maker maker = maker_start();
    if (node->width < 64)
        return any;
    unsigned steps = 0;
    bool unmoved = moves_itself(e, node->b, number, &steps);
    for (uint32_t p = 0; p < before->count; p++) {
        uint32_t base = before->pieces[p].base;
        maker_put(e, &maker, NULL, any->pieces[0].form,
                  base == BASE_NONE || unmoved ? base : BASE_UNKNOWN, ACCESS_BOUND_DATA);
    }
    return maker_finish(e, &maker);
}

const struct value *evaluate_loop_node(struct evaluation *e, uint32_t number)
{
    const struct node *node = &e->graph->nodes[number];
    int64_t step = 0;
    if (!node->b)
        return value_any(e, node->width, ACCESS_BOUND_SHAPE);
    if (node->b == number)
        return evaluate_node(e, node->a);
    struct loop_state *loop = evaluate_loop(e, node->loop);
    if (add_step(e, node->b, number, 1, &step)) {
        const struct value *before = evaluate_node(e, node->a);
        struct maker maker = maker_start();
        struct affine_form rounds = affine_index(loop->index, step), form;
        for (uint32_t p = 0; p < before->count; p++) {
            const struct piece *piece = &before->pieces[p];
            if (!affine_add(&form, piece->form, &rounds, 1))
                return value_any(e, node->width, ACCESS_BOUND_SHAPE);
            maker_put(e, &maker, piece->when, &form, piece->base, piece->bound);
        }
        return maker_finish(e, &maker);
    }
    if (!depends_on(e, node->b, number, node_set_new(e)))
        return evaluate_delayed(e, node, loop->index);
    const struct value *bounded = evaluate_bounded(e, number);
    return bounded ? bounded : evaluate_wandering(e, number);
}

/* The piece with the number of rounds in place of the loop's index. */
static void leave_loop(struct evaluation *e, struct maker *maker, const struct piece *piece,
                       uint32_t index, const struct piece *rounds)
{
    struct affine_form form = *piece->form;
    bool exact = true;
    if (form_bends(e, piece->form, index) || !affine_substitute(&form, index, rounds->form)) {
        put_widened(e, maker, piece);
        return;
    }
    struct conjunction *when = conjunction_new(e->pool, rounds->when);
    for (uint32_t i = 0; piece->when && i < piece->when->count; i++) {
        struct affine_form constraint = *piece->when->constraints[i];
        if (form_bends(e, &constraint, index) ||
            !affine_substitute(&constraint, index, rounds->form))
            exact = false;
        else if (!conjunction_add(when, &constraint, &e->indices, e->pool, &exact))
            return; /* never both */
    }
    uint8_t bound = bound_worst(piece->bound, rounds->bound);
    maker_put(e, maker, when->count ? when : NULL, &form, piece->base,
              exact ? bound : bound_worst(bound, ACCESS_BOUND_SHAPE));
}

const struct value *evaluate_exit(struct evaluation *e, const struct node *node)
{
    struct loop_state *loop = evaluate_loop(e, (uint32_t)node->value);
    const struct value *value = evaluate_node(e, node->a);
    struct maker maker = maker_start();
    const struct value *rounds = loop->rounds;
    if (loop->busy)
        return value_any(e, node->width, ACCESS_BOUND_SHAPE);
    if (!rounds) {
        const struct index_range range = e->indices.ranges[loop->index];
        rounds = value_between(e, range.low, range.high, ACCESS_BOUND_SHAPE);
    }
    for (uint32_t p = 0; p < value->count; p++)
        for (uint32_t r = 0; r < rounds->count; r++)
            leave_loop(e, &maker, &value->pieces[p], loop->index, &rounds->pieces[r]);
    return maker_finish(e, &maker);
}
