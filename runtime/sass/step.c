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

static const uint8_t writes_of[512] = {
    [0x002] = ONE | PLAIN /* MOV */,
    [0x003] = ONE | PLAIN /* P2R */,
    [0x005] = PAIR | PLAIN /* CS2R */,
    [0x006] = ONE | SINGLE /* VOTE */,
    [0x007] = ONE | PLAIN /* SEL */,
    [0x008] = ONE | PLAIN /* FSEL */,
    [0x009] = ONE | PLAIN /* FMNMX */,
    [0x00b] = NONE /* FSETP */,
    [0x00c] = NONE /* ISETP */,
    [0x010] = ONE /* IADD3 */,
    [0x011] = ONE | SINGLE /* LEA */,
    [0x012] = ONE | SINGLE /* LOP3 */,
    [0x013] = ONE | PLAIN /* IABS */,
    [0x016] = ONE | PLAIN /* PRMT */,
    [0x019] = ONE | PLAIN /* SHF */,
    [0x01a] = ONE /* SGXT */,
    [0x01c] = NONE /* PLOP3 */,
    [0x020] = ONE | PLAIN /* FMUL */,
    [0x021] = ONE | PLAIN /* FADD */,
    [0x023] = ONE | PLAIN /* FFMA */,
    [0x024] = ONE | SINGLE /* IMAD */,
    [0x025] = PAIR | SINGLE /* IMAD.WIDE */,
    [0x026] = ONE | SINGLE /* IDP */,
    [0x027] = ONE | SINGLE /* IMAD.HI */,
    [0x028] = PAIR /* DMUL */,
    [0x029] = PAIR /* DADD */,
    [0x02a] = NONE /* DSETP */,
    [0x02b] = PAIR /* DFMA */,
    [0x02d] = NONE | PLAIN /* PREEXIT */,
    [0x02e] = NONE | PLAIN /* ACQBULK */,
    [0x02f] = UNIFORM_ONE | SINGLE /* ELECT */,
    [0x030] = ONE | PLAIN /* HADD2 */,
    [0x031] = ONE | PLAIN /* HFMA2 */,
    [0x032] = ONE | PLAIN /* HMUL2 */,
    [0x033] = ONE /* HSET2 */,
    [0x034] = NONE /* HSETP2 */,
    [0x035] = ONE | PLAIN /* HFMA2.MMA */,
    [0x036] = ONE | PLAIN /* VIADD */,
    [0x037] = FOUR /* IMMA */,
    [0x03b] = FOUR | PLAIN /* LDSM */,
    [0x03c] = FOUR /* HMMA */,
    [0x03e] = ONE | PLAIN /* F2FP */,
    [0x03f] = EIGHT /* DMMA */,
    [0x040] = ONE | PLAIN /* HMNMX2 */,
    [0x043] = ONE /* F2IP */,
    [0x044] = NONE | PLAIN /* STSM */,
    [0x045] = ONE | PLAIN /* I2FP */,
    [0x046] = ONE | PLAIN /* VIADDMNMX */,
    [0x048] = ONE /* VIMNMX */,
    [0x04a] = UNIFORM_ONE /* UVIMNMX */,
    [0x05a] = UNIFORM_PAIR | PLAIN /* UI2F */,
    [0x082] = UNIFORM_ONE | PLAIN /* UMOV */,
    [0x083] = UNIFORM_ONE | PLAIN /* UP2UR */,
    [0x086] = UNIFORM_ONE | SINGLE /* VOTEU */,
    [0x087] = UNIFORM_ONE | PLAIN /* USEL */,
    [0x08c] = NONE /* UISETP */,
    [0x090] = UNIFORM_ONE /* UIADD3 */,
    [0x091] = UNIFORM_ONE | SINGLE /* ULEA */,
    [0x092] = UNIFORM_ONE | SINGLE /* ULOP3 */,
    [0x096] = UNIFORM_ONE | PLAIN /* UPRMT */,
    [0x097] = UNIFORM_PAIR /* UIADD3.64 */,
    [0x099] = UNIFORM_ONE | PLAIN /* USHF */,
    [0x09c] = NONE /* UPLOP3 */,
    [0x0a4] = UNIFORM_ONE | SINGLE /* UIMAD */,
    [0x0a5] = UNIFORM_PAIR | SINGLE /* UIMAD.WIDE */,
    [0x0b9] = UNIFORM_LOADED | PLAIN /* ULDC */,
    [0x0bb] = UNIFORM_LOADED | PLAIN /* ULDC, indexed */,
    [0x0bd] = UNIFORM_ONE | SINGLE /* UFLO */,
    [0x0bf] = UNIFORM_ONE | SINGLE /* UPOPC */,
    [0x0ca] = UNIFORM_ONE | SINGLE /* R2UR */,
    [0x100] = ONE | SINGLE /* FLO */,
    [0x101] = ONE /* BREV */,
    [0x102] = NONE /* FCHK */,
    [0x104] = ONE /* F2F */,
    [0x105] = ONE | PLAIN /* F2I */,
    [0x106] = ONE | PLAIN /* I2F */,
    [0x108] = ONE | PLAIN /* MUFU */,
    [0x109] = ONE | PLAIN /* POPC */,
    [0x110] = PAIR /* F2F.F64 */,
    [0x111] = PAIR /* F2I.U64 */,
    [0x112] = PAIR /* I2F.U64 */,
    [0x118] = NONE | PLAIN /* NOP */,
    [0x119] = ONE | PLAIN /* S2R */,
    [0x11a] = NONE | PLAIN /* DEPBAR */,
    [0x11b] = NONE /* ENDCOLLECTIVE */,
    [0x11c] = ONE /* B2R */,
    [0x11d] = NONE /* BAR */,
    [0x142] = NONE /* BREAK */,
    [0x146] = NONE /* YIELD */,
    [0x15c] = NONE /* BPT */,
    [0x15d] = NONE | PLAIN /* NANOSLEEP */,
    [0x180] = LOADED /* LD */,
    [0x181] = LOADED /* LDG */,
    [0x182] = LOADED | PLAIN /* LDC */,
    [0x183] = LOADED | PLAIN /* LDL */,
    [0x184] = LOADED | PLAIN /* LDS */,
    [0x185] = FRAME /* ST */,
    [0x186] = NONE | PLAIN /* STG */,
    [0x187] = FRAME | PLAIN /* STL */,
    [0x188] = NONE | PLAIN /* STS */,
    [0x189] = ONE | SINGLE /* SHFL */,
    [0x18c] = FOUR /* ATOMS */,
    [0x18e] = NONE /* REDG */,
    [0x18f] = NONE | PLAIN /* CCTL */,
    [0x192] = NONE | PLAIN /* MEMBAR */,
    [0x1a1] = ONE /* MATCH */,
    [0x1a7] = PAIR | SINGLE /* SYNCS */,
    [0x1a8] = FOUR /* ATOMG */,
    [0x1ab] = NONE | PLAIN /* ERRBAR */,
    [0x1ac] = UNIFORM_LOADED | PLAIN /* LDCU */,
    [0x1ae] = NONE /* LDGSTS */,
    [0x1af] = NONE | PLAIN /* LDGDEPBAR */,
    [0x1b2] = UNIFORM_PAIR /* SYNCS */,
    [0x1b4] = NONE | PLAIN /* UTMALDG */,
    [0x1b5] = NONE | PLAIN /* UTMASTG */,
    [0x1b6] = NONE | PLAIN /* UTMAREDG */,
    [0x1b7] = NONE | PLAIN /* UTMACMDFLUSH */,
    [0x1b8] = NONE /* UTMAPF */,
    [0x1b9] = NONE /* UTMACCTL */,
    [0x1ba] = NONE /* UBLKCP */,
    [0x1bb] = NONE /* UBLKRED */,
    [0x1bd] = NONE | PLAIN /* STAS */,
    [0x1c3] = UNIFORM_ONE | PLAIN /* S2UR */,
    [0x1c4] = UNIFORM_ONE /* REDUX */,
    [0x1c5] = NONE | PLAIN /* WARPGROUP */,
    [0x1c6] = NONE | PLAIN /* FENCE */,
    [0x1c7] = NONE | PLAIN /* UCGABAR */,
    [0x1c8] = NONE /* USETMAXREG */,
    [0x1c9] = NONE /* USETSHMSZ */,
    [0x1f0] = MANY | PLAIN /* HGMMA */,
    [0x1f1] = MANY /* IGMMA */,
};

static bool is_uniform_path(uint32_t opcode)
{
    return (opcode >= 0x080 && opcode < 0x0c0) || opcode == 0x04a;
}

/* An instruction, and what it is read by. */
struct code {
    struct instruction instruction;
    uint32_t opcode, form;
    uint32_t uniform_zero; /* number of URZ: there are more registers from sm_100 on */
    bool is_uniform;       /* of the uniform data path */
};

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

/* STL and LDL of the stack frame; another address may be any in it. Parts of words are not told. */
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
    const bool adds_too = code->opcode == 0x046, last = code->form == FORM_CONSTANT_LAST ||
                                                        code->form == FORM_BANK_LAST ||
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
static void tells_block(struct step *step, const struct code *code)
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
static bool goes_by_guard(struct instruction instruction)
{
    return instruction_bits(instruction.high, 23, 18) == ALWAYS;
}

/* BRA.DIV has bits where BRA and EXIT have none. */
static bool goes_plainly(struct instruction instruction)
{
    return goes_by_guard(instruction) && instruction_bits(instruction.low, 24, 10) == 0;
}

/* BRA.U: a predicate of the uniform data path, in bits 24 to 27, decides instead of a guard. */
static bool goes_uniformly(struct instruction instruction)
{
    enum { UNIFORM = 16 };
    return instruction_form(instruction) == FORM_CONSTANT_LAST &&
           instruction_bits(instruction.low, 12, 4) == ALWAYS &&
           instruction_bits(instruction.high, 23, 18) == (ALWAYS | UNIFORM) &&
           instruction_bits(instruction.low, 28, 6) == UNIFORM;
}

/* Whether its guard is all that decides. */
static void asks(struct step *step, bool plainly)
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

/* False: it is none that control passes through in a way of its own. */
static bool goes(struct step *step, struct instruction instruction, uint32_t opcode, uint64_t at,
                 uint32_t architecture)
{
    const uint64_t next = at + INSTRUCTION_BYTES;
    const uint32_t form = instruction_form(instruction);
    switch (opcode) {
    case 0x143: /* CALL.ABS */
    case 0x14e: /* LEPC */
    case 0x155: /* BMOV */
    case 0x156:
    case 0x157:
        step->kind = STEP_WRITES_ANY;
        return true;
    case 0x144: /* CALL.REL */
    case 0x147: /* BRA */
        if (opcode == 0x144 && form != FORM_CONSTANT)
            break;
        step->kind = opcode == 0x144 ? STEP_CALLS : STEP_BRANCHES;
        asks(step, form == FORM_CONSTANT && goes_plainly(instruction));
        if (opcode == 0x147 && goes_uniformly(instruction))
            step->guard = (uint8_t)(instruction_bits(instruction.low, 24, 4) | STEP_UNIFORM);
        step->target = branch_target(instruction, next, architecture);
        return true;
    case 0x148: /* WARPSYNC: COLLECTIVE goes elsewhere; else the target is what follows */
        step->kind = STEP_BRANCHES;
        asks(step, false);
        step->target = branch_target(instruction, next, architecture);
        return true;
    case 0x145: /* BSSY */
        step->kind = STEP_MEETS;
        asks(step, goes_by_guard(instruction));
        step->barrier = instruction_bits(instruction.low, 16, 4);
        step->target = next + (uint64_t)(int64_t)(int32_t)instruction_bits(instruction.low, 32, 32);
        return true;
    case 0x141: /* BSYNC */
        step->kind = STEP_WAITS;
        asks(step, goes_by_guard(instruction));
        step->barrier = instruction_bits(instruction.low, 16, 4);
        return true;
    case 0x14d: /* EXIT */
    case 0x15b: /* KILL */
        step->kind = STEP_ENDS;
        asks(step, goes_plainly(instruction));
        return true;
    case 0x150: /* RET */
        step->kind = STEP_RETURNS;
        asks(step, goes_by_guard(instruction));
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
    enum { BY_REGISTER = 0x42, ANY_LAST = 0x72, ANY_PLACE = 0xfe }; /* a bit for each form */
    static const struct {
        uint16_t opcode;
        uint8_t forms;
        uint64_t read, others;
    } known[] = {
        {0x002, ANY_LAST, 0, 0xf00} /* MOV: of all lanes */,
        {0x007, ANY_LAST, 0x7800000, 0} /* SEL */,
        {0x00c, ANY_LAST, 0x7e7200, 0x3800070} /* ISETP: of two numbers, and no predicate */,
        {0x010, ANY_LAST, 0x7ffe4ff, 0} /* IADD3 */,
        {0x011, ANY_LAST, 0xef8ff, 0x7800000} /* LEA */,
        {0x019, 1 << FORM_CONSTANT, 0xff, 0x600} /* SHF.L.U32 */,
        {0x024, ANY_PLACE, 0x7fe06ff, 0} /* IMAD */,
        {0x025, 1 << FORM_CONSTANT, 0x7fe02ff, 0} /* IMAD.WIDE */,
        {0x031, 1 << FORM_CONSTANT_LAST, 0, 0x1ff} /* HFMA2: of less zero and zero */,
        {0x035, 1 << FORM_CONSTANT_LAST, 0, 0x1ff} /* HFMA2.MMA: likewise */,
        {0x036, ANY_LAST, 0, 0} /* VIADD */,
        {0x046, ANY_PLACE, 0xff, 0x3800000} /* VIADDMNMX.U32: the lesser */,
        {0x048, ANY_LAST, 0, 0x3fe0000} /* VIMNMX.U32: likewise */,
        {0x04a, ANY_LAST, 0, 0x3fe0000} /* UVIMNMX.U32: likewise */,
        {0x082, ANY_LAST, 0, 0} /* UMOV */,
        {0x087, ANY_LAST, 0x7800000, 0} /* USEL */,
        {0x08c, ANY_LAST, 0x7e7200, 0x3800070} /* UISETP: as ISETP */,
        {0x090, ANY_LAST, 0x7ffe4ff, 0} /* UIADD3 */,
        {0x091, ANY_LAST, 0xef8ff, 0x7800000} /* ULEA */,
        {0x097, ANY_LAST, 0x7ffe0ff, 0} /* UIADD3.64 */,
        {0x099, 1 << FORM_CONSTANT, 0xff, 0x600} /* USHF.L.U32 */,
        {0x0a4, ANY_PLACE, 0x7fe06ff, 0} /* UIMAD */,
        {0x0a5, 1 << FORM_CONSTANT, 0x7fe02ff, 0} /* UIMAD.WIDE */,
        {0x0ca, BY_REGISTER, 0xe0000, 0} /* R2UR */,
        {0x119, 1 << FORM_CONSTANT, 0xff00, 0} /* S2R */,
        {0x183, 1 << FORM_CONSTANT, 0x700e00, 0} /* LDL */,
        {0x187, BY_REGISTER, 0x700e00, 0} /* STL */,
        {0x1c3, 1 << FORM_CONSTANT, 0xff00, 0} /* S2UR */,
    };
    const bool keeps = opcode == 0x183 || opcode == 0x187,
               has_number = keeps || form == FORM_CONSTANT || form == FORM_CONSTANT_LAST,
               has_uniform =
                   form >= FORM_UNIFORM || (opcode >= 0x087 && opcode < 0x0c0) || opcode == 0x04a;
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
    case 0x002: /* MOV */
    case 0x082: /* UMOV */
        moves(step, second(code));
        break;
    case 0x007: /* SEL */
    case 0x087: /* USEL */
        chooses(step, code);
        break;
    case 0x046: /* VIADDMNMX */
    case 0x048: /* VIMNMX */
    case 0x04a: /* UVIMNMX */
        finds_lesser(step, code);
        break;
    case 0x00c: /* ISETP */
    case 0x08c: /* UISETP */
        compares(step, code);
        break;
    case 0x036: /* VIADD */
        step->kind = STEP_ADDS;
        step->operands[0] = first(code);
        step->operands[1] = second(code);
        break;
    case 0x010: /* IADD3 */
    case 0x090: /* UIADD3 */
    case 0x097: /* UIADD3.64 */
        adds(step, code);
        step->wide = code->opcode == 0x097;
        break;
    case 0x024: /* IMAD */
    case 0x0a4: /* UIMAD */
        multiplies(step, code);
        break;
    case 0x025: /* IMAD.WIDE */
    case 0x0a5: /* UIMAD.WIDE */
        indexes(step, code);
        break;
    case 0x011: /* LEA */
    case 0x091: /* ULEA */
        scales(step, first(code),
               constant(UINT32_C(1) << instruction_bits(code->instruction.high, 11, 5)),
               second(code));
        break;
    case 0x031: /* HFMA2 */
    case 0x035: /* HFMA2.MMA */
        makes_number(step, code);
        break;
    case 0x019: /* SHF */
    case 0x099: /* USHF */
        shifts(step, code);
        break;
    case 0x119: /* S2R */
    case 0x1c3: /* S2UR */
        tells_block(step, code);
        break;
    case 0x0ca: /* R2UR */
        moves(step, operand(code, false, instruction_bits(code->instruction.low, 24, 8)));
        break;
    case 0x183: /* LDL */
    case 0x187: /* STL */
        keeps(step, code, code->opcode == 0x187);
        break;
    case 0x0b9: /* ULDC */
    case 0x0bb: /* ULDC, indexed */
    case 0x182: /* LDC */
    case 0x1ac: /* LDCU */
        loads(step, code);
        break;
    case 0x1b4: /* UTMALDG */
        copies(step, code, MAP_READS);
        break;
    case 0x1b5: /* UTMASTG */
        copies(step, code, MAP_STORES);
        break;
    case 0x1b6: /* UTMAREDG */
        copies(step, code, MAP_REDUCES);
        break;
    default:
        break;
    }
}

enum {
    OPCODE_SYNCS = 0x1a7,
    OPCODE_SYNCS_UNIFORM = 0x1b2,
    OPCODE_USETMAXREG = 0x1c8,
    OPCODE_ELECT = 0x02f
};

/* SYNCS.PHASECHK tells a predicate, and has zeros where others name a register. Which it is stands
 * behind the uniform register. */
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
    if ((writes_of[opcode] & PLAIN) || (opcode == OPCODE_SYNCS && !checks_phase(code)))
        return;
    step->predicates[0] = (uint8_t)(path | instruction_bits(high, 17, 3));
    if (opcode == OPCODE_SYNCS_UNIFORM ||
        opcode == OPCODE_USETMAXREG) /* of one path or the other */
        step->predicates[1] = step->predicates[0] | STEP_UNIFORM;
    else if (!(writes_of[opcode] & SINGLE))
        step->predicates[1] = (uint8_t)(path | instruction_bits(high, 20, 3));
    step->elects = opcode == OPCODE_ELECT;
}

struct step step_of(struct instruction instruction, uint64_t at, uint32_t architecture)
{
    const uint64_t low = instruction.low;
    const uint32_t opcode = instruction_opcode(instruction), to = instruction_bits(low, 16, 8);
    const struct code code = {.instruction = instruction,
                              .opcode = opcode,
                              .form = instruction_form(instruction),
                              .uniform_zero = architecture < 100 ? 63 : 255,
                              .is_uniform = is_uniform_path(opcode)};
    struct step step = {
        .kind = STEP_WRITES,
        .always = instruction_bits(low, 12, 4) == ALWAYS,
        .guard = (uint8_t)(instruction_bits(low, 12, 4) |
                           (instruction_is_guarded_uniformly(instruction) ? STEP_UNIFORM : 0)),
        .predicates = {STEP_PREDICATE, STEP_PREDICATE}};
    if (goes(&step, instruction, opcode, at, architecture))
        return step;
    predicates_find(&step, &code);
    if (!checks_phase(&code) || to)
        writes_unknown(&step, &code, to);
    if (is_as_known(instruction, opcode, code.form))
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

bool step_goes_on(const struct step *step)
{
    const bool leaves = step->kind == STEP_BRANCHES || step->kind == STEP_CALLS ||
                        step->kind == STEP_ENDS || step->kind == STEP_RETURNS ||
                        step->kind == STEP_WAITS;
    return !leaves || !step->always;
}

uint32_t step_place(uint64_t target)
{
    const uint64_t place = target / INSTRUCTION_BYTES;
    return target % INSTRUCTION_BYTES == 0 && place < UINT32_MAX ? (uint32_t)place : UINT32_MAX;
}
