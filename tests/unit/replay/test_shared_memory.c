/* Memory that processes share: what of an access lies in it, against a search byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/replay/shared_memory.h"

#include <stdlib.h>
#include <string.h>

enum { SPACE = 256, UNIFIED = 0x10000, ROUNDS = 20000, PARTS = 64 };

static uint64_t random_state = 5;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % limit);
}

struct parts {
    size_t count;
    struct csan_access parts[PARTS];
};

static bool keep(void *user, const struct csan_access *part)
{
    struct parts *parts = user;
    assert_true(parts->count < PARTS);
    parts->parts[parts->count++] = *part;
    return true;
}

/* Marks each byte that the access touches, if it is one of `bytes` bytes from `from`. */
static void mark(const struct csan_access *access, uint64_t from, size_t bytes, uint8_t *marked)
{
    const uint64_t count = access->dim_count ? access->dims[0].count : 1;
    const int64_t stride = access->dim_count ? access->dims[0].stride : 0;
    for (uint64_t i = 0; i < count; i++)
        for (uint64_t k = 0; k < access->bytes; k++) {
            const uint64_t at = access->base + i * (uint64_t)stride + k;
            if (at >= from && at - from < bytes)
                marked[at - from] = 1;
        }
}

static struct csan_access random_access(struct csan_dim *dim)
{
    struct csan_access access = {.base = 1 + random_below(SPACE),
                                 .bytes = 1 + random_below(24),
                                 .kind = CSAN_WRITE,
                                 .dims = dim};
    *dim = (struct csan_dim){25 + random_below(20), 1 + random_below(5)};
    access.dim_count = random_below(2) ? 1 : 0;
    return access;
}

/* Ranges of the process, each byte's unified address (0: not shared). */
static void check(const struct shared_memory *memory, const uint64_t *unified)
{
    struct csan_dim dim;
    struct parts parts = {0};
    uint8_t own[2 * SPACE] = {0}, shown[2 * SPACE] = {0}, exact[2 * SPACE] = {0};
    const struct csan_access access = random_access(&dim);
    assert_true(shared_memory_translate(memory, &access, keep, &parts));
    mark(&access, 0, sizeof own, own);
    for (size_t i = 0; i < parts.count; i++) {
        mark(&parts.parts[i], UNIFIED, sizeof shown, shown);
        if (parts.parts[i].bound == CSAN_EXACT)
            mark(&parts.parts[i], UNIFIED, sizeof exact, exact);
    }
    for (size_t i = 0; i < sizeof own; i++) {
        const uint64_t at = i < SPACE ? unified[i] : 0;
        if (own[i] && at)
            assert_true(shown[at - UNIFIED]);
        if (at && exact[at - UNIFIED])
            assert_true(own[i]);
        if (at && !access.dim_count)
            assert_int_equal(exact[at - UNIFIED], own[i]);
    }
}

static void random_ranges(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        struct shared_memory memory;
        uint64_t unified[SPACE] = {0}, next = UNIFIED;
        shared_memory_init(&memory);
        for (uint32_t k = 0, count = random_below(6); k < count; k++) {
            const uint64_t base = 40 * (1 + random_below(5)), bytes = 1 + random_below(40);
            assert_true(shared_memory_add(&memory, base, bytes, next));
            for (uint64_t at = base; at < base + 40 && at < SPACE; at++)
                unified[at] = at < base + bytes ? next + (at - base) : 0;
            next += 50;
            const uint32_t end = random_below(8);
            if (end == 0) {
                shared_memory_remove(&memory, base, 0);
                memset(&unified[base], 0, 40 * sizeof *unified);
            } else if (end == 1) { /* from within one range into a later one, or none */
                const uint64_t last = base + bytes - 1 + 40 * random_below(2);
                shared_memory_remove(&memory, base + bytes - 1, last - (base + bytes - 1) + 1);
                memset(&unified[base], 0, 40 * sizeof *unified);
                if (last >= base + 40 && base + 40 < SPACE && unified[base + 40])
                    memset(&unified[base + 40], 0, 40 * sizeof *unified);
            }
        }
        for (int k = 0; k < 8; k++)
            check(&memory, unified);
        shared_memory_clear(&memory);
    }
}

static void to_the_end(void **state)
{
    (void)state;
    struct shared_memory memory;
    struct parts parts = {0};
    const struct csan_access access = {.base = 120, .bytes = CSAN_TO_END, .kind = CSAN_READ};
    shared_memory_init(&memory);
    assert_true(shared_memory_add(&memory, 100, 50, 1000));
    assert_true(shared_memory_translate(&memory, &access, keep, &parts));
    assert_int_equal(parts.count, 1);
    assert_int_equal(parts.parts[0].base, 1020);
    assert_int_equal(parts.parts[0].bytes, 30);
    shared_memory_clear(&memory);
}

/* Ranges side by side: the part in each is as exact as the access. */
static void a_run_over_two_ranges(void **state)
{
    (void)state;
    struct shared_memory memory;
    struct parts parts = {0};
    const struct csan_access access = {.base = 140, .bytes = 20, .kind = CSAN_WRITE};
    shared_memory_init(&memory);
    assert_true(shared_memory_add(&memory, 100, 50, 1000));
    assert_true(shared_memory_add(&memory, 150, 50, 5000));
    assert_true(shared_memory_translate(&memory, &access, keep, &parts));
    assert_int_equal(parts.count, 2);
    assert_int_equal(parts.parts[0].base, 1040);
    assert_int_equal(parts.parts[0].bytes, 10);
    assert_int_equal(parts.parts[1].base, 5000);
    assert_int_equal(parts.parts[1].bytes, 10);
    assert_int_equal(parts.parts[0].bound | parts.parts[1].bound, CSAN_EXACT);
    shared_memory_clear(&memory);
}

static void ranges_that_cannot_be(void **state)
{
    (void)state;
    struct shared_memory memory;
    shared_memory_init(&memory);
    assert_false(shared_memory_add(&memory, 100, 0, 1000));
    assert_false(shared_memory_add(&memory, UINT64_MAX - 5, 10, 1000));
    assert_true(shared_memory_is_empty(&memory));
    shared_memory_remove(&memory, 100, 0);
    shared_memory_remove(&memory, UINT64_MAX - 5, 10);
    shared_memory_clear(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_ranges),
        cmocka_unit_test(to_the_end),
        cmocka_unit_test(a_run_over_two_ranges),
        cmocka_unit_test(ranges_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
