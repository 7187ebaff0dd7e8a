/* Requests to trace a function's launches: how long they last, and how often csan tries. */
#include "runtime/tracer/trace_request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static int outlasted(struct trace_request *request, bool patched)
{
    int launches = 0;
    while (trace_request_outlasts_launch(request, patched))
        launches++;
    return launches;
}

static void there_is_no_request_at_first(void **state)
{
    (void)state;
    struct trace_request request = {0};
    assert_false(trace_request_outlasts_launch(&request, false));
    assert_false(trace_request_is_never_caught(&request));
    assert_true(trace_request_is_worth_a_try(&request));
}

/* Few, once its module is patched; before that, as many as it takes, but not for ever. */
static void a_request_outlasts_some_launches(void **state)
{
    (void)state;
    struct trace_request request = {0};
    trace_request_set(&request, TRACE_REQUEST_TO_CONFIRM);
    for (int i = 0; i < 1000; i++)
        assert_true(trace_request_outlasts_launch(&request, false));
    trace_request_try_begins(&request);
    assert_int_equal(outlasted(&request, true), 8);
    trace_request_set(&request, TRACE_REQUEST_TO_LEARN);
    assert_in_range(outlasted(&request, false), 1000, 100000);
}

static void what_is_caught_need_not_hold(void **state)
{
    (void)state;
    struct trace_request request = {0};
    trace_request_set(&request, TRACE_REQUEST_TO_LEARN);
    trace_request_try_begins(&request);
    trace_request_catch(&request);
    assert_false(trace_request_outlasts_launch(&request, true));
    trace_request_try_ends(&request);
    assert_int_equal(request.in_vain, 0);
}

static void try_in_vain(struct trace_request *request, int times)
{
    for (int i = 0; i < times; i++) {
        trace_request_set(request, TRACE_REQUEST_TO_LEARN);
        trace_request_try_begins(request);
        trace_request_outlasts_launch(request, true);
        trace_request_try_ends(request);
        trace_request_set(request, TRACE_REQUEST_NOTHING);
    }
}

static int refused(struct trace_request *request)
{
    int launches = 0;
    while (!trace_request_is_worth_a_try(request))
        launches++;
    return launches;
}

/* Sixteen requests for the fifth try, then 32, and so on, to a limit; and one again after a
 * success. */
static void tries_in_vain_grow_rare(void **state)
{
    (void)state;
    struct trace_request request = {0};
    try_in_vain(&request, 3);
    assert_false(trace_request_is_never_caught(&request));
    assert_int_equal(refused(&request), 0);
    for (int most = 16; most <= 1024; most *= 2) {
        try_in_vain(&request, 1);
        assert_true(trace_request_is_never_caught(&request));
        assert_int_equal(refused(&request), most - 1);
    }
    try_in_vain(&request, 1000);
    assert_in_range(refused(&request), 1 << 20, 1 << 30);
    trace_request_set(&request, TRACE_REQUEST_TO_LEARN);
    trace_request_catch(&request);
    assert_false(trace_request_is_never_caught(&request));
    assert_int_equal(refused(&request), 0);
}

/* Nor what was to be confirmed, nor what nothing was launched of. */
static void not_every_try_that_ends_was_in_vain(void **state)
{
    (void)state;
    struct trace_request request = {0};
    trace_request_set(&request, TRACE_REQUEST_TO_CONFIRM);
    trace_request_try_begins(&request);
    trace_request_outlasts_launch(&request, true);
    trace_request_try_ends(&request);
    trace_request_set(&request, TRACE_REQUEST_TO_LEARN);
    trace_request_try_begins(&request);
    trace_request_try_ends(&request);
    assert_int_equal(request.in_vain, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(there_is_no_request_at_first),
                                       cmocka_unit_test(a_request_outlasts_some_launches),
                                       cmocka_unit_test(what_is_caught_need_not_hold),
                                       cmocka_unit_test(tries_in_vain_grow_rare),
                                       cmocka_unit_test(not_every_try_that_ends_was_in_vain)};
    return cmocka_run_group_tests_name("trace_request", tests, NULL, NULL);
}
