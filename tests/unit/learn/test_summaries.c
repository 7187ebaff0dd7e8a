/* Summaries of operators: what is known when, words that leave and come back, bounds, bytes; and
 * random launches against a list of all that was added. */
#include "runtime/learn/summaries.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct summary_limits limits = {.launches = 4, .values = 4, .bytes = 1 << 22};

static const char *const names_of_add[] = {"self", "other", CSAN_ARGUMENT_RETURNED};
static const struct csan_operator add = {"aten::add(Tensor self, Tensor other) -> Tensor",
                                         names_of_add, 3, 2};
static const struct csan_operator mul = {"aten::mul(Tensor self, Tensor other) -> Tensor",
                                         names_of_add, 3, 2};

/* A launch of one shape, with an access of that many bytes; `what` NULL: outside of operators. */
static enum summary_change put(struct summaries *all, const uint32_t *words, uint32_t count,
                               const struct csan_operator *what, uint64_t bytes)
{
    const struct summary_access access = {
        .pointer = 40, .argument = 2, .kind = CSAN_WRITE, .offset = -8, .bytes = bytes};
    const struct summary_key key = {{{7, 9}}, words, count};
    const struct summary_result result = {what, &access, what ? 1 : 0};
    return summaries_add(all, &key, &result);
}

static struct summary_found find(struct summaries *all, const uint32_t *words, uint32_t count)
{
    const struct summary_key key = {{{7, 9}}, words, count};
    struct summary_found found;
    summaries_find(all, &key, &found);
    return found;
}

static uint8_t state(struct summaries *all, const uint32_t *words, uint32_t count)
{
    return find(all, words, count).state;
}

static void test_known_after_enough_launches(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits);
    const uint32_t words[] = {5, 6};
    assert_int_equal(state(all, words, 2), SUMMARY_NONE);
    assert_int_equal(put(all, words, 2, &add, 64), SUMMARY_NEW);
    for (int i = 1; i < 4; i++) {
        assert_int_equal(state(all, words, 2), SUMMARY_LEARNING);
        assert_int_equal(put(all, words, 2, &add, 64), SUMMARY_CONFIRMED);
    }
    const struct summary_found found = find(all, words, 2);
    assert_int_equal(found.state, SUMMARY_KNOWN);
    assert_true(found.operator_ran);
    assert_string_equal(found.what->name, add.name);
    assert_int_equal(found.what->output, 2);
    assert_string_equal(found.what->arguments[1], "other");
    assert_int_equal(found.count, 1);
    assert_int_equal(found.accesses[0].offset, -8);
    assert_int_equal(found.accesses[0].bytes, 64);
    assert_int_equal(found.accesses[0].argument, 2);
    const uint32_t others[] = {5, 7};
    assert_int_equal(state(all, others, 2), SUMMARY_NONE);
    summaries_destroy(all);
}

static void test_other_operator_of_equal_accesses(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits);
    const uint32_t words[] = {5};
    for (int i = 0; i < 4; i++)
        put(all, words, 1, i == 2 ? &mul : &add, 64);
    const struct summary_found found = find(all, words, 1);
    assert_int_equal(found.state, SUMMARY_KNOWN);
    assert_null(found.what);
    assert_int_equal(found.accesses[0].argument, CSAN_NO_ARGUMENT);
    summaries_destroy(all);
}

static void test_results_that_change_are_never_known(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits);
    const uint32_t words[] = {5};
    for (int change = 0; change < SUMMARY_CHANGES_MOST + 1; change++)
        for (int i = 0; i < 5; i++)
            put(all, words, 1, &add, 64 + (uint64_t)change);
    assert_int_equal(state(all, words, 1), SUMMARY_UNSTEADY);
    summaries_destroy(all);
}

static void test_spoiled(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits);
    const uint32_t words[] = {5}, others[] = {6};
    for (int i = 0; i < 5; i++) {
        put(all, words, 1, &add, 64);
        put(all, others, 1, &add, 64);
    }
    summaries_spoil(all, &(struct summary_key){{{7, 9}}, words, 1});
    assert_int_equal(state(all, words, 1), SUMMARY_UNSTEADY);
    assert_int_equal(state(all, others, 1), SUMMARY_KNOWN);
    put(all, words, 1, &add, 64);
    assert_int_equal(state(all, words, 1), SUMMARY_UNSTEADY);
    summaries_destroy(all);
}

/* A library makes what it needs at its first call; or its operator does more each time. */
static void test_doubted(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits);
    const uint32_t words[] = {5}, others[] = {6};
    const struct summary_key key = {{{7, 9}}, words, 1};
    for (int time = 0; time < SUMMARY_CHANGES_MOST; time++) {
        for (int i = 0; i < 5; i++)
            put(all, words, 1, &add, 64);
        assert_int_equal(state(all, words, 1), SUMMARY_KNOWN);
        summaries_doubt(all, &key);
        summaries_doubt(all, &key); /* by the operator around it */
        assert_int_equal(state(all, words, 1),
                         time + 1 < SUMMARY_CHANGES_MOST ? SUMMARY_LEARNING : SUMMARY_UNSTEADY);
        assert_false(find(all, others, 1).alike);
        summaries_trust(all);
        assert_int_not_equal(state(all, words, 1), SUMMARY_KNOWN);
    }
    put(all, words, 1, &add, 64);
    assert_int_equal(state(all, words, 1), SUMMARY_UNSTEADY);
    summaries_destroy(all);
}

static void test_outside_of_operators(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits);
    const uint32_t words[] = {5};
    for (int i = 0; i < 4; i++)
        put(all, words, 1, NULL, 0);
    assert_int_equal(state(all, words, 1), SUMMARY_KNOWN);
    assert_false(find(all, words, 1).operator_ran);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(put(all, words, 1, &add, 64), i ? SUMMARY_CONFIRMED : SUMMARY_NEW);
        put(all, words, 1, NULL, 0); /* its operator began before anybody listened */
    }
    assert_true(find(all, words, 1).operator_ran);
    summaries_destroy(all);
}

static void test_words_without_effect_leave(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits);
    for (uint32_t step = 0; step < 4; step++) {
        assert_int_equal(state(all, (uint32_t[]){10, step}, 2), SUMMARY_NONE);
        put(all, (uint32_t[]){10, step}, 2, &add, 40);
        put(all, (uint32_t[]){20, step}, 2, &add, 80);
    }
    assert_int_equal(find(all, (uint32_t[]){10, 99}, 2).accesses[0].bytes, 40);
    assert_int_equal(find(all, (uint32_t[]){20, 99}, 2).accesses[0].bytes, 80);
    assert_int_equal(state(all, (uint32_t[]){30, 99}, 2), SUMMARY_NONE);
    summaries_destroy(all);
}

/* A word that left by one result's values may be a reason for another result. */
static void test_a_word_counts_where_it_never_varied(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits), *again = summaries_create(&limits);
    size_t bytes;
    for (uint32_t i = 0; i < 4; i++)
        put(all, (uint32_t[]){20, 7}, 2, &add, 80);
    for (uint32_t step = 0; step < 4; step++)
        put(all, (uint32_t[]){10, step}, 2, &add, 40);
    assert_int_equal(find(all, (uint32_t[]){10, 99}, 2).accesses[0].bytes, 40);
    assert_int_equal(find(all, (uint32_t[]){20, 7}, 2).accesses[0].bytes, 80);
    assert_int_equal(state(all, (uint32_t[]){20, 99}, 2), SUMMARY_NONE);
    assert_int_equal(put(all, (uint32_t[]){20, 8}, 2, &add, 80), SUMMARY_CONFIRMED);
    assert_int_equal(find(all, (uint32_t[]){20, 99}, 2).accesses[0].bytes, 80);
    uint8_t *written = summaries_write(all, &bytes);
    assert_true(summaries_read(again, written, bytes));
    assert_int_equal(find(again, (uint32_t[]){20, 99}, 2).accesses[0].bytes, 80);
    free(written);
    for (uint32_t i = 0; i < 4; i++)
        put(all, (uint32_t[]){30, 7}, 2, &add, 120);
    assert_int_equal(put(all, (uint32_t[]){30, 8}, 2, &add, 160), SUMMARY_DIFFERS);
    assert_int_equal(state(all, (uint32_t[]){10, 99}, 2), SUMMARY_NONE);
    summaries_destroy(all);
    summaries_destroy(again);
}

static void test_words_come_back(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits);
    for (uint32_t i = 0; i < 4; i++)
        put(all, (uint32_t[]){i}, 1, &add, 40);
    assert_int_equal(state(all, (uint32_t[]){9}, 1), SUMMARY_KNOWN);
    assert_int_equal(put(all, (uint32_t[]){9}, 1, &add, 80), SUMMARY_DIFFERS);
    assert_int_equal(state(all, (uint32_t[]){8}, 1), SUMMARY_NONE);
    for (int i = 0; i < 3; i++)
        assert_int_equal(put(all, (uint32_t[]){9}, 1, &add, 80), SUMMARY_CONFIRMED);
    assert_int_equal(find(all, (uint32_t[]){9}, 1).accesses[0].bytes, 80);
    for (uint32_t i = 20; i < 28; i++) /* too few for a second time */
        put(all, (uint32_t[]){i}, 1, &add, 40);
    assert_int_equal(state(all, (uint32_t[]){10}, 1), SUMMARY_NONE);
    summaries_destroy(all);
}

static void test_no_two_results_meet(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits);
    for (uint32_t i = 0; i < 16; i++)
        put(all, (uint32_t[]){i}, 1, &add, i % 2 ? 40 : 80);
    assert_int_equal(state(all, (uint32_t[]){99}, 1), SUMMARY_NONE);
    summaries_destroy(all);
}

static void test_where_pointers_lie_counts(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits);
    for (uint32_t i = 0; i < 64; i++) { /* words 80 and 81 are the pointer's */
        uint32_t words[82] = {[80] = i};
        put(all, words, 82, &add, 40);
        words[80] = i + 1000;
        assert_int_equal(state(all, words, 82), SUMMARY_NONE);
    }
    summaries_destroy(all);
}

static void test_pointers_that_were_loose(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits), *again = summaries_create(&limits);
    const struct summary_access access = {.pointer = 0, .kind = CSAN_READ, .bytes = 8};
    size_t bytes;
    for (uint32_t i = 0; i < 4;
         i++) { /* the third pointer's words differ: other entries, one result */
        const uint32_t words[8] = {1, 2, 3, 4, 5 + i, 6};
        const uint8_t loose[4] = {0, i == 1, i == 2, 0};
        const struct summary_key key = {{{7, 9}}, words, 8};
        for (int k = 0; k < 4; k++)
            summaries_add(all, &key, &(struct summary_result){&add, &access, 1, loose});
    }
    uint8_t *written = summaries_write(all, &bytes);
    assert_true(summaries_read(again, written, bytes));
    free(written);
    for (int i = 0; i < 2; i++) {
        const struct summary_found found =
            find(i ? again : all, (uint32_t[]){1, 2, 3, 4, 99, 6, 0, 0}, 8);
        assert_int_equal(found.state, SUMMARY_KNOWN);
        assert_memory_equal(found.loose, "\0\1\1\0", 4);
    }
    summaries_destroy(all);
    summaries_destroy(again);
}

static void test_nearest_and_pointers_that_count(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits);
    const struct summary_access access = {.pointer = 0, .kind = CSAN_READ, .bytes = 8};
    const struct summary_shape shape = {{7, 9}}, other = {{7, 10}};
    struct summary_nearest nearest;
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t words[8] = {1, 2, 3, 4, 5 + i, 6 + i};
        assert_true(summaries_pointer_counts(all, &shape, 2));
        summaries_add(all, &(struct summary_key){shape, words, 8},
                      &(struct summary_result){&add, &access, 1, NULL});
    }
    assert_false(summaries_pointer_counts(all, &shape, 2));
    assert_true(summaries_pointer_counts(all, &shape, 0));
    assert_true(summaries_pointer_counts(all, &shape, 1));
    assert_true(summaries_pointer_counts(all, &shape, 4));
    assert_true(summaries_pointer_counts(all, &other, 2));
    summaries_nearest(all, &(struct summary_key){shape, (uint32_t[8]){1, 2, 3, 44, 0, 0, 9}, 8},
                      &nearest);
    assert_int_equal(nearest.entries, 1);
    assert_int_equal(nearest.counting, 6);
    assert_int_equal(nearest.differing, 2);
    assert_int_equal(nearest.words[0], 3);
    assert_int_equal(nearest.before[0], 4);
    assert_int_equal(nearest.words[1], 6);
    summaries_nearest(all, &(struct summary_key){other, NULL, 0}, &nearest);
    assert_int_equal(nearest.entries, 0);
    summaries_destroy(all);
}

/* Steps that come in turn, each with a result of its own, beside a word that nobody set. */
static void test_many_variants_beside_what_was_not_set(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits);
    uint32_t garbage = 1;
    for (int round = 0; round < 8; round++)
        for (uint32_t step = 0; step < 50; step++)
            put(all, (uint32_t[]){step, garbage++}, 2, &add, 8 + step);
    for (uint32_t step = 0; step < 50; step++) {
        const struct summary_found found = find(all, (uint32_t[]){step, 0}, 2);
        assert_int_equal(found.state, SUMMARY_KNOWN);
        assert_int_equal(found.accesses[0].bytes, 8 + step);
    }
    summaries_destroy(all);
}

static void test_words_that_nobody_set_leave_at_once(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits);
    put(all, (uint32_t[]){1, 0, SUMMARY_UNSET_WORD, 4}, 4, &add, 40);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(put(all, (uint32_t[]){1, i, 70 + i, 4}, 4, &add, 40), SUMMARY_CONFIRMED);
    assert_int_equal(state(all, (uint32_t[]){1, 8, 9, 4}, 4), SUMMARY_KNOWN);
    assert_int_equal(state(all, (uint32_t[]){2, 0, SUMMARY_UNSET_WORD, 4}, 4), SUMMARY_NONE);
    assert_int_equal(state(all, (uint32_t[]){1, 8, 9, 5}, 4), SUMMARY_NONE);
    summaries_destroy(all);
}

/* In the first launches these words make a difference. */
static void test_words_that_were_set_do_not_leave(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits);
    put(all, (uint32_t[]){1, 5, 6, 4}, 4, &add, 80);
    put(all, (uint32_t[]){1, 0, SUMMARY_UNSET_WORD, 4}, 4, &add, 40);
    for (int i = 0; i < 4; i++) {
        put(all, (uint32_t[]){1, 5, 6, 4}, 4, &add, 80);
        put(all, (uint32_t[]){1, 0, SUMMARY_UNSET_WORD, 4}, 4, &add, 40);
    }
    assert_int_equal(find(all, (uint32_t[]){1, 5, 6, 4}, 4).accesses[0].bytes, 80);
    assert_int_equal(find(all, (uint32_t[]){1, 0, SUMMARY_UNSET_WORD, 4}, 4).accesses[0].bytes, 40);
    assert_int_equal(state(all, (uint32_t[]){1, 7, 8, 4}, 4), SUMMARY_NONE);
    summaries_destroy(all);
}

static void shift_turn(struct summaries *all, uint32_t other, int launches)
{
    for (int i = 0; i < launches; i++)
        put(all, (uint32_t[]){1, 2, other, 4}, 4, &add, 40);
}
static bool missed(struct summaries *all, uint32_t word)
{
    return summaries_missed(all, &(struct summary_key){{{7, 9}}, (uint32_t[]){1, 2, word, 4}, 4});
}

/* The third word is 0 with operators, and not without. */
static void test_words_that_operators_shift_leave(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits);
    for (int turn = 0; turn < 3; turn++) {
        shift_turn(all, 0, 5);
        assert_int_equal(state(all, (uint32_t[]){1, 2, 99, 4}, 4), SUMMARY_NONE);
        assert_int_equal(missed(all, 7), turn == 2);
        assert_false(missed(all, 7)); /* in the same turn */
    }
    assert_int_equal(state(all, (uint32_t[]){1, 2, 99, 4}, 4), SUMMARY_KNOWN);
    assert_int_equal(state(all, (uint32_t[]){1, 3, 0, 4}, 4), SUMMARY_NONE);
    summaries_destroy(all);
}

static bool missed_halves(struct summaries *all, uint32_t first, uint32_t second)
{
    return summaries_missed(all,
                            &(struct summary_key){{{7, 9}}, (uint32_t[]){1, 2, first, second}, 4});
}

/* Of the last eight bytes nobody sets any: each half leaves once it was another one three times. */
static void test_halves_that_operators_shift_in_turns_leave(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits);
    for (int turn = 0; turn < 6; turn++) {
        shift_turn(all, 0, 5);
        const bool is_first = turn % 2 == 0;
        assert_int_equal(missed_halves(all, is_first ? 7 : 0, is_first ? 4 : 8), turn == 4);
        if (turn == 4)
            break;
    }
    assert_int_equal(state(all, (uint32_t[]){1, 2, 99, 4}, 4), SUMMARY_KNOWN);
    assert_int_equal(state(all, (uint32_t[]){1, 2, 99, 5}, 4), SUMMARY_NONE); /* two times only */
    for (int turn = 0; turn < 3; turn++) {
        shift_turn(all, 0, 5);
        assert_int_equal(missed_halves(all, 0, 9), turn == 2);
    }
    assert_int_equal(state(all, (uint32_t[]){1, 2, 98, 99}, 4), SUMMARY_KNOWN);
    assert_int_equal(state(all, (uint32_t[]){1, 3, 0, 4}, 4), SUMMARY_NONE);
    summaries_destroy(all);
}

/* In a turn in which neither half was another one, all begins anew. */
static void test_other_words_between_are_no_turns(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits);
    for (int turn = 0; turn < 10; turn++) {
        shift_turn(all, 0, 5);
        const bool is_other = turn % 2 == 1;
        const uint32_t words[] = {1, is_other ? 3 : 2, is_other ? 0 : 7, 4};
        assert_false(summaries_missed(all, &(struct summary_key){{{7, 9}}, words, 4}));
    }
    summaries_destroy(all);
}

static void test_words_that_the_program_changes_stay(void **unused)
{
    (void)unused;
    const struct summary_key known = {{{7, 9}}, (uint32_t[]){1, 2, 0, 4}, 4};
    for (int way = 0; way < 2; way++) {
        struct summaries *all = summaries_create(&limits);
        for (int turn = 0; turn < 10; turn++) {
            shift_turn(all, 0, 5);
            if (way == 0) /* it is 0 without operators, too */
                summaries_answered(all, &known);
            assert_false(missed(all, 7));
            if (way == 1) /* it is 7 with operators, too */
                shift_turn(all, 7, 1);
        }
        summaries_destroy(all);
    }
}

/* Where a pointer leads that results start from is no such word. */
static void test_pointers_of_results_do_not_shift(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits);
    const struct summary_access access = {.pointer = 1, .kind = CSAN_READ, .bytes = 8};
    for (int turn = 0; turn < 10; turn++) {
        const struct summary_key key = {{{7, 9}}, (uint32_t[]){1, 2, 3, 4}, 4};
        for (int i = 0; i < 4; i++)
            summaries_add(all, &key, &(struct summary_result){&add, &access, 1, NULL});
        assert_false(missed(all, 7));
    }
    summaries_destroy(all);
}

static struct summary_found found_of(const struct summary_access *accesses, uint32_t count)
{
    return (struct summary_found){
        .state = SUMMARY_KNOWN, .operator_ran = true, .accesses = accesses, .count = count};
}

static bool covers(struct summary_access wide, struct summary_access narrow)
{
    const struct summary_found found = found_of(&wide, 1);
    return summary_covers(&found, &(struct summary_result){&add, &narrow, 1});
}

static void test_what_covers(void **unused)
{
    (void)unused;
    const struct summary_access read = {.pointer = 2, .kind = CSAN_READ, .bytes = 64};
    struct summary_access other = read;
    assert_true(covers(read, read));
    other.kind = CSAN_WRITE;
    assert_true(covers(other, read));
    assert_false(covers(read, other));
    other = read;
    other.pointer = 3;
    assert_false(covers(other, read));
    other = read;
    other.bytes = 65;
    assert_true(covers(other, read));
    assert_false(covers(read, other));
    other = read;
    other.offset = 1;
    assert_false(covers(read, other));
    other.bytes = 63;
    assert_true(covers(read, other));
    other.bound = CSAN_BOUND_ANNOTATED;
    assert_true(covers(read, other));
    assert_false(covers(other, read));
    struct summary_access rows = read;
    rows.bytes = 4;
    rows.dim_count = 1;
    rows.dims[0] = (struct csan_dim){16, 4};
    assert_true(covers(rows, rows));
    assert_true(covers(read, rows));
    assert_false(covers(rows, read));
    rows.dims[0].count = 6;
    assert_false(covers(read, rows));
    rows.dims[0] = (struct csan_dim){-16, 2};
    assert_false(covers(read, rows));
    rows.offset = 16;
    assert_true(covers(read, rows));
}

static void test_memory_is_bounded(void **unused)
{
    (void)unused;
    const struct summary_limits small = {.launches = 4, .values = 4, .bytes = 1 << 18};
    struct summaries *all = summaries_create(&small);
    struct summary_counts counts;
    const uint32_t words[64] = {0};
    for (uint64_t i = 0; i < 20000; i++) {
        const struct summary_key key = {{{i * 977, i}}, words, 64};
        summaries_add(all, &key, &(struct summary_result){NULL, NULL, 0});
        summaries_add(all, &(struct summary_key){{{1, 1}}, words, 64},
                      &(struct summary_result){NULL, NULL, 0});
        summaries_count(all, &counts);
        assert_true(counts.bytes <= small.bytes + 4096);
    }
    assert_true(counts.shapes > 100);
    struct summary_found found;
    summaries_find(all, &(struct summary_key){{{1, 1}}, words, 64}, &found);
    assert_int_equal(found.state, SUMMARY_KNOWN); /* it was used all the time */
    for (uint32_t i = 0; i < 100000; i++)
        summaries_add(all, &(struct summary_key){{{2, 2}}, (uint32_t[]){i, i * 3}, 2},
                      &(struct summary_result){
                          i % 2 ? &add : &mul,
                          &(struct summary_access){.kind = CSAN_READ, .bytes = i + 1}, 1});
    summaries_count(all, &counts);
    assert_true(counts.bytes <= small.bytes + 4096);
    summaries_destroy(all);
}

/* ---- Random launches ---- */

enum { WORDS = 5, SHAPES = 3, SAMPLES = 4000 };

/* Of one shape the result depends on some of the words. */
struct world {
    bool matters[WORDS];
    uint32_t values[WORDS]; /* how many each takes */
};

struct sample {
    uint32_t shape, words[WORDS];
    uint64_t bytes;
};

static uint64_t state_of_random = 88172645463325252u;
static uint32_t below(uint32_t end)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    state_of_random ^= state_of_random << 17;
    return (uint32_t)(state_of_random >> 20) % end;
}

static uint64_t bytes_of(const struct world *world, const uint32_t *words)
{
    uint64_t bytes = 1;
    for (int i = 0; i < WORDS; i++)
        bytes = bytes * 31 + (world->matters[i] ? words[i] % 3 : 0);
    return bytes;
}

/* The words with an effect vary without any until many launches were made. */
static void launch_random(const struct world *worlds, int number, struct sample *sample)
{
    sample->shape = below(SHAPES);
    for (int i = 0; i < WORDS; i++) {
        const struct world *world = &worlds[sample->shape];
        const bool early = number < SAMPLES / 4 && world->matters[i];
        sample->words[i] = early ? 3 * below(5) : below(world->values[i]);
    }
    sample->bytes = bytes_of(&worlds[sample->shape], sample->words);
}

static struct summary_key key_of(const struct sample *sample)
{
    return (struct summary_key){{{sample->shape, 1}}, sample->words, WORDS};
}

/* Whether the samples so far allow the claim that such a launch touches so many bytes. */
static void claim_check(const struct sample *samples, int count, const struct sample *launch,
                        uint64_t claimed)
{
    uint32_t same = 0;
    int newest_equal = -1;
    for (int i = 0; i < count; i++) {
        if (samples[i].shape != launch->shape)
            continue;
        same += samples[i].bytes == claimed;
        if (memcmp(samples[i].words, launch->words, sizeof launch->words) == 0)
            newest_equal = i;
    }
    assert_true(same >= limits.launches);
    if (newest_equal >= 0) {
        assert_int_equal(samples[newest_equal].bytes, claimed);
        return;
    }
    /* Never seen: it differs from one that was in words only that vary among those of the claim. */
    bool explained = false;
    for (int i = 0; i < count && !explained; i++) {
        if (samples[i].shape != launch->shape || samples[i].bytes != claimed)
            continue;
        explained = true;
        for (int k = 0; k < WORDS && explained; k++) {
            bool varies = samples[i].words[k] == launch->words[k];
            for (int j = 0; j < count && !varies; j++)
                varies = samples[j].shape == launch->shape && samples[j].bytes == claimed &&
                         samples[j].words[k] != samples[i].words[k];
            explained = varies;
        }
    }
    assert_true(explained);
}

/* The same answers from what was written and read. */
static void reread_check(struct summaries *all, const struct sample *samples, int count)
{
    size_t bytes;
    uint8_t *written = summaries_write(all, &bytes);
    struct summaries *again = summaries_create(&limits);
    assert_non_null(written);
    assert_true(summaries_read(again, written, bytes));
    for (int i = 0; i < count; i++) {
        const struct summary_key key = key_of(&samples[i]);
        struct summary_found one, other;
        summaries_find(all, &key, &one);
        summaries_find(again, &key, &other);
        assert_int_equal(one.state, other.state);
        assert_int_equal(one.count, other.count);
        assert_int_equal(one.operator_ran, other.operator_ran);
        if (one.count)
            assert_memory_equal(one.accesses, other.accesses, sizeof *one.accesses);
        assert_int_equal(one.what == NULL, other.what == NULL);
        if (one.what)
            assert_string_equal(one.what->name, other.what->name);
    }
    summaries_destroy(again);
    free(written);
}

/* A launch with any other words where they do not count is found as the same. `found`: KNOWN. */
static void uncounted_check(struct summaries *all, const struct sample *sample,
                            const struct summary_found *found)
{
    struct sample changed = *sample;
    const struct summary_used used = found->used;
    const uint64_t bytes = found->accesses[0].bytes;
    struct summary_found again;
    bool counts = true;
    for (uint32_t i = 0; i < sizeof sample->words / sizeof *sample->words; i++)
        if (!summaries_word_counts(&used, i)) {
            changed.words[i] = below(1 << 20);
            counts = false;
        }
    assert_true(counts || !summaries_words_count(&used));
    const struct summary_key key = key_of(&changed);
    summaries_find(all, &key, &again);
    assert_int_equal(again.state, SUMMARY_KNOWN);
    assert_ptr_equal(again.used.entry, used.entry);
    assert_int_equal(again.accesses[0].bytes, bytes);
}

static int wrong_of_world(int *known_at_the_end)
{
    static struct sample samples[SAMPLES];
    struct world worlds[SHAPES];
    struct summaries *all = summaries_create(&limits);
    int wrong = 0;
    *known_at_the_end = 0;
    for (int i = 0; i < SHAPES * WORDS; i++) {
        struct world *world = &worlds[i / WORDS];
        const bool matters = below(3) == 0, varies = below(3) == 0;
        world->matters[i % WORDS] = matters;
        world->values[i % WORDS] = matters ? 1 + below(3) : varies ? 1 + below(1000) : 1;
    }
    for (int n = 0; n < SAMPLES; n++) {
        struct sample *launch = &samples[n];
        struct summary_found found;
        launch_random(worlds, n, launch);
        const struct summary_key key = key_of(launch);
        summaries_find(all, &key, &found);
        if (found.state == SUMMARY_KNOWN) {
            claim_check(samples, n, launch, found.accesses[0].bytes);
            wrong += found.accesses[0].bytes != launch->bytes;
            *known_at_the_end += n >= SAMPLES - 500;
            uncounted_check(all, launch, &found);
        }
        const struct summary_access access = {
            .pointer = WORDS, .kind = CSAN_READ, .bytes = launch->bytes};
        summaries_add(all, &key, &(struct summary_result){&add, &access, 1});
    }
    reread_check(all, samples, SAMPLES);
    summaries_destroy(all);
    return wrong;
}

static void test_random(void **unused)
{
    (void)unused;
    int wrong = 0, known = 0, worlds = 40;
    for (int i = 0; i < worlds; i++) {
        int at_the_end;
        wrong += wrong_of_world(&at_the_end);
        known += at_the_end;
    }
    printf("%d of %d launches wrong, %d of %d known at the end\n", wrong, worlds * SAMPLES, known,
           worlds * 500);
    assert_true(wrong < worlds * 4);            /* a word has an effect that showed late */
    assert_true(known > worlds * 500 / 10 * 7); /* the others are of words that never leave */
}

static void test_damaged_bytes(void **unused)
{
    (void)unused;
    struct summaries *all = summaries_create(&limits);
    size_t count;
    for (uint32_t i = 0; i < 20; i++)
        put(all, (uint32_t[]){i / 2, i % 3}, 2, i % 2 ? &add : &mul, 40 + i % 4);
    uint8_t *bytes = summaries_write(all, &count);
    assert_non_null(bytes);
    summaries_destroy(all);
    for (int i = 0; i < 20000; i++) {
        uint8_t *damaged = malloc(count);
        struct summaries *other = summaries_create(&limits);
        memcpy(damaged, bytes, count);
        for (uint32_t k = below(4); k < 4; k++)
            damaged[below((uint32_t)count)] = (uint8_t)below(256);
        summaries_read(other, damaged, below(4) ? count : below((uint32_t)count));
        summaries_destroy(other);
        free(damaged);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_after_enough_launches),
        cmocka_unit_test(test_other_operator_of_equal_accesses),
        cmocka_unit_test(test_results_that_change_are_never_known),
        cmocka_unit_test(test_spoiled),
        cmocka_unit_test(test_doubted),
        cmocka_unit_test(test_outside_of_operators),
        cmocka_unit_test(test_words_without_effect_leave),
        cmocka_unit_test(test_a_word_counts_where_it_never_varied),
        cmocka_unit_test(test_words_come_back),
        cmocka_unit_test(test_no_two_results_meet),
        cmocka_unit_test(test_where_pointers_lie_counts),
        cmocka_unit_test(test_pointers_that_were_loose),
        cmocka_unit_test(test_nearest_and_pointers_that_count),
        cmocka_unit_test(test_many_variants_beside_what_was_not_set),
        cmocka_unit_test(test_words_that_nobody_set_leave_at_once),
        cmocka_unit_test(test_words_that_were_set_do_not_leave),
        cmocka_unit_test(test_words_that_operators_shift_leave),
        cmocka_unit_test(test_halves_that_operators_shift_in_turns_leave),
        cmocka_unit_test(test_other_words_between_are_no_turns),
        cmocka_unit_test(test_words_that_the_program_changes_stay),
        cmocka_unit_test(test_pointers_of_results_do_not_shift),
        cmocka_unit_test(test_what_covers),
        cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_damaged_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
