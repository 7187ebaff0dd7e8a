/* Steps. See step.h, and instruction.c for the fields that are not said here.
 *
 *   low  12..15  predicate: 7 is always true, bit 15 negates
 *        16..23  the register written; branches of sm_90: the target's bits 2..9, from the next
 *                instruction
 *        24..31  operand a
 *        32..39  operand b, or 32..63 a constant, or 38..58 where in which constant bank, as the
 *                form says; its sign in bit 63
 *        34..63  branches: the target's bits 10 and up, before sm_90 2 and up, with the high part's
 *                first 18
 *   high  0..7   operand c
 *         8, 11  signs of a and c
 *           10   additions: with a carry
 *        17..22  two predicates that are written; of some instructions, something else
 *         8, 10  comparisons: of upper halves; with another predicate by or, not and
 *            9   comparisons: of numbers with signs
 *        12..14  comparisons: whether it holds of the less, the equal and the greater
 *        11..15  LEA: by how many bits a is shifted
 *         8..15  S2R: which special register
 *        23..26  branches: another predicate
 *        27..40  branches: conditions of other kinds, as low 24..33
 */
#include "runtime/sass/step.h"

#include <stddef.h>

enum {
    FORM_REGISTERS = 1,
    FORM_CONSTANT_LAST = 2,
    FORM_BANK_LAST = 3,
    FORM_CONSTANT = 4,
    FORM_BANK = 5,
    FORM_UNIFORM = 6,
    FORM_UNIFORM_LAST = 7
};
enum { ALWAYS = 7 };

/* Which registers an instruction writes whose values are not followed. Several lie at a multiple of
 * their number (PTX ISA, "Vectors", has memory so; code shows registers do). */
enum writes {
    UNKNOWN,
    NONE,
    ONE, /* of the threads' */
    PAIR,
    FOUR,   /* at most so many */
    EIGHT,  /* at most so many, wherever */
    LOADED, /* as many as its size says */
    MANY,   /* all from the first on */
    FRAME,  /* any word of it */
    UNIFORM_ONE,
    UNIFORM_PAIR,
    UNIFORM_LOADED
};
enum {
    WRITES = 0x3f, /* enum writes */
    SINGLE =
        0x40,    /* it writes one predicate at most: where others name a second is something else */
    PLAIN = 0x80 /* it writes none */
};

static const uint8_t writes_of[OPCODES] = {
#define OP(name, number, writes, more) [number] = writes,
#include "runtime/sass/opcodes.def"
#undef OP
};

static bool is_uniform_path(uint32_t opcode)
{
    return (opcode >= 0x080 && opcode < 0x0c0) || opcode == OPCODE_UVIMNMX;
}

/* An instruction, and what it is read by. */
struct code {
    struct instruction instruction;
    uint32_t opcode, form, architecture;
    uint32_t uniform_zero; /* number of URZ: there are more registers from sm_100 on */
    bool is_uniform;       /* of the uniform data path */
};

/* IADD, whose number sm_120 has for it, and others for HFMA2.MMA. */
static bool is_sum(const struct code *code)
{
    return code->opcode == OPCODE_HFMA2_MMA && code->architecture >= 120;
}

static uint16_t uniform(const struct code *code, uint32_t number)
{
    number &= code->uniform_zero;
    return (uint16_t)(number == code->uniform_zero ? REGISTER_UNIFORM_ZERO
                                                   : REGISTER_UNIFORM + number);
}

static struct step_operand operand(const struct code *code, bool is_uniform, uint32_t number)
{
    number = is_uniform ? uniform(code, number) : number;
    if (number == REGISTER_ZERO || number == REGISTER_UNIFORM_ZERO)
        return (struct step_operand){0};
    return (struct step_operand){OPERAND_REGISTER, number};
}

static struct step_operand constant(uint32_t value)
{
    return (struct step_operand){OPERAND_CONSTANT, value};
}

static bool is_of_bank(uint32_t form)
{
    return form == FORM_BANK || form == FORM_BANK_LAST;
}

/* Operand b, and c where the form says that the two change places. */
static struct step_operand second(const struct code *code)
{
    const uint64_t low = code->instruction.low;
    if (is_of_bank(code->form))
        return (struct step_operand){OPERAND_BANK, instruction_constant(code->instruction).offset};
    if (code->form == FORM_CONSTANT || code->form == FORM_CONSTANT_LAST)
        return constant(instruction_bits(low, 32, 32));
    return operand(code, code->is_uniform || code->form >= FORM_UNIFORM,
                   instruction_bits(low, 32, 8));
}

static void writes(struct step *step, uint32_t register_count, uint32_t to)
{
    step->to = (uint16_t)to;
    step->count = (uint16_t)register_count;
}

/* LD, LDC, and their like: of four bytes, or fewer, eight, or sixteen. */
static uint32_t loaded_count(struct instruction instruction)
{
    const uint32_t size = instruction_bits(instruction.high, 9, 3);
    return size == 5 ? 2 : size > 5 ? 4 : 1;
}

static void moves(struct step *step, struct step_operand from)
{
    step->kind = STEP_MOVES;
    step->operands[0] = from;
}

/* STL and LDL of the stack frame; another address may be any in it. Parts of words are not
 * followed. */
static void keeps(struct step *step, const struct code *code, bool stores)
{
    const struct instruction instruction = code->instruction;
    const uint32_t base = instruction_bits(instruction.low, 24, 8),
                   at = instruction_bits(instruction.low, 40, 24),
                   count = loaded_count(instruction);
    const struct step_operand slot = {OPERAND_REGISTER, REGISTER_STACK + at / 4};
    if (base != REGISTER_STACK_POINTER || at / 4 + count > REGISTERS - REGISTER_STACK)
        return;
    if (stores) {
        step->to = (uint16_t)slot.value;
        step->count = (uint16_t)count;
    }
    if (instruction_bits(instruction.high, 9, 3) >= 4)
        moves(step, stores ? operand(code, false, instruction_bits(instruction.low, 32, 8)) : slot);
}

static struct step_operand first(const struct code *code)
{
    return operand(code, code->is_uniform, instruction_bits(code->instruction.low, 24, 8));
}

static struct step_operand third(const struct code *code)
{
    return operand(code, code->is_uniform, instruction_bits(code->instruction.high, 0, 8));
}

static void adds(struct step *step, const struct code *code)
{
    step->kind = STEP_ADDS;
    step->carries = instruction_bits(code->instruction.high, 10, 1);
    step->operands[0] = first(code);
    step->operands[1] = second(code);
    step->operands[2] = third(code);
}

/* SEL and USEL: the first operand if a predicate holds, or is false where it is negated. */
static void chooses(struct step *step, const struct code *code)
{
    step->kind = STEP_CHOOSES;
    step->chooser = (uint8_t)(instruction_bits(code->instruction.high, 23, 4) |
                              (code->is_uniform ? STEP_UNIFORM : 0));
    step->operands[0] = first(code);
    step->operands[1] = second(code);
}

/* VIMNMX.U32 and UVIMNMX.U32 of a and b, VIADDMNMX.U32 of a + b and c or, by the form, of a + c and
 * b: the lesser. */
static void finds_lesser(struct step *step, const struct code *code)
{
    const struct step_operand zero = {0};
    const bool adds_too = code->opcode == OPCODE_VIADDMNMX,
               last = code->form == FORM_CONSTANT_LAST || code->form == FORM_BANK_LAST ||
                      code->form == FORM_UNIFORM_LAST;
    step->kind = STEP_LESSER;
    step->operands[0] = first(code);
    step->operands[1] = !adds_too ? zero : last ? third(code) : second(code);
    step->operands[2] = adds_too && !last ? third(code) : second(code);
}

static bool is_constant(struct step_operand operand, uint32_t value)
{
    return operand.kind == OPERAND_CONSTANT && operand.value == value;
}

static void scales(struct step *step, struct step_operand what, struct step_operand by,
                   struct step_operand to)
{
    step->kind = STEP_SCALES;
    step->operands[0] = to;
    step->operands[1] = what;
    step->operands[2] = by;
}

/* IMAD and UIMAD are moves and additions, too: a * b + c with a zero, or a one. */
static void multiplies(struct step *step, const struct code *code)
{
    const bool last = code->form == FORM_CONSTANT_LAST || code->form == FORM_BANK_LAST ||
                      code->form == FORM_UNIFORM_LAST;
    const struct step_operand a = first(code), between = second(code), high = third(code),
                              b = last ? high : between, c = last ? between : high;
    const bool is_sum = is_constant(b, 1),
               carries = instruction_bits(code->instruction.high, 10, 1);
    if (!is_sum && !is_constant(a, 0) && !is_constant(b, 0)) {
        if (!carries)
            scales(step, a, b, c);
        return;
    }
    moves(step, c);
    step->carries = carries;
    if (carries || is_sum)
        step->kind = STEP_ADDS;
    if (is_sum)
        step->operands[1] = a;
}

/* IMAD.WIDE and UIMAD.WIDE: an index times a constant, and a pair. */
static void indexes(struct step *step, const struct code *code)
{
    const uint32_t every = instruction_bits(code->instruction.low, 32, 32);
    if (step->count != 2 || every == 0 || every > INT32_MAX)
        return;
    step->kind = STEP_INDEXES;
    step->wide = true;
    step->every = every;
    step->operands[0] = third(code);
}

static bool is_half_nan(uint32_t half)
{
    return (half & 0x7fff) > 0x7c00;
}

/* HFMA2 of zeros and two halves is how the compiler makes a number, too: the sum is as it was. */
static void makes_number(struct step *step, const struct code *code)
{
    const uint32_t number = instruction_bits(code->instruction.low, 32, 32);
    if (is_constant(first(code), 0) && !is_half_nan(number) && !is_half_nan(number >> 16))
        moves(step, constant(number));
}

/* SHF.L and USHF.L by a number, of one register. */
static void shifts(struct step *step, const struct code *code)
{
    const struct step_operand zero = {0}, by = second(code);
    if (by.kind == OPERAND_CONSTANT && by.value < 32 && is_constant(third(code), 0))
        scales(step, first(code), constant(UINT32_C(1) << by.value), zero);
}

/* S2R and S2UR: of those that there are the block's index. */
static void reads_block_index(struct step *step, const struct code *code)
{
    enum { CTAID_X = 0x25, DIMENSIONS = 3 };
    const uint32_t dimension = instruction_bits(code->instruction.high, 8, 8) - CTAID_X;
    if (dimension >= DIMENSIONS)
        return;
    step->kind = STEP_BLOCK;
    step->every = dimension;
}

/* LDC and the like: an index is of the path that is loaded to. */
static void loads(struct step *step, const struct code *code)
{
    const struct constant constant = instruction_constant(code->instruction);
    step->kind = STEP_LOADS;
    if (constant.kind == CONSTANT_INDEXED)
        step->operands[0] = operand(code, step->to >= REGISTER_UNIFORM, constant.index);
}

static void compares(struct step *step, const struct code *code)
{
    step->kind = STEP_COMPARES;
    step->comparison = (uint8_t)instruction_bits(code->instruction.high, 12, 3);
    step->is_signed = instruction_bits(code->instruction.high, 9, 1);
    step->operands[0] = first(code);
    step->operands[1] = second(code);
}

static void copies(struct step *step, const struct code *code, enum map_copy copy)
{
    step->kind = STEP_COPIES;
    step->copy = (uint8_t)copy;
    if (code->instruction.high & INSTRUCTION_UNIFORM)
        step->operands[0] = operand(code, true, instruction_bits(code->instruction.low, 24, 8));
}

/* Nothing but the guard decides: BRA has a predicate of its own, BRA.U bits beside that. */
static bool only_guard_decides(struct instruction instruction)
{
    return instruction_bits(instruction.high, 23, 18) == ALWAYS;
}

/* BRA.DIV has bits where BRA and EXIT have none. */
static bool is_plain_branch(struct instruction instruction)
{
    return only_guard_decides(instruction) && instruction_bits(instruction.low, 24, 10) == 0;
}

/* BRA.U: a predicate of the uniform data path, in bits 24 to 27, decides instead of a guard. Of
 * BRA.U.ANY, which has a bit more, it is not known what decides. */
static bool is_uniform_branch(struct instruction instruction)
{
    enum { UNIFORM = 16 };
    return instruction_form(instruction) == FORM_CONSTANT_LAST &&
           instruction_bits(instruction.low, 12, 4) == ALWAYS &&
           instruction_bits(instruction.high, 18, 5) == 0 &&
           instruction_bits(instruction.high, 23, 18) == (ALWAYS | UNIFORM) &&
           instruction_bits(instruction.low, 28, 6) == UNIFORM;
}

/* Whether its guard is all that decides. */
static void depends_on_guard(struct step *step, bool plainly)
{
    if (plainly)
        return;
    step->always = false;
    step->guard = STEP_PREDICATE;
}

static uint64_t branch_target(struct instruction instruction, uint64_t next, uint32_t architecture)
{
    const uint64_t upper = ((uint64_t)instruction_bits(instruction.high, 0, 18) << 30) +
                           instruction_bits(instruction.low, 34, 30),
                   sign = instruction_bits(instruction.high, 17, 1);
    if (architecture < 90)
        return next + (upper << 2) - (sign << 50);
    return next + (upper << 10) + (instruction_bits(instruction.low, 16, 8) << 2) - (sign << 58);
}

/* BMOV.32.CLEAR: a register of threads gets a barrier, and the barrier nothing. Others may be of
 * what is no barrier. */
static bool clears_barrier(struct instruction instruction)
{
    enum { CLEAR = 1 << 20, BARRIERS = 16 };
    return instruction_opcode(instruction) == OPCODE_BMOV &&
           instruction_form(instruction) == FORM_REGISTERS &&
           instruction_high(instruction) == CLEAR && instruction.low >> 32 == 0 &&
           instruction_bits(instruction.low, 24, 8) < BARRIERS;
}

static void takes_barrier(struct step *step, struct instruction instruction)
{
    step->kind = STEP_CLEARS_BARRIER;
    step->barrier = (uint8_t)instruction_bits(instruction.low, 24, 4);
    writes(step, 1, instruction_bits(instruction.low, 16, 8));
}

/* False: it is none that control passes through in a way of its own. */
static bool decode_branch(struct step *step, struct instruction instruction, uint32_t opcode,
                          uint64_t at, uint32_t architecture)
{
    const uint64_t next = at + INSTRUCTION_BYTES;
    const uint32_t form = instruction_form(instruction);
    switch (opcode) {
    case OPCODE_CALL_ABS:
    case OPCODE_LEPC:
    case OPCODE_BMOV:
    case OPCODE_BMOV_2:
    case OPCODE_BMOV_3:
        step->kind = STEP_WRITES_ANY;
        if (clears_barrier(instruction))
            takes_barrier(step, instruction);
        return true;
    case OPCODE_CALL_REL:
    case OPCODE_BRA:
        if (opcode == OPCODE_CALL_REL && form != FORM_CONSTANT)
            break;
        step->kind = opcode == OPCODE_CALL_REL ? STEP_CALLS : STEP_BRANCHES;
        depends_on_guard(step, form == FORM_CONSTANT && is_plain_branch(instruction));
        if (opcode == OPCODE_BRA && is_uniform_branch(instruction))
            step->guard = (uint8_t)(instruction_bits(instruction.low, 24, 4) | STEP_UNIFORM);
        step->target = branch_target(instruction, next, architecture);
        return true;
    case OPCODE_WARPSYNC: /* COLLECTIVE goes elsewhere; else the target is what follows */
        step->kind = STEP_BRANCHES;
        depends_on_guard(step, false);
        step->target = branch_target(instruction, next, architecture);
        return true;
    case OPCODE_BSSY:
        step->kind = STEP_SETS_BARRIER;
        depends_on_guard(step, only_guard_decides(instruction));
        step->barrier = instruction_bits(instruction.low, 16, 4);
        step->target = next + (uint64_t)(int64_t)(int32_t)instruction_bits(instruction.low, 32, 32);
        return true;
    case OPCODE_BSYNC:
        step->kind = STEP_WAITS;
        depends_on_guard(step, only_guard_decides(instruction));
        step->barrier = instruction_bits(instruction.low, 16, 4);
        return true;
    case OPCODE_EXIT:
    case OPCODE_KILL:
        step->kind = STEP_ENDS;
        depends_on_guard(step, is_plain_branch(instruction));
        return true;
    case OPCODE_RET:
        step->kind = STEP_RETURNS;
        depends_on_guard(step, only_guard_decides(instruction));
        return true;
    default:
        if (opcode < 0x140 || opcode > 0x15f || writes_of[opcode] != UNKNOWN)
            return false;
    }
    step->kind = STEP_JUMPS; /* BRX, JMP, JMX, and what else there is of the kind */
    return true;
}

static void writes_unknown(struct step *step, const struct code *code, uint32_t to)
{
    const enum writes which = (enum writes)(writes_of[code->opcode] & WRITES);
    switch (which) {
    case UNKNOWN:
        step->kind = STEP_WRITES_ANY;
        break;
    case NONE:
        break;
    case ONE:
        writes(step, 1, to);
        break;
    case PAIR:
        writes(step, to % 2 ? 1 : 2, to);
        break;
    case FOUR:
        writes(step, to % 2 ? 1 : to % 4 ? 2 : 4, to);
        break;
    case EIGHT:
        writes(step, 8, to);
        break;
    case LOADED:
        writes(step, loaded_count(code->instruction), to);
        break;
    case MANY:
        writes(step, REGISTER_ZERO - to, to);
        break;
    case FRAME:
        writes(step, REGISTERS - REGISTER_STACK, REGISTER_STACK);
        break;
    case UNIFORM_ONE:
        writes(step, 1, uniform(code, to));
        break;
    case UNIFORM_PAIR:
        writes(step, to % 2 ? 1 : 2, uniform(code, to));
        break;
    case UNIFORM_LOADED:
        writes(step, loaded_count(code->instruction), uniform(code, to));
        break;
    }
}

/* Of constant bank 0, four bytes as they are. */
static bool names_word(struct instruction instruction)
{
    const struct constant constant = instruction_constant(instruction);
    return constant.kind == CONSTANT_KNOWN && constant.bytes == 4 && instruction.low >> 59 == 0;
}

/* Instructions that are followed, as they are known: of their high part which bits are read below,
 * or matter to nothing that is, and how the others are. Where they are otherwise, as for a sign or
 * for parts of words, or the form is, the values are not known. */
static bool is_as_known(struct instruction instruction, uint32_t opcode, uint32_t form)
{
    enum { BY_REGISTER = 0x42, ANY_LAST = 0x72, ANY_OPERAND = 0xfe }; /* a bit for each form */
    static const struct {
        uint16_t opcode;
        uint8_t forms;
        uint64_t read, others;
    } known[] = {
        {OPCODE_MOV, ANY_LAST, 0, 0xf00}, /* of all lanes */
        {OPCODE_SEL, ANY_LAST, 0x7800000, 0},
        {OPCODE_ISETP, ANY_LAST, 0x7e7200, 0x3800070}, /* of two numbers, and no predicate */
        {OPCODE_IADD3, ANY_LAST, 0x7ffe4ff, 0},
        {OPCODE_LEA, ANY_LAST, 0xef8ff, 0x7800000},
        {OPCODE_SHF, 1 << FORM_CONSTANT, 0xff, 0x600}, /* .L.U32 */
        {OPCODE_IMAD, ANY_OPERAND, 0x7fe06ff, 0},
        {OPCODE_IMAD_WIDE, 1 << FORM_CONSTANT, 0x7fe02ff, 0},
        {OPCODE_HFMA2, 1 << FORM_CONSTANT_LAST, 0, 0x1ff},     /* of less zero and zero */
        {OPCODE_HFMA2_MMA, 1 << FORM_CONSTANT_LAST, 0, 0x1ff}, /* likewise */
        {OPCODE_VIADD, ANY_LAST, 0, 0},
        {OPCODE_VIADDMNMX, ANY_OPERAND, 0xff, 0x3800000}, /* .U32: the lesser */
        {OPCODE_VIMNMX, ANY_LAST, 0, 0x3fe0000},          /* .U32: likewise */
        {OPCODE_UVIMNMX, ANY_LAST, 0, 0x3fe0000},         /* .U32: likewise */
        {OPCODE_UMOV, ANY_LAST, 0, 0},
        {OPCODE_USEL, ANY_LAST, 0x7800000, 0},
        {OPCODE_UISETP, ANY_LAST, 0x7e7200, 0x3800070}, /* as ISETP */
        {OPCODE_UIADD3, ANY_LAST, 0x7ffe4ff, 0},
        {OPCODE_ULEA, ANY_LAST, 0xef8ff, 0x7800000},
        {OPCODE_UIADD3_64, ANY_LAST, 0x7ffe0ff, 0},
        {OPCODE_USHF, 1 << FORM_CONSTANT, 0xff, 0x600}, /* .L.U32 */
        {OPCODE_UIMAD, ANY_OPERAND, 0x7fe06ff, 0},
        {OPCODE_UIMAD_WIDE, 1 << FORM_CONSTANT, 0x7fe02ff, 0},
        {OPCODE_R2UR, BY_REGISTER, 0xe0000, 0},
        {OPCODE_S2R, 1 << FORM_CONSTANT, 0xff00, 0},
        {OPCODE_LDL, 1 << FORM_CONSTANT, 0x700e00, 0},
        {OPCODE_STL, BY_REGISTER, 0x700e00, 0},
        {OPCODE_S2UR, 1 << FORM_CONSTANT, 0xff00, 0},
    };
    const bool keeps = opcode == OPCODE_LDL || opcode == OPCODE_STL,
               has_number = keeps || form == FORM_CONSTANT || form == FORM_CONSTANT_LAST,
               has_uniform = form >= FORM_UNIFORM || (opcode >= OPCODE_USEL && opcode < 0x0c0) ||
                             opcode == OPCODE_UVIMNMX;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].opcode == opcode)
            return (known[i].forms >> form & 1) &&
                   (is_of_bank(form) ? names_word(instruction)
                                     : has_number || instruction.low >> 40 == 0) &&
                   (instruction_high(instruction) & ~known[i].read) ==
                       (known[i].others | (has_uniform ? (uint64_t)INSTRUCTION_UNIFORM : 0));
    return true;
}

/* Of an instruction that is as known. */
static void values_follow(struct step *step, const struct code *code)
{
    switch (code->opcode) {
    case OPCODE_MOV:
    case OPCODE_UMOV:
        moves(step, second(code));
        break;
    case OPCODE_SEL:
    case OPCODE_USEL:
        chooses(step, code);
        break;
    case OPCODE_VIADDMNMX:
    case OPCODE_VIMNMX:
    case OPCODE_UVIMNMX:
        finds_lesser(step, code);
        break;
    case OPCODE_ISETP:
    case OPCODE_UISETP:
        compares(step, code);
        break;
    case OPCODE_VIADD:
        step->kind = STEP_ADDS;
        step->operands[0] = first(code);
        step->operands[1] = second(code);
        break;
    case OPCODE_IADD3:
    case OPCODE_UIADD3:
    case OPCODE_UIADD3_64:
        adds(step, code);
        step->wide = code->opcode == OPCODE_UIADD3_64;
        break;
    case OPCODE_IMAD:
    case OPCODE_UIMAD:
        multiplies(step, code);
        break;
    case OPCODE_IMAD_WIDE:
    case OPCODE_UIMAD_WIDE:
        indexes(step, code);
        break;
    case OPCODE_LEA:
    case OPCODE_ULEA:
        scales(step, first(code),
               constant(UINT32_C(1) << instruction_bits(code->instruction.high, 11, 5)),
               second(code));
        break;
    case OPCODE_HFMA2:
    case OPCODE_HFMA2_MMA:
        makes_number(step, code);
        break;
    case OPCODE_SHF:
    case OPCODE_USHF:
        shifts(step, code);
        break;
    case OPCODE_S2R:
    case OPCODE_S2UR:
        reads_block_index(step, code);
        break;
    case OPCODE_R2UR:
        moves(step, operand(code, false, instruction_bits(code->instruction.low, 24, 8)));
        break;
    case OPCODE_LDL:
    case OPCODE_STL:
        keeps(step, code, code->opcode == OPCODE_STL);
        break;
    case OPCODE_ULDC:
    case OPCODE_ULDC_INDEXED:
    case OPCODE_LDC:
    case OPCODE_LDCU:
        loads(step, code);
        break;
    case OPCODE_UTMALDG:
        copies(step, code, MAP_READS);
        break;
    case OPCODE_UTMASTG:
        copies(step, code, MAP_STORES);
        break;
    case OPCODE_UTMAREDG:
        copies(step, code, MAP_REDUCES);
        break;
    default:
        break;
    }
}

/* SYNCS.PHASECHK writes a predicate, and has zeros where others name a register. The field behind
 * the uniform register names the predicate. */
static bool checks_phase(const struct code *code)
{
    return code->opcode == OPCODE_SYNCS &&
           instruction_bits(code->instruction.high, code->uniform_zero == 63 ? 6 : 12, 1);
}

static void predicates_find(struct step *step, const struct code *code)
{
    const uint64_t high = code->instruction.high;
    const uint32_t opcode = code->opcode;
    const uint8_t path = code->is_uniform ? STEP_UNIFORM : 0;
    if ((opcode == OPCODE_SYNCS && !checks_phase(code)) ||
        ((writes_of[opcode] & PLAIN) && !is_sum(code)))
        return;
    step->predicates[0] = (uint8_t)(path | instruction_bits(high, 17, 3));
    if (opcode == OPCODE_SYNCS_UNIFORM ||
        opcode == OPCODE_USETMAXREG) /* of one path or the other */
        step->predicates[1] = step->predicates[0] | STEP_UNIFORM;
    else if (!(writes_of[opcode] & SINGLE) && !is_sum(code))
        step->predicates[1] = (uint8_t)(path | instruction_bits(high, 20, 3));
    step->elects = opcode == OPCODE_ELECT;
}

/* IADD, or IADD.64. Its value is followed where both operands are as they are, of four bytes, and
 * nothing is carried to it. */
static void sums(struct step *step, const struct code *code, uint32_t to)
{
    enum { WIDE = 0x200, TO_PREDICATE = 0xe0000, NOT_CARRIED = 0x7800000 };
    const struct instruction instruction = code->instruction;
    const uint64_t is_uniform = code->form == FORM_UNIFORM ? INSTRUCTION_UNIFORM : 0;
    const bool is_number = code->form == FORM_CONSTANT;
    if (instruction.high & WIDE)
        writes(step, 2, to);
    if ((code->form != FORM_REGISTERS && code->form != FORM_UNIFORM && !is_number) ||
        (!is_number && instruction.low >> 40) ||
        (instruction_high(instruction) & ~(uint64_t)TO_PREDICATE) != (NOT_CARRIED | is_uniform))
        return;
    step->kind = STEP_ADDS;
    step->operands[0] = first(code);
    step->operands[1] = second(code);
}

struct step step_of(struct instruction instruction, uint64_t at, uint32_t architecture)
{
    const uint64_t low = instruction.low;
    const uint32_t opcode = instruction_opcode(instruction), to = instruction_bits(low, 16, 8);
    const struct code code = {.instruction = instruction,
                              .opcode = opcode,
                              .form = instruction_form(instruction),
                              .architecture = architecture,
                              .uniform_zero = architecture < 100 ? 63 : 255,
                              .is_uniform = is_uniform_path(opcode)};
    struct step step = {
        .kind = STEP_WRITES,
        .always = instruction_bits(low, 12, 4) == ALWAYS,
        .guard = (uint8_t)(instruction_bits(low, 12, 4) |
                           (instruction_is_guarded_uniformly(instruction) ? STEP_UNIFORM : 0)),
        .predicates = {STEP_PREDICATE, STEP_PREDICATE}};
    if (decode_branch(&step, instruction, opcode, at, architecture))
        return step;
    predicates_find(&step, &code);
    if (!checks_phase(&code) || to)
        writes_unknown(&step, &code, to);
    if (is_sum(&code))
        sums(&step, &code, to);
    else if (is_as_known(instruction, opcode, code.form))
        values_follow(&step, &code);
    return step;
}

uint32_t step_written_end(const struct step *step)
{
    const uint32_t end = (uint32_t)step->to + step->count,
                   last = step->to < REGISTER_UNIFORM ? REGISTER_ZERO
                          : step->to < REGISTER_STACK ? REGISTER_UNIFORM_ZERO
                                                      : REGISTERS;
    return end < last ? end : last;
}

uint8_t step_written_predicates(const struct step *step)
{
    uint8_t written = 0;
    for (int i = 0; i < 2; i++)
        if (step->predicates[i] < STEP_PREDICATE)
            written |= (uint8_t)(1u << step->predicates[i]);
    return written;
}

bool step_falls_through(const struct step *step)
{
    const bool leaves = step->kind == STEP_BRANCHES || step->kind == STEP_CALLS ||
                        step->kind == STEP_ENDS || step->kind == STEP_RETURNS ||
                        step->kind == STEP_WAITS;
    return !leaves || !step->always;
}

uint32_t step_index(uint64_t target)
{
    const uint64_t place = target / INSTRUCTION_BYTES;
    return target % INSTRUCTION_BYTES == 0 && place < UINT32_MAX ? (uint32_t)place : UINT32_MAX;
}
