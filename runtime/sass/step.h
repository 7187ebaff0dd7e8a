/* What an instruction of machine code does to the registers that an analysis follows, and where
 * control goes from there. The analyses follow addresses of tensor maps (map_uses.h) and parameters
 * that decide branches (branches.h). Steps are moves, additions, selections, elements of arrays,
 * loads of a kernel's constants, comparisons and branches. Of other instructions, a step says which
 * registers they may write.
 *
 * For sm_75 to sm_121. These share one encoding, except for branch targets before sm_90 and the
 * number of uniform registers from sm_100 on. The encoding is documented nowhere (instruction.h).
 * An instruction that is not known here may write any register. */
#ifndef RUNTIME_SASS_STEP_H
#define RUNTIME_SASS_STEP_H

#include "runtime/sass/map_use.h"
#include "runtime/sass/instruction.h"

enum { STEP_BARRIERS = 16 };
/* Which predicate, and whether it is one of the uniform data path's. */
enum { STEP_PREDICATE = 7, STEP_NEGATED = 8, STEP_UNIFORM = 16 };

/* R0 to R254 and RZ, then UR0 to UR254 and URZ, of which sm_90 and before have those up to UR62,
 * then the words of a thread's stack frame where registers are kept meanwhile. The zero registers
 * are written in vain. */
enum {
    REGISTER_STACK_POINTER = 1,
    REGISTER_ZERO = 255,
    REGISTER_UNIFORM = 256,
    REGISTER_UNIFORM_ZERO = 511,
    REGISTER_STACK = 512,
    REGISTERS = 640
};

enum step_kind {
    STEP_WRITES, /* the registers get values that are not known */
    STEP_WRITES_ANY,
    STEP_MOVES,   /* the register that the first operand names, and those after it; or a constant */
    STEP_ADDS,    /* the sum of all operands */
    STEP_CHOOSES, /* one of the first two operands */
    STEP_LESSER,  /* of the first two operands' sum and the third, as numbers without signs */
    STEP_INDEXES, /* the first operand and `every` times an index */
    STEP_SCALES,  /* the first operand and the product of the others */
    STEP_BLOCK,   /* the index of the thread's block in the grid, in dimension `every` */
    STEP_LOADS,   /* what instruction_constant() says, with the first operand added to its offset */
    STEP_COMPARES, /* the first two operands, and the first of `predicates` is what comes of it */
    STEP_COPIES,   /* through the tensor map at the address in the first operand and the register
                      after it */
    STEP_BRANCHES,
    STEP_JUMPS, /* to an unknown target */
    STEP_CALLS,
    STEP_RETURNS,      /* assumed to return behind some call; the register with the address is not
                          followed */
    STEP_SETS_BARRIER, /* sets the barrier's reconvergence point: threads that diverge from here on
                          go on at the target */
    STEP_CLEARS_BARRIER, /* where its threads go on is in the register then, and not known */
    STEP_WAITS, /* for the others: goes on at the target of the STEP_SETS_BARRIER of that barrier */
    STEP_ENDS
};

enum step_operand_kind { OPERAND_CONSTANT, OPERAND_REGISTER, OPERAND_BANK };

struct step_operand {
    uint8_t kind;
    uint32_t value; /* a register's number, a constant, or where four bytes of bank 0 lie */
};

struct step {
    uint8_t kind;          /* enum step_kind */
    uint8_t copy;          /* COPIES: enum map_copy */
    bool always;           /* no predicate decides whether it is done */
    bool wide;             /* ADDS, INDEXES: registers in pairs, a constant with its sign */
    bool carries;          /* ADDS: and a carry, or not */
    uint16_t to;           /* the first register that it writes */
    uint16_t count;        /* and how many */
    uint8_t barrier;       /* SETS_BARRIER, CLEARS_BARRIER, WAITS: which one */
    uint8_t guard;         /* unless always: the predicate, and whether it is to hold; of one that
                              control passes by on other conditions, too: STEP_PREDICATE */
    uint8_t predicates[2]; /* that it may write: as `guard`, but for whether it is to hold */
    uint8_t chooser;       /* CHOOSES: by which predicate, as `guard` */
    bool elects;           /* one thread, in which alone the first of them holds */
    uint8_t comparison;    /* COMPARES: bits for less, equal and greater, any of which holds */
    bool is_signed;        /* COMPARES */
    uint32_t every;        /* INDEXES, BLOCK */
    uint64_t target;       /* BRANCHES, CALLS, SETS_BARRIER: offset in the code */
    struct step_operand operands[3]; /* that there are not are the constant 0 */
};

/* Of code for that architecture (90: sm_90); `at`: the instruction's offset in it. */
struct step step_of(struct instruction instruction, uint64_t at, uint32_t architecture);

/* The last register that it may write, plus one. */
uint32_t step_written_end(const struct step *step);
/* Which predicates of threads it may write, a bit for each. */
uint8_t step_written_predicates(const struct step *step);
/* Whether control may fall through to the next instruction. It does not look into called functions.
 */
bool step_falls_through(const struct step *step);
/* The index of the instruction at that offset in the code; UINT32_MAX: there is none. */
uint32_t step_index(uint64_t target);

#endif
