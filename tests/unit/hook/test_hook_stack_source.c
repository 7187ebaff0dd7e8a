/* When the hooks ask an interpreter for its part of a stack: one that waits for a lock of the
 * program only where no such lock can be held. */
#include "tests/unit/hook/test_hook.h"

#include <pthread.h>

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)

static size_t asked;

static size_t script_capture(const void **frames, size_t capacity, int locked)
{
    (void)locked;
    asked++;
    if (!capacity)
        return 0;
    frames[0] = (const void *)(uintptr_t)((uint64_t)1 << 63 | 1);
    return 1;
}

static int script_describe(const void *frame, struct csan_source_line *line)
{
    (void)frame;
    (void)line;
    return 0;
}

static const struct csan_stack_source ready = {sizeof ready, script_capture, script_describe, 0};
static const struct csan_stack_source waiting = {sizeof waiting, script_capture, script_describe,
                                                 1};

static size_t asked_by_memory(void)
{
    size_t before = asked;
    (void)device(64);
    return asked - before;
}

static size_t asked_by_work(CUdeviceptr memory, CUstream stream)
{
    size_t before = asked;
    OK(cuMemsetD8Async(memory, 0, 64, stream));
    return asked - before;
}

static void is_asked_everywhere(void **state)
{
    (void)state;
    CUdeviceptr memory = device(64);
    csan_stack_source_set(&ready);
    assert_int_equal(asked_by_memory(), 1);
    assert_int_equal(asked_by_work(memory, non_blocking()), 1);
    csan_stack_source_set(NULL);
    assert_int_equal(asked_by_memory(), 0);
}

static void is_not_asked_while_an_allocator_may_hold_its_lock(void **state)
{
    (void)state;
    CUdeviceptr memory = device(64);
    csan_stack_source_set(&waiting);
    assert_int_equal(asked_by_memory(), 0);
    assert_int_equal(asked_by_work(memory, non_blocking()), 1);
    csan_stack_source_set(NULL);
}

static void *do_nothing(void *unused)
{
    return unused;
}

static size_t asked_by_new_thread(void)
{
    size_t before = asked;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, do_nothing, NULL), 0);
    pthread_join(thread, NULL);
    return asked - before;
}

/* Nor where a thread is created, whose creator may hold what the interpreter's owner waits for. */
static void is_not_asked_where_a_thread_is_created(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* csan notes no births then: thread_birth.c */
#endif
    csan_stack_source_set(&ready);
    assert_int_equal(asked_by_new_thread(), 1);
    csan_stack_source_set(&waiting);
    assert_int_equal(asked_by_new_thread(), 0);
    csan_stack_source_set(NULL);
}

/* Both sides have the stack that the operator began with. */
static void is_asked_once_for_an_operator(void **state)
{
    (void)state;
    static const char *const arguments[] = {"out"};
    static const struct csan_operator what = {"fill", arguments, 1, CSAN_NO_ARGUMENT};
    const struct csan_operator_call call = {.count = 0};
    struct csan_race race;
    CUdeviceptr memory = device(64);
    CUstream first = non_blocking(), second = non_blocking();
    csan_stack_source_set(&waiting);
    for (int i = 0; i < 2; i++) {
        size_t before = asked;
        csan_operator_begin(&what, &call);
        csan_operator_begin(&what, &call);
        assert_int_equal(asked - before, 1);
        assert_int_equal(asked_by_memory(), 0);
        assert_int_equal(asked_by_work(memory, i ? second : first), 0);
        csan_operator_end();
        assert_int_equal(asked_by_memory(), 0);
        csan_operator_end();
    }
    assert_int_equal(asked_by_work(memory, second), 1);
    csan_stack_source_set(NULL);
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_int_equal(race.current.frame_count, 1);
    assert_true((intptr_t)race.current.frames[0] < 0);
    assert_true((intptr_t)race.previous.frames[0] < 0);
}

int main(int argc, char **argv)
{
    (void)argc;
    hook_test_start(argv);
#define TEST(name) cmocka_unit_test_setup(name, hook_setup)
    const struct CMUnitTest tests[] = {
        TEST(is_asked_everywhere),
        TEST(is_not_asked_while_an_allocator_may_hold_its_lock),
        TEST(is_not_asked_where_a_thread_is_created),
        TEST(is_asked_once_for_an_operator),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_stack_source", tests, NULL, NULL));
}
