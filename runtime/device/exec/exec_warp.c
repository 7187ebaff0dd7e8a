/* A warp: its groups and frames, and the loop that runs micro-operations. See exec_engine.h for how
 * divergence works. Called by exec.c, which lets the warps of a block take turns. */
#include "runtime/device/exec/exec_engine.h"

#include <stdlib.h>

enum {
    SPIN_LIMIT = 24, /* turns of a loop that only waits, before others run */
    LAP_LIMIT = 4096 /* turns of any loop, before other groups of the warp run */
};

/* ---- frames -------------------------------------------------------------------------------- */

struct frame *frame_create(struct warp *warp, const struct program *program, struct frame *parent,
                           uint32_t lanes)
{
    struct frame **link = &warp->free_frames, *frame;
    while (*link && (*link)->program != program)
        link = &(*link)->next;
    if ((frame = *link) != NULL) {
        *link = frame->next;
    } else {
        size_t bytes = (sizeof *frame + program->register_bytes + 63) & ~(size_t)63;
        frame = aligned_alloc(64, bytes);
        if (!frame)
            return NULL;
    }
    *frame = (struct frame){.parent = parent, .program = program, .lanes = lanes};
    const struct compiled *form = atomic_load_explicit(&program->compiled, memory_order_acquire);
    if (!form || !form->writes_first)
        memset(frame->slots, 0, program->register_bytes);
    uint64_t base = LOCAL_FIRST;
    if (parent) {
        base = parent->local_base + parent->program->local_bytes + parent->extra_bytes;
        frame->depth = parent->depth + 1;
    }
    frame->local_base =
        (base + program->local_align - 1) / program->local_align * program->local_align;
    if (space_grow_local(warp, frame->local_base + program->local_bytes))
        return frame;
    frame->next = warp->free_frames;
    warp->free_frames = frame;
    return NULL;
}

void frame_release(struct warp *warp, struct frame *frame)
{
    frame->next = warp->free_frames;
    warp->free_frames = frame;
}

/* ---- groups -------------------------------------------------------------------------------- */

struct group *warp_add(struct warp *warp, struct frame *frame, uint32_t pc, uint32_t lanes)
{
    uint32_t place = warp->group_count;
    for (uint32_t i = 0; i < warp->group_count; i++)
        if (!warp->groups[i].mask && i != warp->current)
            place = i; /* merged away: there are never more than 32 with lanes */
    if (place == warp->group_count)
        warp->group_count++;
    struct group *group = &warp->groups[place];
    *group = (struct group){.frame = frame, .pc = pc, .mask = lanes, .turn = warp->turns};
    return group;
}

void warp_leave(struct warp *warp, uint32_t lanes)
{
    warp->mask &= ~lanes;
    warp->groups[warp->current].mask = warp->mask;
}

void warp_exit(struct warp *warp, uint32_t lanes)
{
    warp->block->alive -= warp->alive && !(warp->alive & ~lanes);
    warp->alive &= ~lanes;
    struct frame *frame = warp->frame;
    while (frame) {
        struct frame *parent = frame->parent;
        frame->lanes &= ~lanes;
        if (!frame->lanes)
            frame_release(warp, frame);
        frame = parent;
    }
    /* Lanes that waited for these look again. */
    for (uint32_t i = 0; i < warp->group_count; i++)
        if (warp->groups[i].state == GROUP_SYNC)
            warp->groups[i].state = GROUP_READY;
}

static void drop_empty_groups(struct warp *warp)
{
    uint32_t kept = 0;
    /* A group in its place is not copied: its parts were only just written. */
    for (uint32_t i = 0; i < warp->group_count; i++)
        if (warp->groups[i].mask) {
            if (kept != i)
                warp->groups[kept] = warp->groups[i];
            kept++;
        }
    warp->group_count = kept;
}

static bool is_runnable(const struct group *group)
{
    return group->state == GROUP_READY || group->state == GROUP_RELEASED;
}

/* Deepest call first, then the lowest pc; or, to be fair, whoever has waited longest. */
static bool goes_before(const struct warp *warp, const struct group *a, const struct group *b)
{
    if (warp->fair && a->turn != b->turn)
        return a->turn < b->turn;
    if (a->frame->depth != b->frame->depth)
        return a->frame->depth > b->frame->depth;
    return a->pc < b->pc;
}

static bool can_merge(const struct group *a, const struct group *b)
{
    return a->frame == b->frame && a->pc == b->pc &&
           (b->state == GROUP_READY || b->state == GROUP_SYNC) &&
           (a->state == GROUP_READY || a->state == GROUP_SYNC);
}

/* Groups that stand where the chosen one stands join it. Returns its place. */
static uint32_t merge_into(struct warp *warp, uint32_t chosen)
{
    struct group *group = &warp->groups[chosen];
    uint32_t before = 0, merged = 0;
    for (uint32_t i = 0; i < warp->group_count; i++) {
        struct group *other = &warp->groups[i];
        if (i == chosen || !can_merge(group, other))
            continue;
        group->mask |= other->mask;
        other->mask = 0;
        before += i < chosen;
        merged++;
    }
    if (merged)
        drop_empty_groups(warp);
    return chosen - before;
}

static void make_current(struct warp *warp, uint32_t chosen)
{
    struct group *group = &warp->groups[chosen];
    if (group->state == GROUP_SYNC)
        group->state = GROUP_READY;
    warp->current = chosen;
    warp->frame = group->frame;
    warp->mask = group->mask;
    warp->pc = group->pc;
    warp->base[0] = group->frame->slots;
    warp->base[1] = group->frame->program->constants;
}

/* Choose the group to run and make it the current one. False: none can run. */
static bool choose(struct warp *warp)
{
    if (warp->group_count == 1 && warp->groups[0].mask) { /* no choice */
        if (is_runnable(&warp->groups[0]))
            make_current(warp, 0);
        return is_runnable(&warp->groups[0]);
    }
    drop_empty_groups(warp);
    uint32_t best = WARP_LANES;
    for (uint32_t i = 0; i < warp->group_count; i++)
        if (is_runnable(&warp->groups[i]) &&
            (best == WARP_LANES || goes_before(warp, &warp->groups[i], &warp->groups[best])))
            best = i;
    if (best == WARP_LANES)
        return false;
    if (warp->group_count > 1)
        best = merge_into(warp, best);
    make_current(warp, best);
    return true;
}

/* The next pc at which another group of the same frame stands: there the two become one. */
static uint32_t reconvergence_pc(const struct warp *warp)
{
    uint32_t nearest = UINT32_MAX;
    if (warp->group_count == 1)
        return nearest;
    for (uint32_t i = 0; i < warp->group_count; i++) {
        const struct group *other = &warp->groups[i];
        if (i != warp->current && other->mask && other->frame == warp->frame &&
            (other->state == GROUP_READY || other->state == GROUP_SYNC) && other->pc > warp->pc &&
            other->pc < nearest)
            nearest = other->pc;
    }
    return nearest;
}

/* ---- running ------------------------------------------------------------------------------- */

static void save_current(struct warp *warp)
{
    struct group *group = &warp->groups[warp->current];
    group->pc = warp->pc;
    group->mask = warp->mask;
}

/* A loop turned. True when the group should let others run. */
static bool turned_enough(struct warp *warp)
{
    if (warp->strong) {
        warp->strong = false;
        return ++warp->spins >= SPIN_LIMIT;
    }
    warp->spins = 0;
    return warp->group_count > 1 && ++warp->laps >= LAP_LIMIT;
}

static void give_way(struct warp *warp)
{
    warp->groups[warp->current].turn = ++warp->turns;
    warp->fair = true;
    warp->spins = warp->laps = 0;
}

/* Where the budget ends: between two instructions, never inside one, which may have narrowed the
 * mask for its guard. A load and the store that depends on it can so have another kernel's between.
 */
static uint32_t budget_end(const struct warp *warp, int64_t budget)
{
    const struct program *program = warp->frame->program;
    if (budget >= program->code_count - warp->pc)
        return UINT32_MAX;
    uint32_t end = warp->pc + (uint32_t)budget;
    while (end < program->code_count &&
           program->code[end].instruction == program->code[end - 1].instruction)
        end++;
    return end;
}

static enum flow run_compiled(struct warp *warp, const struct compiled *form, int64_t *budget)
{
    int flow = compiled_straight(warp, form, budget, reconvergence_pc(warp));
    if (flow == FLOW_JUMPED_BACK)
        return turned_enough(warp) ? FLOW_YIELD : FLOW_JUMP;
    return flow;
}

/* Run from warp->pc until something other than the next micro-operation is due. */
static enum flow run_straight(struct warp *warp, int64_t *budget)
{
    const struct compiled *form =
        atomic_load_explicit(&warp->frame->program->compiled, memory_order_acquire);
    if (form)
        return run_compiled(warp, form, budget);
    const struct micro *code = warp->frame->program->code;
    const struct micro *op = code + warp->pc;
    uint32_t reconvergence = reconvergence_pc(warp);
    uint32_t end = budget_end(warp, *budget);
    if (reconvergence < end)
        end = reconvergence;
    const struct micro *stop = end == UINT32_MAX ? NULL : code + end;
    const struct micro *start = op;
    uint64_t lanes = (uint64_t)__builtin_popcount(warp->mask);
    int flow;
    while ((flow = op->run(warp, op)) == FLOW_NEXT)
        if (++op == stop)
            break;
    uint64_t ran = (uint64_t)(op - start) + (flow != FLOW_NEXT);
    *budget -= (int64_t)ran;
    warp->state->warp_instructions += ran;
    warp->state->thread_instructions += ran * lanes;
    if (flow == FLOW_NEXT) {
        warp->pc = end;
        return FLOW_SWITCH;
    }
    if (flow == FLOW_JUMP && warp->pc <= (uint32_t)(op - code) && turned_enough(warp))
        return FLOW_YIELD;
    return flow;
}

/* The group runs (FLOW_NEXT), or did and came to that flow: it goes on until it stops, the budget
 * is used up or it gives way. A jump may land where another group stands; that is seen when
 * choosing. A group that waited for its turn keeps it. */
static enum flow run_group(struct warp *warp, enum flow flow, bool keep_turn, int64_t *budget)
{
    while (flow == FLOW_NEXT ||
           (flow == FLOW_JUMP && *budget > 0 && (warp->group_count == 1 || keep_turn)))
        flow = run_straight(warp, budget);
    if (flow == FLOW_JUMP || flow == FLOW_YIELD)
        save_current(warp);
    else if (flow == FLOW_SWITCH && warp->groups[warp->current].mask)
        warp->groups[warp->current].pc = warp->pc;
    if (flow == FLOW_YIELD)
        give_way(warp);
    return flow;
}

/* The rest of a turn, after a group stopped. `progress`: when it began. */
static enum warp_status finish_turn(struct warp *warp, enum flow flow, uint64_t progress,
                                    int64_t *budget)
{
    for (;;) {
        if (flow == FLOW_FAULT)
            return WARP_FAULT;
        if (flow == FLOW_YIELD)
            return progress == warp->state->progress ? WARP_YIELDED : WARP_RUNNING;
        if (*budget <= 0)
            return WARP_RUNNING;
        if (!choose(warp))
            return warp->group_count ? WARP_BLOCKED : WARP_EXITED;
        progress = warp->state->progress;
        const bool keep_turn = warp->fair;
        warp->fair = false;
        flow = run_group(warp, FLOW_NEXT, keep_turn, budget);
    }
}

enum warp_status warp_run(struct warp *warp, int64_t *budget)
{
    return finish_turn(warp, FLOW_NEXT, 0, budget);
}

enum warp_status warp_go_on(struct warp *warp, enum flow flow, uint64_t progress, int64_t *budget)
{
    if (flow == FLOW_JUMPED_BACK)
        flow = turned_enough(warp) ? FLOW_YIELD : FLOW_JUMP;
    return finish_turn(warp, run_group(warp, flow, false, budget), progress, budget);
}

const struct compiled *warp_take_alone(struct warp *warp)
{
    const struct group *group = &warp->groups[0];
    if (warp->group_count != 1 || !group->mask || group->state != GROUP_READY)
        return NULL;
    const struct compiled *form =
        atomic_load_explicit(&group->frame->program->compiled, memory_order_acquire);
    if (form) {
        make_current(warp, 0);
        warp->fair = false;
    }
    return form;
}

/* ---- life ---------------------------------------------------------------------------------- */

static void place_threads(struct warp *warp, const struct exec_state *state)
{
    const uint32_t *shape = state->launch.block;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        uint32_t thread = warp->index * WARP_LANES + l;
        if (thread < state->threads)
            warp->lanes |= 1u << l;
        warp->tid[0][l] = thread % shape[0];
        warp->tid[1][l] = thread / shape[0] % shape[1];
        warp->tid[2][l] = thread / shape[0] / shape[1];
    }
}

bool warp_start(struct warp *warp, struct block *block, uint32_t index)
{
    struct exec_state *state = block->state;
    warp->block = block;
    warp->state = state;
    warp->index = index;
    if (!warp->lanes)
        place_threads(warp, state);
    warp->alive = warp->lanes;
    warp->group_count = 0;
    warp->strong = warp->fair = false;
    warp->spins = warp->laps = 0;
    warp->carry = 0;
    struct frame *frame = frame_create(warp, state->program, NULL, warp->lanes);
    if (!frame)
        return false;
    warp_add(warp, frame, 0, warp->lanes);
    return true;
}

static void free_frames(struct frame *frame)
{
    while (frame) {
        struct frame *next = frame->next;
        free(frame);
        frame = next;
    }
}

/* Frames still in use are reached through the groups; a shared ancestor is freed once, by its
 * last descendant. */
void warp_release(struct warp *warp)
{
    for (uint32_t i = 0; i < warp->group_count; i++) {
        struct frame *frame = warp->groups[i].frame;
        uint32_t lanes = warp->groups[i].mask;
        while (lanes && frame) {
            struct frame *parent = frame->parent;
            frame->lanes &= ~lanes;
            if (!frame->lanes)
                frame_release(warp, frame);
            frame = parent;
        }
    }
    warp->group_count = 0;
    free_frames(warp->free_frames);
    warp->free_frames = NULL;
    free(warp->local);
    warp->local = NULL;
    warp->local_stride = 0;
}
