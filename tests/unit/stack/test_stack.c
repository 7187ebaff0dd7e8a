/* The stack depot and the capture of stacks, at their edges; threads are in test_site.c too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/stack/stack.h"
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void frames_fill(const void **frames, size_t count, uintptr_t seed)
{
    for (size_t i = 0; i < count; i++)
        frames[i] = (const void *)(seed * 1000 + i);
}

static void equal_stacks_are_one(void **state)
{
    (void)state;
    struct stack_depot *depot = stack_depot_create();
    const void *frames[STACK_FRAMES_MAX], *other[STACK_FRAMES_MAX];
    for (size_t count = 1; count <= STACK_FRAMES_MAX; count++) {
        frames_fill(frames, count, 7);
        uint32_t id = stack_depot_put(depot, frames, count);
        assert_int_equal(id, count);
        assert_int_equal(stack_depot_put(depot, frames, count), id);
        /* every single frame distinguishes stacks */
        for (size_t i = 0; i < count; i++) {
            memcpy(other, frames, sizeof(other));
            other[i] = NULL;
            assert_int_not_equal(stack_depot_put(depot, other, count), id);
        }
        stack_depot_destroy(depot);
        depot = stack_depot_create();
        for (size_t earlier = 1; earlier <= count; earlier++)
            stack_depot_put(depot, frames, earlier);
    }
    stack_depot_destroy(depot);
}

static void order_matters(void **state)
{
    (void)state;
    struct stack_depot *depot = stack_depot_create();
    const void *frames[4] = {(void *)1, (void *)2, (void *)3, (void *)4};
    uint32_t id = stack_depot_put(depot, frames, 4);
    for (int i = 0; i < 4; i++) {
        for (int k = i + 1; k < 4; k++) {
            const void *swapped[4];
            memcpy(swapped, frames, sizeof(swapped));
            swapped[i] = frames[k];
            swapped[k] = frames[i];
            assert_int_not_equal(stack_depot_put(depot, swapped, 4), id);
        }
    }
    stack_depot_destroy(depot);
}

static void edges(void **state)
{
    (void)state;
    struct stack_depot *depot = stack_depot_create();
    const void *frames[STACK_FRAMES_MAX + 10], *const *got;
    size_t count;
    frames_fill(frames, STACK_FRAMES_MAX + 10, 3);
    assert_int_equal(stack_depot_put(depot, NULL, 0), 0);
    uint32_t deep = stack_depot_put(depot, frames, STACK_FRAMES_MAX + 10);
    assert_int_equal(stack_depot_put(depot, frames, STACK_FRAMES_MAX), deep);
    stack_depot_get(depot, deep, &got, &count);
    assert_int_equal(count, STACK_FRAMES_MAX);
    assert_memory_equal(got, frames, STACK_FRAMES_MAX * sizeof(frames[0]));
    const uint32_t unknown[] = {0, deep + 1, 1u << 20, UINT32_MAX};
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        count = 99;
        stack_depot_get(depot, unknown[i], &got, &count);
        assert_null(got);
        assert_int_equal(count, 0);
    }
    stack_depot_destroy(depot);
}

static void a_known_stack_allocates_nothing(void **state)
{
    (void)state;
    struct stack_depot *depot = stack_depot_create();
    const void *frames[26];
    for (uintptr_t i = 0; i < 1000; i++) {
        frames_fill(frames, 26, i);
        stack_depot_put(depot, frames, 26);
    }
    struct mallinfo2 before = mallinfo2();
    for (int round = 0; round < 50; round++) {
        for (uintptr_t i = 0; i < 1000; i++) {
            frames_fill(frames, 26, i);
            assert_int_equal(stack_depot_put(depot, frames, 26), i + 1);
        }
    }
    assert_int_equal(mallinfo2().uordblks, before.uordblks);
    stack_depot_destroy(depot);
}

/* ---- eight threads put and read the same stacks */

enum { THREADS = 8, STACKS = 2000 };

static void *put_and_read(void *depot)
{
    const void *frames[12], *const *got;
    size_t count;
    for (uintptr_t i = 0; i < STACKS; i++) {
        size_t length = 1 + i % 12;
        frames_fill(frames, length, i);
        uint32_t id = stack_depot_put(depot, frames, length);
        stack_depot_get(depot, id, &got, &count);
        if (count != length || memcmp(got, frames, length * sizeof(frames[0])) != 0)
            return "not what was put";
    }
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    struct stack_depot *depot = stack_depot_create();
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, put_and_read, depot);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(thread[i], &wrong);
        assert_null(wrong);
    }
    const void *last[1] = {(void *)1};
    assert_int_equal(stack_depot_put(depot, last, 1), STACKS + 1); /* no stack has two ids */
    stack_depot_destroy(depot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_stacks_are_one),
        cmocka_unit_test(order_matters),
        cmocka_unit_test(edges),
        cmocka_unit_test(a_known_stack_allocates_nothing),
        cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
