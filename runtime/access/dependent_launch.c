/* griddepcontrol in kernels. See dependent_launch.h. */
#include "runtime/access/dependent_launch.h"
#include "runtime/access/values/value_builder.h"

void dependent_launch_note(struct builder *b, const struct ptx_instruction *instruction)
{
    bool is_wait = instruction->form == PTX_FORM_GRIDDEP_WAIT;
    struct dependent_launch *found = &b->graph->dependent_launch;
    found->waits |= is_wait;
    found->lets |= !is_wait;
    if (is_wait && instruction->guard != PTX_NO_REGISTER)
        return; /* not every thread waits there */
    b->points = ptx_arena_grow(&b->scratch, b->points, b->point_count, &b->point_capacity,
                               sizeof *b->points);
    b->points[b->point_count++] = (struct dependent_launch_point){
        .block = b->block, .accesses = b->graph->access_count, .is_wait = is_wait};
}

/* A wait that a device function always comes to is one of its caller's, where the call is. */
static void hoist(const struct value_graph *graph, struct dependent_launch_point *point)
{
    for (;;) {
        uint32_t entry = point->block;
        while (!graph->blocks[entry].is_entry && graph->blocks[entry].dominator != entry)
            entry = graph->blocks[entry].dominator;
        if (graph->blocks[entry].function == 0 ||
            !value_graph_postdominates(graph, point->block, entry))
            return;
        point->block = graph->blocks[entry].dominator;
    }
}

/* Behind one of the first `points` points that is a wait, on every way; of the waits of its own
 * block those count that come behind no more than so many accesses. */
static bool is_behind(const struct builder *b, size_t points, uint32_t block, uint32_t accesses)
{
    for (size_t i = 0; i < points; i++) {
        const struct dependent_launch_point *wait = &b->points[i];
        bool before = wait->block == block ? wait->accesses <= accesses
                                           : value_graph_dominates(b->graph, wait->block, block);
        if (wait->is_wait && before)
            return true;
    }
    return false;
}

void dependent_launch_find(struct builder *b)
{
    struct value_graph *graph = b->graph;
    for (size_t i = 0; i < b->point_count; i++)
        if (b->points[i].is_wait)
            hoist(graph, &b->points[i]);
    for (size_t i = 0; i < b->point_count; i++)
        if (!b->points[i].is_wait && !is_behind(b, i, b->points[i].block, b->points[i].accesses))
            graph->dependent_launch.lets_early = true;
    for (uint32_t i = 0; i < graph->access_count; i++)
        graph->accesses[i].early = !is_behind(b, b->point_count, graph->accesses[i].block, i);
}

enum { SCAN_DEPTH = 16, SCAN_INSTRUCTIONS = 50000 };

static void scan(const struct ptx_function *function, unsigned depth, uint32_t *budget,
                 struct dependent_launch *found)
{
    for (uint32_t i = 0; i < function->instruction_count && *budget; i++) {
        const struct ptx_instruction *instruction = &function->instructions[i];
        --*budget;
        if (instruction->opcode == PTX_OP_GRIDDEPCONTROL) {
            bool is_wait = instruction->form == PTX_FORM_GRIDDEP_WAIT;
            found->waits |= is_wait;
            found->lets |= !is_wait;
        }
        const struct ptx_function *callee =
            instruction->call && instruction->call->callee.kind == PTX_OPERAND_FUNCTION
                ? instruction->call->callee.function
                : NULL;
        if (callee && depth < SCAN_DEPTH)
            scan(callee, depth + 1, budget, found);
    }
}

struct dependent_launch dependent_launch_scan(const struct ptx_function *function)
{
    struct dependent_launch found = {0};
    uint32_t budget = SCAN_INSTRUCTIONS;
    scan(function, 0, &budget, &found);
    found.lets_early = found.lets && !found.waits;
    return found;
}
