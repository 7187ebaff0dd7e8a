/* See kernel_atomics.h. */
#include "runtime/access/kernel_atomics.h"
#include "runtime/access/instruction_accesses.h"

enum { SCAN_DEPTH = 16, SCAN_INSTRUCTIONS = 50000 };

/* What was seen of the two patterns. */
struct scan {
    uint32_t budget;
    bool acquire, release;     /* instructions that are one by themselves */
    bool fence;                /* at a scope that reaches other kernels */
    bool reads, writes, plain; /* strong ones */
};

static bool reaches(const struct ptx_instruction *instruction)
{
    return instruction->scope != PTX_SCOPE_CTA && instruction->scope != PTX_SCOPE_CLUSTER;
}

static void fence_seen(struct scan *scan, const struct ptx_instruction *instruction)
{
    if (instruction->form != PTX_FORM_FENCE_PROXY && reaches(instruction))
        scan->fence = true;
}

/* An atomic reads and writes; .red only writes. */
static void access_seen(struct scan *scan, const struct ptx_instruction *instruction)
{
    const bool load = instruction->opcode == PTX_OP_LD;
    const bool store = instruction->opcode == PTX_OP_ST || instruction->opcode == PTX_OP_RED;
    const uint8_t semantics = instruction->semantics;
    struct instruction_access accesses[INSTRUCTION_ACCESS_MAX];
    const char *unknown = NULL;
    const int count = instruction_accesses_find(instruction, accesses, &unknown);
    bool strong = false;
    for (int i = 0; i < count; i++)
        strong |= (accesses[i].kinds & INSTRUCTION_ACCESS_ATOMIC) && !accesses[i].object &&
                  (accesses[i].space == PTX_SPACE_GLOBAL || accesses[i].space == PTX_SPACE_GENERIC);
    if (!strong)
        return;
    scan->reads |= !store;
    scan->writes |= !load;
    scan->plain |= load || instruction->opcode == PTX_OP_ST;
    scan->acquire |= semantics == PTX_SEM_ACQUIRE || (semantics == PTX_SEM_ACQ_REL && !store);
    scan->release |= semantics == PTX_SEM_RELEASE || semantics == PTX_SEM_ACQ_REL;
}

static void scan_function(const struct ptx_function *function, unsigned depth, struct scan *scan)
{
    for (uint32_t i = 0; i < function->instruction_count && scan->budget; i++) {
        const struct ptx_instruction *instruction = &function->instructions[i];
        scan->budget--;
        if (instruction->opcode == PTX_OP_FENCE || instruction->opcode == PTX_OP_MEMBAR)
            fence_seen(scan, instruction);
        else
            access_seen(scan, instruction);
        if (instruction->call && instruction->call->callee.kind == PTX_OPERAND_FUNCTION &&
            instruction->call->callee.function && depth < SCAN_DEPTH)
            scan_function(instruction->call->callee.function, depth + 1, scan);
    }
}

/* The width of all atomics of the function; 0: they differ, or it calls others. */
static uint8_t width_find(const struct ptx_function *ptx)
{
    uint32_t width = 0;
    for (uint32_t i = 0; i < ptx->instruction_count; i++) {
        const struct ptx_instruction *instruction = &ptx->instructions[i];
        struct instruction_access effects[INSTRUCTION_ACCESS_MAX];
        const char *unknown = NULL;
        if (instruction->opcode == PTX_OP_CALL)
            return 0;
        int count = instruction_accesses_find(instruction, effects, &unknown);
        for (int k = 0; k < count; k++) {
            uint32_t bytes = ptx_type_bits(instruction->type) / 8 * instruction->vector;
            if (!(effects[k].kinds & INSTRUCTION_ACCESS_ATOMIC) ||
                effects[k].space == PTX_SPACE_SHARED || effects[k].object)
                continue;
            if (width && width != bytes)
                return 0;
            width = bytes;
        }
    }
    return (uint8_t)(width <= UINT8_MAX ? width : 0);
}

struct kernel_atomics kernel_atomics_find(const struct ptx_function *kernel)
{
    struct scan scan = {.budget = SCAN_INSTRUCTIONS};
    scan_function(kernel, 0, &scan);
    const bool acquires = scan.acquire || (scan.fence && scan.reads);
    const bool releases = scan.release || (scan.fence && scan.writes);
    return (struct kernel_atomics){
        .bytes = width_find(kernel),
        .order = (uint8_t)((acquires ? CSAN_ACQUIRES : 0) | (releases ? CSAN_RELEASES : 0)),
        .plain = scan.plain};
}
