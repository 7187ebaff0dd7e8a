/* The order of locks: what is taken out of order ends the process with both names. */
#ifndef CSAN_CHECK_LOCKS
#define CSAN_CHECK_LOCKS
#endif
#include "csan/base/lock_order.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER,
                       tried = PTHREAD_MUTEX_INITIALIZER;

/* What a child of this process that calls it writes to standard error; "" if it goes on. */
static const char *refusal(void (*play)(void))
{
    static char text[512];
    int status, ends[2];
    memset(text, 0, sizeof text);
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        play();
        _exit(0);
    }
    close(ends[1]);
    assert_true(read(ends[0], text, sizeof text - 1) >= 0);
    close(ends[0]);
    /* qemu-user writes a line of its own (scripts/test-aarch64): at times it comes with the rest.
     */
    char *line = getenv("TEST_RUNNER") ? strstr(text, "qemu: uncaught target signal ") : NULL;
    if (line)
        *line = '\0';
    assert_int_equal(waitpid(child, &status, 0), child);
    if (text[0])
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    else
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return text;
}

static void in_order(void)
{
    for (int i = 0; i < 100; i++) {
        lock_order_take(LOCK_KERNEL, &outer);
        lock_order_take(LOCK_HOOKS, &inner);
        lock_order_give(LOCK_HOOKS, &inner);
        lock_order_give(LOCK_KERNEL, &outer);
    }
}

static void in_turn(void)
{
    lock_order_take(LOCK_HOOKS, &inner);
    lock_order_give(LOCK_HOOKS, &inner);
    lock_order_take(LOCK_KERNEL, &outer);
    lock_order_give(LOCK_KERNEL, &outer);
}

static void turned_around(void)
{
    lock_order_take(LOCK_HOOKS, &inner);
    lock_order_take(LOCK_KERNEL, &outer);
}

static void two_of_a_kind(void)
{
    lock_order_take(LOCK_KERNEL, &outer);
    lock_order_take(LOCK_KERNEL, &inner);
}

static void given_back_across(void)
{
    lock_order_take(LOCK_KERNEL, &outer);
    lock_order_take(LOCK_HOOKS, &inner);
    lock_order_give(LOCK_KERNEL, &outer);
    lock_order_take(LOCK_DETECTOR, &tried);
    lock_order_give(LOCK_HOOKS, &inner);
    lock_order_give(LOCK_DETECTOR, &tried);
    lock_order_take(LOCK_KERNEL, &outer);
}

/* To try waits for nobody; what is taken within waits all the same. */
static void tries(void)
{
    lock_order_take(LOCK_HOOKS, &inner);
    if (lock_order_try(LOCK_KERNEL, pthread_mutex_trylock(&outer)) == 0)
        lock_order_give(LOCK_KERNEL, &outer);
}

static void takes_within_what_it_tried(void)
{
    if (lock_order_try(LOCK_HOOKS, pthread_mutex_trylock(&inner)) == 0)
        lock_order_take(LOCK_KERNEL, &outer);
}

static void order_is_kept(void **state)
{
    (void)state;
    assert_string_equal(refusal(in_order), "");
    assert_string_equal(refusal(in_turn), "");
    assert_string_equal(refusal(given_back_across), "");
    assert_string_equal(refusal(tries), "");
}

static void disorder_ends_the_process_with_both_names(void **state)
{
    const char *expected = "csan: lock order: the lock of a kernel is taken within the lock of the "
                           "hooks\n";
    (void)state;
    assert_string_equal(refusal(turned_around), expected);
    assert_string_equal(refusal(takes_within_what_it_tried), expected);
    assert_string_equal(refusal(two_of_a_kind), "csan: lock order: the lock of a kernel is taken "
                                                "within the lock of a kernel\n");
}

static void every_kind_is_described(void **state)
{
    (void)state;
    for (int i = 0; i < LOCK_KINDS; i++) {
        assert_non_null(lock_kinds[i].name);
        assert_non_null(lock_kinds[i].guards);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(lock_kinds[i].name, lock_kinds[k].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_kept),
        cmocka_unit_test(disorder_ends_the_process_with_both_names),
        cmocka_unit_test(every_kind_is_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
