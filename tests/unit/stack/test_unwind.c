/* Unwinding with memory against unwinding without: the same frames, whatever the stack did between.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/stack/stack.h"
#include "csan/stack/unwind.h"
#include <alloca.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8 };

/* Not optimised into jumps or copies: each is a frame of its own. */
#define FRAME __attribute__((noinline, noclone))

static const void *frames[STACK_FRAMES_MAX];

static FRAME size_t inner(size_t max, unsigned skip)
{
    size_t count = unwind_stack(frames, max, skip, NULL, NULL);
    __asm__ volatile("" ::: "memory");
    return count;
}
static FRAME size_t middle(size_t max, unsigned skip)
{
    size_t count = inner(max, skip);
    __asm__ volatile("" ::: "memory");
    return count;
}
static FRAME size_t outer(size_t max, unsigned skip)
{
    size_t count = middle(max, skip);
    __asm__ volatile("" ::: "memory");
    return count;
}

static int is_in(const void *address, size_t (*function)(size_t, unsigned))
{
    uintptr_t offset = (uintptr_t)address - (uintptr_t)function;
    return offset > 0 && offset < 128;
}

static void skipping(void **state)
{
    (void)state;
    size_t all = outer(STACK_FRAMES_MAX, 0);
    assert_true(all > 3);
    assert_true(is_in(frames[0], middle));
    assert_true(is_in(frames[1], outer));
    const void *third = frames[2];
    assert_int_equal(outer(STACK_FRAMES_MAX, 1), all - 1);
    assert_true(is_in(frames[0], outer));
    assert_int_equal(outer(1, 1), 1);
    assert_true(is_in(frames[0], outer));
    assert_int_equal(outer(0, 0), 0);
    assert_int_equal(outer(STACK_FRAMES_MAX, 1000), 0);
    assert_int_equal(outer(STACK_FRAMES_MAX, 0), all);
    assert_true(third != NULL);
}

static void *capture_in_thread(void *unused)
{
    (void)unused;
    const void *own[STACK_FRAMES_MAX];
    for (int i = 0; i < 200; i++)
        if (unwind_stack(own, STACK_FRAMES_MAX, 0, NULL, NULL) == 0)
            return "nothing captured";
    return NULL;
}

/* Threads come and go: what the unwinder keeps for each of them must not outlive it. */
static void many_threads(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        pthread_t thread[THREADS];
        for (int i = 0; i < THREADS; i++)
            pthread_create(&thread[i], NULL, capture_in_thread, NULL);
        for (int i = 0; i < THREADS; i++) {
            void *wrong;
            pthread_join(thread[i], &wrong);
            assert_null(wrong);
        }
    }
}

/* ---- random call trees: frames with and without frame pointers, of changing sizes, over the
 * remains of earlier ones */

static uint32_t random_state = 1;
static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

static size_t compared;

/* What is beyond our own frames must be what glibc's unwinder finds, of all frames or of few. */
static FRAME void compare(void)
{
    const void *mine[STACK_FRAMES_MAX];
    void *theirs[STACK_FRAMES_MAX + 8];
    size_t max = random_below(3) ? STACK_FRAMES_MAX : 1 + random_below(8);
    size_t count = unwind_stack(mine, max, 0, NULL, NULL);
    int all = backtrace(theirs, STACK_FRAMES_MAX + 8);
    int own = 0;
    while (own < all && theirs[own] != mine[0])
        own++;
    assert_true(count > 0 && own < all);
    for (size_t i = 0; i < count && own + (int)i < all; i++)
        assert_ptr_equal(mine[i], theirs[own + (int)i]);
    assert_true(count == max || (int)count == all - own);
    compared++;
}

typedef void walker(uint32_t steps, volatile uint64_t *counter);
static FRAME void walk_plain(uint32_t steps, volatile uint64_t *counter);
static FRAME void walk_large(uint32_t steps, volatile uint64_t *counter);
static FRAME void walk_alloca(uint32_t steps, volatile uint64_t *counter);
static walker *const walkers[] = {walk_plain, walk_large, walk_alloca};

static inline void go_on(uint32_t steps, volatile uint64_t *counter)
{
    if (steps == 0)
        return;
    for (uint32_t i = 0; i < 1 + steps % 2; i++) {
        *counter += i;
        if (random_below(3) == 0)
            compare();
        walkers[random_below(3)](steps - 1 - (steps > 1 ? random_below(2) : 0), counter);
    }
    compare();
}

static FRAME void walk_plain(uint32_t steps, volatile uint64_t *counter)
{
    go_on(steps, counter);
    __asm__ volatile("" ::: "memory");
}
static FRAME void walk_large(uint32_t steps, volatile uint64_t *counter)
{
    volatile uint64_t room[40]; /* left as it is: remains of earlier frames show through */
    room[steps % 40] = *counter;
    go_on(steps, &room[steps % 40]);
    *counter += room[steps % 40];
}
static FRAME void walk_alloca(uint32_t steps, volatile uint64_t *counter)
{
    /* the very thing to be tested: a frame of changing size */
    volatile char *room = alloca(16 * (1 + random_below(20))); // cppcheck-suppress allocaCalled
    room[0] = (char)steps;
    go_on(steps, counter);
    *counter += (uint64_t)room[0];
}

static void random_call_trees(void **state)
{
    (void)state;
    volatile uint64_t counter = 0;
    for (int i = 0; i < 400; i++)
        walkers[random_below(3)](1 + random_below(14), &counter);
    assert_true(compared > 10000);
}

/* The same place again and again with other values in every register. */
static void a_loop_is_remembered_rightly(void **state)
{
    (void)state;
    size_t before = compared;
    for (uintptr_t i = 0; i < 1000; i++) {
        __asm__ volatile("" ::"r"(i), "r"(i * 3), "r"(i * 5), "r"(i * 7) : "memory");
        compare();
    }
    assert_int_equal(compared - before, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skipping),
        cmocka_unit_test(many_threads),
        cmocka_unit_test(random_call_trees),
        cmocka_unit_test(a_loop_is_remembered_rightly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
