/* The typed intermediate representation of PTX: what the parser makes, what the access analysis
 * reads and what the embedded device runs.
 *
 *   ptx_module -> ptx_function[] -> ptx_instruction[]   (linear, labels resolved to indices)
 *              -> ptx_variable[]    ptx_block[]         (control-flow graph over the instructions)
 *
 * A module and everything in it lives in one arena and is immutable once ptx_parse or ptx_link
 * returned it, so any number of threads may read it. Names point into the arena.
 * Source of every rule: PTX ISA 9.0.  */
#ifndef RUNTIME_PTX_IR_H
#define RUNTIME_PTX_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Enumerators stand in groups, and comments beside what they explain. */
/* clang-format off */

enum ptx_opcode {
    PTX_OP_UNKNOWN, /* not in the table; ptx_instruction.mnemonic has its text */
#define OP(name, spelling) PTX_OP_##name,
#include "runtime/ptx/opcodes.def"
#undef OP
    PTX_OP_COUNT
};

/* Fundamental types (section 5.2.1). ptx_type_bits gives the width. */
enum ptx_type {
    PTX_TYPE_NONE,
    PTX_U8, PTX_U16, PTX_U32, PTX_U64,
    PTX_S8, PTX_S16, PTX_S32, PTX_S64,
    PTX_B8, PTX_B16, PTX_B32, PTX_B64, PTX_B128,
    PTX_F16, PTX_F16X2, PTX_BF16, PTX_BF16X2, PTX_TF32, PTX_F32, PTX_F32X2, PTX_F64,
    PTX_U16X2, PTX_S16X2,
    PTX_E4M3X2, PTX_E5M2X2,
    PTX_PRED,
    PTX_TEXREF, PTX_SAMPLERREF, PTX_SURFREF,
    PTX_TYPE_OTHER /* a type suffix the IR has no name for; the mnemonic has its text */
};

enum ptx_space {
    PTX_SPACE_GENERIC, /* no state space written */
    PTX_SPACE_REG,
    PTX_SPACE_CONST,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM, /* kernel parameters, and the .param variables of a call sequence */
    PTX_SPACE_SHARED,
    PTX_SPACE_SHARED_CLUSTER
};

enum ptx_linkage { PTX_LINK_NONE, PTX_LINK_EXTERN, PTX_LINK_VISIBLE, PTX_LINK_WEAK, PTX_LINK_COMMON };

enum ptx_special_register {
    PTX_SREG_NONE,
    PTX_SREG_TID_X, PTX_SREG_TID_Y, PTX_SREG_TID_Z,
    PTX_SREG_NTID_X, PTX_SREG_NTID_Y, PTX_SREG_NTID_Z,
    PTX_SREG_CTAID_X, PTX_SREG_CTAID_Y, PTX_SREG_CTAID_Z,
    PTX_SREG_NCTAID_X, PTX_SREG_NCTAID_Y, PTX_SREG_NCTAID_Z,
    PTX_SREG_LANEID, PTX_SREG_WARPID, PTX_SREG_NWARPID, PTX_SREG_SMID, PTX_SREG_NSMID,
    PTX_SREG_GRIDID,
    PTX_SREG_LANEMASK_EQ, PTX_SREG_LANEMASK_LE, PTX_SREG_LANEMASK_LT,
    PTX_SREG_LANEMASK_GE, PTX_SREG_LANEMASK_GT,
    PTX_SREG_CLOCK, PTX_SREG_CLOCK_HI, PTX_SREG_CLOCK64,
    PTX_SREG_GLOBALTIMER, PTX_SREG_GLOBALTIMER_LO, PTX_SREG_GLOBALTIMER_HI,
    PTX_SREG_DYNAMIC_SMEM_SIZE, PTX_SREG_TOTAL_SMEM_SIZE, PTX_SREG_AGGR_SMEM_SIZE,
    PTX_SREG_CLUSTERID_X, PTX_SREG_CLUSTERID_Y, PTX_SREG_CLUSTERID_Z,
    PTX_SREG_NCLUSTERID_X, PTX_SREG_NCLUSTERID_Y, PTX_SREG_NCLUSTERID_Z,
    PTX_SREG_CLUSTER_CTAID_X, PTX_SREG_CLUSTER_CTAID_Y, PTX_SREG_CLUSTER_CTAID_Z,
    PTX_SREG_CLUSTER_NCTAID_X, PTX_SREG_CLUSTER_NCTAID_Y, PTX_SREG_CLUSTER_NCTAID_Z,
    PTX_SREG_CLUSTER_CTARANK, PTX_SREG_CLUSTER_NCTARANK, PTX_SREG_IS_EXPLICIT_CLUSTER,
    PTX_SREG_ENVREG_0, PTX_SREG_ENVREG_31 = PTX_SREG_ENVREG_0 + 31,
    PTX_SREG_PM_0, PTX_SREG_PM_7 = PTX_SREG_PM_0 + 7,
    PTX_SREG_COUNT
};

enum ptx_rounding {
    PTX_ROUND_NONE,
    PTX_ROUND_RN, PTX_ROUND_RZ, PTX_ROUND_RM, PTX_ROUND_RP, PTX_ROUND_RNA,
    PTX_ROUND_RNI, PTX_ROUND_RZI, PTX_ROUND_RMI, PTX_ROUND_RPI
};

enum ptx_compare {
    PTX_CMP_NONE,
    PTX_CMP_EQ, PTX_CMP_NE, PTX_CMP_LT, PTX_CMP_LE, PTX_CMP_GT, PTX_CMP_GE,
    PTX_CMP_LO, PTX_CMP_LS, PTX_CMP_HI, PTX_CMP_HS, /* unsigned spellings */
    PTX_CMP_EQU, PTX_CMP_NEU, PTX_CMP_LTU, PTX_CMP_LEU, PTX_CMP_GTU, PTX_CMP_GEU,
    PTX_CMP_NUM, PTX_CMP_NAN
};

enum ptx_bool_op { PTX_BOOL_NONE, PTX_BOOL_AND, PTX_BOOL_OR, PTX_BOOL_XOR };

/* .lo/.hi/.wide of mul and mad; also .hi/.lo of mul24, and the l/r of shf */
enum ptx_part { PTX_PART_NONE, PTX_PART_LO, PTX_PART_HI, PTX_PART_WIDE, PTX_PART_LEFT, PTX_PART_RIGHT };

enum ptx_atomic_op {
    PTX_ATOMIC_NONE,
    PTX_ATOMIC_ADD, PTX_ATOMIC_MIN, PTX_ATOMIC_MAX, PTX_ATOMIC_AND, PTX_ATOMIC_OR, PTX_ATOMIC_XOR,
    PTX_ATOMIC_EXCH, PTX_ATOMIC_CAS, PTX_ATOMIC_INC, PTX_ATOMIC_DEC
}; /* redux uses these too; also the operation of barrier.red with AND, OR (POPC: ADD) */

enum ptx_semantics {
    PTX_SEM_NONE, /* nothing written: weak for ld/st, relaxed for atom/red */
    PTX_SEM_WEAK, PTX_SEM_VOLATILE, PTX_SEM_RELAXED, PTX_SEM_ACQUIRE, PTX_SEM_RELEASE,
    PTX_SEM_ACQ_REL, PTX_SEM_SC, PTX_SEM_MMIO
};

enum ptx_scope { PTX_SCOPE_NONE, PTX_SCOPE_CTA, PTX_SCOPE_CLUSTER, PTX_SCOPE_GPU, PTX_SCOPE_SYS };

enum ptx_shuffle { PTX_SHFL_NONE, PTX_SHFL_UP, PTX_SHFL_DOWN, PTX_SHFL_BFLY, PTX_SHFL_IDX };

enum ptx_vote { PTX_VOTE_NONE, PTX_VOTE_ALL, PTX_VOTE_ANY, PTX_VOTE_UNI, PTX_VOTE_BALLOT };

/* What distinguishes forms of one base opcode beyond the enums above. */
enum ptx_form {
    PTX_FORM_NONE,
    PTX_FORM_CP_ASYNC, PTX_FORM_CP_ASYNC_COMMIT, PTX_FORM_CP_ASYNC_WAIT_GROUP,
    PTX_FORM_CP_ASYNC_WAIT_ALL, PTX_FORM_CP_ASYNC_MBARRIER_ARRIVE,
    PTX_FORM_CP_ASYNC_BULK, PTX_FORM_CP_ASYNC_BULK_TENSOR, PTX_FORM_CP_REDUCE_ASYNC_BULK,
    PTX_FORM_CP_REDUCE_ASYNC_BULK_TENSOR,
    PTX_FORM_CP_ASYNC_BULK_COMMIT, PTX_FORM_CP_ASYNC_BULK_WAIT_GROUP, PTX_FORM_CP_OTHER,
    PTX_FORM_BAR_SYNC, PTX_FORM_BAR_ARRIVE, PTX_FORM_BAR_RED, PTX_FORM_BAR_WARP_SYNC,
    PTX_FORM_BARRIER_CLUSTER_ARRIVE, PTX_FORM_BARRIER_CLUSTER_WAIT,
    PTX_FORM_BRX_IDX,
    PTX_FORM_MATCH_ANY, PTX_FORM_MATCH_ALL,
    PTX_FORM_MBARRIER_INIT, PTX_FORM_MBARRIER_INVAL, PTX_FORM_MBARRIER_ARRIVE,
    PTX_FORM_MBARRIER_ARRIVE_DROP, PTX_FORM_MBARRIER_TEST_WAIT, PTX_FORM_MBARRIER_TRY_WAIT,
    PTX_FORM_MBARRIER_EXPECT_TX, PTX_FORM_MBARRIER_OTHER,
    PTX_FORM_GRIDDEP_WAIT, PTX_FORM_GRIDDEP_LAUNCH_DEPENDENTS,
    PTX_FORM_MMA, PTX_FORM_WMMA_LOAD, PTX_FORM_WMMA_STORE, PTX_FORM_WMMA_MMA,
    PTX_FORM_TESTP_FINITE, PTX_FORM_TESTP_INFINITE, PTX_FORM_TESTP_NUMBER,
    PTX_FORM_TESTP_NOTANUMBER, PTX_FORM_TESTP_NORMAL, PTX_FORM_TESTP_SUBNORMAL,
    PTX_FORM_PRMT_F4E, PTX_FORM_PRMT_B4E, PTX_FORM_PRMT_RC8, PTX_FORM_PRMT_ECL,
    PTX_FORM_PRMT_ECR, PTX_FORM_PRMT_RC16,
    PTX_FORM_FENCE_PROXY, PTX_FORM_OTHER
};

enum ptx_operand_kind {
    PTX_OPERAND_NONE,
    PTX_OPERAND_REGISTER,  /* .reg: index into ptx_function.registers */
    PTX_OPERAND_SPECIAL,   /* .sreg */
    PTX_OPERAND_IMMEDIATE, /* .imm: the integer, or the IEEE bits of an 0f/0d/decimal float.
                              A float literal in an .f32 instruction is stored as f32 bits, in an
                              .f64 one as f64 bits: the bits have the operand's own type */
    PTX_OPERAND_SYMBOL,    /* .variable + .imm: the address of a variable (mov, cvta) */
    PTX_OPERAND_FUNCTION,  /* .function: a callee, or a function's address */
    PTX_OPERAND_ADDRESS,   /* [.reg + .imm], [.variable + .imm] or [.imm]: base says which */
    PTX_OPERAND_VECTOR,    /* {a, b, ...}: .count elements starting at .elements */
    PTX_OPERAND_LABEL,     /* .target: an instruction index */
    PTX_OPERAND_SINK       /* the bit bucket "_" */
};

struct ptx_operand {
    uint8_t kind;      /* enum ptx_operand_kind */
    uint8_t base;      /* ADDRESS: REGISTER, SYMBOL or IMMEDIATE */
    uint8_t special;   /* enum ptx_special_register */
    bool negated;      /* "!p" as a source predicate, "-x" never occurs on registers */
    uint32_t count;    /* VECTOR: elements */
    uint32_t reg;      /* register index */
    uint32_t target;   /* LABEL: instruction index in the function (may equal its count: the end) */
    int64_t imm;
    const struct ptx_variable *variable;
    const struct ptx_function *function;
    const struct ptx_operand *elements; /* VECTOR; of an ADDRESS the count operands that follow the
                                           base inside the brackets: [map, {x, y}], [tex, smp, {x}]:
                                           a REGISTER or SYMBOL (sampler), then a VECTOR */
};

enum { PTX_MAX_OPERANDS = 10, PTX_NO_REGISTER = 0xffffffffu };

/* One instruction. Operands are in source order, destination first where there is one; the second
 * destination of "d|p" is apart. */
struct ptx_instruction {
    uint16_t opcode;     /* enum ptx_opcode */
    uint8_t type;        /* the last type suffix: of the operation (cvt: of the source) */
    uint8_t type2;       /* cvt, set, mad...: the destination's when it is written separately:
                            the FIRST type suffix of a two-type instruction */
    uint8_t space;       /* enum ptx_space: ld, st, atom, red, cvta, isspacep, prefetch, cp (dst) */
    uint8_t space2;      /* cp: the source's space */
    uint8_t vector;      /* .v2 .v4 .v8: 2, 4, 8; else 1 */
    uint8_t rounding;
    uint8_t compare;
    uint8_t bool_op;
    uint8_t part;
    uint8_t atomic;
    uint8_t semantics;
    uint8_t scope;
    uint8_t shuffle;
    uint8_t vote;
    uint8_t form;        /* enum ptx_form */
    uint8_t operand_count;
    bool ftz, sat, approx, full, uniform, noftz;
    bool carry_out;      /* .cc */
    bool to;             /* cvta.to */
    bool nc;             /* ld.global.nc */
    bool wrap;           /* shf.wrap, and shf.clamp when false */
    bool shiftamt;       /* bfind.shiftamt */
    bool noreturn;
    bool relu;
    bool nan;            /* min.NaN / max.NaN */
    bool abs;            /* .abs of set/min/max */
    bool aligned;        /* barrier.sync.aligned, bar.sync */
    bool noinc;          /* cp.async.mbarrier.arrive.noinc */
    bool xorsign;        /* min.xorsign.abs */
    bool parity;         /* mbarrier.test_wait.parity */
    bool expect_tx;      /* mbarrier.arrive.expect_tx */
    bool async;          /* st.async, red.async */
    bool unknown_suffix; /* a suffix that the IR does not know: see the mnemonic */
    bool guard_negated;
    uint32_t guard;      /* predicate register, or PTX_NO_REGISTER */
    uint32_t line;       /* line in the PTX text, from 1 */
    uint32_t source_line;/* from .loc, 0 unknown */
    uint32_t source_file;/* from .loc: index for ptx_module.files, 0 unknown */
    const char *mnemonic;/* "ld.global.nc.v4.f32", as written */
    struct ptx_operand second;              /* q of "p|q" (setp, shfl, match, elect) or NONE */
    struct ptx_operand operands[PTX_MAX_OPERANDS];
    const struct ptx_call *call;            /* PTX_OP_CALL only */
    const uint32_t *targets;                /* brx.idx: instruction indices */
    uint32_t target_count;
};

/* call (returns), callee, (arguments), prototype */
struct ptx_call {
    struct ptx_operand callee;      /* FUNCTION (direct) or REGISTER (indirect) */
    const struct ptx_operand *returns;   /* SYMBOL (.param variable) or REGISTER */
    const struct ptx_operand *arguments; /* SYMBOL, REGISTER or IMMEDIATE */
    uint32_t return_count, argument_count;
    const struct ptx_function *prototype;          /* indirect with .callprototype: signature only */
    const struct ptx_function *const *candidates;  /* indirect with .calltargets */
    uint32_t candidate_count;
};

struct ptx_register {
    const char *name;
    uint8_t type; /* enum ptx_type */
};

/* An address inside an initialiser: 8 bytes at `offset` hold the address of the symbol + addend. */
struct ptx_relocation {
    uint64_t offset;
    const char *symbol; /* a variable or a function; resolved by name after linking */
    const struct ptx_variable *variable; /* one of the two after parsing or linking, else NULL */
    const struct ptx_function *function;
    int64_t addend;
    uint8_t bytes;   /* 8; less in an array of smaller elements, and 1 for 0xFF00(sym) */
    uint8_t shift;   /* the first byte of the address that is stored: 1 for 0xFF00(sym) */
    bool generic;    /* generic(sym): the generic address */
};

struct ptx_variable {
    const char *name;
    uint8_t space;    /* GLOBAL, CONST, SHARED, LOCAL, PARAM */
    uint8_t type;     /* element type */
    uint8_t linkage;
    bool unsized;     /* "extern .shared x[]": dynamic shared memory */
    bool managed;     /* .attribute(.managed) */
    uint32_t align;   /* bytes */
    uint64_t size;    /* bytes, all elements */
    uint64_t offset;  /* LOCAL, SHARED, PARAM of a function: place in its frame of that space.
                         Module-scope GLOBAL and CONST: place in the module's segment of that space */
    const uint8_t *init; /* size bytes, or NULL: zero */
    const struct ptx_relocation *relocations;
    uint32_t relocation_count;
    const struct ptx_function *owner; /* declared inside a function body, or NULL */
};

struct ptx_param {
    const char *name;
    uint8_t type;       /* element type; B8 with size > 1: an aggregate by value */
    uint8_t ptr_space;  /* .ptr .global etc., GENERIC when not said */
    bool is_ptr;        /* .ptr was written */
    uint32_t align;     /* bytes */
    uint32_t size;      /* bytes */
    uint32_t offset;    /* bytes in the parameter buffer; of a return value: in the param frame */
    const struct ptx_variable *variable; /* what operands name; NULL in prototypes */
    uint32_t reg;       /* .reg parameters (old ABI): the register; else PTX_NO_REGISTER */
};

/* A basic block: instructions [first, first + count). A block ends at a branch, ret, exit, trap or
 * before a label. A guarded ret or exit also falls through. */
struct ptx_block {
    uint32_t first, count;
    const uint32_t *successors;   /* block indices; fall-through last */
    const uint32_t *predecessors;
    uint32_t successor_count, predecessor_count;
    uint32_t immediate_postdominator; /* block index; PTX_NO_BLOCK: the function's end */
    uint32_t immediate_dominator;     /* block index; entry: itself */
    bool reachable;
};

enum { PTX_NO_BLOCK = 0xffffffffu };

struct ptx_function {
    const char *name;
    uint8_t linkage;
    bool is_entry;
    bool is_prototype;      /* declared only; after linking: unresolved */
    bool noreturn;
    struct ptx_param *params;
    uint32_t param_count;
    uint32_t param_bytes;   /* size of the parameter buffer */
    struct ptx_param *returns;
    uint32_t return_count;
    struct ptx_register *registers;
    uint32_t register_count;
    struct ptx_variable *const *locals; /* body's .local/.shared/.param/.global/.const variables */
    uint32_t local_count;
    uint64_t local_bytes;   /* frame of .local, per thread */
    uint64_t param_frame_bytes; /* frame of the call sequences' .param variables and own params */
    uint64_t shared_bytes;  /* static .shared declared in this body */
    const struct ptx_instruction *instructions;
    uint32_t instruction_count;
    const struct ptx_block *blocks; /* block 0 is the entry */
    uint32_t block_count;
    const uint32_t *block_of;  /* instruction index -> block index */
    uint32_t maxntid[3], reqntid[3], minnctapersm, maxnreg; /* 0: not written */
    uint32_t required_cluster[3];
    uint32_t source_line, source_file; /* where it is defined: from the .loc before its first
                                          instruction; 0 unknown; the file as of an instruction */
    const struct ptx_module *module;
};

struct ptx_file { uint32_t index; const char *name; };

struct ptx_module {
    uint32_t version;   /* 90 for ".version 9.0" */
    uint32_t target;    /* 90 for ".target sm_90" */
    bool arch_specific; /* sm_90a, sm_100f */
    struct ptx_function *const *functions;
    uint32_t function_count;
    struct ptx_variable *const *variables; /* module scope and functions' .global/.const/.shared */
    uint32_t variable_count;
    uint64_t global_bytes, const_bytes;    /* segment sizes, offsets assigned */
    uint64_t shared_bytes;                 /* module-scope static .shared */
    const struct ptx_file *files;
    uint32_t file_count;
    void *arena;
};

/* Width of a type in bits; 1 for a predicate, 0 for NONE, OTHER and opaque references. */
uint32_t ptx_type_bits(enum ptx_type type);
bool ptx_type_is_float(enum ptx_type type);
bool ptx_type_is_signed(enum ptx_type type);
const char *ptx_opcode_name(enum ptx_opcode opcode);
const char *ptx_type_name(enum ptx_type type);

/* The function or module-scope variable of that name, or NULL. Expected time: one hash lookup. */
const struct ptx_function *ptx_module_function(const struct ptx_module *module, const char *name);
const struct ptx_variable *ptx_module_variable(const struct ptx_module *module, const char *name);

/* clang-format on */
#endif
