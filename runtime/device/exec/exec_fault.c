/* Describes a fault in words: kernel, line, instruction, thread, and what happened. */
#include "runtime/device/exec/exec_engine.h"

#include <stdio.h>

const char *exec_fault_name(enum exec_fault_kind kind)
{
    switch (kind) {
    case EXEC_FAULT_ILLEGAL_ADDRESS:
        return "illegal memory access";
    case EXEC_FAULT_OUT_OF_RANGE:
        return "shared or local memory access out of range";
    case EXEC_FAULT_MISALIGNED_ADDRESS:
        return "misaligned memory access";
    case EXEC_FAULT_ADDRESS_SPACE:
        return "operation not allowed in this address space";
    case EXEC_FAULT_INVALID_PC:
        return "call or jump to an address without code";
    case EXEC_FAULT_ILLEGAL_INSTRUCTION:
        return "illegal instruction";
    case EXEC_FAULT_TRAP:
        return "trap";
    case EXEC_FAULT_SURFACE:
        return "surface access out of bounds";
    case EXEC_FAULT_FREE:
        return "free of what malloc did not give, or a second free";
    case EXEC_FAULT_ASSERT:
        return "failed assert";
    case EXEC_FAULT_STACK:
        return "stack overflow: calls nest too deep";
    case EXEC_FAULT_UNSUPPORTED:
        return "what the embedded device does not support";
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
    return kind == EXEC_FAULT_ILLEGAL_ADDRESS || kind == EXEC_FAULT_OUT_OF_RANGE ||
           kind == EXEC_FAULT_MISALIGNED_ADDRESS || kind == EXEC_FAULT_ADDRESS_SPACE ||
           kind == EXEC_FAULT_INVALID_PC || kind == EXEC_FAULT_FREE;
}

/* Whether the micro-operation is an access: of others its option and bytes say something else. */
static bool is_access(enum exec_fault_kind kind)
{
    return has_address(kind) && kind != EXEC_FAULT_INVALID_PC && kind != EXEC_FAULT_FREE;
}

static const struct ptx_instruction *instruction_of(const struct exec_fault *fault,
                                                    const struct micro *op)
{
    const struct ptx_function *f = fault->function;
    return op && op->instruction < f->instruction_count ? &f->instructions[op->instruction] : NULL;
}

/* `said`: what happened, if the fault's name does not say it. */
static void word(struct exec_state *state, const struct ptx_instruction *i, const char *said)
{
    struct exec_fault *fault = &state->fault;
    const struct ptx_function *kernel = state->launch.kernel, *f = fault->function;
    char what[160], where[160] = "", who[120] = "";
    if (fault->has_address)
        snprintf(what, sizeof what, "%s: 0x%llx", exec_fault_name(fault->kind),
                 (unsigned long long)fault->address);
    else
        snprintf(what, sizeof what, "%s", exec_fault_name(fault->kind));
    if (said)
        snprintf(what, sizeof what, "%.100s", said);
    if (i)
        snprintf(where, sizeof where,
                 "%s%.60s%sline %u: instruction '%.60s': ", f == kernel ? "" : "in function '",
                 f == kernel ? "" : f->name, f == kernel ? "" : "': ", i->line,
                 i->mnemonic ? i->mnemonic : "");
    if (fault->has_thread)
        snprintf(who, sizeof who, ", block (%u,%u,%u), thread (%u,%u,%u)", fault->block[0],
                 fault->block[1], fault->block[2], fault->thread[0], fault->thread[1],
                 fault->thread[2]);
    snprintf(fault->message, sizeof fault->message, "kernel '%.120s': %.120s%.80s%s", kernel->name,
             where, what, who);
}

static void place(struct exec_fault *fault, const struct ptx_instruction *i)
{
    const struct ptx_module *module = fault->function->module;
    for (uint32_t k = 0; i && i->source_line && k < module->file_count; k++)
        if (module->files[k].index == i->source_file) {
            fault->file = module->files[k].name;
            fault->line = i->source_line;
            return;
        }
}

static enum device_failure_access access_of(const struct micro *op)
{
    return op->option & ACCESS_UPDATES  ? DEVICE_FAILURE_ATOMIC
           : op->option & ACCESS_WRITES ? DEVICE_FAILURE_WRITE
                                        : DEVICE_FAILURE_READ;
}

static int raise(struct warp *warp, const struct micro *op, uint32_t lanes,
                 enum exec_fault_kind kind, uint64_t address, const char *said)
{
    struct exec_state *state = warp->state;
    if (state->fault.kind != EXEC_FAULT_NONE)
        return FLOW_FAULT;
    int lane = lanes ? __builtin_ctz(lanes) : 0;
    struct exec_fault *fault = &state->fault;
    *fault = (struct exec_fault){.kind = kind,
                                 .has_thread = true,
                                 .has_address = has_address(kind),
                                 .address = address,
                                 .threads = (uint32_t)__builtin_popcount(lanes),
                                 .function = warp->frame ? warp->frame->program->function
                                                         : state->launch.kernel};
    for (int axis = 0; axis < 3; axis++) {
        fault->block[axis] = warp->block->id[axis];
        fault->thread[axis] = warp->tid[axis][lane];
    }
    if (op && is_access(kind)) {
        fault->access = access_of(op);
        fault->bytes = (uint32_t)op->bytes * op->count;
    }
    place(fault, instruction_of(fault, op));
    word(state, instruction_of(fault, op), said);
    return FLOW_FAULT;
}

int fault_raise(struct warp *warp, const struct micro *op, uint32_t lanes,
                enum exec_fault_kind kind, uint64_t address)
{
    return raise(warp, op, lanes, kind, address, NULL);
}

int fault_unsupported(struct warp *warp, const struct micro *op, const char *said)
{
    return raise(warp, op, warp->mask, EXEC_FAULT_UNSUPPORTED, 0, said);
}

void fault_state(struct exec_state *state, enum exec_fault_kind kind)
{
    if (state->fault.kind != EXEC_FAULT_NONE)
        return;
    state->fault = (struct exec_fault){.kind = kind, .function = state->launch.kernel};
    word(state, NULL, NULL);
}
