/* Merging ranges: whatever the list does to them, no byte is lost, and while they are few and exact
 * none is added. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/access/range_list.h"

enum { ROUNDS = 300, BYTES = 1 << 16, BASES = 2, KINDS = 4 };

static struct range_list list;
static uint8_t before[BASES][KINDS][BYTES], after[BASES][KINDS][BYTES];

static int64_t between(int64_t low, int64_t high)
{
    return low + rand() % (high - low + 1);
}

static void mark_footprint(uint8_t *map, const struct footprint *footprint, uint32_t dims,
                           int64_t offset, uint8_t mark)
{
    if (footprint->bytes == ACCESS_WHOLE) {
        memset(map, mark, BYTES);
    } else if (footprint->bytes == ACCESS_TO_END) {
        memset(map + offset, mark, (size_t)(BYTES - offset));
    } else if (dims == 0) {
        assert_true(offset >= 0 && offset + (int64_t)footprint->bytes <= BYTES);
        for (uint64_t i = 0; i < footprint->bytes; i++)
            map[(uint64_t)offset + i] |= mark;
    } else {
        for (uint64_t i = 0; i < footprint->dims[dims - 1].count; i++)
            mark_footprint(map, footprint, dims - 1,
                           offset + (int64_t)i * footprint->dims[dims - 1].stride, mark);
    }
}

enum { MARK_EXACT = 1, MARK_BOUND = 2 };

static void mark(uint8_t maps[BASES][KINDS][BYTES], const struct range_item *item)
{
    mark_footprint(maps[item->base][item->kind], &item->footprint, item->footprint.dim_count,
                   item->footprint.offset, item->bound == ACCESS_EXACT ? MARK_EXACT : MARK_BOUND);
}

static void add(const struct range_item *item)
{
    mark(before, item);
    range_list_add(&list, item);
}

static void start(void)
{
    list.count = 0;
    memset(before, 0, sizeof before);
    memset(after, 0, sizeof after);
}

static void finish(void)
{
    range_list_finish(&list);
    assert_true(list.count <= RANGE_SET_MAX);
    for (uint32_t i = 0; i < list.count; i++) {
        const struct footprint *footprint = &list.items[i].footprint;
        assert_true(footprint->dim_count <= ACCESS_MAX_DIMS);
        for (uint32_t d = 0; d < footprint->dim_count; d++)
            assert_true(footprint->dims[d].count > 1 && footprint->dims[d].stride > 0);
        mark(after, &list.items[i]);
    }
}

/* Every byte has its kind. An exact byte comes from an exact range, and a byte that is not exact
 * stays so unless an exact range contains it too. */
static void assert_sound(bool nothing_added)
{
    for (uint32_t b = 0; b < BASES; b++)
        for (uint32_t k = 0; k < KINDS; k++)
            for (uint32_t i = 0; i < BYTES; i++) {
                uint8_t old = before[b][k][i], new = after[b][k][i];
                if (old && !new)
                    fail_msg("base %u kind %u: byte %u was lost", b, k, i);
                if ((new &MARK_EXACT) && !(old & MARK_EXACT))
                    fail_msg("base %u kind %u: byte %u became exact", b, k, i);
                if (nothing_added && !old && new)
                    fail_msg("base %u kind %u: byte %u was added", b, k, i);
            }
}

static struct range_item row(int64_t offset, uint64_t bytes)
{
    return (struct range_item){.footprint = {.offset = offset, .bytes = bytes, .exact = true},
                               .kind = ACCESS_READ,
                               .line = 1};
}

static void add_dim(struct range_item *item, int64_t stride, uint64_t count)
{
    item->footprint.dims[item->footprint.dim_count++] = (struct access_dim){stride, count};
}

/* Small numbers, so that ranges overlap often. */
static struct range_item random_item(bool all_exact)
{
    struct range_item item = row(8 * between(0, 40), (uint64_t)(4 * between(1, 4)));
    uint32_t dims = (uint32_t)between(0, 3);
    item.base = (uint32_t)between(0, BASES - 1);
    item.kind = (uint8_t)between(ACCESS_READ, ACCESS_ATOMIC);
    item.width = item.kind == ACCESS_ATOMIC ? (uint8_t)(4 * between(1, 2)) : 0;
    item.line = (uint32_t)between(1, 9);
    item.bound = all_exact || between(0, 3)
                     ? ACCESS_EXACT
                     : (uint8_t)between(ACCESS_BOUND_DATA, ACCESS_BOUND_SHAPE);
    item.footprint.exact = item.bound == ACCESS_EXACT;
    for (uint32_t d = 0; d < dims; d++)
        add_dim(&item, (int64_t[]){4, 8, 24, 64, 400, 1600}[2 * d + (uint32_t)between(0, 1)],
                (uint64_t)between(2, 6));
    footprint_normalize(&item.footprint);
    return item;
}

static void few_random_ranges_keep_their_bytes(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        srand(round);
        start();
        for (int64_t i = between(1, 60); i > 0; i--) {
            struct range_item item = random_item(round % 2);
            add(&item);
        }
        finish();
        assert_sound(true);
    }
}

static void many_random_ranges_lose_nothing(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 40; round++) {
        srand(round);
        start();
        for (int i = 0; i < 3 * RANGE_LIST_MAX; i++) {
            struct range_item item = random_item(round % 2);
            item.footprint.offset += 16 * between(0, 2000);
            if (round % 8 == 7 && i == 700)
                item.footprint =
                    (struct footprint){.offset = item.footprint.offset, .bytes = ACCESS_TO_END};
            if (!item.footprint.exact && item.bound == ACCESS_EXACT)
                item.bound = ACCESS_BOUND_DATA;
            add(&item);
        }
        finish();
        assert_sound(false);
    }
}

/* for (i = thread; i < n; i += 4 * threads), each round split into four: bytes of each piece. */
static void unrolled_grid_stride_is_one_range(void **state)
{
    (void)state;
    enum { THREADS = 64, TURNS = 8 };
    start();
    for (uint32_t piece = 0; piece < 4; piece++) {
        struct range_item item = row(4 * THREADS * piece, 4 * THREADS);
        add_dim(&item, (int64_t)16 * THREADS, TURNS);
        add(&item);
    }
    struct range_item rest = row(16 * THREADS * TURNS, 100);
    add(&rest);
    finish();
    assert_sound(true);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.items[0].footprint.dim_count, 0);
    assert_int_equal(list.items[0].footprint.offset, 0);
    assert_int_equal(list.items[0].footprint.bytes, 16 * THREADS * TURNS + 100);
}

/* Four floats of a struct, read one by one in a strided row. */
static void members_side_by_side_are_one_range(void **state)
{
    (void)state;
    start();
    for (uint32_t member = 0; member < 4; member++) {
        struct range_item item = row(4 * member, 4);
        add_dim(&item, 16, 100);
        add(&item);
    }
    finish();
    assert_sound(true);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.items[0].footprint.dim_count, 0);
    assert_int_equal(list.items[0].footprint.bytes, 1600);
}

/* Blocks of two halves each, of which the last one lacks a part of its second. */
static void halves_of_blocks_are_one_range(void **state)
{
    (void)state;
    start();
    struct range_item first = row(0, 2048), second = row(2048, 2048),
                      tail = row(6 * 4096 + 2048, 80);
    add_dim(&first, 4096, 7);
    add_dim(&second, 4096, 6);
    add(&second);
    add(&tail);
    add(&first);
    finish();
    assert_sound(true);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.items[0].footprint.dim_count, 0);
    assert_int_equal(list.items[0].footprint.bytes, 6 * 4096 + 2048 + 80);
}

/* Each row of a matrix in steps of 16 bytes, taken as 4 and 12, and a 4 more. */
static void parts_of_rows_are_rows(void **state)
{
    (void)state;
    start();
    struct range_item narrow = row(128, 4), wide = row(132, 12), start_of_row = row(0, 128);
    add_dim(&narrow, 16, 8);
    add_dim(&narrow, 400, 20);
    add_dim(&wide, 16, 7);
    add_dim(&wide, 400, 20);
    add_dim(&start_of_row, 400, 20);
    add(&narrow);
    add(&wide);
    add(&start_of_row);
    finish();
    assert_sound(true);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.items[0].footprint.dim_count, 1);
    assert_int_equal(list.items[0].footprint.bytes, 128 + 16 * 7 + 4);
}

static void rows_of_an_unrolled_tile_are_one_tile(void **state)
{
    (void)state;
    start();
    for (uint32_t r = 0; r < 7; r++) {
        struct range_item item = row(400 * r, 52);
        add(&item);
    }
    finish();
    assert_sound(true);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.items[0].footprint.dim_count, 1);
    assert_int_equal(list.items[0].footprint.dims[0].stride, 400);
    assert_int_equal(list.items[0].footprint.dims[0].count, 7);
}

/* Ranges that differ in kind, width, base or bound stay apart: races depend on these. */
static void different_accesses_stay_apart(void **state)
{
    (void)state;
    start();
    struct range_item item = row(0, 64);
    add(&item);
    item.kind = ACCESS_WRITE;
    add(&item);
    item.base = 1;
    add(&item);
    item.kind = ACCESS_ATOMIC;
    item.width = 4;
    add(&item);
    item.width = 8;
    add(&item);
    item = row(64, 64);
    item.bound = ACCESS_BOUND_GUARD;
    add(&item);
    finish();
    assert_sound(true);
    assert_int_equal(list.count, 6);
}

/* An exact range says more than a bounded one around it. */
static void exact_range_inside_bounded_one_stays(void **state)
{
    (void)state;
    start();
    struct range_item item = row(0, 4096);
    item.bound = ACCESS_BOUND_DATA;
    add(&item);
    item = row(512, 64);
    add(&item);
    finish();
    assert_sound(true);
    assert_int_equal(list.count, 2);
    for (uint32_t i = 0; i < BYTES; i++)
        assert_int_equal((after[0][ACCESS_READ][i] & MARK_EXACT) != 0, i >= 512 && i < 576);
}

static void whole_takes_the_parts(void **state)
{
    (void)state;
    start();
    struct range_item item = row(0, ACCESS_WHOLE);
    item.bound = ACCESS_BOUND_DATA;
    add(&item);
    item = row(128, 64);
    item.bound = ACCESS_BOUND_DATA;
    add(&item);
    item = row(256, ACCESS_TO_END);
    item.bound = ACCESS_BOUND_DATA;
    add(&item);
    finish();
    assert_int_equal(list.count, 1);
    assert_true(list.items[0].footprint.bytes == ACCESS_WHOLE);
}

static void empty_list_stays_empty(void **state)
{
    (void)state;
    start();
    finish();
    assert_int_equal(list.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_random_ranges_keep_their_bytes),
        cmocka_unit_test(many_random_ranges_lose_nothing),
        cmocka_unit_test(unrolled_grid_stride_is_one_range),
        cmocka_unit_test(members_side_by_side_are_one_range),
        cmocka_unit_test(halves_of_blocks_are_one_range),
        cmocka_unit_test(parts_of_rows_are_rows),
        cmocka_unit_test(rows_of_an_unrolled_tile_are_one_tile),
        cmocka_unit_test(different_accesses_stay_apart),
        cmocka_unit_test(exact_range_inside_bounded_one_stays),
        cmocka_unit_test(whole_takes_the_parts),
        cmocka_unit_test(empty_list_stays_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
