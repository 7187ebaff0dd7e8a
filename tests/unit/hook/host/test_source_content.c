/* What sources hold: what changes between two looks is found, and nothing is where something may
 * have had a right to write, or where the memory is gone. */
#include "runtime/hook/host/source_content.h"
#include "csan/order/clock.h"
#include "csan/shadow/lmad.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { PAGE = 4096, BYTES = 64 * PAGE, STREAM = 3, OTHER = 4 };

static char *memory;
static uint64_t over; /* ops up to that number of any lane are */

static bool is_over(void *user, uint64_t epoch)
{
    assert_ptr_equal(user, &over);
    return epoch_sequence(epoch) <= over;
}

static int begin(void **state)
{
    (void)state;
    over = 0;
    memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    source_content_stop();
    return memory == MAP_FAILED || !source_content_start(1000000);
}

static int end(void **state)
{
    (void)state;
    return munmap(memory, BYTES);
}

static struct host_touch touch_of(uint64_t number, struct lmad *lmad,
                                  const struct csan_access *access)
{
    assert_true(lmad_from_access(lmad, access));
    return (struct host_touch){.epoch = epoch_make(STREAM, number),
                               .number = number,
                               .site = 7,
                               .level = CSAN_LEVEL_LIBRARY,
                               .argument = 1,
                               .by = HOST_TOUCH_STREAM,
                               .memory = CSAN_MEMORY_HOST,
                               .writes = access->kind != CSAN_READ,
                               .exact = true,
                               .lmad = lmad,
                               .bytes = {lmad->base, lmad->base + lmad->span}};
}

static bool touch(uint64_t number, size_t offset, size_t bytes, int kind)
{
    struct lmad lmad;
    const struct csan_access access = {
        .base = (uintptr_t)memory + offset, .bytes = bytes, .kind = (uint8_t)kind};
    const struct host_touch what = touch_of(number, &lmad, &access);
    return source_content_touched(&what, true);
}

static bool learn(uint64_t number)
{
    over = number;
    return source_content_learned(is_over, &over);
}

static void assert_change(uint64_t number, size_t first, size_t last)
{
    struct source_change change;
    assert_true(source_content_next(&change));
    assert_int_equal(change.number, number);
    assert_int_equal(change.epoch, epoch_make(STREAM, number));
    assert_int_equal(change.site, 7);
    assert_int_equal(change.argument, 1);
    assert_true(change.bytes.start <= (uintptr_t)memory + first);
    assert_true(change.bytes.end > (uintptr_t)memory + last);
}

static void assert_no_change(void)
{
    struct source_change change;
    assert_false(source_content_next(&change));
}

static void what_the_host_changed_is_found(void **state)
{
    (void)state;
    touch(1, 16, 100, CSAN_READ);
    memory[115] = 1;
    assert_true(learn(1));
    assert_change(1, 115, 115);
    assert_no_change();
}

/* The same source again: what changed before its op did not change between that and the wait. */
static void the_next_op_of_the_same_source_is_a_second_look(void **state)
{
    (void)state;
    assert_false(touch(1, 16, 100, CSAN_READ));
    assert_false(touch(2, 16, 100, CSAN_READ));
    assert_false(touch(3, 60, 100, CSAN_READ));
    memory[100] = 1;
    assert_true(touch(4, 16, 100, CSAN_READ));
    assert_change(3, 100, 100);
    assert_change(2, 100, 100);
    assert_change(1, 100, 100);
    assert_no_change();
    assert_false(learn(4));
}

/* What else the call did may have written there, and csan has it only later. */
static void an_op_of_several_is_none(void **state)
{
    (void)state;
    struct lmad lmad;
    const struct csan_access access = {.base = (uintptr_t)memory, .bytes = 100, .kind = CSAN_READ};
    const struct host_touch what = touch_of(2, &lmad, &access);
    touch(1, 0, 100, CSAN_READ);
    memory[50] = 1;
    assert_false(source_content_touched(&what, false));
    touch(3, 40, 20, CSAN_WRITE);
    assert_false(learn(3));
}

static void what_it_changed_beside_is_not(void **state)
{
    (void)state;
    touch(1, 16, 100, CSAN_READ);
    memory[15] = 1;
    memory[116] = 1;
    assert_false(learn(1));
    assert_no_change();
}

static void what_it_changed_afterwards_is_not(void **state)
{
    (void)state;
    touch(1, 0, 100, CSAN_READ);
    touch(2, 200, 100, CSAN_READ);
    assert_false(learn(1));
    memory[50] = 1;
    assert_false(learn(2));
}

/* Of up to 32 KiB each byte. */
static void every_byte_of_a_small_source_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < 8 * PAGE; i += 509) {
        touch(i + 1, 3, 8 * PAGE, CSAN_READ);
        memory[3 + i]++;
        assert_true(learn(i + 1));
        assert_change(i + 1, 3 + i, 3 + i);
    }
}

static void the_ends_of_a_large_source_always_count(void **state)
{
    (void)state;
    static const size_t places[] = {0, PAGE - 1, BYTES - PAGE, BYTES - 1};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        touch(i + 1, 0, BYTES, CSAN_READ);
        memory[places[i]]++;
        assert_true(learn(i + 1));
        assert_change(i + 1, places[i], places[i]);
    }
}

/* A loop is covered over time. */
static void the_middle_of_a_large_source_counts_by_turns(void **state)
{
    (void)state;
    int found = 0;
    struct source_change change;
    for (uint64_t i = 1; i <= 1000; i++) {
        touch(i, 0, BYTES, CSAN_READ);
        memory[BYTES / 2]++;
        found += learn(i);
        while (source_content_next(&change))
            ;
    }
    assert_in_range(found, 50, 300); /* 6 pages of 62 */
}

static void rows_count_and_not_what_is_between(void **state)
{
    (void)state;
    const struct csan_dim rows = {.stride = 256, .count = 16};
    const struct csan_access access = {
        .base = (uintptr_t)memory, .bytes = 64, .kind = CSAN_READ, .dims = &rows, .dim_count = 1};
    struct lmad lmad;
    for (uint64_t i = 1; i <= 2; i++) {
        const struct host_touch what = touch_of(i, &lmad, &access);
        source_content_touched(&what, true);
        for (size_t row = 0; row < 16; row++)
            memset(memory + row * 256 + (i == 1 ? 64 : 0), (int)i, i == 1 ? 192 : 64);
        assert_int_equal(learn(i), i == 2);
    }
    assert_change(2, 0, 63);
}

static void work_of_a_device_may_write_the_source(void **state)
{
    (void)state;
    touch(1, 0, 100, CSAN_READ);
    touch(2, 99, 1, CSAN_WRITE);
    memory[99] = 1;
    assert_false(learn(2));
    touch(3, 50, 10, CSAN_ATOMIC); /* not over when the source is hashed */
    touch(4, 0, 100, CSAN_READ);
    memory[55] = 1;
    assert_false(learn(4));
    touch(5, 0, 100, CSAN_READ); /* now it is */
    memory[55] = 2;
    assert_true(learn(5));
    assert_change(5, 55, 55);
}

static void an_op_that_reads_and_writes_is_no_source(void **state)
{
    (void)state;
    touch(1, 0, 100, CSAN_READ);
    touch(1, 0, 100, CSAN_WRITE);
    touch(2, 200, 100, CSAN_WRITE);
    touch(2, 200, 100, CSAN_READ);
    memset(memory, 1, 400);
    assert_false(learn(2));
}

static void work_that_may_write_anywhere_silences_all(void **state)
{
    (void)state;
    const struct host_touch everywhere = {.epoch = epoch_make(OTHER, 2),
                                          .by = HOST_TOUCH_STREAM,
                                          .writes = true,
                                          .bytes = {0, UINT64_MAX}};
    touch(1, 0, 100, CSAN_READ);
    source_content_touched(&everywhere, true);
    touch(2, 200, 100, CSAN_READ);
    memset(memory, 1, 400);
    assert_false(learn(2));
}

/* A host that looks at a word which a kernel or a stream sets learns of what came before. */
static void a_flag_silences_what_came_before(void **state)
{
    (void)state;
    struct lmad lmad;
    const struct csan_access word = {
        .base = (uintptr_t)memory + PAGE, .bytes = 8, .kind = CSAN_WRITE};
    for (uint64_t i = 0; i < 3; i++) {
        struct host_touch flag = touch_of(3 * i + 2, &lmad, &word);
        flag.level = i == 0 ? CSAN_LEVEL_RANGES : CSAN_LEVEL_LIBRARY;
        flag.atomic = i == 1;
        touch(3 * i + 1, 0, 100, CSAN_READ);
        source_content_touched(&flag, true);
        touch(3 * i + 3, 200, 100, CSAN_READ);
        memory[0]++;
        assert_int_equal(learn(3 * i + 3), i == 2); /* a copy of a word is no flag */
    }
    assert_change(7, 0, 0);
}

/* What was declared, or faulted, the detector has judged. */
static void a_store_that_is_known_silences_its_source(void **state)
{
    (void)state;
    touch(1, 0, 100, CSAN_READ);
    touch(2, 200, 100, CSAN_READ);
    const struct host_touch store = {.by = HOST_TOUCH_HOST,
                                     .writes = true,
                                     .exact = true,
                                     .bytes = {(uintptr_t)memory, (uintptr_t)memory + 4}};
    source_content_touched(&store, true);
    memset(memory, 1, 400);
    assert_true(learn(2));
    assert_change(2, 200, 299);
    assert_no_change();
    touch(3, 0, 100, CSAN_READ); /* and is no work that is under way */
    memory[0] = 2;
    assert_true(learn(3));
    assert_change(3, 0, 0);
}

static void what_is_not_sure_is_no_source(void **state)
{
    (void)state;
    struct lmad lmad;
    const struct csan_access access = {.base = (uintptr_t)memory, .bytes = 100, .kind = CSAN_READ};
    struct host_touch touches[5];
    for (size_t i = 0; i < 5; i++)
        touches[i] = touch_of(1, &lmad, &access);
    touches[0].exact = false;
    touches[1].late = true;
    touches[2].memory = CSAN_MEMORY_MANAGED;
    touches[3].level = CSAN_LEVEL_LEARNED;
    touches[4].by = HOST_TOUCH_FUNCTION;
    for (size_t i = 0; i < 5; i++)
        source_content_touched(&touches[i], true);
    memory[0] = 1;
    assert_false(learn(1));
}

static void what_ends_is_forgotten(void **state)
{
    (void)state;
    touch(1, 0, 100, CSAN_READ);
    touch(2, PAGE, 100, CSAN_READ);
    source_content_forget((struct range){(uintptr_t)memory, (uintptr_t)memory + PAGE});
    memset(memory, 1, 2 * PAGE);
    assert_true(learn(2));
    assert_change(2, PAGE, PAGE + 99);
    assert_no_change();
    touch(3, 0, 100, CSAN_READ);
    source_content_forget_all();
    memory[0] = 2;
    assert_false(learn(3));
}

/* Memory whose end csan did not see, and memory that nobody may read. */
static void what_cannot_be_read_is_left_alone(void **state)
{
    (void)state;
    const uint64_t before = source_content_counts().silent;
    touch(1, 0, 2 * PAGE, CSAN_READ);
    touch(2, 4 * PAGE, PAGE, CSAN_READ);
    munmap(memory + PAGE, PAGE);
    mprotect(memory + 4 * PAGE, PAGE, PROT_NONE);
    memory[0] = 1;
    assert_false(learn(2));
    assert_int_equal(source_content_counts().silent - before, 2);
    touch(3, PAGE - 10, 20, CSAN_READ);
    touch(4, 4 * PAGE, PAGE, CSAN_READ);
    assert_false(learn(4));
}

static void no_more_time_is_spent_than_is_allowed(void **state)
{
    (void)state;
    source_content_stop();
    assert_true(source_content_start(1));
    const struct source_content_counts before = source_content_counts();
    for (uint64_t i = 1; i <= 5000; i++) {
        touch(i, 0, BYTES, CSAN_READ);
        learn(i);
    }
    const struct source_content_counts after = source_content_counts();
    assert_true(after.skipped - before.skipped > 4000);
    assert_int_equal(after.skipped - before.skipped + after.sources - before.sources, 5000);
}

/* The oldest that are there stay, and nothing grows. */
static void no_more_sources_are_kept_than_there_is_room_for(void **state)
{
    (void)state;
    const struct source_content_counts before = source_content_counts();
    for (uint64_t i = 1; i <= 5000; i++)
        touch(i, 0, 16, CSAN_READ);
    assert_int_equal(source_content_counts().sources - before.sources, 4096);
    assert_int_equal(source_content_counts().skipped - before.skipped, 5000 - 4096);
    assert_false(learn(5000));
}

static void a_child_looks_at_nothing(void **state)
{
    (void)state;
    touch(1, 0, 100, CSAN_READ);
    source_content_stop();
    memory[0] = 1;
    assert_false(learn(1));
    touch(2, 0, 100, CSAN_READ);
    memory[0] = 2;
    assert_false(learn(2));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_the_host_changed_is_found),
        TEST(the_next_op_of_the_same_source_is_a_second_look),
        TEST(an_op_of_several_is_none),
        TEST(what_it_changed_beside_is_not),
        TEST(what_it_changed_afterwards_is_not),
        TEST(every_byte_of_a_small_source_counts),
        TEST(the_ends_of_a_large_source_always_count),
        TEST(the_middle_of_a_large_source_counts_by_turns),
        TEST(rows_count_and_not_what_is_between),
        TEST(work_of_a_device_may_write_the_source),
        TEST(an_op_that_reads_and_writes_is_no_source),
        TEST(work_that_may_write_anywhere_silences_all),
        TEST(a_flag_silences_what_came_before),
        TEST(a_store_that_is_known_silences_its_source),
        TEST(what_is_not_sure_is_no_source),
        TEST(what_ends_is_forgotten),
        TEST(what_cannot_be_read_is_left_alone),
        TEST(no_more_time_is_spent_than_is_allowed),
        TEST(no_more_sources_are_kept_than_there_is_room_for),
        TEST(a_child_looks_at_nothing),
    };
    return cmocka_run_group_tests_name("source_content", tests, NULL, NULL);
}
