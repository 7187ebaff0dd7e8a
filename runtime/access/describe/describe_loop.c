/* Loops in words. A loop's counter is the common part of its values that grow by the same amount
 * each round. The test that leaves the loop gives its number of rounds. See describer.h. */
#include "runtime/access/describe/describer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BUDGET_STEP = 1000 /* nodes looked at for one value of a loop */ };

static const struct symbolic_sum *last_round(struct describer *d, const struct loop_text *at,
                                             int64_t plus);

/* Letters in the order in which loops appear, outer loops before inner ones. */
const char *describe_loop_name(struct describer *d, uint32_t loop)
{
    struct loop_text *at = &d->loops[loop];
    if (at->name)
        return at->name;
    if (d->graph->loops[loop].parent)
        describe_loop_name(d, d->graph->loops[loop].parent);
    uint32_t number = d->named_loops++;
    at->name = number < 6 ? symbolic_sum_print(&d->scratch, NULL, "%c", "ijklmn"[number])
                          : symbolic_sum_print(&d->scratch, NULL, "i%" PRIu32, number);
    return at->name;
}

/* ---- Values ---- */

/* One value of a loop that is looked for in what it becomes. */
struct stepping {
    uint32_t value, loop; /* node and loop */
    unsigned budget;
};

static bool step_of(struct describer *d, struct stepping *from, uint32_t node,
                    const struct symbolic_sum **step, unsigned depth);

static bool same_sum(struct describer *d, const struct symbolic_sum *a,
                     const struct symbolic_sum *b)
{
    int64_t rest;
    return symbolic_sum_is_constant(symbolic_sum_add(&d->scratch, a, b, -1), &rest) && rest == 0;
}

static bool step_of_sum(struct describer *d, struct stepping *from, const struct node *at,
                        const struct symbolic_sum **step, unsigned depth)
{
    const struct node *nodes = d->graph->nodes;
    bool left_stays = !value_graph_loop_contains(d->graph, from->loop, nodes[at->a].loop);
    bool right_stays = !value_graph_loop_contains(d->graph, from->loop, nodes[at->b].loop);
    bool adds = at->operation == NODE_ADD;
    uint32_t goes_on = right_stays ? at->a : at->b, stays = right_stays ? at->b : at->a;
    if ((!right_stays && !(left_stays && adds)) || !step_of(d, from, goes_on, step, depth + 1))
        return false;
    *step = symbolic_sum_add(&d->scratch, *step, describe_node(d, stays), adds ? 1 : -1);
    return true;
}

/* The same on every way. */
static bool step_of_join(struct describer *d, struct stepping *from, const struct node *at,
                         const struct symbolic_sum **step, unsigned depth)
{
    const struct symbolic_sum *other;
    if (!at->operand_count || !step_of(d, from, at->operands[0], step, depth + 1))
        return false;
    for (uint32_t i = 1; i < at->operand_count; i++)
        if (!step_of(d, from, at->operands[i], &other, depth + 1) || !same_sum(d, *step, other))
            return false;
    return true;
}

/* What `node` is more than the loop's value at the start of the round, if that is the same in every
 * round. */
static bool step_of(struct describer *d, struct stepping *from, uint32_t node,
                    const struct symbolic_sum **step, unsigned depth)
{
    const struct node *at = &d->graph->nodes[node];
    if (node == from->value) {
        *step = symbolic_sum_constant(&d->scratch, 0);
        return true;
    }
    if (depth > DESCRIBE_DEPTH || from->budget == 0)
        return false;
    from->budget--;
    if (at->kind == NODE_EXIT)
        return step_of(d, from, at->a, step, depth + 1);
    if (at->kind == NODE_JOIN)
        return step_of_join(d, from, at, step, depth);
    if (at->kind == NODE_LOOP) { /* through an inner loop, unchanged */
        struct stepping inner = {node, at->loop, from->budget};
        int64_t constant;
        bool stays = step_of(d, &inner, at->b, step, depth + 1) &&
                     symbolic_sum_is_constant(*step, &constant) && constant == 0;
        from->budget = inner.budget;
        return stays && step_of(d, from, at->a, step, depth + 1);
    }
    if (at->kind != NODE_OPERATION)
        return false;
    if (at->operation == NODE_EXTEND || at->operation == NODE_TRUNCATE)
        return step_of(d, from, at->a, step, depth + 1);
    return (at->operation == NODE_ADD || at->operation == NODE_SUB) &&
           step_of_sum(d, from, at, step, depth);
}

static const struct symbolic_sum *counter(struct describer *d, uint32_t loop)
{
    return symbolic_sum_term(
        &d->scratch, (struct symbolic_sum_term){
                         .coefficient = 1, .text = describe_loop_name(d, loop), .counter = loop});
}

const struct symbolic_sum *describe_loop_value(struct describer *d, uint32_t node)
{
    const struct node *at = &d->graph->nodes[node];
    const struct symbolic_sum *start = describe_node(d, at->a), *step;
    struct stepping from = {node, at->loop, BUDGET_STEP};
    if (step_of(d, &from, at->b, &step, 0))
        return symbolic_sum_add(&d->scratch, start,
                                symbolic_sum_multiply(&d->scratch, step, counter(d, at->loop)), 1);
    /* A pointer that moves irregularly is still one into the same memory. */
    if (start->count && start->terms[0].pointer && !start->terms[0].cut) {
        struct symbolic_sum *base = symbolic_sum_term(&d->scratch, start->terms[0]);
        const struct symbolic_sum *varies =
            describe_opaque(d,
                            symbolic_sum_print(&d->scratch, NULL, "<varies in loop %s>",
                                               describe_loop_name(d, at->loop)),
                            true);
        return symbolic_sum_add(&d->scratch, base, varies, 1);
    }
    bool cut = true;
    return describe_opaque(d,
                           symbolic_sum_print(&d->scratch, &cut, "<varies in loop %s from %s>",
                                              describe_loop_name(d, at->loop),
                                              symbolic_sum_text(&d->scratch, start, &cut)),
                           true);
}

/* A term that counts rounds, in the last one. A quotient that leaves no rest is multiplied out. */
static const struct symbolic_sum *counted_to_the_end(struct describer *d,
                                                     const struct symbolic_sum_term *term,
                                                     const struct loop_text *loop,
                                                     const struct symbolic_sum *last)
{
    const struct symbolic_sum *one = symbolic_sum_constant(&d->scratch, 1),
                              *step = term->step ? term->step : one;
    int64_t divisor;
    if (loop->solved && loop->sole && loop->differs && !term->step &&
        symbolic_sum_is_constant(loop->step, &divisor) && term->coefficient % divisor == 0)
        return symbolic_sum_add(&d->scratch, symbolic_sum_constant(&d->scratch, 0), loop->rest,
                                term->coefficient / divisor);
    return symbolic_sum_add(&d->scratch, symbolic_sum_constant(&d->scratch, 0),
                            symbolic_sum_multiply(&d->scratch, step, last), term->coefficient);
}

/* The value as of the round in which the loop was left. */
const struct symbolic_sum *describe_exit(struct describer *d, const struct node *at)
{
    uint32_t loop = (uint32_t)at->value;
    const struct symbolic_sum *sum = describe_node(d, at->a);
    bool counts = false;
    for (uint32_t i = 0; i < sum->count; i++)
        counts |= sum->terms[i].counter == loop;
    if (!counts)
        return sum;
    const struct loop_text *left = describe_loop(d, loop);
    const struct symbolic_sum *last = left->solved && left->sole ? last_round(d, left, 0) : NULL;
    if (!last)
        last = describe_opaque(
            d, symbolic_sum_print(&d->scratch, NULL, "last(%s)", describe_loop_name(d, loop)),
            false);
    const struct symbolic_sum *result = symbolic_sum_constant(&d->scratch, sum->constant);
    for (uint32_t i = 0; i < sum->count; i++)
        result = symbolic_sum_add(&d->scratch, result,
                                  sum->terms[i].counter == loop
                                      ? counted_to_the_end(d, &sum->terms[i], left, last)
                                      : symbolic_sum_term(&d->scratch, sum->terms[i]),
                                  1);
    return result;
}

/* ---- How often it turns ---- */

/* A sum that is above 0 (with *differs: not 0) as long as the loop goes on. */
static const struct symbolic_sum *goes_on(struct describer *d, uint32_t guard, bool holds,
                                          bool *differs)
{
    const struct node *at = &d->graph->nodes[guard];
    while (at->kind == NODE_OPERATION && at->operation == NODE_NOT) {
        at = &d->graph->nodes[at->a];
        holds = !holds;
    }
    if (!describe_is_comparison(at) || (at->operation == NODE_EQUAL && holds))
        return NULL;
    const struct symbolic_sum *left = describe_node(d, at->a), *right = describe_node(d, at->b);
    *differs = at->operation == NODE_EQUAL;
    struct symbolic_sum *sum = holds || *differs ? symbolic_sum_add(&d->scratch, right, left, -1)
                                                 : symbolic_sum_add(&d->scratch, left, right, -1);
    bool equal_too = (at->operation == NODE_LESS_EQUAL) == holds;
    return *differs || !equal_too
               ? sum
               : symbolic_sum_add(&d->scratch, sum, symbolic_sum_constant(&d->scratch, 1), 1);
}

/* Takes what two sums have in common out of both. */
static void cancel(struct describer *d, const struct symbolic_sum **a,
                   const struct symbolic_sum **b)
{
    struct symbolic_sum *left, *right;
    uint64_t x = (uint64_t)llabs(symbolic_sum_content(*a, true)),
             y = (uint64_t)llabs(symbolic_sum_content(*b, true));
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    if (x > 1 && symbolic_sum_divide(&d->scratch, *a, (int64_t)x, &left) &&
        symbolic_sum_divide(&d->scratch, *b, (int64_t)x, &right)) {
        *a = left;
        *b = right;
    }
}

/* The round in which the test leaves the loop, plus some. */
static const struct symbolic_sum *last_round(struct describer *d, const struct loop_text *at,
                                             int64_t plus)
{
    const struct symbolic_sum *rest = symbolic_sum_add(&d->scratch, at->rest, at->step, plus),
                              *step = at->step;
    int64_t constant;
    struct symbolic_sum *rounds;
    bool cut = false;
    if (symbolic_sum_is_constant(step, &constant) &&
        symbolic_sum_divide(&d->scratch, rest, constant, &rounds))
        return rounds;
    cancel(d, &rest, &step);
    const char *above = symbolic_sum_factor(&d->scratch, rest, &cut);
    const char *below = symbolic_sum_factor(&d->scratch, step, &cut);
    if (strchr(below, '*') && below[0] != '(')
        below = symbolic_sum_print(&d->scratch, &cut, "(%s)", below);
    const char *text = symbolic_sum_print(
        &d->scratch, &cut, at->differs ? "(%s / %s)" : "ceil(%s / %s)", above, below);
    return describe_opaque(d, text, cut);
}

/* Whether the edge's block is passed in every round. */
static bool is_always_tested(const struct value_graph *graph, uint32_t loop,
                             const struct value_graph_edge *edge)
{
    const struct value_graph_block *head = &graph->blocks[graph->loops[loop].head];
    for (uint32_t w = graph->loops[loop].outside_ways; w < head->way_count; w++)
        if (!value_graph_dominates(graph, edge->block, head->ways[w].block))
            return false;
    return graph->blocks[edge->block].guard && graph->blocks[edge->block].loop == loop;
}

/* Separates the counter from the rest; false: it is not counted, or not towards the end. */
static bool split_test(struct describer *d, uint32_t loop, const struct symbolic_sum *test,
                       struct loop_text *at)
{
    const struct symbolic_sum *rest = symbolic_sum_constant(&d->scratch, test->constant);
    const struct symbolic_sum *step = symbolic_sum_constant(&d->scratch, 0);
    int64_t constant;
    for (uint32_t i = 0; i < test->count; i++) {
        const struct symbolic_sum_term *term = &test->terms[i];
        const struct symbolic_sum *one = symbolic_sum_constant(&d->scratch, 1);
        if (term->counter == loop)
            step = symbolic_sum_add(&d->scratch, step, term->step ? term->step : one,
                                    -term->coefficient);
        else if (term->cut)
            return false;
        else
            rest = symbolic_sum_add(&d->scratch, rest, symbolic_sum_term(&d->scratch, *term), 1);
    }
    bool is_constant = symbolic_sum_is_constant(step, &constant);
    if ((is_constant && constant == 0) || (!is_constant && symbolic_sum_has_negative(step)))
        return false;
    if (is_constant && constant < 0) {
        if (!at->differs)
            return false;
        rest = symbolic_sum_add(&d->scratch, symbolic_sum_constant(&d->scratch, 0), rest, -1);
        step = symbolic_sum_constant(&d->scratch, -constant);
    }
    at->rest = rest;
    at->step = step;
    return true;
}

const struct loop_text *describe_loop(struct describer *d, uint32_t loop)
{
    struct loop_text *at = &d->loops[loop];
    const struct value_graph_loop *own = &d->graph->loops[loop];
    if (at->asked)
        return at;
    at->asked = true; /* while it is being solved nothing may count on it */
    for (uint32_t i = 0; i < own->exit_count && !at->solved; i++) {
        const struct value_graph_edge *edge = &own->exits[i];
        const struct value_graph_block *block = &d->graph->blocks[edge->block];
        if (!is_always_tested(d->graph, loop, edge))
            continue;
        /* taken is guard != negated; it leaves when taken == edge->taken */
        const struct symbolic_sum *test =
            goes_on(d, block->guard, block->guard_negated == edge->taken, &at->differs);
        at->test = edge->block;
        at->sole = own->exit_count == 1;
        at->solved = test && split_test(d, loop, test, at);
    }
    return at;
}

/* ---- Around an access ---- */

/* Whether the word stands in the text by itself. */
static bool mentions(const char *text, const char *word)
{
    size_t length = strlen(word);
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        if ((at == text || !strchr(letters, at[-1])) &&
            (!at[length] || !strchr(letters, at[length])))
            return true;
    return false;
}

static const char *one_loop(struct describer *d, uint32_t loop, uint32_t block)
{
    const struct loop_text *at = describe_loop(d, loop);
    const char *name = describe_loop_name(d, loop);
    if (!at->solved)
        return symbolic_sum_print(&d->scratch, NULL, "for %s in 0..", name);
    /* Behind the test the last round does not come by; before it, it does. */
    bool behind = at->test != block && value_graph_dominates(d->graph, at->test, block);
    const struct symbolic_sum *end = last_round(d, at, behind ? 0 : 1);
    return symbolic_sum_print(&d->scratch, NULL, "for %s in 0..%s%s", name,
                              symbolic_sum_factor(&d->scratch, end, NULL),
                              at->sole ? "" : " or fewer");
}

/* The loops whose counters the text speaks of, outermost first. */
const char *describe_loops(struct describer *d, uint32_t block, const char *offset,
                           const char *guard)
{
    const char *text = "";
    for (uint32_t loop = d->graph->blocks[block].loop; loop; loop = d->graph->loops[loop].parent) {
        const char *name = describe_loop_name(d, loop);
        if (!mentions(offset, name) && !mentions(guard, name) && !mentions(text, name))
            continue;
        const char *more = one_loop(d, loop, block);
        text = *text ? symbolic_sum_print(&d->scratch, NULL, "%s, %s", more, text) : more;
    }
    return text;
}
