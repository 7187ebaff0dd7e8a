/* See kernel_faults.h. */
#include "runtime/access/kernel_faults.h"
#include "runtime/access/instruction_accesses.h"

/* What fails by itself, goes elsewhere, or takes of the stack. */
static bool fails_without_access(const struct ptx_instruction *instruction)
{
    switch (instruction->opcode) {
    case PTX_OP_UNKNOWN:
    case PTX_OP_ALLOCA:
    case PTX_OP_BRKPT:
    case PTX_OP_BRX:
    case PTX_OP_CALL:
    case PTX_OP_TRAP:
        return true;
    default:
        return false;
    }
}

static bool is_parameter(const struct instruction_access *access)
{
    return !access->object && access->space == PTX_SPACE_PARAM;
}

/* A generic address may be one of shared or local memory. */
static bool is_global(const struct instruction_access *access)
{
    return !access->object && access->space == PTX_SPACE_GLOBAL;
}

uint8_t kernel_faults_width(const struct ptx_function *kernel)
{
    uint32_t width = 0;
    for (uint32_t i = 0; i < kernel->instruction_count; i++) {
        const struct ptx_instruction *instruction = &kernel->instructions[i];
        const uint32_t bytes = ptx_type_bits(instruction->type) / 8 * instruction->vector;
        struct instruction_access accesses[INSTRUCTION_ACCESS_MAX];
        const char *unknown = NULL;
        if (fails_without_access(instruction))
            return 0;
        const int count = instruction_accesses_find(instruction, accesses, &unknown);
        if (unknown)
            return 0;
        for (int k = 0; k < count; k++) {
            if (is_parameter(&accesses[k]))
                continue;
            if (!is_global(&accesses[k]) || !bytes || bytes > UINT8_MAX ||
                (width && width != bytes))
                return 0;
            width = bytes;
        }
    }
    return width ? (uint8_t)width : 1;
}
