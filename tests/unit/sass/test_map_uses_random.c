/* Compares the constants that the analysis reports as tensor maps of copies with random programs
 * that run: no copy that a run makes may be missing. Usage: test_map_uses_random [PROGRAMS] */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/sass/map_uses_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Random programs ---- */

static uint32_t some_number(void)
{
    static const uint32_t numbers[] = {0, 0x40, 0x80, 0x440, (uint32_t)-0x40, UINT32_MAX};
    return numbers[below(sizeof numbers / sizeof *numbers)];
}

/* What keeps a value, and what does not. */
static uint32_t some_factor(void)
{
    static const uint32_t factors[] = {0, 1, 1, 7, 0x40};
    return factors[below(sizeof factors / sizeof *factors)];
}

static uint32_t some_constant(void)
{
    const uint32_t which = below(8);
    return which == 0   ? POINTER_AT
           : which == 1 ? OTHER_POINTER_AT
           : which < 5  ? BANK_ADDRESS_AT
                        : PARAMETERS_ADDRESS_AT;
}

/* One of a few, so that values coincide. */
static uint8_t uniform_pair(void)
{
    return (uint8_t)(4 + 2 * below(3));
}

static uint8_t thread_pair(void)
{
    return (uint8_t)(2 + 2 * below(2));
}

static void put(struct program *program, struct op op)
{
    if (program->count < LAST)
        program->ops[program->count++] = op;
}

static uint8_t some_guard(void)
{
    return (uint8_t)(below(4) ? NO_PREDICATE : below(PREDICATES));
}

/* An address goes through registers of threads, and the frame, where something is made of its lower
 * half and a number, or kept at an index. */
static void put_detour(struct program *program)
{
    enum { NUMBER_IN = 10, NUMBER_DOWN = 6, AT = 2 };
    const uint8_t a = uniform_pair(), to = uniform_pair(), r = thread_pair();
    struct op made = {0};
    made.kind = (uint8_t)(XOR_DOWN + below(9));
    made.number = made.kind == ADD_NUMBER_DOWN ? some_number() : some_factor();
    made.predicate = (uint8_t)below(PREDICATES);
    made.to = r;
    made.a = made.kind == PRODUCT_ADD_DOWN || made.kind == SHIFT_ADD_DOWN ? NUMBER_DOWN : r;
    made.b = made.a == r ? NUMBER_DOWN : r;
    if (made.kind > SELECT_DOWN) {
        made.kind = below(2) ? STORE_INDEXED : RESTORE_INDEXED;
        made.to = made.kind == STORE_INDEXED ? AT : r;
        made.a = made.kind == STORE_INDEXED ? NUMBER_DOWN : AT;
    }
    const bool keeps = made.kind == STORE_INDEXED || made.kind == RESTORE_INDEXED;
    const struct op nothing = {0},
                    ops[] = {{.kind = NUMBER, .to = NUMBER_IN, .number = some_number()},
                             {.kind = MOVE_DOWN, .to = NUMBER_DOWN, .a = below(2) ? NUMBER_IN : to},
                             {.kind = MOVE_DOWN, .to = r, .a = a},
                             {.kind = MOVE_DOWN, .to = r + 1, .a = a + 1},
                             keeps ? nothing : made,
                             {.kind = STORE64, .to = AT, .a = r},
                             made.kind == STORE_INDEXED ? made : nothing,
                             {.kind = RESTORE64, .to = r, .a = AT},
                             made.kind == RESTORE_INDEXED ? made : nothing,
                             {.kind = MOVE_UP, .to = to, .a = r},
                             {.kind = MOVE_UP, .to = to + 1, .a = r + 1},
                             {.kind = (uint8_t)(COPY_READS + below(3)), .a = to}};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        struct op op = ops[i];
        op.guard = NO_PREDICATE;
        if (op.kind != NOTHING)
            put(program, op);
    }
}

/* What compilers do with both halves. */
static void put_idiom(struct program *program)
{
    enum { INDEX = 10 };
    const uint8_t to = uniform_pair(), a = uniform_pair(), b = uniform_pair(), r = thread_pair(),
                  predicate = (uint8_t)below(PREDICATES), guard = some_guard(),
                  holds = (uint8_t)below(2), word = (uint8_t)(2 * below(3));
    const uint32_t number = some_number();
    struct op op = {.guard = guard, .guard_holds = holds, .predicate = predicate, .to = to, .a = a};
    struct op high;
    op.b = b;
    op.number = number;
    switch (below(14)) {
    case 13: /* of an array */
        put(program, (struct op){.kind = below(2) ? NUMBER : AND,
                                 .to = INDEX,
                                 .a = b,
                                 .number = below(8),
                                 .guard = NO_PREDICATE});
        op.kind = ELEMENT;
        op.a = INDEX;
        op.number = 0x40 << below(3);
        put(program, op);
        return;
    case 9: /* halves change places */
        put(program, (struct op){.kind = LOAD,
                                 .to = to,
                                 .number = some_constant() + 4,
                                 .guard = guard,
                                 .guard_holds = holds});
        put(program, (struct op){.kind = LOAD,
                                 .to = to + 1,
                                 .number = some_constant(),
                                 .guard = guard,
                                 .guard_holds = holds});
        op.kind = XOR;
        for (int i = 0; i < 3; i++) {
            op.to = op.a = to + i % 2;
            op.b = to + 1 - i % 2;
            put(program, op);
        }
        return;
    case 10:
        op.kind = (uint8_t)(XOR + below(5));
        op.number = some_factor();
        high = op;
        break;
    case 11:
    case 12:
        op.kind = (uint8_t)(XOR_DOWN + below(7));
        op.number = op.kind == ADD_NUMBER_DOWN ? number : some_factor();
        op.to = r;
        op.a = thread_pair();
        op.b = thread_pair();
        high = op;
        break;
    case 0:
        op.kind = LOAD64;
        op.number = some_constant();
        put(program, op);
        return;
    case 1:
        op.kind = below(4) ? ADD64_NUMBER : ADD64;
        put(program, op);
        return;
    case 2:
        op.kind = ADD_NUMBER;
        op.guard = op.predicate == guard ? NO_PREDICATE : guard;
        high = op;
        high.kind = ADD_X_NUMBER;
        high.number = number >> 31 ? UINT32_MAX : 0;
        break;
    case 3:
        op.kind = SELECT;
        high = op;
        break;
    case 4:
        op.kind = MOVE;
        high = op;
        break;
    case 5:
        op.kind = MOVE_DOWN;
        op.to = r;
        high = op;
        break;
    case 6:
        op.kind = MOVE_UP;
        op.a = r;
        high = op;
        break;
    case 7:
        op.kind = below(2) ? STORE64 : STORE;
        op.a = r;
        op.to = word;
        high = op;
        high.kind = op.kind == STORE ? STORE : NOTHING;
        break;
    default:
        op.kind = below(2) ? RESTORE64 : RESTORE;
        op.to = r;
        op.a = word;
        high = op;
        high.kind = op.kind == RESTORE ? RESTORE : NOTHING;
        break;
    }
    high.to++;
    high.a++;
    high.b++;
    put(program, op);
    if (below(8) == 0)
        put(program, (struct op){.kind = below(4) ? below(2) ? SET : SET_UNIFORM : ELECT,
                                 .guard = NO_PREDICATE,
                                 .predicate = (uint8_t)below(PREDICATES)});
    put(program, high);
}

static bool writes_thread(uint8_t kind)
{
    return kind == MOVE_DOWN || kind == RESTORE || kind == RESTORE64 || kind == RESTORE_INDEXED ||
           (kind >= MOVE_ACROSS && kind <= SELECT_DOWN);
}

static bool reads_thread(uint8_t kind)
{
    return kind == MOVE_UP || kind == STORE || kind == STORE64 || kind == STORE_INDEXED ||
           (kind >= MOVE_ACROSS && kind <= SELECT_DOWN);
}

/* Anything, with any registers. */
static void put_any(struct program *program)
{
    struct op op = {.kind = (uint8_t)below(KINDS), .guard = some_guard()};
    const bool pairs =
        op.kind == LOAD64 || op.kind == ADD64 || op.kind == ADD64_NUMBER || op.kind == ELEMENT;
    const bool is_masked = op.kind == AND || op.kind == AND_DOWN;
    const bool loads = op.kind == LOAD || op.kind == LOAD64;
    const bool has_factor = (op.kind >= XOR && op.kind <= ELEMENT) ||
                            (op.kind >= XOR_DOWN && op.kind <= PRODUCT_ADD_DOWN);
    op.guard_holds = (uint8_t)below(2);
    op.predicate = (uint8_t)below(PREDICATES);
    op.holds = (uint8_t)below(2);
    op.number = loads        ? some_constant() + (op.kind == LOAD ? 4 * below(2) : 0)
                : is_masked  ? (uint32_t) - (64 << below(2))
                : has_factor ? some_factor()
                             : some_number();
    op.to = (uint8_t)(uniform_pair() + (pairs ? 0 : below(2)));
    op.a = (uint8_t)(uniform_pair() + (pairs || op.kind < FIRST_OF_THREADS ? 0 : below(2)));
    op.b = (uint8_t)(uniform_pair() + (pairs ? 0 : below(2)));
    if (op.kind == MOVE || op.kind == SELECT || is_masked || has_factor)
        op.a = (uint8_t)(uniform_pair() + below(2));
    if (writes_thread(op.kind))
        op.to = (uint8_t)(thread_pair() +
                          (op.kind == RESTORE64 || op.kind == RESTORE_INDEXED ? 0 : below(2)));
    if (reads_thread(op.kind)) {
        op.a = (uint8_t)(thread_pair() + (op.kind == STORE64 ? 0 : below(2)));
        op.b = (uint8_t)(thread_pair() + below(2));
    }
    if (op.kind == STORE || op.kind == STORE64 || op.kind == STORE_INDEXED)
        op.to = (uint8_t)below(WORDS - 1);
    if (op.kind == RESTORE || op.kind == RESTORE64 || op.kind == RESTORE_INDEXED)
        op.a = (uint8_t)below(WORDS - 1);
    if (op.kind == RECONVERGE || op.kind == WAIT)
        op.a = (uint8_t)below(BARRIERS);
    put(program, op);
}

static void put_copy(struct program *program)
{
    put(program, (struct op){.kind = (uint8_t)(COPY_READS + below(3)),
                             .a = uniform_pair(),
                             .guard = some_guard(),
                             .guard_holds = (uint8_t)below(2)});
}

static void put_branch(struct program *program)
{
    static const uint8_t kinds[] = {BRANCH, BRANCH_IF, BRANCH_IF, RECONVERGE};
    put(program, (struct op){.kind = kinds[below(4)],
                             .a = (uint8_t)below(BARRIERS),
                             .predicate = (uint8_t)below(PREDICATES),
                             .holds = (uint8_t)below(2),
                             .guard = some_guard(),
                             .guard_holds = (uint8_t)below(2)});
}

/* An elected thread has an address moved, if it still is one. */
static void put_election(struct program *program)
{
    const uint8_t predicate = (uint8_t)below(PREDICATES), r = thread_pair(), to = uniform_pair(),
                  from = uniform_pair();
    const struct op plain = {.guard = NO_PREDICATE, .predicate = predicate};
    struct op ops[] = {plain, plain, plain, plain, plain, plain, plain};
    static const uint8_t between[] = {NOTHING, NOTHING, SET, SET_UNIFORM, CALL, BRANCH_IF, EXIT};
    ops[0].kind = ELECT;
    ops[0].guard = below(4) ? NO_PREDICATE : predicate;
    ops[1].kind = MOVE_DOWN;
    ops[2].kind = MOVE_DOWN;
    ops[3].kind = between[below(sizeof between)];
    ops[3].holds = (uint8_t)below(2);
    ops[3].guard = ops[3].kind == EXIT ? predicate : NO_PREDICATE;
    ops[3].guard_holds = (uint8_t)below(2);
    ops[4].kind = ops[5].kind = MOVE_UP;
    ops[4].guard = ops[5].guard = predicate;
    ops[4].guard_holds = ops[5].guard_holds = 1;
    ops[6].kind = (uint8_t)(COPY_READS + below(3));
    ops[1].to = ops[4].a = r;
    ops[2].to = ops[5].a = r + 1;
    ops[1].a = from;
    ops[2].a = from + 1;
    ops[4].to = ops[6].a = to;
    ops[5].to = to + 1;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        put(program, ops[i]);
}

/* Behind the end: what is called. Returns where. */
static uint32_t put_function(struct program *program)
{
    const uint32_t at = program->count;
    for (uint32_t i = below(3); i > 0; i--)
        put_idiom(program);
    if (below(4) == 0)
        put_branch(program);
    if (below(8) == 0)
        put_any(program);
    if (program->count < OPS_MOST)
        program->ops[program->count++] = (struct op){.kind = RETURN, .guard = NO_PREDICATE};
    return at;
}

static void make(struct program *program)
{
    const uint32_t count = 4 + below(21), mischief = below(3) ? 16 : 4, branches = 4 + below(12);
    program->count = 0;
    for (uint8_t pair = 4; pair < 10; pair += 2)
        if (below(8))
            put(program, (struct op){.kind = LOAD64,
                                     .to = pair,
                                     .number = below(8) ? BANK_ADDRESS_AT : some_constant(),
                                     .guard = NO_PREDICATE});
    while (program->count < count) {
        if (below(mischief) == 0)
            put_any(program);
        else if (below(branches) == 0)
            put_branch(program);
        else if (below(16) == 0)
            put_detour(program);
        else if (below(16) == 0)
            put_election(program);
        else if (below(16) == 0)
            put(program, (struct op){.kind = CALL, .guard = some_guard()});
        else if (below(4) == 0)
            put_copy(program);
        else
            put_idiom(program);
    }
    program->ops[program->count++] = (struct op){.kind = EXIT, .guard = NO_PREDICATE};
    const uint32_t function = below(2) ? put_function(program) : program->count;
    for (uint32_t i = 0; i < program->count; i++)
        program->ops[i].target =
            program->ops[i].kind == CALL && function < program->count && below(8)
                ? function
                : below(program->count);
}

static bool find(const struct program *program, struct map_uses *maps)
{
    struct instruction code[OPS_MOST];
    for (uint32_t i = 0; i < program->count; i++) {
        const struct op *op = &program->ops[i];
        code[i] = plain_instruction(op, i);
        if (op->guard != NO_PREDICATE)
            code[i] = when(op->guard, op->guard_holds, code[i]);
    }
    return map_uses_find(maps, (const uint8_t *)code, program->count * sizeof *code);
}

/* Whether the maps are known, and a run has a copy through another one. */
static bool is_wrong(const struct program *program, uint32_t runs, bool *known, size_t *copies)
{
    struct map_uses maps;
    *copies = 0;
    *known = find(program, &maps);
    for (uint32_t i = 0; *known && i < runs; i++)
        if (!run(program, &maps, copies))
            return true;
    return false;
}

/* ---- Tests ---- */

enum { RUNS = 24, RUNS_OF_FAILED = 500 };

static void program_shrink(struct program *program)
{
    bool known;
    size_t copies;
    for (uint32_t i = 0; i + 1 < program->count; i++) {
        const struct op op = program->ops[i];
        program->ops[i] = (struct op){.kind = NOTHING, .guard = NO_PREDICATE};
        if (!is_wrong(program, RUNS_OF_FAILED, &known, &copies))
            program->ops[i] = op;
    }
}

static void program_print(const struct program *program)
{
    for (uint32_t i = 0; i < program->count; i++) {
        const struct op *op = &program->ops[i];
        if (op->kind != NOTHING)
            print_message("%2u: kind %2u to %u a %u b %u number %x predicate %u/%u guard %u/%u "
                          "target %u\n",
                          i, op->kind, op->to, op->a, op->b, op->number, op->predicate, op->holds,
                          op->guard, op->guard_holds, op->target);
    }
}

static uint32_t programs = 30000;

static void no_copy_is_missing(void **state)
{
    (void)state;
    size_t known_count = 0, copying = 0;
    struct program program;
    for (uint32_t round = 1; round <= programs; round++) {
        bool known;
        size_t copies;
        seed = round * 0xd1342543de82ef95u;
        make(&program);
        if (is_wrong(&program, RUNS, &known, &copies)) {
            program_shrink(&program);
            print_message("program %u\n", round);
            program_print(&program);
            fail();
        }
        known_count += known;
        copying += copies > 0;
    }
    print_message("%zu of %u programs known, %zu of them copy\n", known_count, programs, copying);
    assert_true(copying > programs / 8);
}

/* Nothing beside the code is read, and an answer comes. */
static void any_bytes_are_survived(void **state)
{
    (void)state;
    enum { BYTES_MOST = 600 };
    seed = 1;
    for (uint32_t round = 0; round < 20000; round++) {
        const uint32_t bytes = below(BYTES_MOST);
        struct map_uses maps;
        uint8_t *code = malloc(bytes + 1);
        assert_non_null(code);
        for (uint32_t i = 0; i < bytes; i++)
            code[i] = (uint8_t)below(256);
        for (uint32_t i = 0; i + INSTRUCTION_BYTES <= bytes; i += INSTRUCTION_BYTES) {
            struct instruction near = bra(i / INSTRUCTION_BYTES, below(bytes / INSTRUCTION_BYTES));
            if (below(4) == 0)
                memcpy(code + i, &near, sizeof near);
        }
        map_uses_find(&maps, code, bytes);
        free(code);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_copy_is_missing),
        cmocka_unit_test(any_bytes_are_survived),
    };
    if (argc > 1)
        programs = (uint32_t)strtoul(argv[1], NULL, 10);
    return cmocka_run_group_tests_name("map_uses_random", tests, NULL, NULL);
}
