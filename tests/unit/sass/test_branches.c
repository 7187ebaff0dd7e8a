/* Which parameters code reads by the branches that parameters decide. */
#include "tests/unit/sass/branches_case.h"

#include <string.h>

/* Word 0 is compared, by the instructions given, to P0; where it holds word 1 is not read. */
#define LEAVES(first, ...)                                                                         \
    (READ(first, ldc(2, WORD(0)), __VA_ARGS__, when(0, 1, exits()), ldc(3, WORD(1)), exits()) == 1)

/* Branches narrow nothing if P0 decides an exit. */
#define UNKNOWN(...)                                                                               \
    (READ(5, ldc(2, WORD(0)), __VA_ARGS__, when(0, 1, exits()), ldc(3, WORD(3)), exits()) == ALL)

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

/* As sm_75 to sm_89 have most of their parameters. */
static void operands_of_the_bank_are_parameters(void **state)
{
    (void)state;
    const struct instruction word = of_bank(isetp_of(0, EQUAL, 1, THREAD_ZERO, 0), WORD(0)),
                             sum = of_bank(iadd3(2, 4, 0), WORD(0));
    struct instruction other = word;
    other.low |= UINT64_C(1) << 54; /* another constant bank */
#define EXITS_IF(first, ...)                                                                       \
    (READ(first, __VA_ARGS__, when(0, 1, exits()), ldc(3, WORD(1)), exits()) == 1)
    assert_true(EXITS_IF(0, word));
    assert_false(EXITS_IF(5, word));
    assert_true(EXITS_IF(5, imad_mov_bank(2, WORD(0)), isetp_number(0, EQUAL, 1, 2, 5)));
    assert_false(EXITS_IF(4, imad_mov_bank(2, WORD(0)), isetp_number(0, EQUAL, 1, 2, 5)));
    assert_true(EXITS_IF(5, mov_number(4, 1), sum, isetp_number(0, EQUAL, 1, 2, 6)));
    assert_false(EXITS_IF(5, mov_number(4, 1), sum, isetp_number(0, EQUAL, 1, 2, 5)));
    assert_false(EXITS_IF(5, mov_number(4, 1), negated(sum), isetp_number(0, EQUAL, 1, 2, 6)));
    assert_false(EXITS_IF(0, other));
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

static void a_guard_decides_what_its_instruction_reads(void **state)
{
    (void)state;
    const struct instruction loads = ldc(2, WORD(0)), is_5 = isetp_number(0, EQUAL, 1, 2, 5),
                             unknown = of_bank(encoded(0x0ff, 3, 0, 0, 0), WORD(1));
    for (uint32_t first = 4; first < 6; first++) {
        const uint32_t other = first == 5 ? 4 : 2;
        assert_int_equal(READ(first, loads, is_5, when(0, 1, ldc(3, WORD(1))),
                              when(0, 0, ldc(3, WORD(2))), exits()),
                         7 & ~other);
        assert_int_equal(READ(first, loads, is_5, when(0, 1, ldc64(4, WORD(2))), exits()),
                         first == 5 ? 13 : 1);
        assert_int_equal(READ(first, loads, is_5, when(0, 1, of_bank(iadd3(3, 4, 0), WORD(1))),
                              when(0, 1, exits()), ldc(3, WORD(3)), exits()),
                         first == 5 ? 3 : 9);
        assert_int_equal(READ(first, loads, uisetp(0), when(0, 1, uldc(3, WORD(1))), is_5,
                              when(0, 1, exits()), ldc(3, WORD(3)), exits()),
                         first == 5 ? 3 : 11); /* by another predicate, of the uniform path */
    }
    assert_int_equal(READ(4, loads, is_5, when(0, 1, unknown), exits()), ALL);
    assert_int_equal(READ(4, loads, is_5, when(0, 1, loads), when(1, 1, ldc(3, WORD(1))), exits()),
                     ALL);
}

/* Beyond some guards an instruction is taken to be done. */
static void guards_are_not_without_end(void **state)
{
    (void)state;
    enum { GUARDED = 64, GUARDS = 70 };
    struct instruction code[2 * GUARDS + 2] = {ldc(2, WORD(0))};
    size_t at = 1;
    for (uint32_t i = 0; i < GUARDS; i++) {
        code[at++] = isetp_number(0, EQUAL, 1, 2, i);
        code[at++] = when(0, 1, ldc(3, WORD(i < GUARDED ? 1 : 2)));
    }
    code[at++] = exits();
    assert_int_equal(read_of(code, at, 0), 7);
    assert_int_equal(read_of(code, at, GUARDS), 5);
}

/* Bank 2, as sm_75 to sm_89 have it. */
static void the_compilers_own_constants_are_numbers(void **state)
{
    (void)state;
    static const uint32_t numbers[] = {7, 0x12345678, 9};
    const uint64_t bank = UINT64_C(2) << 54, at_4 = UINT64_C(4) << 38;
    const struct {
        struct instruction of_bank, of_number;
    } resolved[] = {
        {{encoded(0xa02, 3, 0, 0, 0xf00).low | bank | at_4, 0xf00},
         encoded(0x802, 3, 0, 0x12345678, 0xf00)},
        {{encoded(0x624, 3, 4, 0, 0x78e0205).low | bank | at_4, 0x78e0205},
         encoded(0x424, 3, 4, 0x12345678, 0x78e0205)},
        {{when(1, 1, uldc(5, 4)).low | bank, 0x800 | UINT64_C(1) << 50},
         {when(1, 1, umov_number(5, 0x12345678)).low, UINT64_C(1) << 50}},
        {{when(2, 0, encoded(0xa10, 3, 4, 0, 0x7ffe0ff)).low | bank | at_4, 0x7ffe0ff},
         when(2, 0, encoded(0x810, 3, 4, 0x12345678, 0x7ffe0ff))},
    };
    for (size_t i = 0; i < COUNT(resolved); i++) {
        const struct instruction as_is = resolved[i].of_bank;
        struct instruction now = instruction_resolved(as_is, (const uint8_t *)numbers, 8);
        assert_memory_equal(&now, &resolved[i].of_number, sizeof now);
        now = instruction_resolved(as_is, (const uint8_t *)numbers, 7); /* it ends before */
        assert_memory_equal(&now, &as_is, sizeof now);
    }
    const struct instruction left[] = {
        of_bank(iadd3(3, 4, 0), WORD(0)),                             /* bank 0 */
        {resolved[0].of_bank.low | UINT64_C(1) << 39, 0},             /* between words */
        {resolved[0].of_bank.low | UINT64_C(1) << 63, 0},             /* with a sign */
        {resolved[0].of_bank.low | 1ull << 55 | 1ull << 54, 0},       /* bank 3 */
        {encoded(0xa20, 3, 4, 0, 0).low | bank | at_4, 0},            /* FMUL */
        {encoded(0xb82, 3, 0xff, 0, 0x800).low | bank | at_4, 0x800}, /* LDC */
        {uldc64(4, 4).low | bank, uldc64(4, 4).high},
        iadd3(3, 4, 5)};
    for (size_t i = 0; i < COUNT(left); i++) {
        const struct instruction now =
            instruction_resolved(left[i], (const uint8_t *)numbers, sizeof numbers);
        assert_memory_equal(&now, &left[i], sizeof now);
    }
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
    assert_true(LEAVES(5, hfma2_number(3, 5), isetp_of(0, EQUAL, 1, 2, 3)));
    assert_true(LEAVES(0x80007c00, hfma2_number(3, 0x80007c00), isetp_of(0, EQUAL, 1, 2, 3)));
    assert_true(UNKNOWN(hfma2_number(3, 0x7c01), isetp_of(0, EQUAL, 1, 2, 3)));
    assert_true(UNKNOWN(hfma2_number(3, 0xffff0000), isetp_of(0, EQUAL, 1, 2, 3)));
    assert_true(READ(5, ldc64(2, WORD(0)), isetp_number(0, EQUAL, 1, 3, 0), when(0, 1, exits()),
                     ldc(3, WORD(2)), exits()) == 3);
}

/* Of a parameter and a number: by one instruction, or by a comparison and a choice. */
static void the_lesser_is_followed(void **state)
{
    (void)state;
    for (uint32_t first = 20; first < 30; first++) {
        const struct instruction is_24 = isetp_number(0, EQUAL, 1, 3, 24),
                                 is_25 = isetp_number(0, EQUAL, 1, 3, 25);
        const bool expected = first >= 24;
        assert_int_equal(LEAVES(first, vimnmx_number(3, 2, 24), is_24), expected);
        assert_int_equal(LEAVES(first, vimnmx_number(3, 2, 24), viadd_number(3, 3, 1), is_25),
                         expected);
        assert_int_equal(LEAVES(first, viaddmnmx_number(3, 2, THREAD_ZERO, 24), is_24), expected);
        assert_int_equal(LEAVES(first, mov_number(4, -1u), viaddmnmx_number(3, 2, 4, 24), is_24),
                         first >= 25);
        assert_int_equal(
            LEAVES(first, isetp_number(1, LESS, 0, 2, 24), sel_number(3, 2, 24, 1), is_24),
            expected);
        assert_int_equal(LEAVES(first, isetp_number(1, GREATER_EQUAL, 0, 2, 24),
                                sel_number(3, 2, 24, 1 | 8), is_24),
                         expected);
    }
    assert_false(LEAVES(30, isetp_number(1, LESS, 1, 2, 24), sel_number(3, 2, 24, 1),
                        isetp_number(0, EQUAL, 1, 3, 24))); /* with signs */
    assert_false(LEAVES(30, isetp_number(1, GREATER, 0, 2, 24), sel_number(3, 2, 24, 1),
                        isetp_number(0, EQUAL, 1, 3, 30))); /* the greater */
    assert_false(LEAVES(30, isetp_number(1, LESS, 0, 2, 25), sel_number(3, 2, 24, 1),
                        isetp_number(0, EQUAL, 1, 3, 24))); /* of another number */
    assert_false(LEAVES(30, vimnmx_number(3, 2, 24), vimnmx_number(3, 3, 20),
                        isetp_number(0, EQUAL, 1, 3, 20))); /* of three */
    struct instruction greater = vimnmx_number(3, 2, 24), is_signed = vimnmx_number(3, 2, 24);
    greater.high |= UINT64_C(1) << 26;
    assert_false(LEAVES(30, greater, isetp_number(0, EQUAL, 1, 3, 30)));
    is_signed.high |= 0x100;
    assert_false(LEAVES(30, is_signed, isetp_number(0, EQUAL, 1, 3, 24)));
}

/* A comparison of uniform registers, and a branch of all of a warp's threads. */
#define LEAVES_AS_ONE(first, ...)                                                                  \
    (READ(first, uldc(4, WORD(0)), __VA_ARGS__, bra_uniform(2, 4, 0, 1), ldc(3, WORD(1)),          \
          exits()) == 1)

static void uniform_predicates_decide(void **state)
{
    (void)state;
    assert_true(LEAVES_AS_ONE(5, uisetp_number(0, EQUAL, 1, 4, 5)));
    assert_false(LEAVES_AS_ONE(6, uisetp_number(0, EQUAL, 1, 4, 5)));
    assert_false(LEAVES_AS_ONE(5, uisetp_number(1, EQUAL, 1, 4, 5)));
    assert_false(LEAVES_AS_ONE(5, isetp_number(0, EQUAL, 1, 4, 5)));
    const struct instruction choice[] = {uldc(4, WORD(0)),
                                         uisetp_number(0, LESS, 0, 4, 24),
                                         usel_number(5, 4, 24, 0),
                                         uisetp_number(0, EQUAL, 1, 5, 24),
                                         bra_uniform(4, 6, 0, 1),
                                         ldc(3, WORD(1)),
                                         exits()};
    assert_int_equal(read_of(choice, COUNT(choice), 24), 1);
    assert_int_equal(read_of(choice, COUNT(choice), 99), 1);
    assert_int_equal(read_of(choice, COUNT(choice), 23), 3);
}

/* UR63 is a zero before. */
static void there_are_more_uniform_registers_from_sm_100_on(void **state)
{
    (void)state;
    code_architecture = 100;
    const struct instruction code[] = {ldcu(63, WORD(0)), uisetp_number(0, EQUAL, 1, 63, 5),
                                       bra_uniform(2, 4, 0, 1), ldc(3, WORD(1)), exits()};
    assert_int_equal(read_of(code, COUNT(code), 5), 1);
    assert_int_equal(read_of(code, COUNT(code), 0), 3);
    const struct instruction none[] = {umov_number(255, 5), uisetp_number(0, EQUAL, 1, 255, 0),
                                       bra_uniform(2, 4, 0, 1), ldc(3, WORD(1)), exits()};
    assert_int_equal(read_of(none, COUNT(none), 5), ALL - ALL);
    code_architecture = 90;
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
    /* written beside another one, and twice by one instruction */
    struct instruction beside = isetp_number(1, EQUAL, 1, 2, 5);
    beside.high &= ~(UINT64_C(7) << 20);
    assert_true(UNKNOWN(isetp_number(0, EQUAL, 1, 2, 5), beside));
    beside.high &= ~(UINT64_C(7) << 17);
    assert_true(UNKNOWN(beside));
    /* an unknown instruction, which may write any */
    assert_false(LEAVES(5, isetp_number(0, EQUAL, 1, 2, 5), encoded(0x0ff, 0, 0, 0, 0)));
    assert_false(LEAVES(5, encoded(0x0ff, 0, 0, 0, 0), isetp_number(0, EQUAL, 1, 2, 5)));
}

/* What is loaded of a word, or not of the parameters, and what is written to a register before it
 * is compared. */
static void parts_and_others_decide_nothing(void **state)
{
    (void)state;
    struct instruction load = ldc(2, WORD(0)), sum = iadd3(3, 2, THREAD_ZERO);
    const struct instruction compare = isetp_number(0, EQUAL, 1, 2, 5);
    load.high = 0; /* .U8 */
    assert_true(UNKNOWN(load, compare));
    assert_true(UNKNOWN(ldc(2, WORD(0) + 2), compare));
    assert_true(UNKNOWN(ldc(2, 0), compare)); /* a block's width */
    assert_true(UNKNOWN(ldc(2, WORD(WORDS)), compare));
    sum.high = (sum.high & ~UINT64_C(0xff)) | 7; /* and a third register */
    assert_true(UNKNOWN(sum, isetp_number(0, EQUAL, 1, 3, 5)));
    assert_true(UNKNOWN(uldc64(4, WORD(0)), uiadd3_64_number(6, 4, 1), mov_uniform(3, 6),
                        isetp_number(0, EQUAL, 1, 3, 6)));
    /* HGMMA R16, and DMMA.16x8x8 R16, which writes eight */
    assert_true(UNKNOWN(mov(30, 2), encoded(0x9f0, 16, 4, 8, 0), isetp_number(0, EQUAL, 1, 30, 5)));
    assert_true(UNKNOWN(mov(22, 2), encoded(0x23f, 16, 8, 4, 16 | 2 << 12),
                        isetp_number(0, EQUAL, 1, 22, 5)));
    assert_false(UNKNOWN(mov(24, 2), encoded(0x23f, 16, 8, 4, 16 | 2 << 12),
                         isetp_number(0, EQUAL, 1, 24, 5)));
}

/* .EX, by or, by xor, with a predicate, and what nobody saw. */
static void a_comparison_that_asks_more_decides_nothing(void **state)
{
    (void)state;
    enum { HIGH_BITS = 41, FORMS = 8 };
    const uint64_t results_and_kind = 0x7e7200;
    const struct instruction plain = isetp_number(0, EQUAL, 1, 2, 5);
    assert_false(UNKNOWN(plain));
    for (uint32_t bit = 0; bit < HIGH_BITS; bit++) {
        struct instruction asking = plain;
        asking.high ^= UINT64_C(1) << bit;
        if (!(results_and_kind >> bit & 1))
            assert_true(UNKNOWN(asking));
    }
    for (uint32_t form = 0; form < FORMS; form++) {
        struct instruction other = plain;
        other.low = (other.low & ~(UINT64_C(7) << 9)) | form << 9;
        if (form != 1 && form != 4 && form != 6) /* registers, a number, a uniform register */
            assert_true(UNKNOWN(other));
    }
}

/* What is read at all of a word, and where control does not come. */
static void all_words_are_counted(void **state)
{
    (void)state;
    struct instruction two_bytes = ldc(3, WORD(3) + 3);
    two_bytes.high = 2 << 9; /* .U16 */
    const struct instruction code[] = {ldc(2, WORD(0)),     isetp_number(0, EQUAL, 1, 2, 5),
                                       when(0, 1, exits()), two_bytes,
                                       ldc(4, WORD(5)),     exits(),
                                       ldc(4, WORD(7)),     exits()};
    assert_int_equal(read_of(code, COUNT(code), 5), 1 | 1 << 7);
    assert_int_equal(read_of(code, COUNT(code), 4), 1 | 3 << 3 | 1 << 5 | 1 << 7);
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
    branch = when(0, 1, bra(2, 4));
    branch.low ^= UINT64_C(5) << 9; /* another form */
    assert_int_equal(
        READ(5, ldc(2, WORD(0)), isetp_number(0, EQUAL, 1, 2, 5), branch, ldc(3, WORD(1)), exits()),
        ALL);
    branch = when(0, 1, bra(2, 4));
    branch.low = (branch.low & ~UINT64_C(0x1ff)) | 0x148;
    assert_int_equal(
        READ(5, ldc(2, WORD(0)), isetp_number(0, EQUAL, 1, 2, 5), branch, ldc(3, WORD(1)), exits()),
        ALL);
}

/* Two paths join with different values. */
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

/* Threads that part, and wait for each other, go on behind BSYNC, and where BSSY says. */
static void control_goes_on_at_reconvergence_points(void **state)
{
    (void)state;
    const struct instruction code[] = {bssy(0, 0, 6),
                                       when(1, 1, bra(1, 3)),
                                       ldc(3, WORD(1)),
                                       bsync(0),
                                       ldc(3, WORD(2)),
                                       exits(),
                                       ldc(2, WORD(0)),
                                       isetp_number(0, EQUAL, 1, 2, 5),
                                       when(0, 1, exits()),
                                       ldc(3, WORD(3)),
                                       exits()};
    assert_int_equal(read_of(code, COUNT(code), 5), 7);
    assert_int_equal(read_of(code, COUNT(code), 6), 7 | 1 << 3);
}

/* Which of two that is, BMOV changed, or a callee. */
static void unknown_reconvergence_points_may_be_any(void **state)
{
    (void)state;
    enum { CHANGES = 5, CALLEE = 12 };
    struct instruction code[] = {ldc(2, WORD(0)),
                                 isetp_number(0, EQUAL, 1, 2, 5),
                                 when(0, 1, exits()),
                                 bssy(0, 3, 8),
                                 bssy(1, 4, 10),
                                 nop(),
                                 bsync(0),
                                 exits(),
                                 ldc(3, WORD(1)),
                                 exits(),
                                 ldc(3, WORD(2)),
                                 exits(),
                                 bssy(0, 12, 10),
                                 ret()};
    assert_int_equal(read_of(code, CALLEE, 5), 1 | 1 << 2); /* which nobody comes to: it is there */
    assert_int_equal(read_of(code, CALLEE, 6), 7);
    code[0] = ldc(2, WORD(0));
    code[11] = bra(11, 8); /* so that both are reached, or neither */
    code[10] = ldc(3, WORD(2));
    for (int by_callee = 0; by_callee < 2; by_callee++) {
        code[CHANGES] = by_callee ? call(CHANGES, CALLEE) : bmov_to(0, 3);
        const size_t count = by_callee ? COUNT(code) : CALLEE;
        assert_int_equal(read_of(code, count, 6), 7);
        assert_int_equal(read_of(code, count, 5), 1);
    }
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
    struct instruction uniform[COUNT(code)];
    memcpy(uniform, code, sizeof code);
    uniform[0] = uldc(4, WORD(0));
    uniform[2] = isetp_uniform(0, EQUAL, 1, THREAD_ZERO, 4);
    assert_int_equal(read_of(uniform, COUNT(code), 0), 1 | 1 << 2 | 1 << 3);
    uniform[9] = uldc(4, WORD(3));
    assert_int_equal(read_of(uniform, COUNT(code), 5), ALL);
    code[9] = ldc(2, WORD(3)); /* it writes the register */
    assert_int_equal(read_of(code, COUNT(code), 5), 3 | 1 << 2 | 1 << 3);
    assert_int_equal(read_of(code, COUNT(code), 6), 3 | 1 << 2);
}

static void nothing_is_known_after_an_unknown_branch(void **state)
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

/* More than there is room for: the result is empty, and nothing is written out of bounds. */
static void too_much_is_not_known(void **state)
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
    /* as many words and regions as a launch would take too long to be asked for */
    struct reads *reads = NULL;
    for (uint32_t words = 32; words <= 512; words *= 2) {
        uint32_t at = 0;
        code[at++] = ldc(2, WORD(0));
        for (uint32_t i = 0; i < 500; i++) {
            code[at++] = isetp_number(0, EQUAL, 1, 2, 5 + i % 400);
            code[at++] = when(0, 1, exits());
        }
        code[at++] = ldc(3, WORD(1));
        code[at++] = exits();
        reads = branches_find((const uint8_t *)code, at * sizeof *code, 90, P, words);
        assert_int_equal(reads != NULL, words <= 256);
        free(reads);
    }
    /* more regions, and more ways from one, of conditions that are few */
    for (int skipped = 0; skipped < 2; skipped++) {
        uint32_t at = 0;
        code[at++] = ldc(2, WORD(0));
        for (uint32_t i = 0; i < MOST / 3; i++) {
            code[at++] = isetp_number(0, EQUAL, 1, 2, 5 + i % 400);
            if (skipped) {
                code[at] = when(1, 1, bra(at, at + 3));
                at++;
                code[at++] = when(0, 1, exits());
            }
            code[at++] = when(0, 1, exits());
        }
        code[at++] = ldc(3, WORD(1));
        code[at++] = exits();
        assert_int_equal(read_of(code, at, 5), ALL);
    }
    assert_null(branches_find((const uint8_t *)code, 2 * sizeof *code, 90, P, 1 << 20));
    assert_null(branches_find((const uint8_t *)code, 0, 90, P, WORDS));
}

/* A loop in which each turn something less is known, of much that takes time: too much of it. */
static void what_takes_too_long_is_not_known(void **state)
{
    (void)state;
    enum { REGISTERS_LOST = 200, COMPARED = 500, LENGTH = 2000 };
    static struct instruction code[LENGTH + COMPARED + 2 * REGISTERS_LOST + 16];
    const struct instruction taking[] = {nop(), encoded(0x9f0, 220, 4, 8, 0) /* HGMMA */,
                                         isetp_number(0, EQUAL, 1, 2, COMPARED - 1)};
    for (size_t which = 0; which < COUNT(taking); which++) {
        uint32_t at = 0;
        code[at++] = ldc(2, WORD(0));
        for (uint32_t i = 0; i < COMPARED; i++)
            code[at++] = isetp_number(0, EQUAL, 1, 2, i);
        code[at++] = when(0, 1, exits());
        for (uint32_t i = 0; i < REGISTERS_LOST; i++)
            code[at++] = mov_number(4 + i, 7);
        const uint32_t loop = at;
        for (uint32_t i = 0; i < REGISTERS_LOST; i++) /* what the next has, but the last */
            code[at++] = mov(4 + i, i + 1 < REGISTERS_LOST ? 5 + i : 250);
        for (uint32_t i = 0; i < LENGTH; i++)
            code[at++] = taking[which];
        code[at] = when(1, 1, bra(at, loop));
        at++;
        code[at++] = ldc(3, WORD(1));
        code[at++] = exits();
        assert_int_equal(read_of(code, at, COMPARED - 1), which ? ALL : 1);
    }
}

/* IADD has the number that HFMA2.MMA has before. */
static void sums_of_sm_120_are_followed(void **state)
{
    (void)state;
    const struct instruction is_5 = isetp_number(0, EQUAL, 1, 2, 5),
                             is_6 = isetp_number(0, EQUAL, 1, 2, 6);
    code_architecture = 120;
    assert_true(LEAVES(5, iadd_number(2, 2, 1, NO_PREDICATE, 0), is_6));
    assert_false(LEAVES(6, iadd_number(2, 2, 1, NO_PREDICATE, 0), is_6));
    assert_true(LEAVES(5, iadd_number(2, 2, 1, 1, 0), is_6));
    assert_true(LEAVES(5, is_5, iadd_number(7, 2, 1, 1, 0)));
    assert_true(UNKNOWN(is_5, iadd_number(7, 2, 1, 0, 0)));
    assert_true(UNKNOWN(iadd_number(2, 2, 1, NO_PREDICATE, 1), is_5));
    assert_true(UNKNOWN(mov(5, 2), iadd_number(4, 6, 1, NO_PREDICATE, 1), mov(2, 5), is_5));
    assert_true(LEAVES(5, iadd_number(6, 6, 1, NO_PREDICATE, 1), is_5));
    code_architecture = 90;
    assert_true(UNKNOWN(iadd_number(2, 2, 1, NO_PREDICATE, 0), is_6));
}

/* Others are left as they were by instructions whose values are not followed. */
static void known_instructions_write_what_they_name(void **state)
{
    (void)state;
    static const uint32_t threads[] = {0x20a /* FSET */,
                                       0x20f /* VIMNMX3 */,
                                       0x217 /* IMNMX */,
                                       0x21b /* BMSK */,
                                       0x239 /* I2IP */,
                                       0x276 /* FMNMX3 */,
                                       0x307 /* FRND */,
                                       0x313 /* FRND.F64 */,
                                       0x38d /* ATOMS.CAS */,
                                       0x3a3,
                                       0x3a9 /* ATOMG of floats, and CAS */,
                                       0x3aa /* QSPC */},
                          none[] = {0x3a6 /* REDG of floats */, 0x97f /* STG.256 */};
    const uint64_t no_predicates = UINT64_C(0x3f) << 17;
    const struct instruction is_5 = isetp_number(0, EQUAL, 1, 2, 5);
    for (size_t i = 0; i < COUNT(threads); i++) {
        assert_true(LEAVES(5, encoded(threads[i], 8, 4, 6, no_predicates), is_5));
        assert_true(UNKNOWN(encoded(threads[i], 2, 4, 6, no_predicates), is_5));
    }
    for (size_t i = 0; i < COUNT(none); i++)
        assert_true(LEAVES(5, encoded(none[i], 2, 4, 6, no_predicates), is_5));
    /* of the uniform path: UBMSK, and R2UR as it was before sm_90 */
    const uint32_t uniform[] = {0x29b, 0x3c2};
    for (size_t i = 0; i < COUNT(uniform); i++) {
        const struct instruction from = mov_uniform(2, 4);
        assert_true(
            LEAVES(5, uldc(4, WORD(0)), encoded(uniform[i], 6, 4, 6, no_predicates), from, is_5));
        assert_true(
            UNKNOWN(uldc(4, WORD(0)), encoded(uniform[i], 4, 4, 6, no_predicates), from, is_5));
    }
}

/* BRA.U.ANY has one bit more. */
static void a_uniform_branch_of_any_decides_nothing(void **state)
{
    (void)state;
    code_architecture = 100;
    for (uint32_t any = 0; any < 2; any++) {
        struct instruction branch = bra_uniform(2, 4, 0, 1);
        branch.high |= any << 20;
        const struct instruction code[] = {ldcu(2, WORD(0)), uisetp_number(0, EQUAL, 1, 2, 5),
                                           branch, ldc(3, WORD(1)), exits()};
        assert_int_equal(read_of(code, COUNT(code), 5), any ? ALL : 1);
    }
    code_architecture = 90;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lesser_is_followed),
        cmocka_unit_test(uniform_predicates_decide),
        cmocka_unit_test(there_are_more_uniform_registers_from_sm_100_on),
        cmocka_unit_test(what_is_branched_over_is_not_read),
        cmocka_unit_test(operands_of_the_bank_are_parameters),
        cmocka_unit_test(an_exit_is_a_branch),
        cmocka_unit_test(a_guard_decides_what_its_instruction_reads),
        cmocka_unit_test(guards_are_not_without_end),
        cmocka_unit_test(the_compilers_own_constants_are_numbers),
        cmocka_unit_test(values_are_followed),
        cmocka_unit_test(what_is_not_known_decides_nothing),
        cmocka_unit_test(parts_and_others_decide_nothing),
        cmocka_unit_test(a_comparison_that_asks_more_decides_nothing),
        cmocka_unit_test(all_words_are_counted),
        cmocka_unit_test(a_branch_that_asks_more_decides_nothing),
        cmocka_unit_test(ways_are_joined),
        cmocka_unit_test(control_goes_on_at_reconvergence_points),
        cmocka_unit_test(unknown_reconvergence_points_may_be_any),
        cmocka_unit_test(calls_come_back),
        cmocka_unit_test(nothing_is_known_after_an_unknown_branch),
        cmocka_unit_test(too_much_is_not_known),
        cmocka_unit_test(what_takes_too_long_is_not_known),
        cmocka_unit_test(sums_of_sm_120_are_followed),
        cmocka_unit_test(known_instructions_write_what_they_name),
        cmocka_unit_test(a_uniform_branch_of_any_decides_nothing),
    };
    return cmocka_run_group_tests_name("branches", tests, NULL, NULL);
}
