/* Memory that changes hands, through csan.h: frees, pools, births. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/detector/test_detect.h"

/* ---- memory that changes hands */

static void a_host_free_waits_and_forgets(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, 8);
    csan_free *token = csan_memory_free_begin(w.context, BASE, CSAN_HOST, 0, 0);
    assert_non_null(token);
    assert_int_equal(csan_memory_find(w.context, BASE, NULL, NULL, NULL), 0);
    csan_memory_free_end(w.context, token, 0, 1);
    csan_memory_create(w.context, CSAN_MEMORY_DEVICE, BASE, SIZE, CSAN_HOST, 0);
    writes(w.context, w.b, BASE, 8);
    assert_int_equal(found_count, 0);
    csan_context_destroy(w.context);
}

static void a_failed_free_changes_nothing(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, 8);
    csan_memory_free_end(w.context, csan_memory_free_begin(w.context, BASE, CSAN_HOST, 1, 0), 1, 1);
    assert_int_equal(found_count, 0);
    reads(w.context, w.b, BASE, 8);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_DATA);
    csan_context_destroy(w.context);
}

static void strict_free_reports_what_only_the_free_orders(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, 8);
    csan_memory_free_end(
        w.context, csan_memory_free_begin(w.context, BASE, CSAN_HOST, 1, site(w.context, "free")),
        0, 1);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_FREE);
    csan_context_destroy(w.context);
}

static void a_wait_that_nothing_promises_is_no_order_but_is_said(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, 8);
    csan_lane_observed_wait(w.context, w.a, "cuSlow");
    writes(w.context, w.a, BASE + 64, 8); /* after the call: the wait did not cover it */
    reads(w.context, w.b, BASE, 8);
    assert_int_equal(found_count, 1);
    assert_string_equal(found[0].unpromised, "cuSlow");
    writes(w.context, w.b, BASE + 64, 8);
    assert_int_equal(found_count, 2);
    assert_null(found[1].unpromised);
    csan_context_destroy(w.context);
}

static void a_wait_for_all_that_nothing_promises(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, 8);
    csan_lane_observed_wait(w.context, w.b, "cuOther");
    csan_lane_observed_wait(w.context, CSAN_NO_LANE, "cuAll");
    csan_lane_observed_wait(w.context, CSAN_NO_LANE, "cuAll");
    reads(w.context, w.b, BASE, 8);
    assert_int_equal(found_count, 1);
    assert_string_equal(found[0].unpromised, "cuAll");
    for (int i = 0; i < 100; i++) { /* more calls than are distinguished do no harm */
        static char names[100][16];
        snprintf(names[i], sizeof names[i], "cu%d", i);
        csan_lane_observed_wait(w.context, w.b, names[i]);
    }
    csan_context_destroy(w.context);
}

/* What a pool saw orders the owners of its blocks, and what is at the host. */
static void a_wait_that_a_pool_saw(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_site allocated = site(w.context, "pool");
    csan_memory_create(w.context, CSAN_MEMORY_HOST, 2 * BASE, SIZE, CSAN_HOST, allocated);
    csan_memory_pool_alloc(w.context, BASE, 64, CSAN_HOST, allocated);
    csan_memory_pool_alloc(w.context, BASE + 64, 64, CSAN_HOST, allocated);
    writes(w.context, w.a, BASE, 8);
    writes(w.context, w.a, BASE + 64, 8);
    writes(w.context, w.a, 2 * BASE, 8);
    csan_snapshot *snapshot = csan_snapshot_take(w.context, w.a);
    writes(w.context, w.a, BASE + 16, 8);
    writes(w.context, w.a, 2 * BASE + 16, 8);
    csan_snapshot_seen_by_pool(w.context, snapshot);
    csan_snapshot_release(w.context, snapshot);
    csan_memory_pool_free(w.context, BASE, CSAN_HOST, allocated);
    csan_memory_pool_alloc(w.context, BASE, 64, CSAN_HOST, allocated);
    touch(w.context, w.b, "next owner", CSAN_WRITE, CSAN_EXACT, BASE, 8);
    touch(w.context, w.b, "at the host", CSAN_WRITE, CSAN_EXACT, 2 * BASE, 8);
    assert_int_equal(found_count, 0);
    csan_lane_observed_wait(w.context, w.a, "cuSlow"); /* no pool */
    touch(w.context, w.b, "too early", CSAN_WRITE, CSAN_EXACT, BASE + 16, 8);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_REUSE);
    assert_string_equal(found[0].unpromised, "cuSlow");
    touch(w.context, w.b, "too early there", CSAN_WRITE, CSAN_EXACT, 2 * BASE + 16, 8);
    assert_int_equal(found_count, 2);
    touch(w.context, w.b, "same owner", CSAN_WRITE, CSAN_EXACT, BASE + 64, 8);
    assert_int_equal(found_count, 3);
    assert_string_equal(found[2].unpromised, "an event query of a memory pool");
    csan_context_destroy(w.context);
}

/* Of a block that was given back, what the pool saw is enough to give it to the system; of one that
 * was not, it is not. */
static void a_pool_gives_memory_back(void **state)
{
    (void)state;
    for (int given_back = 0; given_back < 2; given_back++) {
        struct world w = world_create("strict_free=1");
        csan_site pool = site(w.context, "pool");
        csan_memory_pool_alloc(w.context, BASE, 64, CSAN_HOST, pool);
        if (given_back)
            writes(w.context, w.a, BASE, 8);
        else
            writes(w.context, w.a, BASE + 128, 8); /* nobody's block */
        csan_snapshot *snapshot = csan_snapshot_take(w.context, w.a);
        csan_snapshot_seen_by_pool(w.context, snapshot);
        csan_snapshot_release(w.context, snapshot);
        csan_memory_pool_free(w.context, BASE, CSAN_HOST, pool);
        csan_free *token =
            csan_memory_free_begin(w.context, BASE, CSAN_HOST, 1, site(w.context, "free"));
        csan_memory_free_end(w.context, token, 0, CSAN_FREE_NO_WAIT);
        assert_int_equal(found_count, given_back ? 0 : 1);
        csan_context_destroy(w.context);
    }
}

static csan_context *stream_world(csan_lane *a, csan_lane *b)
{
    csan_context *context = create(NULL);
    *a = csan_lane_create(context, 0xa, "stream 10");
    *b = csan_lane_create(context, 0xb, "stream 11");
    csan_memory_create(context, CSAN_MEMORY_STREAM, BASE, SIZE, *a, site(context, "alloc"));
    return context;
}

static void free_on(csan_context *context, csan_lane lane)
{
    csan_free *token = csan_memory_free_begin(context, BASE, lane, 1, site(context, "free"));
    assert_non_null(token);
    csan_memory_free_end(context, token, 0, 0);
}

static void use_before_birth(void **state)
{
    (void)state;
    csan_lane a, b;
    csan_context *context = stream_world(&a, &b);
    writes(context, a, BASE, 8);
    assert_int_equal(found_count, 0);
    writes(context, b, BASE + 64, 8);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_BIRTH);
    assert_string_equal(found[0].previous.name, "alloc");
    csan_context_destroy(context);
}

static void free_while_in_use(void **state)
{
    (void)state;
    csan_lane a, b;
    csan_context *context = stream_world(&a, &b);
    csan_lane_waits(context, b, a);
    writes(context, b, BASE, 8);
    free_on(context, a);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_FREE);
    assert_string_equal(found[0].current.name, "free");
    writes(context, b, BASE + 64, 8); /* later, still unordered with the free */
    assert_int_equal(found_count, 1); /* the same two sites */
    touch(context, b, "later", CSAN_READ, CSAN_EXACT, BASE, 8);
    assert_int_equal(found_count, 2);
    assert_int_equal(found[1].kind, CSAN_RACE_FREE);
    assert_string_equal(found[1].previous.name, "free");
    csan_context_destroy(context);
}

static void use_after_free_on_the_same_stream(void **state)
{
    (void)state;
    csan_lane a, b;
    csan_context *context = stream_world(&a, &b);
    free_on(context, a);
    reads(context, a, BASE, 8);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_USE_AFTER_FREE);
    csan_context_destroy(context);
}

/* What the stream touched before is found as fast as anything, and is as freed. */
static void use_after_free_of_what_was_used_before(void **state)
{
    (void)state;
    csan_lane a, b;
    csan_context *context = stream_world(&a, &b);
    for (int i = 0; i < 3; i++)
        writes(context, a, BASE, 8);
    free_on(context, a);
    assert_int_equal(found_count, 0);
    writes(context, a, BASE, 8);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_USE_AFTER_FREE);
    csan_context_destroy(context);
}

/* The driver's pool hands the address to another stream: it knows the free is done. */
static void a_driver_pool_reuse_is_no_race(void **state)
{
    (void)state;
    csan_lane a, b;
    csan_context *context = stream_world(&a, &b);
    writes(context, a, BASE, SIZE);
    free_on(context, a);
    csan_memory_create(context, CSAN_MEMORY_STREAM, BASE + 256, 512, b, site(context, "alloc 2"));
    writes(context, b, BASE + 256, 512);
    assert_int_equal(found_count, 0);
    /* what is left of the old one is still freed */
    touch(context, b, "stale", CSAN_READ, CSAN_EXACT, BASE, 8);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_FREE);
    /* and is reported as it was allocated, on either side of the new one */
    assert_int_equal(found[0].allocation, BASE);
    assert_int_equal(found[0].allocation_bytes, SIZE);
    touch(context, b, "behind", CSAN_READ, CSAN_EXACT, BASE + 768, 8);
    assert_int_equal(found_count, 2);
    assert_int_equal(found[1].allocation, BASE);
    assert_int_equal(found[1].allocation_bytes, SIZE);
    csan_context_destroy(context);
}

/* But work that was not ordered before the free is still out there. */
static void a_driver_pool_reuse_keeps_what_the_free_raced_with(void **state)
{
    (void)state;
    csan_lane a, b;
    csan_context *context = stream_world(&a, &b);
    csan_lane_waits(context, b, a);
    csan_lane c = csan_lane_create(context, 0xc, "stream 12");
    writes(context, b, BASE, SIZE);
    free_on(context, a); /* a race in itself */
    csan_memory_create(context, CSAN_MEMORY_STREAM, BASE, SIZE, c, site(context, "alloc 2"));
    touch(context, c, "next owner", CSAN_WRITE, CSAN_EXACT, BASE, SIZE);
    assert_int_equal(found_count, 2);
    assert_int_equal(found[1].kind, CSAN_RACE_REUSE);
    assert_string_equal(found[1].previous.name, "writer");
    csan_context_destroy(context);
}

static void a_failed_stream_free_is_undone(void **state)
{
    (void)state;
    csan_lane a, b;
    csan_context *context = stream_world(&a, &b);
    csan_lane_waits(context, b, a);
    writes(context, b, BASE, 8);
    csan_memory_free_end(context, csan_memory_free_begin(context, BASE, a, 1, 0), 1, 0);
    assert_int_equal(found_count, 0);
    reads(context, b, BASE, 8);
    assert_int_equal(found_count, 0);
    csan_context_destroy(context);
}

static void a_declared_pool_orders_nothing(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_memory_pool_alloc(w.context, BASE + 512, 256, w.a, site(w.context, "block"));
    reads(w.context, w.b, BASE + 512, 256); /* side stream, no record_stream */
    csan_memory_pool_free(w.context, BASE + 512, w.a, 0);
    csan_memory_pool_alloc(w.context, BASE + 512, 128, w.a, site(w.context, "block 2"));
    writes(w.context, w.a, BASE + 512, 128);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_REUSE);
    assert_int_equal(found[0].allocation, BASE + 512);
    assert_int_equal(found[0].allocation_bytes, 128);
    csan_context_destroy(w.context);
}

static void a_declared_pool_with_order_is_silent(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_memory_pool_alloc(w.context, BASE, 256, w.a, 0);
    reads(w.context, w.b, BASE, 256);
    csan_memory_pool_free(w.context, BASE, w.a, 0);
    csan_lane_waits(w.context, w.a, w.b); /* what record_stream makes the pool do */
    csan_memory_pool_alloc(w.context, BASE, 256, w.a, 0);
    writes(w.context, w.a, BASE, 256);
    assert_int_equal(found_count, 0);
    csan_context_destroy(w.context);
}

static void a_declared_block_owns_its_bytes(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    uint64_t base = 0, bytes = 0;
    csan_memory_pool_alloc(w.context, BASE + 512, 256, w.a, 0);
    assert_int_equal(csan_memory_owner(w.context, BASE + 600, &base, &bytes), 1);
    assert_int_equal(base, BASE + 512);
    assert_int_equal(bytes, 256);
    assert_int_equal(csan_memory_owner(w.context, BASE + 768, &base, &bytes), 1);
    assert_int_equal(base, BASE); /* past it: the allocation */
    csan_memory_pool_free(w.context, BASE + 512, w.a, 0);
    assert_int_equal(csan_memory_owner(w.context, BASE + 600, &base, &bytes), 1);
    assert_int_equal(base, BASE);
    assert_int_equal(csan_memory_owner(w.context, BASE - 1, &base, &bytes), 0);
    csan_context_destroy(w.context);
}

/* Wherever it lies, and however much it is. */
static void memory_far_apart_has_owners(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    uint64_t base = 0, bytes = 0;
    for (uint64_t i = 1; i < 2000; i++) {
        uint64_t at = i << 36;
        assert_int_equal(csan_memory_owner(w.context, at, &base, &bytes), 0);
        csan_memory_create(w.context, CSAN_MEMORY_DEVICE, at, 64 << 20, CSAN_HOST, 0);
        assert_int_equal(csan_memory_owner(w.context, at + 5, &base, &bytes), 1);
        assert_int_equal(base, at);
    }
    const uint64_t huge = UINT64_C(1) << 48;
    csan_memory_create(w.context, CSAN_MEMORY_DEVICE, huge, huge, CSAN_HOST, 0);
    for (uint64_t i = 0; i < 64; i++) {
        assert_int_equal(csan_memory_owner(w.context, huge + i * (huge / 64), &base, &bytes), 1);
        assert_int_equal(base, huge);
    }
    csan_context_destroy(w.context);
}

/* What the detector has not come to yet, too. */
static void a_declared_block_owns_its_bytes_behind_the_queue(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    uint64_t base = 0, bytes = 0;
    csan_memory_pool_alloc(w.context, BASE + 512, 256, w.a, 0);
    uint64_t ticket = csan_op_pending(w.context, w.a, 0, CSAN_LEVEL_UNKNOWN, NULL, 0);
    csan_memory_pool_free(w.context, BASE + 512, w.a, 0);
    csan_memory_pool_alloc(w.context, BASE + 512, 512, w.a, 0);
    assert_int_equal(csan_memory_owner(w.context, BASE + 600, &base, &bytes), 1);
    assert_int_equal(base, BASE + 512);
    assert_int_equal(bytes, 512);
    csan_memory_pool_alloc(w.context, BASE + 256, 300, w.a, 0); /* a free was not seen */
    assert_int_equal(csan_memory_owner(w.context, BASE + 600, &base, &bytes), 1);
    assert_int_equal(base, BASE);
    csan_memory_pool_alloc(w.context, BASE + 512, 512, w.a, 0);
    csan_op_resolve(w.context, ticket, CSAN_LEVEL_UNKNOWN, NULL, 0);
    assert_int_equal(csan_memory_owner(w.context, BASE + 600, &base, &bytes), 1);
    assert_int_equal(bytes, 512);
    csan_free *token = csan_memory_free_begin(w.context, BASE, w.a, 0, 0);
    csan_memory_free_end(w.context, token, 0, CSAN_FREE_WAITED);
    assert_int_equal(csan_memory_owner(w.context, BASE + 600, &base, &bytes), 0);
    csan_context_destroy(w.context);
}

/* Blocks that lie in no allocation csan knows, of changing sizes. */
static void declared_blocks_anywhere(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    enum { FAR = 0x900000 };
    csan_memory_pool_alloc(w.context, FAR, 256, w.a, 0);
    csan_memory_pool_alloc(w.context, FAR + 256, 256, w.a, 0);
    writes(w.context, w.b, FAR + 256, 16);
    csan_memory_pool_free(w.context, FAR, w.a, 0);
    csan_memory_pool_free(w.context, FAR + 256, w.a, 0);
    csan_memory_pool_alloc(w.context, FAR + 128, 256, w.a, site(w.context, "across"));
    touch(w.context, w.a, "new owner", CSAN_READ, CSAN_EXACT, FAR + 128, CSAN_TO_END);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_REUSE);
    assert_int_equal(found[0].address, FAR + 256);
    assert_int_equal(found[0].bytes, 16);
    struct csan_stats stats;
    csan_memory_pool_free(w.context, 0x123456, w.a, 0);
    csan_context_stats(w.context, &stats);
    assert_int_equal(stats.unknown_frees, 1);
    csan_context_destroy(w.context);
}

static void declared_blocks_keep_what_was_touched_before(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    enum { FAR = 0x900000 };
    writes(w.context, w.a, FAR + 16, 16);
    csan_memory_pool_alloc(w.context, FAR, 256, w.a, 0);
    reads(w.context, w.b, FAR, 256);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].address, FAR + 16);
    csan_context_destroy(w.context);
}

static void memory_in_no_allocation_is_checked_too(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, 0x7000000, 100);
    reads(w.context, CSAN_HOST, 0x7000000 + 99, 1);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].allocation, 0);
    csan_context_destroy(w.context);
}

/* A variable of a module was there before csan had a name for it. */
static csan_site variable_site(csan_context *context)
{
    static const char *const module[] = {"/bin/app"};
    return csan_site_intern(context, "__constant__ taps", module, 1, NULL, 0);
}

static void a_variable_has_a_name_and_keeps_what_was_touched_before(void **state)
{
    (void)state;
    const uint64_t variable = BASE + 0x100000;
    struct world w = world_create(NULL);
    writes(w.context, w.a, variable + 8, 8);
    csan_memory_create(w.context, CSAN_MEMORY_VARIABLE, variable, 64, CSAN_HOST,
                       variable_site(w.context));
    writes(w.context, w.b, variable + 8, 8);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_DATA);
    assert_string_equal(found[0].variable, "__constant__ taps");
    assert_string_equal(found[0].variable_module, "/bin/app");
    assert_int_equal(found[0].allocation, variable);
    assert_int_equal(found[0].allocation_bytes, 64);
    csan_context_destroy(w.context);
}

static void a_variable_ends_with_its_module(void **state)
{
    (void)state;
    const uint64_t variable = BASE + 0x100000;
    struct world w = world_create(NULL);
    csan_memory_create(w.context, CSAN_MEMORY_VARIABLE, variable, 64, CSAN_HOST,
                       variable_site(w.context));
    writes(w.context, w.a, variable, 8);
    csan_memory_free_end(w.context, csan_memory_free_begin(w.context, variable, CSAN_HOST, 0, 0), 0,
                         CSAN_FREE_FORGOTTEN);
    csan_memory_create(w.context, CSAN_MEMORY_VARIABLE, variable, 64, CSAN_HOST,
                       variable_site(w.context));
    writes(w.context, w.b, variable, 8);
    assert_int_equal(found_count, 0);
    writes(w.context, w.a, BASE, 8);
    writes(w.context, w.b, BASE, 8);
    assert_int_equal(found_count, 1);
    assert_null(found[0].variable);
    csan_context_destroy(w.context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_free_waits_and_forgets),
        cmocka_unit_test(a_failed_free_changes_nothing),
        cmocka_unit_test(strict_free_reports_what_only_the_free_orders),
        cmocka_unit_test(a_wait_that_nothing_promises_is_no_order_but_is_said),
        cmocka_unit_test(a_wait_for_all_that_nothing_promises),
        cmocka_unit_test(a_wait_that_a_pool_saw),
        cmocka_unit_test(a_pool_gives_memory_back),
        cmocka_unit_test(use_before_birth),
        cmocka_unit_test(free_while_in_use),
        cmocka_unit_test(use_after_free_on_the_same_stream),
        cmocka_unit_test(use_after_free_of_what_was_used_before),
        cmocka_unit_test(a_driver_pool_reuse_is_no_race),
        cmocka_unit_test(a_driver_pool_reuse_keeps_what_the_free_raced_with),
        cmocka_unit_test(a_failed_stream_free_is_undone),
        cmocka_unit_test(a_declared_pool_orders_nothing),
        cmocka_unit_test(a_declared_pool_with_order_is_silent),
        cmocka_unit_test(a_declared_block_owns_its_bytes),
        cmocka_unit_test(a_declared_block_owns_its_bytes_behind_the_queue),
        cmocka_unit_test(memory_far_apart_has_owners),
        cmocka_unit_test(declared_blocks_anywhere),
        cmocka_unit_test(declared_blocks_keep_what_was_touched_before),
        cmocka_unit_test(memory_in_no_allocation_is_checked_too),
        cmocka_unit_test(a_variable_has_a_name_and_keeps_what_was_touched_before),
        cmocka_unit_test(a_variable_ends_with_its_module),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
