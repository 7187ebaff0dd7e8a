/* What a kernel does with its parameters, put into bytes and taken out again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/learn/learn_world.h"
#include "tests/unit/sass/reads_case.h"
#include "runtime/learn/parameter_uses.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 70 };

/* Of so many words, or a number. */
static struct reads_term random_term(uint64_t *seed, uint32_t words)
{
    const bool is_number = world_below(seed, 2);
    return (struct reads_term){is_number ? READS_NO_WORD : (uint32_t)world_below(seed, words),
                               (uint32_t)world_random(seed)};
}

static struct reads *random_reads(uint64_t *seed)
{
    const uint32_t conditions = 1 + (uint32_t)world_below(seed, 4),
                   parts = (uint32_t)world_below(seed, 3), lessers = (uint32_t)world_below(seed, 3),
                   tables = (uint32_t)world_below(seed, 4),
                   regions = 1 + (uint32_t)world_below(seed, 6), each = 2;
    struct reads *reads = reads_create(&(struct reads){.words = WORDS,
                                                       .part_count = parts,
                                                       .lesser_count = lessers,
                                                       .table_count = tables,
                                                       .condition_count = conditions,
                                                       .region_count = regions,
                                                       .way_count = regions * each});
    assert_non_null(reads);
    for (uint32_t i = 0; i < lessers; i++)
        reads_lessers(reads)[i] =
            (struct reads_lesser){random_term(seed, WORDS), (uint32_t)world_random(seed)};
    for (uint32_t i = 0; i < tables; i++)
        reads_tables(reads)[i] =
            (struct reads_table){.offset = (uint32_t)world_below(seed, WORDS * 4),
                                 .every = (uint32_t)world_below(seed, 9),
                                 .bytes = 1u << world_below(seed, 5),
                                 .index = (uint32_t)world_below(seed, READS_LOADED + i)};
    for (uint32_t i = 0; i < conditions; i++) {
        struct reads_condition *condition = &reads_conditions(reads)[i];
        condition->left = random_term(seed, WORDS + lessers);
        condition->right = random_term(seed, WORDS + lessers);
        condition->comparison = (uint8_t)world_below(seed, 8);
        condition->is_signed = world_below(seed, 2);
    }
    for (uint32_t i = 0; i < regions * each; i++)
        reads_ways(reads)[i] =
            (struct reads_way){(uint16_t)world_below(seed, conditions),
                               (uint16_t)world_below(seed, regions), world_below(seed, 2)};
    for (uint32_t i = 0; i < regions; i++) {
        reads_regions(reads)[i] = (struct reads_region){i * each, each};
        for (uint32_t k = 0; k < reads_chunks(WORDS); k++)
            reads_region_words(reads, i)[k] = (uint32_t)world_random(seed);
    }
    for (uint32_t i = 0; i < parts; i++)
        reads_parts(reads)[i] = (struct reads_part){(uint32_t)world_below(seed, WORDS),
                                                    reads_mask((uint32_t)world_below(seed, 16))};
    return reads;
}

static struct parameter_uses random_uses(uint64_t *seed)
{
    struct parameter_uses uses = {.reads = world_below(seed, 4) ? random_reads(seed) : NULL,
                                  .map_count = (uint32_t)world_below(seed, 5)};
    for (uint32_t i = 0; i < uses.map_count; i++)
        uses.maps[i] =
            (struct map_use){(uint32_t)world_below(seed, 4) * 64, (uint8_t)world_below(seed, 8),
                             (uint32_t)world_below(seed, 2) * 128};
    return uses;
}

static void assert_same(const struct parameter_uses *a, const struct parameter_uses *b)
{
    assert_int_equal(a->reads != NULL, b->reads != NULL);
    if (a->reads) {
        assert_int_equal(reads_bytes(a->reads), reads_bytes(b->reads));
        assert_memory_equal(a->reads, b->reads, reads_bytes(a->reads));
    }
    assert_int_equal(a->map_count, b->map_count);
    for (uint32_t i = 0; i < a->map_count; i++) {
        assert_int_equal(a->maps[i].offset, b->maps[i].offset);
        assert_int_equal(a->maps[i].copies, b->maps[i].copies);
        assert_int_equal(a->maps[i].every, b->maps[i].every);
    }
}

static void what_is_put_is_taken(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 2000; i++) {
        struct byte_buffer buffer = {0};
        struct parameter_uses uses = random_uses(&seed), taken = {0}, copy;
        parameter_uses_put(&buffer, &uses);
        assert_false(buffer.failed);
        struct byte_cursor cursor = {.at = buffer.data, .end = buffer.data + buffer.length};
        parameter_uses_take(&cursor, &taken);
        assert_false(cursor.failed);
        assert_ptr_equal(cursor.at, cursor.end);
        assert_same(&uses, &taken);
        assert_true(parameter_uses_copy(&copy, &taken));
        assert_same(&uses, &copy);
        parameter_uses_clear(&copy);
        parameter_uses_clear(&taken);
        assert_null(taken.reads);
        for (size_t cut = 0; cut < buffer.length; cut++) {
            cursor = (struct byte_cursor){.at = buffer.data, .end = buffer.data + cut};
            parameter_uses_take(&cursor, &taken);
            assert_true(cursor.failed);
            assert_null(taken.reads);
            assert_int_equal(taken.map_count, 0);
        }
        parameter_uses_clear(&uses);
        free(buffer.data);
    }
}

/* What is taken of bytes that are nonsense can be asked like any other. */
static void nonsense_does_no_harm(void **state)
{
    (void)state;
    uint64_t seed = 2;
    int survived = 0;
    for (int i = 0; i < 20000; i++) {
        uint32_t parameters[WORDS], read[WORDS];
        struct byte_buffer buffer = {0};
        struct parameter_uses uses = random_uses(&seed), taken = {0};
        parameter_uses_put(&buffer, &uses);
        for (uint64_t k = 1 + world_below(&seed, 3); k; k--)
            buffer.data[world_below(&seed, buffer.length)] = (uint8_t)world_random(&seed);
        struct byte_cursor cursor = {.at = buffer.data, .end = buffer.data + buffer.length};
        parameter_uses_take(&cursor, &taken);
        for (uint32_t k = 0; k < WORDS; k++)
            parameters[k] = (uint32_t)world_random(&seed);
        if (parameter_uses_fit(&taken, WORDS)) {
            survived += taken.reads || taken.map_count;
            if (taken.reads)
                reads_given(taken.reads,
                            &(struct reads_launch){.parameters = parameters,
                                                   .bytes = sizeof parameters,
                                                   .grid = {1, 1, 1}},
                            read);
            for (uint32_t k = 0; k < taken.map_count; k++)
                assert_true((uint64_t)taken.maps[k].offset + MAP_USE_BYTES <= WORDS * 4);
        }
        parameter_uses_clear(&taken);
        parameter_uses_clear(&uses);
        free(buffer.data);
    }
    assert_in_range(survived, 1000, 19000);
}

static void what_is_known_stays_and_the_rest_is_filled(void **state)
{
    (void)state;
    struct parameter_uses uses = {0},
                          reads = {.reads = reads_create(
                                       &(struct reads){.words = WORDS, .region_count = 1})},
                          maps = {.map_count = 1, .maps = {{64, MAP_STORES, 0}}},
                          other = {.reads = reads_create(
                                       &(struct reads){.words = WORDS, .region_count = 1}),
                                   .map_count = 1,
                                   .maps = {{128, MAP_READS, 0}}};
    reads_region_words(reads.reads, 0)[0] = 5;
    assert_false(parameter_uses_fill(&uses, &uses));
    assert_true(parameter_uses_fill(&uses, &reads));
    assert_true(parameter_uses_fill(&uses, &maps));
    assert_false(parameter_uses_fill(&uses, &other));
    assert_int_equal(reads_region_words(uses.reads, 0)[0], 5);
    assert_ptr_not_equal(uses.reads, reads.reads);
    assert_int_equal(uses.maps[0].offset, 64);
    parameter_uses_clear(&uses);
    parameter_uses_clear(&reads);
    parameter_uses_clear(&other);
}

/* The words are the kernel's, and maps lie among them. */
static void what_is_another_kernels_does_not_fit(void **state)
{
    (void)state;
    struct parameter_uses uses = {.map_count = 1, .maps = {{64, MAP_READS, 0}}};
    assert_true(parameter_uses_fit(&uses, 32));
    assert_false(parameter_uses_fit(&uses, 31));
    uses.maps[0].offset = UINT32_MAX - 63;
    assert_false(parameter_uses_fit(&uses, 32));
    uses.maps[0] = (struct map_use){0, MAP_READS, UINT32_MAX - 63};
    assert_false(parameter_uses_fit(&uses, 32));
    uses.map_count = 0;
    assert_true(parameter_uses_fit(&uses, 0));
    uses.reads = reads_create(&(struct reads){.words = WORDS, .region_count = 1});
    assert_true(parameter_uses_fit(&uses, WORDS));
    assert_false(parameter_uses_fit(&uses, WORDS + 1));
    parameter_uses_clear(&uses);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_is_taken),
        cmocka_unit_test(nonsense_does_no_harm),
        cmocka_unit_test(what_is_known_stays_and_the_rest_is_filled),
        cmocka_unit_test(what_is_another_kernels_does_not_fit),
    };
    return cmocka_run_group_tests_name("parameter_uses", tests, NULL, NULL);
}
