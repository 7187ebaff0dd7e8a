/* The decoder: from instructions of the IR to micro-operations. exec_program.c walks the blocks and
 * owns this state; each family of instructions is decoded in the file that holds its handlers. */
#ifndef RUNTIME_DEVICE_EXEC_EXEC_DECODER_H
#define RUNTIME_DEVICE_EXEC_EXEC_DECODER_H

#include "runtime/device/exec/exec_engine.h"

struct decoder {
    struct exec_image *image;
    const struct ptx_function *function;
    struct program *program;
    const struct ptx_instruction *instruction; /* being decoded */
    uint32_t instruction_index;
    struct micro *code;
    size_t code_count, code_capacity;
    uint8_t *constants;
    size_t constant_bytes, constant_capacity;
    uint32_t *slots; /* register -> slot */
    uint32_t register_bytes;
    uint32_t *callees;
    size_t callee_count, callee_capacity;
    bool failed;        /* the instruction has a form that is not supported */
    const char *callee; /* decoding failed because of this function, which is then named; or NULL */
    bool out_of_memory;
    struct micro nowhere; /* what decoder_emit gives then */
};

typedef void decode_family(struct decoder *decoder, const struct ptx_instruction *instruction);

/* A new micro-operation, zeroed, at the end of the code. Valid until the next one. */
struct micro *decoder_emit(struct decoder *decoder, micro_run *run);
/* The form is not supported; the message will name the instruction. */
void decoder_fail(struct decoder *decoder);
/* The instruction's result may depend on the order in which blocks run. */
void decoder_order(struct decoder *decoder);
/* A slot that nothing else uses, for values of `bits` bits. */
uint32_t decoder_temporary(struct decoder *decoder, uint32_t bits);
/* A constant slot with the value in every lane; bits 1: a predicate. */
uint32_t decoder_constant(struct decoder *decoder, uint32_t bits, uint64_t value);
/* The slot of a source or destination of that many bits (1: predicate). Sources that are no
 * registers are put into one first: constants, special registers, addresses. "_" becomes a
 * temporary. */
uint32_t decoder_source(struct decoder *decoder, const struct ptx_operand *operand, uint32_t bits);
uint32_t decoder_destination(struct decoder *decoder, const struct ptx_operand *operand,
                             uint32_t bits);
/* A source or destination of its own width, which *bits receives. Constants get `wanted`. */
uint32_t decoder_any_source(struct decoder *decoder, const struct ptx_operand *operand,
                            uint32_t wanted, uint32_t *bits);
uint32_t decoder_any_destination(struct decoder *decoder, const struct ptx_operand *operand,
                                 uint32_t wanted, uint32_t *bits);
/* Emit `run` with destination and sources of the same type, as many as the instruction has. */
void decoder_plain(struct decoder *decoder, const struct ptx_instruction *instruction,
                   micro_run *run, uint32_t bits);
/* Zeroed malloc'd memory that lives as long as the program; NULL sets out_of_memory. */
void *decoder_keep(struct decoder *decoder, size_t bytes);
void decoder_kept_release(void *memory); /* of the program */
/* Width of a register: what its slot holds per lane. */
uint32_t decoder_slot_bits(uint32_t type_bits);

/* alu_integer.c */ decode_family decode_add, decode_carry, decode_sub, decode_mul, decode_mad,
    decode_div, decode_rem, decode_abs, decode_neg, decode_min_max, decode_mul24, decode_mad24,
    decode_sad, decode_dp;
/* alu_bits.c */ decode_family decode_logic, decode_shift, decode_shf, decode_lop3, decode_bfe,
    decode_bfi, decode_bfind, decode_brev, decode_clz, decode_popc, decode_prmt, decode_bmsk,
    decode_szext, decode_fns;
/* alu_float.c */ decode_family decode_fma, decode_rcp, decode_sqrt, decode_rsqrt, decode_unary,
    decode_copysign, decode_testp;
/* alu_compare.c */ decode_family decode_setp, decode_set, decode_selp, decode_slct;
/* alu_convert.c */ decode_family decode_cvt;
/* exec_stack.c */ decode_family decode_alloca, decode_stacksave, decode_stackrestore;
/* alu_video.c */ decode_family decode_video;
/* exec_move.c */ decode_family decode_mov, decode_cvta, decode_isspacep, decode_mapa,
    decode_getctarank;
/* exec_access.c */ decode_family decode_ld, decode_st, decode_cp;
/* exec_async.c */ decode_family decode_store_async, decode_reduce_async;
/* exec_bulk.c */ decode_family decode_bulk, decode_store_bulk;
/* exec_tensor.c */ decode_family decode_bulk_tensor;
/* exec_tensor_fields.c */ decode_family decode_tensormap;
/* exec_dependency.c */ decode_family decode_dependency;
/* texture/exec_texture.c */ decode_family decode_tex, decode_tld4;
/* texture/exec_surface.c */ decode_family decode_suld, decode_sust, decode_sured;
/* texture/exec_texture_query.c */ decode_family decode_txq;
/* exec_atomic.c */ decode_family decode_atom;
/* exec_mbarrier.c */ decode_family decode_mbarrier;
/* exec_barrier.c */ decode_family decode_bar, decode_fence;
/* exec_collective.c */ decode_family decode_shfl, decode_vote, decode_match, decode_redux,
    decode_elect, decode_activemask;
/* exec_matrix.c */ decode_family decode_ldmatrix, decode_stmatrix, decode_movmatrix,
    decode_wmma_access;
/* alu_matrix.c */ decode_family decode_mma, decode_wmma;
/* alu_warpgroup.c */ decode_family decode_wgmma;
/* exec_control.c */ decode_family decode_call, decode_ret, decode_exit, decode_trap, decode_sleep,
    decode_nothing;

/* Float forms of the shared opcodes; alu_float.c and alu_half.c. True when they took it. */
bool decode_float(struct decoder *decoder, const struct ptx_instruction *instruction);
bool decode_half(struct decoder *decoder, const struct ptx_instruction *instruction);
/* cvt of the 8-bit formats; alu_fp8.c. True when it took it. */
bool decode_fp8(struct decoder *decoder, const struct ptx_instruction *instruction);
/* The same of formats of fewer bits, and of scales; alu_fp4.c. */
bool decode_fp4(struct decoder *decoder, const struct ptx_instruction *instruction);

/* exec_move.c: a slot of 64 bits into two of 32, and back. */
void decode_split(struct decoder *decoder, uint32_t whole, const uint32_t parts[2]);
void decode_join(struct decoder *decoder, const uint32_t parts[2], uint32_t whole);
/* A special register's value in a slot. */
uint32_t decode_special(struct decoder *decoder, uint8_t special, uint32_t bits);
/* The address of a variable or function as a slot. */
uint32_t decode_address_of(struct decoder *decoder, const struct ptx_operand *operand,
                           uint32_t bits);

/* exec_control.c: branches; `target` is an instruction index that exec_program.c turns to a pc. */
micro_run control_jump, control_branch, control_branch_not, control_guard_on, control_guard_off;
void decode_branch(struct decoder *decoder, const struct ptx_instruction *instruction);
void decode_brx(struct decoder *decoder, const struct ptx_instruction *instruction);

#endif
