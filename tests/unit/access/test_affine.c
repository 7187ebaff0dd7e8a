/* Affine forms and conditions against brute force: random ones over a few small indices, checked at
 * every point. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/access/affine.h"

enum { INDICES = 3, ROUNDS = 20000, SPREAD = 300 };

static struct index_table table;
static uint32_t numbers[INDICES];
static struct pool pool;
static jmp_buf exhausted;

static int setup(void **state)
{
    (void)state;
    pool = (struct pool){.memory = malloc(1 << 20), .bytes = 1 << 20, .exhausted = &exhausted};
    return pool.memory ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    free(pool.memory);
    return 0;
}

static int64_t between(int64_t low, int64_t high)
{
    return low + rand() % (high - low + 1);
}

/* New indices, and all of the pool again. */
static void begin_round(int round)
{
    srand((unsigned)round);
    pool.used = 0;
    memset(&table, 0, sizeof table);
    for (int k = 0; k < INDICES; k++) {
        int64_t low = between(-3, 3);
        numbers[k] = index_add(&table, low, low + between(0, 4));
    }
}

static struct affine_form random_form(void)
{
    struct affine_form form = affine_constant(between(-20, 20));
    for (int k = 0; k < INDICES; k++) {
        struct affine_form term = affine_index(numbers[k], between(-4, 4));
        if (rand() % 2)
            assert_true(affine_add(&form, &form, &term, 1));
    }
    return form;
}

struct point {
    int64_t at[INDICES];
};

static struct point first_point(void)
{
    struct point point;
    for (int k = 0; k < INDICES; k++)
        point.at[k] = table.ranges[numbers[k]].low;
    return point;
}

/* False after the last one. */
static bool next_point(struct point *point)
{
    for (int k = 0; k < INDICES; k++) {
        if (point->at[k]++ < table.ranges[numbers[k]].high)
            return true;
        point->at[k] = table.ranges[numbers[k]].low;
    }
    return false;
}

static int64_t value(const struct affine_form *form, const struct point *point)
{
    int64_t sum = form->constant;
    for (int k = 0; k < INDICES; k++)
        sum += affine_coefficient(form, numbers[k]) * point->at[k];
    return sum;
}

static bool conjunction_holds(const struct conjunction *conjunction, const struct point *point)
{
    for (uint32_t i = 0; i < conjunction->count; i++)
        if (value(conjunction->constraints[i], point) < 0)
            return false;
    return true;
}

static bool disjunction_holds(const struct disjunction *disjunction, const struct point *point)
{
    for (uint32_t i = 0; i < disjunction->count; i++)
        if (conjunction_holds(disjunction->items[i], point))
            return true;
    return false;
}

static void values_of_a_form(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        bool seen[2 * SPREAD] = {0};
        int64_t low = SPREAD, high = -SPREAD;
        begin_round(round);
        struct affine_form form = random_form();
        struct point point = first_point();
        do {
            int64_t v = value(&form, &point);
            seen[v + SPREAD] = true;
            low = v < low ? v : low;
            high = v > high ? v : high;
        } while (next_point(&point));
        struct interval interval = affine_interval(&form, &table);
        assert_int_equal(interval.low, low);
        assert_int_equal(interval.high, high);
        int64_t divisor = affine_divisor(&form), step = divisor ? divisor : 1;
        bool dense = affine_is_dense(&form, &table);
        for (int64_t v = low; v <= high; v++) {
            if (seen[v + SPREAD])
                assert_int_equal((v - low) % step, 0);
            else if (dense)
                assert_int_not_equal((v - low) % step, 0);
        }
    }
}

static void arithmetic(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        begin_round(round);
        struct affine_form a = random_form(), b = random_form(), sum, scaled, replaced = a;
        int64_t scale = between(-3, 3);
        assert_true(affine_add(&sum, &a, &b, scale));
        affine_scale(&scaled, &a, scale, 5);
        assert_true(affine_substitute(&replaced, numbers[0], &b));
        struct point point = first_point();
        do {
            struct point moved = point;
            moved.at[0] = value(&b, &point);
            assert_int_equal(value(&sum, &point), value(&a, &point) + scale * value(&b, &point));
            assert_int_equal(value(&scaled, &point), scale * value(&a, &point) + 5);
            assert_int_equal(value(&replaced, &point), value(&a, &moved));
        } while (next_point(&point));
    }
}

/* What was added, and what is kept of it: never less; more only when it says that it is not exact.
 */
static void conjunctions(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        begin_round(round);
        struct affine_form added[6], asked = random_form();
        struct conjunction *kept = conjunction_new(&pool, NULL);
        int count = 0, wanted = (int)between(0, 6);
        bool exact = true, possible = true;
        while (count < wanted && possible) {
            added[count] = random_form();
            possible =
                conjunction_add(kept, affine_keep(&pool, &added[count]), &table, &pool, &exact);
            count++;
        }
        bool follows = possible && conjunction_implies(kept, &asked, &table);
        struct point point = first_point();
        do {
            bool holds = true;
            for (int i = 0; i < count; i++)
                holds &= value(&added[i], &point) >= 0;
            if (!possible) {
                assert_false(holds);
                continue;
            }
            assert_true(!holds || conjunction_holds(kept, &point));
            assert_true(holds || !exact || !conjunction_holds(kept, &point));
            assert_true(!follows || !holds || value(&asked, &point) >= 0);
        } while (next_point(&point));
    }
}

/* 1 <= x <= 1 and x >= 2: the third is on the same terms as the first, and excludes the second. */
static void opposites_are_seen(void **state)
{
    (void)state;
    bool exact = true;
    pool.used = 0;
    memset(&table, 0, sizeof table);
    struct affine_form low = affine_index(index_add(&table, 0, 5), 8), high;
    low.constant = -8;
    affine_scale(&high, &low, -1, 0);
    struct conjunction *is_one = conjunction_new(&pool, NULL);
    assert_true(conjunction_add(is_one, affine_keep(&pool, &low), &table, &pool, &exact));
    assert_true(conjunction_add(is_one, affine_keep(&pool, &high), &table, &pool, &exact));
    low.constant = -16;
    assert_false(conjunction_add(is_one, &low, &table, &pool, &exact));
}

/* A chain of and and or. */
static void disjunctions(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        begin_round(round);
        struct affine_form forms[8];
        bool both[8], exact = true;
        int count = (int)between(1, 8);
        forms[0] = random_form();
        struct disjunction condition = disjunction_of(&forms[0], &table, &pool);
        for (int i = 1; i < count; i++) {
            forms[i] = random_form();
            both[i] = rand() % 2;
            struct disjunction more = disjunction_of(&forms[i], &table, &pool);
            condition = both[i] ? disjunction_and(&condition, &more, &table, &pool, &exact)
                                : disjunction_or(&condition, &more, &table, &pool, &exact);
        }
        struct point point = first_point();
        do {
            bool holds = value(&forms[0], &point) >= 0;
            for (int i = 1; i < count; i++) {
                bool next = value(&forms[i], &point) >= 0;
                holds = both[i] ? holds && next : holds || next;
            }
            bool found = disjunction_holds(&condition, &point);
            assert_true(!holds || found);
            assert_true(holds || !found || !exact);
            assert_true(found || !disjunction_is_always(&condition));
        } while (next_point(&point));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values_of_a_form, setup, teardown),
        cmocka_unit_test_setup_teardown(arithmetic, setup, teardown),
        cmocka_unit_test_setup_teardown(conjunctions, setup, teardown),
        cmocka_unit_test_setup_teardown(opposites_are_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(disjunctions, setup, teardown),
    };
    if (setjmp(exhausted))
        fail_msg("the pool of %d bytes is too small", 1 << 20);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
