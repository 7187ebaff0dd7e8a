/* What the program's memory is made of, against a list of what was made and freed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "csan/detector/memory_usage.h"
#include <stdlib.h>
#include <string.h>

enum { PLACES = 64, ROOM = 1 << 20, SITES = 5, STEPS = 20000, BLOCKS = 4 };

/* Place i may have an allocation from i * ROOM on, and that as many as BLOCKS blocks. */
struct place {
    uint64_t bytes, born; /* bytes 0: none */
    uint32_t site;
    bool pooled;
    uint64_t block_bytes[BLOCKS];
    uint32_t block_site[BLOCKS];
};

static uint64_t base_of(int i)
{
    return (uint64_t)(i + 1) * ROOM;
}

static uint64_t block_of(int i, int b)
{
    return base_of(i) + (uint64_t)b * (ROOM / BLOCKS);
}

static uint32_t any_site(void)
{
    return 1 + (uint32_t)rand() % SITES;
}

static void change(struct live_memory *live, struct place *places, uint64_t now)
{
    const int i = rand() % PLACES, b = rand() % BLOCKS;
    struct place *place = &places[i];
    struct live_memory_entry removed;
    if (!place->bytes && rand() % 2) {
        *place = (struct place){.bytes = ROOM, .born = now, .site = any_site()};
        live_memory_add(
            live, &(struct live_memory_entry){.range = {base_of(i), base_of(i) + ROOM},
                                              .kind = i % 2 ? CSAN_MEMORY_DEVICE : CSAN_MEMORY_HOST,
                                              .site = place->site,
                                              .born = now});
    } else if (place->bytes && rand() % 4 == 0) {
        assert_true(live_memory_remove(live, base_of(i), &removed));
        assert_int_equal(removed.site, place->site);
        assert_int_equal(removed.pooled, place->pooled);
        *place = (struct place){.bytes = 0};
    } else if (place->bytes && !place->block_bytes[b]) {
        place->block_bytes[b] = 1 + (uint64_t)rand() % (ROOM / BLOCKS);
        place->block_site[b] = any_site();
        place->pooled = true;
        live_memory_add_block(
            live, (struct range){block_of(i, b), block_of(i, b) + place->block_bytes[b]},
            place->block_site[b]);
    } else if (place->bytes) {
        live_memory_remove_block(live, block_of(i, b));
        place->block_bytes[b] = 0;
    }
}

static struct memory_usage expected(const struct place *places, const struct memory_usage *found)
{
    struct memory_usage sum = *found;
    sum.count = sum.bytes = sum.newest = 0;
    sum.oldest = UINT64_MAX;
    for (int i = 0; i < PLACES; i++) {
        const struct place *place = &places[i];
        for (int b = 0; b < BLOCKS; b++)
            if (found->class == MEMORY_USAGE_BLOCK && place->block_bytes[b] &&
                place->block_site[b] == found->site) {
                sum.count++;
                sum.bytes += place->block_bytes[b];
                sum.oldest = sum.newest = 0;
            }
        const int class = place->pooled ? MEMORY_USAGE_POOL : MEMORY_USAGE_ALLOCATION;
        const enum csan_memory_kind kind = i % 2 ? CSAN_MEMORY_DEVICE : CSAN_MEMORY_HOST;
        if (!place->bytes || found->class != class || kind != found->kind ||
            place->site != found->site)
            continue;
        sum.count++;
        sum.bytes += place->bytes;
        sum.oldest = place->born < sum.oldest ? place->born : sum.oldest;
        sum.newest = place->born > sum.newest ? place->born : sum.newest;
    }
    return sum;
}

static uint64_t count_all(const struct place *places)
{
    uint64_t count = 0;
    for (int i = 0; i < PLACES; i++) {
        count += places[i].bytes != 0;
        for (int b = 0; b < BLOCKS; b++)
            count += places[i].block_bytes[b] != 0;
    }
    return count;
}

static void check(const struct live_memory *live, const struct place *places)
{
    struct memory_usage *holdings;
    uint64_t all = 0;
    const size_t count = memory_usage_gather(live, NULL, NULL, &holdings);
    for (size_t i = 0; i < count; i++) {
        const struct memory_usage sum = expected(places, &holdings[i]);
        assert_int_equal(holdings[i].count, sum.count);
        assert_int_equal(holdings[i].bytes, sum.bytes);
        assert_int_equal(holdings[i].oldest, sum.oldest);
        assert_int_equal(holdings[i].newest, sum.newest);
        assert_true(i == 0 || holdings[i].bytes <= holdings[i - 1].bytes);
        all += sum.count;
    }
    assert_int_equal(all, count_all(places)); /* none is in two, or in none */
    free(holdings);
}

static void sums_are_those_of_a_list(void **state)
{
    (void)state;
    static struct place places[PLACES];
    struct live_memory live;
    live_memory_init(&live);
    srand(7);
    for (int step = 1; step <= STEPS; step++) {
        change(&live, places, (uint64_t)step);
        if (step % 50 == 0)
            check(&live, places);
    }
    live_memory_clear(&live);
}

static void nothing_is_nothing(void **state)
{
    (void)state;
    struct memory_usage *holdings;
    struct live_memory live;
    live_memory_init(&live);
    assert_int_equal(memory_usage_gather(&live, NULL, NULL, &holdings), 0);
    free(holdings);
    live_memory_clear(&live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_those_of_a_list),
                                       cmocka_unit_test(nothing_is_nothing)};
    return cmocka_run_group_tests_name("holdings", tests, NULL, NULL);
}
