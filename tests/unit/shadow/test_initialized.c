/* Option init_check: reads of bytes that nothing has written, case by case, and at random beside a
 * model that keeps for each byte whether it may have been written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/detector/context.h"
#include "tests/unit/detector/test_detect.h"

static struct csan_access access_of(int kind, int bound, uint64_t base, uint64_t bytes)
{
    return (struct csan_access){
        .base = base, .bytes = bytes, .kind = (uint8_t)kind, .bound = (uint8_t)bound};
}

static void op(struct world w, enum csan_level level, int kind, int bound, uint64_t base,
               uint64_t bytes)
{
    const struct csan_access access = access_of(kind, bound, base, bytes);
    csan_op(w.context, w.a, site(w.context, "kernel"), level, &access, 1);
}

static void read(struct world w, uint64_t base, uint64_t bytes)
{
    op(w, CSAN_LEVEL_RANGES, CSAN_READ, CSAN_EXACT, base, bytes);
}
static void write(struct world w, uint64_t base, uint64_t bytes)
{
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, base, bytes);
}

/* What was found is forgotten. */
static void expect(uint64_t address, uint64_t bytes)
{
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_UNINITIALIZED);
    assert_int_equal(found[0].address, address);
    assert_int_equal(found[0].bytes, bytes);
    assert_true(csan_is_error(&found[0]));
    assert_int_equal(found[0].error->where, CSAN_WHERE_INSIDE);
    found_count = 0;
}
static void expect_nothing(void)
{
    assert_int_equal(found_count, 0);
}

static struct world world_each(void)
{
    return world_create("dedup=0:init_check=1");
}

static void what_nothing_has_written(void **state)
{
    (void)state;
    struct world w = world_each();
    read(w, BASE + 64, 128);
    expect(BASE + 64, 128);
    read(w, BASE + 64, 128); /* once */
    expect_nothing();
    write(w, BASE, 1024);
    read(w, BASE, 1024);
    expect_nothing();
    read(w, BASE, SIZE);
    expect(BASE + 1024, SIZE - 1024);
    csan_context_destroy(w.context);
    w = world_create("dedup=0");
    read(w, BASE, SIZE);
    expect_nothing();
    csan_context_destroy(w.context);
}

/* The end of a vector is read with its begin. */
static void reads_of_whole_vectors(void **state)
{
    (void)state;
    struct world w = world_each();
    write(w, BASE, 1021);
    read(w, BASE, 1024);
    expect_nothing();
    read(w, BASE, 1025);
    expect(BASE + 1021, 4);
    csan_context_destroy(w.context);
}

static void what_the_op_writes_itself(void **state)
{
    (void)state;
    struct world w = world_each();
    const struct csan_access accesses[] = {access_of(CSAN_READ, CSAN_EXACT, BASE, 256),
                                           access_of(CSAN_WRITE, CSAN_EXACT, BASE, 256)};
    csan_op(w.context, w.a, site(w.context, "kernel"), CSAN_LEVEL_RANGES, accesses, 2);
    expect_nothing();
    csan_context_destroy(w.context);
}

/* Each before a read of all. */
static void what_may_have_been_written(void **state)
{
    (void)state;
    static const struct {
        enum csan_level level;
        int kind, bound;
        uint64_t bytes;
    } cases[] = {
        {CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_BOUND_DATA, 8},
        {CSAN_LEVEL_RANGES, CSAN_ATOMIC, CSAN_BOUND_GUARD, 8},
        {CSAN_LEVEL_DIRECTION, CSAN_WRITE, CSAN_BOUND_DIRECTION, CSAN_TO_END},
        {CSAN_LEVEL_DIRECTION, CSAN_READ, CSAN_BOUND_DIRECTION, CSAN_TO_END},
        {CSAN_LEVEL_LEARNED, CSAN_READ, CSAN_EXACT, 8},
        {CSAN_LEVEL_OPERATOR, CSAN_WRITE, CSAN_EXACT, 8},
        {CSAN_LEVEL_ANNOTATED, CSAN_READ, CSAN_EXACT, 8},
        {CSAN_LEVEL_LIBRARY, CSAN_WRITE, CSAN_BOUND_DATA, 8},
        {CSAN_LEVEL_UNKNOWN, CSAN_READ, CSAN_EXACT, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w = world_each();
        op(w, cases[i].level, cases[i].kind, cases[i].bound, BASE + 2048, cases[i].bytes);
        read(w, BASE, SIZE);
        expect_nothing();
        csan_context_destroy(w.context);
    }
}

static void what_is_not_judged(void **state)
{
    (void)state;
    static const enum csan_level levels[] = {CSAN_LEVEL_ANNOTATED, CSAN_LEVEL_LIBRARY,
                                             CSAN_LEVEL_OPERATOR, CSAN_LEVEL_DIRECTION,
                                             CSAN_LEVEL_LEARNED};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        struct world w = world_each();
        op(w, levels[i], CSAN_READ, CSAN_EXACT, BASE, SIZE);
        expect_nothing();
        csan_context_destroy(w.context);
    }
    struct world w = world_each();
    op(w, CSAN_LEVEL_RANGES, CSAN_READ, CSAN_BOUND_GUARD, BASE, SIZE);
    op(w, CSAN_LEVEL_RANGES, CSAN_ATOMIC, CSAN_EXACT, BASE, SIZE);
    expect_nothing();
    csan_context_destroy(w.context);
}

static void memory_that_is_not_judged(void **state)
{
    (void)state;
    static const struct {
        enum csan_memory_kind kind;
        const char *call;
    } cases[] = {{CSAN_MEMORY_MANAGED, "cuMemAllocManaged"},
                 {CSAN_MEMORY_HOST, "cuMemAllocHost"},
                 {CSAN_MEMORY_DEVICE, "cuMemMap"},
                 {CSAN_MEMORY_DEVICE, "cuIpcOpenMemHandle"}};
    struct world w = world_each();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t base = BASE * (i + 2);
        csan_memory_create(w.context, cases[i].kind, base, SIZE, CSAN_HOST,
                           site(w.context, cases[i].call));
        read(w, base, SIZE);
        expect_nothing();
    }
    csan_memory_pool_alloc(w.context, BASE, 64, w.a, site(w.context, "block"));
    read(w, BASE, 64);
    read(w, BASE + 1024, 64);
    expect_nothing();
    csan_context_destroy(w.context);
}

static void memory_given_out_again(void **state)
{
    (void)state;
    struct world w = world_each();
    const csan_site call = site(w.context, "cuMemAllocAsync");
    for (int i = 0; i < 3; i++) {
        csan_memory_create(w.context, CSAN_MEMORY_STREAM, 2 * BASE, SIZE, w.a, call);
        read(w, 2 * BASE, 256);
        expect(2 * BASE, 256);
        write(w, 2 * BASE, SIZE);
        csan_free *token = csan_memory_free_begin(w.context, 2 * BASE, w.a, 1, call);
        csan_memory_free_end(w.context, token, 0, 0);
    }
    csan_context_destroy(w.context);
}

static void doubts(void **state)
{
    (void)state;
    struct world w = world_each();
    context_doubt(w.context);
    read(w, BASE, SIZE);
    expect_nothing();
    csan_memory_create(w.context, CSAN_MEMORY_DEVICE, 2 * BASE, SIZE, CSAN_HOST,
                       site(w.context, "cuMemAlloc"));
    read(w, 2 * BASE, SIZE);
    expect(2 * BASE, SIZE);
    csan_memory_create(w.context, CSAN_MEMORY_DEVICE, 3 * BASE, SIZE, CSAN_HOST,
                       site(w.context, "cuMemAlloc"));
    context_ignore(true);
    write(w, 3 * BASE, SIZE);
    context_ignore(false);
    read(w, 3 * BASE, SIZE);
    expect_nothing();
    csan_context_destroy(w.context);
}

static void nodes_of_graphs(void **state)
{
    (void)state;
    struct world w = world_each();
    const void *frame = "launch";
    const csan_site node = csan_site_launched(w.context, site(w.context, "kernel"), &frame, 1);
    const struct csan_access access = access_of(CSAN_READ, CSAN_EXACT, BASE, 8);
    csan_op(w.context, w.a, node, CSAN_LEVEL_RANGES, &access, 1);
    read(w, BASE, SIZE); /* another node may have written */
    expect_nothing();
    csan_context_destroy(w.context);
}

/* A write that was called before the read waits for a value, and comes behind it. */
static void what_comes_out_of_turn(void **state)
{
    (void)state;
    struct world w = world_each();
    csan_snapshot *promise = csan_snapshot_promise(w.context);
    csan_snapshot_join(w.context, w.b, promise);
    const struct csan_access access = access_of(CSAN_WRITE, CSAN_EXACT, BASE, SIZE);
    csan_op(w.context, w.b, site(w.context, "writer"), CSAN_LEVEL_RANGES, &access, 1);
    read(w, BASE, SIZE);
    csan_snapshot_keep(w.context, promise, w.a);
    read(w, BASE, SIZE);
    for (size_t i = 0; i < found_count; i++) /* they race with the write, of course */
        assert_int_not_equal(found[i].kind, CSAN_RACE_UNINITIALIZED);
    assert_int_not_equal(found_count, 0);
    csan_snapshot_release(w.context, promise);
    csan_context_destroy(w.context);
}

/* ---- random programs ---- */

enum { CELLS = 64, CELL = 256, PROGRAMS = 300, STEPS = 120, AREA = CELLS * CELL, SLOTS = 8 };

/* Slots of the area that have an allocation; bytes that are surely unwritten. */
struct model {
    bool live[SLOTS];
    bool empty[AREA];
};
enum { SLOT = AREA / SLOTS, AT = 4 * BASE };

static uint32_t random_state;
static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

static void fill(struct model *model, uint64_t from, uint64_t to, bool empty)
{
    for (uint64_t i = from; i < to; i++)
        model->empty[i] = empty;
}

static void random_life(struct world w, struct model *model)
{
    const uint32_t slot = random_below(SLOTS);
    const uint64_t base = AT + (uint64_t)slot * SLOT;
    if (!model->live[slot]) {
        csan_memory_create(w.context, CSAN_MEMORY_DEVICE, base, SLOT, CSAN_HOST,
                           site(w.context, "cuMemAlloc"));
    } else {
        csan_free *token =
            csan_memory_free_begin(w.context, base, CSAN_HOST, 0, site(w.context, "cuMemFree"));
        csan_memory_free_end(w.context, token, 0, CSAN_FREE_WAITED);
    }
    model->live[slot] = !model->live[slot];
    fill(model, (uint64_t)slot * SLOT, (uint64_t)slot * SLOT + SLOT, model->live[slot]);
}

/* A strided access within one slot, as [from, to), where that is live. */
static bool random_access(const struct model *model, struct csan_access *access,
                          struct csan_dim *dim, uint64_t *from, uint64_t *to)
{
    const uint32_t slot = random_below(SLOTS);
    *from = (uint64_t)slot * SLOT + random_below(SLOT - 64);
    const uint64_t room = (uint64_t)slot * SLOT + SLOT - *from;
    *access = access_of(CSAN_READ, CSAN_EXACT, AT + *from, 1 + random_below((uint32_t)room / 2));
    *to = *from + access->bytes;
    if (access->bytes < room / 8 && random_below(2)) {
        *dim = (struct csan_dim){.stride = (int64_t)access->bytes * 2, .count = 3};
        access->dims = dim;
        access->dim_count = 1;
        *to = *from + 5 * access->bytes;
    }
    return model->live[slot];
}

static void random_write(struct world w, struct model *model)
{
    struct csan_access access;
    struct csan_dim dim;
    uint64_t from, to;
    if (!random_access(model, &access, &dim, &from, &to))
        return;
    const uint64_t slot = from / SLOT * SLOT;
    const bool bounded = random_below(12) == 0;
    access.kind = CSAN_WRITE;
    access.bound = bounded ? CSAN_BOUND_DATA : CSAN_EXACT;
    csan_op(w.context, w.a, site(w.context, "writer"),
            random_below(2) ? CSAN_LEVEL_RANGES : CSAN_LEVEL_LIBRARY, &access, 1);
    fill(model, bounded ? slot : from, bounded ? slot + SLOT : to, false);
}

/* The first run of empty bytes that the access reads, but for the rest of a vector. */
static bool find_empty(const struct model *model, const struct csan_access *access, uint64_t *first,
                       uint64_t *end)
{
    const uint64_t runs = access->dim_count ? access->dims[0].count : 1;
    for (uint64_t r = 0; r < runs; r++) {
        const uint64_t start =
            access->base - AT + r * (access->dim_count ? (uint64_t)access->dims[0].stride : 0);
        for (uint64_t i = start; i < start + access->bytes; i = *end) {
            *first = *end = i;
            if (!model->empty[i]) {
                *end = i + 1;
                continue;
            }
            while (*end < start + access->bytes && model->empty[*end])
                ++*end;
            const bool behind = i > 0 && i % 16 && !model->empty[i - 1];
            if (!(behind && *end <= (i | 15) + 1))
                return true;
        }
    }
    return false;
}

static void random_read(struct world w, struct model *model, uint32_t seed)
{
    struct csan_access access;
    struct csan_dim dim;
    uint64_t from, to, first = 0, end = 0;
    if (!random_access(model, &access, &dim, &from, &to))
        return;
    const bool empty = find_empty(model, &access, &first, &end);
    found_count = 0;
    csan_op(w.context, w.a, site(w.context, "reader"),
            random_below(2) ? CSAN_LEVEL_RANGES : CSAN_LEVEL_TRACED, &access, 1);
    if (found_count != empty)
        fail_msg("seed %u: a read of %#lx to %#lx: %zu findings, %d expected", seed,
                 (unsigned long)from, (unsigned long)to, found_count, empty);
    if (!empty)
        return;
    assert_int_equal(found[0].kind, CSAN_RACE_UNINITIALIZED);
    assert_int_equal(found[0].address, AT + first);
    assert_int_equal(found[0].bytes, end - first);
    fill(model, from, to, false); /* it is reported once */
}

static void random_programs(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
        static struct model model;
        model = (struct model){.live = {false}};
        struct world w = world_each();
        random_state = seed;
        for (int i = 0; i < STEPS; i++)
            switch (random_below(5)) {
            case 0:
                random_life(w, &model);
                break;
            case 1:
            case 2:
                random_write(w, &model);
                break;
            default:
                random_read(w, &model, seed);
            }
        csan_context_destroy(w.context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nothing_has_written),  cmocka_unit_test(reads_of_whole_vectors),
        cmocka_unit_test(what_the_op_writes_itself), cmocka_unit_test(what_may_have_been_written),
        cmocka_unit_test(what_is_not_judged),        cmocka_unit_test(memory_that_is_not_judged),
        cmocka_unit_test(memory_given_out_again),    cmocka_unit_test(doubts),
        cmocka_unit_test(nodes_of_graphs),           cmocka_unit_test(what_comes_out_of_turn),
        cmocka_unit_test(random_programs),
    };
    return cmocka_run_group_tests_name("initialized", tests, NULL, NULL);
}
