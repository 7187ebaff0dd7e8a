/* Divides a launch into parts, so that a large grid uses all cores. Part k of n has the blocks k, k
 * + n, ... It is a state of its own, with its own record of touches, and is stepped on its own.
 * Only launches whose results do not depend on the order of blocks (program.ordered) are divided.
 * Each part has the same budget in each step, whichever thread runs it. So how far every block is
 * after a step does not depend on the threads, and parts are as repeatable as one launch. Called by
 * exec.c. */
#include "runtime/device/exec/exec_engine.h"

#include <stdlib.h>

enum {
    BLOCKS_EACH = 4, /* at least, for a part */
    WORTH = 1 << 14  /* warp instructions run before other threads are woken */
};

bool parts_divide(struct exec_state *state, bool ordered)
{
    const struct exec_launch *launch = &state->launch;
    uint64_t most = state->block_total / BLOCKS_EACH, count = launch->parts;
    count = count < most ? count : most;
    if (count < 2 || ordered || launch->cooperative || state->cluster_size > 1 || !launch->together)
        return true;
    state->parts = calloc(count, sizeof *state->parts);
    if (!state->parts)
        return false;
    for (uint32_t k = 0; k < count; k++) {
        struct exec_state *part = state->parts[k] = malloc(sizeof *part);
        if (!part)
            return false;
        state->part_count = k + 1;
        *part = *state;
        part->parts = NULL;
        part->first = k;
        part->stride = count;
        part->block_total = (state->block_total - k + count - 1) / count;
        part->capacity = (uint32_t)((state->capacity + count - 1) / count);
        part->blocks = calloc(part->capacity, sizeof *part->blocks);
        part->touch = state->touch ? touch_create() : NULL;
        if (!part->blocks || (state->touch && !part->touch))
            return false;
    }
    return true;
}

/* Parts in a row on one thread, or at the same time. */
static void step_part(void *job, uint32_t part)
{
    struct exec_state *state = job;
    state_step(state->parts[part], state->budget);
}

static enum exec_status add_up(struct exec_state *state)
{
    bool running = false, spinning = false;
    state->warp_instructions = state->thread_instructions = 0;
    for (uint32_t k = 0; k < state->part_count; k++) {
        const struct exec_state *part = state->parts[k];
        state->warp_instructions += part->warp_instructions;
        state->thread_instructions += part->thread_instructions;
        running |= part->status == EXEC_RUNNING;
        spinning |= part->status == EXEC_SPINNING;
        if (part->status == EXEC_FAULT && state->fault.kind == EXEC_FAULT_NONE)
            state->fault = part->fault;
    }
    return state->fault.kind != EXEC_FAULT_NONE ? EXEC_FAULT
           : running                            ? EXEC_RUNNING
           : spinning                           ? EXEC_SPINNING
                                                : EXEC_DONE;
}

/* Small kernels are done before another thread would have woken up. */
static void step_alone(struct exec_state *state, uint64_t budget)
{
    state->budget = budget;
    for (uint32_t k = 0; k < state->part_count; k++)
        step_part(state, k);
    state->status = add_up(state);
}

enum exec_status parts_step(struct exec_state *state, uint64_t budget)
{
    uint64_t alone = state->warp_instructions < WORTH ? WORTH / state->part_count : 0;
    alone = alone < budget ? alone : budget;
    if (alone)
        step_alone(state, alone);
    if (alone == budget || state->status == EXEC_DONE || state->status == EXEC_FAULT)
        return state->status;
    state->budget = budget - alone;
    state->launch.together(step_part, state, state->part_count);
    return state->status = add_up(state);
}

void parts_touches(struct exec_state *state)
{
    for (uint32_t k = 0; state->touch && k < state->part_count; k++)
        touch_join(state->touch, state->parts[k]->touch);
}

void parts_release(struct exec_state *state)
{
    for (uint32_t k = 0; k < state->part_count; k++) {
        state_release_blocks(state->parts[k]);
        touch_destroy(state->parts[k]->touch);
        free(state->parts[k]);
    }
    free(state->parts);
}
