/* Which words a launch reads, by regions and the comparisons between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/sass/reads_case.h"
#include "runtime/sass/reads_memo.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 40 };

/* What a comparison of word 0, plus `add`, with word 1 or a number leads to. */
static bool compares(uint8_t comparison, bool is_signed, uint32_t left, uint32_t add,
                     bool with_word, uint32_t right)
{
    const uint32_t parameters[WORDS] = {left, with_word ? right : 77};
    uint32_t read[2];
    struct reads *reads = reads_create(
        &(struct reads){.words = WORDS, .condition_count = 1, .region_count = 2, .way_count = 1});
    assert_non_null(reads);
    *reads_conditions(reads) =
        (struct reads_condition){.left = {0, add},
                                 .right = {with_word ? 1 : READS_NO_WORD, with_word ? 0 : right},
                                 .comparison = comparison,
                                 .is_signed = is_signed};
    *reads_ways(reads) = (struct reads_way){.condition = 0, .to = 1, .holds = true};
    reads_regions(reads)[0] = (struct reads_region){0, 1};
    reads_region_words(reads, 0)[0] = 1;
    reads_region_words(reads, 1)[1] = 1 << 7;
    reads_given(reads,
                &(struct reads_launch){
                    .parameters = parameters, .bytes = sizeof parameters, .grid = {1, 1, 1}},
                read);
    free(reads);
    assert_int_equal(read[0], 1);
    assert_true(read[1] == 0 || read[1] == 1 << 7);
    return read[1];
}

static void words_are_compared(void **state)
{
    (void)state;
    static const uint32_t values[] = {0, 1, 2, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    enum { VALUES = sizeof values / sizeof *values };
    for (uint32_t i = 0; i < VALUES * VALUES * 4; i++) {
        const uint32_t a = values[i % VALUES], b = values[i / VALUES % VALUES];
        const bool with_word = i / VALUES / VALUES & 1, is_signed = i / VALUES / VALUES & 2;
        const int64_t left = is_signed ? (int32_t)a : (int64_t)a,
                      right = is_signed ? (int32_t)b : (int64_t)b;
        const bool expected[] = {false, left<right, left == right, left <= right, left> right,
                                 left != right, left >= right, true};
        for (uint8_t k = 0; k < 8; k++) {
            assert_int_equal(compares(k, is_signed, a, 0, with_word, b), expected[k]);
            assert_int_equal(compares(k, is_signed, a + 5, -5u, with_word, b), expected[k]);
        }
    }
}

/* The lesser of word 0 plus 2 and 10, plus 3, is compared with a number. */
static bool lesser_is(uint32_t first, uint32_t number)
{
    const uint32_t parameters[2] = {first, 10};
    uint32_t read;
    struct reads *reads = reads_create(&(struct reads){
        .words = 2, .lesser_count = 2, .condition_count = 1, .region_count = 2, .way_count = 1});
    assert_non_null(reads);
    reads_lessers(reads)[0] = (struct reads_lesser){{READS_NO_WORD, 1}, 0};
    reads_lessers(reads)[1] = (struct reads_lesser){{0, 2}, 10};
    *reads_conditions(reads) = (struct reads_condition){
        .left = {2 + 1, 3}, .right = {READS_NO_WORD, number}, .comparison = READS_EQUAL};
    *reads_ways(reads) = (struct reads_way){.condition = 0, .to = 1, .holds = true};
    reads_regions(reads)[0] = (struct reads_region){0, 1};
    reads_region_words(reads, 0)[0] = 1;
    reads_region_words(reads, 1)[0] = 2;
    reads_given(reads,
                &(struct reads_launch){
                    .parameters = parameters, .bytes = sizeof parameters, .grid = {1, 1, 1}},
                &read);
    free(reads);
    assert_true(read == 1 || read == 3);
    return read == 3;
}

static void the_lesser_is_found(void **state)
{
    (void)state;
    for (uint32_t first = 0; first < 20; first++)
        for (uint32_t number = 0; number < 20; number++)
            assert_int_equal(lesser_is(first, number),
                             number == (first + 2 < 10 ? first + 2 : 10) + 3);
    assert_true(lesser_is(-1u, 1 + 3));
    assert_true(lesser_is(-3u, 10 + 3));
}

static void what_is_missing_of_a_word_is_zero(void **state)
{
    (void)state;
    const uint32_t parameters[2] = {0xffffffff, 0xffffffff};
    for (uint32_t bytes = 0; bytes <= 8; bytes++) {
        uint32_t read;
        struct reads *reads = reads_create(
            &(struct reads){.words = 2, .condition_count = 1, .region_count = 2, .way_count = 1});
        assert_non_null(reads);
        *reads_conditions(reads) = (struct reads_condition){
            {1, 0}, {READS_NO_WORD, bytes > 4 ? UINT32_MAX >> (8 - bytes) * 8 : 0}, READS_EQUAL, 0};
        *reads_ways(reads) = (struct reads_way){.condition = 0, .to = 1, .holds = true};
        reads_regions(reads)[0] = (struct reads_region){0, 1};
        reads_region_words(reads, 1)[0] = 1;
        uint8_t *at = malloc(bytes + 1);
        assert_non_null(at);
        memcpy(at, parameters, bytes);
        reads_given(reads,
                    &(struct reads_launch){.parameters = at, .bytes = bytes, .grid = {1, 1, 1}},
                    &read);
        assert_int_equal(read, 1);
        free(at);
        free(reads);
    }
}

/* ---- Any regions ---- */

static uint64_t seed = 1;

static uint32_t below(uint32_t end)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % end;
}

static struct reads *make(uint32_t words)
{
    const uint32_t conditions = 1 + below(6), regions = 1 + below(below(20) ? 12 : 1024),
                   ways = below(3) * regions;
    struct reads *reads = reads_create(&(struct reads){
        .words = words, .condition_count = conditions, .region_count = regions, .way_count = ways});
    assert_non_null(reads);
    for (uint32_t i = 0; i < conditions; i++)
        reads_conditions(reads)[i] = (struct reads_condition){
            {below(words), below(3)}, {READS_NO_WORD, below(3)}, (uint8_t)below(8), below(2)};
    uint32_t way = 0;
    for (uint32_t i = 0; i < regions; i++) {
        const uint32_t left = ways - way, count = i + 1 == regions ? left : below(5) % (left + 1);
        reads_regions(reads)[i] = (struct reads_region){way, count};
        for (uint32_t k = 0; k < count; k++)
            reads_ways(reads)[way++] =
                (struct reads_way){(uint16_t)below(conditions), (uint16_t)below(regions), below(2)};
        for (uint32_t k = 0; k < 2; k++) {
            const uint32_t word = below(words);
            reads_region_words(reads, i)[word / 32] |= UINT32_C(1) << word % 32;
        }
    }
    struct reads_part parts[100];
    uint32_t count = 0;
    for (uint32_t i = 0; i < words && count < READS_PARTS_MOST; i++)
        if (below(2))
            parts[count++] = (struct reads_part){i, reads_mask(1 + below(14))};
    struct reads *narrow = reads_narrow(reads, parts, count);
    assert_non_null(narrow);
    free(reads);
    return narrow;
}

/* But for what is missing of the last word. */
static void expect_cleared(const struct reads *reads, const uint32_t *read, uint32_t *parameters)
{
    for (uint32_t i = 0; i < reads->words; i++)
        parameters[i] &= read[i / 32] >> i % 32 & 1 ? UINT32_MAX : 0;
    for (uint32_t i = 0; i < reads->part_count; i++)
        parameters[reads_parts(reads)[i].word] &= reads_parts(reads)[i].bytes;
}

/* All that is reached, until nothing is added. */
static void expect(const struct reads *reads, const uint32_t *parameters, uint32_t *read)
{
    static bool reached[READS_REGIONS_MOST];
    memset(reached, 0, sizeof reached);
    reached[0] = true;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < reads->region_count; i++) {
            const struct reads_region region = reads_regions(reads)[i];
            for (uint32_t k = 0; reached[i] && k < region.way_count; k++) {
                const struct reads_way way = reads_ways(reads)[region.first_way + k];
                const struct reads_condition *c = &reads_conditions(reads)[way.condition];
                const uint32_t left = parameters[c->left.word] + c->left.number;
                const uint32_t right = c->right.number; /* small ones: signs do not matter */
                const bool holds = (left < right && (c->comparison & 1)) ||
                                   (left == right && (c->comparison & 2)) ||
                                   (left > right && (c->comparison & 4));
                more |= holds == way.holds && !reached[way.to];
                reached[way.to] |= holds == way.holds;
            }
        }
    }
    memset(read, 0, reads_chunks(reads->words) * sizeof *read);
    for (uint32_t i = 0; i < reads->region_count; i++)
        for (uint32_t k = 0; reached[i] && k < reads_chunks(reads->words); k++)
            read[k] |= reads_region_words(reads, i)[k];
}

static void what_is_reached_is_read(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 20000; round++) {
        uint32_t words = 1 + below(100), parameters[100], read[4], expected[4];
        struct reads *made = make(words), *reads = malloc(reads_bytes(made));
        assert_non_null(reads);
        memcpy(reads, made, reads_bytes(made)); /* as a copy is */
        assert_int_equal((uintptr_t)reads_regions(reads) % sizeof(uint32_t), 0);
        for (uint32_t i = 0; i < words; i++)
            parameters[i] = below(3);
        expect(made, parameters, expected);
        free(made);
        reads_given(
            reads,
            &(struct reads_launch){.parameters = parameters, .bytes = words * 4, .grid = {1, 1, 1}},
            read);
        assert_memory_equal(read, expected, reads_chunks(words) * sizeof *read);
        const uint32_t bytes = words * 4 - below(4);
        uint32_t all[100], cleared[100];
        for (uint32_t i = 0; i < words; i++)
            all[i] = cleared[i] = parameters[i] | below(UINT32_MAX) << 2;
        reads_given(reads,
                    &(struct reads_launch){.parameters = all, .bytes = bytes, .grid = {1, 1, 1}},
                    read);
        expect_cleared(reads, read, cleared);
        const uint32_t behind = all[words - 1];
        reads_cleared(reads,
                      &(struct reads_launch){.parameters = all, .bytes = bytes, .grid = {1, 1, 1}},
                      all);
        assert_memory_equal(all, cleared, bytes);
        assert_memory_equal((char *)all + bytes, (const char *)&behind + (bytes - (words - 1) * 4),
                            words * 4 - bytes);
        free(reads);
    }
}

/* ---- What is remembered ---- */

static uint32_t room[READS_REMEMBERED * (READS_DECIDERS_MOST + 4)];

/* As is said anew, however many launches there were, and however many words decide. */
static void compare_remembered(const struct reads *reads, struct reads_memo *memo, uint64_t *state,
                               uint32_t launches)
{
    for (uint32_t launch = 0; launch < launches; launch++) {
        uint32_t parameters[100], read[4], expected[4];
        for (uint32_t i = 0; i < reads->words; i++) {
            *state = *state * 6364136223846793005u + 1442695040888963407u;
            parameters[i] = (uint32_t)(*state >> 40) % 3;
        }
        const struct reads_launch given = {parameters, reads->words * 4, {1, 1, 1}};
        reads_by_regions(reads, &given, expected);
        reads_memo_find(memo, &given, read);
        assert_memory_equal(read, expected, reads_chunks(reads->words) * sizeof *read);
    }
}

static void what_is_remembered_is_the_same(void **state)
{
    (void)state;
    uint64_t launches = 1;
    for (uint32_t round = 0; round < 3000; round++) {
        struct reads *reads = make(1 + below(round % 2 ? 3 : 100));
        struct reads_memo memo;
        reads_memo_open(&memo, reads, room);
        compare_remembered(reads, &memo, &launches, 40);
        free(reads);
    }
}

/* The lesser of word 1 and 2 decides. */
static void a_lesser_is_remembered_by_its_word(void **state)
{
    (void)state;
    const struct reads counts = {
        .words = 4, .lesser_count = 1, .condition_count = 1, .region_count = 2, .way_count = 1};
    struct reads *reads = reads_create(&counts);
    struct reads_memo memo;
    uint64_t launches = 1;
    assert_non_null(reads);
    *reads_lessers(reads) = (struct reads_lesser){{1, 0}, 2};
    *reads_conditions(reads) = (struct reads_condition){
        .left = {4, 0}, .right = {READS_NO_WORD, 1}, .comparison = READS_EQUAL};
    *reads_ways(reads) = (struct reads_way){.condition = 0, .to = 1, .holds = true};
    reads_regions(reads)[0] = (struct reads_region){0, 1};
    *reads_region_words(reads, 1) = 8;
    reads_memo_open(&memo, reads, room);
    assert_int_equal(memo.decider_count, 1);
    assert_int_equal(memo.deciders[0], 1);
    compare_remembered(reads, &memo, &launches, 100);
    free(reads);
}

static void so_many_words_decide_that_nothing_is_remembered(void **state)
{
    (void)state;
    enum { DECIDERS = READS_DECIDERS_MOST + 1 };
    const struct reads counts = {
        .words = 40, .condition_count = DECIDERS, .region_count = 2, .way_count = DECIDERS};
    struct reads *reads = reads_create(&counts);
    struct reads_memo memo;
    uint64_t launches = 1;
    assert_non_null(reads);
    for (uint16_t i = 0; i < DECIDERS; i++) {
        reads_conditions(reads)[i] = (struct reads_condition){
            .left = {i, 0}, .right = {READS_NO_WORD, 2}, .comparison = READS_EQUAL};
        reads_ways(reads)[i] = (struct reads_way){.condition = i, .to = 1, .holds = true};
    }
    reads_regions(reads)[0] = (struct reads_region){0, DECIDERS};
    *reads_region_words(reads, 1) = 8;
    reads_memo_open(&memo, reads, room);
    compare_remembered(reads, &memo, &launches, 2000);
    assert_int_equal(memo.states[0], 0);
    free(reads);
}

struct asker {
    const struct reads *reads;
    struct reads_memo *memo;
    uint64_t state;
};

static void *ask(void *argument)
{
    struct asker *asker = argument;
    compare_remembered(asker->reads, asker->memo, &asker->state, 50);
    return NULL;
}

static void threads_remember_together(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    for (uint32_t round = 0; round < 200; round++) {
        struct reads *reads = make(2 + below(4));
        struct reads_memo memo;
        struct asker askers[THREADS];
        pthread_t threads[THREADS];
        reads_memo_open(&memo, reads, room);
        for (uint32_t i = 0; i < THREADS; i++) {
            askers[i] = (struct asker){reads, &memo, round * THREADS + i};
            assert_int_equal(pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
        }
        for (uint32_t i = 0; i < THREADS; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        free(reads);
    }
}

/* ---- Tables ---- */

enum { TABLES_WORDS = 30, TABLES_BYTES = TABLES_WORDS * 4 };

static struct reads *make_tables(uint32_t count)
{
    static const uint32_t sizes[] = {1, 1, 2, 4, 8, 16};
    struct reads *reads = reads_create(&(struct reads){
        .words = TABLES_WORDS, .part_count = 1, .table_count = count, .region_count = 1});
    assert_non_null(reads);
    for (uint32_t i = 0; i < count; i++)
        reads_tables(reads)[i] = (struct reads_table){.offset = below(TABLES_BYTES),
                                                      .every = below(9),
                                                      .bytes = sizes[below(6)],
                                                      .index = below(READS_LOADED + i)};
    return reads;
}

/* Marks what a block reads off the table, given all indices; where that is beyond the parameters
 * it reads nothing. Returns whether it does. */
static bool block_reads(const struct reads *reads, uint32_t number, const uint32_t *block,
                        const uint8_t *parameters, bool *marked, uint32_t *value)
{
    const struct reads_table *table = &reads_tables(reads)[number];
    uint32_t index;
    if (table->index < READS_LOADED)
        index = block[table->index];
    else if (!block_reads(reads, table->index - READS_LOADED, block, parameters, marked, &index))
        return false;
    const uint32_t at = table->offset + table->every * index;
    if (at >= TABLES_BYTES || at + table->bytes > TABLES_BYTES)
        return false;
    *value = 0;
    for (uint32_t i = 0; i < table->bytes; i++) {
        marked[at + i] = true;
        *value |= i < 4 ? (uint32_t)parameters[at + i] << 8 * i : 0;
    }
    return true;
}

static void tables_are_read_where_indices_say(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 20000; round++) {
        struct reads *reads = make_tables(1 + below(5));
        uint8_t parameters[TABLES_BYTES], left[TABLES_BYTES];
        uint32_t read[1], words = 0;
        bool marked[TABLES_BYTES] = {0};
        struct reads_launch launch = {
            parameters, TABLES_BYTES, {1 + below(6), 1 + below(3), 1 + below(3)}};
        for (uint32_t i = 0; i < TABLES_BYTES; i++)
            parameters[i] = below(3) ? (uint8_t)(1 + below(6)) : (uint8_t)(1 + below(255));
        const uint32_t first = below(TABLES_WORDS); /* as its other instructions have it */
        *reads_region_words(reads, 0) = 1u << first;
        *reads_parts(reads) = (struct reads_part){first, 0xff00};
        for (uint32_t b = 0; b < launch.grid[0] * launch.grid[1] * launch.grid[2]; b++) {
            const uint32_t block[] = {b % launch.grid[0], b / launch.grid[0] % launch.grid[1],
                                      b / launch.grid[0] / launch.grid[1]};
            uint32_t value;
            for (uint32_t i = 0; i < reads->table_count; i++)
                block_reads(reads, i, block, parameters, marked, &value);
        }
        marked[first * 4 + 1] = true;
        memcpy(left, parameters, sizeof left);
        reads_given(reads, &launch, read);
        reads_cleared(reads, &launch, left);
        for (uint32_t i = 0; i < TABLES_BYTES; i++) {
            assert_int_equal(left[i], marked[i] ? parameters[i] : 0);
            words |= (uint32_t)marked[i] << i / 4;
        }
        words |= 1u << first;
        assert_int_equal(*read, words);
        free(reads);
    }
}

/* ---- What decides ---- */

/* Other parameters that have the same where there are marks. */
static void expect_marked(const struct reads *reads, struct reads_launch launch)
{
    enum { MOST = 400 };
    uint8_t marks[MOST], other_marks[MOST], others[MOST], cleared[MOST], others_cleared[MOST];
    const uint8_t *parameters = launch.parameters;
    struct reads_memo memo;
    reads_memo_open(&memo, reads, room);
    reads_memo_mark(&memo, &launch, marks);
    for (uint32_t i = 0; i < launch.bytes; i++)
        others[i] = marks[i] ? parameters[i] : (uint8_t)below(below(2) ? 3 : 256);
    memcpy(cleared, parameters, launch.bytes);
    memcpy(others_cleared, others, launch.bytes);
    reads_cleared(reads, &launch, cleared);
    launch.parameters = others;
    reads_memo_mark(&memo, &launch, other_marks);
    reads_cleared(reads, &launch, others_cleared);
    assert_memory_equal(other_marks, marks, launch.bytes);
    assert_memory_equal(others_cleared, cleared, launch.bytes);
    /* Words that do not decide may all be others, and the same ones are read. */
    for (uint32_t i = 0; i < launch.bytes; i++)
        if (!reads_memo_decides(&memo, i / 4))
            others[i] = (uint8_t)below(256);
        else
            others[i] = parameters[i];
    reads_memo_mark(&memo, &launch, other_marks);
    assert_memory_equal(other_marks, marks, launch.bytes);
}

static void what_is_the_same_where_there_are_marks_reads_the_same(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 20000; round++) {
        uint32_t words = 1 + below(100), parameters[100];
        struct reads *reads = make(words);
        for (uint32_t i = 0; i < words; i++)
            parameters[i] = below(3);
        expect_marked(reads, (struct reads_launch){parameters, words * 4 - below(4), {1, 1, 1}});
        free(reads);
        reads = make_tables(1 + below(5));
        uint8_t bytes[TABLES_BYTES];
        *reads_region_words(reads, 0) = 1u << below(TABLES_WORDS);
        *reads_parts(reads) = (struct reads_part){below(TABLES_WORDS), 0xff00};
        for (uint32_t i = 0; i < TABLES_BYTES; i++)
            bytes[i] = (uint8_t)(1 + below(below(3) ? 6 : 255));
        expect_marked(reads, (struct reads_launch){
                                 bytes, TABLES_BYTES, {1 + below(6), 1 + below(3), 1 + below(3)}});
        free(reads);
    }
}

/* A launch of any grid is asked soon. Blocks that load the same, one after the other, look once. */
static void too_many_places_are_any(void **state)
{
    (void)state;
    static uint8_t parameters[READS_WORDS_MOST * 4], left[sizeof parameters];
    const struct reads counts = {.words = READS_WORDS_MOST, .table_count = 3, .region_count = 1};
    struct reads *reads = reads_create(&counts);
    assert_non_null(reads);
    for (uint32_t i = 0; i < 3; i++)
        reads_tables(reads)[i] = (struct reads_table){
            .offset = 4, .every = 1, .bytes = 1, .index = i ? READS_LOADED : 0};
    for (uint32_t values = 1; values <= 2; values++) {
        for (uint32_t i = 0; i < sizeof parameters; i++)
            parameters[i] = (uint8_t)(1 + i % values);
        for (uint32_t blocks = 100; blocks <= 1u << 31; blocks *= 16) {
            memcpy(left, parameters, sizeof left);
            reads_cleared(reads, &(struct reads_launch){parameters, sizeof parameters, {blocks}},
                          left);
            for (uint32_t i = 0; i < sizeof left; i++)
                assert_int_equal(left[i] != 0,
                                 blocks > (values > 1 ? 1300 : 4000) || (i >= 4 && i < 4 + blocks));
            if (blocks > UINT32_MAX / 16)
                break;
        }
    }
    free(reads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_compared),
        cmocka_unit_test(the_lesser_is_found),
        cmocka_unit_test(what_is_missing_of_a_word_is_zero),
        cmocka_unit_test(what_is_reached_is_read),
        cmocka_unit_test(what_is_remembered_is_the_same),
        cmocka_unit_test(a_lesser_is_remembered_by_its_word),
        cmocka_unit_test(so_many_words_decide_that_nothing_is_remembered),
        cmocka_unit_test(threads_remember_together),
        cmocka_unit_test(tables_are_read_where_indices_say),
        cmocka_unit_test(what_is_the_same_where_there_are_marks_reads_the_same),
        cmocka_unit_test(too_many_places_are_any),
    };
    return cmocka_run_group_tests_name("reads", tests, NULL, NULL);
}
