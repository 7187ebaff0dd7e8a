/* Words a fault: kernel, line, instruction, thread, what happened. */
#include "exec_engine.h"

#include <stdio.h>

static const char *describe(enum exec_fault_kind kind)
{
    switch (kind) {
    case EXEC_FAULT_ILLEGAL_ADDRESS:
        return "illegal address";
    case EXEC_FAULT_MISALIGNED_ADDRESS:
        return "misaligned address";
    case EXEC_FAULT_ADDRESS_SPACE:
        return "operation not allowed in this address space, address";
    case EXEC_FAULT_INVALID_PC:
        return "call or branch through a bad target";
    case EXEC_FAULT_ILLEGAL_INSTRUCTION:
        return "illegal instruction";
    case EXEC_FAULT_TRAP:
        return "trap";
    case EXEC_FAULT_ASSERT:
        return "assertion failed";
    case EXEC_FAULT_STACK:
        return "stack overflow: calls nest too deep";
    case EXEC_FAULT_UNSUPPORTED:
        return "call of a function that is not supported";
    case EXEC_FAULT_DEADLOCK:
        return "deadlock: every thread waits for another at a barrier";
    case EXEC_FAULT_MEMORY:
        return "not enough memory";
    default:
        return "no fault";
    }
}

static bool has_address(enum exec_fault_kind kind)
{
    return kind == EXEC_FAULT_ILLEGAL_ADDRESS || kind == EXEC_FAULT_MISALIGNED_ADDRESS ||
           kind == EXEC_FAULT_ADDRESS_SPACE || kind == EXEC_FAULT_INVALID_PC;
}

static void word(struct exec_state *state, const struct warp *warp, const struct micro *op)
{
    struct exec_fault *fault = &state->fault;
    const struct ptx_function *kernel = state->launch.kernel;
    const struct ptx_function *f = warp && warp->frame ? warp->frame->program->function : kernel;
    const struct ptx_instruction *i =
        op && op->instruction < f->instruction_count ? &f->instructions[op->instruction] : NULL;
    char what[160], where[160] = "";
    if (has_address(fault->kind))
        snprintf(what, sizeof what, "%s 0x%llx", describe(fault->kind),
                 (unsigned long long)fault->address);
    else
        snprintf(what, sizeof what, "%s", describe(fault->kind));
    if (fault->kind == EXEC_FAULT_UNSUPPORTED) {
        const struct program *callee = image_program(state->launch.image, (uint32_t)fault->address);
        if (callee)
            snprintf(what, sizeof what, "%.100s", callee->message);
    }
    if (i)
        snprintf(where, sizeof where,
                 "%s%.60s%sline %u: instruction '%.60s': ", f == kernel ? "" : "in function '",
                 f == kernel ? "" : f->name, f == kernel ? "" : "': ", i->line,
                 i->mnemonic ? i->mnemonic : "");
    snprintf(fault->message, sizeof fault->message,
             "kernel '%.120s': %.120s%.80s, block (%u,%u,%u), thread (%u,%u,%u)", kernel->name,
             where, what, fault->block[0], fault->block[1], fault->block[2], fault->thread[0],
             fault->thread[1], fault->thread[2]);
}

int fault_raise(struct warp *warp, const struct micro *op, int lane, enum exec_fault_kind kind,
                uint64_t address)
{
    struct exec_state *state = warp->state;
    if (state->fault.kind != EXEC_FAULT_NONE)
        return FLOW_FAULT;
    if (lane < 0)
        lane = warp->mask ? __builtin_ctz(warp->mask) : 0;
    state->fault = (struct exec_fault){.kind = kind, .address = address};
    for (int axis = 0; axis < 3; axis++) {
        state->fault.block[axis] = warp->block->id[axis];
        state->fault.thread[axis] = warp->tid[axis][lane];
    }
    word(state, warp, op);
    return FLOW_FAULT;
}

void fault_state(struct exec_state *state, enum exec_fault_kind kind)
{
    if (state->fault.kind != EXEC_FAULT_NONE)
        return;
    state->fault = (struct exec_fault){.kind = kind};
    word(state, NULL, NULL);
}
