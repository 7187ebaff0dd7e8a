/* The embedded device's addresses: red zones behind allocations, the quarantine of freed ones, and
 * that neither takes memory from the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>

#include "runtime/device/memory/arena.h"

enum { UNIT = 256, ZONE = 512, KB = 1 << 10, MB = 1 << 20 };

static struct arena arena;

static void start(uint64_t bytes, uint64_t limit, uint64_t redzone, uint64_t quarantine)
{
    assert_true(arena_open(&arena, 0, bytes, UNIT, limit, true));
    arena_guard(&arena, redzone, quarantine);
}

static uint64_t allocate(uint64_t bytes)
{
    return arena_allocate(&arena, bytes, 1, 0);
}

static bool is_live(uint64_t address)
{
    struct arena_info info;
    return arena_find(&arena, address, &info);
}

/* Nobody's bytes between the end of `bytes` bytes at `base` and `next`. */
static uint64_t gap(uint64_t base, uint64_t bytes, uint64_t next)
{
    assert_true(is_live(base));
    assert_true(is_live(base + bytes - 1));
    for (uint64_t at = base + bytes; at < next; at += 4)
        assert_false(is_live(at));
    return next - base - bytes;
}

static void without_guards_blocks_touch(void **state)
{
    (void)state;
    start(MB, MB, 0, 0);
    uint64_t a = allocate(1000), b = allocate(256), c = allocate(1);
    assert_int_equal(gap(a, 1000, b), 24);
    assert_int_equal(gap(b, 256, c), 0);
    assert_true(arena_free(&arena, b));
    assert_int_equal(allocate(200), b);
    arena_close(&arena);
}

static void zones_lie_behind_blocks(void **state)
{
    (void)state;
    start(64 * MB, 64 * MB, ZONE, 0);
    uint64_t sizes[] = {1, 255, 256, 257, 4096, 100000, 10 * MB, 16 * MB, 5}, before = 0;
    uint64_t used = 0;
    for (int i = 0; i < 9; i++) {
        uint64_t base = allocate(sizes[i]);
        assert_int_equal(base % UNIT, 0);
        if (i) {
            uint64_t zone = gap(before, sizes[i - 1], base), part = sizes[i - 1] / 8;
            assert_true(zone >= ZONE);
            assert_true(zone >= (part < MB ? part : MB));
            uint64_t granularity = sizes[i - 1] < 4096 ? 512 : 4096;
            assert_true(zone < (part > ZONE ? part : ZONE) + UNIT + granularity);
            assert_true(zone < MB + UNIT + granularity);
            assert_int_equal((base - before) % granularity, 0); /* alignment is as without zones */
        }
        before = base;
        used += (sizes[i] + UNIT - 1) / UNIT * UNIT;
    }
    assert_int_equal(arena.used, used); /* zones are not handed out */
    arena_close(&arena);
}

static void a_block_knows_its_capacity(void **state)
{
    (void)state;
    start(MB, MB, ZONE, 0);
    struct arena_info info;
    uint64_t a = allocate(1000);
    assert_true(arena_find(&arena, a + 999, &info));
    assert_int_equal(info.base, a);
    assert_int_equal(info.bytes, 1000);
    assert_int_equal(info.span, 1024);
    assert_false(arena_reuse(&arena, a, 1025, 1, 0));
    assert_true(arena_reuse(&arena, a, 10, 1, 0));
    assert_true(is_live(a + 9));
    assert_false(is_live(a + 10));
    assert_true(arena_reuse(&arena, a, 1024, 1, 0));
    assert_true(is_live(a + 1023));
    arena_close(&arena);
}

static void freed_blocks_wait_their_turn(void **state)
{
    (void)state;
    start(MB, MB, 0, 3 * KB);
    uint64_t a = allocate(KB), b = allocate(KB), c = allocate(KB), d = allocate(KB);
    uint64_t end = allocate(KB);
    assert_true(arena_free(&arena, a));
    assert_true(arena_free(&arena, c));
    assert_false(arena_free(&arena, a)); /* once is enough */
    assert_false(is_live(a));
    assert_int_equal(arena.used, 3 * KB);
    assert_true(allocate(KB) > end);
    assert_true(arena_free(&arena, d));
    assert_true(allocate(UNIT) > end);
    assert_true(arena_free(&arena, b)); /* a has waited longest */
    assert_int_equal(allocate(KB), a);
    struct arena_info info;
    assert_true(arena_next(&arena, a + 1, &info)); /* over those that wait */
    assert_int_equal(info.base, end);
    arena_close(&arena);
}

static void some_do_not_wait(void **state)
{
    (void)state;
    start(64 * MB, 32 * MB, 0, 4 * KB);
    uint64_t a = allocate(8 * KB), b = allocate(KB);
    assert_true(arena_free(&arena, a)); /* too large */
    assert_int_equal(allocate(KB), a);
    assert_true(arena_free_now(&arena, b));
    assert_int_equal(allocate(2 * KB), b - 7 * KB);
    uint64_t reserved = arena_reserve(&arena, 2 * MB, 2 * MB, 1);
    assert_true(arena_free(&arena, reserved));
    assert_int_equal(arena_reserve(&arena, 2 * MB, 2 * MB, 1), reserved);
    arena_close(&arena);
}

/* All of a device's memory can be had, whatever waits and whatever zones there would be. */
static void guards_cost_no_memory(void **state)
{
    (void)state;
    uint64_t blocks[1024];
    start(4 * MB, MB, ZONE, 4 * MB);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 1024; i++) {
            blocks[i] = allocate(KB);
            assert_int_not_equal(blocks[i], 0);
        }
        assert_int_equal(arena.used, MB);
        assert_int_equal(allocate(1), 0);
        for (int i = 0; i < 1024; i++)
            assert_true(arena_free(&arena, blocks[(i * 7) % 1024]));
        assert_int_equal(arena.used, 0);
        uint64_t all = allocate(MB);
        assert_int_not_equal(all, 0);
        assert_true(arena_free(&arena, all));
    }
    arena_close(&arena);
}

/* Where there are no more addresses than memory, zones have a part of them. */
static void zones_leave_most_addresses(void **state)
{
    (void)state;
    start(MB, MB, ZONE, MB);
    uint64_t first = allocate(KB), second = allocate(KB), got = 2;
    assert_int_equal(gap(first, KB, second), ZONE);
    while (allocate(KB))
        got++;
    assert_true(got >= 1024 * 15 / 16);
    arena_close(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_guards_blocks_touch),
        cmocka_unit_test(zones_lie_behind_blocks),
        cmocka_unit_test(a_block_knows_its_capacity),
        cmocka_unit_test(freed_blocks_wait_their_turn),
        cmocka_unit_test(some_do_not_wait),
        cmocka_unit_test(guards_cost_no_memory),
        cmocka_unit_test(zones_leave_most_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
