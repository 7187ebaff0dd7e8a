/* Barriers of a block and of a cluster, and fences (PTX ISA 9.7.13.1 to .4). A barrier counts
 * lanes; lanes that have left the kernel are not waited for. */
#include "runtime/device/exec/exec_barrier.h"
#include "runtime/device/exec/exec_collective.h"
#include "runtime/device/exec/exec_lockstep.h"
#include "runtime/device/exec/exec_lowering.h"

enum { CLUSTER_BARRIER = ALL_BARRIERS }; /* group.barrier of lanes in barrier.cluster.wait */

static uint32_t *arrived_of(struct block *block, uint32_t id)
{
    return block->arrived + (size_t)id * block->warp_count;
}
static uint32_t *voted_of(struct block *block, uint32_t id)
{
    return block->voted + (size_t)id * block->warp_count;
}

/* ---- completion ---------------------------------------------------------------------------- */

/* A warp that is there whole counts as 32 threads, as the thread count of a barrier does. */
static bool is_whole(const struct block *block, const uint32_t *arrived, uint32_t warp)
{
    return !(block->warps[warp].alive & ~arrived[warp]);
}

/* Each warp that lives must have come. */
static bool is_complete(struct block *block, uint32_t id)
{
    const struct barrier *barrier = &block->barriers[id];
    const uint32_t *arrived = arrived_of(block, id);
    uint32_t count = 0;
    if (!barrier->expected && barrier->arrivals < block->alive)
        return false;
    uint32_t missing = 0, i = 0;
    for (const struct warp *warp = block->warps; i < block->warp_count; warp++, i++)
        missing |= warp->alive & ~arrived[i];
    for (i = 0; missing && barrier->expected && i < block->warp_count; i++)
        if (arrived[i])
            count +=
                is_whole(block, arrived, i) ? WARP_LANES : (uint32_t)__builtin_popcount(arrived[i]);
    return !missing || (barrier->expected && count >= barrier->expected);
}

/* The warps of one warp group are there. */
static bool warpgroup_is_complete(const struct block *block, uint32_t id)
{
    const uint32_t *arrived = arrived_of((struct block *)block, id);
    const uint32_t first = (id - BARRIERS) * WARPGROUP_WARPS;
    for (uint32_t i = first; i < first + WARPGROUP_WARPS && i < block->warp_count; i++)
        if (!is_whole(block, arrived, i))
            return false;
    return true;
}

static uint32_t reduction(struct block *block, uint32_t id, uint8_t operation)
{
    const uint32_t *arrived = arrived_of(block, id), *voted = voted_of(block, id);
    uint32_t yes = 0, lanes = 0;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        yes += (uint32_t)__builtin_popcount(voted[i] & arrived[i]);
        lanes += (uint32_t)__builtin_popcount(arrived[i]);
    }
    return operation == PTX_ATOMIC_AND ? yes == lanes : operation == PTX_ATOMIC_OR ? yes != 0 : yes;
}

/* It writes the result when it runs. */
static void release_reduction(struct block *block, struct group *group, uint32_t id)
{
    const struct micro *op = &group->frame->program->code[group->pc];
    group->result = reduction(block, id, op->count);
    group->state = GROUP_RELEASED;
}

static inline void release_group(struct block *block, struct group *group, uint32_t id)
{
    if (!group->mask || group->state != GROUP_BARRIER || group->barrier != id)
        return;
    if (group->reduces) {
        release_reduction(block, group, id);
        return;
    }
    group->pc++;
    group->state = GROUP_READY;
}

static void open_barrier(struct block *block, uint32_t id)
{
    uint32_t *arrived = arrived_of(block, id), *arrival = arrived;
    const bool votes = block->barriers[id].votes;
    struct warp *warp = block->warps, *const end = warp + block->warp_count;
    for (; warp < end; warp++, arrival++) {
        struct group *group = warp->groups, *const last = group + warp->group_count;
        for (; group < last; group++)
            release_group(block, group, id);
        if (!votes)
            *arrival = 0;
    }
    if (votes) { /* which the release still needed */
        memset(arrived, 0, block->warp_count * sizeof *arrived);
        memset(voted_of(block, id), 0, block->warp_count * sizeof *arrived);
    }
    block->barriers[id] = (struct barrier){0};
    block->state->progress++;
}

/* Those behind the block's own are of the groups of four warps. */
static bool all_have_come(struct block *block, uint32_t id)
{
    return id < BARRIERS ? is_complete(block, id) : warpgroup_is_complete(block, id);
}

void barrier_recheck(struct block *block)
{
    for (uint32_t id = 0; id < ALL_BARRIERS; id++)
        if (block->barriers[id].arrivals && all_have_come(block, id))
            open_barrier(block, id);
    barrier_cluster_recheck(block);
}

/* ---- bar, barrier -------------------------------------------------------------------------- */

/* The running group's lanes that name the same barrier as its first lane. */
static uint32_t same_barrier(struct warp *w, const struct micro *op, const uint32_t *ids)
{
    if (op->a & SLOT_CONSTANT)
        return w->mask;
    uint32_t first = ids[__builtin_ctz(w->mask)], lanes = 0;
    for (uint32_t m = w->mask; m; m &= m - 1)
        if (ids[__builtin_ctz(m)] == first)
            lanes |= m & -m;
    return lanes;
}

static int finish_reduction(struct warp *w, const struct micro *op)
{
    struct group *group = &w->groups[w->current];
    uint32_t *d = slot(w, op->d), result = group->result;
    group->state = GROUP_READY;
    if (op->count == PTX_ATOMIC_ADD)
        LANES(w, d[l] = result);
    else
        slot_set_predicate(w, op->d, result ? ALL_LANES : 0);
    return FLOW_NEXT;
}

static int barrier_run(struct warp *w, const struct micro *op)
{
    if (w->groups[w->current].state == GROUP_RELEASED)
        return finish_reduction(w, op);
    const uint32_t *ids = slot(w, op->a), *counts = slot(w, op->b);
    uint32_t lanes = same_barrier(w, op, ids), id = ids[__builtin_ctz(lanes)];
    uint32_t pc = (uint32_t)(op - w->frame->program->code);
    struct block *block = w->block;
    if (id >= BARRIERS)
        return fault_raise(w, op, lanes, EXEC_FAULT_ILLEGAL_INSTRUCTION, id);
    if (lanes != w->mask) { /* the others follow in a group of their own */
        uint32_t others = w->mask & ~lanes;
        warp_leave(w, others);
        warp_add(w, w->frame, pc, others);
    }
    struct barrier *barrier = &block->barriers[id];
    barrier->arrivals++;
    if (op->option)
        barrier->expected = counts[__builtin_ctz(lanes)];
    arrived_of(block, id)[w->index] |= lanes;
    if (op->kind == PTX_FORM_BAR_RED) {
        barrier->votes = true;
        uint32_t *voted = &voted_of(block, id)[w->index];
        *voted = (*voted & ~lanes) | (*(uint32_t *)slot(w, op->c) & lanes);
    }
    struct group *group = &w->groups[w->current];
    w->pc = pc;
    group->pc = pc;
    if (op->kind == PTX_FORM_BAR_ARRIVE) {
        w->pc = pc + 1;
        group->pc = pc + 1;
    } else {
        group->state = GROUP_BARRIER;
        group->barrier = (uint8_t)id;
        group->reduces = op->kind == PTX_FORM_BAR_RED;
    }
    if (is_complete(block, id))
        open_barrier(block, id);
    w->pc = group->pc;
    return FLOW_SWITCH;
}

bool barrier_wait(struct warp *w, uint32_t id, uint32_t pc)
{
    struct block *block = w->block;
    struct group *group = &w->groups[0];
    arrived_of(block, id)[w->index] |= w->mask;
    group->state = GROUP_BARRIER;
    group->barrier = (uint8_t)id;
    group->reduces = false;
    group->pc = pc;
    if (++block->barriers[id].arrivals < block->alive && !block->barriers[id].expected)
        return false;
    if (!is_complete(block, id))
        return false;
    open_barrier(block, id);
    return true;
}

/* ---- warps in lockstep ---------------------------------------------------------------------- */

static bool stands_at(const struct warp *warp, uint32_t pc, const struct program *program)
{
    const struct group *group = &warp->groups[0];
    return warp->group_count == 1 && group->mask && group->mask == warp->alive &&
           group->state == GROUP_READY && group->pc == pc && group->frame == warp->frame &&
           group->frame->program == program;
}

void lockstep_begin(struct warp *last, uint32_t pc, const struct compiled *form)
{
    struct block *block = last->block;
    const struct program *program = last->frame->program;
    for (uint32_t i = 0; i < block->warp_count; i++)
        if (!stands_at(&block->warps[i], pc, program))
            return;
    struct lockstep *lockstep = &block->lockstep;
    lockstep->full = true;
    for (uint32_t i = 0; i < block->warp_count; i++) { /* until then no other group has a turn */
        struct warp *warp = &block->warps[i];
        warp->current = 0;
        warp->fair = false;
        warp->mask = warp->alive;
        lockstep->warps[i] = (struct compiled_warp){warp, warp->base[0]};
        lockstep->full &= warp->alive == ALL_LANES;
    }
    lockstep->form = form;
    lockstep->pc = pc;
    lockstep->came = 0;
    lockstep->all = ALL_LANES >> (WARP_LANES - block->warp_count);
}

/* As barrier_wait has it. */
static void settle_waiting(struct warp *warp, const struct lockstep *lockstep)
{
    struct block *block = warp->block;
    struct group *group = &warp->groups[0];
    arrived_of(block, lockstep->barrier)[warp->index] |= warp->alive;
    block->barriers[lockstep->barrier].arrivals++;
    group->state = GROUP_BARRIER;
    group->barrier = lockstep->barrier;
    group->reduces = false;
    group->pc = lockstep->next;
}

void lockstep_settle(struct block *block)
{
    struct lockstep *lockstep = &block->lockstep;
    if (!lockstep->form)
        return;
    for (uint32_t i = 0; i < block->warp_count; i++)
        if (lockstep_waits(lockstep, i))
            settle_waiting(&block->warps[i], lockstep);
        else /* where its turn began, or will begin */
            block->warps[i].pc = block->warps[i].groups[0].pc = lockstep->pc;
    lockstep->form = NULL;
    lockstep->came = 0;
}

int barrier_warpgroup(struct warp *w, const struct micro *op)
{
    struct block *block = w->block;
    const uint32_t id = BARRIERS + w->index / WARPGROUP_WARPS;
    struct group *group = &w->groups[w->current];
    w->pc = group->pc = (uint32_t)(op - w->frame->program->code);
    group->state = GROUP_BARRIER;
    group->barrier = (uint8_t)id;
    group->reduces = false;
    block->barriers[id].arrivals++;
    arrived_of(block, id)[w->index] |= w->mask;
    if (warpgroup_is_complete(block, id))
        open_barrier(block, id);
    w->pc = group->pc;
    return FLOW_SWITCH;
}

LOWERING(barrier_run, LOWERING_BARRIER, NULL, NULL, NULL, NULL, NULL)

static void decode_barrier(struct decoder *decoder, const struct ptx_instruction *i)
{
    bool reduces = i->form == PTX_FORM_BAR_RED;
    uint32_t at = reduces ? 1 : 0, sources = reduces ? 1 : 0;
    if (i->operand_count < at + 1 + sources) {
        decoder_fail(decoder);
        return;
    }
    bool counted = i->operand_count > at + 1 + sources;
    uint32_t a = decoder_source(decoder, &i->operands[at], 32);
    uint32_t b = counted ? decoder_source(decoder, &i->operands[at + 1], 32) : a;
    uint32_t c = reduces ? decoder_source(decoder, &i->operands[i->operand_count - 1], 1) : 0;
    bool population = i->atomic == PTX_ATOMIC_ADD;
    uint32_t d = reduces ? decoder_destination(decoder, &i->operands[0], population ? 32 : 1) : 0;
    struct micro *op = decoder_emit(decoder, barrier_run);
    op->d = d;
    op->a = a;
    op->b = b;
    op->c = c;
    op->kind = i->form;
    op->count = i->atomic;
    op->option = counted;
}

/* ---- barrier.cluster ------------------------------------------------------------------------ */

/* Has every lane of every block of the cluster arrived? */
static bool cluster_complete(const struct exec_state *state, uint32_t first)
{
    for (uint32_t r = 0; r < state->cluster_size; r++) {
        const struct block *block = state->blocks[first + r];
        for (uint32_t i = 0; i < block->warp_count; i++)
            if (block->warps[i].alive & ~block->cluster_arrived[i])
                return false;
    }
    return true;
}

static void open_cluster(struct exec_state *state, uint32_t first)
{
    for (uint32_t r = 0; r < state->cluster_size; r++) {
        struct block *block = state->blocks[first + r];
        for (uint32_t i = 0; i < block->warp_count; i++) {
            struct warp *warp = &block->warps[i];
            block->cluster_open[i] |= block->cluster_arrived[i];
            block->cluster_arrived[i] = 0;
            for (uint32_t k = 0; k < warp->group_count; k++)
                if (warp->groups[k].state == GROUP_BARRIER &&
                    warp->groups[k].barrier == CLUSTER_BARRIER)
                    warp->groups[k].state = GROUP_READY; /* waits again, and passes */
        }
    }
    state->progress++;
}

void barrier_cluster_recheck(struct block *block)
{
    bool any = false;
    struct exec_state *state = block->state;
    if (state->cluster_size == 1)
        return;
    for (uint32_t r = 0; r < state->cluster_size; r++) {
        const struct block *peer = state->blocks[block->cluster_first + r];
        for (uint32_t i = 0; i < peer->warp_count; i++)
            any |= peer->cluster_arrived[i] != 0;
    }
    if (any && cluster_complete(state, block->cluster_first))
        open_cluster(state, block->cluster_first);
}

static int cluster_arrive(struct warp *w, const struct micro *op)
{
    (void)op;
    struct block *block = w->block;
    block->cluster_arrived[w->index] |= w->mask;
    if (cluster_complete(w->state, block->cluster_first))
        open_cluster(w->state, block->cluster_first);
    return FLOW_NEXT;
}

static int cluster_wait(struct warp *w, const struct micro *op)
{
    struct block *block = w->block;
    uint32_t passed = w->mask & block->cluster_open[w->index];
    uint32_t pc = (uint32_t)(op - w->frame->program->code);
    block->cluster_open[w->index] &= ~passed;
    if (passed == w->mask)
        return FLOW_NEXT;
    uint32_t waiting = w->mask & ~passed;
    warp_leave(w, waiting);
    struct group *group = warp_add(w, w->frame, pc, waiting);
    group->state = GROUP_BARRIER;
    group->barrier = CLUSTER_BARRIER;
    w->pc = pc + 1;
    return FLOW_SWITCH;
}

/* ---- decoding ------------------------------------------------------------------------------ */

void decode_bar(struct decoder *decoder, const struct ptx_instruction *i)
{
    switch (i->form) {
    case PTX_FORM_BAR_WARP_SYNC:
        if (i->operand_count < 1)
            decoder_fail(decoder);
        else
            collective_decode_sync(decoder, &i->operands[0]);
        return;
    case PTX_FORM_BAR_SYNC:
    case PTX_FORM_BAR_ARRIVE:
    case PTX_FORM_BAR_RED:
        decode_barrier(decoder, i);
        return;
    case PTX_FORM_BARRIER_CLUSTER_ARRIVE:
        decoder_emit(decoder, cluster_arrive);
        return;
    case PTX_FORM_BARRIER_CLUSTER_WAIT:
        decoder_emit(decoder, cluster_wait);
        return;
    default:
        decoder_fail(decoder);
    }
}

/* One instruction runs at a time here: memory is always in order. What the host sees is put in
 * order, and a loop that fences waits for somebody. */
static int fence_run(struct warp *w, const struct micro *op)
{
    (void)op;
    w->strong = true;
    atomic_thread_fence(memory_order_seq_cst);
    return FLOW_NEXT;
}

void decode_fence(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (i->form != PTX_FORM_FENCE_PROXY && i->scope != PTX_SCOPE_CTA &&
        i->scope != PTX_SCOPE_CLUSTER)
        decoder_order(decoder);
    decoder_emit(decoder, fence_run);
}
