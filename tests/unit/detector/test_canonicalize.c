/* What accesses are seen by, where they come later than their op. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/detector/canonicalize.h"
#include <csan/csan.h>

enum { P = 0x10000, ALIAS = 0x50000, BYTES = 256 };

static struct csan_access written(uint64_t base)
{
    return (struct csan_access){.base = base, .bytes = BYTES, .kind = CSAN_WRITE};
}

struct two_lanes {
    csan_context *context;
    csan_lane a, b;
};

static struct two_lanes two_lanes(void)
{
    csan_context *context = csan_context_create(NULL, NULL, NULL, NULL, 0);
    assert_non_null(context);
    struct two_lanes lanes = {context, csan_lane_create(context, 1, "a"),
                              csan_lane_create(context, 2, "b")};
    csan_memory_create(context, CSAN_MEMORY_DEVICE, P, BYTES, CSAN_HOST, 0);
    return lanes;
}

static uint64_t pending(const struct two_lanes *lanes, csan_lane lane)
{
    return csan_op_pending(lanes->context, lane, 0, CSAN_LEVEL_UNKNOWN, NULL, 0);
}

static void resolve(const struct two_lanes *lanes, uint64_t ticket, uint64_t base)
{
    const struct csan_access access = written(base);
    csan_op_resolve(lanes->context, ticket, CSAN_LEVEL_TRACED, &access, 1);
}

/* Ends with the context. */
static uint64_t races(struct two_lanes *lanes)
{
    struct csan_stats stats;
    csan_context_drain(lanes->context);
    csan_context_stats(lanes->context, &stats);
    csan_context_destroy(lanes->context);
    return stats.races;
}

static void what_was_benign_stays_so_for_ops_of_then(void **state)
{
    (void)state;
    struct two_lanes lanes = two_lanes();
    csan_memory_benign(lanes.context, P, BYTES);
    uint64_t first = pending(&lanes, lanes.a), second = pending(&lanes, lanes.b);
    csan_memory_pool_alloc(lanes.context, P, BYTES, CSAN_HOST, 0);
    resolve(&lanes, first, P);
    resolve(&lanes, second, P);
    assert_int_equal(races(&lanes), 0);
}

static void what_was_not_benign_is_looked_at(void **state)
{
    (void)state;
    struct two_lanes lanes = two_lanes();
    uint64_t first = pending(&lanes, lanes.a), second = pending(&lanes, lanes.b);
    csan_memory_benign(lanes.context, P, BYTES);
    uint64_t third = pending(&lanes, lanes.a); /* after it */
    resolve(&lanes, third, P);
    resolve(&lanes, second, P);
    resolve(&lanes, first, P);
    assert_int_equal(races(&lanes), 1);
}

static void an_alias_that_ended_was_one(void **state)
{
    (void)state;
    struct two_lanes lanes = two_lanes();
    csan_memory_alias(lanes.context, ALIAS, BYTES, P);
    uint64_t first = pending(&lanes, lanes.a), second = pending(&lanes, lanes.b);
    csan_memory_unalias(lanes.context, ALIAS, BYTES);
    resolve(&lanes, first, ALIAS);
    resolve(&lanes, second, P);
    assert_int_equal(races(&lanes), 1);
}

static void an_alias_that_came_later_was_none(void **state)
{
    (void)state;
    struct two_lanes lanes = two_lanes();
    csan_memory_create(lanes.context, CSAN_MEMORY_DEVICE, ALIAS, BYTES, CSAN_HOST, 0);
    uint64_t first = pending(&lanes, lanes.a), second = pending(&lanes, lanes.b);
    csan_memory_alias(lanes.context, ALIAS, BYTES, P);
    resolve(&lanes, first, ALIAS);
    resolve(&lanes, second, P);
    assert_int_equal(races(&lanes), 0);
}

/* A change for each op: of the ops before the oldest change that is kept, all are seen alike. */
static void very_many_changes_are_kept_in_part(void **state)
{
    enum { CHANGES = 200, KEPT = 64 };
    (void)state;
    struct canonicalizations list;
    canonicalizations_init(&list);
    for (uint64_t i = 1; i <= CHANGES; i++) {
        canonicalizations_keep(&list, 1, i);
        canonicalizations_keep(&list, 1, i); /* nobody came in between */
        assert_true(alias_add(&list.now.aliases, ALIAS + i * BYTES, BYTES, P));
    }
    for (uint64_t i = 1; i <= CHANGES; i++) {
        const struct canonicalization *at = canonicalizations_at(&list, i);
        uint64_t changes = i > CHANGES - KEPT ? i - 1 : CHANGES - KEPT;
        assert_int_equal(at->aliases.second.count, changes);
    }
    assert_ptr_equal(canonicalizations_at(&list, CHANGES + 1), &list.now);
    canonicalizations_keep(&list, CHANGES, CHANGES + 1); /* the others are resolved by now */
    assert_ptr_equal(canonicalizations_at(&list, 1), canonicalizations_at(&list, CHANGES));
    canonicalizations_forget(&list);
    assert_ptr_equal(canonicalizations_at(&list, 1), &list.now);
    canonicalizations_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_benign_stays_so_for_ops_of_then),
        cmocka_unit_test(what_was_not_benign_is_looked_at),
        cmocka_unit_test(an_alias_that_ended_was_one),
        cmocka_unit_test(an_alias_that_came_later_was_none),
        cmocka_unit_test(very_many_changes_are_kept_in_part),
    };
    return cmocka_run_group_tests_name("canonicalize", tests, NULL, NULL);
}
