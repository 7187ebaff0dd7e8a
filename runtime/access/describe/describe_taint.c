/* What a value depends on beside the launch: memory, and what the analysis does not follow. See
 * describer.h. */
#include "runtime/access/describe/describer.h"

enum { TAINT_ROUNDS = 8 };

void describe_taint_by(struct taint *to, struct taint from)
{
    if (!to->bound)
        *to = from;
}

/* Conditions that decide which of a join's ways is taken. */
static struct taint taint_of_ways(const struct describer *d, const struct node *at)
{
    struct taint taint = {0};
    const struct value_graph *graph = d->graph;
    uint32_t top = graph->blocks[at->value].dominator;
    for (uint32_t i = 0; i < at->operand_count; i++) {
        uint32_t block = at->ways[i].block, steps = 0;
        for (; block != VALUE_GRAPH_NO_BLOCK && steps < DESCRIBE_DEPTH; steps++) {
            describe_taint_by(&taint, d->taints[graph->blocks[block].guard]);
            if (block == top)
                break;
            block = graph->blocks[block].dominator;
        }
    }
    return taint;
}

struct taint describe_taint_of_exits(const struct describer *d, uint32_t loop)
{
    struct taint taint = {0};
    const struct value_graph_loop *at = &d->graph->loops[loop];
    for (uint32_t i = 0; i < at->exit_count; i++)
        describe_taint_by(&taint, d->taints[d->graph->blocks[at->exits[i].block].guard]);
    return taint;
}

static struct taint taint_of(const struct describer *d, const struct node *at)
{
    struct taint taint = {0};
    switch (at->kind) {
    case NODE_LOAD:
        return (struct taint){ACCESS_BOUND_DATA, at->line};
    case NODE_UNKNOWN:
        return (struct taint){at->reason ? at->reason : ACCESS_BOUND_DATA, at->line};
    case NODE_OPERATION:
    case NODE_LOOP:
    case NODE_PARAM_AT:
        describe_taint_by(&taint, d->taints[at->a]);
        describe_taint_by(&taint, d->taints[at->b]);
        describe_taint_by(&taint, d->taints[at->c]);
        return taint;
    case NODE_EXIT:
        describe_taint_by(&taint, d->taints[at->a]);
        describe_taint_by(&taint, describe_taint_of_exits(d, (uint32_t)at->value));
        return taint;
    case NODE_JOIN:
        taint = taint_of_ways(d, at);
        break;
    case NODE_LOOKUP:
        describe_taint_by(&taint, d->taints[at->a]);
        break;
    default:
        return taint;
    }
    for (uint32_t i = 0; i < at->operand_count; i++)
        describe_taint_by(&taint, d->taints[at->operands[i]]);
    return taint;
}

/* Loops hand what they depend on round and round. */
void describe_find_taints(struct describer *d)
{
    bool changed = true;
    for (unsigned round = 0; changed && round < TAINT_ROUNDS; round++) {
        changed = false;
        for (uint32_t i = 1; i < d->graph->node_count; i++)
            if (!d->taints[i].bound) {
                d->taints[i] = taint_of(d, &d->graph->nodes[i]);
                changed |= d->taints[i].bound != ACCESS_EXACT;
            }
    }
}

/* Conditions on the way to the block that no launch decides. */
struct taint describe_taint_of_block(const struct describer *d, uint32_t block)
{
    const struct value_graph *graph = d->graph;
    struct taint taint = {0};
    while (block != VALUE_GRAPH_NO_BLOCK) {
        const struct value_graph_block *at = &graph->blocks[block];
        uint32_t top = at->dominator;
        if (top != VALUE_GRAPH_NO_BLOCK && !at->is_entry &&
            !value_graph_postdominates(graph, block, top))
            for (uint32_t w = 0; w < at->way_count; w++) {
                const struct value_graph_block *from = &graph->blocks[at->ways[w].block];
                if (value_graph_dominates(graph, block, at->ways[w].block))
                    continue; /* a way back */
                describe_taint_by(&taint, d->taints[from->guard]);
                if (from->guard_unknown)
                    describe_taint_by(&taint, (struct taint){ACCESS_BOUND_DATA, 0});
                describe_taint_by(&taint, d->taints[graph->blocks[top].guard]);
            }
        block = top;
    }
    return taint;
}
