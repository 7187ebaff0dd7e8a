/* Directions: what a launch that is like none before is taken to do with its pointers. */
#include "tests/unit/learn/test_learner.h"

enum { POINTERS = 5, BLOCKS = 12, BLOCK = 256, ROUNDS = 600 };

static uint64_t block_of(size_t index)
{
    return 0x40000000 + index * 0x10000;
}

static void launch_begin(uint32_t grid, const uint64_t *pointers, size_t count)
{
    world_begin(&world);
    world.launch.grid[0] = grid;
    for (size_t i = 0; i < count; i++)
        world_pointer(&world, pointers[i]);
    world_anchors(&world);
}

/* A traced launch that reads p's first bytes and writes q's. */
static void copy(uint32_t grid, uint64_t p, uint64_t q)
{
    launch_begin(grid, (const uint64_t[]){p, q}, 2);
    world_touch(&world, DEVICE_TRACE_READ, p, 64);
    world_touch(&world, DEVICE_TRACE_WRITE, q, 64);
    ask();
    take_trace();
}

static struct learned_set *bound_of(uint32_t grid, uint64_t p, uint64_t q)
{
    launch_begin(grid, (const uint64_t[]){p, q}, 2);
    return learner_bound(learner, kernel, &world.launch);
}

static void assert_marks(const struct learned_set *set, uint64_t base, uint64_t bytes, uint8_t mark)
{
    uint8_t *marks = calloc(1, bytes), *expected = malloc(bytes);
    memset(expected, mark, bytes);
    world_mark(&world, set, base, marks, bytes);
    assert_memory_equal(marks, expected, bytes);
    free(marks);
    free(expected);
}

static void another_grid_does_the_same_with_whole_blocks(void **state)
{
    (void)state;
    copy(1, A, B);
    struct learned_set *bound = bound_of(9, B + 128, A);
    assert_non_null(bound);
    assert_true(bound->inexact);
    assert_false(bound->whole); /* no bound of what depends on data */
    assert_marks(bound, B, SIZE, 1 << DEVICE_TRACE_READ);
    assert_marks(bound, A, SIZE, 1 << DEVICE_TRACE_WRITE);
    learned_set_release(bound);
}

static void what_comes_later_counts(void **state)
{
    (void)state;
    copy(1, A, B);
    learned_set_release(bound_of(9, A, B));
    launch_begin(2, (const uint64_t[]){A, B}, 2);
    world_touch(&world, DEVICE_TRACE_ATOMIC, A, 4);
    ask();
    take_trace();
    struct learned_set *bound = bound_of(9, A, B);
    assert_marks(bound, A, SIZE, 1 << DEVICE_TRACE_READ | 1 << DEVICE_TRACE_ATOMIC);
    assert_marks(bound, B, SIZE, 1 << DEVICE_TRACE_WRITE);
    learned_set_release(bound);
}

static void equal_pointers_share_what_they_did(void **state)
{
    (void)state;
    launch_begin(1, (const uint64_t[]){A, A, A}, 3);
    world_touch(&world, DEVICE_TRACE_WRITE, A, 64);
    ask();
    take_trace();
    world_block(&world, C, SIZE);
    launch_begin(2, (const uint64_t[]){A, B, C}, 3);
    struct learned_set *bound = learner_bound(learner, kernel, &world.launch);
    assert_marks(bound, A, SIZE, 1 << DEVICE_TRACE_WRITE);
    assert_marks(bound, B, SIZE, 1 << DEVICE_TRACE_WRITE);
    assert_marks(bound, C, SIZE, 1 << DEVICE_TRACE_WRITE);
    learned_set_release(bound);
}

static void variables_go_by_their_names(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        launch_begin(1, NULL, 0);
        world.launch.anchor_count = 2;
        for (uint32_t k = 0; k < 2; k++)
            world.anchors[k] = (struct learn_anchor){.kind = LEARN_VARIABLE,
                                                     .offset = k,
                                                     .identity = 70 + (k + (uint32_t)i) % 2,
                                                     .address = k ? B : A,
                                                     .block = {k ? B : A, (k ? B : A) + 64}};
        if (i)
            break;
        world_touch(&world, DEVICE_TRACE_WRITE, A, 8);
        ask();
        take_trace();
    }
    struct learned_set *bound = learner_bound(learner, kernel, &world.launch);
    assert_int_equal(bound->count, 1);
    assert_int_equal(bound->ranges[0].anchor, 1);
    assert_marks(bound, B, 64, 1 << DEVICE_TRACE_WRITE);
    learned_set_release(bound);
}

static void nothing_is_known_without_traces(void **state)
{
    (void)state;
    assert_null(bound_of(1, A, B));
    launch_begin(1, (const uint64_t[]){A, B}, 2);
    ask();
    assert_null(bound_of(1, A, B));
    take_trace(); /* that it touches nothing */
    assert_null(bound_of(2, A, B));
    copy(2, A, B);
    assert_null(bound_of(3, 1, 2)); /* it has no pointers */
    struct learned_set *bound = bound_of(3, A, 2);
    assert_int_equal(bound->count, 1);
    learned_set_release(bound);
}

static void memory_behind_tables_may_be_read(void **state)
{
    (void)state;
    copy(1, A, B);
    world_block(&world, C, SIZE);
    for (uint32_t kind = DEVICE_TRACE_READ; kind <= DEVICE_TRACE_WRITE; kind++) {
        launch_begin(2 + kind, (const uint64_t[]){A, B}, 2);
        world_touch(&world, kind, C, 64);
        ask();
        take_trace();
        struct learned_set *bound = bound_of(9, A, B);
        assert_true((bound != NULL) == (kind == DEVICE_TRACE_READ));
        assert_int_equal(bound ? bound->count : 2, 2);
        learned_set_release(bound);
    }
}

static void what_no_trace_holds_is_not_bounded(void **state)
{
    (void)state;
    copy(1, A, B);
    launch_begin(2, (const uint64_t[]){A, B}, 2);
    ask();
    learner_unseen(learner, kernel, &key);
    launch_key_release(&key);
    assert_null(bound_of(3, A, B));
}

/* Launches on random blocks do random things with each of their pointers. */
static void random_launches_are_held(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (size_t i = 0; i < BLOCKS; i++)
        world_block(&world, block_of(i), BLOCK);
    uint8_t done[POINTERS] = {0};
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        uint64_t pointers[POINTERS];
        size_t first = world_below(&seed, BLOCKS);
        for (size_t i = 0; i < POINTERS; i++) /* each in a block of its own */
            pointers[i] = block_of((first + i) % BLOCKS) + world_below(&seed, BLOCK);
        launch_begin(round, pointers, POINTERS);
        struct learned_set *bound = learner_bound(learner, kernel, &world.launch);
        for (size_t i = 0; i < POINTERS; i++)
            assert_marks(bound ? bound : &(struct learned_set){0}, block_of((first + i) % BLOCKS),
                         BLOCK, done[i]);
        learned_set_release(bound);
        for (size_t i = 0; i < POINTERS; i++)
            if (!world_below(&seed, 20)) {
                uint32_t kind = (uint32_t)world_below(&seed, DEVICE_TRACE_ATOMIC + 1);
                world_touch(&world, kind, pointers[i], 1);
                done[i] |= (uint8_t)(1 << kind);
            }
        ask();
        take_trace();
    }
    for (size_t i = 0; i < POINTERS; i++)
        assert_int_equal(done[i], 7);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(another_grid_does_the_same_with_whole_blocks),
        TEST(what_comes_later_counts),
        TEST(equal_pointers_share_what_they_did),
        TEST(variables_go_by_their_names),
        TEST(nothing_is_known_without_traces),
        TEST(memory_behind_tables_may_be_read),
        TEST(what_no_trace_holds_is_not_bounded),
        TEST(random_launches_are_held),
    };
    return cmocka_run_group_tests_name("directions", tests, NULL, NULL);
}
