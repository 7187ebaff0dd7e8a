/* PTX calls. See value_builder.h. A call that is followed becomes a copy of the callee, with what
 * passes between the two: arguments, results, and the caller's variables in memory. Any other may
 * do what it likes with what it was given. value_translate.c comes here with every call. */
#include "runtime/access/access_set.h"
#include "runtime/access/values/value_builder.h"

/* Bytes of parameters or results move between the caller's .param variable and the function's. */
static void move_memory(struct builder *b, const struct ptx_variable *from, uint32_t from_copy,
                        const struct ptx_variable *to, uint32_t to_copy, uint32_t returned)
{
    struct memory *source = memory_find_variable(b, from, from_copy);
    size_t at = (size_t)(source - b->memories);
    if (source->lost) {
        memory_lose(b, memory_find_variable(b, to, to_copy));
        return;
    }
    for (size_t i = 0; i < b->memories[at].slot_count; i++) {
        struct slot slot = b->memories[at].slots[i];
        uint32_t node = returned ? variable_read_returned(b, slot.variable, returned)
                                 : memory_read(b, &b->memories[at], slot.offset, slot.bytes);
        memory_write(b, memory_find_variable(b, to, to_copy), slot.offset, slot.bytes, node);
    }
}

static void pass_arguments(struct builder *b, const struct ptx_call *call,
                           const struct ptx_function *function, uint32_t copy)
{
    uint32_t caller = b->copy;
    for (uint32_t i = 0; i < function->param_count && i < call->argument_count; i++) {
        const struct ptx_param *param = &function->params[i];
        const struct ptx_operand *argument = &call->arguments[i];
        if (param->reg != PTX_NO_REGISTER) {
            uint32_t node =
                value_graph_operand(b, argument, value_graph_type_width(param->type), false);
            b->copy = copy;
            register_write(b, param->reg, node);
            b->copy = caller;
        } else if (argument->kind == PTX_OPERAND_SYMBOL && param->variable) {
            move_memory(b, argument->variable, caller, param->variable, copy, 0);
        } else if (param->variable && param->size <= 8) {
            uint32_t node = value_graph_operand(b, argument, param->size * 8, false);
            memory_write(b, memory_find_variable(b, param->variable, copy), 0, param->size, node);
        }
    }
}

static void take_results(struct builder *b, const struct ptx_instruction *instruction,
                         const struct ptx_function *function, uint32_t copy)
{
    const struct ptx_call *call = instruction->call;
    for (uint32_t i = 0; i < call->return_count; i++) {
        const struct ptx_operand *to = &call->returns[i];
        const struct ptx_param *from = i < function->return_count ? &function->returns[i] : NULL;
        if (from && from->variable && to->kind == PTX_OPERAND_SYMBOL)
            move_memory(b, from->variable, copy, to->variable, b->copy, copy);
        else
            value_graph_write_unknown(b, instruction, to, 1, 0, ACCESS_BOUND_DATA);
    }
}

/* What the caller's variables in memory are after the call. */
static void take_memories(struct builder *b, uint32_t copy)
{
    for (size_t m = 0; m < b->memory_count; m++) {
        if (b->memories[m].copy >= copy || b->memories[m].lost)
            continue;
        for (size_t i = 0; i < b->memories[m].slot_count; i++) {
            uint32_t variable = b->memories[m].slots[i].variable;
            uint32_t node = variable_read_returned(b, variable, copy);
            variable_write(b, variable, b->block, node);
        }
    }
}

/* The callee, if it is the one that can be meant and there is code for it. */
static const struct ptx_function *callee_of(struct builder *b, const struct ptx_call *call)
{
    const struct ptx_function *function =
        call->callee.kind == PTX_OPERAND_FUNCTION ? call->callee.function : NULL;
    if (!function || function->is_prototype || !function->block_count)
        return NULL;
    for (uint32_t copy = b->copy;; copy = b->copies[copy].caller) {
        if (b->copies[copy].function == function)
            return NULL; /* recursion */
        if (copy == 0)
            break;
    }
    return b->copies[b->copy].depth < VALUE_GRAPH_MAX_DEPTH ? function : NULL;
}

/* A call that is not followed: it may write what it was given addresses of. */
static void call_unknown(struct builder *b, const struct ptx_instruction *instruction)
{
    const struct ptx_call *call = instruction->call;
    const struct ptx_function *callee =
        call->callee.kind == PTX_OPERAND_FUNCTION ? call->callee.function : NULL;
    b->graph->has_calls = true;
    b->graph->has_hidden |= !callee || callee->block_count != 0;
    for (uint32_t i = 0; i < call->argument_count; i++) {
        const struct ptx_operand *argument = &call->arguments[i];
        if (argument->kind == PTX_OPERAND_SYMBOL) {
            struct memory *memory = memory_find_variable(b, argument->variable, b->copy);
            size_t at = (size_t)(memory - b->memories);
            for (size_t k = 0; k < b->memories[at].slot_count; k++) {
                struct slot slot = b->memories[at].slots[k];
                memory_escape(b, memory_read(b, &b->memories[at], slot.offset, slot.bytes));
            }
        } else if (argument->kind == PTX_OPERAND_REGISTER) {
            memory_escape(b, register_read(b, argument->reg));
        }
    }
    for (uint32_t i = 0; i < call->return_count; i++) {
        const struct ptx_operand *to = &call->returns[i];
        if (to->kind == PTX_OPERAND_SYMBOL)
            memory_lose(b, memory_find_variable(b, to->variable, b->copy));
        else
            value_graph_write_unknown(b, instruction, to, 1, 0, ACCESS_BOUND_DATA);
    }
}

void value_graph_call(struct builder *b, const struct ptx_instruction *instruction)
{
    const struct ptx_function *function = callee_of(b, instruction->call);
    if (!function || instruction->guard != PTX_NO_REGISTER) {
        call_unknown(b, instruction);
        return;
    }
    uint32_t block = b->block, caller = b->copy, line = b->line;
    uint32_t copy = value_graph_inline(b, function, instruction);
    pass_arguments(b, instruction->call, function, copy);
    value_graph_build_copy(b, copy);
    b->block = block;
    b->copy = caller;
    b->line = line;
    take_memories(b, copy);
    take_results(b, instruction, function, copy);
}
