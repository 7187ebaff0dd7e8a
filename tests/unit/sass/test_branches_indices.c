/* Which parameters code reads that indexes them. */
#include "tests/unit/sass/branches_case.h"

#include <string.h>

/* Of a grid of 3 x 2 blocks: word 0 is `first`, of the others each byte is 1 more than the one
 * before, from 1 on in word 1. */
static uint32_t read_by_blocks(const struct instruction *instructions, size_t count, uint32_t first)
{
    uint8_t parameters[WORDS * 4];
    uint32_t read = ALL;
    for (uint32_t i = 0; i < sizeof parameters; i++)
        parameters[i] = (uint8_t)(i - 3);
    memcpy(parameters, &first, sizeof first);
    struct reads *reads = branches_find((const uint8_t *)instructions, count * sizeof *instructions,
                                        code_architecture, P, WORDS);
    if (reads)
        reads_given(reads, &(struct reads_launch){parameters, sizeof parameters, {3, 2, 1}}, &read);
    free(reads);
    return read;
}

#define BLOCKS_READ(first, ...)                                                                    \
    read_by_blocks((const struct instruction[]){__VA_ARGS__, exits()},                             \
                   COUNT(((const struct instruction[]){__VA_ARGS__})) + 1, first)

static void tables_are_read_by_blocks(void **state)
{
    (void)state;
    const struct instruction block = s2r_block(2, 0), rows = s2r_block(2, 1),
                             times_4 = imad_number(3, 2, 4, THREAD_ZERO);
    assert_int_equal(BLOCKS_READ(0, block, times_4, ldc_indexed(4, 3, WORD(2), 4)), 7 << 2);
    assert_int_equal(BLOCKS_READ(0, rows, times_4, ldc_indexed(4, 3, WORD(2), 4)), 3 << 2);
    assert_int_equal(BLOCKS_READ(0, s2r_block(2, 2), times_4, ldc_indexed(4, 3, WORD(2), 4)),
                     1 << 2);
    assert_int_equal(BLOCKS_READ(0, block, times_4, ldc_indexed(4, 3, WORD(2), 8)), 15 << 2);
    assert_int_equal(BLOCKS_READ(0, block, ldc_indexed(4, 2, WORD(2), 1)), 1 << 2);
    assert_int_equal(BLOCKS_READ(0, block, shf_left(3, 2, 3), ldc_indexed(4, 3, WORD(1), 4)),
                     1 << 1 | 1 << 3 | 1 << 5);
    assert_int_equal(
        BLOCKS_READ(0, block, mov_number(5, 8), lea(3, 2, 5, 2), ldc_indexed(4, 3, WORD(1), 4)),
        7 << 3);
    assert_int_equal(
        BLOCKS_READ(0, block, hfma2_number(5, 8), lea(3, 2, 5, 2), ldc_indexed(4, 3, WORD(1), 4)),
        7 << 3);
    assert_int_equal(BLOCKS_READ(0, block, imad_number(3, 2, 3, 2), ldc_indexed(4, 3, WORD(1), 4)),
                     7 << 1);
    assert_int_equal(
        BLOCKS_READ(0, block, iadd3(3, 2, 2), iadd3(3, 3, 3), ldc_indexed(4, 3, WORD(1), 4)),
        7 << 1);
    assert_int_equal(BLOCKS_READ(0, block, mov_number(5, 8), lea(3, 2, 5, 1), iadd3(3, 2, 3),
                                 iadd3(3, 2, 3), ldc_indexed(4, 3, WORD(1), 4)),
                     7 << 3);
    assert_int_equal(BLOCKS_READ(0, block, viadd_number(3, 2, 2), shf_left(3, 3, 2),
                                 ldc_indexed(4, 3, WORD(1), 4)),
                     7 << 3);
    assert_int_equal(BLOCKS_READ(0, block, mov_number(5, 4), mov_number(6, 8), imad(3, 2, 5, 6),
                                 ldc_indexed(4, 3, WORD(1), 4)),
                     7 << 3);
    assert_int_equal(BLOCKS_READ(0, block, mov_number(5, 4), imad(3, 5, 2, THREAD_ZERO),
                                 ldc_indexed(4, 3, WORD(1), 4)),
                     7 << 1);
    assert_int_equal(BLOCKS_READ(0, mov_number(2, 12), ldc_indexed(4, 2, WORD(1), 4)), 1 << 4);
    assert_int_equal(BLOCKS_READ(0, block, times_4, when(0, 1, ldc_indexed(4, 3, WORD(2), 4))),
                     7 << 2);
}

/* Words 1 and on have the bytes 1, 2, 3, ...: of those that are loaded one is an index of another
 * table. */
static void what_a_table_has_may_be_an_index(void **state)
{
    (void)state;
    const struct instruction block = s2r_block(2, 0), byte = ldc_indexed(4, 2, WORD(1), 1);
    assert_int_equal(BLOCKS_READ(0, block, byte, shf_left(4, 4, 3), ldc_indexed(6, 4, WORD(2), 8)),
                     1 << 1 | 0x3f << 4);
    assert_int_equal(BLOCKS_READ(0, s2ur_block(2, 0), uldc_indexed(4, 2, WORD(1), 1),
                                 ushf_left(4, 4, 3), uldc_indexed(6, 4, WORD(2), 4)),
                     1 << 1 | 0x15 << 4);
    assert_int_equal(BLOCKS_READ(0, block, byte, shf_left(4, 4, 2), ldc_indexed(4, 4, WORD(1), 1),
                                 ldc_indexed(4, 4, WORD(2), 1)),
                     1 << 1 | 7 << 2 | 7 << 3); /* 5, 9, 13 there */
    assert_int_equal(BLOCKS_READ(8, ldc_indexed(3, THREAD_ZERO, WORD(0), 4), ldc(3, WORD(0)),
                                 isetp_number(0, EQUAL, 1, 3, 8), when(0, 1, exits()), block, byte),
                     3);
    code_architecture = 100;
    assert_int_equal(BLOCKS_READ(0, s2ur_block(2, 0), ldcu_indexed(4, 2, WORD(1), 1),
                                 ushf_left(4, 4, 3), ldcu_indexed(6, 4, WORD(2), 4)),
                     1 << 1 | 0x15 << 4);
    code_architecture = 90;
}

static void an_index_that_is_not_known_may_be_any(void **state)
{
    (void)state;
    const struct instruction block = s2r_block(2, 0), load = ldc_indexed(4, 3, WORD(2), 4),
                             times_4 = imad_number(3, 2, 4, THREAD_ZERO);
    struct instruction thread = s2r_block(2, 0), signs = ldc_indexed(4, 2, WORD(1), 1),
                       mode = ldc_indexed(4, 3, WORD(2), 4), left = shf_left(3, 2, 2);
    thread.high = 0x2100;
    signs.high = 0x200;
    mode.high |= UINT64_C(1) << 14;
    left.high ^= 0x100; /* of the upper half */
    assert_int_equal(BLOCKS_READ(0, load), ALL);
    assert_int_equal(BLOCKS_READ(0, thread, times_4, load), ALL);
    assert_int_equal(BLOCKS_READ(0, block, times_4, mode), ALL);
    assert_int_equal(BLOCKS_READ(0, block, left, load), ALL);
    assert_int_equal(BLOCKS_READ(0, block, signs, imad_number(3, 4, 4, THREAD_ZERO), load), ALL);
    assert_int_equal(BLOCKS_READ(0, block, when(0, 1, times_4), load), ALL);
    assert_int_equal(BLOCKS_READ(0, block, imad(3, 2, 2, THREAD_ZERO), load), ALL);
    assert_int_equal(BLOCKS_READ(0, block, imad_number(3, 2, -4u, THREAD_ZERO), load), ALL);
    assert_int_equal(BLOCKS_READ(0, block, s2r_block(5, 1), iadd3(3, 2, 5), load), ALL);
    assert_int_equal(BLOCKS_READ(0, ldc(5, WORD(0)), block, lea(3, 2, 5, 2), load), ALL);
    assert_int_equal(BLOCKS_READ(0, block, imad_number(3, 2, 4, 2), lop3_and(3, 3, 0xff), load),
                     ALL);
    assert_int_equal(BLOCKS_READ(0, block, ldc_indexed(4, 2, WORD(WORDS), 4)), ALL);
    assert_int_equal(
        BLOCKS_READ(0, block, mov_number(5, -8u), lea(3, 2, 5, 2), ldc_indexed(4, 3, WORD(1), 4)),
        ALL); /* it begins before them */
}

/* As PyTorch's index_select has strides[dim] of a structure, with dim a parameter of its own. What
 * lies beside that entry was never set. */
static void a_word_of_the_parameters_may_be_an_index(void **state)
{
    (void)state;
    const struct instruction word = ldc(2, WORD(0)), times_4 = shf_left(3, 2, 2),
                             base = mov_number(5, 8), load = ldc_indexed(4, 3, WORD(2), 4);
    for (uint32_t first = 0; first < 4; first++) {
        assert_int_equal(BLOCKS_READ(first, word, times_4, load), 1 | 4u << first);
        assert_int_equal(BLOCKS_READ(first, word, base, lea(3, 2, 5, 2), load), 1 | 0x10u << first);
        assert_int_equal(
            BLOCKS_READ(first, word, base, imad_number(3, 2, 8, 5), ldc_indexed(4, 3, WORD(2), 8)),
            1 | 0x30u << 2 * first);
        assert_int_equal(BLOCKS_READ(first, word, viadd_number(2, 2, -1u), shf_left(3, 2, 2),
                                     ldc_indexed(4, 3, WORD(3), 4)),
                         1 | 4u << first);
        assert_int_equal(BLOCKS_READ(first, word, viadd_number(2, 2, 1), shf_left(3, 2, 2), load),
                         1 | 8u << first);
        assert_int_equal(BLOCKS_READ(first, uldc(2, WORD(0)), umov_number(5, 8), ulea(3, 2, 5, 2),
                                     uldc_indexed(4, 3, WORD(2), 4)),
                         1 | 0x10u << first);
        assert_int_equal(BLOCKS_READ(first, uldc64(2, WORD(0)), ushf_left(3, 2, 2),
                                     uldc_indexed(4, 3, WORD(2), 4)),
                         3 | 4u << first);
        /* the word is the offset itself */
        assert_int_equal(BLOCKS_READ(4 * first, word, ldc_indexed(4, 2, WORD(2), 4)),
                         1 | 4u << first);
        /* and what lies there is an index again: bytes 5 + 4 n and on, of which one */
        assert_int_equal(BLOCKS_READ(first, word, times_4, ldc_indexed(4, 3, WORD(2), 1),
                                     ldc_indexed(4, 4, WORD(2), 1)),
                         1 | 4u << first | 4u << (first + 1));
    }
    assert_int_equal(BLOCKS_READ(1, word, times_4, load, base, lea(3, 2, 5, 3), load),
                     1 | 1 << 3 | 1 << 6);
    /* beyond the parameters lies nothing that a launch means */
    assert_int_equal(BLOCKS_READ(1000, word, times_4, load), 1);
    assert_int_equal(BLOCKS_READ(-1000u, word, times_4, load), 1);
    code_architecture = 100;
    assert_int_equal(
        BLOCKS_READ(2, ldcu(2, WORD(0)), ushf_left(3, 2, 2), ldcu_indexed(4, 3, WORD(2), 4)),
        1 | 4 << 2);
    code_architecture = 90;
}

/* Where it may be another one, or what is known of it is not what is multiplied. */
static void an_index_that_is_no_word_may_be_any(void **state)
{
    (void)state;
    const struct instruction word = ldc(2, WORD(0)), times_4 = shf_left(3, 2, 2),
                             load = ldc_indexed(4, 3, WORD(2), 4);
    struct instruction byte = ldc(2, WORD(0)), less = vimnmx_number(2, 2, 3);
    byte.high = 0;
    assert_int_equal(BLOCKS_READ(1, byte, times_4, load), ALL);
    assert_int_equal(BLOCKS_READ(1, word, less, times_4, load), ALL);
    assert_int_equal(BLOCKS_READ(1, word, when(0, 1, ldc(2, WORD(1))), times_4, load), ALL);
    assert_int_equal(BLOCKS_READ(1, word, s2r_block(5, 0), imad(3, 2, 5, THREAD_ZERO), load), ALL);
    assert_int_equal(BLOCKS_READ(1, word, ldc(5, WORD(1)), imad(3, 2, 5, THREAD_ZERO), load), ALL);
    assert_int_equal(BLOCKS_READ(1, word, imad_number(3, 2, -4u, THREAD_ZERO), load), ALL);
    /* a loop counts it down */
    assert_int_equal(
        READ(1, word, times_4, viadd_number(3, 3, -4u), load, when(0, 1, bra(4, 2)), exits()), ALL);
}

/* Nor without end: two are taken by each index. */
static void indices_are_not_without_end(void **state)
{
    (void)state;
    enum { INDICES = READS_TABLES_MOST / 2 };
    struct instruction code[3 * INDICES + 4];
    uint32_t at = 0;
    for (uint32_t i = 0; i < INDICES; i++) {
        code[at++] = ldc(2, WORD(i % WORDS));
        code[at++] = shf_left(3, 2, 2);
        code[at++] = ldc_indexed(4, 3, WORD(2), 4);
    }
    code[at] = exits();
    assert_int_not_equal(read_of(code, at + 1, 0), ALL);
    code[at++] = shf_left(3, 2, 3);
    code[at++] = ldc_indexed(4, 3, WORD(2), 4);
    code[at++] = exits();
    assert_int_equal(read_of(code, at, 0), ALL);
}

/* As CUTLASS' iterators choose what they add to their pointers: by how far a filter was gone
 * through. */
static void an_index_may_be_one_of_a_few_numbers(void **state)
{
    (void)state;
    const struct instruction zero = mov_number(3, 0), load = ldc_indexed(4, 3, WORD(2), 4),
                             loads_5 = ldc(2, WORD(0)), is_5 = isetp_number(0, EQUAL, 1, 2, 5);
    assert_int_equal(BLOCKS_READ(0, zero, when(1, 1, mov_number(3, 8)), load), 5 << 2);
    assert_int_equal(BLOCKS_READ(0, mov_number(3, 4), when(1, 1, mov_number(3, 8)), load), 3 << 3);
    assert_int_equal(BLOCKS_READ(0, mov_number(3, -4u), when(1, 1, mov_number(3, 4)), load),
                     5 << 1);
    assert_int_equal(BLOCKS_READ(0, mov_number(5, 1), mov_number(6, 8), zero,
                                 when(2, 0, sel_number(3, 5, 2, 1)), lea(3, 3, 6, 3),
                                 ldc_indexed(4, 3, WORD(1), 8)),
                     0x3f << 3);
    assert_int_equal(BLOCKS_READ(0, mov_number(5, 1), sel_number(3, 5, 2, 1), mov_number(6, 4),
                                 sel_number(6, 6, 12, 2), imad(3, 3, 6, THREAD_ZERO), load),
                     (1 << 1 | 1 << 2 | 1 << 3 | 1 << 6) << 2);
    assert_int_equal(BLOCKS_READ(0, mov_number(5, 4), sel_number(3, 5, 8, 1), mov_number(6, 4),
                                 sel_number(6, 6, 12, 2), iadd3(3, 3, 6), load),
                     (1 << 2 | 1 << 3 | 1 << 4 | 1 << 5) << 2);
    assert_int_equal(READ(0, zero, when(1, 1, bra(1, 3)), mov_number(3, 8), load, exits()), 5 << 2);
    for (uint32_t first = 4; first < 6; first++) /* whatever guards it */
        assert_int_equal(READ(first, loads_5, is_5, zero, when(1, 1, mov_number(3, 8)),
                              when(0, 1, load), exits()),
                         1 | 5 << 2);
    /* one lies behind the parameters, or before them, where the driver's are */
    assert_int_equal(BLOCKS_READ(0, zero, when(1, 1, mov_number(3, WORDS * 4)), load), ALL);
    assert_int_equal(BLOCKS_READ(0, zero, when(1, 1, mov_number(3, -16u)), load), ALL);
}

/* Elsewhere a part of one of the words may be read. */
static void where_an_index_chooses_words_are_read_whole(void **state)
{
    (void)state;
    const struct instruction code[] = {mov_number(3, 0), when(1, 1, mov_number(3, 4)),
                                       ldc_indexed(4, 3, WORD(2), 4), exits()};
    const struct reads_part part = {3, 0xff};
    struct reads *known =
        branches_find((const uint8_t *)code, sizeof code, code_architecture, P, WORDS);
    assert_non_null(known);
    struct reads *reads = reads_narrow(known, &part, 1);
    assert_non_null(reads);
    uint32_t parameters[WORDS];
    memset(parameters, 0x55, sizeof parameters);
    reads_cleared(reads, &(struct reads_launch){parameters, sizeof parameters, {1, 1, 1}},
                  parameters);
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(parameters[i], i == 2 || i == 3 ? 0x55555555 : 0);
    free(known);
    free(reads);
}

/* What was done by a guard holds for what the same guard lets. */
static void unchanged_guards_go_together(void **state)
{
    (void)state;
    const struct instruction five = ldc(5, WORD(0)), one = when(1, 0, mov_number(5, 4)),
                             zero = mov_number(3, 0), chosen = when(1, 0, sel_number(3, 5, 8, 2)),
                             load = ldc_indexed(4, 3, WORD(2), 4);
    assert_int_equal(BLOCKS_READ(0, five, one, zero, chosen, load), 1 | 7 << 2);
    assert_int_equal(BLOCKS_READ(0, five, one, zero, nop(), isetp(2), chosen, load), 1 | 7 << 2);
    assert_int_equal(BLOCKS_READ(0, five, one, zero, isetp(1), chosen, load), ALL);
    assert_int_equal(BLOCKS_READ(0, five, one, zero, when(2, 1, isetp(1)), chosen, load), ALL);
    assert_int_equal(BLOCKS_READ(0, five, one, zero, five, chosen, load), ALL);
    assert_int_equal(BLOCKS_READ(0, five, one, zero, when(3, 1, five), chosen, load), ALL);
    assert_int_equal(BLOCKS_READ(0, five, one, zero, when(1, 1, sel_number(3, 5, 8, 2)), load),
                     ALL);
    assert_int_equal(BLOCKS_READ(0, five, one, zero, sel_number(3, 5, 8, 2), load), ALL);
    assert_int_equal(BLOCKS_READ(0, five, one, one, zero, chosen, load), 1 | 7 << 2);
    assert_int_equal(BLOCKS_READ(0, five, one, when(1, 0, ldc(5, WORD(1))), zero, chosen, load),
                     ALL);
    assert_int_equal(BLOCKS_READ(0, five, one, encoded(0x0ff, 0, 0, 0, 0), zero, chosen, load),
                     ALL);
    assert_int_equal(READ(0, five, one, zero, bra(3, 4), chosen, load, exits()), ALL);
    struct instruction both = isetp_number(0, EQUAL, 1, 2, 5),
                       carries = iadd3(5, THREAD_ZERO, THREAD_ZERO);
    both.high = (both.high & ~(UINT64_C(7) << 20)) | UINT64_C(1) << 20; /* and P1 what P0 is not */
    carries.high = (carries.high & ~(UINT64_C(7) << 17)) | UINT64_C(1) << 17; /* to P1 */
    assert_int_equal(BLOCKS_READ(0, five, one, zero, both, chosen, load), ALL);
    assert_int_equal(BLOCKS_READ(0, five, when(1, 0, carries), zero, chosen, load), ALL);
    assert_int_equal(BLOCKS_READ(0, five, one, zero, ldc64(4, WORD(0)), chosen, load), ALL);
    /* by UP1 */
    assert_int_equal(BLOCKS_READ(0, uldc(5, WORD(0)), when(1, 0, umov_number(5, 4)), zero,
                                 when(1, 0, mov_uniform(3, 5)), load),
                     ALL);
    assert_int_equal(BLOCKS_READ(0, uldc(5, WORD(0)), when(1, 0, umov_number(5, 4)),
                                 umov_number(3, 0), when(1, 0, usel_number(3, 5, 8, 2)),
                                 uldc_indexed(6, 3, WORD(2), 4)),
                     1 | 7 << 2);
}

/* Of the stack's frame nobody knows where it is by then. */
static void guarded_words_of_the_frame_are_not_followed(void **state)
{
    (void)state;
    const struct instruction slot = when(1, 0, stl(0, 5)), back = when(1, 0, ldl(3, 0)),
                             moves = viadd_number(1, 1, 16), same = when(1, 0, mov(3, 3)),
                             load = when(1, 0, ldc_indexed(4, 3, WORD(2), 4));
    assert_int_equal(BLOCKS_READ(0, mov_number(5, 4), slot, moves, back, same, load), ALL);
    assert_int_equal(BLOCKS_READ(0, mov_number(5, 4), slot, back, same, load), ALL);
}

/* Nor is it gone round a loop for each number. */
static void numbers_are_not_without_end(void **state)
{
    (void)state;
    const struct instruction load = ldc_indexed(4, 3, WORD(2), 4);
    struct instruction code[] = {mov_number(3, 0), viadd_number(3, 3, 4), load,
                                 when(1, 1, bra(3, 1)), exits()};
    assert_int_equal(read_of(code, COUNT(code), 0), ALL);
    enum { NUMBERS = 9 };
    struct instruction guarded[NUMBERS + 2];
    for (uint32_t count = 2; count <= NUMBERS; count++) {
        for (uint32_t i = 0; i < count; i++)
            guarded[i] = i ? when(1, 1, mov_number(3, i * 4)) : mov_number(3, 0);
        guarded[count] = load;
        guarded[count + 1] = exits();
        assert_int_equal(read_of(guarded, count + 2, 0),
                         count < NUMBERS ? ((1u << count) - 1) << 2 : ALL);
    }
    /* nor are choices: 0 or another number, of which the first is chosen again, and the last */
    enum { CHOICES = 70 };
    struct instruction choices[2 * CHOICES + 4];
    for (uint32_t from = 1; from <= CHOICES; from += CHOICES - 1) {
        uint32_t at = 0;
        for (uint32_t i = 1; i <= CHOICES; i++) {
            choices[at++] = mov_number(5, 0);
            choices[at++] = when(1, 1, mov_number(5, i * 4));
        }
        choices[at++] = mov_number(3, 0);
        choices[at++] = when(1, 1, mov_number(3, from * 4));
        choices[at++] = ldc_indexed(4, 3, WORD(2), 4);
        choices[at++] = exits();
        assert_int_equal(read_of(choices, at, 0), from == 1 ? 3 << 2 : ALL);
    }
}

/* A path that brings only known values does not use up the limit of joins. */
static void a_way_that_brings_nothing_new_is_not_counted(void **state)
{
    (void)state;
    enum { WAYS = 6 };
    struct instruction code[4 * WAYS + 8];
    const uint32_t joined = 2 * WAYS + 4;
    uint32_t at = 0;
    code[at++] = mov_number(3, 0);
    for (uint32_t i = 0; i < WAYS; i++) { /* 0 or 4, then one of the two, at last 8 */
        const struct instruction known = mov_number(3, i % 2 * 4);
        code[at++] = i == 0         ? when(2, 1, mov_number(3, 4))
                     : i < WAYS - 1 ? known
                                    : mov_number(3, 8);
        code[at] = when(1, 1, bra(at, joined));
        at++;
    }
    while (at < joined)
        code[at++] = nop();
    code[at++] = ldc_indexed(4, 3, WORD(2), 4);
    code[at++] = exits();
    assert_int_equal(read_of(code, at, 0), 7 << 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_read_by_blocks),
        cmocka_unit_test(what_a_table_has_may_be_an_index),
        cmocka_unit_test(an_index_that_is_not_known_may_be_any),
        cmocka_unit_test(a_word_of_the_parameters_may_be_an_index),
        cmocka_unit_test(an_index_that_is_no_word_may_be_any),
        cmocka_unit_test(indices_are_not_without_end),
        cmocka_unit_test(an_index_may_be_one_of_a_few_numbers),
        cmocka_unit_test(where_an_index_chooses_words_are_read_whole),
        cmocka_unit_test(unchanged_guards_go_together),
        cmocka_unit_test(guarded_words_of_the_frame_are_not_followed),
        cmocka_unit_test(numbers_are_not_without_end),
        cmocka_unit_test(a_way_that_brings_nothing_new_is_not_counted),
    };
    return cmocka_run_group_tests_name("branches_indices", tests, NULL, NULL);
}
