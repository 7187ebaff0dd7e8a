/* Compares the parameters that the analysis reports as read with random programs that run: no
 * parameter that a run reads may be missing. Usage: test_branches_random [PROGRAMS] */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/sass/reads_case.h"
#include "runtime/sass/branches.h"
#include "tests/unit/sass/sm90_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Programs ---- */

enum op_kind {
    NOTHING,
    LOAD,   /* R[to] = c[number] */
    LOAD64, /* and the next */
    LOAD_BYTE,
    NUMBER, /* R[to] = number */
    MOVE,   /* R[to] = R[a] */
    ADD,    /* R[to] = R[a] + R[b] */
    ADD_NUMBER,
    MOVE_BANK, /* R[to] = c[number], as LOAD */
    ADD_BANK,  /* R[to] = R[a] + c[number], or less it if not `holds` */
    ADD_THREE, /* and R[number % UNIFORMS] */
    SELECT,    /* R[a] if P[predicate], or R[b] */
    AND,       /* R[a] & number */
    DOWN,      /* R[to] = UR[a] */
    UP,        /* UR[to] = R[a] */
    LOAD_UNIFORM,
    LOAD64_UNIFORM,
    NUMBER_UNIFORM,
    COMPARE, /* P[predicate] = R[a] ? R[b] */
    COMPARE_NUMBER,
    COMPARE_BANK,
    COMPARE_UNIFORM, /* with UR[b] */
    COMPARE_BOTH,    /* as COMPARE_NUMBER, and the other predicate is what it is not */
    COMPARE_WARP,    /* UP[predicate] = UR[a] ? number */
    SELECT_NUMBER,   /* R[to] = R[a] if P[predicate], or number; if not `holds` otherwise */
    SELECT_WARP,     /* UR[to] = UR[a] if UP[predicate], or number; likewise */
    LESSER,          /* R[to] is the lesser of R[a] and number */
    LESSER_UNIFORM,  /* of UR */
    LESSER_SUM,      /* of R[a] + R[b] and number */
    SET,             /* P[predicate], at random */
    BLOCK,           /* R[to] = the block's index in dimension number % 3 */
    BLOCK_UNIFORM,
    HALVES, /* R[to] = number, if that is none of two halves */
    SHIFT,  /* R[to] = R[a] << number % 32 */
    SHIFT_UNIFORM,
    SHIFT_ADD, /* R[to] = (R[a] << number % 32) + R[b] */
    SHIFT_ADD_UNIFORM,
    SCALE, /* R[to] = R[a] * number + R[b] */
    SCALE_UNIFORM,
    MULTIPLY, /* R[to] = R[a] * R[b] + R[number % UNIFORMS] */
    ANYTHING, /* all registers and predicates, at random: an unknown instruction */
    BRANCH,
    BRANCH_IF,   /* P[b] is as `holds`, too */
    BRANCH_WARP, /* UP[b] is */
    CALL,
    RETURN,
    RECONVERGE,    /* at `target`, by barrier a */
    MOVE_BARRIER,  /* a's reconvergence point becomes the other barrier's */
    CLEAR_BARRIER, /* of barrier a, into R[to] */
    WAIT,
    EXIT,
    KINDS,
    TABLE = KINDS, /* R[to] = the `size` bytes at c[number] + R[a]; bounded, because the analysis
                      knows nothing if R[a] is unknown */
    TABLE_UNIFORM
};

enum { OPS_MOST = 48, REGISTERS = 6, UNIFORMS = 4, PREDICATES = 2, BARRIERS = 2, WORDS = 12 };
enum { FIRST_REGISTER = 2 /* R1 is the stack's */, NUMBERS = 3 };

struct op {
    uint8_t kind, to, a, b, predicate, holds, comparison, is_signed;
    uint8_t guard, guard_holds; /* NO_PREDICATE: always */
    uint8_t size;
    uint32_t number, target;
};

struct program {
    uint32_t count;
    struct op ops[OPS_MOST];
};

static uint64_t seed;

static uint32_t below(uint32_t end)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed * 0x9e3779b97f4a7c15u) >> 40) % end;
}

/* Small numbers of either sign, so that comparisons come out either way. */
static uint32_t small(void)
{
    return below(8) ? below(NUMBERS) : below(2) ? -1u - below(2) : below(2) + 0x7fffffff;
}

static struct instruction instruction_of(const struct op *op, uint32_t at)
{
    const uint32_t to = op->to + FIRST_REGISTER, a = op->a + FIRST_REGISTER,
                   b = op->b + FIRST_REGISTER, word = PARAMETERS_AT + 4 * op->number;
    struct instruction narrow, three, both;
    switch ((enum op_kind)op->kind) {
    case LOAD:
        return ldc(to, word);
    case LOAD64:
        return ldc64(to, word);
    case LOAD_BYTE:
        narrow = ldc(to, word);
        narrow.high = 0;
        return narrow;
    case NUMBER:
        return mov_number(to, op->number);
    case MOVE:
        return mov(to, a);
    case ADD:
        return iadd3(to, a, b);
    case ADD_NUMBER:
        return viadd_number(to, a, op->number);
    case MOVE_BANK:
        return op->holds ? of_bank(mov(to, 0), word) : imad_mov_bank(to, word);
    case ADD_BANK:
        return op->holds ? of_bank(iadd3(to, a, 0), word) : negated(of_bank(iadd3(to, a, 0), word));
    case ADD_THREE:
        three = iadd3(to, a, b);
        three.high = (three.high & ~UINT64_C(0xff)) | (op->number % UNIFORMS + FIRST_REGISTER);
        return three;
    case SELECT:
        return sel(to, a, b, op->predicate);
    case AND:
        return lop3_and(to, a, op->number);
    case DOWN:
        return mov_uniform(to, op->a);
    case UP:
        return r2ur(op->to, a);
    case LOAD_UNIFORM:
        return code_architecture < 100 ? uldc(op->to, word) : ldcu(op->to, word);
    case LOAD64_UNIFORM:
        return code_architecture < 100 ? uldc64(op->to, word) : ldcu64(op->to, word);
    case NUMBER_UNIFORM:
        return umov_number(op->to, op->number);
    case COMPARE:
        return isetp_of(op->predicate, op->comparison, op->is_signed, a, b);
    case COMPARE_NUMBER:
        return isetp_number(op->predicate, op->comparison, op->is_signed, a, op->number);
    case COMPARE_BANK:
        return of_bank(isetp_of(op->predicate, op->comparison, op->is_signed, a, 0), word);
    case COMPARE_UNIFORM:
        return isetp_uniform(op->predicate, op->comparison, op->is_signed, a, op->b);
    case COMPARE_BOTH:
        both = isetp_number(op->predicate, op->comparison, op->is_signed, a, op->number);
        both.high = (both.high & ~(UINT64_C(7) << 20)) | (uint64_t)(1 - op->predicate) << 20;
        return both;
    case COMPARE_WARP:
        return uisetp_number(op->predicate, op->comparison, op->is_signed, op->a, op->number);
    case SELECT_NUMBER:
        return sel_number(to, a, op->number, op->predicate | (op->holds ? 0u : 8u));
    case SELECT_WARP:
        return usel_number(op->to, op->a, op->number, op->predicate | (op->holds ? 0u : 8u));
    case LESSER:
        return vimnmx_number(to, a, op->number);
    case LESSER_UNIFORM:
        return uvimnmx_number(op->to, op->a, op->number);
    case LESSER_SUM:
        return viaddmnmx_number(to, a, b, op->number);
    case BLOCK:
        return s2r_block(to, op->number % 3);
    case BLOCK_UNIFORM:
        return s2ur_block(op->to, op->number % 3);
    case HALVES:
        return hfma2_number(to, op->number);
    case SHIFT:
        return shf_left(to, a, op->number % 32);
    case SHIFT_UNIFORM:
        return ushf_left(op->to, op->a, op->number % 32);
    case SHIFT_ADD:
        return lea(to, a, b, op->number % 32);
    case SHIFT_ADD_UNIFORM:
        return ulea(op->to, op->a, op->b, op->number % 32);
    case SCALE:
        return imad_number(to, a, op->number, b);
    case SCALE_UNIFORM:
        return uimad_number(op->to, op->a, op->number, op->b);
    case MULTIPLY:
        return imad(to, a, b, op->number % UNIFORMS + FIRST_REGISTER);
    case TABLE:
        return ldc_indexed(to, a, word, op->size);
    case TABLE_UNIFORM:
        return code_architecture < 100 ? uldc_indexed(op->to, op->a, word, op->size)
                                       : ldcu_indexed(op->to, op->a, word, op->size);
    case SET: /* FSETP */
        return encoded(0x20b, 0, a, b, 0x3f05000 | (uint64_t)op->predicate << 17);
    case ANYTHING:
        return encoded(0x0ff, 0, 0, 0, 0);
    case BRANCH:
        return bra(at, op->target);
    case BRANCH_IF:
        return bra_if(at, op->target, op->b, op->holds);
    case BRANCH_WARP:
        return bra_uniform(at, op->target, op->b, op->holds);
    case CALL:
        return call(at, op->target);
    case RETURN:
        return ret();
    case RECONVERGE:
        return bssy(op->a, at, op->target);
    case MOVE_BARRIER:
        return bmov_to(op->a, a);
    case CLEAR_BARRIER:
        return bmov_clear(to, op->a);
    case WAIT:
        return bsync(op->a);
    case EXIT:
        return exits();
    default:
        return nop();
    }
}

/* What ULDC and the others of the uniform path are guarded by is a predicate of theirs. */
static bool is_uniform(const struct op *op)
{
    return op->kind == LOAD_UNIFORM || op->kind == LOAD64_UNIFORM || op->kind == NUMBER_UNIFORM ||
           op->kind == COMPARE_WARP || op->kind == SELECT_WARP || op->kind == LESSER_UNIFORM ||
           op->kind == BLOCK_UNIFORM || op->kind == SHIFT_UNIFORM ||
           op->kind == SHIFT_ADD_UNIFORM || op->kind == SCALE_UNIFORM || op->kind == TABLE_UNIFORM;
}

static struct reads *find(const struct program *program)
{
    struct instruction code[OPS_MOST];
    for (uint32_t i = 0; i < program->count; i++) {
        const struct op *op = &program->ops[i];
        code[i] = instruction_of(op, i);
        if (op->guard != NO_PREDICATE)
            code[i] = when(op->guard, op->guard_holds, code[i]);
    }
    return branches_find((const uint8_t *)code, program->count * sizeof *code, code_architecture,
                         PARAMETERS_AT, WORDS);
}

static struct op op_make(uint32_t at, uint32_t count)
{
    /* mostly what decides, and what that decides about */
    static const uint8_t likely[] = {LOAD,         MOVE_BANK, COMPARE_NUMBER, COMPARE_BANK, BRANCH,
                                     LOAD_UNIFORM, EXIT,      COMPARE_WARP,   BRANCH_WARP};
    struct op op = {.kind = (uint8_t)(below(2) ? likely[below(sizeof likely)] : below(KINDS)),
                    .to = (uint8_t)below(UNIFORMS),
                    .a = (uint8_t)below(UNIFORMS),
                    .b = (uint8_t)below(UNIFORMS),
                    .predicate = (uint8_t)below(PREDICATES),
                    .holds = (uint8_t)below(2),
                    .comparison = (uint8_t)below(8),
                    .is_signed = (uint8_t)below(2),
                    .guard = (uint8_t)(below(4) ? NO_PREDICATE : below(PREDICATES)),
                    .guard_holds = (uint8_t)below(2),
                    .number = small()};
    if (op.kind == BRANCH || op.kind == EXIT)
        op.guard = (uint8_t)(below(8) ? below(PREDICATES) : NO_PREDICATE);
    if (op.kind == LOAD || op.kind == LOAD_UNIFORM || op.kind == LOAD_BYTE ||
        op.kind == MOVE_BANK || op.kind == ADD_BANK || op.kind == COMPARE_BANK)
        op.number = below(WORDS);
    if (op.kind == LOAD64 || op.kind == LOAD64_UNIFORM)
        op.number = 2 * below(WORDS / 2);
    if (op.kind == LOAD64 || op.kind == LOAD64_UNIFORM)
        op.to &= ~1u;
    if (op.kind == RECONVERGE || op.kind == WAIT || op.kind == MOVE_BARRIER ||
        op.kind == CLEAR_BARRIER)
        op.a %= BARRIERS;
    if (op.kind == BRANCH_IF || op.kind == BRANCH_WARP)
        op.b %= PREDICATES;
    if (op.kind == BRANCH_WARP && below(8))
        op.guard = NO_PREDICATE;
    op.target = below(4) ? at + 1 + below(count - at) : below(count);
    op.target = op.target < count ? op.target : count - 1;
    return op;
}

/* A parameter, or a number if that is less, is compared, as an array's length is, and decides: as
 * one instruction finds it or a comparison and a choice do; twice, or some call between. */
static void make_lesser(struct program *program)
{
    static const uint8_t of_threads[] = {LESSER, LESSER_SUM, SELECT_NUMBER, SELECT_NUMBER},
                         of_warp[] = {LESSER_UNIFORM, LESSER_UNIFORM, SELECT_WARP, SELECT_WARP};
    enum { LENGTH = 7 };
    const bool warp = below(2);
    const uint8_t *lessers = warp ? of_warp : of_threads,
                  compare = warp ? COMPARE_WARP : COMPARE_NUMBER;
    const uint8_t kinds[LENGTH] = {warp ? LOAD_UNIFORM : LOAD,
                                   compare,
                                   lessers[below(4)],
                                   below(4) ? NOTHING : lessers[below(4)],
                                   compare,
                                   below(8) ? NOTHING : CALL,
                                   warp ? BRANCH_WARP : BRANCH};
    const uint32_t at = below(program->count - LENGTH - 1);
    struct op *ops = program->ops + at;
    for (uint32_t i = 0; i < LENGTH; i++) {
        ops[i] = op_make(at + i, program->count);
        ops[i].kind = kinds[i];
        ops[i].a = ops[i].to = ops[0].to;
        ops[i].b = ops[i].predicate = ops[0].predicate;
        ops[i].guard = NO_PREDICATE;
    }
    ops[0].number = below(WORDS);
    ops[1].is_signed = below(8) == 0;
    ops[1].number = ops[2].number;
    if (!warp)
        ops[LENGTH - 1].guard = ops[0].predicate;
}

static struct op op_of(uint32_t at, uint32_t count, enum op_kind kind, uint8_t to, uint8_t a,
                       uint32_t number)
{
    struct op op = op_make(at, count);
    op.kind = (uint8_t)kind;
    op.to = to;
    op.a = a;
    op.number = number;
    op.guard = below(16) ? NO_PREDICATE : op.guard % PREDICATES;
    return op;
}

/* The block's index, a parameter, or a table's entry at it, selects the address, as in PyTorch's
 * kernels for many tensors, and for one dimension of some. */
static void make_table(struct program *program)
{
    static const uint32_t shifts[] = {0, 0, 1, 2, 3};
    static const uint8_t sizes[] = {1, 1, 2, 4, 8};
    enum { LENGTH = 6, INDEX, OFFSET };
    const bool warp = below(2), once = below(2);
    const uint32_t at = below(program->count - LENGTH - 1), count = program->count;
    struct op *ops = program->ops + at;
    *ops++ = below(2)
                 ? op_of(at, count, warp ? BLOCK_UNIFORM : BLOCK, INDEX % UNIFORMS, 0, below(3))
                 : op_of(at, count, warp ? LOAD_UNIFORM : LOAD, INDEX % UNIFORMS, 0, below(WORDS));
    for (uint32_t i = 0; i < (once ? 1 : 2); i++) {
        const uint32_t shift = shifts[below(sizeof shifts / sizeof *shifts)];
        const uint8_t from = i ? 2 : INDEX % UNIFORMS;
        *ops = op_of(at, count, warp ? SHIFT_UNIFORM : SHIFT, 3, from, shift);
        if (below(2)) {
            ops->kind = warp ? SCALE_UNIFORM : SCALE;
            ops->number = 1 + below(4);
            ops->b = from;
        }
        ops++;
        *ops = op_of(at, count, warp ? TABLE_UNIFORM : TABLE, 2, 3, below(WORDS));
        ops->size = sizes[below(once ? sizeof sizes : 3)];
        ops++;
    }
}

/* What is read lies at one of a few places: numbers that guards and choices write. */
static void make_choice(struct program *program)
{
    enum { LENGTH = 7 };
    static const uint8_t of_threads[] = {NUMBER,        NUMBER,     NUMBER, SELECT_NUMBER,
                                         SELECT_NUMBER, ADD_NUMBER, MOVE,   ADD},
                         of_warp[] = {NUMBER_UNIFORM,    NUMBER_UNIFORM, NUMBER_UNIFORM,
                                      SELECT_WARP,       SELECT_WARP,    NUMBER_UNIFORM,
                                      SHIFT_ADD_UNIFORM, SCALE_UNIFORM};
    static const uint8_t sizes[] = {1, 2, 4, 8};
    const bool warp = below(2);
    const uint32_t at = below(program->count - LENGTH - 1);
    struct op *ops = program->ops + at;
    for (uint32_t i = 0; i < LENGTH; i++) {
        ops[i] = op_make(at + i, program->count);
        ops[i].kind = warp ? of_warp[below(sizeof of_warp)] : of_threads[below(sizeof of_threads)];
        ops[i].to = (uint8_t)below(2);
        ops[i].a = (uint8_t)below(2);
        ops[i].b = (uint8_t)below(2);
        ops[i].number = below(4) ? 4 * below(4) : below(2) ? below(32) : small();
        if (i < 2) /* both are numbers first */
            ops[i] = (struct op){.kind = warp ? NUMBER_UNIFORM : NUMBER,
                                 .to = (uint8_t)i,
                                 .guard = NO_PREDICATE,
                                 .number = 4 * below(4)};
    }
    ops[LENGTH - 1].kind = warp ? TABLE_UNIFORM : TABLE;
    ops[LENGTH - 1].to = 2;
    ops[LENGTH - 1].size = sizes[below(sizeof sizes)];
    ops[LENGTH - 1].number = below(WORDS);
}

/* Most begin with comparisons of parameters, and with threads that reconverge at the end. */
static void make(struct program *program)
{
    uint32_t at = 0;
    program->count = 10 + below(OPS_MOST - 10);
    for (uint32_t i = 0; i < program->count; i++)
        program->ops[i] = op_make(i, program->count);
    for (uint8_t i = 0; i < BARRIERS; i++)
        program->ops[at++] = (struct op){.kind = RECONVERGE,
                                         .a = i,
                                         .guard = NO_PREDICATE,
                                         .target = program->count - 1 - below(3)};
    for (uint8_t i = 0; below(8) && i < PREDICATES; i++) {
        program->ops[at++] =
            (struct op){.kind = LOAD, .to = i, .number = below(WORDS), .guard = NO_PREDICATE};
        program->ops[at] = op_make(at, program->count);
        program->ops[at].kind = COMPARE_NUMBER;
        program->ops[at].a = program->ops[at].predicate = i;
        program->ops[at].number = small();
        program->ops[at++].guard = NO_PREDICATE;
    }
    if (below(2))
        make_lesser(program);
    if (below(2))
        make_table(program);
    if (below(2))
        make_choice(program);
    if (below(16) == 0)
        program->ops[below(program->count)] = op_of(0, program->count, TABLE, 0, 1, below(WORDS));
    program->ops[program->count - 1] = (struct op){.kind = EXIT, .guard = NO_PREDICATE};
}

/* ---- Runs ---- */

enum { STEPS_MOST = 300, CALLS_MOST = 8 };

struct machine {
    uint32_t at, registers[REGISTERS], uniforms[UNIFORMS + 1], reconverge[BARRIERS];
    bool predicates[PREDICATES], uniform_predicates[PREDICATES];
    uint32_t calls[CALLS_MOST], call_count;
    const uint32_t *parameters;
    uint32_t block[3];
    uint32_t read;  /* a bit for each word */
    uint64_t loads; /* a hash of what they had, by steps */
    bool ended;
};

static uint32_t load(struct machine *machine, uint32_t word)
{
    machine->read |= 1u << word;
    machine->loads = (machine->loads ^ machine->parameters[word]) * 0x9e3779b97f4a7c15u;
    return machine->parameters[word];
}

static uint32_t load_at(struct machine *machine, uint32_t at, uint32_t bytes)
{
    uint32_t value = 0;
    memcpy(&value, (const char *)machine->parameters + at, bytes);
    for (uint32_t i = 0; i < bytes; i++)
        machine->read |= 1u << (at + i) / 4;
    machine->loads = (machine->loads ^ value) * 0x9e3779b97f4a7c15u;
    return value;
}

/* No program looks beyond an array that it was given: the run is over. */
static void run_table(struct machine *machine, const struct op *op, uint32_t *registers)
{
    const uint32_t at = op->number * 4 + registers[op->a];
    machine->ended = at >= WORDS * 4 || WORDS * 4 - at < op->size;
    if (machine->ended)
        return;
    registers[op->to] = load_at(machine, at, op->size < 4 ? op->size : 4);
    if (op->size == 8)
        registers[op->to + 1] = load_at(machine, at + 4, 4);
}

static bool is_half_number(uint32_t half)
{
    return (half & 0x7fff) <= 0x7c00;
}

static bool is_so(const struct op *op, uint32_t a, uint32_t b)
{
    const bool less = op->is_signed ? (int32_t)a < (int32_t)b : a < b;
    return op->comparison >> (less ? 0 : a == b ? 1 : 2) & 1;
}

static void randomize(struct machine *machine)
{
    for (uint32_t i = 0; i < REGISTERS; i++)
        machine->registers[i] = small();
    for (uint32_t i = 0; i < UNIFORMS; i++)
        machine->uniforms[i] = small();
    for (uint32_t i = 0; i < PREDICATES; i++) {
        machine->predicates[i] = below(2);
        machine->uniform_predicates[i] = below(2);
    }
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void run_value(struct machine *machine, const struct op *op)
{
    uint32_t *r = machine->registers, *u = machine->uniforms;
    switch ((enum op_kind)op->kind) {
    case LOAD64:
        r[op->to + 1] = load(machine, op->number + 1);
        r[op->to] = load(machine, op->number);
        break;
    case LOAD:
    case MOVE_BANK:
        r[op->to] = load(machine, op->number);
        break;
    case LOAD_BYTE:
        r[op->to] = load(machine, op->number) & 0xff;
        break;
    case LOAD64_UNIFORM:
        u[op->to + 1] = load(machine, op->number + 1);
        u[op->to] = load(machine, op->number);
        break;
    case LOAD_UNIFORM:
        u[op->to] = load(machine, op->number);
        break;
    case NUMBER:
        r[op->to] = op->number;
        break;
    case NUMBER_UNIFORM:
        u[op->to] = op->number;
        break;
    case MOVE:
        r[op->to] = r[op->a];
        break;
    case DOWN:
        r[op->to] = u[op->a];
        break;
    case UP:
        u[op->to] = r[op->a];
        break;
    case ADD:
        r[op->to] = r[op->a] + r[op->b];
        break;
    case ADD_NUMBER:
        r[op->to] = r[op->a] + op->number;
        break;
    case ADD_BANK:
        r[op->to] = r[op->a] + (op->holds ? 1u : -1u) * load(machine, op->number);
        break;
    case ADD_THREE:
        r[op->to] = r[op->a] + r[op->b] + r[op->number % UNIFORMS];
        break;
    case SELECT:
        r[op->to] = machine->predicates[op->predicate] ? r[op->a] : r[op->b];
        break;
    case AND:
        r[op->to] = r[op->a] & op->number;
        break;
    case COMPARE:
        machine->predicates[op->predicate] = is_so(op, r[op->a], r[op->b]);
        break;
    case COMPARE_NUMBER:
        machine->predicates[op->predicate] = is_so(op, r[op->a], op->number);
        break;
    case COMPARE_BANK:
        machine->predicates[op->predicate] = is_so(op, r[op->a], load(machine, op->number));
        break;
    case COMPARE_UNIFORM:
        machine->predicates[op->predicate] = is_so(op, r[op->a], u[op->b]);
        break;
    case COMPARE_WARP:
        machine->uniform_predicates[op->predicate] = is_so(op, u[op->a], op->number);
        break;
    case SELECT_NUMBER:
        r[op->to] = machine->predicates[op->predicate] == op->holds ? r[op->a] : op->number;
        break;
    case SELECT_WARP:
        u[op->to] = machine->uniform_predicates[op->predicate] == op->holds ? u[op->a] : op->number;
        break;
    case LESSER:
        r[op->to] = lesser(r[op->a], op->number);
        break;
    case LESSER_UNIFORM:
        u[op->to] = lesser(u[op->a], op->number);
        break;
    case LESSER_SUM:
        r[op->to] = lesser(r[op->a] + r[op->b], op->number);
        break;
    case BLOCK:
        r[op->to] = machine->block[op->number % 3];
        break;
    case BLOCK_UNIFORM:
        u[op->to] = machine->block[op->number % 3];
        break;
    case HALVES:
        r[op->to] = is_half_number(op->number) && is_half_number(op->number >> 16) ? op->number
                                                                                   : 0x7fff7fff;
        break;
    case SHIFT:
        r[op->to] = r[op->a] << op->number % 32;
        break;
    case SHIFT_UNIFORM:
        u[op->to] = u[op->a] << op->number % 32;
        break;
    case SHIFT_ADD:
        r[op->to] = (r[op->a] << op->number % 32) + r[op->b];
        break;
    case SHIFT_ADD_UNIFORM:
        u[op->to] = (u[op->a] << op->number % 32) + u[op->b];
        break;
    case SCALE:
        r[op->to] = r[op->a] * op->number + r[op->b];
        break;
    case SCALE_UNIFORM:
        u[op->to] = u[op->a] * op->number + u[op->b];
        break;
    case MULTIPLY:
        r[op->to] = r[op->a] * r[op->b] + r[op->number % UNIFORMS];
        break;
    case COMPARE_BOTH:
        machine->predicates[op->predicate] = is_so(op, r[op->a], op->number);
        machine->predicates[1 - op->predicate] = !machine->predicates[op->predicate];
        break;
    case SET:
        machine->predicates[op->predicate] = below(2);
        break;
    case ANYTHING:
        randomize(machine);
        break;
    case CLEAR_BARRIER:
        r[op->to] = small();
        break;
    default:
        break;
    }
}

static void run_control(struct machine *machine, const struct op *op)
{
    switch ((enum op_kind)op->kind) {
    case BRANCH_IF:
        if (machine->predicates[op->b] == op->holds)
            machine->at = op->target;
        break;
    case BRANCH_WARP:
        if (machine->uniform_predicates[op->b] == op->holds)
            machine->at = op->target;
        break;
    case BRANCH:
        machine->at = op->target;
        break;
    case CALL:
        machine->ended = machine->call_count == CALLS_MOST;
        if (!machine->ended)
            machine->calls[machine->call_count++] = machine->at;
        machine->at = op->target;
        break;
    case RETURN:
        machine->ended = machine->call_count == 0;
        if (!machine->ended)
            machine->at = machine->calls[--machine->call_count];
        break;
    case RECONVERGE:
        machine->reconverge[op->a] = op->target + 1;
        break;
    case MOVE_BARRIER:
        machine->reconverge[op->a] = machine->reconverge[1 - op->a];
        break;
    case CLEAR_BARRIER: /* threads go on as they did, or wherever others do */
        if (below(2))
            machine->reconverge[op->a] = machine->reconverge[1 - op->a];
        break;
    case WAIT:
        machine->ended = machine->reconverge[op->a] == 0;
        machine->at = machine->reconverge[op->a] - 1;
        break;
    case EXIT:
        machine->ended = true;
        break;
    default:
        break;
    }
}

/* What it reads, of one block. */
static struct machine run(const struct program *program, const struct reads_launch *launch)
{
    struct machine machine = {.parameters = launch->parameters};
    randomize(&machine);
    for (uint32_t i = 0; i < 3; i++)
        machine.block[i] = below(launch->grid[i]);
    for (uint32_t steps = 0; steps < STEPS_MOST && !machine.ended; steps++) {
        const struct op *op = &program->ops[machine.at++];
        const bool *predicates = is_uniform(op) ? machine.uniform_predicates : machine.predicates;
        if (op->guard != NO_PREDICATE && predicates[op->guard] != op->guard_holds)
            continue;
        run_value(&machine, op);
        if (op->kind == TABLE || op->kind == TABLE_UNIFORM)
            run_table(&machine, op, op->kind == TABLE ? machine.registers : machine.uniforms);
        run_control(&machine, op);
    }
    return machine;
}

/* ---- Tests ---- */

static const uint32_t architectures[] = {80, 90, 100};

enum { LAUNCHES = 12, RUNS = 6, RUNS_OF_FAILED = 200 };

/* Whether it reads a word or byte that the analysis excludes: then it may do something else when
 * those are cleared. */
static bool does_more(const struct program *program, const struct reads_launch *launch,
                      const struct reads_launch *cleared, uint32_t read)
{
    const uint64_t before = seed;
    const struct machine as_is = run(program, launch);
    seed = before;
    const struct machine other = run(program, cleared);
    return (as_is.read & ~read) || other.read != as_is.read || other.loads != as_is.loads;
}

/* Counts words that the analysis excludes for a launch; no run reads one of them. */
static bool is_wrong(const struct program *program, uint32_t runs, bool *known, size_t *unread)
{
    struct reads *reads = find(program);
    bool wrong = false;
    *known = reads;
    *unread = 0;
    for (uint32_t launch = 0; reads && !wrong && launch < LAUNCHES; launch++) {
        uint32_t parameters[WORDS], left[WORDS], read;
        const struct reads_launch as_is = {
            parameters, sizeof parameters, {1 + below(4), 1 + below(4), 1 + below(4)}};
        struct reads_launch cleared = as_is;
        cleared.parameters = left;
        for (uint32_t i = 0; i < WORDS; i++)
            parameters[i] = below(2) ? small() : below(0x10000) * 0x10001;
        memcpy(left, parameters, sizeof left);
        reads_given(reads, &as_is, &read);
        reads_cleared(reads, &as_is, left);
        *unread += (size_t)(WORDS - __builtin_popcount(read));
        for (uint32_t i = 0; i < runs; i++)
            wrong |= does_more(program, &as_is, &cleared, read);
    }
    free(reads);
    return wrong;
}

static void program_shrink(struct program *program)
{
    bool known;
    size_t unread;
    for (uint32_t i = 0; i + 1 < program->count; i++) {
        const struct op op = program->ops[i];
        program->ops[i] = (struct op){.kind = NOTHING, .guard = NO_PREDICATE};
        if (!is_wrong(program, RUNS_OF_FAILED, &known, &unread))
            program->ops[i] = op;
    }
}

static void program_print(const struct program *program)
{
    for (uint32_t i = 0; i < program->count; i++) {
        const struct op *op = &program->ops[i];
        if (op->kind != NOTHING)
            print_message("%2u: kind %2u to %u a %u b %u number %x predicate %u comparison %u "
                          "signed %u holds %u guard %u/%u target %u size %u\n",
                          i, op->kind, op->to, op->a, op->b, op->number, op->predicate,
                          op->comparison, op->is_signed, op->holds, op->guard, op->guard_holds,
                          op->target, op->size);
    }
}

static uint32_t programs = 60000;

static void no_word_is_missing(void **state)
{
    (void)state;
    size_t known_count = 0, unread_count = 0;
    struct program program;
    for (uint32_t round = 1; round <= programs; round++) {
        bool known;
        size_t unread;
        seed = round * 0xd1342543de82ef95u;
        code_architecture = architectures[round % 3];
        make(&program);
        if (is_wrong(&program, RUNS, &known, &unread)) {
            program_shrink(&program);
            print_message("program %u\n", round);
            program_print(&program);
            fail();
        }
        known_count += known;
        unread_count += unread;
    }
    print_message("%zu of %u programs known, %.1f of %u words of a launch are not read\n",
                  known_count, programs,
                  (double)unread_count / (double)(known_count ? known_count * LAUNCHES : 1), WORDS);
    assert_true(known_count > programs / 8);
}

/* Nothing beside the code is read, and an answer comes. */
static void any_bytes_are_survived(void **state)
{
    (void)state;
    enum { BYTES_MOST = 600 };
    seed = 1;
    for (uint32_t round = 0; round < 20000; round++) {
        const uint32_t bytes = below(BYTES_MOST);
        code_architecture = architectures[round % 3];
        uint8_t *code = malloc(bytes + 1);
        assert_non_null(code);
        for (uint32_t i = 0; i < bytes; i++)
            code[i] = (uint8_t)below(256);
        for (uint32_t i = 0; i + INSTRUCTION_BYTES <= bytes; i += INSTRUCTION_BYTES) {
            const struct op op = op_make(i / INSTRUCTION_BYTES, bytes / INSTRUCTION_BYTES);
            const struct instruction near = instruction_of(&op, i / INSTRUCTION_BYTES);
            if (below(2) == 0)
                memcpy(code + i, &near, sizeof near);
        }
        free(branches_find(code, bytes, code_architecture, PARAMETERS_AT, 1 + below(100)));
        free(code);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_word_is_missing),
        cmocka_unit_test(any_bytes_are_survived),
    };
    if (argc > 1)
        programs = (uint32_t)strtoul(argv[1], NULL, 10);
    return cmocka_run_group_tests_name("branches_random", tests, NULL, NULL);
}
