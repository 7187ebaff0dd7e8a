/* How much time goes to learning and confirming. */
#include "runtime/tracer/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
enum { ALLOWED = 50, PART = 100 };

static void nothing_is_spent_at_first(void **state)
{
    (void)state;
    struct budget budget = {.allowance = ALLOWED * MS, .part = PART};
    assert_true(budget_allows(&budget, 5 * MS));
    assert_true(budget_launch(&budget, 6 * MS));
    budget_idle(&budget, 7 * MS);
    assert_int_equal(budget.spent, 0);
}

/* So many launches, one each millisecond. */
static uint64_t work(struct budget *budget, uint64_t now, unsigned launches)
{
    for (; launches; launches--)
        budget_launch(budget, now += MS);
    return now;
}

static void what_is_spent_is_earned_again(void **state)
{
    (void)state;
    struct budget budget = {.allowance = ALLOWED * MS, .part = PART};
    uint64_t now = 1000 * MS;
    budget_launch(&budget, now);
    budget_spend(&budget, now, now + (ALLOWED + 9) * MS);
    assert_false(budget_allows(&budget, now));
    now = work(&budget, now, 9 * PART);
    assert_false(budget_allows(&budget, now));
    assert_false(budget_launch(&budget, now));
    now = work(&budget, now, PART);
    assert_true(budget_allows(&budget, now));
    assert_true(budget_launch(&budget, now));
}

/* A program that waits for an hour has not worked. */
static void waiting_earns_nothing(void **state)
{
    (void)state;
    struct budget budget = {.allowance = ALLOWED * MS, .part = PART};
    budget_launch(&budget, 1 * MS);
    budget_launch(&budget, 3600 * 1000 * MS);
    assert_int_equal(budget.worked, BUDGET_GAP_MS * MS);
    budget_launch(&budget, 1800 * 1000 * MS); /* of another thread, which was slow to say so */
    assert_int_equal(budget.worked, BUDGET_GAP_MS * MS);
}

/* While changed code runs, and once, however many launches there are. */
static void running_is_spent(void **state)
{
    (void)state;
    struct budget budget = {.allowance = ALLOWED * MS, .part = PART};
    budget_busy(&budget, 100 * MS);
    budget_busy(&budget, 110 * MS);
    assert_true(budget_allows(&budget, (99 + ALLOWED) * MS));
    assert_false(budget_allows(&budget, (101 + 2 * ALLOWED) * MS));
    budget_idle(&budget, 120 * MS);
    assert_int_equal(budget.spent, 20 * MS);
    budget_idle(&budget, 300 * MS);
    assert_int_equal(budget.spent, 20 * MS);
    budget_busy(&budget, 400 * MS);
    budget_idle(&budget, 401 * MS);
    assert_int_equal(budget.spent, 21 * MS);
}

/* A program that asks its user something meanwhile has no slower device for that. */
static void pauses_are_not_spent(void **state)
{
    (void)state;
    struct budget budget = {.allowance = ALLOWED * MS, .part = PART};
    uint64_t now = 100 * MS, hour = 3600 * 1000 * MS;
    budget_launch(&budget, now);
    budget_busy(&budget, now);
    now += hour;
    budget_launch(&budget, now);
    assert_true(budget_allows(&budget, now));
    budget_idle(&budget, now + MS);
    assert_int_equal(budget.spent, (BUDGET_GAP_MS + 1) * MS);
    budget_busy(&budget, now + 2 * MS);
    budget_idle(&budget, now + hour);
    assert_int_equal(budget.spent, (BUDGET_GAP_MS + 1 + BUDGET_WAIT_MS) * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_spent_at_first),
        cmocka_unit_test(what_is_spent_is_earned_again), cmocka_unit_test(waiting_earns_nothing),
        cmocka_unit_test(running_is_spent), cmocka_unit_test(pauses_are_not_spent)};
    return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
