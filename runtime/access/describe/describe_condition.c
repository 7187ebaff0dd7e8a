/* Conditions in words: predicates, and when control comes to a block. See describer.h. */
#include "runtime/access/describe/describer.h"

#include <inttypes.h>
#include <string.h>

bool describe_is_comparison(const struct node *at)
{
    return at->kind == NODE_OPERATION && at->width == 1 &&
           (at->operation == NODE_LESS || at->operation == NODE_LESS_EQUAL ||
            at->operation == NODE_EQUAL);
}

/* One side, as the comparison sees it. */
static const char *side_text(struct describer *d, const struct node *comparison,
                             const struct symbolic_sum *sum)
{
    const char *text = symbolic_sum_text(&d->scratch, sum, NULL);
    int64_t constant;
    if (comparison->is_signed || comparison->operation == NODE_EQUAL ||
        !symbolic_sum_has_negative(sum))
        return text;
    if (symbolic_sum_is_constant(sum, &constant) && comparison->value == 32)
        return symbolic_sum_print(&d->scratch, NULL, "%" PRIu32, (uint32_t)constant);
    return symbolic_sum_print(&d->scratch, NULL, "unsigned(%s)", text);
}

/* Whether it is the same for the whole launch: parameters and numbers. */
static bool is_uniform(const struct symbolic_sum *sum)
{
    for (uint32_t i = 0; i < sum->count; i++)
        if (strstr(sum->terms[i].text, "Idx") || sum->terms[i].counter || sum->terms[i].cut)
            return false;
    return true;
}

/* A pointer compared with one into the same memory. */
static void cancel_pointer(struct describer *d, const struct symbolic_sum **left,
                           const struct symbolic_sum **right)
{
    const struct symbolic_sum *a = *left, *b = *right;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count && a->terms[i].pointer && !a->terms[i].cut; k++)
            if (a->terms[i].coefficient == b->terms[k].coefficient &&
                strcmp(a->terms[i].text, b->terms[k].text) == 0) {
                const struct symbolic_sum *both = symbolic_sum_term(&d->scratch, a->terms[i]);
                *left = symbolic_sum_add(&d->scratch, a, both, -1);
                *right = symbolic_sum_add(&d->scratch, b, both, -1);
                return;
            }
}

/* What differs from thread to thread stands before what it is compared with. */
static const char *comparison_text(struct describer *d, const struct node *at, bool negated)
{
    static const char *const signs[2][3] = {{"<", "<=", "=="}, {">=", ">", "!="}};
    static const char *const mirrored[2][3] = {{">", ">=", "=="}, {"<=", "<", "!="}};
    const struct symbolic_sum *left = describe_node(d, at->a), *right = describe_node(d, at->b);
    bool swap = is_uniform(left) && (!is_uniform(right) || left->count < right->count);
    const char *sign = (swap ? mirrored : signs)[negated][at->operation - NODE_LESS];
    int64_t constant;
    cancel_pointer(d, &left, &right);
    if (swap) {
        const struct symbolic_sum *other = left;
        left = right;
        right = other;
    }
    /* x > 0 as one writes it, not x >= 1 */
    if (symbolic_sum_is_constant(right, &constant) && constant > 0 && constant < INT32_MAX &&
        sign[1]) {
        int more = strcmp(sign, ">=") == 0 ? -1 : strcmp(sign, "<=") == 0 ? 1 : 0;
        sign = more < 0 ? ">" : more > 0 ? "<" : sign;
        right = symbolic_sum_constant(&d->scratch, constant + more);
    }
    return symbolic_sum_print(&d->scratch, NULL, "%s %s %s", side_text(d, at, left), sign,
                              side_text(d, at, right));
}

/* Both in brackets unless one word decides. */
static const char *both_text(struct describer *d, const struct node *at, bool negated,
                             unsigned depth)
{
    bool is_and = (at->operation == NODE_AND) != negated;
    const char *a = describe_predicate(d, at->a, negated, depth + 1);
    const char *b = describe_predicate(d, at->b, negated, depth + 1);
    return is_and ? symbolic_sum_print(&d->scratch, NULL, "%s && %s", a, b)
                  : symbolic_sum_print(&d->scratch, NULL, "(%s || %s)", a, b);
}

const char *describe_predicate(struct describer *d, uint32_t node, bool negated, unsigned depth)
{
    const struct node *at = &d->graph->nodes[node];
    const char *no = negated ? "!" : "";
    int64_t constant = at->value;
    if (depth > DESCRIBE_DEPTH_CONDITION || d->depth >= DESCRIBE_DEPTH)
        return "...";
    if (describe_is_comparison(at))
        return comparison_text(d, at, negated);
    if (at->kind == NODE_CONSTANT)
        return ((constant & 1) != 0) != negated ? "true" : "false";
    if (at->kind == NODE_OPERATION && at->operation == NODE_NOT)
        return describe_predicate(d, at->a, !negated, depth + 1);
    if (at->kind == NODE_OPERATION && at->width == 1 &&
        (at->operation == NODE_AND || at->operation == NODE_OR))
        return both_text(d, at, negated, depth);
    if (at->kind == NODE_OPERATION && at->width == 1 && at->operation == NODE_XOR)
        return symbolic_sum_print(&d->scratch, NULL, "%s(%s ^ %s)", no,
                                  describe_predicate(d, at->a, false, depth + 1),
                                  describe_predicate(d, at->b, false, depth + 1));
    return symbolic_sum_print(&d->scratch, NULL, "%s%s", no,
                              symbolic_sum_factor(&d->scratch, describe_node(d, node), NULL));
}

/* Whether the access's block is entered on this branch only: the guard of its end says when. */
static const char *edge_text(struct describer *d, const struct value_graph_edge *edge)
{
    const struct value_graph_block *block = &d->graph->blocks[edge->block];
    if (block->guard_unknown)
        return "<indexed branch>";
    if (!block->guard || block->taken == block->next)
        return "";
    return describe_predicate(d, block->guard, block->guard_negated == edge->taken, 0);
}

const char *describe_both(struct describer *d, const char *first, const char *second)
{
    if (!*first || !*second || strcmp(first, second) == 0)
        return *first ? first : second;
    return symbolic_sum_print(&d->scratch, NULL, "%s && %s", first, second);
}

/* The loop's own test stands with the loop. */
static bool is_loop_test(struct describer *d, uint32_t test, uint32_t block)
{
    const struct value_graph *graph = d->graph;
    for (uint32_t loop = graph->blocks[block].loop; loop; loop = graph->loops[loop].parent)
        if (describe_loop(d, loop)->solved && d->loops[loop].test == test)
            return true;
    return false;
}

/* When `block` is entered, seen from its dominator. */
static const char *entered_text(struct describer *d, uint32_t block, uint32_t access,
                                unsigned depth)
{
    const struct value_graph *graph = d->graph;
    const struct value_graph_block *at = &graph->blocks[block];
    uint32_t top = at->dominator, count = at->way_count;
    const char *text = "";
    bool joined = false;
    if (at->is_entry || value_graph_postdominates(graph, block, top) ||
        !value_graph_loop_contains(graph, graph->blocks[top].loop, graph->blocks[access].loop) ||
        is_loop_test(d, top, access))
        return "";
    if (at->loop && graph->loops[at->loop].head == block)
        count = graph->loops[at->loop].outside_ways;
    if (count > DESCRIBE_EITHER || depth > DESCRIBE_DEPTH_CONDITION)
        return "...";
    for (uint32_t i = 0; i < count; i++) {
        const char *way = describe_path(d, top, at->ways[i].block, access, depth + 1);
        way = describe_both(d, way, edge_text(d, &at->ways[i]));
        if (!*way)
            return "";
        if (*text && strcmp(text, way) != 0) {
            text = symbolic_sum_print(&d->scratch, NULL, "%s || %s", text, way);
            joined = true;
        } else {
            text = way;
        }
    }
    return joined ? symbolic_sum_print(&d->scratch, NULL, "(%s)", text) : text;
}

const char *describe_path(struct describer *d, uint32_t top, uint32_t block, uint32_t access,
                          unsigned depth)
{
    const char *text = "";
    for (unsigned i = 0; block != top && block != VALUE_GRAPH_NO_BLOCK && i < 4096; i++) {
        const char *entered = entered_text(d, block, access, depth);
        if (!strstr(text, entered))
            text = describe_both(d, entered, text);
        block = d->graph->blocks[block].dominator;
    }
    return text;
}
