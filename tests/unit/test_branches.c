/* Which parameters code reads by the branches that parameters decide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/tracer/branches.h"
#include "sm90_code.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 16, P = PARAMETERS_AT };
enum { LESS = 1, EQUAL = 2, GREATER = 4, NOT_EQUAL = 5, GREATER_EQUAL = 6 };
#define ALL UINT32_MAX

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define WORD(n)      (P + 4 * (n))

/* A bit for each word that a launch reads whose word 0 is that, and the others 0; ALL: branches
 * tell nothing. */
static uint32_t read_of(const struct instruction *instructions, size_t count, uint32_t first)
{
    const uint32_t parameters[WORDS] = {first};
    uint32_t read = ALL;
    struct reads *reads =
        branches_find((const uint8_t *)instructions, count * sizeof *instructions, P, WORDS);
    if (reads)
        reads_given(reads, parameters, sizeof parameters, &read);
    free(reads);
    return read;
}

#define READ(first, ...)                                                                           \
    read_of((const struct instruction[]){__VA_ARGS__},                                             \
            COUNT(((const struct instruction[]){__VA_ARGS__})), first)

/* Word 0 is compared, by the instructions given, to P0; where it holds word 1 is not read. */
#define LEAVES(first, ...)                                                                         \
    (READ(first, ldc(2, WORD(0)), __VA_ARGS__, when(0, 1, exits()), ldc(3, WORD(1)), exits()) == 1)

static void what_is_branched_over_is_not_read(void **state)
{
    (void)state;
    const struct instruction code[] = {ldc(8, WORD(0)), /* how many there are */
                                       isetp_number(0, EQUAL, 1, 8, 0),
                                       when(0, 1, bra(2, 9)), /* */
                                       ldc(4, WORD(1)),       /* the first */
                                       isetp_number(0, EQUAL, 1, 8, 1),
                                       when(0, 1, bra(5, 9)), /* */
                                       uldc64(4, WORD(2)),    /* the second, of two words */
                                       isetp_number(0, NOT_EQUAL, 1, 8, 2),
                                       when(0, 0, bra(8, 10)), /* */
                                       ldc(9, WORD(6)),
                                       exits()};
    assert_int_equal(read_of(code, COUNT(code), 0), 1 << 6 | 1);
    assert_int_equal(read_of(code, COUNT(code), 1), 1 << 6 | 3);
    assert_int_equal(read_of(code, COUNT(code), 2), 0xf);
    assert_int_equal(read_of(code, COUNT(code), 3), 1 << 6 | 0xf);
}

static void an_exit_is_a_branch(void **state)
{
    (void)state;
    assert_true(LEAVES(5, isetp_number(0, EQUAL, 1, 2, 5)));
    assert_false(LEAVES(4, isetp_number(0, EQUAL, 1, 2, 5)));
    assert_int_equal(READ(5, ldc(2, WORD(0)), isetp_number(0, EQUAL, 1, 2, 5), when(0, 0, exits()),
                          ldc(3, WORD(1)), exits()),
                     3);
}

/* Copies of it, and sums with numbers. */
static void values_are_followed(void **state)
{
    (void)state;
    assert_true(LEAVES(5, mov(3, 2), isetp_number(0, EQUAL, 1, 3, 5)));
    assert_true(LEAVES(5, viadd_number(3, 2, -1u), isetp_number(0, EQUAL, 1, 3, 4)));
    assert_true(LEAVES(0, viadd_number(3, 2, -1u), isetp_number(0, GREATER, 0, 3, 24)));
    assert_false(LEAVES(0, viadd_number(3, 2, -1u), isetp_number(0, GREATER, 1, 3, 24)));
    assert_true(LEAVES(5, mov_number(3, 7), iadd3(3, 3, 2), isetp_number(0, EQUAL, 1, 3, 12)));
    assert_true(LEAVES(5, umov_number(4, 5), isetp_uniform(0, EQUAL, 1, 2, 4)));
    assert_true(LEAVES(5, uldc(4, WORD(0)), isetp_uniform(0, GREATER_EQUAL, 1, 2, 4)));
    assert_true(LEAVES(5, mov_number(3, 6), isetp_of(0, LESS, 1, 2, 3)));
    assert_true(LEAVES(5, r2ur(4, 2), mov_uniform(3, 4), isetp_number(0, EQUAL, 1, 3, 5)));
    assert_true(LEAVES(5, sel(3, 2, 2, 1), isetp_number(0, EQUAL, 1, 3, 5)));
    assert_true(READ(5, ldc64(2, WORD(0)), isetp_number(0, EQUAL, 1, 3, 0), when(0, 1, exits()),
                     ldc(3, WORD(2)), exits()) == 3);
}

static void what_is_not_known_decides_nothing(void **state)
{
    (void)state;
    /* another register, a product, a sum of two words, a choice, parts of a word */
    assert_false(LEAVES(5, isetp_number(0, EQUAL, 1, 3, 5)));
    assert_false(LEAVES(5, imad_number(3, 2, 1, 2), isetp_number(0, EQUAL, 1, 3, 10)));
    assert_false(LEAVES(5, iadd3(3, 2, 2), isetp_number(0, EQUAL, 1, 3, 10)));
    assert_false(LEAVES(5, mov_number(3, 6), sel(3, 2, 3, 1), isetp_number(0, EQUAL, 1, 3, 5)));
    assert_false(LEAVES(5, lop3_and(3, 2, 0xff), isetp_number(0, EQUAL, 1, 3, 5)));
    struct instruction carrying = iadd3(3, 2, THREAD_ZERO);
    assert_true(LEAVES(5, carrying, isetp_number(0, EQUAL, 1, 3, 5)));
    carrying.high |= 1 << 10; /* .X */
    assert_false(LEAVES(5, carrying, isetp_number(0, EQUAL, 1, 3, 5)));
    /* written by threads for which a predicate holds */
    assert_false(LEAVES(5, when(1, 1, mov_number(2, 5)), isetp_number(0, EQUAL, 1, 2, 5)));
    assert_true(LEAVES(5, when(1, 1, ldc(2, WORD(0))), isetp_number(0, EQUAL, 1, 2, 5)));
    /* the predicate is another one, or another by now, or was written for some */
    assert_false(LEAVES(5, isetp_number(1, EQUAL, 1, 2, 5)));
    assert_false(LEAVES(5, isetp_number(0, EQUAL, 1, 2, 5), isetp_of(0, EQUAL, 1, 10, 11)));
    assert_false(LEAVES(5, when(1, 1, isetp_number(0, EQUAL, 1, 2, 5))));
    assert_false(LEAVES(5, isetp_number(0, EQUAL, 1, 2, 5), elect(0)));
    /* it asks for more: .EX, by or, with a predicate */
    struct instruction asking = isetp_number(0, EQUAL, 1, 2, 5);
    asking.high |= 1 << 8;
    assert_false(LEAVES(5, asking));
    asking.high ^= 1 << 8 | 1 << 10;
    assert_false(LEAVES(5, asking));
    asking.high ^= 1 << 10 | 1 << 23;
    assert_false(LEAVES(5, asking));
    /* both predicates of one */
    asking = isetp_number(1, EQUAL, 1, 2, 5);
    asking.high &= ~(UINT64_C(7) << 20);
    assert_false(LEAVES(5, asking));
    /* an unknown instruction, which may write any */
    assert_false(LEAVES(5, isetp_number(0, EQUAL, 1, 2, 5), encoded(0x0ff, 0, 0, 0, 0)));
    assert_false(LEAVES(5, encoded(0x0ff, 0, 0, 0, 0), isetp_number(0, EQUAL, 1, 2, 5)));
}

/* What a branch may do beside its guard: BRA P, BRA.DIV, WARPSYNC. */
static void a_branch_that_asks_more_decides_nothing(void **state)
{
    (void)state;
    struct instruction branch = when(0, 1, bra(2, 4));
    assert_int_equal(
        READ(5, ldc(2, WORD(0)), isetp_number(0, EQUAL, 1, 2, 5), branch, ldc(3, WORD(1)), exits()),
        1);
    branch = when(0, 1, bra_if(2, 4, 1, 1));
    assert_int_equal(
        READ(5, ldc(2, WORD(0)), isetp_number(0, EQUAL, 1, 2, 5), branch, ldc(3, WORD(1)), exits()),
        ALL);
    branch = when(0, 1, bra(2, 4));
    branch.low |= 1 << 24;
    assert_int_equal(
        READ(5, ldc(2, WORD(0)), isetp_number(0, EQUAL, 1, 2, 5), branch, ldc(3, WORD(1)), exits()),
        ALL);
    branch.low = (branch.low & ~(UINT64_C(1) << 24 | 0x1ff)) | 0x148;
    assert_int_equal(
        READ(5, ldc(2, WORD(0)), isetp_number(0, EQUAL, 1, 2, 5), branch, ldc(3, WORD(1)), exits()),
        ALL);
}

/* Where ways meet that left different values behind. */
static void ways_are_joined(void **state)
{
    (void)state;
    for (uint32_t other = 0; other < 2; other++)
        assert_int_equal(READ(5, ldc(2, WORD(0)), when(1, 1, bra(1, 3)), ldc(2, WORD(other)),
                              isetp_number(0, EQUAL, 1, 2, 5), when(0, 1, exits()), ldc(3, WORD(1)),
                              exits()),
                         other ? ALL : 1);
    /* a loop that counts in the register */
    assert_int_equal(READ(5, ldc(2, WORD(0)), isetp_number(0, EQUAL, 1, 2, 5), when(0, 1, exits()),
                          ldc(3, WORD(1)), viadd_number(2, 2, 1), bra(5, 1)),
                     ALL);
}

/* Threads that part, and wait for each other. */
static void meetings_are_gone_on_from(void **state)
{
    (void)state;
    const struct instruction code[] = {
        bssy(0, 0, 5),   when(1, 1, bra(1, 3)),           ldc(3, WORD(1)),     bsync(0),
        ldc(3, WORD(2)), /* nobody comes here */
        ldc(2, WORD(0)), isetp_number(0, EQUAL, 1, 2, 5), when(0, 1, exits()), ldc(3, WORD(3)),
        exits()};
    assert_int_equal(read_of(code, COUNT(code), 5), 3);
    assert_int_equal(read_of(code, COUNT(code), 6), 3 | 1 << 3);
    /* what comes back from a register may be any of them */
    struct instruction moved[COUNT(code)];
    memcpy(moved, code, sizeof code);
    moved[2] = bmov_to(0, 3);
    assert_int_equal(read_of(moved, COUNT(moved), 5), 1);
    assert_int_equal(read_of(moved, COUNT(moved), 6), 1 | 1 << 3);
}

static void calls_come_back(void **state)
{
    (void)state;
    struct instruction code[] = {ldc(2, WORD(0)),
                                 call(1, 6),
                                 isetp_number(0, EQUAL, 1, 2, 5),
                                 when(0, 1, exits()),
                                 ldc(3, WORD(1)),
                                 exits(),
                                 ldc(4, WORD(2)), /* the callee */
                                 isetp_number(0, EQUAL, 1, 2, 6),
                                 when(0, 1, bra(8, 10)),
                                 ldc(4, WORD(3)),
                                 ret()};
    assert_int_equal(read_of(code, COUNT(code), 5), 1 | 1 << 2 | 1 << 3);
    assert_int_equal(read_of(code, COUNT(code), 6), 3 | 1 << 2);
    code[9] = ldc(2, WORD(3)); /* it writes the register */
    assert_int_equal(read_of(code, COUNT(code), 5), 3 | 1 << 2 | 1 << 3);
    assert_int_equal(read_of(code, COUNT(code), 6), 3 | 1 << 2);
}

static void where_nobody_knows_where_it_goes_nothing_is_told(void **state)
{
    (void)state;
    const struct instruction brx = encoded(0x949, 0, 2, 0, 0x3800000);
    assert_int_equal(READ(5, ldc(2, WORD(0)), isetp_number(0, EQUAL, 1, 2, 5), when(0, 1, exits()),
                          ldc(3, WORD(1)), brx, exits()),
                     ALL);
    /* to no instruction, and off the end */
    assert_int_equal(READ(5, ldc(2, WORD(0)), isetp_number(0, EQUAL, 1, 2, 5), when(0, 1, exits()),
                          ldc(3, WORD(1)), bra(4, 77)),
                     ALL);
    assert_int_equal(READ(5, ldc(2, WORD(0)), isetp_number(0, EQUAL, 1, 2, 5), when(0, 1, exits()),
                          ldc(3, WORD(1))),
                     ALL);
}

/* More than there is room for: nothing is told, and nothing is written beside it. */
static void too_much_is_not_told(void **state)
{
    (void)state;
    enum { MOST = 6000 };
    static struct instruction code[2 * MOST + 3];
    for (uint32_t count = 100; count <= MOST; count += 100) {
        uint32_t at = 0;
        code[at++] = ldc(2, WORD(0));
        for (uint32_t i = 0; i < count; i++) {
            code[at++] = isetp_number(0, EQUAL, 1, 2, 5 + i);
            code[at++] = when(0, 1, exits());
        }
        code[at++] = ldc(3, WORD(1));
        code[at++] = exits();
        const uint32_t read = read_of(code, at, 5), otherwise = read_of(code, at, 4);
        assert_true(read == 1 || read == ALL);
        if (count <= 400) {
            assert_int_equal(read, 1);
            assert_int_equal(otherwise, 3);
        }
    }
    assert_null(branches_find((const uint8_t *)code, 2 * sizeof *code, P, 1 << 20));
    assert_null(branches_find((const uint8_t *)code, 0, P, WORDS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_branched_over_is_not_read),
        cmocka_unit_test(an_exit_is_a_branch),
        cmocka_unit_test(values_are_followed),
        cmocka_unit_test(what_is_not_known_decides_nothing),
        cmocka_unit_test(a_branch_that_asks_more_decides_nothing),
        cmocka_unit_test(ways_are_joined),
        cmocka_unit_test(meetings_are_gone_on_from),
        cmocka_unit_test(calls_come_back),
        cmocka_unit_test(where_nobody_knows_where_it_goes_nothing_is_told),
        cmocka_unit_test(too_much_is_not_told),
    };
    return cmocka_run_group_tests_name("branches", tests, NULL, NULL);
}
