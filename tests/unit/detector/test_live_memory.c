/* The program's memory against a plain array of units. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "csan/detector/live_memory.h"

#include <stdlib.h>
#include <string.h>

enum { UNITS = 300 };
/* Units lie in pages of their own; there are more pages than bits for them. */
#define AT(unit) ((uint64_t)(unit) << 31)

/* Of each unit: the first and the last of the allocation and of the block that it is in. */
struct model {
    int begin[UNITS], end[UNITS], block_begin[UNITS], block_end[UNITS];
};

static void set(int *begin, int *end, int from, int to)
{
    for (int i = from; i < to; i++) {
        int first = begin[i], last = end[i]; /* what overlaps goes as a whole */
        for (int k = first; last && k < last; k++)
            begin[k] = end[k] = 0;
    }
    for (int i = from; i < to; i++) {
        begin[i] = from;
        end[i] = to;
    }
}

static void clear(int *begin, int *end, int from, int to)
{
    set(begin, end, from, to);
    memset(begin + from, 0, (size_t)(to - from) * sizeof *begin);
    memset(end + from, 0, (size_t)(to - from) * sizeof *end);
}

static void add(struct live_memory *live, struct range range)
{
    live_memory_add(live, &(struct live_memory_entry){.range = range, .kind = CSAN_MEMORY_DEVICE});
}

static void change(struct live_memory *live, struct model *model)
{
    int from = rand() % (UNITS - 20), to = from + 1 + rand() % 20;
    const struct range range = {AT(from), AT(to)};
    struct live_memory_entry removed;
    switch (rand() % 4) {
    case 0:
        add(live, range);
        set(model->begin, model->end, from, to);
        clear(model->block_begin, model->block_end, from, to);
        break;
    case 1:
        live_memory_add_block(live, range, 0);
        set(model->block_begin, model->block_end, from, to);
        break;
    case 2:
        live_memory_remove_block(live, range.start);
        if (model->block_end[from] && model->block_begin[from] == from)
            clear(model->block_begin, model->block_end, from, model->block_end[from]);
        break;
    default:
        if (!model->end[from] || model->begin[from] != from) {
            assert_false(live_memory_remove(live, range.start, &removed));
            break;
        }
        to = model->end[from];
        assert_true(live_memory_remove(live, range.start, &removed));
        assert_int_equal(removed.range.end, AT(to));
        clear(model->begin, model->end, from, to);
        clear(model->block_begin, model->block_end, from, to);
    }
}

/* The last byte before the pointer, or the first behind it, determines its owner. */
static struct range pointee(const struct live_memory *live, uint64_t pointer)
{
    struct range owner;
    if (live_memory_owner(live, pointer, &owner))
        return owner;
    return live_memory_owner(live, pointer - 1, &owner) && owner.end == pointer
               ? owner
               : (struct range){0, 0};
}

/* Several pointers at once give the same answers as each alone. */
static void ask_together(const struct live_memory *live)
{
    enum { ASKED = 7 };
    uint64_t pointers[ASKED];
    struct range owners[ASKED];
    for (int i = 0; i < ASKED; i++)
        pointers[i] = AT(rand() % UNITS) + (rand() % 2 ? 5 : 0);
    live_memory_pointees(live, pointers, ASKED, owners);
    for (int i = 0; i < ASKED; i++) {
        struct range owner = pointee(live, pointers[i]);
        assert_int_equal(owners[i].start, owner.start);
        assert_int_equal(owners[i].end, owner.end);
        assert_true(!owner.end || live_memory_may_point(live, pointers[i]));
    }
}

static void random_memory(void **state)
{
    (void)state;
    struct live_memory live;
    struct model model = {{0}};
    live_memory_init(&live);
    srand(1);
    for (int round = 0; round < 20000; round++) {
        change(&live, &model);
        ask_together(&live);
        int unit = rand() % UNITS;
        struct range owner;
        bool block = model.block_end[unit] != 0;
        assert_int_equal(live_memory_owner(&live, AT(unit) + 5, &owner), model.end[unit] != 0);
        if (!model.end[unit])
            continue;
        assert_true(live_memory_may_have(&live, AT(unit) + 5));
        assert_true(live_memory_span(&live).start <= AT(model.begin[unit]));
        assert_true(live_memory_span(&live).end >= AT(model.end[unit]));
        assert_int_equal(owner.start, AT(block ? model.block_begin[unit] : model.begin[unit]));
        assert_int_equal(owner.end, AT(block ? model.block_end[unit] : model.end[unit]));
    }
    live_memory_clear(&live);
}

/* Most of what is no address is known to be none. */
static void other_pages_are_distinguished(void **state)
{
    (void)state;
    struct live_memory live;
    int maybe = 0;
    live_memory_init(&live);
    for (uint64_t i = 0; i < 20; i++)
        add(&live, (struct range){(i + 32000) << 32, (i + 32001) << 32});
    for (uint64_t i = 1; i <= 10000; i++)
        maybe += live_memory_may_have(&live, i << 32 | 7);
    assert_in_range(maybe, 0, 10000 / 20);
    live_memory_clear(&live);
}

static void the_span_is_of_all_there_ever_was(void **state)
{
    (void)state;
    struct live_memory live;
    struct live_memory_entry removed;
    live_memory_init(&live);
    assert_int_equal(live_memory_span(&live).end, 0);
    add(&live, (struct range){0x5000, 0x6000});
    assert_int_equal(live_memory_span(&live).start, 0x5000);
    assert_int_equal(live_memory_span(&live).end, 0x6000);
    add(&live, (struct range){0x1000, 0x2000});
    add(&live, (struct range){0x8000, 0x9000});
    assert_true(live_memory_remove(&live, 0x8000, &removed));
    assert_int_equal(live_memory_span(&live).start, 0x1000);
    assert_int_equal(live_memory_span(&live).end, 0x9000);
    live_memory_clear(&live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_memory),
        cmocka_unit_test(other_pages_are_distinguished),
        cmocka_unit_test(the_span_is_of_all_there_ever_was),
    };
    return cmocka_run_group_tests_name("live_memory", tests, NULL, NULL);
}
