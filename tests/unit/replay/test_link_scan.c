/* The first reading of several recordings: which record a wait is for, which handle an opening, and
 * which message a receive has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/replay/link_scan.h"

#include <csan/csan.h>

#include <stdlib.h>
#include <time.h>

static uint64_t random_state = 3;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % limit);
}

static void take(struct link_scan *scan, size_t process, enum recording_kind kind,
                 const struct csan_link *link)
{
    struct recorded recorded = {.kind = kind};
    recorded.value[FIELD_FLAGS] = (uint64_t)link->kind;
    recorded.value[FIELD_HANDLE] = link->key;
    recorded.value[FIELD_FIRST] = link->number;
    recorded.value[FIELD_LAST] = link->peers;
    recorded.value[FIELD_ADDRESS] = recorded.value[FIELD_BASE] = link->address;
    recorded.value[FIELD_BYTES] = link->bytes;
    recorded.value[FIELD_NANOSECONDS] = link->time;
    assert_true(link_scan_take(scan, process, &recorded));
}
#define LINK(process, ...)                                                                         \
    take(scan, process, RECORDED_LINK, &(const struct csan_link){__VA_ARGS__})

static void a_wait_is_for_the_newest_record(void **state)
{
    (void)state;
    struct link_scan *scan = link_scan_create(2);
    LINK(0, .kind = CSAN_LINK_RECORD, .key = 5, .time = 10);
    LINK(0, .kind = CSAN_LINK_RECORD, .key = 5, .time = 30);
    LINK(1, .kind = CSAN_LINK_RECORD, .key = 5, .time = 20);
    LINK(1, .kind = CSAN_LINK_WAIT, .key = 5, .time = 25); /* its own */
    LINK(1, .kind = CSAN_LINK_WAIT, .key = 5, .time = 31);
    LINK(1, .kind = CSAN_LINK_WAIT, .key = 5, .time = 9); /* none yet */
    LINK(1, .kind = CSAN_LINK_WAIT, .key = 6, .time = 99);
    assert_true(link_scan_resolve(scan));
    const struct link_process *process = link_scan_of(scan, 1);
    assert_int_equal(process->wanted_count, 4);
    assert_int_equal(process->wanted[0].process, 1);
    assert_int_equal(process->wanted[0].number, 0);
    assert_int_equal(process->wanted[1].process, 0);
    assert_int_equal(process->wanted[1].number, 1);
    assert_int_equal(process->wanted[2].process, LINK_NONE);
    assert_int_equal(process->wanted[3].process, LINK_NONE);
    assert_int_equal(link_scan_of(scan, 0)->uses[0], 0);
    assert_int_equal(link_scan_of(scan, 0)->uses[1], 1);
    link_scan_destroy(scan);
}

static void memory_lies_at_one_place_for_all(void **state)
{
    (void)state;
    struct link_scan *scan = link_scan_create(3);
    take(scan, 0, RECORDED_BIRTH, &(struct csan_link){.address = 4096});
    take(scan, 0, RECORDED_BIRTH, &(struct csan_link){.address = 8192});
    LINK(0, .kind = CSAN_LINK_SHARE, .key = 1, .address = 8192, .bytes = 64, .time = 5);
    LINK(1, .kind = CSAN_LINK_OPEN, .key = 1, .address = 100, .bytes = 64, .time = 6);
    LINK(2, .kind = CSAN_LINK_OPEN, .key = 1, .address = 300, .bytes = 64, .time = 7);
    assert_true(link_scan_resolve(scan));
    const struct link_process *owner = link_scan_of(scan, 0);
    assert_int_equal(owner->births[1].unified, 0);
    assert_int_not_equal(owner->births[2].unified, 0);
    assert_int_equal(owner->births[2].bytes, 64);
    for (size_t i = 1; i < 3; i++) {
        assert_int_equal(link_scan_of(scan, i)->opened[0], owner->births[2].unified);
        assert_false(link_scan_of(scan, i)->foreign);
    }
    assert_int_equal(owner->uses[0], 2);
    link_scan_destroy(scan);
}

/* A key of its own: the other rank may open it by its clock before the owner says so. */
static void a_window_is_a_part_of_memory(void **state)
{
    (void)state;
    struct link_scan *scan = link_scan_create(2);
    take(scan, 0, RECORDED_BIRTH, &(struct csan_link){.address = 4096});
    LINK(0, .kind = CSAN_LINK_SHARE, .key = 1, .number = 512, .peers = 1, .address = 4096,
         .bytes = 1024, .time = 9);
    LINK(1, .kind = CSAN_LINK_OPEN, .key = 1, .address = 300, .bytes = 512, .time = 8);
    assert_true(link_scan_resolve(scan));
    const struct link_memory *memory = &link_scan_of(scan, 0)->births[1];
    assert_int_equal(memory->bytes, 1024);
    assert_int_equal(link_scan_of(scan, 1)->wanted[0].process, 0);
    assert_int_equal(link_scan_of(scan, 1)->opened[0], memory->unified + 512);
    assert_false(link_scan_of(scan, 1)->foreign);
    link_scan_destroy(scan);
}

static void parts_of_one_memory_lie_in_it(void **state)
{
    (void)state;
    struct link_scan *scan = link_scan_create(2);
    LINK(0, .kind = CSAN_LINK_MAP, .key = 9, .number = 64, .address = 4096, .bytes = 64);
    LINK(0, .kind = CSAN_LINK_MAP, .key = 8, .address = 100, .bytes = 1000);
    LINK(1, .kind = CSAN_LINK_MAP, .key = 9, .number = 0, .address = 300, .bytes = 64);
    assert_true(link_scan_resolve(scan));
    const struct link_memory *first = link_scan_of(scan, 0)->mapped;
    const struct link_memory *second = link_scan_of(scan, 1)->mapped;
    assert_int_equal(first[0].unified, second[0].unified);
    assert_int_equal(first[0].bytes, 128);
    assert_int_not_equal(first[1].unified, first[0].unified);
    assert_int_equal(first[1].bytes, 1000);
    link_scan_destroy(scan);
}

/* NCCL's windows are of memory that has descriptors, too. */
static void a_window_of_memory_with_a_descriptor_lies_in_it(void **state)
{
    (void)state;
    struct link_scan *scan = link_scan_create(2);
    take(scan, 0, RECORDED_BIRTH, &(struct csan_link){.address = 4096}); /* a reservation */
    LINK(0, .kind = CSAN_LINK_MAP, .key = 9, .number = 64, .address = 5120, .bytes = 1024);
    LINK(0, .kind = CSAN_LINK_SHARE, .key = 1, .number = 1536, .peers = 1, .address = 4096,
         .bytes = 4096, .time = 9);
    LINK(1, .kind = CSAN_LINK_OPEN, .key = 1, .address = 300, .bytes = 512, .time = 8);
    LINK(0, .kind = CSAN_LINK_CLOSE, .address = 5120);
    LINK(0, .kind = CSAN_LINK_SHARE, .key = 2, .number = 1536, .peers = 1, .address = 4096,
         .bytes = 4096, .time = 9);
    LINK(1, .kind = CSAN_LINK_OPEN, .key = 2, .address = 300, .bytes = 512, .time = 8);
    assert_true(link_scan_resolve(scan));
    const struct link_memory *mapped = link_scan_of(scan, 0)->mapped;
    const struct link_memory *birth = &link_scan_of(scan, 0)->births[1];
    assert_int_equal(link_scan_of(scan, 1)->opened[0], mapped->unified + 64 + 512);
    assert_int_equal(link_scan_of(scan, 1)->opened[1], birth->unified + 1536);
    assert_int_not_equal(birth->unified, mapped->unified);
    link_scan_destroy(scan);
}

/* Others may have ordered what these do. */
static void memory_of_nobody_is_said(void **state)
{
    (void)state;
    struct link_scan *scan = link_scan_create(2);
    LINK(0, .kind = CSAN_LINK_OPEN, .key = 1, .address = 100, .bytes = 64, .time = 6);
    LINK(1, .kind = CSAN_LINK_OPEN, .key = 1, .address = 300, .bytes = 64, .time = 7);
    assert_true(link_scan_resolve(scan));
    assert_int_not_equal(link_scan_of(scan, 0)->opened[0], 0);
    assert_int_equal(link_scan_of(scan, 0)->opened[0], link_scan_of(scan, 1)->opened[0]);
    assert_true(link_scan_of(scan, 0)->foreign);
    link_scan_destroy(scan);
}

/* Every pair of these would take a minute. */
static void much_memory_of_nobody_takes_no_time(void **state)
{
    enum { OPENINGS = 1 << 18 };
    (void)state;
    struct link_scan *scan = link_scan_create(2);
    for (uint64_t i = 0; i < OPENINGS; i++)
        LINK(i % 2, .kind = CSAN_LINK_OPEN, .key = 1 + i / 2, .bytes = 64, .time = i);
    const clock_t before = clock();
    assert_true(link_scan_resolve(scan));
    assert_true(clock() - before < 20 * CLOCKS_PER_SEC);
    const uint64_t *one = link_scan_of(scan, 0)->opened, *other = link_scan_of(scan, 1)->opened;
    for (size_t i = 0; i < OPENINGS / 2; i++) {
        assert_int_equal(one[i], other[i]);
        assert_true(i == 0 || one[i] > one[i - 1]);
    }
    link_scan_destroy(scan);
}

/* Receives that end in any order, with looks between, against a count of those posted before. */
static void messages_have_the_order_of_receives(void **state)
{
    enum { RECEIVES = 40, CHANNELS = 3 };
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct link_scan *scan = link_scan_create(1);
        uint64_t channel[RECEIVES + 1], order[RECEIVES];
        for (uint64_t i = 0; i < RECEIVES; i++) {
            channel[i + 1] = 10 + random_below(CHANNELS);
            const uint64_t other = random_below((uint32_t)i + 1);
            order[i] = order[other];
            order[other] = i + 1;
        }
        for (int i = 0; i < RECEIVES; i++)
            LINK(0, .kind = CSAN_LINK_TAKE, .key = channel[order[i]], .number = order[i]);
        for (uint64_t i = 1; i <= RECEIVES; i++)
            LINK(0, .kind = CSAN_LINK_LOOK, .key = channel[i], .number = i);
        assert_true(link_scan_resolve(scan));
        const struct link_process *process = link_scan_of(scan, 0);
        for (int i = 0; i < RECEIVES; i++) {
            uint32_t before = 0;
            for (uint64_t k = 1; k < order[i]; k++)
                before += channel[k] == channel[order[i]];
            assert_int_equal(process->taken[i], before + 1);
            assert_int_equal(process->taken[RECEIVES + order[i] - 1], before + 1);
        }
        assert_false(process->uncertain);
        link_scan_destroy(scan);
    }
}

static void a_receive_that_never_ends_is_said_if_it_matters(void **state)
{
    (void)state;
    for (uint64_t open = 0; open < 2; open++) {
        struct link_scan *scan = link_scan_create(1);
        LINK(0, .kind = CSAN_LINK_TAKE, .key = 10, .number = 1);
        LINK(0, .kind = CSAN_LINK_TAKE, .key = 10, .number = 3, .peers = open);
        assert_true(link_scan_resolve(scan));
        assert_int_equal(link_scan_of(scan, 0)->uncertain, open);
        link_scan_destroy(scan);
    }
}

static void lacks_are_kept(void **state)
{
    (void)state;
    struct link_scan *scan = link_scan_create(1);
    LINK(0, .kind = CSAN_LINK_LACK, .key = CSAN_LACK_THREADS);
    LINK(0, .kind = CSAN_LINK_LACK, .key = 1000); /* of a later csan */
    assert_true(link_scan_resolve(scan));
    assert_int_equal(link_scan_of(scan, 0)->lacks, 1u << CSAN_LACK_THREADS | 1u << 31);
    link_scan_destroy(scan);
}

/* A send that waits for its receive is over behind where that was posted, or behind its end. */
static void a_synchronous_send_waits_for_its_receive(void **state)
{
    (void)state;
    struct link_scan *scan = link_scan_create(2);
    LINK(0, .kind = CSAN_LINK_NEXT, .key = 10);
    LINK(0, .kind = CSAN_LINK_NEXT, .key = 10, .number = 1);
    LINK(0, .kind = CSAN_LINK_NEXT, .key = 10, .number = 2);
    LINK(0, .kind = CSAN_LINK_NEXT, .key = 11, .number = 3);
    LINK(0, .kind = CSAN_LINK_TAKEN, .number = 2);
    LINK(0, .kind = CSAN_LINK_TAKEN, .number = 1);
    LINK(0, .kind = CSAN_LINK_TAKEN, .number = 3);
    LINK(1, .kind = CSAN_LINK_POST, .number = 2);            /* source 0 */
    LINK(1, .kind = CSAN_LINK_LOOK, .key = 10, .number = 1); /* none */
    LINK(1, .kind = CSAN_LINK_TAKE, .key = 10, .number = 3); /* source 1 */
    LINK(1, .kind = CSAN_LINK_TAKE, .key = 10, .number = 2);
    LINK(1, .kind = CSAN_LINK_TAKE, .key = 10, .number = 1);
    LINK(1, .kind = CSAN_LINK_LOOK, .key = 11, .number = 4);
    assert_true(link_scan_resolve(scan));
    const struct link_process *process = link_scan_of(scan, 0);
    assert_int_equal(process->wanted_count, 3);
    assert_int_equal(process->wanted[0].process, 1);
    assert_int_equal(process->wanted[0].number, 1);
    assert_int_equal(process->wanted[1].process, 1);
    assert_int_equal(process->wanted[1].number, 0);
    assert_int_equal(process->wanted[2].process, LINK_NONE); /* it was seen, and not received */
    assert_int_equal(link_scan_of(scan, 1)->source_count, 4);
    assert_int_equal(link_scan_of(scan, 1)->uses[0], 1);
    assert_int_equal(link_scan_of(scan, 1)->uses[1], 1);
    assert_int_equal(link_scan_of(scan, 1)->uses[2], 0);
    link_scan_destroy(scan);
}

/* Values of a window that one process writes and another one reads; not its own, nor if all read.
 */
static void reading_what_others_may_write_is_said(void **state)
{
    (void)state;
    struct link_scan *scan = link_scan_create(3);
    LINK(0, .kind = CSAN_LINK_LACK, .key = CSAN_LACK_ONE_SIDED, .number = 5, .peers = 1);
    LINK(0, .kind = CSAN_LINK_LACK, .key = CSAN_LACK_ONE_SIDED, .number = 5, .peers = 2);
    LINK(1, .kind = CSAN_LINK_LACK, .key = CSAN_LACK_ONE_SIDED, .number = 5, .peers = 2);
    LINK(2, .kind = CSAN_LINK_LACK, .key = CSAN_LACK_ONE_SIDED, .number = 6, .peers = 2);
    assert_true(link_scan_resolve(scan));
    assert_false(link_scan_of(scan, 0)->exposed);
    assert_true(link_scan_of(scan, 1)->exposed);
    assert_false(link_scan_of(scan, 2)->exposed);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(link_scan_of(scan, i)->lacks, 0);
    link_scan_destroy(scan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_is_for_the_newest_record),
        cmocka_unit_test(memory_lies_at_one_place_for_all),
        cmocka_unit_test(a_window_is_a_part_of_memory),
        cmocka_unit_test(parts_of_one_memory_lie_in_it),
        cmocka_unit_test(a_window_of_memory_with_a_descriptor_lies_in_it),
        cmocka_unit_test(memory_of_nobody_is_said),
        cmocka_unit_test(much_memory_of_nobody_takes_no_time),
        cmocka_unit_test(messages_have_the_order_of_receives),
        cmocka_unit_test(a_receive_that_never_ends_is_said_if_it_matters),
        cmocka_unit_test(lacks_are_kept),
        cmocka_unit_test(a_synchronous_send_waits_for_its_receive),
        cmocka_unit_test(reading_what_others_may_write_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
