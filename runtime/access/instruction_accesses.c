/* What instructions do to memory. */
#include "runtime/access/instruction_accesses.h"

#include <string.h>

bool instruction_access_is_strong(const struct ptx_instruction *instruction)
{
    bool reaches = instruction->scope == PTX_SCOPE_NONE || instruction->scope == PTX_SCOPE_GPU ||
                   instruction->scope == PTX_SCOPE_SYS;
    switch (instruction->opcode) {
    case PTX_OP_ATOM:
    case PTX_OP_RED:
    case PTX_OP_MULTIMEM:
        return reaches; /* without a scope: .gpu */
    default:
        break;
    }
    switch (instruction->semantics) {
    case PTX_SEM_NONE:
    case PTX_SEM_WEAK:
        return false;
    case PTX_SEM_VOLATILE:
    case PTX_SEM_MMIO:
        return true;
    default:
        return reaches;
    }
}

static uint8_t access_kinds(const struct ptx_instruction *instruction, uint8_t plain)
{
    return instruction_access_is_strong(instruction) ? INSTRUCTION_ACCESS_ATOMIC : plain;
}

static int one(struct instruction_access *touched, const struct ptx_instruction *instruction,
               uint32_t operand, uint8_t kinds, uint8_t space)
{
    if (operand >= instruction->operand_count)
        return 0;
    touched[0] = (struct instruction_access){
        .kinds = kinds, .space = space, .address = &instruction->operands[operand]};
    return 1;
}

/* The operand with coordinates: "[texture, {x, y}]", "[map, {x, y}]". */
static int one_object(struct instruction_access *touched, const struct ptx_instruction *instruction,
                      uint8_t kinds, enum instruction_access_object object, const char **unknown)
{
    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        const struct ptx_operand *operand = &instruction->operands[i];
        if (operand->kind != PTX_OPERAND_ADDRESS || operand->count == 0)
            continue;
        touched[0] = (struct instruction_access){
            .kinds = kinds, .space = PTX_SPACE_GENERIC, .object = object, .address = operand};
        return 1;
    }
    *unknown = "coordinates without an object";
    return 0;
}

/* A tensor copy: between shared memory and the tensor, whichever is written first. A reduction is
 * .relaxed at .gpu scope (PTX ISA, "cp.reduce.async.bulk.tensor"). What the other operand does to
 * shared memory is of no other kernel's interest. */
static int find_tensor_copy(const struct ptx_instruction *instruction,
                            struct instruction_access *touched, const char **unknown)
{
    bool writes = instruction->operand_count > 0 && instruction->operands[0].count > 0;
    uint8_t kinds = writes ? INSTRUCTION_ACCESS_WRITE : INSTRUCTION_ACCESS_READ;
    if (strncmp(instruction->mnemonic, "cp.reduce", strlen("cp.reduce")) == 0)
        kinds = INSTRUCTION_ACCESS_ATOMIC;
    return one_object(touched, instruction, kinds, INSTRUCTION_ACCESS_OBJECT_TENSOR_MAP, unknown);
}

/* cp.async and the bulk copies: destination first, source second */
static int find_copy(const struct ptx_instruction *instruction, struct instruction_access *touched,
                     const char **unknown)
{
    uint8_t to = instruction->space, from = instruction->space2;
    switch (instruction->form) {
    case PTX_FORM_CP_ASYNC_COMMIT:
    case PTX_FORM_CP_ASYNC_WAIT_GROUP:
    case PTX_FORM_CP_ASYNC_WAIT_ALL:
    case PTX_FORM_CP_ASYNC_MBARRIER_ARRIVE:
    case PTX_FORM_CP_ASYNC_BULK_COMMIT:
    case PTX_FORM_CP_ASYNC_BULK_WAIT_GROUP:
        return 0;
    case PTX_FORM_CP_ASYNC:
    case PTX_FORM_CP_ASYNC_BULK:
    case PTX_FORM_CP_REDUCE_ASYNC_BULK:
        break;
    default:
        if (strstr(instruction->mnemonic, ".prefetch"))
            return 0;
        if (strstr(instruction->mnemonic, ".tensor"))
            return find_tensor_copy(instruction, touched, unknown);
        *unknown = "a copy that is not modelled";
        return 0;
    }
    if (instruction->operand_count < 2) {
        *unknown = "a copy without operands";
        return 0;
    }
    bool reduces = instruction->form == PTX_FORM_CP_REDUCE_ASYNC_BULK;
    touched[0] = (struct instruction_access){.kinds = reduces ? INSTRUCTION_ACCESS_ATOMIC
                                                              : INSTRUCTION_ACCESS_WRITE,
                                             .space = to,
                                             .address = &instruction->operands[0]};
    touched[1] = (struct instruction_access){
        .kinds = INSTRUCTION_ACCESS_READ, .space = from, .address = &instruction->operands[1]};
    return 2;
}

static int find_matrix(const struct ptx_instruction *instruction,
                       struct instruction_access *touched)
{
    switch (instruction->form) {
    case PTX_FORM_WMMA_LOAD:
        return one(touched, instruction, 1, INSTRUCTION_ACCESS_READ, instruction->space);
    case PTX_FORM_WMMA_STORE:
        return one(touched, instruction, 0, INSTRUCTION_ACCESS_WRITE, instruction->space);
    default:
        return 0;
    }
}

/* multimem.ld_reduce, .st, .red: one address that stands for one on each device */
static int find_multimem(const struct ptx_instruction *instruction,
                         struct instruction_access *touched)
{
    bool loads = strstr(instruction->mnemonic, ".ld_reduce") != NULL;
    bool stores = strstr(instruction->mnemonic, ".st") != NULL;
    return one(touched, instruction, loads,
               stores && !instruction_access_is_strong(instruction) ? INSTRUCTION_ACCESS_WRITE
                                                                    : INSTRUCTION_ACCESS_ATOMIC,
               instruction->space);
}

static bool has_address(const struct ptx_instruction *instruction)
{
    for (uint32_t i = 0; i < instruction->operand_count; i++)
        if (instruction->operands[i].kind == PTX_OPERAND_ADDRESS)
            return true;
    return instruction->operand_count == 0; /* its operands could not even be read */
}

/* tcgen05 works on the block's tensor memory and on shared memory (PTX ISA section 9.7.16). */
static bool is_tensor_memory(const struct ptx_instruction *instruction)
{
    return strncmp(instruction->mnemonic, "tcgen05.", strlen("tcgen05.")) == 0;
}

int instruction_accesses_find(const struct ptx_instruction *instruction,
                              struct instruction_access touched[INSTRUCTION_ACCESS_MAX],
                              const char **unknown)
{
    uint8_t space = instruction->space;
    *unknown = NULL;
    switch (instruction->opcode) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
        return one(touched, instruction, 1, access_kinds(instruction, INSTRUCTION_ACCESS_READ),
                   space);
    case PTX_OP_ST:
        return one(touched, instruction, 0, access_kinds(instruction, INSTRUCTION_ACCESS_WRITE),
                   space);
    case PTX_OP_ATOM:
        return one(touched, instruction, 1,
                   access_kinds(instruction, INSTRUCTION_ACCESS_READ | INSTRUCTION_ACCESS_WRITE),
                   space);
    case PTX_OP_RED:
        return one(touched, instruction, 0,
                   access_kinds(instruction, INSTRUCTION_ACCESS_READ | INSTRUCTION_ACCESS_WRITE),
                   space);
    case PTX_OP_CP:
        return find_copy(instruction, touched, unknown);
    case PTX_OP_WMMA:
        return find_matrix(instruction, touched);
    case PTX_OP_MULTIMEM:
        return find_multimem(instruction, touched);
    case PTX_OP_DISCARD:
        return one(touched, instruction, 0, INSTRUCTION_ACCESS_WRITE, space);
    case PTX_OP_TENSORMAP: /* cp_fenceproxy copies from shared memory, the space written last */
        return one(touched, instruction, 0, INSTRUCTION_ACCESS_WRITE,
                   strstr(instruction->mnemonic, ".cp_fenceproxy") ? PTX_SPACE_GLOBAL : space);
    case PTX_OP_TEX:
    case PTX_OP_TLD4:
        return one_object(touched, instruction, INSTRUCTION_ACCESS_READ,
                          INSTRUCTION_ACCESS_OBJECT_TEXTURE, unknown);
    case PTX_OP_SULD:
        return one_object(touched, instruction, INSTRUCTION_ACCESS_READ,
                          INSTRUCTION_ACCESS_OBJECT_SURFACE, unknown);
    case PTX_OP_SUST:
        return one_object(touched, instruction, INSTRUCTION_ACCESS_WRITE,
                          INSTRUCTION_ACCESS_OBJECT_SURFACE, unknown);
    case PTX_OP_SURED:
        return one_object(touched, instruction, INSTRUCTION_ACCESS_ATOMIC,
                          INSTRUCTION_ACCESS_OBJECT_SURFACE, unknown);
    case PTX_OP_UNKNOWN:
        if (has_address(instruction) && !is_tensor_memory(instruction))
            *unknown = "an instruction that is not modelled";
        return 0;
    default:
        return 0; /* ldmatrix, stmatrix, mbarrier, wgmma: shared memory only */
    }
}
