/* Which launches cannot fail: every byte known, aligned, in live memory of the context. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/hook/launch/launch_safety.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/memory_owner.h"

static csan_context *context;
static bool apart;

/* In place of a session and of the table of owners. */
csan_context *session_context(void)
{
    return context;
}
bool memory_owner_is_apart(uint64_t base, CUcontext of, enum memory_access *access)
{
    (void)base, (void)of, (void)access;
    return apart;
}

enum { BASE = 0x10000, BYTES = 4096 };

static int setup(void **state)
{
    (void)state;
    apart = false;
    context = csan_context_create(NULL, NULL, NULL, NULL, 0);
    return csan_memory_create(context, CSAN_MEMORY_DEVICE, BASE, BYTES, CSAN_HOST, 0);
}

static int teardown(void **state)
{
    (void)state;
    csan_context_destroy(context);
    return 0;
}

static struct kernel verified(uint8_t width)
{
    return (struct kernel){.faults_width = width, .verified = 2};
}

static bool cannot_fail(struct kernel kernel, struct csan_access access)
{
    struct csan_access two[] = {{.base = BASE, .bytes = 16, .kind = CSAN_READ}, access};
    struct launch_accesses_touched touched = {
        .accesses = two, .access_count = 2, .exact = true, .level = CSAN_LEVEL_RANGES};
    return launch_cannot_fail(&kernel, &touched, NULL);
}

static struct csan_access bytes_at(uint64_t base, uint64_t bytes)
{
    return (struct csan_access){.base = base, .bytes = bytes, .kind = CSAN_WRITE};
}

static void all_known_and_in_memory(void **state)
{
    (void)state;
    assert_true(cannot_fail(verified(4), bytes_at(BASE, BYTES)));
    assert_true(cannot_fail(verified(16), bytes_at(BASE + BYTES - 16, 16)));
}

static void bytes_outside(void **state)
{
    (void)state;
    assert_false(cannot_fail(verified(4), bytes_at(BASE, BYTES + 4)));
    assert_false(cannot_fail(verified(4), bytes_at(BASE + 4, BYTES)));
    assert_false(cannot_fail(verified(4), bytes_at(BASE - 4, 8)));
    assert_false(cannot_fail(verified(4), bytes_at(BASE + BYTES, 4)));
    assert_false(cannot_fail(verified(4), bytes_at(0, 4)));
    assert_false(cannot_fail(verified(4), bytes_at(BASE, CSAN_TO_END)));
}

static void not_aligned(void **state)
{
    (void)state;
    struct csan_dim odd = {.stride = 6, .count = 3}, even = {.stride = 8, .count = 3};
    struct csan_access rows = bytes_at(BASE, 4);
    rows.dim_count = 1;
    rows.dims = &even;
    assert_true(cannot_fail(verified(4), rows));
    rows.dims = &odd;
    assert_false(cannot_fail(verified(4), rows));
    assert_false(cannot_fail(verified(4), bytes_at(BASE + 1, 4)));
    assert_false(cannot_fail(verified(8), bytes_at(BASE + 4, 8)));
    assert_false(cannot_fail(verified(4), bytes_at(BASE, 6)));
}

static void what_is_not_known(void **state)
{
    (void)state;
    struct csan_access bounded = bytes_at(BASE, 16);
    bounded.bound = CSAN_EXACT + 1;
    assert_false(cannot_fail(verified(4), bounded));
    assert_false(cannot_fail(verified(0), bytes_at(BASE, 16)));
    struct launch_accesses_touched touched = {.exact = false, .level = CSAN_LEVEL_RANGES};
    struct kernel kernel = verified(4);
    assert_false(launch_cannot_fail(&kernel, &touched, NULL));
    touched.exact = true;
    assert_true(launch_cannot_fail(&kernel, &touched, NULL));
    touched.level = CSAN_LEVEL_LEARNED;
    assert_false(launch_cannot_fail(&kernel, &touched, NULL));
}

static void memory_of_others(void **state)
{
    (void)state;
    apart = true;
    assert_false(cannot_fail(verified(4), bytes_at(BASE, 16)));
    apart = false;
    assert_int_equal(csan_memory_create(context, CSAN_MEMORY_STREAM, 2 * BASE, BYTES, CSAN_HOST, 0),
                     0);
    assert_false(cannot_fail(verified(4), bytes_at(2 * BASE, 16)));
}

static void the_first_two_launches_are_verified(void **state)
{
    (void)state;
    struct kernel kernel = {.faults_width = 4};
    struct launch_accesses_touched touched = {.exact = true, .level = CSAN_LEVEL_RANGES};
    assert_false(launch_cannot_fail(&kernel, &touched, NULL));
    assert_false(launch_cannot_fail(&kernel, &touched, NULL));
    assert_true(launch_cannot_fail(&kernel, &touched, NULL));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(all_known_and_in_memory),
        TEST(bytes_outside),
        TEST(not_aligned),
        TEST(what_is_not_known),
        TEST(memory_of_others),
        TEST(the_first_two_launches_are_verified),
    };
    return cmocka_run_group_tests_name("launch_safety", tests, NULL, NULL);
}
