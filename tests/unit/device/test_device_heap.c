/* The heap of malloc in kernels, against a plain list of what is allocated. */
#include "runtime/device/memory/heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LIMIT = 1 << 20, BLOCKS = 4096, STEPS = 20000 };

static struct CUctx_st context;
static struct CUstream_st stream = {.context = &context};
static struct item kernel = {.stream = &stream};

static int start(void **state)
{
    (void)state;
    memset(&context, 0, sizeof context);
    context.limits[CU_LIMIT_MALLOC_HEAP_SIZE] = LIMIT;
    return 0;
}

static int stop(void **state)
{
    (void)state;
    heap_forget(&context);
    return 0;
}

static bool lies_in(uint64_t address, uint64_t base, uint64_t bytes)
{
    struct exec_region region;
    return heap_find(&context, address, &region) && region.base == base &&
           region.limit == base + bytes && region.writable;
}

static bool is_nobodys(uint64_t address)
{
    struct exec_region region;
    return !heap_find(&context, address, &region);
}

static void a_block_has_ends(void **state)
{
    (void)state;
    assert_false(heap_is_used(&context));
    const uint64_t block = heap_allocate(&kernel, 100, 1);
    uint64_t bytes = 0;
    assert_true(heap_is_used(&context));
    assert_true(block && block % 16 == 0);
    assert_true(lies_in(block, block, 100) && lies_in(block + 99, block, 100));
    assert_true(is_nobodys(block - 1) && is_nobodys(block + 100) && is_nobodys(block + 112));
    assert_false(heap_release(&kernel, block + 16, &bytes));
    assert_true(heap_release(&kernel, block, &bytes));
    assert_int_equal(bytes, 100);
    assert_true(is_nobodys(block));
    assert_false(heap_release(&kernel, block, &bytes));
    assert_int_equal(heap_allocate(&kernel, 0, 1), 0);
    assert_int_equal(heap_allocate(&kernel, 256, 256) % 256, 0);
}

/* A limit is of what is allocated at once, and what was freed comes back late. */
static void a_limit_is_of_live_blocks(void **state)
{
    (void)state;
    uint64_t former = 0, bytes;
    for (int i = 0; i < 100; i++) {
        const uint64_t block = heap_allocate(&kernel, LIMIT / 2 + 1, 1);
        assert_true(block && block != former);
        assert_int_equal(heap_allocate(&kernel, LIMIT / 2, 1), 0);
        assert_true(heap_release(&kernel, block, &bytes));
        former = block;
    }
    assert_int_equal(heap_allocate(&kernel, LIMIT + 1, 1), 0);
    assert_int_equal(heap_allocate(&kernel, UINT64_MAX, 1), 0);
}

/* Green contexts have the primary one's heap. */
static void a_green_context_has_no_heap_of_its_own(void **state)
{
    (void)state;
    struct CUctx_st green = {.home = &context};
    struct CUstream_st beside = {.context = &green};
    struct item other = {.stream = &beside};
    struct exec_region region;
    const uint64_t block = heap_allocate(&other, 8, 1);
    uint64_t bytes;
    assert_true(lies_in(block, block, 8));
    assert_true(heap_find(&green, block, &region));
    assert_true(heap_release(&kernel, block, &bytes));
}

static void as_a_list_has_it(void **state)
{
    (void)state;
    static struct {
        uint64_t base, bytes;
    } live[BLOCKS];
    size_t count = 0;
    uint64_t used = 0, bytes;
    srand(7);
    for (int step = 0; step < STEPS; step++) {
        if (rand() % 5 < 3 && count < BLOCKS) {
            const uint64_t wanted = 1 + (uint64_t)rand() % (rand() % 16 ? 200 : 60000);
            const uint64_t span = (wanted + 15) / 16 * 16;
            const uint64_t base = heap_allocate(&kernel, wanted, 16);
            assert_int_equal(base != 0, span <= LIMIT - used);
            if (!base)
                continue;
            for (size_t i = 0; i < count; i++)
                assert_true(base >= live[i].base + live[i].bytes || base + wanted <= live[i].base);
            live[count].base = base;
            live[count++].bytes = wanted;
            used += span;
        } else if (count) {
            const size_t which = (size_t)rand() % count;
            const uint64_t base = live[which].base, size = live[which].bytes;
            assert_true(lies_in(base + (uint64_t)rand() % size, base, size));
            assert_true(heap_release(&kernel, base, &bytes));
            assert_int_equal(bytes, size);
            assert_true(is_nobodys(base));
            used -= (size + 15) / 16 * 16;
            live[which] = live[--count];
        }
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(a_block_has_ends),
        TEST(a_limit_is_of_live_blocks),
        TEST(a_green_context_has_no_heap_of_its_own),
        TEST(as_a_list_has_it),
    };
    return cmocka_run_group_tests_name("device_heap", tests, NULL, NULL);
}
