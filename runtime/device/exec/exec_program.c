/* Decodes a function into a program: lays its blocks out so that a lower pc means nearer to the
 * entry, gives every register its slot, and has each instruction's family emit micro-operations.
 * Called by exec_image.c, once per function, under the image's lock. */
#include "runtime/device/exec/exec_decoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- families ------------------------------------------------------------------------------ */

static decode_family *const families[PTX_OP_COUNT] = {
    [PTX_OP_ABS] = decode_abs,
    [PTX_OP_ACTIVEMASK] = decode_activemask,
    [PTX_OP_ADD] = decode_add,
    [PTX_OP_ADDC] = decode_carry,
    [PTX_OP_ALLOCA] = decode_alloca,
    [PTX_OP_AND] = decode_logic,
    [PTX_OP_APPLYPRIORITY] = decode_nothing,
    [PTX_OP_ATOM] = decode_atom,
    [PTX_OP_BAR] = decode_bar,
    [PTX_OP_BARRIER] = decode_bar,
    [PTX_OP_BFE] = decode_bfe,
    [PTX_OP_BFI] = decode_bfi,
    [PTX_OP_BFIND] = decode_bfind,
    [PTX_OP_BMSK] = decode_bmsk,
    [PTX_OP_BRA] = decode_branch,
    [PTX_OP_BREV] = decode_brev,
    [PTX_OP_BRKPT] = decode_trap,
    [PTX_OP_BRX] = decode_brx,
    [PTX_OP_CALL] = decode_call,
    [PTX_OP_CLZ] = decode_clz,
    [PTX_OP_CNOT] = decode_logic,
    [PTX_OP_COPYSIGN] = decode_copysign,
    [PTX_OP_COS] = decode_unary,
    [PTX_OP_CP] = decode_cp,
    [PTX_OP_CREATEPOLICY] = decode_nothing,
    [PTX_OP_CVT] = decode_cvt,
    [PTX_OP_CVTA] = decode_cvta,
    [PTX_OP_DISCARD] = decode_nothing,
    [PTX_OP_DIV] = decode_div,
    [PTX_OP_DP2A] = decode_dp,
    [PTX_OP_DP4A] = decode_dp,
    [PTX_OP_ELECT] = decode_elect,
    [PTX_OP_EX2] = decode_unary,
    [PTX_OP_EXIT] = decode_exit,
    [PTX_OP_FENCE] = decode_fence,
    [PTX_OP_FMA] = decode_fma,
    [PTX_OP_FNS] = decode_fns,
    [PTX_OP_GETCTARANK] = decode_getctarank,
    [PTX_OP_GRIDDEPCONTROL] = decode_dependency,
    [PTX_OP_ISSPACEP] = decode_isspacep,
    [PTX_OP_LD] = decode_ld,
    [PTX_OP_LDMATRIX] = decode_ldmatrix,
    [PTX_OP_LDU] = decode_ld,
    [PTX_OP_LG2] = decode_unary,
    [PTX_OP_LOP3] = decode_lop3,
    [PTX_OP_MAD] = decode_mad,
    [PTX_OP_MAD24] = decode_mad24,
    [PTX_OP_MADC] = decode_carry,
    [PTX_OP_MAPA] = decode_mapa,
    [PTX_OP_MATCH] = decode_match,
    [PTX_OP_MAX] = decode_min_max,
    [PTX_OP_MBARRIER] = decode_mbarrier,
    [PTX_OP_MEMBAR] = decode_fence,
    [PTX_OP_MIN] = decode_min_max,
    [PTX_OP_MMA] = decode_mma,
    [PTX_OP_MOV] = decode_mov,
    [PTX_OP_MOVMATRIX] = decode_movmatrix,
    [PTX_OP_MUL] = decode_mul,
    [PTX_OP_MUL24] = decode_mul24,
    [PTX_OP_NANOSLEEP] = decode_sleep,
    [PTX_OP_NEG] = decode_neg,
    [PTX_OP_NOT] = decode_logic,
    [PTX_OP_OR] = decode_logic,
    [PTX_OP_PMEVENT] = decode_nothing,
    [PTX_OP_POPC] = decode_popc,
    [PTX_OP_PREFETCH] = decode_nothing,
    [PTX_OP_PREFETCHU] = decode_nothing,
    [PTX_OP_PRMT] = decode_prmt,
    [PTX_OP_RCP] = decode_rcp,
    [PTX_OP_RED] = decode_atom,
    [PTX_OP_REDUX] = decode_redux,
    [PTX_OP_REM] = decode_rem,
    [PTX_OP_RET] = decode_ret,
    [PTX_OP_RSQRT] = decode_rsqrt,
    [PTX_OP_SAD] = decode_sad,
    [PTX_OP_SELP] = decode_selp,
    [PTX_OP_SET] = decode_set,
    [PTX_OP_SETMAXNREG] = decode_nothing,
    [PTX_OP_SETP] = decode_setp,
    [PTX_OP_SHF] = decode_shf,
    [PTX_OP_SHFL] = decode_shfl,
    [PTX_OP_SHL] = decode_shift,
    [PTX_OP_SHR] = decode_shift,
    [PTX_OP_SIN] = decode_unary,
    [PTX_OP_SLCT] = decode_slct,
    [PTX_OP_SQRT] = decode_sqrt,
    [PTX_OP_ST] = decode_st,
    [PTX_OP_STACKRESTORE] = decode_stackrestore,
    [PTX_OP_STACKSAVE] = decode_stacksave,
    [PTX_OP_STMATRIX] = decode_stmatrix,
    [PTX_OP_SUB] = decode_sub,
    [PTX_OP_SUBC] = decode_carry,
    [PTX_OP_SULD] = decode_suld,
    [PTX_OP_SUQ] = decode_txq,
    [PTX_OP_SURED] = decode_sured,
    [PTX_OP_SUST] = decode_sust,
    [PTX_OP_SZEXT] = decode_szext,
    [PTX_OP_TANH] = decode_unary,
    [PTX_OP_TENSORMAP] = decode_tensormap,
    [PTX_OP_TESTP] = decode_testp,
    [PTX_OP_TEX] = decode_tex,
    [PTX_OP_TLD4] = decode_tld4,
    [PTX_OP_TRAP] = decode_trap,
    [PTX_OP_TXQ] = decode_txq,
    [PTX_OP_VABSDIFF2] = decode_video,
    [PTX_OP_VABSDIFF4] = decode_video,
    [PTX_OP_VADD2] = decode_video,
    [PTX_OP_VADD4] = decode_video,
    [PTX_OP_VAVRG2] = decode_video,
    [PTX_OP_VAVRG4] = decode_video,
    [PTX_OP_VMAX2] = decode_video,
    [PTX_OP_VMAX4] = decode_video,
    [PTX_OP_VMIN2] = decode_video,
    [PTX_OP_VMIN4] = decode_video,
    [PTX_OP_VOTE] = decode_vote,
    [PTX_OP_VSET2] = decode_video,
    [PTX_OP_VSET4] = decode_video,
    [PTX_OP_VSUB2] = decode_video,
    [PTX_OP_VSUB4] = decode_video,
    [PTX_OP_WGMMA] = decode_wgmma,
    [PTX_OP_WMMA] = decode_wmma,
    [PTX_OP_XOR] = decode_logic,
};

/* Instructions that jump, wait or leave cannot run under a narrowed mask: a guard branches round
 * them. */
static bool changes_flow(const struct ptx_instruction *instruction)
{
    switch (instruction->opcode) {
    case PTX_OP_BRA:
    case PTX_OP_BRX:
    case PTX_OP_CALL:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
    case PTX_OP_TRAP:
    case PTX_OP_BRKPT:
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
    case PTX_OP_SHFL:
    case PTX_OP_VOTE:
    case PTX_OP_MATCH:
    case PTX_OP_REDUX:
    case PTX_OP_ELECT:
    case PTX_OP_MBARRIER:
    case PTX_OP_NANOSLEEP:
    case PTX_OP_GRIDDEPCONTROL:
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
    case PTX_OP_MOVMATRIX:
    case PTX_OP_MMA:
    case PTX_OP_TENSORMAP:
    case PTX_OP_WGMMA:
    case PTX_OP_WMMA:
        return true;
    default:
        return false;
    }
}

static void decode_bare(struct decoder *decoder, const struct ptx_instruction *instruction)
{
    decode_family *family =
        instruction->opcode < PTX_OP_COUNT ? families[instruction->opcode] : NULL;
    if (!family || instruction->unknown_suffix)
        decoder_fail(decoder);
    else
        family(decoder, instruction);
}

static void decode_guarded(struct decoder *decoder, const struct ptx_instruction *instruction)
{
    uint32_t predicate = decoder->slots[instruction->guard];
    bool flow = changes_flow(instruction);
    /* Branch round when the guard is false; or narrow the mask. */
    micro_run *run = flow ? (instruction->guard_negated ? control_branch : control_branch_not)
                          : control_guard_on;
    size_t start = decoder->code_count;
    struct micro *guard = decoder_emit(decoder, run);
    guard->a = predicate;
    guard->option = !flow && instruction->guard_negated; /* of a branch it would say what e is */
    decode_bare(decoder, instruction);
    if (!flow)
        decoder_emit(decoder, control_guard_off);
    if (start < decoder->code_count)
        decoder->code[start].e = (uint32_t)decoder->code_count;
}

static bool decode_instruction(struct decoder *decoder, uint32_t index)
{
    const struct ptx_instruction *instruction = &decoder->function->instructions[index];
    decoder->instruction = instruction;
    decoder->instruction_index = index;
    if (instruction->guard == PTX_NO_REGISTER || instruction->opcode == PTX_OP_BRA)
        decode_bare(decoder, instruction);
    else
        decode_guarded(decoder, instruction);
    if (!decoder->failed)
        return !decoder->out_of_memory;
    snprintf(decoder->program->message, sizeof decoder->program->message,
             "line %u: instruction '%.100s%s%.100s' is not supported%s", instruction->line,
             instruction->mnemonic ? instruction->mnemonic : "?", decoder->callee ? " " : "",
             decoder->callee ? decoder->callee : "",
             decoder->callee ? " (the function has no body)" : "");
    return false;
}

/* ---- block order --------------------------------------------------------------------------- */

static bool dominates(const struct ptx_function *f, uint32_t above, uint32_t below)
{
    while (below != above && below != 0 && f->blocks[below].immediate_dominator != below &&
           f->blocks[below].immediate_dominator < f->block_count)
        below = f->blocks[below].immediate_dominator;
    return below == above;
}

/* Add one to the depth of every block of the loop that the back edge latch -> header closes. */
static void mark_loop(const struct ptx_function *f, uint32_t header, uint32_t latch,
                      uint32_t *depth, uint32_t *stack, uint32_t *seen, uint32_t stamp)
{
    uint32_t count = 0;
    if (seen[header] != stamp)
        depth[header]++;
    seen[header] = stamp;
    if (seen[latch] != stamp) {
        seen[latch] = stamp;
        depth[latch]++;
        stack[count++] = latch;
    }
    while (count) {
        const struct ptx_block *block = &f->blocks[stack[--count]];
        for (uint32_t i = 0; i < block->predecessor_count; i++) {
            uint32_t p = block->predecessors[i];
            if (seen[p] == stamp || !f->blocks[p].reachable)
                continue;
            seen[p] = stamp;
            depth[p]++;
            stack[count++] = p;
        }
    }
}

static void find_loop_depths(const struct ptx_function *f, uint32_t *depth, uint32_t *stack,
                             uint32_t *seen)
{
    for (uint32_t header = 0; header < f->block_count; header++) {
        const struct ptx_block *block = &f->blocks[header];
        for (uint32_t i = 0; block->reachable && i < block->predecessor_count; i++) {
            uint32_t latch = block->predecessors[i];
            if (f->blocks[latch].reachable && dominates(f, header, latch))
                mark_loop(f, header, latch, depth, stack, seen, header + 1);
        }
    }
}

/* The unvisited successor in the fewest loops, or PTX_NO_BLOCK: what leaves a loop is visited
 * first, so it finishes first and ends up behind the loop's body. */
static uint32_t next_successor(const struct ptx_function *f, uint32_t block, const uint32_t *depth,
                               const uint32_t *visited)
{
    uint32_t best = PTX_NO_BLOCK;
    for (uint32_t i = 0; i < f->blocks[block].successor_count; i++) {
        uint32_t s = f->blocks[block].successors[i];
        if (s < f->block_count && !visited[s] && (best == PTX_NO_BLOCK || depth[s] < depth[best]))
            best = s;
    }
    return best;
}

/* Reachable blocks in reverse postorder. Returns how many. */
static uint32_t order_blocks(const struct ptx_function *f, uint32_t *order, uint32_t *scratch)
{
    uint32_t n = f->block_count;
    uint32_t *depth = scratch, *stack = scratch + n, *visited = scratch + 2 * n;
    find_loop_depths(f, depth, stack, visited);
    memset(visited, 0, n * sizeof *visited);
    uint32_t top = 0, finished = 0;
    stack[top++] = 0;
    visited[0] = 1;
    while (top) {
        uint32_t next = next_successor(f, stack[top - 1], depth, visited);
        if (next == PTX_NO_BLOCK) {
            order[finished++] = stack[--top];
        } else {
            visited[next] = 1;
            stack[top++] = next;
        }
    }
    for (uint32_t i = 0; i < finished / 2; i++) {
        uint32_t swap = order[i];
        order[i] = order[finished - 1 - i];
        order[finished - 1 - i] = swap;
    }
    return finished;
}

/* ---- functions ----------------------------------------------------------------------------- */

static bool ends_flow(const struct ptx_instruction *instruction)
{
    if (instruction->guard != PTX_NO_REGISTER)
        return false;
    return instruction->opcode == PTX_OP_BRA || instruction->opcode == PTX_OP_BRX ||
           instruction->opcode == PTX_OP_RET || instruction->opcode == PTX_OP_EXIT ||
           instruction->opcode == PTX_OP_TRAP;
}

/* Where the block goes when nothing in it jumps: to the next block, laid out next or elsewhere. */
static void decode_fall_through(struct decoder *decoder, uint32_t block, uint32_t next)
{
    const struct ptx_function *f = decoder->function;
    const struct ptx_block *b = &f->blocks[block];
    uint32_t end = b->first + b->count;
    if (b->count && ends_flow(&f->instructions[end - 1]))
        return;
    if (end < f->instruction_count && f->block_of[end] == next)
        return;
    struct micro *jump = decoder_emit(decoder, control_jump);
    jump->e = end;
    jump->option = 1; /* e is an instruction index */
}

static bool decode_blocks(struct decoder *decoder, const uint32_t *order, uint32_t count,
                          uint32_t *starts)
{
    const struct ptx_function *f = decoder->function;
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_block *block = &f->blocks[order[i]];
        starts[order[i]] = (uint32_t)decoder->code_count;
        for (uint32_t k = 0; k < block->count; k++)
            if (!decode_instruction(decoder, block->first + k))
                return false;
        decode_fall_through(decoder, order[i], i + 1 < count ? order[i + 1] : PTX_NO_BLOCK);
    }
    return !decoder->out_of_memory;
}

/* Instruction indices become pcs; behind the last instruction lies a return. */
static void settle_targets(struct decoder *decoder, const uint32_t *starts, uint32_t end)
{
    const struct ptx_function *f = decoder->function;
    for (size_t i = 0; i < decoder->code_count; i++) {
        struct micro *op = &decoder->code[i];
        bool branch =
            op->run == control_jump || op->run == control_branch || op->run == control_branch_not;
        if (branch && op->option == 1) {
            op->e = op->e < f->instruction_count ? starts[f->block_of[op->e]] : end;
            op->option = 0;
        } else if (op->kind == MICRO_BRANCH_TABLE) {
            uint32_t *targets = (uint32_t *)(uintptr_t)op->slots;
            for (uint32_t k = 0; k < op->e; k++)
                targets[k] =
                    targets[k] < f->instruction_count ? starts[f->block_of[targets[k]]] : end;
        }
    }
}

static void place_registers(struct decoder *decoder)
{
    const struct ptx_function *f = decoder->function;
    for (uint32_t i = 0; i < f->register_count; i++) {
        uint32_t bits = ptx_type_bits(f->registers[i].type);
        decoder->slots[i] = decoder_temporary(decoder, bits ? bits : 64);
    }
}

static void place_locals(struct program *program)
{
    const struct ptx_function *f = program->function;
    uint64_t align = 16;
    for (uint32_t i = 0; i < f->local_count; i++)
        if (f->locals[i]->align > align && f->locals[i]->align <= 4096)
            align = f->locals[i]->align;
    program->local_align = align;
    program->param_start = (f->local_bytes + align - 1) / align * align;
    uint64_t own = f->is_entry ? f->param_bytes : 0;
    uint64_t params = f->param_frame_bytes > own ? f->param_frame_bytes - own : 0;
    /* A kernel's own parameters are not in the frame, but offsets go on after them. */
    own -= own % align;
    program->param_start -= f->is_entry ? own : 0;
    program->local_bytes = program->param_start + own * f->is_entry + params + 16;
    program->local_bytes = (program->local_bytes + align - 1) / align * align;
}

static bool decode_function(struct decoder *decoder)
{
    const struct ptx_function *f = decoder->function;
    uint32_t n = f->block_count;
    uint32_t *scratch = calloc(5 * (size_t)n + 1, sizeof *scratch);
    if (!scratch)
        return false;
    uint32_t *order = scratch + 3 * (size_t)n, *starts = scratch + 4 * (size_t)n;
    uint32_t count = n ? order_blocks(f, order, scratch) : 0;
    bool decoded = decode_blocks(decoder, order, count, starts);
    if (decoded) {
        uint32_t end = (uint32_t)decoder->code_count;
        struct ptx_instruction none = {.opcode = PTX_OP_RET};
        decode_ret(decoder, &none);
        settle_targets(decoder, starts, end);
    }
    free(scratch);
    return decoded && !decoder->out_of_memory;
}

static void *keep_copy(struct decoder *decoder, const void *bytes, size_t count)
{
    void *kept = decoder_keep(decoder, count ? count : 1);
    if (kept && count)
        memcpy(kept, bytes, count);
    return kept;
}

/* Constants are read as whole slots: 64-byte aligned like the frame's. */
static bool finish(struct decoder *decoder)
{
    struct program *program = decoder->program;
    program->code = keep_copy(decoder, decoder->code, decoder->code_count * sizeof *decoder->code);
    program->code_count = (uint32_t)decoder->code_count;
    program->callees =
        keep_copy(decoder, decoder->callees, decoder->callee_count * sizeof *decoder->callees);
    program->callee_count = (uint32_t)decoder->callee_count;
    program->register_bytes = (decoder->register_bytes + 63) & ~63u;
    program->constants = aligned_alloc(64, decoder->constant_bytes + 64);
    if (program->constants && decoder->constant_bytes)
        memcpy(program->constants, decoder->constants, decoder->constant_bytes);
    return program->code && program->callees && program->constants;
}

struct program *program_decode(struct exec_image *image, uint32_t index)
{
    struct program *program = calloc(1, sizeof *program);
    if (!program)
        return NULL;
    const struct ptx_function *f = image->module->functions[index];
    *program = (struct program){.function = f, .image = image, .index = index};
    struct decoder decoder = {.image = image, .function = f, .program = program};
    place_locals(program);
    decoder.slots = decoder_keep(&decoder, (f->register_count + 1) * sizeof *decoder.slots);
    program->slots = decoder.slots;
    if (decoder.slots) {
        place_registers(&decoder);
        program->supported = decode_function(&decoder) && finish(&decoder);
    }
    if (!program->supported && !program->message[0])
        snprintf(program->message, sizeof program->message, "it has too many registers");
    free(decoder.code);
    free(decoder.constants);
    free(decoder.callees);
    if (!decoder.out_of_memory && decoder.slots)
        return program;
    program_release(program);
    return NULL;
}

void program_release(struct program *program)
{
    if (!program)
        return;
    if (exec_compiler())
        exec_compiler()->release(program);
    decoder_kept_release(program->memory);
    free(program->constants);
    free(program);
}
