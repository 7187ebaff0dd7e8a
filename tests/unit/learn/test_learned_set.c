/* Learned sets: relative to what, cut where, equal when; and what does not fit. */
#include "tests/unit/learn/learn_world.h"
#include "runtime/learn/bound.h"
#include "runtime/learn/prediction.h"

enum { A = 0x10000000, B = 0x20000000, C = 0x30000000, SIZE = 4096 };

static struct world world;

/* A launch with two pointers, into blocks at those places. */
static void begin(uint64_t a, uint64_t b)
{
    world.block_count = 0;
    world_block(&world, a, SIZE);
    world_block(&world, b, SIZE);
    world_begin(&world);
    world_pointer(&world, a);
    world_pointer(&world, b);
    world_anchors(&world);
    assert_int_equal(world.launch.anchor_count, 2);
}

static void ranges_follow_their_pointer(void **state)
{
    (void)state;
    begin(A, B);
    world_touch(&world, DEVICE_TRACE_READ, A + 16, 64);
    world_touch_rows(&world, DEVICE_TRACE_WRITE, B, 4, 16, 8);
    struct learned_set *set = world_set(&world);
    assert_int_equal(set->count, 2);
    assert_int_equal(set->ranges[0].anchor, 0);
    assert_int_equal(set->ranges[1].dims, 1);
    begin(C, A + SIZE);
    assert_int_equal(learned_range_address(&set->ranges[0], &world.launch), C + 16);
    assert_int_equal(learned_range_address(&set->ranges[1], &world.launch), A + SIZE);
    world_touch(&world, DEVICE_TRACE_READ, C + 16, 64);
    world_touch_rows(&world, DEVICE_TRACE_WRITE, A + SIZE, 4, 16, 8);
    struct learned_set *moved = world_set(&world);
    assert_true(learned_set_equal(set, moved));
    learned_set_release(set);
    learned_set_release(moved);
}

/* Two buffers that happen to adjoin become one range; apart they are two. */
static void neighbours_are_cut_apart(void **state)
{
    (void)state;
    begin(A, A + SIZE);
    world_touch(&world, DEVICE_TRACE_WRITE, A, 2 * SIZE);
    struct learned_set *together = world_set(&world);
    begin(A, A + SIZE);
    world_touch_rows(&world, DEVICE_TRACE_WRITE, A, SIZE / 2, SIZE / 2, 4);
    struct learned_set *rows = world_set(&world);
    begin(A, B);
    world_touch(&world, DEVICE_TRACE_WRITE, A, SIZE);
    world_touch(&world, DEVICE_TRACE_WRITE, B, SIZE);
    struct learned_set *apart = world_set(&world);
    assert_true(learned_set_equal(together, apart));
    assert_true(learned_set_equal(rows, apart));
    learned_set_release(together);
    learned_set_release(rows);
    learned_set_release(apart);
}

/* Two pointers into one block: what is behind the second is its own. */
static void pointers_cut_their_block(void **state)
{
    (void)state;
    struct learned_set *sets[2];
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t p = A, q = A + 256 + i * 1024;
        world.block_count = 0;
        world_block(&world, A, SIZE);
        world_begin(&world);
        world_pointer(&world, p);
        world_pointer(&world, q);
        world_anchors(&world);
        if (i == 0) {
            world_touch(&world, DEVICE_TRACE_READ, A, 512);
        } else {
            world_touch(&world, DEVICE_TRACE_READ, p, 256);
            world_touch(&world, DEVICE_TRACE_READ, q, 256);
        }
        sets[i] = world_set(&world);
    }
    assert_true(learned_set_equal(sets[0], sets[1]));
    learned_set_release(sets[0]);
    learned_set_release(sets[1]);
}

/* Blocks of a pool, and a pointer to where the pool has none now: stale, as in the part of a
 * structure that nobody set. Its block is the pool's whole allocation, which holds the others. */
static void blocks_in_a_block_are_their_own(void **state)
{
    (void)state;
    struct learned_set *sets[2];
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t second = i == 0 ? A + SIZE : A + 4 * SIZE;
        world.block_count = 0;
        world_block(&world, A, SIZE);
        world_block(&world, second, SIZE);
        world_block(&world, A - 2 * SIZE, 16 * SIZE);
        world_begin(&world);
        world_pointer(&world, A);
        world_pointer(&world, second);
        world_pointer(&world, A - SIZE);
        world_anchors(&world);
        assert_int_equal(world.launch.anchor_count, 3);
        world_touch(&world, DEVICE_TRACE_WRITE, A, i == 0 ? 2 * SIZE : SIZE);
        if (i == 1)
            world_touch(&world, DEVICE_TRACE_WRITE, second, SIZE);
        world_touch(&world, DEVICE_TRACE_READ, A - SIZE, SIZE);
        sets[i] = world_set(&world);
        assert_int_equal(sets[i]->count, 3);
        assert_true(learned_set_fits(sets[i], &world.launch, world_find, &world));
    }
    assert_true(learned_set_equal(sets[0], sets[1]));
    assert_int_equal(sets[0]->relation_count, sets[1]->relation_count + 1); /* the second's place */
    learned_set_release(sets[0]);
    learned_set_release(sets[1]);
}

/* How many relations are a condition of a set of a launch with pointers to A, to where A's block
 * and its bytes end, and, if it is not 0, to `third`; that touches so many bytes there, too. */
static uint32_t conditions_where_a_range_ends(uint64_t second_block, uint64_t third, uint64_t bytes)
{
    world.block_count = 0;
    world_block(&world, A, SIZE);
    if (second_block)
        world_block(&world, second_block, SIZE);
    world_begin(&world);
    world_pointer(&world, A);
    world_pointer(&world, A + SIZE);
    if (third)
        world_pointer(&world, third);
    world_anchors(&world);
    world_touch(&world, DEVICE_TRACE_WRITE, A, SIZE);
    if (bytes)
        world_touch(&world, DEVICE_TRACE_READ, A + SIZE, bytes);
    struct learned_set *set = world_set(&world);
    uint32_t count = 0;
    for (uint32_t i = 0; i < set->relation_count; i++)
        count += !set->relations[i].assumed;
    assert_in_range(set->relation_count, 1, 4);
    assert_true(learned_set_holds(set, &world.launch));
    ((struct learn_anchor *)world.launch.anchors)[1].address += 64;
    assert_false(learned_set_holds(set, &world.launch));
    assert_int_equal(learned_set_stands(set, &world.launch), count == 0);
    learned_set_release(set);
    return count;
}

/* Bytes of the other block belong to the pointer to it, so that pointer is hardly an end. If no
 * bytes are touched there, it may be one. If another pointer is equal, the bytes may belong to that
 * one. */
static void a_block_beside_is_no_end(void **state)
{
    (void)state;
    assert_int_equal(conditions_where_a_range_ends(A + SIZE, 0, 16), 0);
    assert_int_equal(conditions_where_a_range_ends(A + SIZE, 0, 0), 1);
    assert_int_equal(conditions_where_a_range_ends(0, 0, 0), 1);
    assert_in_range(conditions_where_a_range_ends(A + SIZE, A + SIZE, 16), 2, 4);
}

static void a_pointer_to_the_end_is_of_the_block(void **state)
{
    (void)state;
    world.block_count = 0;
    world_block(&world, A, SIZE);
    world_begin(&world);
    world_pointer(&world, A + SIZE);
    world_anchors(&world);
    assert_int_equal(world.launch.anchor_count, 1);
    world_touch(&world, DEVICE_TRACE_WRITE, A + SIZE - 8, 8);
    struct learned_set *set = world_set(&world);
    assert_int_equal(set->ranges[0].anchor, 0);
    assert_int_equal(set->ranges[0].offset, -8);
    learned_set_release(set);
}

/* Fields of a matrix of structures: as four dims, however the trace was put together. */
static void dims_are_found_again(void **state)
{
    (void)state;
    struct learned_set *sets[2];
    for (int way = 0; way < 2; way++) {
        begin(A, B);
        for (uint64_t plane = 0; plane < 3; plane++)
            for (uint64_t row = 0; row < 4; row++) {
                uint64_t at = A + plane * 1024 + row * 128;
                if (way == 0)
                    world_touch_rows(&world, DEVICE_TRACE_READ, at, 4, 16, 5);
                for (uint64_t field = 0; way == 1 && field < 5; field++)
                    world_touch(&world, DEVICE_TRACE_READ, at + (4 - field) * 16, 4);
            }
        sets[way] = world_set(&world);
    }
    assert_int_equal(sets[0]->count, 1);
    assert_int_equal(sets[0]->ranges[0].dims, 3);
    assert_true(learned_set_equal(sets[0], sets[1]));
    learned_set_release(sets[0]);
    learned_set_release(sets[1]);
}

/* Memory that only a table in memory leads to. */
static void without_a_pointer_the_place_counts(void **state)
{
    (void)state;
    begin(A, B);
    world_block(&world, C, SIZE);
    world_touch(&world, DEVICE_TRACE_READ, C + 8, 8);
    struct learned_set *set = world_set(&world);
    assert_int_equal(set->block_count, 1);
    assert_int_equal(set->ranges[0].anchor, LEARNED_NO_ANCHOR);
    assert_true(learned_set_fits(set, &world.launch, world_find, &world));
    begin(B, A);
    assert_false(learned_set_fits(set, &world.launch, world_find, &world));
    world_block(&world, C, 2 * SIZE);
    assert_false(learned_set_fits(set, &world.launch, world_find, &world));
    world.blocks[2].end = C + SIZE;
    assert_true(learned_set_fits(set, &world.launch, world_find, &world));
    assert_null(learned_set_widen(set, set));
    learned_set_release(set);
}

static void what_leaves_its_block_does_not_fit(void **state)
{
    (void)state;
    begin(A, B);
    world_touch(&world, DEVICE_TRACE_READ, A + 1024, SIZE - 1024);
    struct learned_set *set = world_set(&world);
    assert_true(learned_set_fits(set, &world.launch, world_find, &world));
    world.anchors[0].address += 1;
    assert_false(learned_set_fits(set, &world.launch, world_find, &world));
    world.anchors[0].address -= 1026;
    world.anchors[0].block.start -= 2048;
    assert_true(learned_set_fits(set, &world.launch, world_find, &world));
    world.launch.anchor_count = 0;
    assert_false(learned_set_fits(set, &world.launch, world_find, &world));
    learned_set_release(set);
}

static void bounds_are_whole_blocks(void **state)
{
    (void)state;
    begin(A, B);
    world_touch(&world, DEVICE_TRACE_READ, A + 8, 8);
    world_touch(&world, DEVICE_TRACE_WRITE, B + 8, 8);
    struct learned_set *set = world_set(&world);
    begin(A, B);
    world_touch(&world, DEVICE_TRACE_READ, A + 80, 8);
    world_touch(&world, DEVICE_TRACE_ATOMIC, B + 8, 8);
    struct learned_set *other = world_set(&world);
    struct learned_set *bound = learned_set_widen(set, other);
    assert_non_null(bound);
    assert_int_equal(bound->count, 3);
    assert_true(bound->inexact);
    begin(C, A);
    static uint8_t marks[SIZE];
    memset(marks, 0, sizeof marks);
    world_mark(&world, bound, C, marks, SIZE);
    for (int i = 0; i < SIZE; i++)
        assert_int_equal(marks[i], 1 << DEVICE_TRACE_READ);
    learned_set_release(set);
    learned_set_release(other);
    learned_set_release(bound);
}

/* Runs of random lengths at random distances fold to nothing. */
static void too_many_ranges_become_a_hull(void **state)
{
    (void)state;
    static struct device_trace_range ranges[3 * LEARNED_RANGES];
    uint64_t seed = 1, at = A;
    world.block_count = 0;
    world_block(&world, A, 1 << 20);
    world_begin(&world);
    world_pointer(&world, A);
    world_anchors(&world);
    for (size_t i = 0; i < 3 * LEARNED_RANGES; i++) {
        ranges[i] = (struct device_trace_range){.address = at, .bytes = 1 + world_below(&seed, 8)};
        at += 8 + 1 + world_below(&seed, 16);
    }
    world.trace.ranges = ranges;
    world.trace.count = 3 * LEARNED_RANGES;
    struct learned_set *set = world_set(&world);
    assert_int_equal(set->count, 1);
    assert_true(set->inexact);
    const struct device_trace_range *last = &ranges[3 * LEARNED_RANGES - 1];
    assert_int_equal(set->ranges[0].bytes, last->address + last->bytes - A);
    learned_set_release(set);
}

static void nonsense_of_a_trace_is_left_out(void **state)
{
    (void)state;
    begin(A, B);
    world_touch(&world, 17, A, 8);
    world_touch(&world, DEVICE_TRACE_READ, A, 0);
    world_touch_rows(&world, DEVICE_TRACE_READ, A, 8, UINT64_MAX / 2, 8);
    world_touch_rows(&world, DEVICE_TRACE_READ, A, 8, 0, 8);
    struct learned_set *set = world_set(&world);
    assert_int_equal(set->count, 0);
    learned_set_release(set);
}

/* ---- Random traces against bytes ---- */

enum { SPAN = 8192 };

/* Four blocks side by side, of random sizes, some without a pointer; then the same apart. `pool`:
 * in one large block, which a pointer leads to as well. */
struct layout {
    uint64_t place[4], bytes[4];
    int pointers[4]; /* into each */
    uint64_t pool;   /* where the large one begins; 0: there is none */
};

static void begin_layout(const struct layout *layout)
{
    world.block_count = 0;
    world_begin(&world);
    for (int i = 0; i < 4; i++) {
        world_block(&world, layout->place[i], layout->bytes[i]);
        for (int k = 0; k < layout->pointers[i]; k++)
            world_pointer(&world, layout->place[i] + (uint64_t)k * layout->bytes[i] / 3);
    }
    if (layout->pool)
        world_pointer(&world, world_block(&world, layout->pool, 0x100000));
    world_anchors(&world);
}

static void random_ranges(uint64_t *seed, uint64_t from, uint64_t bytes, uint8_t *marks)
{
    size_t count = 1 + world_below(seed, 6);
    for (size_t i = 0; i < count; i++) {
        uint64_t at = world_below(seed, bytes - 1), length = 1 + world_below(seed, 40);
        uint64_t stride = length + 1 + world_below(seed, 90), rows = 1 + world_below(seed, 12);
        uint64_t outer = rows * stride + world_below(seed, 100), planes = 1 + world_below(seed, 4);
        if (at + (planes - 1) * outer + (rows - 1) * stride + length > bytes)
            continue;
        uint32_t kind = (uint32_t)world_below(seed, 3);
        world.ranges[world.trace.count++] = (struct device_trace_range){.address = from + at,
                                                                        .bytes = length,
                                                                        .kind = kind,
                                                                        .dims = 2,
                                                                        .stride = {outer, stride},
                                                                        .count = {planes, rows}};
        for (uint64_t p = 0; p < planes; p++)
            for (uint64_t r = 0; r < rows; r++)
                for (uint64_t b = 0; b < length; b++)
                    marks[at + p * outer + r * stride + b] |= (uint8_t)(1u << kind);
    }
}

/* The trace of those marks, one run after another, in a random order. */
static void trace_of_marks(uint64_t *seed, const uint8_t *marks, uint64_t from, uint64_t bytes)
{
    for (uint32_t kind = 0; kind < 3; kind++)
        for (uint64_t i = 0; i < bytes;) {
            uint64_t end = i;
            uint64_t most = 1 + world_below(seed, 64);
            while (end < bytes && end - i < most && marks[end] >> kind & 1)
                end++;
            if (end == i) {
                i++;
                continue;
            }
            world_touch(&world, kind, from + i, end - i);
            i = end;
        }
    for (size_t i = world.trace.count; i > 1; i--) {
        size_t k = world_below(seed, i);
        struct device_trace_range other = world.ranges[i - 1];
        world.ranges[i - 1] = world.ranges[k];
        world.ranges[k] = other;
    }
}

static void random_sets_hold_their_bytes_and_are_equal(void **state)
{
    (void)state;
    static uint8_t marks[SPAN], found[SPAN];
    size_t compared = 0;
    for (uint64_t round = 1; round <= 3000; round++) {
        uint64_t seed = round * 0x9e3779b97f4a7c15u;
        struct layout layout = {.pool = round % 3 ? 0 : A - 256};
        uint64_t total = 0;
        for (int i = 0; i < 4; i++) {
            layout.bytes[i] = 100 + world_below(&seed, 300);
            layout.place[i] = A + total;
            layout.pointers[i] = layout.pool ? 1 + (int)world_below(&seed, 2)
                                 : i         ? (int)world_below(&seed, 3)
                                             : 1;
            total += layout.bytes[i];
        }
        memset(marks, 0, sizeof marks);
        begin_layout(&layout);
        random_ranges(&seed, A, total, marks);
        struct learned_set *folded = world_set(&world);
        memset(found, 0, sizeof found);
        world_mark(&world, folded, A, found, total);
        assert_memory_equal(marks, found, total);
        world.trace.count = 0;
        trace_of_marks(&seed, marks, A, total);
        struct learned_set *runs = world_set(&world);
        assert_true(learned_set_equal(folded, runs));
        learned_set_release(runs);
        /* Elsewhere: blocks with a pointer move apart. */
        struct layout moved = layout;
        moved.pool = layout.pool ? B - 4096 : 0;
        for (int i = 0; i < 4; i++)
            if (layout.pointers[i])
                moved.place[i] = B + (uint64_t)(3 - i) * 0x10000 + world_below(&seed, 9) * 16;
        begin_layout(&moved);
        for (int i = 0; i < 4; i++)
            trace_of_marks(&seed, marks + (layout.place[i] - A), moved.place[i], layout.bytes[i]);
        struct learned_set *elsewhere = world_set(&world);
        assert_true(learned_set_equal(folded, elsewhere));
        for (int i = 0; i < 4; i++) {
            memset(found, 0, sizeof found);
            world_mark(&world, folded, moved.place[i], found, layout.bytes[i]);
            assert_memory_equal(marks + (layout.place[i] - A), found, layout.bytes[i]);
        }
        learned_set_release(elsewhere);
        compared += folded->count;
        learned_set_release(folded);
    }
    assert_true(compared > 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_follow_their_pointer),
        cmocka_unit_test(neighbours_are_cut_apart),
        cmocka_unit_test(pointers_cut_their_block),
        cmocka_unit_test(blocks_in_a_block_are_their_own),
        cmocka_unit_test(a_block_beside_is_no_end),
        cmocka_unit_test(a_pointer_to_the_end_is_of_the_block),
        cmocka_unit_test(dims_are_found_again),
        cmocka_unit_test(without_a_pointer_the_place_counts),
        cmocka_unit_test(what_leaves_its_block_does_not_fit),
        cmocka_unit_test(bounds_are_whole_blocks),
        cmocka_unit_test(too_many_ranges_become_a_hull),
        cmocka_unit_test(nonsense_of_a_trace_is_left_out),
        cmocka_unit_test(random_sets_hold_their_bytes_and_are_equal),
    };
    return cmocka_run_group_tests_name("learned_set", tests, NULL, NULL);
}
