/* Wishes to trace a function's launches: how long they hold, and how often they are tried. */
#include "runtime/tracer/trace_request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static int outlasted(struct trace_request *wish, bool patched)
{
    int launches = 0;
    while (trace_request_outlasts_launch(wish, patched))
        launches++;
    return launches;
}

static void nothing_is_wished_for_at_first(void **state)
{
    (void)state;
    struct trace_request wish = {0};
    assert_false(trace_request_outlasts_launch(&wish, false));
    assert_false(trace_request_is_never_caught(&wish));
    assert_true(trace_request_is_worth_a_try(&wish));
}

/* Few, once its module is patched; before that, as many as it takes, but not for ever. */
static void a_wish_outlasts_some_launches(void **state)
{
    (void)state;
    struct trace_request wish = {0};
    trace_request_set(&wish, TRACE_REQUEST_TO_CONFIRM);
    for (int i = 0; i < 1000; i++)
        assert_true(trace_request_outlasts_launch(&wish, false));
    trace_request_try_begins(&wish);
    assert_int_equal(outlasted(&wish, true), 8);
    trace_request_set(&wish, TRACE_REQUEST_TO_LEARN);
    assert_in_range(outlasted(&wish, false), 1000, 100000);
}

static void what_is_caught_need_not_hold(void **state)
{
    (void)state;
    struct trace_request wish = {0};
    trace_request_set(&wish, TRACE_REQUEST_TO_LEARN);
    trace_request_try_begins(&wish);
    trace_request_catch(&wish);
    assert_false(trace_request_outlasts_launch(&wish, true));
    trace_request_try_ends(&wish);
    assert_int_equal(wish.in_vain, 0);
}

static void try_in_vain(struct trace_request *wish, int times)
{
    for (int i = 0; i < times; i++) {
        trace_request_set(wish, TRACE_REQUEST_TO_LEARN);
        trace_request_try_begins(wish);
        trace_request_outlasts_launch(wish, true);
        trace_request_try_ends(wish);
        trace_request_set(wish, TRACE_REQUEST_NOTHING);
    }
}

static int refused(struct trace_request *wish)
{
    int launches = 0;
    while (!trace_request_is_worth_a_try(wish))
        launches++;
    return launches;
}

/* Sixteen wishes for the fifth, then 32, and so on, to a limit; and one again, once one was caught.
 */
static void tries_in_vain_grow_rare(void **state)
{
    (void)state;
    struct trace_request wish = {0};
    try_in_vain(&wish, 3);
    assert_false(trace_request_is_never_caught(&wish));
    assert_int_equal(refused(&wish), 0);
    for (int most = 16; most <= 1024; most *= 2) {
        try_in_vain(&wish, 1);
        assert_true(trace_request_is_never_caught(&wish));
        assert_int_equal(refused(&wish), most - 1);
    }
    try_in_vain(&wish, 1000);
    assert_in_range(refused(&wish), 1 << 20, 1 << 30);
    trace_request_set(&wish, TRACE_REQUEST_TO_LEARN);
    trace_request_catch(&wish);
    assert_false(trace_request_is_never_caught(&wish));
    assert_int_equal(refused(&wish), 0);
}

/* Nor what was to be confirmed, nor what nothing was launched of. */
static void not_every_try_that_ends_was_in_vain(void **state)
{
    (void)state;
    struct trace_request wish = {0};
    trace_request_set(&wish, TRACE_REQUEST_TO_CONFIRM);
    trace_request_try_begins(&wish);
    trace_request_outlasts_launch(&wish, true);
    trace_request_try_ends(&wish);
    trace_request_set(&wish, TRACE_REQUEST_TO_LEARN);
    trace_request_try_begins(&wish);
    trace_request_try_ends(&wish);
    assert_int_equal(wish.in_vain, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_wished_for_at_first),
                                       cmocka_unit_test(a_wish_outlasts_some_launches),
                                       cmocka_unit_test(what_is_caught_need_not_hold),
                                       cmocka_unit_test(tries_in_vain_grow_rare),
                                       cmocka_unit_test(not_every_try_that_ends_was_in_vain)};
    return cmocka_run_group_tests_name("wish", tests, NULL, NULL);
}
