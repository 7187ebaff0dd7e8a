/* Starts a launch, lets its blocks and their warps take turns, and ends it. Blocks run one after
 * the other. A block that does not finish in its turn stays resident. The next one is begun
 * beside it, if a device would hold both. So blocks that wait for one another all make progress. */
#include "runtime/device/exec/exec_engine.h"
#include "runtime/device/exec/exec_lockstep.h"
#include "runtime/device/exec/float_control.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    BLOCK_TURN = 1 << 16, /* warp instructions of a block before the next has a turn */
    PATIENCE = 64,        /* turns of a block that works on and on, before one more is begun */
    PROCESSORS = 132,
    PROCESSOR_THREADS = 2048,
    PROCESSOR_BLOCKS = 32,
    PROCESSOR_SHARED = 233472,
    BLOCK_THREADS = 1024
};

/* ---- blocks -------------------------------------------------------------------------------- */

static void block_release(struct block *block)
{
    if (!block)
        return;
    for (uint32_t i = 0; block->warps && i < block->warp_count; i++)
        warp_release(&block->warps[i]);
    free(block->warps);
    free(block->shared);
    free(block->arrived);
    free(block);
}

static struct block *block_create(struct exec_state *state, uint32_t place)
{
    struct block *block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    uint32_t n = block->warp_count = state->warp_count;
    block->state = state;
    block->place = place;
    if ((block->warps = aligned_alloc(_Alignof(struct warp), n * sizeof *block->warps)))
        memset(block->warps, 0, n * sizeof *block->warps);
    block->shared = aligned_alloc(1024, (state->shared_bytes + 2047) & ~(size_t)1023);
    block->arrived = calloc((2 * ALL_BARRIERS + 2) * (size_t)n, sizeof *block->arrived);
    if (!block->warps || !block->shared || !block->arrived) {
        block_release(block);
        return NULL;
    }
    block->voted = block->arrived + ALL_BARRIERS * (size_t)n;
    block->cluster_arrived = block->voted + ALL_BARRIERS * (size_t)n;
    block->cluster_open = block->cluster_arrived + n;
    return block;
}

/* Which block of the grid is number `linear`: clusters are numbered one after the other. */
static void locate(const struct exec_state *state, struct block *block, uint64_t linear)
{
    const uint32_t *grid = state->launch.grid, *cluster = state->launch.cluster;
    uint64_t which = linear / state->cluster_size;
    uint32_t rank = (uint32_t)(linear % state->cluster_size);
    uint32_t inside[3] = {rank % cluster[0], rank / cluster[0] % cluster[1],
                          rank / cluster[0] / cluster[1]};
    for (int axis = 0; axis < 3; axis++) {
        uint32_t clusters = grid[axis] / cluster[axis];
        block->id[axis] = (uint32_t)(which % clusters) * cluster[axis] + inside[axis];
        which /= clusters;
    }
    block->linear =
        block->id[0] + (uint64_t)grid[0] * (block->id[1] + (uint64_t)grid[1] * block->id[2]);
    block->cluster_rank = rank;
    block->cluster_first = block->place - rank;
}

static bool block_start(struct exec_state *state, uint32_t place)
{
    if (!state->blocks[place])
        state->blocks[place] = block_create(state, place);
    struct block *block = state->blocks[place];
    if (!block)
        return false;
    locate(state, block, state->first + state->stride * state->block_next++);
    memset(block->shared, 0, state->shared_bytes);
    memset(block->arrived, 0,
           (2 * ALL_BARRIERS + 2) * (size_t)block->warp_count * sizeof(uint32_t));
    memset(block->barriers, 0, sizeof block->barriers);
    block->next_warp = 0;
    block->alive = block->warp_count;
    block->turns = 0;
    block->active = true;
    for (uint32_t i = 0; i < block->warp_count; i++)
        if (!warp_start(&block->warps[i], block, i))
            return false;
    return true;
}

/* Begin the next cluster of blocks (or block) at this place. */
static bool start_next(struct exec_state *state, uint32_t place)
{
    for (uint32_t r = 0; r < state->cluster_size; r++)
        if (!block_start(state, place + r)) {
            fault_state(state, EXEC_FAULT_MEMORY);
            return false;
        }
    state->active += state->cluster_size;
    return true;
}

/* ---- turns --------------------------------------------------------------------------------- */

/* The block runs until it ends, waits, or has had its turn. */
static enum turn take_turn(struct exec_state *state, struct block *block)
{
    int64_t budget = (int64_t)state->budget < BLOCK_TURN ? (int64_t)state->budget : BLOCK_TURN;
    int64_t start = budget;
    enum turn turn;
    do
        turn = round_run(block, &budget);
    while (turn == TURN_MORE && budget > 0);
    lockstep_settle(block);
    block->turns++;
    uint64_t used = (uint64_t)(start - budget) + 1;
    state->budget -= used < state->budget ? used : state->budget;
    return turn;
}

static bool cluster_finished(const struct exec_state *state, uint32_t first)
{
    for (uint32_t r = 0; r < state->cluster_size; r++) {
        const struct block *block = state->blocks[first + r];
        for (uint32_t i = 0; i < block->warp_count; i++)
            if (block->warps[i].alive)
                return false;
    }
    return true;
}

/* The blocks of a cluster leave together: their shared memory serves the others until then. */
static void finish_block(struct exec_state *state, struct block *block)
{
    uint32_t first = block->cluster_first;
    if (!cluster_finished(state, first))
        return;
    for (uint32_t r = 0; r < state->cluster_size; r++) {
        state->blocks[first + r]->active = false;
        state->lets += !state->blocks[first + r]->lets;
        state->blocks[first + r]->lets = false;
    }
    state->active -= state->cluster_size;
    state->progress++;
    if (state->block_next < state->block_total)
        start_next(state, first);
}

/* Begin one more block beside those that have not finished. */
static void widen(struct exec_state *state)
{
    if (state->block_next >= state->block_total ||
        state->resident + state->cluster_size > state->capacity)
        return;
    if (start_next(state, state->resident))
        state->resident += state->cluster_size;
}

/* The next block that is in flight, after the one whose turn it was. */
static struct block *next_block(struct exec_state *state)
{
    for (uint32_t i = 0; i < state->resident; i++) {
        struct block *block = state->blocks[state->turn];
        state->turn = (state->turn + 1) % state->resident;
        if (block && block->active)
            return block;
    }
    return NULL;
}

static uint64_t nanoseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Blocks take turns until the budget is used up or there is nothing to do but wait. */
static enum exec_status run(struct exec_state *state)
{
    uint32_t idle = 0, blocked = 0;
    while (state->budget > 0) {
        struct block *block = next_block(state);
        if (!block)
            return EXEC_DONE;
        uint64_t progress = state->progress;
        uint64_t next = state->block_next;
        enum turn turn = take_turn(state, block);
        if (turn == TURN_FAULT)
            return EXEC_FAULT;
        if (turn == TURN_FINISHED)
            finish_block(state, block);
        else if (turn != TURN_MORE || block->turns % PATIENCE == 0)
            widen(state);
        if (state->fault.kind != EXEC_FAULT_NONE)
            return EXEC_FAULT;
        bool waits = turn == TURN_IDLE || turn == TURN_BLOCKED || turn == TURN_FINISHED;
        if (!waits || progress != state->progress || next != state->block_next) {
            idle = blocked = 0;
            continue;
        }
        idle++;
        blocked += turn != TURN_IDLE;
        if (idle < 2 * state->resident)
            continue;
        if (blocked == idle) {
            fault_state(state, EXEC_FAULT_DEADLOCK);
            return EXEC_FAULT;
        }
        return EXEC_SPINNING;
    }
    return state->active || state->block_next < state->block_total ? EXEC_RUNNING : EXEC_DONE;
}

/* ---- the launch ---------------------------------------------------------------------------- */

static uint64_t product(const uint32_t *axes)
{
    return (uint64_t)axes[0] * axes[1] * axes[2];
}

/* Blocks that a device of 132 multiprocessors holds at once. */
static uint64_t device_capacity(const struct exec_state *state)
{
    uint64_t threads = (uint64_t)state->warp_count * WARP_LANES;
    uint64_t each = PROCESSOR_THREADS / threads;
    uint64_t by_shared = PROCESSOR_SHARED / (state->shared_bytes + 1024u);
    each = each < PROCESSOR_BLOCKS ? each : PROCESSOR_BLOCKS;
    each = each < by_shared ? each : by_shared;
    return PROCESSORS * (each ? each : 1);
}

static bool check_sizes(const struct exec_launch *launch, char *message, size_t bytes)
{
    const char *name = launch->kernel->name;
    uint64_t threads = product(launch->block);
    if (product(launch->grid) == 0 || threads == 0 || threads > BLOCK_THREADS) {
        snprintf(message, bytes, "kernel '%s': impossible grid or block size", name);
        return false;
    }
    for (int axis = 0; axis < 3; axis++) {
        uint32_t cluster = launch->cluster[axis];
        if (cluster > 1 && launch->grid[axis] % cluster) {
            snprintf(message, bytes, "kernel '%s': the grid is no multiple of the cluster", name);
            return false;
        }
    }
    if (launch->memory.window % (16 << 20) != 0 || !launch->memory.find) {
        snprintf(message, bytes, "kernel '%s': no memory to run in", name);
        return false;
    }
    return true;
}

static bool set_up(struct exec_state *state)
{
    struct exec_launch *launch = &state->launch;
    const struct exec_image *image = launch->image;
    uint64_t shared = image->shared_base[state->program->index] + launch->kernel->shared_bytes;
    if (launch->dynamic_shared)
        shared = image->dynamic_base + launch->dynamic_shared;
    state->cluster_size = 1;
    for (int axis = 0; axis < 3; axis++) {
        launch->cluster[axis] = launch->cluster[axis] ? launch->cluster[axis] : 1;
        state->cluster_size *= launch->cluster[axis];
    }
    if (shared > SHARED_LIMIT || state->cluster_size > 16)
        return false;
    /* Compilers load the last elements by the widest vector that the array's alignment lets them,
     * as if the array went on to its end. */
    state->shared_bytes = (uint32_t)(shared + VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES;
    state->block_total = product(launch->grid);
    state->threads = (uint32_t)product(launch->block);
    state->warp_count = (state->threads + WARP_LANES - 1) / WARP_LANES;
    state->consecutive = launch->block[0] % WARP_LANES == 0 || state->threads == launch->block[0];
    uint64_t capacity = launch->resident_blocks ? launch->resident_blocks : device_capacity(state);
    if (launch->cooperative || capacity > state->block_total)
        capacity = state->block_total;
    capacity = capacity < state->cluster_size ? state->cluster_size : capacity;
    if (capacity > 1 << 20)
        return false;
    state->capacity = (uint32_t)(capacity / state->cluster_size * state->cluster_size);
    state->local_limit = launch->local_limit ? launch->local_limit : 1 << 20;
    if (state->local_limit > LOCAL_LIMIT / 2)
        state->local_limit = LOCAL_LIMIT / 2;
    state->started = nanoseconds();
    state->stride = 1;
    state->blocks = calloc(state->capacity, sizeof *state->blocks);
    state->params = calloc(1, (size_t)launch->kernel->param_bytes + 16);
    if (!state->blocks || !state->params)
        return false;
    if (launch->kernel->param_bytes && launch->params)
        memcpy(state->params, launch->params, launch->kernel->param_bytes);
    launch->params = state->params;
    compiled_prepare(state);
    if (launch->touches && !(state->touch = touch_create()))
        return false;
    return true;
}

/* A kernel with cluster dimensions of its own (.reqnctapercluster) needs none in the launch. */
static struct exec_launch with_cluster(const struct exec_launch *launch)
{
    struct exec_launch complete = *launch;
    if (launch->kernel && product(launch->cluster) <= 1 && launch->kernel->required_cluster[0])
        memcpy(complete.cluster, launch->kernel->required_cluster, sizeof complete.cluster);
    return complete;
}

/* ---- the compiler of kernels ------------------------------------------------------------------
 */

static const struct exec_compiler *registered;

void exec_set_compiler(const struct exec_compiler *compiler)
{
    registered = compiler;
}

const struct exec_compiler *exec_compiler(void)
{
    return registered;
}

/* The kernel ran for so long: it may be worth compiling. */
static void consider(struct exec_state *state, uint64_t before)
{
    const uint64_t now = state->warp_instructions - before;
    if (registered)
        registered->consider(state->program, atomic_fetch_add(&state->program->ran, now) + now);
}

exec_state *exec_begin(const struct exec_launch *request, char *message, size_t message_bytes)
{
    const struct exec_launch complete = with_cluster(request), *launch = &complete;
    bool ordered;
    if (!image_prepare(launch->image, launch->kernel, &ordered, message, message_bytes) ||
        !check_sizes(launch, message, message_bytes))
        return NULL;
    exec_state *state = calloc(1, sizeof *state);
    uint32_t index = image_function(launch->image, launch->kernel);
    if (state) {
        state->launch = *launch;
        state->launch.kernel = launch->image->module->functions[index];
        state->program = image_program(launch->image, index);
    }
    if (state)
        consider(state, 0);
    if (!state || !set_up(state) || !parts_divide(state, ordered)) {
        snprintf(message, message_bytes,
                 "kernel '%s': not enough memory, or too much shared memory", launch->kernel->name);
        exec_end(state);
        return NULL;
    }
    return state;
}

/* Blocks of a cooperative launch are all there from the start. */
static bool start_first(struct exec_state *state)
{
    do {
        if (!start_next(state, state->resident))
            return false;
        state->resident += state->cluster_size;
    } while (state->launch.cooperative && state->resident < state->capacity);
    return true;
}

enum exec_status state_step(struct exec_state *state, uint64_t budget)
{
    if (state->status == EXEC_DONE || state->status == EXEC_FAULT)
        return state->status;
    const uint64_t control = float_control_get();
    float_control_set(FLOAT_CONTROL_DEFAULT);
    space_forget(state);
    state->budget = budget;
    const uint64_t before = state->warp_instructions;
    if (state->resident == 0 && !start_first(state))
        state->status = EXEC_FAULT;
    else
        state->status = run(state);
    float_control_set(control);
    consider(state, before);
    return state->status;
}

enum exec_status exec_step(exec_state *state, uint64_t budget)
{
    if (state->status == EXEC_DONE || state->status == EXEC_FAULT)
        return state->status;
    budget = budget < 1 ? 1 : budget > INT32_MAX ? INT32_MAX : budget;
    return state->parts ? parts_step(state, budget) : state_step(state, budget);
}

const struct exec_fault *exec_fault(const exec_state *state)
{
    return &state->fault;
}

/* What the state touched, in its own record. */
static const struct device_trace_range *ranges_of(struct exec_state *state, size_t *count)
{
    free(state->ranges);
    *count = 0;
    state->ranges = state->touch ? touch_ranges(state->touch, count) : NULL;
    state->touches_lost |= state->touch && (touch_failed(state->touch) ||
                                            (!state->ranges && !touch_is_empty(state->touch)));
    return state->ranges;
}

const struct device_trace_range *exec_touches(exec_state *state, size_t *count)
{
    parts_touches(state);
    if (state->earlier && state->touch)
        touch_join(state->touch, state->earlier);
    return ranges_of(state, count);
}

bool exec_touches_lost(const exec_state *state)
{
    return state->touches_lost;
}

const struct device_trace_range *exec_touches_since(exec_state *state, size_t *count)
{
    ranges_of(state, count);
    if (!state->earlier)
        state->earlier = touch_create();
    struct touch *fresh = state->touch && state->earlier ? touch_create() : NULL;
    if (fresh) {
        touch_join(state->earlier, state->touch);
        touch_destroy(state->touch);
        state->touch = fresh;
        space_forget(state); /* the new record needs the bounds of what is touched */
    }
    return state->ranges;
}

void exec_touches_add(exec_state *to, exec_state *from)
{
    parts_touches(from);
    if (from->earlier && from->touch)
        touch_join(from->touch, from->earlier);
    if (!to->earlier)
        to->earlier = touch_create();
    if (to->earlier && from->touch)
        touch_join(to->earlier, from->touch);
    to->touches_lost |= from->touches_lost || (from->touch && !to->earlier);
}

void exec_touches_put(exec_state *to, uint32_t kind, const struct exec_rows *rows, uint64_t base,
                      uint64_t limit)
{
    if (!to->touch)
        return;
    if (!to->earlier)
        to->earlier = touch_create();
    to->touches_lost |= !to->earlier;
    if (!to->earlier)
        return;
    touch_bound(to->earlier, base, limit);
    for (uint64_t row = 0; row < rows->height; row++)
        touch_record(to->earlier, kind, rows->address + row * rows->pitch, rows->width);
}

void exec_counts(const exec_state *state, uint64_t *warp_instructions,
                 uint64_t *thread_instructions)
{
    *warp_instructions = state->warp_instructions;
    *thread_instructions = state->thread_instructions;
}

void state_release_blocks(struct exec_state *state)
{
    for (uint32_t i = 0; state->blocks && i < state->capacity; i++)
        block_release(state->blocks[i]);
    free(state->blocks);
}

void exec_end(exec_state *state)
{
    if (!state)
        return;
    parts_release(state);
    state_release_blocks(state);
    free(state->params);
    free(state->ranges);
    touch_destroy(state->touch);
    touch_destroy(state->earlier);
    free(state);
}
