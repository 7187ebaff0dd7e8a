/* How much time goes to confirming. */
#include "runtime/tracer/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
enum { ALLOWED = BUDGET_ALLOWANCE_MS, PART = BUDGET_PART };

static bool allows(const struct budget *budget, uint64_t now)
{
    return budget_opens(budget, now) <= now;
}

static void nothing_is_spent_at_first(void **state)
{
    (void)state;
    struct budget budget = {0};
    assert_true(allows(&budget, 5 * MS));
    budget_idle(&budget, 7 * MS);
    assert_int_equal(budget.spent, 0);
}

static void what_is_spent_is_earned_again(void **state)
{
    (void)state;
    struct budget budget = {0};
    const uint64_t begin = 1000 * MS;
    budget_spend(&budget, begin, begin + (ALLOWED + 10) * MS);
    assert_false(allows(&budget, begin + (ALLOWED + 10) * MS));
    assert_false(allows(&budget, begin + (10 * PART - 1) * MS));
    assert_true(allows(&budget, begin + (10 * PART + PART) * MS));
}

/* While changed code runs, and once, however many launches there are. */
static void running_is_spent(void **state)
{
    (void)state;
    struct budget budget = {0};
    budget_busy(&budget, 100 * MS);
    budget_busy(&budget, 110 * MS);
    assert_true(allows(&budget, (99 + ALLOWED) * MS));
    assert_false(allows(&budget, (101 + 2 * ALLOWED) * MS));
    budget_idle(&budget, 120 * MS);
    assert_int_equal(budget.spent, 20 * MS);
    budget_idle(&budget, 300 * MS);
    assert_int_equal(budget.spent, 20 * MS);
    budget_busy(&budget, 400 * MS);
    budget_idle(&budget, 401 * MS);
    assert_int_equal(budget.spent, 21 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_spent_at_first),
                                       cmocka_unit_test(what_is_spent_is_earned_again),
                                       cmocka_unit_test(running_is_spent)};
    return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
