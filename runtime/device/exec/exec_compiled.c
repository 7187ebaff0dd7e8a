/* Runs a group by the compiled form of its program (exec_compiled.h), and by the interpreter where
 * that gives back. What is counted, and where the group stops, is the same as if the interpreter
 * had done it all. Called by exec_warp.c. */
#include "runtime/device/exec/exec_access.h"
#include "runtime/device/exec/exec_barrier.h"
#include "runtime/device/exec/exec_compiled.h"
#include "runtime/device/exec/exec_engine.h"
#include "runtime/device/exec/exec_lockstep.h"
#include "runtime/device/exec/exec_round.h"

static void settle(struct compiled_call *call, struct block *block);

static int interpret(struct compiled_call *call, unsigned first, unsigned end)
{
    struct warp *warp = call->warp;
    const struct micro *code = warp->frame->program->code;
    settle(call, warp->block);
    for (unsigned pc = first; pc < end; pc++) {
        call->left--;
        int flow = code[pc].run(warp, &code[pc]);
        if (flow != FLOW_NEXT) {
            call->last = pc;
            call->pc = warp->pc;
            return flow;
        }
    }
    call->pc = end;
    return FLOW_NEXT;
}

static int jump(struct compiled_call *call, unsigned pc, long left)
{
    call->left = left + 1;
    return interpret(call, pc, pc + 1);
}

/* What lies behind a fault in its segment was counted, and did not run. */
static int count_back(struct compiled_call *call, unsigned pc)
{
    const struct compiled *form = call->form;
    call->pc = pc;
    for (pc++; pc < form->code_count && !form->starts[pc]; pc++)
        call->left++;
    return FLOW_FAULT;
}

static int access(struct compiled_call *call, unsigned pc)
{
    const int flow = access_run(call->warp, (const struct micro *)call->code + pc);
    return flow == FLOW_NEXT ? flow : count_back(call, pc);
}

static int row(struct compiled_call *call, unsigned pc)
{
    const struct micro *op = (const struct micro *)call->code + pc;
    return space_row(call->warp, op) ? FLOW_NEXT : access(call, pc);
}

static int affine(struct compiled_call *call, unsigned pc)
{
    const struct micro *op = (const struct micro *)call->code + pc;
    if (call->mask == ALL_LANES &&
        (call->apart ? space_affine_part(call->warp, op) : space_affine(call->warp, op)))
        return FLOW_NEXT;
    return row(call, pc);
}

static int uniform(struct compiled_call *call, unsigned pc)
{
    const struct micro *op = (const struct micro *)call->code + pc;
    return space_uniform(call->warp, op) ? FLOW_NEXT : row(call, pc);
}

/* Whether pc is inside an instruction, where the budget never ends: see exec_warp.c. */
static bool is_inside(const struct micro *code, unsigned pc)
{
    return code[pc].instruction == code[pc - 1].instruction;
}

/* The interpreter runs up to where a segment begins, but not beyond the stop or the budget. */
static int interpret_on(struct warp *warp, struct compiled_call *call, const struct compiled *form)
{
    const struct micro *code = warp->frame->program->code;
    const unsigned first = call->pc;
    unsigned end = first + 1;
    while (end < form->code_count && end != call->stop &&
           (is_inside(code, end) || (!form->starts[end] && call->left > (long)(end - first))))
        end++;
    return interpret(call, first, end);
}

/* Whether the group must stop before the micro-operation at call->pc. */
static bool must_stop(const struct warp *warp, const struct compiled_call *call)
{
    return call->pc == call->stop ||
           (call->left <= 0 && (call->pc == warp->pc || call->pc == 0 ||
                                !is_inside(warp->frame->program->code, call->pc)));
}

/* ---- lanes that part for a short way --------------------------------------------------------- */

static inline uint64_t lanes_of(uint32_t mask)
{
    return mask == ALL_LANES ? WARP_LANES : (uint64_t)__builtin_popcount(mask);
}

/* As if those that jumped waited in a group of their own. */
static unsigned part(struct compiled_call *call, unsigned taken, long count, long left)
{
    struct warp *warp = call->warp;
    if (!call->alone || left <= count || taken == call->mask)
        return 0;
    call->apart = 1;
    call->parted = left;
    return warp->mask = call->mask & ~taken;
}

static unsigned meet(struct compiled_call *call, long left)
{
    struct warp *warp = call->warp;
    call->less += (uint64_t)(call->parted - left) * (lanes_of(call->mask) - lanes_of(warp->mask));
    call->apart = 0;
    return warp->mask = call->mask;
}

/* ---- the turns of warps ---------------------------------------------------------------------- */

static inline void count_run(struct compiled_call *call, struct exec_state *state, int64_t before)
{
    const uint64_t ran = (uint64_t)(before - call->left);
    if (call->apart) /* a fault */
        meet(call, call->left);
    state->warp_instructions += ran;
    state->thread_instructions += ran * lanes_of(call->mask) - call->less;
    call->less = 0;
}

/* The warp's only group, or the one that runs. */
static inline void load_warp(struct compiled_call *call, struct warp *warp, int64_t left)
{
    call->warp = warp;
    call->slots = warp->base[0];
    call->mask = warp->mask;
    call->pc = warp->pc;
    call->left = left;
    call->alone = warp->group_count == 1;
}

/* Goes on with a warp that has run in this frame before. */
static inline bool take_next(struct compiled_call *call, struct warp *warp,
                             const struct round *round, const struct program *program)
{
    const struct group *group = &warp->groups[0];
    if (warp->group_count != 1 || group->state != GROUP_READY || !group->mask ||
        warp->frame != group->frame || warp->frame->program != program)
        return false;
    warp->current = 0;
    warp->fair = false;
    warp->mask = group->mask;
    warp->pc = group->pc;
    load_warp(call, warp, round->left);
    return true;
}

/* The next turns, up to one of a warp that goes on in the same code. False: no warp does. Then
 * round->warp has an open turn that another way must run, or is NULL. */
static inline bool next_turn(struct compiled_call *call, struct round *round)
{
    const struct warp *before = call->warp;
    const struct program *program = before->frame->program;
    while (round_open(round)) {
        struct warp *warp = round->warp;
        const struct group *group = &warp->groups[0];
        if (take_next(call, warp, round, program)) {
            round->progress = warp->state->progress;
            return true;
        }
        if (!warp->alive)
            round_close(round, WARP_EXITED);
        else if (warp->group_count == 1 && group->mask && group->state == GROUP_BARRIER)
            round_close(round, WARP_BLOCKED);
        else
            return false;
    }
    return false;
}

/* The turn of the warp that waits now is over. */
static inline void end_turn(struct compiled_call *call, struct round *round)
{
    count_run(call, round->block->state, round->turn);
    round->left = call->left;
    round_close(round, WARP_BLOCKED);
}

/* ---- in lockstep ----------------------------------------------------------------------------- */

#define NO_BARRIER ~0u /* struct compiled_sweep */

/* Warps behind the one whose turn has begun, up to one that waits. */
static uint32_t count_ready(const struct round *round)
{
    const uint32_t came = round->block->lockstep.came, next = round->block->next_warp;
    const uint32_t count = round->block->warp_count, ahead = came >> next;
    const uint32_t ready = ahead  ? (uint32_t)__builtin_ctz(ahead)
                           : came ? count - next + (uint32_t)__builtin_ctz(came)
                                  : count;
    return ready < count ? ready : count - 1;
}

/* How many may follow it. Where the next round begins with another warp than the first, or nothing
 * was done in this one yet, they must be of this round. */
static uint32_t count_hops(const struct round *round)
{
    const struct block *block = round->block;
    const uint32_t left = block->warp_count - round->begun, ready = count_ready(round);
    const uint32_t end = block->next_warp + left; /* with a remainder it would be slow */
    const bool crosses =
        (end == 0 || end == block->warp_count) && round->before != block->state->progress;
    return ready > left && !crosses ? left : ready;
}

/* The others follow to the barrier to which one has come already. No turn ends on the way: together
 * they run no more than the first one may. */
static void begin_sweep(struct compiled_call *call, const struct round *round)
{
    const struct block *block = round->block;
    const struct lockstep *lockstep = &block->lockstep;
    const uint32_t hops = lockstep->full && lockstep->came ? count_hops(round) : 0;
    if (!hops)
        return;
    call->sweep = (struct compiled_sweep){.barrier = lockstep->next,
                                          .hops = hops,
                                          .swept = hops,
                                          .at = lockstep->warps + round->place,
                                          .first = lockstep->warps,
                                          .end = lockstep->warps + block->warp_count,
                                          .left = round->left,
                                          .progress = block->state->progress};
}

/* A bit for each of so many warps from `first` on. */
static uint32_t bits_of(uint32_t first, uint32_t hops, uint32_t count)
{
    const uint64_t bits = (((uint64_t)1 << hops) - 1) << first;
    return (uint32_t)(bits & (((uint64_t)1 << count) - 1)) | (uint32_t)(bits >> count);
}

/* Puts down the turns of those that hopped: all that matters of them is their sum. */
static void end_sweep(struct compiled_call *call)
{
    struct round *round = call->round;
    struct block *block = round->block;
    struct compiled_sweep *sweep = &call->sweep;
    const uint32_t count = block->warp_count, hops = call->sweep.swept - sweep->hops;
    const int64_t ran = round->left - sweep->left;
    block->state->warp_instructions += (uint64_t)ran;
    block->state->thread_instructions += (uint64_t)ran * WARP_LANES;
    block->lockstep.came |= bits_of(round->place, hops, count);
    round->budget -= ran;
    round->progress = sweep->progress;
    round_skip(round, hops, sweep->round);
    call->place = round->place;
    call->parted += round->left - sweep->left;
    call->left += round->left - sweep->left;
    call->sweep.swept = 0;
    sweep->barrier = NO_BARRIER;
}

static void settle(struct compiled_call *call, struct block *block)
{
    if (call->sweep.swept)
        end_sweep(call);
    lockstep_settle(block);
}

static inline void load_place(struct compiled_call *call, const struct round *round)
{
    const struct block *block = round->block;
    const struct compiled_warp *at = &block->lockstep.warps[round->place];
    call->place = round->place;
    call->warp = at->warp;
    call->slots = at->slots;
    call->mask = ((const struct warp *)at->warp)->mask;
    call->pc = block->lockstep.pc;
    call->left = round->left;
}

/* Goes on with the warp of the open turn, or of the next that does not wait. False: the round is
 * over. */
static inline bool take_in_lockstep(struct compiled_call *call, struct round *round)
{
    do {
        if (!lockstep_waits(&round->block->lockstep, round->place)) {
            load_place(call, round);
            round->progress = round->block->state->progress;
            begin_sweep(call, round);
            return true;
        }
        round_close(round, WARP_BLOCKED);
        round_renew(round);
    } while (round_open(round));
    return false;
}

static inline int wait_in_lockstep(struct compiled_call *call, struct block *block, unsigned pc)
{
    struct round *round = call->round;
    if (lockstep_opens(block)) {
        call->pc = pc + 1;
        round->progress = block->state->progress;
        return FLOW_NEXT;
    }
    end_turn(call, round);
    round_renew(round);
    return round_open(round) && take_in_lockstep(call, round) ? FLOW_NEXT : COMPILED_NOBODY;
}

/* Some lanes come to a barrier, or the turn ends here. */
static int wait_apart(struct compiled_call *call, unsigned pc)
{
    struct warp *warp = call->warp;
    const struct micro *op = &warp->frame->program->code[pc];
    settle(call, warp->block);
    const int flow = op->run(warp, op);
    call->last = pc;
    call->pc = warp->pc;
    return flow;
}

/* Goes on with the warp that follows in the sweep. False: none does, or to another barrier. */
static inline bool hop(struct compiled_call *call, unsigned pc, long left)
{
    struct compiled_sweep *sweep = &call->sweep;
    const struct compiled_warp *at = sweep->at + 1;
    if (sweep->barrier != pc || left <= 1)
        return false;
    call->left = sweep->left = left - 1;
    sweep->progress = *call->progress;
    if (at == sweep->end) {
        at = sweep->first;
        sweep->round = sweep->progress;
    }
    sweep->at = at;
    call->warp = at->warp;
    call->slots = at->slots;
    if (--sweep->hops == 0)
        sweep->barrier = NO_BARRIER;
    return true;
}

/* The last warp that comes to a barrier goes on; another's turn is over. */
static int wait_slow(struct compiled_call *call, unsigned pc, unsigned id)
{
    struct round *round = call->round;
    if (call->sweep.swept)
        end_sweep(call);
    if (--call->left <= 0 || !call->alone || id >= BARRIERS)
        return wait_apart(call, pc);
    if (round && round->block->lockstep.form) {
        if (lockstep_comes(round->block, call->place, pc, id))
            return wait_in_lockstep(call, round->block, pc);
        lockstep_settle(round->block);
    }
    struct warp *warp = call->warp;
    call->pc = warp->pc = pc + 1;
    if (barrier_wait(warp, id, pc)) {
        if (round) {
            round->progress = warp->state->progress;
            call->place = warp->index;
            lockstep_begin(warp, pc + 1, call->form);
        }
        return FLOW_NEXT;
    }
    if (!round) {
        call->pc = warp->pc = pc;
        return FLOW_SWITCH;
    }
    end_turn(call, round);
    return next_turn(call, round) ? FLOW_NEXT : COMPILED_NOBODY;
}

static int wait(struct compiled_call *call, unsigned pc, unsigned id, long left)
{
    if (hop(call, pc, left))
        return FLOW_NEXT;
    call->left = left;
    return wait_slow(call, pc, id);
}

void compiled_prepare(struct exec_state *state)
{
    state->call =
        (struct compiled_call){.strong = offsetof(struct warp, strong),
                               .spins = offsetof(struct warp, spins),
                               .threads = offsetof(struct warp, tid),
                               .params = state->params,
                               .shape = state->launch.block,
                               .grid = state->launch.grid,
                               .window = state->launch.memory.window,
                               .shared_bytes = state->consecutive ? state->shared_bytes : 0,
                               .progress = &state->progress,
                               .interpret = interpret,
                               .jump = jump,
                               .wait = wait,
                               .part = part,
                               .meet = meet,
                               .access = access,
                               .row = row,
                               .affine = affine,
                               .uniform = uniform,
                               .load_row = {shared_load_row_32, shared_load_row_64},
                               .store_row = {shared_store_row_32, shared_store_row_64},
                               .load_same = {shared_load_same_32, shared_load_same_64}};
}

static struct compiled_call *call_of(struct warp *warp, const struct compiled *form, int64_t left,
                                     uint32_t stop, struct round *round)
{
    struct compiled_call *call = &warp->state->call;
    call->stop = stop;
    call->round = round;
    call->sweep.swept = 0;
    call->sweep.barrier = NO_BARRIER;
    call->block = warp->block->id;
    call->shared = warp->block->shared;
    call->code = warp->frame->program->code;
    call->form = form;
    load_warp(call, warp, left);
    return call;
}

static int run(struct compiled_call *call, const struct compiled *form)
{
    int flow;
    do {
        flow = form->starts[call->pc] ? form->run(call) : COMPILED_STOPS;
        if (flow == COMPILED_STOPS && call->sweep.swept) {
            end_sweep(call);
            flow = FLOW_NEXT;
        } else if (flow == COMPILED_STOPS)
            flow = must_stop(call->warp, call) ? FLOW_SWITCH : interpret_on(call->warp, call, form);
    } while (flow == FLOW_NEXT);
    return flow;
}

/* What the run came to, for the warp that the call has now. */
static int leave(struct compiled_call *call, int flow, int64_t before)
{
    struct warp *warp = call->warp;
    count_run(call, warp->state, before);
    warp->pc = call->pc;
    return flow == FLOW_JUMP && call->pc <= call->last ? FLOW_JUMPED_BACK : flow;
}

int compiled_straight(struct warp *warp, const struct compiled *form, int64_t *budget,
                      uint32_t stop)
{
    struct compiled_call *call = call_of(warp, form, *budget, stop, NULL);
    const int flow = run(call, form);
    const int64_t before = *budget;
    *budget = call->left;
    return leave(call, flow, before);
}

int compiled_turns(struct round *round, const struct compiled *form)
{
    struct compiled_call *call = call_of(round->warp, form, round->left, UINT32_MAX, round);
    round->progress = round->warp->state->progress;
    if (round->block->lockstep.form && !take_in_lockstep(call, round))
        return COMPILED_NOBODY;
    const int flow = run(call, form);
    if (flow == COMPILED_NOBODY)
        return flow;
    settle(call, round->block);
    round->left = call->left;
    return leave(call, flow, round->turn);
}
