/* Builds the control-flow graph. The function's end is a node of its own while postdominators are
 * computed; a loop that never ends is tied to it by one extra edge, so that every block has a
 * postdominator chain. */
#include "runtime/ptx/cfg.h"
#include "runtime/ptx/dominators.h"

#include <string.h>

/* The graph while it is built: node `blocks` is the function's end. */
struct graph {
    struct ptx_function *function;
    struct ptx_block *blocks;
    uint32_t count; /* of blocks */
    uint32_t *block_of;
    struct edges successors, predecessors; /* between blocks */
    bool *ends;                            /* has an edge to the function's end */
};

static bool ends_block(const struct ptx_instruction *instruction)
{
    switch (instruction->opcode) {
    case PTX_OP_BRA:
    case PTX_OP_BRX:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
    case PTX_OP_TRAP:
        return true;
    default:
        return false;
    }
}

static void find_blocks(struct graph *g, struct arena *arena, struct arena *scratch)
{
    const struct ptx_function *function = g->function;
    uint32_t count = function->instruction_count;
    bool *leads = ptx_arena_array(scratch, (size_t)count + 1, sizeof *leads);
    leads[0] = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_instruction *instruction = &function->instructions[i];
        if (ends_block(instruction))
            leads[i + 1] = true;
        if (instruction->opcode == PTX_OP_BRA)
            leads[instruction->operands[0].target] = true;
        for (uint32_t k = 0; k < instruction->target_count; k++)
            leads[instruction->targets[k]] = true;
    }
    for (uint32_t i = 0; i < count; i++)
        g->count += leads[i];
    g->blocks = ptx_arena_array(arena, g->count, sizeof *g->blocks);
    g->block_of = ptx_arena_array(arena, count, sizeof *g->block_of);
    uint32_t block = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (leads[i] && i > 0)
            block++;
        if (leads[i])
            g->blocks[block].first = i;
        g->blocks[block].count++;
        g->block_of[i] = block;
    }
}

/* Edges are found twice: once to count them, once to store them. */
struct edge_sink {
    uint32_t *targets; /* NULL: only count */
    uint32_t count;
    uint32_t *seen_by; /* by target: the block whose edge to it is known, plus 1 */
};

static void add_edge(struct graph *g, struct edge_sink *sink, uint32_t from, uint32_t instruction)
{
    if (instruction >= g->function->instruction_count) {
        g->ends[from] = true;
        return;
    }
    uint32_t to = g->block_of[instruction];
    if (sink->seen_by[to] == from + 1)
        return;
    sink->seen_by[to] = from + 1;
    if (sink->targets)
        sink->targets[sink->count] = to;
    sink->count++;
}

static void add_block_edges(struct graph *g, struct edge_sink *sink, uint32_t block)
{
    uint32_t last = g->blocks[block].first + g->blocks[block].count - 1;
    const struct ptx_instruction *instruction = &g->function->instructions[last];
    bool falls_through = true;
    switch (instruction->opcode) {
    case PTX_OP_BRA:
        add_edge(g, sink, block, instruction->operands[0].target);
        falls_through = instruction->guard != PTX_NO_REGISTER;
        break;
    case PTX_OP_BRX:
        for (uint32_t k = 0; k < instruction->target_count; k++)
            add_edge(g, sink, block, instruction->targets[k]);
        falls_through = instruction->guard != PTX_NO_REGISTER;
        break;
    case PTX_OP_RET:
    case PTX_OP_EXIT:
    case PTX_OP_TRAP:
        g->ends[block] = true;
        falls_through = instruction->guard != PTX_NO_REGISTER;
        break;
    default:
        break;
    }
    if (falls_through)
        add_edge(g, sink, block, last + 1);
}

static void find_successors(struct graph *g, struct arena *arena, struct arena *scratch)
{
    struct edge_sink sink = {.seen_by = ptx_arena_array(scratch, g->count, sizeof(uint32_t))};
    g->ends = ptx_arena_array(scratch, g->count, sizeof *g->ends);
    g->successors.first = ptx_arena_array(scratch, (size_t)g->count + 1, sizeof(uint32_t));
    for (uint32_t block = 0; block < g->count; block++)
        add_block_edges(g, &sink, block);
    sink.targets = g->successors.targets = ptx_arena_array(arena, sink.count, sizeof(uint32_t));
    sink.count = 0;
    memset(sink.seen_by, 0, g->count * sizeof *sink.seen_by);
    for (uint32_t block = 0; block < g->count; block++) {
        g->successors.first[block] = sink.count;
        add_block_edges(g, &sink, block);
    }
    g->successors.first[g->count] = sink.count;
}

/* The same edges by their targets. */
static struct edges reverse(uint32_t count, const struct edges *edges, struct arena *arena)
{
    struct edges reversed = {ptx_arena_array(arena, (size_t)count + 2, sizeof(uint32_t)),
                             ptx_arena_array(arena, edges->first[count], sizeof(uint32_t))};
    for (uint32_t e = 0; e < edges->first[count]; e++)
        reversed.first[edges->targets[e] + 2]++;
    for (uint32_t i = 1; i <= count; i++)
        reversed.first[i + 1] += reversed.first[i];
    for (uint32_t from = 0; from < count; from++)
        for (uint32_t e = edges->first[from]; e < edges->first[from + 1]; e++)
            reversed.targets[reversed.first[edges->targets[e] + 1]++] = from;
    return reversed;
}

static void store_edges(struct graph *g)
{
    for (uint32_t b = 0; b < g->count; b++) {
        struct ptx_block *block = &g->blocks[b];
        block->successors = g->successors.targets + g->successors.first[b];
        block->successor_count = g->successors.first[b + 1] - g->successors.first[b];
        block->predecessors = g->predecessors.targets + g->predecessors.first[b];
        block->predecessor_count = g->predecessors.first[b + 1] - g->predecessors.first[b];
    }
}

static void find_dominators(struct graph *g, struct arena *scratch)
{
    uint32_t *immediate = ptx_arena_array(scratch, g->count, sizeof *immediate);
    ptx_dominators_find(g->count, 0, &g->successors, &g->predecessors, immediate, scratch);
    for (uint32_t b = 0; b < g->count; b++) {
        g->blocks[b].immediate_dominator = immediate[b];
        g->blocks[b].reachable = immediate[b] != NO_DOMINATOR;
    }
}

static void mark_backwards(struct graph *g, uint32_t block, bool *marked, uint32_t *stack)
{
    uint32_t depth = 0;
    if (marked[block])
        return;
    marked[block] = true;
    stack[depth++] = block;
    while (depth) {
        uint32_t at = stack[--depth];
        for (uint32_t e = g->predecessors.first[at]; e < g->predecessors.first[at + 1]; e++) {
            uint32_t before = g->predecessors.targets[e];
            if (!marked[before]) {
                marked[before] = true;
                stack[depth++] = before;
            }
        }
    }
}

/* Every block must lead to the end, or it has no postdominator: the last block of a loop that never
 * ends is given an edge there. */
static void tie_endless_loops(struct graph *g, struct arena *scratch)
{
    bool *marked = ptx_arena_array(scratch, g->count, sizeof *marked);
    uint32_t *stack = ptx_arena_array(scratch, g->count, sizeof *stack);
    for (uint32_t b = 0; b < g->count; b++)
        if (g->ends[b])
            mark_backwards(g, b, marked, stack);
    for (uint32_t b = g->count; b-- > 0;) {
        if (g->blocks[b].reachable && !marked[b]) {
            g->ends[b] = true;
            mark_backwards(g, b, marked, stack);
        }
    }
}

/* The graph of reachable blocks and the end, backwards: what dominates there postdominates here. */
static void find_postdominators(struct graph *g, struct arena *scratch)
{
    uint32_t nodes = g->count + 1, total = 0;
    struct edges forward = {ptx_arena_array(scratch, (size_t)nodes + 1, sizeof(uint32_t)),
                            ptx_arena_array(scratch,
                                            (size_t)g->successors.first[g->count] + g->count,
                                            sizeof(uint32_t))};
    for (uint32_t b = 0; b < g->count; b++) {
        forward.first[b] = total;
        if (!g->blocks[b].reachable)
            continue;
        for (uint32_t e = g->successors.first[b]; e < g->successors.first[b + 1]; e++)
            forward.targets[total++] = g->successors.targets[e];
        if (g->ends[b])
            forward.targets[total++] = g->count;
    }
    forward.first[g->count] = forward.first[nodes] = total;
    struct edges backward = reverse(nodes, &forward, scratch);
    uint32_t *immediate = ptx_arena_array(scratch, nodes, sizeof *immediate);
    ptx_dominators_find(nodes, g->count, &backward, &forward, immediate, scratch);
    for (uint32_t b = 0; b < g->count; b++)
        g->blocks[b].immediate_postdominator =
            immediate[b] == g->count || immediate[b] == NO_DOMINATOR ? PTX_NO_BLOCK : immediate[b];
}

void ptx_cfg_build(struct ptx_function *function, struct arena *arena, struct arena *scratch)
{
    struct graph g = {.function = function};
    if (function->instruction_count == 0)
        return;
    find_blocks(&g, arena, scratch);
    find_successors(&g, arena, scratch);
    g.predecessors = reverse(g.count, &g.successors, arena);
    store_edges(&g);
    find_dominators(&g, scratch);
    tie_endless_loops(&g, scratch);
    find_postdominators(&g, scratch);
    function->blocks = g.blocks;
    function->block_count = g.count;
    function->block_of = g.block_of;
}
