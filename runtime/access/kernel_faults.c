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

/* A generic address may be of shared or local memory, and a parameter's place is fixed. */
static bool is_global(const struct instruction_access *access)
{
    return !access->object &&
           (access->space == PTX_SPACE_GLOBAL || access->space == PTX_SPACE_PARAM);
}

bool kernel_faults_are_global(const struct ptx_function *kernel)
{
    for (uint32_t i = 0; i < kernel->instruction_count; i++) {
        const struct ptx_instruction *instruction = &kernel->instructions[i];
        struct instruction_access accesses[INSTRUCTION_ACCESS_MAX];
        const char *unknown = NULL;
        if (fails_without_access(instruction))
            return false;
        const int count = instruction_accesses_find(instruction, accesses, &unknown);
        if (unknown)
            return false;
        for (int k = 0; k < count; k++)
            if (!is_global(&accesses[k]))
                return false;
    }
    return true;
}
