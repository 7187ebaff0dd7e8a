/* What is seen only when the graph is whole: a LOOP that no round changes is what it was before the
 * loop, a JOIN of one value is that value, an EXIT of what the loop does not change is not needed.
 * Counters of outer loops are found in their steps only then. A counter of 64 bits of which every
 * round takes the low 32 is one of 32 bits. See value_builder.h. */
#include "runtime/access/values/value_builder.h"

#include <string.h>

static uint32_t deeper(const struct value_graph *graph, uint32_t left, uint32_t right)
{
    if (!left || !right)
        return left ? left : right;
    return graph->loops[left].depth >= graph->loops[right].depth ? left : right;
}

/* The node that stands for `number` as well; itself, if none does. */
static uint32_t same_as(const struct value_graph *graph, uint32_t number)
{
    const struct node *node = &graph->nodes[number];
    uint32_t only = 0;
    switch (node->kind) {
    case NODE_LOOP:
        return node->b == number || node->b == node->a ? node->a : number;
    case NODE_EXIT: {
        uint32_t inside = graph->nodes[node->a].loop;
        bool changes = inside && value_graph_loop_contains(graph, (uint32_t)node->value, inside);
        return changes ? number : node->a;
    }
    case NODE_JOIN:
        for (uint32_t i = 0; i < node->operand_count; i++) {
            if (node->operands[i] == number)
                continue;
            if (only && node->operands[i] != only)
                return number;
            only = node->operands[i];
        }
        return only ? only : number;
    default:
        return number;
    }
}

static bool replace(uint32_t *operand, const uint32_t *same)
{
    uint32_t to = same[*operand];
    bool changed = to != *operand;
    *operand = to;
    return changed;
}

static bool replace_in_node(struct node *node, const uint32_t *same)
{
    bool changed = replace(&node->a, same);
    changed |= replace(&node->b, same);
    changed |= replace(&node->c, same);
    uint32_t *operands = (uint32_t *)(uintptr_t)node->operands; /* in the graph's arena */
    for (uint32_t i = 0; i < node->operand_count; i++)
        changed |= replace(&operands[i], same);
    return changed;
}

/* An operation changes in the innermost loop that one of its operands changes in. */
static void find_loop(struct value_graph *graph, struct node *node)
{
    if (node->kind == NODE_OPERATION)
        node->loop = deeper(
            graph,
            deeper(graph, graph->nodes[node->a].loop, node->b ? graph->nodes[node->b].loop : 0),
            node->c ? graph->nodes[node->c].loop : 0);
    else if (node->kind == NODE_PARAM_AT)
        node->loop = graph->nodes[node->a].loop;
}

static bool replace_all(struct value_graph *graph, const uint32_t *same)
{
    bool changed = false;
    for (uint32_t i = 1; i < graph->node_count; i++) {
        struct node *node = &graph->nodes[i];
        if (node->kind == NODE_LOOP && node->b == i) {
            replace(&node->a, same);
            continue; /* nobody's any more */
        }
        changed |= replace_in_node(node, same);
        find_loop(graph, node);
    }
    for (uint32_t i = 0; i < graph->access_count; i++) {
        replace(&graph->accesses[i].address, same);
        replace(&graph->accesses[i].guard, same);
        replace(&graph->accesses[i].size, same);
    }
    for (uint32_t i = 0; i < graph->block_count; i++)
        replace(&graph->blocks[i].guard, same);
    return changed;
}

static bool simplify_once(struct value_graph *graph, uint32_t *same)
{
    for (uint32_t i = 1; i < graph->node_count; i++)
        same[i] = same_as(graph, i);
    for (uint32_t i = 1; i < graph->node_count; i++) /* chains end at their end */
        for (uint32_t steps = 0; same[i] != same[same[i]] && steps < 64; steps++)
            same[i] = same[same[i]];
    return replace_all(graph, same);
}

/* ---- Counters of 64 bits that are one of 32 ---- */

static bool is_low_half(const struct value_graph *graph, uint32_t number, uint32_t of)
{
    const struct node *node = &graph->nodes[number];
    return node->kind == NODE_OPERATION && node->operation == NODE_TRUNCATE && node->width == 32 &&
           node->a == of;
}

/* x = extend(low half of x) + step, as `for (int i = ...; ...; i += n)` is with an n of 64 bits:
 * returns the step, 0 when the node is not like that. */
static uint32_t half_step(const struct value_graph *graph, uint32_t loop)
{
    const struct node *node = &graph->nodes[loop];
    if (node->kind != NODE_LOOP || node->width != 64 || !node->b)
        return 0;
    const struct node *sum = &graph->nodes[node->b];
    if (sum->kind != NODE_OPERATION || sum->operation != NODE_ADD)
        return 0;
    for (unsigned side = 0; side < 2; side++) {
        uint32_t extended = side ? sum->b : sum->a, step = side ? sum->a : sum->b;
        const struct node *extend = &graph->nodes[extended];
        uint32_t changes = graph->nodes[step].loop;
        if (extend->kind == NODE_OPERATION && extend->operation == NODE_EXTEND &&
            is_low_half(graph, extend->a, loop) &&
            !(changes && value_graph_loop_contains(graph, node->loop, changes)))
            return step;
    }
    return 0;
}

/* A LOOP of 32 bits in place of the low halves of one of 64. */
static void narrow_counter(struct builder *b, uint32_t loop, uint32_t step)
{
    struct value_graph *graph = b->graph;
    uint32_t first = node_extend(b, graph->nodes[loop].a, 64, 32, false);
    uint32_t amount = node_extend(b, step, 64, 32, false);
    uint32_t half = node_new(b, NODE_LOOP, 32);
    struct node wide = graph->nodes[loop];
    graph->nodes[half].loop = wide.loop;
    graph->nodes[half].block = wide.block;
    graph->nodes[half].line = wide.line;
    graph->nodes[half].a = first;
    uint32_t next = node_operate(b, NODE_ADD, false, 32, half, amount);
    graph->nodes[half].b = next;
    uint32_t *same = ptx_arena_array(&b->scratch, graph->node_count, sizeof *same);
    for (uint32_t i = 1; i < graph->node_count; i++)
        same[i] = is_low_half(graph, i, loop) ? half : i;
    replace_all(graph, same);
}

enum { SIMPLIFY_ROUNDS = 4, NARROWED = 8 };

void value_graph_simplify(struct builder *b)
{
    uint32_t *same = ptx_arena_array(&b->scratch, b->graph->node_count, sizeof *same);
    uint32_t count = b->graph->node_count, narrowed = 0;
    for (unsigned round = 0; round < SIMPLIFY_ROUNDS; round++)
        if (!simplify_once(b->graph, same))
            break;
    for (uint32_t i = 1; i < count && narrowed < NARROWED; i++) {
        uint32_t step = half_step(b->graph, i);
        if (!step)
            continue;
        narrow_counter(b, i, step);
        narrowed++;
    }
}
