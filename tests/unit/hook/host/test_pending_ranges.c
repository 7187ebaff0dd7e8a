/* Ranges that ops may still touch, against a list of them; and the counters of pages that
 * instrumented code tests: never 0 where an access would meet an op. */
#include "runtime/hook/host/pending_ranges.h"
#include "runtime/instrumented/instrumented.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { OPS = 64, SPACE = 1 << 20 };

static struct op {
    uint64_t epoch; /* 0: none */
    struct range bytes;
    bool writes;
} ops[OPS];
static uint64_t over;

static uint32_t random_of(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

static struct range some(uint64_t *seed)
{
    /* From two places that share their low bits. */
    const uint64_t base =
        0x7f0000000000 + (uint64_t)random_of(seed, 2) * ((uint64_t)INSTRUMENTED_PAGES << 12);
    const uint64_t start = base + random_of(seed, SPACE);
    return (struct range){start, start + 1 + random_of(seed, 20000)};
}

static bool overlaps(struct range a, struct range b)
{
    return a.start < b.end && b.start < a.end;
}

static bool is_over(void *user, uint64_t epoch)
{
    (void)user;
    return epoch <= over;
}

static bool meets(struct range bytes, bool writes)
{
    for (size_t i = 0; i < OPS; i++)
        if (ops[i].epoch && (writes || ops[i].writes) && overlaps(ops[i].bytes, bytes))
            return true;
    return false;
}

/* As libcsan_host asks: by the page, then by the area. */
static bool is_counted(uint64_t address, bool writes)
{
    const uint16_t *pages = writes ? pending_counters.touched : pending_counters.written;
    return pages[(address >> INSTRUMENTED_PAGE_SHIFT) % INSTRUMENTED_PAGES] &&
           pending_counters.areas[(address >> INSTRUMENTED_AREA_SHIFT) % INSTRUMENTED_AREAS];
}

static void check_access(struct range bytes, bool writes)
{
    const bool wanted = meets(bytes, writes);
    bool counted = false;
    assert_int_equal(pending_ranges_meet(bytes, writes), wanted ? PENDING_OP : PENDING_NOTHING);
    for (uint64_t page = bytes.start >> 12; page <= (bytes.end - 1) >> 12; page++)
        counted |= is_counted(page << 12, writes);
    if (wanted)
        assert_true(counted);
}

static void as_the_list_says(void **state)
{
    (void)state;
    uint64_t seed = 1, epoch = 0;
    for (int i = 0; i < 40000; i++) {
        const uint32_t what = random_of(&seed, 8);
        struct op *op = &ops[random_of(&seed, OPS)];
        if (what < 3 && !op->epoch) {
            *op = (struct op){++epoch, some(&seed), random_of(&seed, 2)};
            pending_ranges_add(op->epoch, op->bytes, op->writes);
        } else if (what == 3) {
            over = epoch - random_of(&seed, epoch < 40 ? (uint32_t)epoch + 1 : 40);
            pending_ranges_release(is_over, NULL);
            for (size_t k = 0; k < OPS; k++)
                if (ops[k].epoch <= over)
                    ops[k].epoch = 0;
        } else if (what == 4) {
            const struct range bytes = some(&seed);
            pending_ranges_forget(bytes);
            for (size_t k = 0; k < OPS; k++)
                if (overlaps(ops[k].bytes, bytes))
                    ops[k].epoch = 0;
        } else {
            check_access(some(&seed), random_of(&seed, 2));
        }
    }
    over = epoch;
    pending_ranges_release(is_over, NULL);
    for (size_t i = 0; i < INSTRUMENTED_PAGES; i++)
        assert_true(!pending_counters.touched[i] && !pending_counters.written[i]);
    for (size_t i = 0; i < INSTRUMENTED_AREAS; i++)
        assert_true(!pending_counters.areas[i]);
}

/* More pages than there are counters. */
static void a_large_range_counts_everywhere(void **state)
{
    (void)state;
    const struct range large = {0x10000000, 0x10000000 + ((uint64_t)INSTRUMENTED_PAGES << 13)};
    pending_ranges_add(1, large, true);
    assert_true(is_counted(large.end - 1, false));
    assert_false(is_counted(0x7f0000000000, true)); /* a page's counter, and no area's */
    for (size_t i = 0; i < INSTRUMENTED_PAGES; i++)
        assert_int_equal(pending_counters.written[i], 1);
    pending_ranges_forget((struct range){0x10000000, 0x10000001});
    assert_int_equal(pending_counters.written[77], 0);
}

/* Who looks at a word may learn how far all ops have come. */
static void words_are_distinguished(void **state)
{
    (void)state;
    const struct range word = {0x20000008, 0x2000000c}, around = {0x20000000, 0x20000100},
                       other = {0x30000000, 0x30001000};
    pending_ranges_add(1, other, true);
    pending_ranges_add_word(2, word, true);
    assert_int_equal(pending_ranges_meet(word, false), PENDING_WORD);
    assert_int_equal(pending_ranges_meet((struct range){0x2000000c, 0x20000010}, true),
                     PENDING_NOTHING);
    pending_ranges_add(3, around, false);
    assert_int_equal(pending_ranges_meet(word, false), PENDING_WORD);
    assert_int_equal(pending_ranges_meet(word, true), PENDING_OP);
    pending_ranges_forget_all();
    assert_int_equal(pending_ranges_meet(word, true), PENDING_NOTHING);
    assert_int_equal(pending_ranges_meet(other, true), PENDING_NOTHING);
    assert_int_equal(pending_counters.touched[(0x30000000 >> 12) % INSTRUMENTED_PAGES], 0);
}

/* Within the ranges, as from a signal handler, or from what looks at memory on csan's behalf. */
static bool looks_again(void *user, uint64_t epoch)
{
    const struct range bytes = {0x30000000, 0x30001000};
    bool *looked = user;
    *looked = true;
    assert_int_equal(pending_ranges_meet(bytes, true), PENDING_NOTHING);
    pending_ranges_forget(bytes);
    pending_ranges_add(epoch + 1, bytes, true);
    return false;
}

static void who_comes_again_meets_nothing(void **state)
{
    (void)state;
    bool looked = false;
    pending_ranges_add(1, (struct range){0x30000000, 0x30001000}, true);
    pending_ranges_release(looks_again, &looked);
    assert_true(looked);
    assert_int_equal(pending_ranges_meet((struct range){0x30000800, 0x30000801}, false),
                     PENDING_OP);
    pending_ranges_forget_all();
    assert_false(pending_ranges_any());
}

/* What has no room is counted; room comes back. */
static void what_is_dropped_is_counted(void **state)
{
    enum { ROOM = 1 << 16, MORE = 5 };
    const struct range bytes = {0x30000000, 0x30000010};
    (void)state;
    assert_int_equal(pending_ranges_dropped(), 0);
    for (uint64_t i = 0; i < ROOM + MORE; i++)
        pending_ranges_add(i, bytes, true);
    assert_int_equal(pending_ranges_dropped(), MORE);
    pending_ranges_add(0, (struct range){bytes.start, bytes.start}, true); /* nothing at all */
    assert_int_equal(pending_ranges_dropped(), MORE);
    pending_ranges_forget_all();
    pending_ranges_add(1, bytes, true);
    assert_int_equal(pending_ranges_dropped(), MORE);
    assert_int_equal(pending_ranges_meet(bytes, false), PENDING_OP);
    pending_ranges_stop();
    assert_int_equal(pending_ranges_dropped(), 0);
}

int main(void)
{
    static uint16_t written[INSTRUMENTED_PAGES], touched[INSTRUMENTED_PAGES],
        areas[INSTRUMENTED_AREAS];
    pending_ranges_start((struct csan_host_counters){written, touched, areas});
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_list_says),
        cmocka_unit_test(a_large_range_counts_everywhere),
        cmocka_unit_test(words_are_distinguished),
        cmocka_unit_test(who_comes_again_meets_nothing),
        cmocka_unit_test(what_is_dropped_is_counted),
    };
    return cmocka_run_group_tests_name("pending_ranges", tests, NULL, NULL);
}
