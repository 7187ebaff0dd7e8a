/* The learner: when a launch is traced, when its set is known, what makes it a bound. */
#include "tests/unit/learn/test_learner.h"

#include "runtime/learn/agreement.h"

#include <time.h>

enum { SCATTERED = 150, MANY_ROWS = 3000 };

static uint32_t number; /* another for each launch */

/* A launch on p of n numbers, with a seed; it touches `bytes` at `at`. */
static void launch(uint64_t p, uint32_t n, uint32_t seed, uint64_t at, uint64_t bytes)
{
    world_begin(&world);
    world_pointer(&world, p);
    world_number(&world, n);
    world_number(&world, seed);
    world_anchors(&world);
    world_touch(&world, DEVICE_TRACE_WRITE, at, bytes);
    ask();
    if (reply.trace)
        take_trace();
    else
        launch_key_release(&key);
}

static void two_equal_launches_make_it_known(void **state)
{
    (void)state;
    launch(A, 16, 0, A, 64);
    assert_true(reply.trace);
    assert_int_equal(reply.answer, LEARN_OPEN);
    launch(B, 16, 0, B, 64);
    assert_true(reply.trace);
    launch(B, 16, 0, B, 64);
    assert_int_equal(reply.answer, LEARN_KNOWN);
    assert_false(reply.trace);
    assert_int_equal(learned_range_address(&reply.set->ranges[0], &world.launch), B);
    launch(A, 32, 0, A, 128); /* another size is another key */
    assert_int_equal(reply.answer, LEARN_OPEN);
}

/* The third launch waits: its set comes with those of the first two. */
static void launches_behind_those_under_way_wait(void **state)
{
    (void)state;
    struct launch_key keys[2];
    for (int i = 0; i < 4; i++) {
        world_begin(&world);
        world_pointer(&world, A);
        world_anchors(&world);
        world_touch(&world, DEVICE_TRACE_WRITE, A, 64);
        ask();
        assert_int_equal(reply.trace, i < 2);
        assert_int_equal(reply.answer, LEARN_OPEN);
        assert_false(reply.due && i >= 2);
        if (i < 2)
            keys[i] = key, keys[i].words = keys[i].room;
    }
    for (int i = 0; i < 2; i++) {
        key = keys[i];
        key.words = key.room;
        take_trace();
        key = keys[0];
        key.words = key.room;
        learned_set_release(reply.set);
        learner_look(learner, kernel, &key, &world.launch, world_find, &world, &reply);
        assert_int_equal(reply.answer, i ? LEARN_KNOWN : LEARN_OPEN);
    }
}

static void what_was_refused_is_asked_for_again(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        world_begin(&world);
        world_pointer(&world, A);
        world_anchors(&world);
        ask();
        assert_true(reply.trace);
        learner_refused(learner, kernel, &key);
        learned_set_release(reply.set);
        learner_look(learner, kernel, &key, &world.launch, world_find, &world, &reply);
        assert_true(reply.due);
    }
}

/* An end is pointed to, too: as of the last block. */
static void pointers_lie_where_memory_does(void **state)
{
    (void)state;
    struct learn_anchor anchors[LEARN_MAX_ANCHORS];
    const uint64_t words[] = {0, A - 8, A, A + SIZE, A + SIZE + 8, 1};
    world.block_count = 1;
    const uint32_t count =
        learn_find_pointers((const uint8_t *)words, sizeof words, (struct learn_block){A, A + SIZE},
                            world_find_all, &world, anchors, 0, LEARN_MAX_ANCHORS);
    assert_int_equal(count, 2);
    assert_int_equal(anchors[0].address, A);
    assert_int_equal(anchors[1].address, A + SIZE);
    assert_int_equal(learn_find_pointers((const uint8_t *)words, sizeof words,
                                         (struct learn_block){0, 0}, world_find_all, &world,
                                         anchors, 0, LEARN_MAX_ANCHORS),
                     0);
}

/* Of a kernel whose grids are many and seldom launched, what is known is not to go for what nobody
 * ever traces. */
static void looking_leaves_what_is_known(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        launch(A, 16, 0, A, 64);
    assert_int_equal(reply.answer, LEARN_KNOWN);
    for (uint32_t i = 0; i < 10000; i++) {
        world_begin(&world);
        world_pointer(&world, A);
        world_anchors(&world);
        world.launch.grid[0] = 2 + i;
        learned_set_release(reply.set);
        assert_true(launch_key_make(&key, &world.launch));
        learner_look(learner, kernel, &key, &world.launch, world_find, &world, &reply);
        launch_key_release(&key);
        assert_int_equal(reply.answer, LEARN_OPEN);
    }
    launch(A, 16, 0, A, 64);
    assert_int_equal(reply.answer, LEARN_KNOWN);
}

static void something_is_known_once_it_was_asked_for(void **state)
{
    (void)state;
    assert_false(learner_knows(learner, kernel));
    launch(A, 16, 0, A, 64);
    assert_true(learner_knows(learner, kernel));
}

static void lost_traces_are_given_up(void **state)
{
    (void)state;
    int traced = 0;
    for (int i = 0; i < 40; i++) {
        world_begin(&world);
        world_pointer(&world, A);
        world_anchors(&world);
        ask();
        traced += reply.trace;
        if (reply.trace)
            learner_take_trace(learner, kernel, &key, &world.launch, NULL);
    }
    assert_int_equal(reply.answer, LEARN_UNKNOWN);
    assert_int_equal(reply.reason, LEARN_LOST);
    assert_true(traced < 10);
}

/* Indices that change before launch 4: it is learned again then, and bounded from there on. */
static void a_change_is_found_at_the_fourth_launch(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= 40; i++) {
        uint64_t at = i < 3 ? A : A + 16 * i;
        launch(A, 16, 0, at, 64);
        if (i == 3) /* the price of learning */
            assert_int_equal(reply.answer, LEARN_KNOWN);
        if (i > 4) {
            assert_int_equal(reply.answer, LEARN_BOUNDED);
            assert_true(reply.set->ranges[0].whole);
        }
        assert_int_equal(reply.trace, i < 3 || (i >= 4 && !(i & (i - 1))));
    }
}

/* What is known is confirmed when there is time; what is not known is learned all the same. */
static void what_may_not_be_confirmed_is_later(void **state)
{
    (void)state;
    learner_confirm(learner, false);
    for (uint32_t i = 1; i <= 6; i++) {
        launch(A, 16, 0, A, 64);
        assert_int_equal(reply.trace, i < 3);
    }
    launch(A, 32, 0, A, 128);
    assert_true(reply.trace);
    learner_confirm(learner, true);
    for (uint32_t i = 7; i <= 8; i++) {
        launch(A, 16, 0, A, 64);
        assert_int_equal(reply.answer, LEARN_KNOWN);
        assert_true(reply.trace); /* the fourth's turn, and the eighth's */
    }
    launch(A, 16, 0, A, 64);
    assert_false(reply.trace);
}

static void again(uint64_t p, uint32_t n)
{
    world_begin(&world);
    world_pointer(&world, p);
    world_number(&world, n);
    world_number(&world, 0);
    world_anchors(&world);
    assert_true(launch_key_make(&key, &world.launch));
    learner_again(learner, kernel, &key, &world.launch);
    launch_key_release(&key);
}

/* Launches that are not all asked for are confirmed when their caller says so. */
static void what_is_asked_for_is_confirmed(void **state)
{
    (void)state;
    again(A, 16); /* nothing is known of it */
    for (uint32_t i = 1; i <= 3; i++) {
        launch(A, 16, 0, A, 64);
        assert_int_equal(reply.trace, i < 3);
    }
    for (uint32_t i = 0; i < 3; i++) {
        again(A, 32); /* of another key */
        launch(A, 16, 0, A, 64);
        assert_int_equal(reply.trace, i != 1); /* its fourth, sixth and eighth */
        again(A, 16);
        launch(A, 16, 0, i < 2 ? A : A + 64, 64);
        assert_true(reply.trace);
    }
    launch(A, 16, 0, A, 64);
    assert_int_equal(reply.answer, LEARN_BOUNDED);
    assert_false(reply.trace);
    again(A, 16);
    launch(A, 16, 0, A, 64);
    assert_true(reply.trace);
}

static void a_seed_leaves_the_key(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 20; i++) {
        launch(A, 16, 1000 + i, A, 64);
        assert_int_equal(reply.answer, i < VALUES ? LEARN_OPEN : LEARN_KNOWN);
    }
    launch(A, 17, 3, A, 68);
    assert_int_equal(reply.answer, LEARN_OPEN);
}

/* A size that had no effect at four values, and then has: found at the next learning, and from
 * then on it stays in the key. */
static void a_byte_that_mattered_comes_back(void **state)
{
    (void)state;
    uint32_t wrong = 0;
    for (uint32_t n = 100; n < 140; n++) {
        uint32_t touched = n < 110 ? 64 : 4 * n;
        launch(A, n, 0, A, touched);
        if (reply.answer == LEARN_KNOWN && reply.set->ranges[0].bytes != touched)
            wrong++;
        if (n >= 116) /* launch 16 */
            assert_true(reply.answer == LEARN_OPEN || reply.set->ranges[0].bytes == touched);
    }
    assert_true(wrong > 0 && wrong <= 6);
}

static void what_does_not_fit_is_traced_again(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        launch(A, 16, 0, A, 4096);
    assert_int_equal(reply.answer, LEARN_KNOWN);
    launch(B + 4, 16, 0, B + 4, 64); /* other alignment: another key */
    assert_int_equal(reply.answer, LEARN_OPEN);
    launch(B + 256, 16, 0, B + 256, 64); /* the same alignment, and no room */
    assert_int_equal(reply.answer, LEARN_OPEN);
    assert_true(reply.trace);
    launch(B, 16, 0, B, 64);
    assert_int_equal(reply.answer, LEARN_BOUNDED);
}

/* A launch that is captured is looked up only. */
static void what_does_not_fit_is_not_looked_up(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        launch(A, 16, 0, A, 4096);
    for (int i = 0; i < 2; i++) {
        world_begin(&world);
        world_pointer(&world, B + 256 * i);
        world_number(&world, 16);
        world_number(&world, 0);
        world_anchors(&world);
        assert_true(launch_key_make(&key, &world.launch));
        learned_set_release(reply.set);
        learner_look(learner, kernel, &key, &world.launch, world_find, &world, &reply);
        launch_key_release(&key);
        assert_int_equal(reply.answer, i ? LEARN_OPEN : LEARN_KNOWN);
    }
}

static void memory_behind_tables_is_known_while_it_stays(void **state)
{
    (void)state;
    size_t c = world.block_count;
    world_block(&world, C, SIZE);
    for (int i = 0; i < 3; i++)
        launch(A, 16, 0, C, 64);
    assert_int_equal(reply.answer, LEARN_KNOWN);
    world.blocks[c] = (struct learn_block){C + SIZE, C + 2 * SIZE};
    launch(A, 16, 0, C + SIZE, 64); /* moved: begins anew; it is also launch 4 */
    assert_int_equal(reply.answer, LEARN_OPEN);
    launch(A, 16, 0, C + SIZE, 64);
    launch(A, 16, 0, C + SIZE, 64);
    assert_int_equal(reply.answer, LEARN_KNOWN);
    for (int i = 7; i <= 8; i++) /* launch 8 is learned again */
        launch(A, 16, 0, C + SIZE + 64, 64);
    launch(A, 16, 0, C + SIZE + 64, 64);
    assert_int_equal(reply.answer, LEARN_UNKNOWN);
    assert_int_equal(reply.reason, LEARN_INDIRECT);
}

/* What is known by its place is so in this process alone, as what is of an image without a name. */
static void nothing_is_left_once_all_is_known(void **state)
{
    (void)state;
    assert_false(is_settled()); /* nothing was launched */
    for (uint32_t n = 16; n <= 32; n += 16) {
        launch(A, n, 0, A, 64);
        assert_false(is_settled());
        launch(B, n, 0, B, 64);
        assert_true(is_settled());
    }
    for (int i = 0; i < 8; i++)
        launch(A, 32, 0, A, 64u << i); /* depends on data */
    assert_int_equal(reply.answer, LEARN_BOUNDED);
    assert_true(is_settled());
    world_block(&world, C, SIZE);
    for (int i = 0; i < 3; i++)
        launch(A, 48, 0, C, 64);
    assert_int_equal(reply.answer, LEARN_KNOWN);
    assert_false(is_settled());
}

static void what_is_known_here_alone_is_left(void **state)
{
    (void)state;
    kernel = learner_kernel(learner, (struct learn_image){{0, 1}}, "kernel");
    for (int i = 0; i < 3; i++)
        launch(A, 16, 0, A, 64);
    assert_int_equal(reply.answer, LEARN_KNOWN);
    assert_false(is_settled());
}

/* A launch that writes so many bytes from one pointer on, and reads some from another. */
static void launch_two(uint64_t p, uint64_t bytes, uint64_t q)
{
    world_begin(&world);
    world_pointer(&world, p);
    world_pointer(&world, q);
    world_anchors(&world);
    world_touch(&world, DEVICE_TRACE_WRITE, p, bytes);
    world_touch(&world, DEVICE_TRACE_READ, q, 64);
    ask();
    if (reply.trace)
        take_trace();
    else
        launch_key_release(&key);
}

/* Blocks that adjoin in one process and not in the next: known there, and looked at. */
static void blocks_that_adjoin_may_lie_apart(void **state)
{
    (void)state;
    world_block(&world, A + SIZE, SIZE);
    for (int i = 0; i < 3; i++)
        launch_two(A, SIZE, A + SIZE);
    assert_int_equal(reply.answer, LEARN_KNOWN);
    assert_false(reply.trace);
    learner_confirm(learner, false);
    for (int i = 0; i < 2; i++) {
        launch_two(B, SIZE, A);
        assert_int_equal(reply.answer, LEARN_KNOWN);
        assert_false(reply.trace); /* there is no time */
    }
    learner_confirm(learner, true);
    launch_two(B, SIZE, A);
    assert_true(reply.trace);
    launch_two(B, SIZE, A);
    assert_int_equal(reply.answer, LEARN_KNOWN);
    assert_false(reply.trace);
}

/* A kernel that writes up to its other pointer, from which it reads in another way. */
static void an_end_that_begins_a_block_is_found_out(void **state)
{
    (void)state;
    const uint64_t end = A + SIZE;
    world_block(&world, end, SIZE);
    for (int i = 0; i < 3; i++)
        launch_two(end - 512, 512, end);
    assert_int_equal(reply.answer, LEARN_KNOWN);
    launch_two(end - 1024, 1024, end); /* this one is taken for as long as the others */
    assert_true(reply.trace);
    for (uint64_t bytes = 256; bytes <= 2048; bytes += 256) {
        launch_two(end - bytes, bytes, end);
        if (reply.answer == LEARN_KNOWN)
            assert_int_equal(reply.set->ranges[0].bytes, bytes);
    }
}

/* A kernel that writes more than the block it is given. */
static void bytes_behind_a_block_are_found_out(void **state)
{
    (void)state;
    world_block(&world, A + SIZE, SIZE);
    world_block(&world, C, SIZE);
    for (int i = 0; i < 3; i++)
        launch_two(A, SIZE + 4, A + SIZE);
    assert_int_equal(reply.answer, LEARN_KNOWN);
    for (int i = 0; i < 4; i++) {
        launch_two(B, SIZE + 4, C);
        assert_int_equal(reply.trace, i < 2);
    }
    assert_int_equal(reply.answer, LEARN_KNOWN);
    assert_int_equal(reply.set->block_count, 1); /* those, by their address */
}

/* Words that had left come back, and with them the keys of launches that are not known by those. */
static void what_was_launched_is_so_under_new_keys(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 5; n++)
        launch(A, n, 0, A, 64);
    assert_true(is_settled());
    for (int i = 0; i < 6; i++)
        launch(A, 6, 0, A, 128);
    assert_int_equal(reply.answer, LEARN_KNOWN);
    assert_false(is_settled());
}

static void keys_that_never_repeat_get_one_bound(void **state)
{
    (void)state;
    int traced = 0;
    for (uint32_t i = 0; i < 2000; i++) {
        launch(A, 16 + i * 7919, i * 104729, A + i % 500 * 8, 8 + i % 7);
        traced += reply.trace;
    }
    assert_int_equal(reply.answer, LEARN_BOUNDED);
    assert_true(reply.set->ranges[0].whole);
    assert_true(traced < 200);
}

/* A launch on A of n rows; they are scattered. */
static void launch_rows(uint32_t n)
{
    uint64_t at = A;
    world_begin(&world);
    world_pointer(&world, A);
    world_number(&world, n);
    world_anchors(&world);
    for (uint32_t i = 0; i < MANY_ROWS; i++) {
        at += 512 * (1 + (n * i * i >> 3) % 13);
        world_touch(&world, DEVICE_TRACE_READ, at, 256);
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double seconds_to_compare(void)
{
    launch_rows(1);
    struct learned_set *one = world_set(&world), *same = world_set(&world);
    double begin = seconds();
    for (int i = 0; i < 8; i++)
        assert_true(learned_sets_agree(one, same));
    double each = (seconds() - begin) / 8;
    learned_set_release(one);
    learned_set_release(same);
    return each;
}

/* The program waits meanwhile. */
static void a_trace_is_compared_once_with_each_other(void **state)
{
    (void)state;
    enum { TRACES = 80, COUNTED = 10 };
    double each, took = 0;
    world.block_count = 0;
    world_block(&world, A, (uint64_t)512 * 16 * MANY_ROWS);
    each = seconds_to_compare();
    for (uint32_t n = 1; n <= TRACES; n++) {
        launch_rows(n);
        ask();
        assert_true(reply.trace);
        double begin = seconds();
        take_trace();
        took += n > TRACES - COUNTED ? seconds() - begin : 0;
    }
    assert_true(took / COUNTED < 4 * AGREEMENTS * each);
}

/* A coarse trace contradicts nothing, and an exact one takes its place. */
static void coarse_traces_are_bounds(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        world_begin(&world);
        world_pointer(&world, A);
        world_anchors(&world);
        world_touch(&world, DEVICE_TRACE_WRITE, A, 64);
        world.trace.inexact = true;
        ask();
        if (reply.trace)
            take_trace();
    }
    assert_int_equal(reply.answer, LEARN_BOUNDED);
    world_begin(&world);
    world_pointer(&world, A);
    world_anchors(&world);
    world_touch(&world, DEVICE_TRACE_WRITE, A, 61);
    ask();
    assert_true(reply.trace); /* launch 4 */
    take_trace();
    ask();
    assert_int_equal(reply.answer, LEARN_KNOWN);
    assert_int_equal(reply.set->ranges[0].bytes, 61);
}

/* Rows of a table, its indices and the output in one block, with two numbers that change with every
 * launch. Three index tensors take turns, each with rows of its own: data decides the rows, not the
 * tensors' addresses. */
static void rows(uint32_t turn, bool seeded)
{
    world_begin(&world);
    world_pointer(&world, A + 2048);
    world_pointer(&world, A);
    world_pointer(&world, A + 3072 + 256 * turn);
    for (uint32_t i = 0; i < 2; i++)
        world_number(&world, seeded ? ++number * 7919 : 0);
    world_anchors(&world);
    world_touch(&world, DEVICE_TRACE_READ, A + 512 * turn, 256);
    world_touch(&world, DEVICE_TRACE_READ, A + 3072 + 256 * turn, 64);
    world_touch(&world, DEVICE_TRACE_WRITE, A + 2048, 256);
    ask();
    if (reply.trace)
        take_trace();
    else
        launch_key_release(&key);
}

static void indices_elsewhere_explain_no_rows(void **state)
{
    for (int seeded = 0; seeded < 2; seeded++) {
        uint32_t found = seeded ? SCATTERED : 16; /* a number might be why: it comes back */
        for (uint32_t i = 0; i < 2 * SCATTERED; i++) {
            rows(i < 8 ? 0 : i % 3, seeded);
            if (i >= found)
                assert_int_equal(reply.answer, LEARN_BOUNDED);
        }
        for (uint32_t i = 0; i < reply.set->count; i++) {
            const struct learned_range *range = &reply.set->ranges[i];
            assert_int_equal(range->whole, range->kind == DEVICE_TRACE_READ && range->anchor == 1);
        }
        end(state);
        begin(state);
    }
}

enum { STALE_BITS = 6 };
static uint32_t stale_bits;

/* Copies rows of a table in A, selected by an index in B, to the first bytes of B's other half. The
 * kernel never reads the stale numbers. */
static void gather_ask(uint32_t row, uint32_t bytes, uint32_t stale, uint32_t written)
{
    world_begin(&world);
    world_pointer(&world, A);
    world_pointer(&world, B);
    world_pointer(&world, B + SIZE / 2);
    world_number(&world, bytes);
    world_number(&world, stale);
    for (uint32_t i = 0; i < STALE_BITS; i++)
        world_number(&world, stale_bits >> i & 1);
    world_anchors(&world);
    world_touch(&world, DEVICE_TRACE_READ, A + 512 * row, 256);
    world_touch(&world, DEVICE_TRACE_READ, B, 64);
    world_touch(&world, DEVICE_TRACE_WRITE, B + SIZE / 2, written);
    ask();
}

static void gather_to(uint32_t row, uint32_t bytes, uint32_t stale, uint32_t written)
{
    gather_ask(row, bytes, stale, written);
    if (reply.trace)
        take_trace();
    else
        launch_key_release(&key);
}

static void gather(uint32_t row, uint32_t bytes, uint32_t stale)
{
    gather_to(row, bytes, stale, bytes);
}

static void gather_until_bounded(void)
{
    for (uint32_t i = 0; i < 40; i++)
        gather(i < 8 ? 0 : i % 3, 256, 1);
    assert_int_equal(reply.answer, LEARN_BOUNDED);
}

static void assert_only_rows_are_bounded(void)
{
    assert_int_equal(reply.answer, LEARN_BOUNDED);
    for (uint32_t i = 0; i < reply.set->count; i++)
        assert_int_equal(reply.set->ranges[i].whole, reply.set->ranges[i].anchor == 0);
}

/* Nobody sees the rows change under a new key, and they may at its next launch. */
static void another_key_depends_on_data_too(void **state)
{
    (void)state;
    gather_until_bounded();
    for (uint32_t stale = 2; stale < 5; stale++) {
        gather(1, 256, stale);
        assert_true(reply.trace);
        gather(2, 256, stale);
        assert_only_rows_are_bounded();
    }
}

/* Bits that change one by one: no number takes many values while others stay. */
static void stale_numbers_leave_the_key_of_rows_together(void **state)
{
    (void)state;
    uint32_t traced = 0;
    gather_until_bounded();
    for (uint32_t i = 0; i < 64; i++) {
        stale_bits = i;
        gather(1, 256, 1);
        traced += reply.trace;
        if (i > VALUES && (i & (i - 1))) /* else a bit is set that never was */
            assert_only_rows_are_bounded();
    }
    stale_bits = 0;
    assert_true(traced < 16);
}

static void a_stale_number_leaves_the_key_of_rows(void **state)
{
    (void)state;
    gather_until_bounded();
    for (uint32_t i = 0; i < 20; i++) {
        gather(1, 256, 2 + i);
        if (i >= VALUES)
            assert_only_rows_are_bounded();
    }
    gather(0, 512, 1000); /* the other stays */
    assert_int_equal(reply.answer, LEARN_OPEN);
}

/* A number that had left matters for other keys: it is in the key again, and rows still depend on
 * data, though no launch is remembered that showed it. */
static void a_bound_outlives_words_that_come_back(void **state)
{
    (void)state;
    gather_until_bounded();
    for (uint32_t i = 0; i < 8; i++)
        gather(1, 256, 2 + i);
    for (uint32_t i = 0; i < 70; i++)
        gather(1, 512 + 8 * i, 100);
    gather(1, 256, 100);
    assert_only_rows_are_bounded();
    for (uint32_t i = 0; i < 4; i++)
        gather_to(1, 2000, 100 + i, i < 3 ? 1600 : 1608);
    gather_to(1, 2000, 101, 1600);
    assert_int_not_equal(reply.answer, LEARN_BOUNDED);
    for (uint32_t i = 0; i < 3; i++)
        gather(1, 256, 100);
    assert_only_rows_are_bounded();
}

/* What a launch touched is within a bound, and what others of its key did is not: the number that
 * had left the key distinguishes those, and the others stay known. */
static void one_launch_within_a_bound_bounds_no_others(void **state)
{
    (void)state;
    gather_until_bounded();
    for (uint32_t i = 0; i < 8; i++)
        gather(1, 256, 2 + i);
    for (uint32_t i = 0; i < 4; i++)
        gather_to(1, 2000, 100 + i, i < 3 ? 1600 : 256);
    assert_true(reply.trace);
    for (uint32_t i = 0; i < 3; i++)
        gather_to(1, 2000, 101, 1600);
    assert_int_equal(reply.answer, LEARN_KNOWN);
}

/* The key of a launch has one more number when its trace comes: nothing waits for it elsewhere. */
static void traces_under_way_are_awaited_by_no_other_key(void **state)
{
    (void)state;
    gather_until_bounded();
    for (uint32_t i = 0; i < 8; i++)
        gather(1, 256, 2 + i);
    gather_ask(1, 256, 100, 256);
    while (!reply.trace) {
        launch_key_release(&key);
        gather_ask(1, 256, 100, 256);
    }
    struct launch_key under_way = key;
    for (uint32_t i = 0; i < 4; i++)
        gather_to(1, 2000, 100 + i, i < 3 ? 1600 : 1608);
    gather_to(1, 2000, 101, 1600);
    assert_int_not_equal(reply.answer, LEARN_BOUNDED); /* the number came back */
    gather_ask(1, 256, 100, 256);
    launch_key_release(&key);
    key = under_way;
    key.words = key.room;
    take_trace();
    gather(1, 256, 0);
    assert_true(reply.due);
}

/* What is traced elsewhere, too, is not of the bound. */
static void another_key_with_other_bytes_is_known(void **state)
{
    (void)state;
    gather_until_bounded();
    for (uint32_t i = 0; i < 3; i++)
        gather(0, 512, 1);
    assert_int_equal(reply.answer, LEARN_KNOWN);
    gather(0, 256, 1);
    assert_only_rows_are_bounded();
}

/* Nothing is left that another key's launches could have in common with it. */
static void wholes_alone_hold_no_other_key(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 40; i++)
        launch(A, 16, 0, A + i % 3 * 512, 64);
    assert_int_equal(reply.answer, LEARN_BOUNDED);
    for (uint32_t i = 0; i < 3; i++)
        launch(A, 32, 0, A, 128);
    assert_int_equal(reply.answer, LEARN_KNOWN);
}

/* What a launch of one key shows goes into the bound of the others, too. */
static void keys_share_their_bound(void **state)
{
    (void)state;
    gather_until_bounded();
    gather(1, 256, 2);
    for (uint32_t i = 40; i < 64; i++)
        gather_to(0, 256, 1, i < 63 ? 256 : 128); /* its launch 64 is traced */
    gather(1, 256, 2);
    assert_int_equal(reply.answer, LEARN_BOUNDED);
    for (uint32_t i = 0; i < reply.set->count; i++)
        assert_int_equal(reply.set->ranges[i].whole,
                         reply.set->ranges[i].anchor == 0 ||
                             reply.set->ranges[i].kind == DEVICE_TRACE_WRITE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(two_equal_launches_make_it_known),
        TEST(launches_behind_those_under_way_wait),
        TEST(what_was_refused_is_asked_for_again),
        TEST(pointers_lie_where_memory_does),
        TEST(looking_leaves_what_is_known),
        TEST(something_is_known_once_it_was_asked_for),
        TEST(lost_traces_are_given_up),
        TEST(a_change_is_found_at_the_fourth_launch),
        TEST(what_may_not_be_confirmed_is_later),
        TEST(what_is_asked_for_is_confirmed),
        TEST(a_seed_leaves_the_key),
        TEST(a_byte_that_mattered_comes_back),
        TEST(what_does_not_fit_is_traced_again),
        TEST(what_does_not_fit_is_not_looked_up),
        TEST(memory_behind_tables_is_known_while_it_stays),
        TEST(nothing_is_left_once_all_is_known),
        TEST(what_is_known_here_alone_is_left),
        TEST(blocks_that_adjoin_may_lie_apart),
        TEST(an_end_that_begins_a_block_is_found_out),
        TEST(bytes_behind_a_block_are_found_out),
        TEST(what_was_launched_is_so_under_new_keys),
        TEST(keys_that_never_repeat_get_one_bound),
        TEST(a_trace_is_compared_once_with_each_other),
        TEST(coarse_traces_are_bounds),
        TEST(indices_elsewhere_explain_no_rows),
        TEST(another_key_depends_on_data_too),
        TEST(a_stale_number_leaves_the_key_of_rows),
        TEST(stale_numbers_leave_the_key_of_rows_together),
        TEST(a_bound_outlives_words_that_come_back),
        TEST(traces_under_way_are_awaited_by_no_other_key),
        TEST(one_launch_within_a_bound_bounds_no_others),
        TEST(another_key_with_other_bytes_is_known),
        TEST(keys_share_their_bound),
        TEST(wholes_alone_hold_no_other_key),
    };
    return cmocka_run_group_tests_name("learner", tests, NULL, NULL);
}
