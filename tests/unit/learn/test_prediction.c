/* What one launch taught of another whose pointers lie otherwise: in place and out of it, cut where
 * another pointer is, up to another pointer; and bounds that keep what did not differ. */
#include "tests/unit/learn/learn_world.h"
#include "runtime/learn/bound.h"
#include "runtime/learn/prediction.h"

enum { A = 0x10000000, B = 0x20000000, SIZE = 8192, READ = DEVICE_TRACE_READ };

static struct world world;

static void begin(uint64_t p, uint64_t q)
{
    world.block_count = 0;
    world_block(&world, A, SIZE);
    world_block(&world, B, SIZE);
    world_begin(&world);
    world_pointer(&world, p);
    world_pointer(&world, q);
    world_anchors(&world);
}

/* Reads q, writes p. */
static struct learned_set *copy(uint64_t p, uint64_t q, uint64_t bytes)
{
    begin(p, q);
    world_touch(&world, READ, q, bytes);
    world_touch(&world, DEVICE_TRACE_WRITE, p, bytes);
    return world_set(&world);
}

static void expect(struct learned_set *set, struct learned_set *seen, bool there, bool back)
{
    assert_int_equal(learned_set_predicts(set, seen), there);
    assert_int_equal(learned_set_predicts(seen, set), back);
    learned_set_release(set);
    learned_set_release(seen);
}

static void out_of_place_predicts_in_place(void **state)
{
    (void)state;
    expect(copy(A, B, 256), copy(A, A, 256), true, false);
    expect(copy(A, A + 1024, 256), copy(B, B, 256), true, false);
    expect(copy(A, B, 256), copy(A, A, 260), false, false);
}

static void what_overlaps_is_cut_otherwise(void **state)
{
    (void)state;
    expect(copy(A, B, 256), copy(A, A + 64, 256), true, false);
    expect(copy(A, B, 256), copy(A + 64, A, 256), true, false);
    expect(copy(A + 64, A, 256), copy(A, A + 128, 256), false, false);
}

static void what_lies_side_by_side_predicts_both_ways(void **state)
{
    (void)state;
    expect(copy(A, B, 256), copy(A, A + 256, 256), true, true);
    expect(copy(A, A + 256, 256), copy(A + 256, A, 256), true, true);
}

static struct learned_set *fill(uint64_t p, uint64_t q, uint64_t bytes)
{
    begin(p, q);
    world_touch(&world, DEVICE_TRACE_WRITE, p, bytes);
    return world_set(&world);
}

static void what_ends_at_a_pointer_stands_there_alone(void **state)
{
    (void)state;
    struct learned_set *set = fill(A, A + 256, 256);
    assert_int_equal(set->relation_count, 1);
    begin(B, B + 256);
    assert_true(learned_set_stands(set, &world.launch));
    begin(B, B + 512);
    assert_false(learned_set_stands(set, &world.launch));
    expect(set, fill(B, B + 512, 512), false, false);
}

/* Refuted by a launch that did the same with the other pointer elsewhere. */
static void relations_that_do_not_hold_are_refuted(void **state)
{
    (void)state;
    struct learned_set *set = fill(A, A + 256, 256), *seen = fill(A, B, 256);
    assert_true(learned_set_predicts(set, seen));
    struct learned_set *relaxed = learned_set_relax(set, seen);
    assert_int_equal(relaxed->relation_count, 0);
    assert_true(learned_set_equal(set, relaxed));
    learned_set_release(relaxed);
    learned_set_release(seen);
    expect(set, fill(A + 8, A + 264, 256), true, true);
}

/* Rows, a plane of them, in place and out of it. */
static void rows_are_reanchored(void **state)
{
    (void)state;
    struct learned_set *sets[2];
    for (int i = 0; i < 2; i++) {
        begin(A, i ? A : B);
        for (uint64_t plane = 0; plane < 3; plane++)
            for (uint64_t row = 0; row < 4; row++) {
                world_touch_rows(&world, READ, A + plane * 1024 + row * 128, 4, 16, 5);
                world_touch(&world, DEVICE_TRACE_WRITE, (i ? A : B) + plane * 1024 + row * 128, 8);
            }
        sets[i] = world_set(&world);
    }
    assert_int_equal(sets[0]->ranges[0].dims, 3);
    expect(sets[0], sets[1], true, false);
}

static struct learned_set *gather(uint64_t out, uint64_t table, uint64_t row)
{
    begin(out, table);
    world_touch(&world, READ, table + 64 * row, 64);
    world_touch(&world, DEVICE_TRACE_WRITE, out, 64);
    return world_set(&world);
}

static void bounds_keep_what_did_not_differ(void **state)
{
    (void)state;
    struct learned_set *set = gather(A, B, 3), *seen = gather(B, A, 5);
    struct learned_set *bound = learned_set_widen(set, seen);
    assert_int_equal(bound->count, 2);
    assert_true(bound->inexact && bound->whole);
    assert_int_equal(bound->ranges[0].kind, DEVICE_TRACE_WRITE);
    assert_int_equal(bound->ranges[0].bytes, 64);
    assert_false(bound->ranges[0].whole);
    assert_true(bound->ranges[1].whole);
    struct learned_set *again = learned_set_widen(bound, set);
    assert_true(learned_set_equal(bound, again));
    learned_set_release(again);
    world_touch(&world, DEVICE_TRACE_WRITE, B + 64, 4); /* now the output, too */
    struct learned_set *both = world_set(&world);
    again = learned_set_widen(bound, both);
    learned_set_release(both);
    assert_true(again->ranges[0].whole && again->ranges[1].whole);
    learned_set_release(again);
    learned_set_release(bound);
    learned_set_release(seen);
    learned_set_release(set);
}

/* In place, the bytes of one pointer may be the other's. */
static void bounds_hold_both_of_equal_pointers(void **state)
{
    (void)state;
    struct learned_set *set = copy(A, B, 256);
    begin(A, A);
    world_touch(&world, READ, A, 512);
    world_touch(&world, DEVICE_TRACE_WRITE, A, 256);
    struct learned_set *seen = world_set(&world), *bound = learned_set_widen(set, seen);
    assert_int_equal(bound->count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(bound->ranges[i].whole, bound->ranges[i].kind == READ);
    learned_set_release(bound);
    learned_set_release(seen);
    learned_set_release(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(out_of_place_predicts_in_place),
        cmocka_unit_test(what_overlaps_is_cut_otherwise),
        cmocka_unit_test(what_lies_side_by_side_predicts_both_ways),
        cmocka_unit_test(what_ends_at_a_pointer_stands_there_alone),
        cmocka_unit_test(relations_that_do_not_hold_are_refuted),
        cmocka_unit_test(rows_are_reanchored),
        cmocka_unit_test(bounds_keep_what_did_not_differ),
        cmocka_unit_test(bounds_hold_both_of_equal_pointers),
    };
    return cmocka_run_group_tests_name("prediction", tests, NULL, NULL);
}
