/* Runs programs of map_uses_program.h and checks that the analysis found each copy. */
#ifndef TESTS_UNIT_SASS_MAP_USES_MACHINE_H
#define TESTS_UNIT_SASS_MAP_USES_MACHINE_H

#include "tests/unit/sass/map_uses_program.h"
#include "runtime/sass/map_uses.h"

enum { STEPS_MOST = 150, CALLS_MOST = 8, BANK_BYTES = 1 << 16, POINTED_BYTES = 1 << 16 };

struct machine {
    uint64_t bank, pointers[2]; /* addresses of maps */
    uint32_t uniforms[UNIFORMS], threads[THREADS], frame[WORDS];
    bool uniform_predicates[PREDICATES], predicates[PREDICATES];
    uint32_t reconverge[BARRIERS]; /* plus one */
    uint32_t calls[CALLS_MOST], call_count;
    uint32_t at;
    bool ended;
};

static uint32_t half_of(uint64_t address, uint32_t half)
{
    return (uint32_t)(address >> 32 * half);
}

static uint32_t constant_of(const struct machine *machine, uint32_t at)
{
    const uint32_t half = at / 4 % 2, of = at & ~7u;
    return half_of(of == BANK_ADDRESS_AT         ? machine->bank
                   : of == PARAMETERS_ADDRESS_AT ? machine->bank + PARAMETERS_AT
                                                 : machine->pointers[of == OTHER_POINTER_AT],
                   half);
}

/* The upper half is none that is rounded down: nothing makes one by that (step.h). */
static uint64_t some_address(uint32_t high)
{
    const uint64_t upper = (high + below(1 << 12)) | 1;
    return upper << 32 | (uint64_t)below(0xfff) << 20 | (uint64_t)below(1 << 10) << 8;
}

static void machine_start(struct machine *machine)
{
    *machine = (struct machine){.bank = some_address(0x10000),
                                .pointers = {some_address(0x20000), some_address(0x30000)}};
    for (uint32_t i = 0; i < UNIFORMS; i++)
        machine->uniforms[i] = half_of(machine->pointers[0], i % 2);
    for (uint32_t i = 0; i < THREADS; i++)
        machine->threads[i] = half_of(machine->pointers[1], i % 2);
    for (uint32_t i = 0; i < WORDS; i++)
        machine->frame[i] = half_of(machine->pointers[1], i % 2);
    for (uint32_t i = 0; i < PREDICATES; i++) {
        machine->predicates[i] = below(2);
        machine->uniform_predicates[i] = below(2);
    }
}

static void sum_write(struct machine *machine, const struct op *op, uint64_t sum, bool carries_out)
{
    machine->uniforms[op->to] = (uint32_t)sum;
    if (carries_out)
        machine->uniform_predicates[op->predicate] = sum >> 32 & 1;
}

static uint64_t pair_of(const struct machine *machine, uint32_t number)
{
    return machine->uniforms[number] | (uint64_t)machine->uniforms[number + 1] << 32;
}

static void pair_write(struct machine *machine, uint32_t number, uint64_t value)
{
    machine->uniforms[number] = (uint32_t)value;
    machine->uniforms[number + 1] = (uint32_t)(value >> 32);
}

static uint32_t value_of(enum op_kind kind, uint32_t a, uint32_t b, uint32_t number)
{
    switch (kind) {
    case AND:
    case AND_DOWN:
        return a & number;
    case XOR:
    case XOR_DOWN:
        return a ^ b;
    case SHIFT:
        return a << number % 32;
    case PERMUTE:
    case PERMUTE_DOWN:
        return number % 2 ? b : a;
    case SHIFT_ADD:
    case SHIFT_ADD_DOWN:
        return (a << number % 32) + b;
    case PRODUCT_ADD:
    case PRODUCT_ADD_DOWN:
        return a * number + b;
    case ADD_DOWN:
        return a + b;
    default: /* ADD_NUMBER_DOWN */
        return a + number;
    }
}

/* What the uniform data path does. */
static void run_uniform(struct machine *machine, const struct op *op)
{
    uint32_t *const to = &machine->uniforms[op->to];
    const uint64_t a = machine->uniforms[op->a], b = machine->uniforms[op->b];
    const bool predicate = machine->uniform_predicates[op->predicate];
    switch ((enum op_kind)op->kind) {
    case LOAD:
        *to = constant_of(machine, op->number);
        break;
    case LOAD64:
        to[0] = constant_of(machine, op->number);
        to[1] = constant_of(machine, op->number + 4);
        break;
    case NUMBER:
        *to = op->number;
        break;
    case MOVE:
        *to = (uint32_t)a;
        break;
    case ADD:
        sum_write(machine, op, a + b, true);
        break;
    case ADD_NUMBER:
        sum_write(machine, op, a + op->number, true);
        break;
    case ADD_X:
        sum_write(machine, op, a + b + predicate, false);
        break;
    case ADD_X_NUMBER:
        sum_write(machine, op, a + op->number + predicate, false);
        break;
    case ADD64:
        pair_write(machine, op->to, pair_of(machine, op->a) + pair_of(machine, op->b));
        break;
    case ADD64_NUMBER:
        pair_write(machine, op->to,
                   pair_of(machine, op->a) + (uint64_t)(int64_t)(int32_t)op->number);
        break;
    case SELECT:
        *to = (uint32_t)(predicate ? a : b);
        break;
    case SELECT_NUMBER:
        *to = predicate ? (uint32_t)a : op->number;
        break;
    case AND:
    case XOR:
    case SHIFT:
    case PERMUTE:
    case SHIFT_ADD:
    case PRODUCT_ADD:
        *to = value_of((enum op_kind)op->kind, (uint32_t)a, (uint32_t)b, op->number);
        break;
    case ELEMENT: /* the analysis excludes a negative index (map_uses.h) */
        machine->ended |= a * op->number > INT32_MAX;
        pair_write(machine, op->to, a * op->number + pair_of(machine, op->b));
        break;
    case SET_UNIFORM:
        machine->uniform_predicates[op->predicate] = below(2);
        break;
    default:
        break;
    }
}

static void run_thread(struct machine *machine, const struct op *op)
{
    uint32_t word;
    switch ((enum op_kind)op->kind) {
    case MOVE_DOWN:
        machine->threads[op->to] = machine->uniforms[op->a];
        break;
    case MOVE_UP:
        machine->uniforms[op->to] = machine->threads[op->a];
        break;
    case MOVE_ACROSS:
        machine->threads[op->to] = machine->threads[op->a];
        break;
    case AND_DOWN:
    case XOR_DOWN:
    case PERMUTE_DOWN:
    case SHIFT_ADD_DOWN:
    case PRODUCT_ADD_DOWN:
    case ADD_DOWN:
    case ADD_NUMBER_DOWN:
        machine->threads[op->to] = value_of((enum op_kind)op->kind, machine->threads[op->a],
                                            machine->threads[op->b], op->number);
        break;
    case SELECT_DOWN:
        machine->threads[op->to] =
            machine->threads[machine->predicates[op->predicate] ? op->a : op->b];
        break;
    case STORE_INDEXED:
        machine->frame[below(WORDS)] = machine->threads[op->a];
        break;
    case RESTORE_INDEXED:
        word = 2 * below(WORDS / 2);
        machine->threads[op->to + 1] = machine->frame[word + 1];
        machine->threads[op->to] = machine->frame[word];
        break;
    case STORE64:
        machine->frame[op->to + 1] = machine->threads[op->a + 1];
        machine->frame[op->to] = machine->threads[op->a];
        break;
    case STORE:
        machine->frame[op->to] = machine->threads[op->a];
        break;
    case RESTORE64:
        machine->threads[op->to + 1] = machine->frame[op->a + 1];
        machine->threads[op->to] = machine->frame[op->a];
        break;
    case RESTORE:
        machine->threads[op->to] = machine->frame[op->a];
        break;
    case ELECT:
        machine->predicates[op->predicate] = true;
        break;
    case SET:
        machine->predicates[op->predicate] = below(2);
        break;
    default:
        break;
    }
}

static void run_control(struct machine *machine, const struct op *op)
{
    switch ((enum op_kind)op->kind) {
    case BRANCH_IF:
        if (machine->predicates[op->predicate] != op->holds)
            break;
        machine->at = op->target;
        break;
    case BRANCH:
        machine->at = op->target;
        break;
    case CALL:
        if (machine->call_count == CALLS_MOST)
            machine->ended = true;
        else
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

static bool is_of(const struct map_use *use, uint64_t offset)
{
    const int64_t ahead = (int64_t)offset - (int32_t)use->offset; /* arrays may begin before */
    return use->every ? ahead >= 0 && ahead % use->every == 0 : ahead == 0;
}

/* False: it copies through what the maps do not have. Another address than a map's faults. */
static bool run_copy(struct machine *machine, const struct op *op, const struct map_uses *maps)
{
    const uint64_t address = pair_of(machine, op->a);
    machine->ended = true;
    for (int i = 0; i < 2; i++)
        if (address % 64 == 0 && address - machine->pointers[i] < POINTED_BYTES)
            return false;
    if (address % 64 || address - machine->bank >= BANK_BYTES)
        return true;
    machine->ended = false;
    for (uint32_t i = 0; i < maps->count; i++)
        if (is_of(&maps->uses[i], address - machine->bank) &&
            (maps->uses[i].copies & 1 << (op->kind - COPY_READS)))
            return true;
    return false;
}

/* Counts copies that it has. */
static bool run(const struct program *program, const struct map_uses *maps, size_t *copies)
{
    struct machine machine;
    machine_start(&machine);
    for (uint32_t steps = 0; steps < STEPS_MOST && !machine.ended; steps++) {
        const struct op *op = &program->ops[machine.at++];
        const bool *predicates =
            op->kind < FIRST_OF_THREADS ? machine.uniform_predicates : machine.predicates;
        if (op->guard != NO_PREDICATE && predicates[op->guard] != op->guard_holds)
            continue;
        if (op->kind >= COPY_READS && op->kind <= COPY_REDUCES) {
            if (!run_copy(&machine, op, maps))
                return false;
            *copies += !machine.ended;
        }
        run_uniform(&machine, op);
        run_thread(&machine, op);
        run_control(&machine, op);
    }
    return true;
}

#endif
