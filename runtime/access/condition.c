/* Predicates, and the conditions under which blocks run. See evaluate.h. */
#include "runtime/access/evaluate.h"

#include <string.h>

static struct condition condition_always(struct evaluation *e)
{
    return (struct condition){disjunction_always(e->pool), ACCESS_EXACT};
}

static struct condition condition_never(void)
{
    struct condition never;
    never.when = disjunction_never();
    never.bound = ACCESS_EXACT;
    return never;
}

static struct condition condition_and(struct evaluation *e, const struct condition *a,
                                      const struct condition *b)
{
    bool exact = true;
    struct condition both;
    both.when = disjunction_and(&a->when, &b->when, &e->indices, e->pool, &exact);
    both.bound =
        bound_worst(bound_worst(a->bound, b->bound), exact ? ACCESS_EXACT : ACCESS_BOUND_SHAPE);
    return both;
}

static struct condition condition_or(struct evaluation *e, const struct condition *a,
                                     const struct condition *b)
{
    bool exact = true;
    struct condition either;
    either.when = disjunction_or(&a->when, &b->when, &e->indices, e->pool, &exact);
    either.bound =
        bound_worst(bound_worst(a->bound, b->bound), exact ? ACCESS_EXACT : ACCESS_BOUND_SHAPE);
    return either;
}

/* ---- Predicates ---- */

static const struct predicate *predicate_new(struct evaluation *e, struct condition yes,
                                             struct condition no)
{
    struct predicate *predicate = pool_allocate(e->pool, sizeof *predicate);
    predicate->yes = yes;
    predicate->no = no;
    return predicate;
}

static const struct predicate *predicate_unknown(struct evaluation *e, uint8_t bound)
{
    struct condition maybe = condition_always(e);
    maybe.bound = bound;
    return predicate_new(e, maybe, maybe);
}

static const struct predicate *predicate_constant(struct evaluation *e, bool value)
{
    return value ? predicate_new(e, condition_always(e), condition_never())
                 : predicate_new(e, condition_never(), condition_always(e));
}

/* Adds "when, and the constraints" to a condition. */
static void add_case(struct evaluation *e, struct condition *to, const struct conjunction *when,
                     const struct affine_form *first, const struct affine_form *second,
                     uint8_t bound)
{
    struct condition one = condition_never();
    bool exact = true;
    const struct conjunction *both = when;
    if (first && !when_also(e, both, first, &both, &exact))
        return;
    if (second && !when_also(e, both, second, &both, &exact))
        return;
    one.when.items[one.when.count++] = both ? both : conjunction_new(e->pool, NULL);
    one.bound = exact ? bound : bound_worst(bound, ACCESS_BOUND_SHAPE);
    *to = condition_or(e, to, &one);
}

/* left op right for two pieces that are plain integers. */
static bool compare_numbers(struct evaluation *e, const struct node *node,
                            const struct conjunction *when, const struct piece *left,
                            const struct piece *right, uint8_t bound, struct predicate *result)
{
    struct affine_form less, more; /* right - left - (strict), and its complement */
    if (!affine_add(&less, right->form, left->form, -1))
        return false;
    if (node->operation == NODE_EQUAL) {
        struct affine_form greater;
        affine_scale(&more, &less, -1, 0);
        add_case(e, &result->yes, when, &less, &more, bound);
        affine_scale(&greater, &less, -1, -1);
        less.constant -= 1;
        add_case(e, &result->no, when, &less, NULL, bound);
        add_case(e, &result->no, when, &greater, NULL, bound);
        return true;
    }
    if (node->operation == NODE_LESS)
        less.constant -= 1;
    affine_scale(&more, &less, -1, -1);
    add_case(e, &result->yes, when, &less, NULL, bound);
    add_case(e, &result->no, when, &more, NULL, bound);
    return true;
}

/* Unsigned 64-bit numbers of 2^63 and more are negative forms: larger than any other. */
static bool compare_wide_unsigned(struct evaluation *e, const struct node *node,
                                  const struct conjunction *when, const struct piece *left,
                                  const struct piece *right, uint8_t bound,
                                  struct predicate *result)
{
    for (int high_left = 0; high_left < 2; high_left++)
        for (int high_right = 0; high_right < 2; high_right++) {
            struct affine_form a = *left->form, b = *right->form;
            const struct conjunction *both;
            bool exact = true;
            if (high_left)
                affine_scale(&a, &a, -1, -1);
            if (high_right)
                affine_scale(&b, &b, -1, -1);
            if (!when_also(e, when, &a, &both, &exact) || !when_also(e, both, &b, &both, &exact))
                continue;
            if (!exact)
                bound = bound_worst(bound, ACCESS_BOUND_SHAPE);
            if (high_left == high_right) {
                if (!compare_numbers(e, node, both, left, right, bound, result))
                    return false;
            } else {
                add_case(e, high_right ? &result->yes : &result->no, both, NULL, NULL, bound);
            }
        }
    return true;
}

static bool compare_pieces(struct evaluation *e, const struct node *node, struct piece left,
                           struct piece right, struct predicate *result)
{
    uint32_t width = (uint32_t)node->value;
    const struct conjunction *when;
    bool exact = true;
    if (!when_both(e, left.when, right.when, &when, &exact))
        return true;
    bool within = left.base == right.base && left.base >= BASE_MEMORY;
    if (within) {
        left.base = right.base = BASE_NONE; /* within one memory addresses do not wrap */
    } else if (!piece_concrete(e, &left) || !piece_concrete(e, &right)) {
        return false;
    }
    struct piece a[WINDOWS], b[WINDOWS];
    bool wide = width >= 62;
    uint32_t count_a = piece_windows(e, &left, width, node->is_signed, a);
    uint32_t count_b = piece_windows(e, &right, width, node->is_signed, b);
    if (!count_a || !count_b)
        return false;
    for (uint32_t i = 0; i < count_a; i++)
        for (uint32_t k = 0; k < count_b; k++) {
            const struct conjunction *both;
            if (!when_both(e, a[i].when, b[k].when, &both, &exact))
                continue;
            uint8_t bound = bound_worst(a[i].bound, b[k].bound);
            bound =
                bound_worst(bound, bound_worst(form_bound(e, a[i].form), form_bound(e, b[k].form)));
            if (bound)
                bound = ACCESS_BOUND_GUARD;
            if (!exact)
                bound = bound_worst(bound, ACCESS_BOUND_SHAPE);
            if (wide && !node->is_signed && node->operation != NODE_EQUAL && !within
                    ? !compare_wide_unsigned(e, node, both, &a[i], &b[k], bound, result)
                    : !compare_numbers(e, node, both, &a[i], &b[k], bound, result))
                return false;
        }
    return true;
}

/* Whatever memory holds. */
static bool is_data(const struct evaluation *e, const struct value *value)
{
    for (uint32_t i = 0; i < value->count; i++)
        if (form_bound(e, value->pieces[i].form) != ACCESS_BOUND_DATA)
            return false;
    return true;
}

static const struct predicate *compare(struct evaluation *e, const struct node *node)
{
    const struct value *a = evaluate_node(e, node->a), *b = evaluate_node(e, node->b);
    struct predicate result = {condition_never(), condition_never()};
    uint8_t why = ACCESS_EXACT;
    if (is_data(e, a) && is_data(e, b)) /* neither bounds the other */
        return predicate_unknown(e, ACCESS_BOUND_GUARD);
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count; k++) {
            why = bound_worst(why, bound_worst(form_bound(e, a->pieces[i].form),
                                               form_bound(e, b->pieces[k].form)));
            if (!compare_pieces(e, node, a->pieces[i], b->pieces[k], &result))
                return predicate_unknown(e, why ? ACCESS_BOUND_GUARD : ACCESS_BOUND_SHAPE);
        }
    return predicate_new(e, result.yes, result.no);
}

static const struct predicate *combine(struct evaluation *e, const struct node *node)
{
    const struct predicate *a = evaluate_predicate(e, node->a);
    const struct predicate *b = evaluate_predicate(e, node->b);
    struct condition first, second, yes, no;
    switch (node->operation) {
    case NODE_AND:
        return predicate_new(e, condition_and(e, &a->yes, &b->yes),
                             condition_or(e, &a->no, &b->no));
    case NODE_OR:
        return predicate_new(e, condition_or(e, &a->yes, &b->yes),
                             condition_and(e, &a->no, &b->no));
    default: /* exclusive or */
        first = condition_and(e, &a->yes, &b->no);
        second = condition_and(e, &a->no, &b->yes);
        yes = condition_or(e, &first, &second);
        first = condition_and(e, &a->yes, &b->yes);
        second = condition_and(e, &a->no, &b->no);
        no = condition_or(e, &first, &second);
        return predicate_new(e, yes, no);
    }
}

static const struct predicate *joined(struct evaluation *e, const struct node *node)
{
    struct predicate result = {condition_never(), condition_never()};
    for (uint32_t i = 0; i < node->operand_count; i++) {
        struct condition way = evaluate_way(e, &node->ways[i], node->loop), part;
        if (!way.when.count)
            continue;
        const struct predicate *own = evaluate_predicate(e, node->operands[i]);
        part = condition_and(e, &way, &own->yes);
        result.yes = condition_or(e, &result.yes, &part);
        part = condition_and(e, &way, &own->no);
        result.no = condition_or(e, &result.no, &part);
    }
    return predicate_new(e, result.yes, result.no);
}

static const struct predicate *evaluate_new(struct evaluation *e, const struct node *node)
{
    const struct predicate *a, *b, *c;
    struct condition first, second, yes, no;
    if (evaluate_is_deep(e))
        return predicate_unknown(e, ACCESS_BOUND_BUDGET);
    if (node->kind == NODE_CONSTANT)
        return predicate_constant(e, (node->value & 1) != 0);
    if (node->kind == NODE_JOIN)
        return joined(e, node);
    if (node->kind != NODE_OPERATION)
        return predicate_unknown(e, ACCESS_BOUND_GUARD);
    switch (node->operation) {
    case NODE_LESS:
    case NODE_LESS_EQUAL:
    case NODE_EQUAL:
        return compare(e, node);
    case NODE_AND:
    case NODE_OR:
    case NODE_XOR:
        return combine(e, node);
    case NODE_NOT:
        a = evaluate_predicate(e, node->a);
        return predicate_new(e, a->no, a->yes);
    case NODE_SELECT:
        a = evaluate_predicate(e, node->a);
        b = evaluate_predicate(e, node->b);
        c = evaluate_predicate(e, node->c);
        first = condition_and(e, &a->yes, &b->yes);
        second = condition_and(e, &a->no, &c->yes);
        yes = condition_or(e, &first, &second);
        first = condition_and(e, &a->yes, &b->no);
        second = condition_and(e, &a->no, &c->no);
        no = condition_or(e, &first, &second);
        return predicate_new(e, yes, no);
    default:
        return predicate_unknown(e, ACCESS_BOUND_SHAPE);
    }
}

const struct predicate predicate_busy;

const struct predicate *evaluate_predicate(struct evaluation *e, uint32_t node)
{
    const struct predicate *predicate = e->predicates[node];
    if (predicate == &predicate_busy)
        return predicate_unknown(e, ACCESS_BOUND_SHAPE);
    if (predicate)
        return predicate;
    e->predicates[node] = &predicate_busy;
    predicate = evaluate_new(e, &e->graph->nodes[node]);
    e->predicates[node] = predicate;
    return predicate;
}

/* ---- Blocks ---- */

/* The outermost loop around a block that is not around `within`; 0: none. */
static uint32_t loop_left(const struct value_graph *graph, uint32_t block, uint32_t within)
{
    uint32_t loop = graph->blocks[block].loop, left = 0;
    while (loop && !value_graph_loop_contains(graph, loop, within)) {
        left = loop;
        loop = graph->loops[loop].parent;
    }
    return left;
}

struct condition evaluate_way(struct evaluation *e, const struct value_graph_edge *way,
                              uint32_t loop)
{
    const struct value_graph_block *from = &e->graph->blocks[way->block];
    uint32_t left = loop_left(e->graph, way->block, loop);
    if (left) { /* once for each time the loop is entered, if there is but one way out */
        struct condition entered = evaluate_loop(e, left)->entry;
        if (e->graph->loops[left].exit_count != 1)
            entered.bound = bound_worst(entered.bound, ACCESS_BOUND_GUARD);
        return entered;
    }
    struct condition condition = *evaluate_block(e, way->block);
    if (from->guard_unknown)
        condition.bound = bound_worst(condition.bound, ACCESS_BOUND_GUARD);
    if (!from->guard || from->guard_unknown || condition.when.count == 0)
        return condition;
    const struct predicate *guard = evaluate_predicate(e, from->guard);
    bool yes = way->taken != from->guard_negated;
    return condition_and(e, &condition, yes ? &guard->yes : &guard->no);
}

static struct condition any_way(struct evaluation *e, uint32_t block)
{
    const struct value_graph_block *at = &e->graph->blocks[block];
    struct condition any = condition_never();
    for (uint32_t w = 0; w < at->way_count; w++) {
        struct condition way = evaluate_way(e, &at->ways[w], at->loop);
        any = condition_or(e, &any, &way);
    }
    return any;
}

static struct condition block_new(struct evaluation *e, uint32_t block)
{
    const struct value_graph *graph = e->graph;
    const struct value_graph_block *at = &graph->blocks[block];
    if (at->loop && graph->loops[at->loop].head == block) {
        struct loop_state *state = evaluate_loop(e, at->loop);
        state->asked |= state->busy;
        return state->header;
    }
    if (at->is_entry)
        return at->dominator == VALUE_GRAPH_NO_BLOCK ? condition_always(e)
                                                     : *evaluate_block(e, at->dominator);
    if (evaluate_is_deep(e)) {
        struct condition deep = condition_always(e);
        deep.bound = ACCESS_BOUND_BUDGET;
        return deep;
    }
    uint32_t left = loop_left(graph, at->dominator, at->loop);
    if (left) {
        if (value_graph_postdominates(graph, block, graph->loops[left].head))
            return evaluate_loop(e, left)->entry;
    } else if (graph->blocks[at->dominator].loop == at->loop &&
               value_graph_postdominates(graph, block, at->dominator)) {
        return *evaluate_block(e, at->dominator);
    }
    return any_way(e, block);
}

const struct condition *evaluate_block(struct evaluation *e, uint32_t block)
{
    if (!e->conditions[block]) {
        struct condition *condition = pool_allocate(e->pool, sizeof *condition);
        *condition = condition_always(e); /* while it is not known: a cycle sees this */
        condition->bound = ACCESS_BOUND_SHAPE;
        e->conditions[block] = condition;
        struct condition found = block_new(e, block);
        condition = pool_allocate(e->pool, sizeof *condition);
        *condition = found;
        e->conditions[block] = condition;
    }
    return e->conditions[block];
}
