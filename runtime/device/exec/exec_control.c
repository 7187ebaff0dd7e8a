/* Control flow: branches, guards, calls, returns, exits and traps (PTX ISA 9.7.13).
 * Functions without a body are in exec_builtin.c. */
#include "csan/base/array.h"
#include "runtime/device/exec/exec_call.h"
#include "runtime/device/exec/exec_lowering.h"

#include <stdlib.h>

/* ---- branches ------------------------------------------------------------------------------ */

int control_jump(struct warp *w, const struct micro *op)
{
    w->pc = op->e;
    return FLOW_JUMP;
}

/* Some lanes go to `target`, the others on. */
static int diverge(struct warp *w, const struct micro *op, uint32_t taken)
{
    uint32_t next = (uint32_t)(op - w->frame->program->code) + 1;
    if (taken == 0)
        return FLOW_NEXT;
    if (taken == w->mask)
        return control_jump(w, op);
    struct frame *frame = w->frame;
    warp_leave(w, taken);
    w->pc = next;
    warp_add(w, frame, op->e, taken);
    return FLOW_SWITCH;
}

int control_branch(struct warp *w, const struct micro *op)
{
    return diverge(w, op, *(uint32_t *)slot(w, op->a) & w->mask);
}

int control_branch_not(struct warp *w, const struct micro *op)
{
    return diverge(w, op, ~*(uint32_t *)slot(w, op->a) & w->mask);
}

/* @p instruction, where the instruction neither jumps nor waits: run it for some lanes only. */
int control_guard_on(struct warp *w, const struct micro *op)
{
    uint32_t predicate = *(uint32_t *)slot(w, op->a);
    uint32_t mask = w->mask & (op->option ? ~predicate : predicate);
    if (!mask)
        return control_jump(w, op);
    w->outer = w->mask;
    w->mask = mask;
    return FLOW_NEXT;
}

int control_guard_off(struct warp *w, const struct micro *op)
{
    (void)op;
    w->mask = w->outer;
    return FLOW_NEXT;
}

void decode_branch(struct decoder *decoder, const struct ptx_instruction *i)
{
    micro_run *run = control_jump;
    uint32_t predicate = 0;
    if (i->guard != PTX_NO_REGISTER) {
        run = i->guard_negated ? control_branch_not : control_branch;
        predicate = decoder->slots[i->guard];
    }
    struct micro *op = decoder_emit(decoder, run);
    op->a = predicate;
    op->e = i->operands[0].target;
    op->option = 1; /* e is an instruction index until all blocks are placed */
}

static int branch_indexed(struct warp *w, const struct micro *op)
{
    const uint32_t *index = slot(w, op->a);
    struct frame *frame = w->frame;
    uint32_t left = w->mask, bad = 0;
    for (uint32_t m = left; m; m &= m - 1)
        if (index[__builtin_ctz(m)] >= op->e)
            bad |= m & -m;
    if (bad)
        return fault_raise(w, op, bad, EXEC_FAULT_INVALID_PC, index[__builtin_ctz(bad)]);
    for (;;) {
        uint32_t target = index[__builtin_ctz(left)], lanes = 0;
        for (uint32_t m = left; m; m &= m - 1)
            if (index[__builtin_ctz(m)] == target)
                lanes |= m & -m;
        if (lanes == left) {
            w->pc = op->slots[target];
            return left == w->mask && w->group_count == 1 ? FLOW_JUMP : FLOW_SWITCH;
        }
        warp_leave(w, lanes);
        warp_add(w, frame, op->slots[target], lanes);
        left &= ~lanes;
    }
}

void decode_brx(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t a = decoder_source(decoder, &i->operands[0], 32);
    uint32_t *targets = decoder_keep(decoder, (i->target_count + 1) * sizeof *targets);
    if (!targets || i->target_count == 0) {
        decoder_fail(decoder);
        return;
    }
    memcpy(targets, i->targets, i->target_count * sizeof *targets);
    struct micro *op = decoder_emit(decoder, branch_indexed);
    op->a = a;
    op->slots = targets;
    op->e = i->target_count;
    op->kind = MICRO_BRANCH_TABLE;
}

/* ---- calls --------------------------------------------------------------------------------- */

static void copy_slot(struct warp *w, uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    LANES(w, memcpy(to + (size_t)l * bytes, from + (size_t)l * bytes, bytes));
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Caller's arguments to the callee's parameters, or results back; `into` is the frame that gets. */
static void pass(struct warp *w, struct frame *caller, const struct argument *argument,
                 struct frame *callee, const struct ptx_param *param, bool into_callee)
{
    uint64_t inner = callee->local_base + callee->program->param_start + param->offset;
    uint64_t outer = caller->local_base + argument->offset;
    uint8_t *outer_slot = argument->slot & SLOT_CONSTANT
                              ? caller->program->constants + (argument->slot & ~SLOT_CONSTANT)
                              : caller->slots + argument->slot;
    bool inner_register = param->reg != PTX_NO_REGISTER;
    uint8_t *inner_slot =
        inner_register ? callee->slots + callee->program->slots[param->reg] : NULL;
    uint32_t bytes = smaller(argument->bytes, param->size);
    if (inner_register && !argument->in_memory) {
        copy_slot(w, into_callee ? inner_slot : outer_slot, into_callee ? outer_slot : inner_slot,
                  argument->bytes);
        return;
    }
    LANES(w, {
        uint8_t *in = inner_register ? inner_slot + (size_t)l * bytes : space_local(w, l, inner);
        uint8_t *out = argument->in_memory ? space_local(w, l, outer)
                                           : outer_slot + (size_t)l * argument->bytes;
        memcpy(into_callee ? in : out, into_callee ? out : in, bytes);
    });
}

static int enter(struct warp *w, const struct micro *op, uint32_t index)
{
    const struct call_site *site = op->pointer;
    struct frame *caller = w->frame;
    struct program *program = image_program(w->state->launch.image, index);
    if (!program)
        return fault_raise(w, op, w->mask, EXEC_FAULT_MEMORY, 0);
    if (!program->supported)
        return fault_unsupported(w, op, program->message);
    const struct ptx_function *f = program->function;
    uint64_t end = caller->local_base + caller->program->local_bytes + caller->extra_bytes +
                   program->local_bytes + 4096;
    if (end > w->state->local_limit)
        return fault_raise(w, op, w->mask, EXEC_FAULT_STACK, 0);
    struct frame *frame = frame_create(w, program, caller, w->mask);
    if (!frame)
        return fault_raise(w, op, w->mask, EXEC_FAULT_MEMORY, 0);
    frame->call = op;
    for (uint32_t i = 0; i < site->argument_count && i < f->param_count; i++)
        pass(w, caller, &site->arguments[i], frame, &f->params[i], true);
    struct group *group = &w->groups[w->current];
    group->frame = w->frame = frame;
    w->base[0] = frame->slots;
    w->base[1] = program->constants;
    w->pc = 0;
    return FLOW_SWITCH;
}

static int call_direct(struct warp *w, const struct micro *op)
{
    const struct call_site *site = op->pointer;
    return enter(w, op, site->callee);
}

/* Lanes with the same target call together; the others stay here and call after them. */
static int call_indirect(struct warp *w, const struct micro *op)
{
    const uint64_t *targets = slot(w, op->a);
    uint64_t target = targets[__builtin_ctz(w->mask)];
    uint32_t lanes = 0;
    for (uint32_t m = w->mask; m; m &= m - 1)
        if (targets[__builtin_ctz(m)] == target)
            lanes |= m & -m;
    uint32_t index = image_function_at(w->state->launch.image, target);
    if (index == NO_FUNCTION)
        return fault_raise(w, op, lanes, EXEC_FAULT_INVALID_PC, target);
    uint32_t others = w->mask & ~lanes;
    if (others) {
        uint32_t pc = (uint32_t)(op - w->frame->program->code);
        warp_leave(w, others);
        warp_add(w, w->frame, pc, others);
    }
    return enter(w, op, index);
}

static void place_argument(struct decoder *decoder, const struct ptx_operand *operand,
                           struct argument *argument, const struct ptx_param *param, bool result)
{
    if (operand->kind == PTX_OPERAND_SYMBOL && operand->variable &&
        operand->variable->space == PTX_SPACE_PARAM) {
        const struct ptx_function *f = decoder->function;
        if (f->is_entry && operand->variable->offset < f->param_bytes)
            decoder_fail(decoder); /* a kernel's own parameter is not passed on as it is */
        argument->in_memory = true;
        argument->offset = decoder->program->param_start + operand->variable->offset;
        argument->bytes = (uint32_t)operand->variable->size;
        return;
    }
    uint32_t wanted = param ? param->size * 8 : 64, bits;
    argument->slot = result ? decoder_any_destination(decoder, operand, wanted, &bits)
                            : decoder_any_source(decoder, operand, wanted, &bits);
    argument->bytes = bits / 8;
    if (bits < 16)
        decoder_fail(decoder);
}

static const struct argument *place_arguments(struct decoder *decoder,
                                              const struct ptx_operand *operands, uint32_t count,
                                              const struct ptx_param *params, uint32_t param_count,
                                              bool results)
{
    struct argument *arguments = decoder_keep(decoder, (count + 1) * sizeof *arguments);
    for (uint32_t i = 0; arguments && i < count; i++)
        place_argument(decoder, &operands[i], &arguments[i], i < param_count ? &params[i] : NULL,
                       results);
    return arguments;
}

static void note_callee(struct decoder *decoder, uint32_t callee)
{
    if (array_room(&decoder->callees, decoder->callee_count, &decoder->callee_capacity, 16,
                   SIZE_MAX, sizeof *decoder->callees))
        decoder->callees[decoder->callee_count++] = callee;
    else
        decoder->out_of_memory = true;
}

void decode_call(struct decoder *decoder, const struct ptx_instruction *i)
{
    const struct ptx_call *call = i->call;
    struct call_site *site = decoder_keep(decoder, sizeof *site);
    if (!site)
        return;
    const struct ptx_function *signature =
        call->callee.kind == PTX_OPERAND_FUNCTION ? call->callee.function : call->prototype;
    site->callee =
        call->callee.kind == PTX_OPERAND_FUNCTION && !builtin_replaces(call->callee.function)
            ? image_function(decoder->image, call->callee.function)
            : NO_FUNCTION;
    site->argument_count = call->argument_count;
    site->return_count = call->return_count;
    site->arguments = place_arguments(decoder, call->arguments, call->argument_count,
                                      signature ? signature->params : NULL,
                                      signature ? signature->param_count : 0, false);
    site->returns = place_arguments(decoder, call->returns, call->return_count,
                                    signature ? signature->returns : NULL,
                                    signature ? signature->return_count : 0, true);
    micro_run *run = call_direct;
    uint32_t address = 0;
    if (call->callee.kind != PTX_OPERAND_FUNCTION) {
        run = call_indirect; /* whom it calls is not known */
        decoder_order(decoder);
        address = decoder_source(decoder, &call->callee, 64);
    } else if (site->callee == NO_FUNCTION) {
        run = builtin_find(call->callee.function, call->argument_count, &site->builtin);
        decoder_order(decoder); /* what is printed has an order */
        decoder->callee = run || !call->callee.function ? NULL : call->callee.function->name;
    } else {
        note_callee(decoder, site->callee);
    }
    if (!run) {
        decoder_fail(decoder);
        return;
    }
    struct micro *op = decoder_emit(decoder, run);
    op->a = address;
    op->pointer = site;
}

/* ---- ret, exit, trap ------------------------------------------------------------------------ */

static int run_exit(struct warp *w, const struct micro *op)
{
    (void)op;
    uint32_t lanes = w->mask;
    warp_leave(w, lanes);
    warp_exit(w, lanes);
    barrier_recheck(w->block);
    return FLOW_SWITCH;
}

static int run_return(struct warp *w, const struct micro *op)
{
    struct frame *frame = w->frame, *caller = frame->parent;
    if (!caller)
        return run_exit(w, op);
    const struct call_site *site = frame->call->pointer;
    const struct ptx_function *f = frame->program->function;
    for (uint32_t i = 0; i < site->return_count && i < f->return_count; i++)
        pass(w, caller, &site->returns[i], frame, &f->returns[i], false);
    struct group *group = &w->groups[w->current];
    group->frame = w->frame = caller;
    w->base[0] = caller->slots;
    w->base[1] = caller->program->constants;
    w->pc = (uint32_t)(frame->call - caller->program->code) + 1;
    frame->lanes &= ~w->mask;
    if (!frame->lanes)
        frame_release(w, frame);
    return FLOW_SWITCH;
}

LOWERING(run_return, LOWERING_RETURN, NULL, NULL, NULL, NULL, NULL)
LOWERING(run_exit, LOWERING_RETURN, NULL, NULL, NULL, NULL, NULL)

void decode_ret(struct decoder *decoder, const struct ptx_instruction *i)
{
    (void)i;
    decoder_emit(decoder, run_return);
}

void decode_exit(struct decoder *decoder, const struct ptx_instruction *i)
{
    (void)i;
    decoder_emit(decoder, run_exit);
}

static int run_trap(struct warp *w, const struct micro *op)
{
    return fault_raise(w, op, w->mask, EXEC_FAULT_TRAP, 0);
}

void decode_trap(struct decoder *decoder, const struct ptx_instruction *i)
{
    (void)i;
    decoder_emit(decoder, run_trap);
}

/* Whoever sleeps waits for somebody: let others run. */
static int run_sleep(struct warp *w, const struct micro *op)
{
    w->pc = (uint32_t)(op - w->frame->program->code) + 1;
    return FLOW_YIELD;
}

void decode_sleep(struct decoder *decoder, const struct ptx_instruction *i)
{
    (void)i;
    decoder_order(decoder);
    decoder_emit(decoder, run_sleep);
}

/* Hints, and order that a machine which runs one instruction at a time has anyway. */
void decode_nothing(struct decoder *decoder, const struct ptx_instruction *i)
{
    (void)decoder;
    (void)i;
}
