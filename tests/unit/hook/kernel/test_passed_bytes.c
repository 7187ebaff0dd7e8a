/* Parameters that are compared where the program has them, against copies and brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/hook/operator/passed_bytes.h"

#include <string.h>

enum { PARAMETERS = 5, MOST = 200 };

static uint32_t seed = 1;

static uint32_t below(uint32_t end)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % end;
}

/* A launch's parameters: one by one, and in a buffer. */
struct launch {
    uint8_t bytes[MOST], apart[PARAMETERS][MOST];
    void *parameters[PARAMETERS];
};

static struct layout_parameter places[PARAMETERS];
static struct layout layout = {.parameters = places};

/* With gaps between some of them. */
static void layout_choose(void)
{
    uint32_t at = 0;
    layout.count = 1 + below(PARAMETERS);
    for (uint32_t i = 0; i < layout.count; i++) {
        places[i] = (struct layout_parameter){at, 1 + below(30)};
        at += places[i].bytes + below(2) * below(8);
    }
    layout.bytes = places[layout.count - 1].offset + places[layout.count - 1].bytes;
}

static void split(struct launch *launch)
{
    for (uint32_t i = 0; i < layout.count; i++) {
        memcpy(launch->apart[i], launch->bytes + places[i].offset, places[i].bytes);
        launch->parameters[i] = launch->apart[i];
    }
}

static void bytes_choose(struct launch *launch)
{
    for (uint32_t i = 0; i < layout.bytes; i++)
        launch->bytes[i] = (uint8_t)below(256);
    split(launch);
}

static struct learning_passed passed_of(const struct launch *launch, bool one_by_one)
{
    return (struct learning_passed){&layout, one_by_one ? launch->parameters : NULL,
                                    one_by_one ? NULL : launch->bytes, layout.bytes};
}

static bool is_parameter(uint32_t at)
{
    for (uint32_t i = 0; i < layout.count; i++)
        if (at - places[i].offset < places[i].bytes)
            return true;
    return false;
}

static void marks_choose(uint8_t *marks)
{
    const uint32_t often = 1 + below(6);
    bool marked = false;
    for (uint32_t i = 0; i < layout.bytes; i++) {
        marked = below(often) ? marked : !marked;
        marks[i] = marked ? 0xff : 0;
    }
}

static void kept(const struct launch *launch, const uint8_t *marks, struct passed_bytes *bytes)
{
    static struct passed_run runs[MOST];
    static uint8_t room[MOST];
    const struct learning_passed passed = passed_of(launch, below(2));
    struct passed_bytes counts;
    passed_bytes_count(&passed, marks, &counts);
    assert_true(counts.run_count <= MOST && counts.byte_count <= MOST);
    *bytes = (struct passed_bytes){.runs = runs, .bytes = room};
    passed_bytes_fill(&passed, marks, bytes);
    assert_int_equal(bytes->run_count, counts.run_count);
    assert_int_equal(bytes->byte_count, counts.byte_count);
}

static void other_of(const struct launch *launch, struct launch *other)
{
    const uint32_t changes = below(4);
    *other = *launch;
    for (uint32_t i = 0; i < changes; i++)
        other->bytes[below(layout.bytes)] ^= (uint8_t)below(3);
    split(other);
}

static void they_are_compared_where_there_are_marks(void **state)
{
    (void)state;
    for (int round = 0; round < 100000; round++) {
        struct launch launch, other;
        uint8_t marks[MOST];
        struct passed_bytes bytes;
        layout_choose();
        bytes_choose(&launch);
        marks_choose(marks);
        kept(&launch, marks, &bytes);
        other_of(&launch, &other);
        bool same = true;
        for (uint32_t i = 0; i < layout.bytes; i++)
            same = same && (!marks[i] || !is_parameter(i) || launch.bytes[i] == other.bytes[i]);
        const struct learning_passed passed = passed_of(&other, round % 2);
        assert_int_equal(passed_bytes_are(&bytes, &passed), same);
    }
}

/* Eight bytes are two numbers that lie in one parameter each, without those that nobody reads. */
static void eight_bytes(void **state)
{
    (void)state;
    int made = 0;
    for (int round = 0; round < 100000; round++) {
        struct launch launch;
        uint8_t marks[MOST] = {0};
        struct passed_eight eight;
        layout_choose();
        bytes_choose(&launch);
        marks_choose(marks);
        const uint32_t at = below(layout.bytes / 8 + 1) * 8;
        const struct learning_passed passed = passed_of(&launch, round % 2);
        bool may = true;
        uint64_t expected = 0, value;
        for (uint32_t half = at; half < at + 8; half += 4) {
            uint32_t marked = 0, within = 0, word = 0;
            for (uint32_t i = half; i < half + 4 && i < layout.bytes; i++)
                marked += marks[i] != 0;
            for (uint32_t i = 0; i < layout.count; i++)
                within |=
                    half >= places[i].offset && half + 4 <= places[i].offset + places[i].bytes;
            if (half < layout.bytes && half + 4 > layout.bytes)
                may = false;
            if (marked && (marked < 4 || !within))
                may = false;
            if (marked && may)
                memcpy(&word, launch.bytes + half, sizeof word);
            expected |= (uint64_t)word << 8 * (half - at);
        }
        assert_int_equal(passed_eight_make(&passed, marks, at, &eight), may);
        if (!may)
            continue;
        assert_true(passed_eight_value(&eight, &passed, &value));
        assert_int_equal(value, expected);
        made++;
    }
    assert_in_range(made, 1000, UINT32_MAX);
}

/* Launches with the same bytes have the same hash, whatever marks other launches of the kernel had
 * in between. */
static void samples_are_of_what_all_read(void **state)
{
    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct passed_sample sample = {0};
        struct launch launch, other;
        layout_choose();
        for (int step = 0; step < 4; step++) {
            uint8_t marks[MOST];
            struct passed_bytes bytes;
            uint64_t hash = 1, again = 1;
            bytes_choose(&launch);
            marks_choose(marks);
            kept(&launch, marks, &bytes);
            if (!bytes.run_count)
                continue;
            passed_sample_fit(&sample, &bytes, marks);
            assert_in_range(sample.count, 1, PASSED_SAMPLES);
            other_of(&launch, &other);
            const struct learning_passed passed = passed_of(&launch, round % 2),
                                         other_passed = passed_of(&other, step % 2);
            assert_true(passed_sample_hash(&sample, &passed, &hash));
            assert_true(passed_sample_hash(&sample, &other_passed, &again));
            if (passed_bytes_are(&bytes, &other_passed))
                assert_int_equal(hash, again);
        }
    }
}

/* Few bytes are all in the samples, so that launches that differ have different hashes. */
static void few_bytes_are_all_sampled(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct passed_sample sample = {0};
        struct launch launch = {.bytes = {0}}, other;
        struct passed_bytes bytes;
        uint8_t marks[MOST];
        uint64_t hash = 1, again = 1;
        layout_choose();
        split(&launch);
        memset(marks, 0xff, sizeof marks);
        kept(&launch, marks, &bytes);
        if (bytes.byte_count > PASSED_SAMPLES || layout.count > 1)
            continue;
        passed_sample_fit(&sample, &bytes, marks);
        other = launch;
        other.bytes[below(layout.bytes)] = 1;
        split(&other);
        const struct learning_passed passed = passed_of(&launch, true),
                                     other_passed = passed_of(&other, true);
        assert_true(passed_sample_hash(&sample, &passed, &hash));
        assert_true(passed_sample_hash(&sample, &other_passed, &again));
        assert_int_not_equal(hash, again);
    }
}

/* What differs between launches with the same sample is added, and their hashes differ then. */
static void launches_with_one_sample_get_two(void **state)
{
    (void)state;
    int parted = 0;
    for (int round = 0; round < 20000; round++) {
        struct passed_sample sample = {0};
        struct launch launch, other;
        struct passed_bytes bytes;
        uint8_t marks[MOST];
        layout_choose();
        bytes_choose(&launch);
        marks_choose(marks);
        kept(&launch, marks, &bytes);
        if (!bytes.run_count)
            continue;
        passed_sample_fit(&sample, &bytes, marks);
        for (int step = 0; step < 2 * PASSED_SAMPLES_ADDED; step++) {
            uint64_t hash = 1, others = 1;
            other_of(&launch, &other);
            const struct learning_passed passed = passed_of(&launch, round % 2),
                                         other_passed = passed_of(&other, step % 2);
            assert_true(passed_sample_hash(&sample, &passed, &hash));
            assert_true(passed_sample_hash(&sample, &other_passed, &others));
            const uint32_t count = sample.count;
            passed_sample_add(&sample, &bytes, &passed); /* nothing differs */
            assert_int_equal(sample.count, count);
            if (hash != others || passed_bytes_are(&bytes, &other_passed))
                continue;
            const bool room = sample.added < PASSED_SAMPLES_ADDED;
            passed_sample_add(&sample, &bytes, &other_passed);
            assert_int_equal(sample.count, count + room);
            hash = others = 1;
            assert_true(passed_sample_hash(&sample, &passed, &hash));
            assert_true(passed_sample_hash(&sample, &other_passed, &others));
            assert_int_equal(hash != others, room);
            parted += room;
        }
    }
    assert_in_range(parted, 1000, UINT32_MAX);
}

static void what_was_not_passed_is_nothing_like_it(void **state)
{
    (void)state;
    struct launch launch = {.bytes = {1}};
    struct passed_sample sample = {0};
    struct passed_bytes bytes;
    uint8_t marks[MOST];
    uint64_t hash = 1;
    layout_choose();
    split(&launch);
    memset(marks, 0xff, sizeof marks);
    kept(&launch, marks, &bytes);
    passed_sample_fit(&sample, &bytes, marks);
    launch.parameters[0] = NULL;
    const struct learning_passed passed = passed_of(&launch, true);
    assert_false(passed_bytes_are(&bytes, &passed));
    assert_false(passed_sample_hash(&sample, &passed, &hash));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_compared_where_there_are_marks),
        cmocka_unit_test(eight_bytes),
        cmocka_unit_test(samples_are_of_what_all_read),
        cmocka_unit_test(few_bytes_are_all_sampled),
        cmocka_unit_test(launches_with_one_sample_get_two),
        cmocka_unit_test(what_was_not_passed_is_nothing_like_it),
    };
    return cmocka_run_group_tests_name("passed bytes", tests, NULL, NULL);
}
