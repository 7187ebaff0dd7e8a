/* Which numbers are addresses of the process's own memory. */
#include "runtime/hook/operator/host_address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { BYTES = 1 << 20 };

static int constant = 1;

static void code_stack_and_heap_are(void **state)
{
    (void)state;
    int local;
    void *heap = malloc(16);
    assert_true(host_address_is((uintptr_t)&constant));
    assert_true(host_address_is((uintptr_t)&local));
    assert_true(host_address_is((uintptr_t)code_stack_and_heap_are));
    assert_true(host_address_is((uintptr_t)heap));
    free(heap);
}

static void numbers_are_not(void **state)
{
    (void)state;
    const uint64_t numbers[] = {0, 1, 4096, UINT64_C(64) << 32 | 256, UINT64_MAX, INT64_MAX};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_false(host_address_is(numbers[i]));
}

static uint64_t mapped(int protection, int flags)
{
    void *memory = mmap(NULL, BYTES, protection, flags | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    return (uintptr_t)memory;
}

/* A device's addresses are reserved without access, and memory of the host that it has is shared.
 */
static void memory_of_devices_is_not(void **state)
{
    (void)state;
    const uint64_t reserved = mapped(PROT_NONE, MAP_PRIVATE);
    const uint64_t shared = mapped(PROT_READ | PROT_WRITE, MAP_SHARED);
    for (int i = 0; i < 100; i++) {
        assert_false(host_address_is(reserved + 4096));
        assert_false(host_address_is(shared + 4096));
    }
}

static void later_mappings_are_found(void **state)
{
    (void)state;
    const uint64_t guard = mapped(PROT_NONE, MAP_PRIVATE);
    const uint64_t fresh = mapped(PROT_READ | PROT_WRITE, MAP_PRIVATE);
    bool found = false;
    for (int i = 0; i < 10000 && !found; i++)
        found = host_address_is(fresh + BYTES - 1);
    assert_true(found);
    assert_true(host_address_is(fresh));
    assert_false(host_address_is(guard));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_stack_and_heap_are),
        cmocka_unit_test(numbers_are_not),
        cmocka_unit_test(memory_of_devices_is_not),
        cmocka_unit_test(later_mappings_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
