/* Accesses that reach out of their memory, or use memory that was freed: case by case, and at
 * random beside a model that keeps who owns each byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/detector/context.h"
#include "tests/unit/detector/test_detect.h"

static void allocate(struct world w, const char *call, enum csan_memory_kind kind, uint64_t base,
                     uint64_t bytes)
{
    assert_int_equal(csan_memory_create(w.context, kind, base, bytes, w.a, site(w.context, call)),
                     0);
}

static void release(struct world w, uint64_t base)
{
    csan_free *token =
        csan_memory_free_begin(w.context, base, CSAN_HOST, 0, site(w.context, "cuMemFree"));
    assert_non_null(token);
    csan_memory_free_end(w.context, token, 0, CSAN_FREE_WAITED);
}

static void op(struct world w, enum csan_level level, int kind, int bound, uint64_t base,
               uint64_t bytes)
{
    struct csan_access access = {
        .base = base, .bytes = bytes, .kind = (uint8_t)kind, .bound = (uint8_t)bound};
    csan_op(w.context, w.a, site(w.context, "kernel"), level, &access, 1);
}

/* What was found is forgotten. */
static void expect(int kind, uint64_t address, uint64_t bytes, uint64_t allocation)
{
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, kind);
    assert_int_equal(found[0].address, address);
    assert_int_equal(found[0].bytes, bytes);
    assert_int_equal(found[0].allocation, allocation);
    assert_int_equal(csan_is_error(&found[0]), kind == CSAN_RACE_OUT_OF_BOUNDS);
    found_count = 0;
}
static void expect_nothing(void)
{
    assert_int_equal(found_count, 0);
}

static struct world world_each(void)
{
    return world_create("dedup=0");
}

static void the_end_of_an_allocation(void **state)
{
    (void)state;
    struct world w = world_each();
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, BASE, SIZE);
    expect_nothing();
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, BASE, SIZE + 1);
    assert_int_equal(found[0].error->where, CSAN_WHERE_BEHIND);
    assert_int_equal(found[0].error->neighbour_bytes, 0);
    expect(CSAN_RACE_OUT_OF_BOUNDS, BASE + SIZE, 1, BASE);
    op(w, CSAN_LEVEL_RANGES, CSAN_READ, CSAN_EXACT, BASE + SIZE - 4, 8);
    expect(CSAN_RACE_OUT_OF_BOUNDS, BASE + SIZE, 4, BASE);
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_BOUND_DATA, BASE, SIZE + 1);
    expect_nothing();
    op(w, CSAN_LEVEL_TRACED, CSAN_ATOMIC, CSAN_EXACT, BASE, SIZE + 8);
    expect(CSAN_RACE_OUT_OF_BOUNDS, BASE + SIZE, 8, BASE);
    csan_context_destroy(w.context);
}

static void before_an_allocation(void **state)
{
    (void)state;
    struct world w = world_each();
    op(w, CSAN_LEVEL_RANGES, CSAN_READ, CSAN_EXACT, BASE - 4, 64);
    assert_int_equal(found[0].error->where, CSAN_WHERE_BEFORE);
    assert_int_equal(found[0].error->distance, 4);
    expect(CSAN_RACE_OUT_OF_BOUNDS, BASE - 4, 4, BASE);
    op(w, CSAN_LEVEL_RANGES, CSAN_READ, CSAN_EXACT, BASE - 64, 64); /* of nothing that is known */
    expect_nothing();
    csan_context_destroy(w.context);
}

static void strided_accesses(void **state)
{
    (void)state;
    struct world w = world_each();
    struct csan_dim rows = {.stride = 256, .count = 17};
    struct csan_access access = {
        .base = BASE, .bytes = 16, .dims = &rows, .dim_count = 1, .kind = CSAN_WRITE};
    csan_op(w.context, w.a, site(w.context, "kernel"), CSAN_LEVEL_LIBRARY, &access, 1);
    expect(CSAN_RACE_OUT_OF_BOUNDS, BASE + SIZE, 16, BASE);
    rows.count = 16;
    csan_op(w.context, w.a, site(w.context, "kernel"), CSAN_LEVEL_LIBRARY, &access, 1);
    expect_nothing();
    csan_context_destroy(w.context);
}

static void reads_of_whole_vectors(void **state)
{
    (void)state;
    struct world w = world_each();
    allocate(w, "cuMemAlloc", CSAN_MEMORY_DEVICE, 2 * BASE, 100);
    op(w, CSAN_LEVEL_RANGES, CSAN_READ, CSAN_EXACT, 2 * BASE, 112);
    expect_nothing();
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, 2 * BASE, 112);
    expect(CSAN_RACE_OUT_OF_BOUNDS, 2 * BASE + 100, 12, 2 * BASE);
    op(w, CSAN_LEVEL_RANGES, CSAN_READ, CSAN_EXACT, 2 * BASE, 113);
    expect(CSAN_RACE_OUT_OF_BOUNDS, 2 * BASE + 100, 13, 2 * BASE);
    /* In a pattern with gaps a run may end with the vector, and the next be the neighbour's. */
    allocate(w, "cuMemAlloc", CSAN_MEMORY_DEVICE, 2 * BASE + 512, 512);
    struct csan_dim rows = {.stride = 16, .count = 64};
    struct csan_access access = {
        .base = 2 * BASE, .bytes = 8, .dims = &rows, .dim_count = 1, .kind = CSAN_READ};
    csan_op(w.context, w.a, site(w.context, "kernel"), CSAN_LEVEL_RANGES, &access, 1);
    expect(CSAN_RACE_OUT_OF_BOUNDS, 2 * BASE + 112, 8, 2 * BASE);
    rows.count = 7;
    csan_op(w.context, w.a, site(w.context, "kernel"), CSAN_LEVEL_RANGES, &access, 1);
    expect_nothing();
    csan_context_destroy(w.context);
}

/* A block whose last vector ends where the next begins: a trace shows one run from the one into the
 * other. */
static void a_whole_vector_before_a_neighbour(void **state)
{
    (void)state;
    struct world w = world_each();
    allocate(w, "cuMemAllocManaged", CSAN_MEMORY_MANAGED, 2 * BASE, 511);
    allocate(w, "cuMemAllocManaged", CSAN_MEMORY_MANAGED, 2 * BASE + 512, 512);
    op(w, CSAN_LEVEL_TRACED, CSAN_READ, CSAN_EXACT, 2 * BASE, 1024);
    expect_nothing();
    struct csan_dim rows = {.stride = 512, .count = 2};
    struct csan_access access = {
        .base = 2 * BASE + 500, .bytes = 12, .dims = &rows, .dim_count = 1, .kind = CSAN_READ};
    csan_op(w.context, w.a, site(w.context, "kernel"), CSAN_LEVEL_TRACED, &access, 1);
    expect_nothing();
    op(w, CSAN_LEVEL_TRACED, CSAN_WRITE, CSAN_EXACT, 2 * BASE, 1024);
    expect(CSAN_RACE_OUT_OF_BOUNDS, 2 * BASE + 511, 513, 2 * BASE);
    op(w, CSAN_LEVEL_RANGES, CSAN_READ, CSAN_EXACT, 2 * BASE, 1024);
    expect(CSAN_RACE_OUT_OF_BOUNDS, 2 * BASE + 511, 513, 2 * BASE);
    csan_context_destroy(w.context);
}

static void bytes_of_a_neighbour(void **state)
{
    (void)state;
    struct world w = world_each();
    allocate(w, "cuMemAlloc", CSAN_MEMORY_DEVICE, BASE + SIZE, 512);
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, BASE, SIZE + 4);
    assert_int_equal(found[0].error->neighbour, BASE + SIZE);
    assert_int_equal(found[0].error->neighbour_bytes, 512);
    expect(CSAN_RACE_OUT_OF_BOUNDS, BASE + SIZE, 4, BASE);
    /* What was seen to be touched may have been touched through two pointers. */
    op(w, CSAN_LEVEL_TRACED, CSAN_WRITE, CSAN_EXACT, BASE, SIZE + 4);
    op(w, CSAN_LEVEL_LEARNED, CSAN_WRITE, CSAN_EXACT, BASE, SIZE + 4);
    expect_nothing();
    csan_context_destroy(w.context);
}

static void memory_without_ends_of_its_own(void **state)
{
    (void)state;
    static const struct {
        const char *call;
        enum csan_memory_kind kind;
    } cases[] = {{"cuMemMap", CSAN_MEMORY_DEVICE},
                 {"cuMemHostRegister", CSAN_MEMORY_HOST},
                 {"cuIpcOpenMemHandle", CSAN_MEMORY_DEVICE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w = world_each();
        allocate(w, cases[i].call, cases[i].kind, 2 * BASE, 256);
        op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, 2 * BASE, 300);
        expect_nothing();
        csan_context_destroy(w.context);
    }
}

static void freed_memory(void **state)
{
    (void)state;
    struct world w = world_each();
    release(w, BASE);
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, BASE + 16, 32);
    assert_string_equal(found[0].previous.name, "cuMemFree");
    assert_int_equal(found[0].previous.kind, CSAN_FREE);
    expect(CSAN_RACE_USE_AFTER_FREE, BASE + 16, 32, BASE);
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_BOUND_GUARD, BASE + 16, 32);
    expect_nothing();
    allocate(w, "cuMemAlloc", CSAN_MEMORY_DEVICE, BASE, 64);
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, BASE + 16, 32);
    expect_nothing();
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, BASE + 64, 32); /* what is left of it */
    expect(CSAN_RACE_USE_AFTER_FREE, BASE + 64, 32, BASE);
    csan_context_destroy(w.context);
}

/* The C library may reuse its addresses without csan's knowledge. */
static void freed_memory_of_the_host(void **state)
{
    (void)state;
    struct world w = world_each();
    allocate(w, "cuMemAllocHost", CSAN_MEMORY_HOST, 2 * BASE, 4096);
    release(w, 2 * BASE);
    op(w, CSAN_LEVEL_LIBRARY, CSAN_READ, CSAN_EXACT, 2 * BASE, 4096);
    expect_nothing();
    csan_context_destroy(w.context);
}

/* A free that waited for whatever used the memory, as cuMemFree does, is a free; memory that went
 * with its context was freed by no call. */
static void memory_freed_when_all_was_done(void **state)
{
    (void)state;
    struct world w = world_each();
    csan_memory_free_end(
        w.context,
        csan_memory_free_begin(w.context, BASE, CSAN_HOST, 0, site(w.context, "cuMemFree")), 0,
        CSAN_FREE_FORGOTTEN);
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, BASE, 64);
    expect(CSAN_RACE_USE_AFTER_FREE, BASE, 64, BASE);
    allocate(w, "cuMemAlloc", CSAN_MEMORY_DEVICE, BASE, 64);
    csan_memory_free_end(w.context, csan_memory_free_begin(w.context, BASE, CSAN_HOST, 0, 0), 0,
                         CSAN_FREE_FORGOTTEN);
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, BASE, 64);
    expect_nothing();
    csan_context_destroy(w.context);
}

/* ---- calls that the driver refused */

static void refuse(struct world w, int kind, uint64_t base, uint64_t bytes, bool frees)
{
    const struct csan_access access = {.base = base, .bytes = bytes, .kind = (uint8_t)kind};
    context_judge(w.context,
                  &(struct context_call){.lane = CSAN_HOST,
                                         .site = site(w.context, "call"),
                                         .level = CSAN_LEVEL_LIBRARY,
                                         .accesses = &access,
                                         .access_count = 1,
                                         .what = frees ? CONTEXT_REFUSED_FREE : CONTEXT_REFUSED});
}

/* As `expect`, of what has an error whatever it is. */
static void expect_refused(int kind, int access, uint64_t address, uint64_t bytes)
{
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, kind);
    assert_int_equal(found[0].current.kind, access);
    assert_int_equal(found[0].address, address);
    assert_int_equal(found[0].bytes, bytes);
    assert_int_equal(found[0].allocation, BASE);
    assert_string_equal(found[0].error->code, "CUDA_ERROR_INVALID_VALUE");
    found_count = 0;
}

static void refused_frees(void **state)
{
    (void)state;
    struct world w = world_each();
    refuse(w, CSAN_WRITE, BASE, 1, true); /* there is another reason */
    refuse(w, CSAN_WRITE, 4 * BASE, 1, true);
    expect_nothing();
    refuse(w, CSAN_WRITE, BASE + 16, 1, true);
    assert_int_equal(found[0].error->where, CSAN_WHERE_INSIDE);
    assert_int_equal(found[0].error->distance, 16);
    expect_refused(CSAN_RACE_OUT_OF_BOUNDS, CSAN_FREE, BASE + 16, 1);
    release(w, BASE);
    refuse(w, CSAN_WRITE, BASE, 1, true);
    assert_string_equal(found[0].previous.name, "cuMemFree");
    expect_refused(CSAN_RACE_USE_AFTER_FREE, CSAN_FREE, BASE, 1);
    allocate(w, "cuMemAlloc", CSAN_MEMORY_DEVICE, BASE, SIZE);
    refuse(w, CSAN_WRITE, BASE, 1, true);
    expect_nothing();
    csan_context_destroy(w.context);
}

/* Freed in a stream's order, where what used it may still run. */
static void refused_free_of_a_ghost(void **state)
{
    (void)state;
    struct world w = world_each();
    allocate(w, "cuMemAllocAsync", CSAN_MEMORY_STREAM, 2 * BASE, 256);
    csan_free *token =
        csan_memory_free_begin(w.context, 2 * BASE, w.a, 1, site(w.context, "cuMemFreeAsync"));
    csan_memory_free_end(w.context, token, 0, CSAN_FREE_NO_WAIT);
    refuse(w, CSAN_WRITE, 2 * BASE, 1, true);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_USE_AFTER_FREE);
    assert_string_equal(found[0].previous.name, "cuMemFreeAsync");
    found_count = 0;
    csan_context_destroy(w.context);
}

static void refused_copies(void **state)
{
    (void)state;
    struct world w = world_each();
    struct csan_stats before, after;
    csan_context_stats(w.context, &before);
    refuse(w, CSAN_WRITE, BASE, SIZE, false);
    expect_nothing();
    refuse(w, CSAN_READ, BASE, SIZE + 4, false); /* no kernel, which may read whole vectors */
    expect_refused(CSAN_RACE_OUT_OF_BOUNDS, CSAN_READ, BASE + SIZE, 4);
    release(w, BASE);
    refuse(w, CSAN_WRITE, BASE, 64, false);
    expect_refused(CSAN_RACE_USE_AFTER_FREE, CSAN_WRITE, BASE, 64);
    csan_context_stats(w.context, &after);
    assert_int_equal(after.launches[CSAN_LEVEL_LIBRARY], before.launches[CSAN_LEVEL_LIBRARY]);
    csan_context_destroy(w.context);
}

/* Accesses in no allocation, through a pointer. */
static void wrong_pointer(struct world w, uint64_t pointer, uint64_t base, uint64_t bytes)
{
    const struct csan_access access = {.base = base, .bytes = bytes, .kind = CSAN_WRITE};
    context_judge(w.context, &(struct context_call){.what = CONTEXT_WRONG_POINTER,
                                                    .lane = w.a,
                                                    .site = site(w.context, "kernel"),
                                                    .level = CSAN_LEVEL_RANGES,
                                                    .accesses = &access,
                                                    .access_count = 1,
                                                    .pointer = pointer});
}

static void strays_of_a_pointer(void **state)
{
    (void)state;
    struct world w = world_each();
    wrong_pointer(w, BASE, 64 * BASE, 4096);
    assert_int_equal(found[0].error->where, CSAN_WHERE_BEHIND);
    assert_int_equal(found[0].error->distance, 63 * BASE - SIZE);
    assert_null(found[0].error->code);
    expect(CSAN_RACE_OUT_OF_BOUNDS, 64 * BASE, 4096, BASE);
    wrong_pointer(w, BASE + SIZE - 1, BASE - 100, 4);
    assert_int_equal(found[0].error->where, CSAN_WHERE_BEFORE);
    assert_int_equal(found[0].error->distance, 100);
    expect(CSAN_RACE_OUT_OF_BOUNDS, BASE - 100, 4, BASE);
    csan_context_destroy(w.context);
}

/* Pointers that lead elsewhere as they should. */
static void strays_of_nobody(void **state)
{
    (void)state;
    struct world w = world_each();
    allocate(w, "cuMemAlloc", CSAN_MEMORY_DEVICE, 8 * BASE, 256);
    allocate(w, "cuMemHostRegister", CSAN_MEMORY_HOST, 16 * BASE, 256);
    wrong_pointer(w, BASE + SIZE, 64 * BASE, 4); /* points behind an end */
    wrong_pointer(w, BASE - 4, 64 * BASE, 4);
    wrong_pointer(w, BASE, 8 * BASE, 4);       /* into another allocation, */
    wrong_pointer(w, BASE, 8 * BASE - 2, 4);   /* or partly */
    wrong_pointer(w, 16 * BASE, 64 * BASE, 4); /* memory without ends of its own */
    expect_nothing();
    csan_context_destroy(w.context);
}

static void unplaced_accesses_are_counted(void **state)
{
    (void)state;
    struct world w = world_each();
    const uint64_t before = context_unplaced(w.context);
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, BASE, 64);
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_BOUND_DATA, 64 * BASE, 64);
    op(w, CSAN_LEVEL_LIBRARY, CSAN_WRITE, CSAN_EXACT, 64 * BASE, 64);
    assert_int_equal(context_unplaced(w.context), before);
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, 64 * BASE, 64);
    assert_int_not_equal(context_unplaced(w.context), before);
    csan_context_destroy(w.context);
}

/* What waits for a birth that is held back waits for it. */
static void refused_after_what_is_held_back(void **state)
{
    (void)state;
    struct world w = world_each();
    const struct csan_access unknown = {.base = 2 * BASE, .bytes = 4, .kind = CSAN_READ};
    const uint64_t ticket =
        csan_op_pending(w.context, w.a, site(w.context, "kernel"), CSAN_LEVEL_UNKNOWN, &unknown, 1);
    release(w, BASE);
    refuse(w, CSAN_WRITE, BASE, 1, true);
    expect_nothing();
    csan_op_resolve(w.context, ticket, CSAN_LEVEL_TRACED, NULL, 0);
    expect_refused(CSAN_RACE_USE_AFTER_FREE, CSAN_FREE, BASE, 1);
    csan_context_destroy(w.context);
}

static void much_freed_memory(void **state)
{
    (void)state;
    enum { FREES = 10000 };
    struct world w = world_each();
    for (uint64_t i = 1; i <= FREES; i++) {
        allocate(w, "cuMemAlloc", CSAN_MEMORY_DEVICE, i << 20, 256);
        release(w, i << 20);
    }
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, (uint64_t)FREES << 20, 4);
    expect(CSAN_RACE_USE_AFTER_FREE, (uint64_t)FREES << 20, 4, (uint64_t)FREES << 20);
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, (uint64_t)(FREES - 1000) << 20, 4);
    expect(CSAN_RACE_USE_AFTER_FREE, (uint64_t)(FREES - 1000) << 20, 4,
           (uint64_t)(FREES - 1000) << 20);
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, 2 << 20, 4); /* forgotten */
    expect_nothing();
    csan_context_destroy(w.context);
}

static void blocks_of_a_pool(void **state)
{
    (void)state;
    struct world w = world_each();
    csan_memory_pool_alloc(w.context, BASE, 100, w.a, site(w.context, "tensor"));
    csan_memory_pool_alloc(w.context, BASE + 512, 512, w.a, site(w.context, "other"));
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, BASE, 100);
    op(w, CSAN_LEVEL_RANGES, CSAN_READ, CSAN_EXACT, BASE, 104);
    expect_nothing();
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, BASE, 104);
    expect(CSAN_RACE_OUT_OF_BOUNDS, BASE + 100, 4, BASE);
    csan_memory_pool_free(w.context, BASE + 512, w.a, site(w.context, "free"));
    op(w, CSAN_LEVEL_RANGES, CSAN_READ, CSAN_EXACT, BASE + 512, 64);
    assert_string_equal(found[0].previous.name, "free");
    expect(CSAN_RACE_USE_AFTER_FREE, BASE + 512, 64, BASE + 512);
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, BASE + 2048, 64); /* never a block */
    expect_nothing();
    csan_memory_pool_alloc(w.context, BASE + 512, 64, w.a, site(w.context, "third"));
    op(w, CSAN_LEVEL_RANGES, CSAN_READ, CSAN_EXACT, BASE + 512, 64);
    expect_nothing();
    csan_context_destroy(w.context);
}

/* A use that was all right before the block went. */
static void a_block_used_again_after_its_free(void **state)
{
    (void)state;
    struct world w = world_each();
    csan_memory_pool_alloc(w.context, BASE, 256, w.a, site(w.context, "tensor"));
    for (int i = 0; i < 3; i++)
        op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, BASE, 256);
    expect_nothing();
    csan_memory_pool_free(w.context, BASE, w.a, site(w.context, "free"));
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, BASE, 256);
    expect(CSAN_RACE_USE_AFTER_FREE, BASE, 256, BASE);
    csan_context_destroy(w.context);
}

/* What was freed at an address is hidden by the block that lies there, and is it again. */
static void blocks_where_others_were(void **state)
{
    (void)state;
    struct world w = world_each();
    for (int i = 0; i < 3; i++) {
        csan_memory_pool_alloc(w.context, BASE, 256, w.a, site(w.context, "tensor"));
        op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, BASE, 256);
        expect_nothing();
        csan_memory_pool_free(w.context, BASE, w.a, site(w.context, i == 2 ? "last" : "free"));
    }
    op(w, CSAN_LEVEL_RANGES, CSAN_READ, CSAN_EXACT, BASE, 256);
    assert_string_equal(found[0].previous.name, "last");
    expect(CSAN_RACE_USE_AFTER_FREE, BASE, 256, BASE);
    csan_memory_pool_alloc(w.context, BASE + 128, 64, w.a, site(w.context, "small"));
    op(w, CSAN_LEVEL_RANGES, CSAN_READ, CSAN_EXACT, BASE, 256); /* not of freed bytes alone */
    expect_nothing();
    op(w, CSAN_LEVEL_RANGES, CSAN_READ, CSAN_EXACT, BASE, 128);
    expect(CSAN_RACE_USE_AFTER_FREE, BASE, 128, BASE);
    csan_context_destroy(w.context);
}

/* A graph keeps the blocks that it was captured with. */
static void nodes_of_graphs(void **state)
{
    (void)state;
    struct world w = world_each();
    const void *frame = "launch";
    csan_site node = csan_site_launched(w.context, site(w.context, "kernel"), &frame, 1);
    csan_memory_pool_alloc(w.context, BASE, 256, w.a, site(w.context, "tensor"));
    csan_memory_pool_free(w.context, BASE, w.a, site(w.context, "free"));
    struct csan_access access = {.base = BASE, .bytes = 256, .kind = CSAN_WRITE};
    csan_op(w.context, w.a, node, CSAN_LEVEL_RANGES, &access, 1);
    expect_nothing();
    access.bytes = SIZE + 4;
    csan_op(w.context, w.a, node, CSAN_LEVEL_RANGES, &access, 1);
    expect(CSAN_RACE_OUT_OF_BOUNDS, BASE + SIZE, 4, BASE);
    csan_context_destroy(w.context);
}

static void what_is_counted(void **state)
{
    (void)state;
    struct world w = world_each();
    struct csan_stats stats;
    struct csan_race findings[4];
    op(w, CSAN_LEVEL_RANGES, CSAN_WRITE, CSAN_EXACT, BASE, SIZE + 1);
    csan_context_stats(w.context, &stats);
    assert_int_equal(stats.races + stats.possible, 0);
    assert_int_equal(stats.errors, 1);
    assert_int_equal(csan_context_races_since(w.context, 0, findings, 4), 0);
    assert_int_equal(csan_context_findings_since(w.context, 0, findings, 4), 1);
    assert_int_equal(csan_finding_kind_of(findings[0].kind), CSAN_FINDING_OUT_OF_BOUNDS);
    csan_context_races_clear(w.context);
    csan_context_stats(w.context, &stats);
    assert_int_equal(stats.errors, 0);
    assert_int_equal(csan_context_findings_since(w.context, 0, findings, 4), 0);
    csan_context_destroy(w.context);
}

/* ---- at random ---- */

enum { CELLS = 32, CELL = 64, PROGRAMS = 300, STEPS = 200 };

static uint32_t random_state;
static unsigned random_below(unsigned bound)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % bound;
}

/* Who owns each cell: 0: nobody ever; n: allocation n; -n: allocation n is freed. With a pool these
 * are blocks of one allocation, and blocks come over others whose free was not seen. */
struct model {
    bool pool;
    int owner[CELLS];
    int first[STEPS + 1], count[STEPS + 1];
    int made;
};

static void random_end(struct model *model, int owner, int then)
{
    for (int i = 0; i < model->count[owner]; i++)
        model->owner[model->first[owner] + i] = then;
}

static void random_birth(struct world w, struct model *model)
{
    const int first = (int)random_below(CELLS), most = CELLS - first < 6 ? CELLS - first : 6;
    const int count = 1 + (int)random_below((unsigned)most);
    for (int i = first; i < first + count; i++)
        if (model->owner[i] > 0 && !model->pool)
            return;
        else if (model->owner[i] > 0)
            random_end(model, model->owner[i], 0);
    model->made++;
    model->first[model->made] = first;
    model->count[model->made] = count;
    for (int i = first; i < first + count; i++)
        model->owner[i] = model->made;
    const uint64_t base = BASE * 4 + (uint64_t)first * CELL, bytes = (uint64_t)count * CELL;
    if (model->pool)
        csan_memory_pool_alloc(w.context, base, bytes, w.a, site(w.context, "block"));
    else
        allocate(w, "cuMemAlloc", CSAN_MEMORY_DEVICE, base, bytes);
}

static void random_free(struct world w, struct model *model)
{
    const int owner = model->owner[random_below(CELLS)];
    if (owner <= 0)
        return;
    random_end(model, owner, -owner);
    const uint64_t base = BASE * 4 + (uint64_t)model->first[owner] * CELL;
    if (model->pool)
        csan_memory_pool_free(w.context, base, w.a, site(w.context, "free"));
    else
        release(w, base);
}

/* What csan has to say of cells [first, first + count), as a kind; -1: nothing. */
static int judge(const struct model *model, int first, int count, int *begin, int *end)
{
    const int owner = model->owner[first];
    *begin = first;
    *end = first + count;
    if (owner > 0) {
        *begin = model->first[owner] + model->count[owner];
        return *begin < *end ? CSAN_RACE_OUT_OF_BOUNDS : -1;
    }
    int same = first;
    while (same < *end && owner < 0 && model->owner[same] == owner)
        same++;
    if (owner < 0 && same == *end)
        return CSAN_RACE_USE_AFTER_FREE;
    if (model->pool) /* all of it lies in one allocation */
        return -1;
    for (int i = first; i < *end; i++)
        if (model->owner[i] > 0) {
            *end = i;
            return CSAN_RACE_OUT_OF_BOUNDS;
        }
    return -1;
}

static void random_access(struct world w, const struct model *model, uint32_t seed)
{
    const int first = (int)random_below(CELLS), most = CELLS - first < 8 ? CELLS - first : 8;
    const int count = 1 + (int)random_below((unsigned)most);
    int begin, end;
    const int kind = judge(model, first, count, &begin, &end);
    found_count = 0;
    op(w, CSAN_LEVEL_RANGES, random_below(2) ? CSAN_WRITE : CSAN_READ, CSAN_EXACT,
       BASE * 4 + (uint64_t)first * CELL, (uint64_t)count * CELL);
    if (found_count != (kind >= 0))
        fail_msg("seed %u: cells %d to %d: %zu findings, kind %d expected", seed, first,
                 first + count, found_count, kind);
    if (kind < 0)
        return;
    assert_int_equal(found[0].kind, kind);
    assert_int_equal(found[0].address, BASE * 4 + (uint64_t)begin * CELL);
    assert_int_equal(found[0].bytes, (uint64_t)(end - begin) * CELL);
}

static void random_programs(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= PROGRAMS; seed++) {
        struct model model = {.pool = seed % 2};
        struct world w = world_each();
        random_state = seed;
        if (model.pool) /* an allocation for all of it */
            allocate(w, "cuMemAlloc", CSAN_MEMORY_DEVICE, BASE * 4, (uint64_t)CELLS * CELL);
        for (int i = 0; i < STEPS; i++)
            switch (random_below(4)) {
            case 0:
                random_birth(w, &model);
                break;
            case 1:
                random_free(w, &model);
                break;
            default:
                random_access(w, &model, seed);
            }
        csan_context_destroy(w.context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_of_an_allocation),
        cmocka_unit_test(before_an_allocation),
        cmocka_unit_test(strided_accesses),
        cmocka_unit_test(a_whole_vector_before_a_neighbour),
        cmocka_unit_test(reads_of_whole_vectors),
        cmocka_unit_test(bytes_of_a_neighbour),
        cmocka_unit_test(memory_without_ends_of_its_own),
        cmocka_unit_test(freed_memory),
        cmocka_unit_test(freed_memory_of_the_host),
        cmocka_unit_test(memory_freed_when_all_was_done),
        cmocka_unit_test(refused_frees),
        cmocka_unit_test(refused_free_of_a_ghost),
        cmocka_unit_test(refused_copies),
        cmocka_unit_test(strays_of_a_pointer),
        cmocka_unit_test(strays_of_nobody),
        cmocka_unit_test(unplaced_accesses_are_counted),
        cmocka_unit_test(refused_after_what_is_held_back),
        cmocka_unit_test(much_freed_memory),
        cmocka_unit_test(blocks_of_a_pool),
        cmocka_unit_test(blocks_where_others_were),
        cmocka_unit_test(a_block_used_again_after_its_free),
        cmocka_unit_test(nodes_of_graphs),
        cmocka_unit_test(what_is_counted),
        cmocka_unit_test(random_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
