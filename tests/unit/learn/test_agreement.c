/* Whether two launches may have done the same: whatever lies in place, out of it, over one another
 * or side by side; not rows that data selects, wherever the index tensor lies. */
#include "tests/unit/learn/learn_world.h"
#include "runtime/learn/agreement.h"

enum { A = 0x10000000, B = 0x20000000, SIZE = 8192, ROW = 256 };

static struct world world;

static void begin(void)
{
    world.block_count = 0;
    world_block(&world, A, SIZE);
    world_block(&world, B, SIZE);
    world_begin(&world);
}

static struct learned_set *copy(uint64_t p, uint64_t q, uint64_t bytes)
{
    begin();
    world_pointer(&world, p);
    world_pointer(&world, q);
    world_anchors(&world);
    world_touch(&world, DEVICE_TRACE_READ, q, bytes);
    world_touch(&world, DEVICE_TRACE_WRITE, p, bytes);
    return world_set(&world);
}

/* Rows of a table in A; the indices lie at `indices`. */
static struct learned_set *gather(uint64_t indices, uint64_t first_row, uint64_t rows)
{
    begin();
    world_pointer(&world, A + 4096);
    world_pointer(&world, A);
    world_pointer(&world, indices);
    world_anchors(&world);
    world_touch(&world, DEVICE_TRACE_READ, A + first_row * ROW, rows * ROW);
    world_touch(&world, DEVICE_TRACE_READ, indices, 64);
    world_touch(&world, DEVICE_TRACE_WRITE, A + 4096, rows * ROW);
    return world_set(&world);
}

static struct learned_set *between(uint64_t first, uint64_t bytes)
{
    begin();
    world_pointer(&world, first);
    world_pointer(&world, first + bytes);
    world_anchors(&world);
    world_touch(&world, DEVICE_TRACE_WRITE, first, bytes);
    return world_set(&world);
}

static void expect(struct learned_set *a, struct learned_set *b, bool agree)
{
    assert_int_equal(learned_sets_agree(a, b), agree);
    assert_int_equal(learned_sets_agree(b, a), agree);
    learned_set_release(a);
    learned_set_release(b);
}

static void addresses_do_not_matter(void **state)
{
    (void)state;
    expect(copy(A, B, 256), copy(A, A, 256), true);
    expect(copy(A + 64, A, 256), copy(A, A + 128, 256), true);
    expect(copy(A, A + 256, 256), copy(A + 64, A, 256), true);
    expect(copy(A, A, 256), copy(A, A, 260), false);
    expect(copy(A + 64, A, 256), copy(A, A + 128, 260), false);
}

static void rows_from_data_are_the_same_elsewhere(void **state)
{
    (void)state;
    expect(gather(A + 6144, 0, 4), gather(A + 6656, 0, 4), true);
    expect(gather(A + 6144, 0, 4), gather(A + 6656, 4, 4), false);
    expect(gather(B, 0, 4), gather(A + 6656, 1, 4), false);
    expect(gather(A + 4096 + 4 * ROW, 0, 4), gather(A + 6656, 1, 4), false); /* behind the output */
}

static void from_pointer_to_pointer_is_as_long_as_they_are_apart(void **state)
{
    (void)state;
    expect(between(A, 256), between(A, 1024), true);
    expect(between(A, 1024), between(B, 64), true);
}

static void nothing_is_said_where_nothing_is_known(void **state)
{
    (void)state;
    struct learned_set *fine = copy(A, B, 256);
    world.trace.inexact = true;
    struct learned_set *coarse = world_set(&world);
    begin();
    world_touch(&world, DEVICE_TRACE_WRITE, B, 64);
    struct learned_set *elsewhere = world_set(&world);
    expect(learned_set_retain(fine), coarse, true);
    expect(fine, elsewhere, true);
}

/* Four pointers at random places, each touched at random distances from it: always the same. */
static void random_functions_agree_with_themselves(void **state)
{
    (void)state;
    for (uint64_t round = 1; round <= 2000; round++) {
        uint64_t seed = round * 0x9e3779b97f4a7c15u, length[4], from[4], stride[4];
        struct learned_set *sets[2];
        for (int i = 0; i < 4; i++) {
            from[i] = 32 * world_below(&seed, 3);
            length[i] = 32 * world_below(&seed, 4);
            stride[i] = 96 + 32 * world_below(&seed, 2);
        }
        for (int k = 0; k < 2; k++) {
            begin();
            for (int i = 0; i < 4; i++) {
                uint64_t p = (world_below(&seed, 3) ? A : B) + 128 * world_below(&seed, 12);
                world_pointer(&world, p);
                if (length[i])
                    world_touch_rows(&world, i % 2, p + from[i], length[i], stride[i], 5);
            }
            world_anchors(&world);
            sets[k] = world_set(&world);
        }
        expect(sets[0], sets[1], true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_do_not_matter),
        cmocka_unit_test(rows_from_data_are_the_same_elsewhere),
        cmocka_unit_test(from_pointer_to_pointer_is_as_long_as_they_are_apart),
        cmocka_unit_test(nothing_is_said_where_nothing_is_known),
        cmocka_unit_test(random_functions_agree_with_themselves),
    };
    return cmocka_run_group_tests_name("agreement", tests, NULL, NULL);
}
