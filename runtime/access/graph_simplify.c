/* What is seen only when the graph is whole: a LOOP that no round changes is what it was before the
 * loop, a JOIN of one value is that value, an EXIT of what the loop does not change is not needed.
 * Counters of outer loops are found in their steps only then. See graph_builder.h. */
#include "graph_builder.h"

#include <string.h>

static uint32_t deeper(const struct graph *graph, uint32_t left, uint32_t right)
{
    if (!left || !right)
        return left ? left : right;
    return graph->loops[left].depth >= graph->loops[right].depth ? left : right;
}

/* The node that stands for `number` as well; itself, if none does. */
static uint32_t same_as(const struct graph *graph, uint32_t number)
{
    const struct node *node = &graph->nodes[number];
    uint32_t only = 0;
    switch (node->kind) {
    case NODE_LOOP:
        return node->b == number || node->b == node->a ? node->a : number;
    case NODE_EXIT: {
        uint32_t inside = graph->nodes[node->a].loop;
        bool changes = inside && graph_loop_contains(graph, (uint32_t)node->value, inside);
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
static void find_loop(struct graph *graph, struct node *node)
{
    if (node->kind == NODE_OPERATION)
        node->loop = deeper(
            graph,
            deeper(graph, graph->nodes[node->a].loop, node->b ? graph->nodes[node->b].loop : 0),
            node->c ? graph->nodes[node->c].loop : 0);
    else if (node->kind == NODE_PARAM_AT)
        node->loop = graph->nodes[node->a].loop;
}

static bool simplify_once(struct graph *graph, uint32_t *same)
{
    bool changed = false;
    for (uint32_t i = 1; i < graph->node_count; i++)
        same[i] = same_as(graph, i);
    for (uint32_t i = 1; i < graph->node_count; i++) /* chains end at their end */
        for (uint32_t steps = 0; same[i] != same[same[i]] && steps < 64; steps++)
            same[i] = same[same[i]];
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

enum { SIMPLIFY_ROUNDS = 4 };

void graph_simplify(struct builder *b)
{
    uint32_t *same = ptx_arena_array(&b->scratch, b->graph->node_count, sizeof *same);
    for (unsigned round = 0; round < SIMPLIFY_ROUNDS; round++)
        if (!simplify_once(b->graph, same))
            break;
}
