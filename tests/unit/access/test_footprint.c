/* Images of forms against brute force: the bytes that random small systems touch, point by point.
 * What footprint_find emits must hold every one of them, and where it says exact nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/access/footprint.h"

enum {
    ROUNDS = 20000,
    POINTS = 3000,
    BASIC_MAX = 5,
    DIVISIONS_MAX = 2,
    LOW = -40000,
    HIGH = 40000
};

/* An address and the conditions it is under, over basic indices and what divisions make of them. */
struct constraints {
    struct index_table indices;
    uint32_t basic_count;
    struct affine_form address;
    struct conjunction when;
    uint64_t bytes;
};

/* What was emitted. */
struct emitted {
    uint32_t footprints;
    bool exact, misshapen, outside; /* of the addresses that are looked at */
};

static struct pool pool;
static jmp_buf exhausted;
static uint8_t touched[HIGH - LOW], covered[HIGH - LOW]; /* by address - LOW */
static int64_t first, end;                               /* the addresses that are looked at */

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

/* ---- The truth ---- */

static int64_t form_at(const struct affine_form *form, const int64_t *point)
{
    int64_t value = form->constant;
    for (uint32_t i = 0; i < form->count; i++)
        value += form->terms[i].coefficient * point[form->terms[i].index];
    return value;
}

static void divide_point(const struct constraints *s, int64_t *point)
{
    for (uint32_t d = 0; d < s->indices.division_count; d++) {
        const struct division *division = &s->indices.divisions[d];
        int64_t value = form_at(&division->form, point);
        int64_t rest = (value % division->modulus + division->modulus) % division->modulus;
        point[division->remainder] = rest;
        point[division->quotient] = (value - rest) / division->modulus;
    }
}

static bool next_point(const struct constraints *s, int64_t *point)
{
    for (uint32_t i = 0; i < s->basic_count; i++) {
        if (point[i]++ < s->indices.ranges[i].high)
            return true;
        point[i] = s->indices.ranges[i].low;
    }
    return false;
}

static void touch_all(const struct constraints *s)
{
    int64_t point[BASIC_MAX + 2 * DIVISIONS_MAX];
    for (uint32_t i = 0; i < s->basic_count; i++)
        point[i] = s->indices.ranges[i].low;
    do {
        bool holds = true;
        divide_point(s, point);
        for (uint32_t i = 0; i < s->when.count && holds; i++)
            holds = form_at(s->when.constraints[i], point) >= 0;
        if (holds)
            memset(touched + form_at(&s->address, point) - LOW, 1, s->bytes);
    } while (next_point(s, point));
}

/* ---- What is emitted ---- */

static bool is_shaped(const struct footprint *footprint)
{
    for (uint32_t d = 0; d < footprint->dim_count; d++) {
        const struct access_dim *dim = &footprint->dims[d];
        if (dim->count < 2 || dim->stride <= 0 || (d && dim->stride < dim[-1].stride))
            return false;
    }
    return footprint->dim_count <= ACCESS_MAX_DIMS &&
           (!footprint->dim_count || (uint64_t)footprint->dims[0].stride > footprint->bytes);
}

static void cover_bytes(struct emitted *emitted, int64_t offset, uint64_t bytes)
{
    int64_t to = bytes >= (uint64_t)(HIGH - offset) ? HIGH : offset + (int64_t)bytes;
    emitted->outside |= offset < first || to > end;
    offset = offset < first ? first : offset;
    to = to > end ? end : to;
    if (offset < to)
        memset(covered + offset - LOW, 1, (size_t)(to - offset));
}

static void cover(struct emitted *emitted, const struct footprint *footprint, uint32_t dims,
                  int64_t offset)
{
    if (!dims) {
        cover_bytes(emitted, offset, footprint->bytes);
        return;
    }
    const struct access_dim *dim = &footprint->dims[dims - 1];
    for (uint64_t i = 0; i < dim->count; i++)
        cover(emitted, footprint, dims - 1, offset + (int64_t)i * dim->stride);
}

static void emit(void *user, const struct footprint *footprint)
{
    struct emitted *emitted = user;
    emitted->footprints++;
    emitted->exact &= footprint->exact;
    emitted->misshapen |= !is_shaped(footprint);
    if (footprint->bytes == ACCESS_WHOLE) {
        emitted->exact = false;
        cover_bytes(emitted, LOW, HIGH - LOW);
    } else if (footprint->bytes == ACCESS_TO_END) {
        emitted->exact = false;
        cover_bytes(emitted, footprint->offset, HIGH - LOW);
    } else {
        cover(emitted, footprint, footprint->dim_count, footprint->offset);
    }
}

/* ---- Checks ---- */

static void print_form(const struct affine_form *form)
{
    print_message("%lld", (long long)form->constant);
    for (uint32_t i = 0; i < form->count; i++)
        print_message(" %+lld*i%u", (long long)form->terms[i].coefficient, form->terms[i].index);
}

static void print_constraints(const struct constraints *s)
{
    for (uint32_t i = 0; i < s->indices.count; i++)
        print_message("  i%u in %lld..%lld\n", i, (long long)s->indices.ranges[i].low,
                      (long long)s->indices.ranges[i].high);
    for (uint32_t d = 0; d < s->indices.division_count; d++) {
        const struct division *division = &s->indices.divisions[d];
        print_message("  i%u = floor(", division->quotient);
        print_form(&division->form);
        print_message(" / %lld), i%u the rest\n", (long long)division->modulus,
                      division->remainder);
    }
    for (uint32_t i = 0; i < s->when.count; i++) {
        print_message("  when ");
        print_form(s->when.constraints[i]);
        print_message(" >= 0\n");
    }
    print_message("  %llu bytes at ", (unsigned long long)s->bytes);
    print_form(&s->address);
    print_message("\n");
}

static void print_footprint(void *user, const struct footprint *footprint)
{
    (void)user;
    print_message("  -> %lld bytes %lld", (long long)footprint->offset,
                  (long long)footprint->bytes);
    for (uint32_t d = 0; d < footprint->dim_count; d++)
        print_message(" x%llu by %lld", (unsigned long long)footprint->dims[d].count,
                      (long long)footprint->dims[d].stride);
    print_message("%s\n", footprint->exact ? "" : " inexact");
}

static uint32_t budget_given = FOOTPRINT_BUDGET;

static void find(const struct constraints *s, const struct conjunction *when,
                 footprint_emit *called, void *user)
{
    uint32_t budget = budget_given;
    footprint_find(&s->address, when, &s->indices, s->bytes, &budget, called, user);
    assert_true(budget <= budget_given);
}

static void fail_constraints(const struct constraints *s, const char *why, int64_t where)
{
    print_constraints(s);
    find(s, &s->when, print_footprint, NULL);
    fail_msg("%s at %lld", why, (long long)where);
}

/* Whether it came out exact. */
static bool check_constraints(const struct constraints *s)
{
    struct emitted emitted = {.exact = true};
    struct interval hull = affine_interval(&s->address, &s->indices);
    first = hull.low;
    end = hull.high + (int64_t)s->bytes;
    assert_true(first >= LOW && end <= HIGH);
    memset(touched + first - LOW, 0, (size_t)(end - first));
    memset(covered + first - LOW, 0, (size_t)(end - first));
    touch_all(s);
    find(s, &s->when, emit, &emitted);
    for (int64_t at = first; at < end; at++) {
        if (touched[at - LOW] && !covered[at - LOW])
            fail_constraints(s, "a touched byte was lost", at);
        if (emitted.exact && covered[at - LOW] && !touched[at - LOW])
            fail_constraints(s, "exact, but untouched", at);
    }
    if (emitted.exact && emitted.outside)
        fail_constraints(s, "exact, but outside of all values", first);
    if (emitted.misshapen)
        fail_constraints(s, "dimensions not in the promised shape", 0);
    return emitted.exact;
}

/* ---- Random systems ---- */

static struct affine_form random_form(uint32_t indices, uint32_t terms, const int64_t *coefficients,
                                      size_t count)
{
    struct affine_form form = affine_constant(0);
    while (terms-- > 0) {
        struct affine_form term =
            affine_index((uint32_t)between(0, indices - 1), coefficients[(size_t)rand() % count]);
        assert_true(affine_add(&form, &form, &term, 1));
    }
    return form;
}

static struct affine_form random_address(const struct constraints *s)
{
    static const int64_t coefficients[] = {1,  1,  2,  4,   4, 8,  12, 16,
                                           32, 64, 40, 100, 7, -1, -4, -8};
    struct affine_form form = random_form(s->indices.count, (uint32_t)between(1, 4), coefficients,
                                          sizeof coefficients / sizeof *coefficients);
    form.constant = between(-50, 50);
    return form;
}

static struct affine_form random_constraint(const struct constraints *s)
{
    static const int64_t coefficients[] = {1, 1, 1, -1, -1, -1, 2, -2, 3, -4, 8, -16};
    struct affine_form form = random_form(s->indices.count, (uint32_t)between(1, 3), coefficients,
                                          sizeof coefficients / sizeof *coefficients);
    struct interval interval = affine_interval(&form, &s->indices);
    form.constant = -between(interval.low, interval.high);
    return form;
}

/* As the analysis makes them: each divides what there is so far. */
static void add_division(struct constraints *s)
{
    static const int64_t coefficients[] = {1, 1, 1, 2, 3, 8, 16, -1};
    struct division *division = &s->indices.divisions[s->indices.division_count];
    division->form = random_form(s->indices.count, (uint32_t)between(1, 3), coefficients,
                                 sizeof coefficients / sizeof *coefficients);
    division->form.constant = between(0, 3) ? 0 : between(-5, 5);
    division->modulus = between(2, 9);
    struct interval interval = affine_interval(&division->form, &s->indices);
    int64_t low =
        interval.low - (interval.low % division->modulus + division->modulus) % division->modulus;
    int64_t high =
        interval.high - (interval.high % division->modulus + division->modulus) % division->modulus;
    division->quotient = index_add(&s->indices, low / division->modulus, high / division->modulus);
    division->remainder = index_add(&s->indices, 0, division->modulus - 1);
    s->indices.division_count++;
}

/* False: its conditions were seen not to hold anywhere, or its addresses go too far. */
static bool random_constraints(struct constraints *s, bool divided)
{
    static const uint64_t widths[] = {1, 2, 4, 4, 4, 8, 8, 3};
    int64_t points = 1;
    bool exact = true;
    memset(s, 0, sizeof *s);
    s->basic_count = (uint32_t)between(1, BASIC_MAX);
    for (uint32_t i = 0; i < s->basic_count; i++) {
        int64_t count = between(1, i < 2 ? 40 : 6), low = between(0, 2) ? 0 : between(-9, 9);
        while (points * count > POINTS)
            count = (count + 1) / 2;
        points *= count;
        index_add(&s->indices, low, low + count - 1);
    }
    for (int64_t d = divided ? between(1, DIVISIONS_MAX) : 0; d > 0; d--)
        add_division(s);
    s->address = random_address(s);
    struct interval hull = affine_interval(&s->address, &s->indices);
    if (hull.low < LOW || hull.high + 8 > HIGH)
        return false;
    s->bytes = widths[rand() % 8];
    for (int64_t i = between(0, 4); i > 0; i--) {
        struct affine_form constraint = random_constraint(s);
        if (!conjunction_add(&s->when, &constraint, &s->indices, &pool, &exact))
            return false;
    }
    return true;
}

/* At least so many percent are exact: a fall would be a loss that no kernel may show. */
static void check_random_constraint_sets(uint32_t seed, bool divided, uint32_t rounds,
                                         uint32_t percent)
{
    struct constraints s;
    uint32_t checked = 0, exact = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        srand(seed + round);
        pool.used = 0;
        if (!random_constraints(&s, divided))
            continue;
        checked++;
        exact += check_constraints(&s);
    }
    print_message("%u systems, %u of them exact\n", checked, exact);
    assert_true(checked > rounds / 2);
    assert_true(100 * exact > percent * checked);
}

static void random_constraint_sets(void **state)
{
    (void)state;
    check_random_constraint_sets(1, false, ROUNDS / 2, 95);
}

static void random_divided_constraint_sets(void **state)
{
    (void)state;
    check_random_constraint_sets(1000000, true, ROUNDS / 2, 80);
}

/* ---- What kernels do ---- */

static void start(struct constraints *s, uint64_t bytes)
{
    pool.used = 0;
    memset(s, 0, sizeof *s);
    s->bytes = bytes;
}

static uint32_t basic(struct constraints *s, int64_t low, int64_t high)
{
    s->basic_count++;
    return index_add(&s->indices, low, high);
}

static void put(struct affine_form *form, uint32_t index, int64_t coefficient)
{
    struct affine_form term = affine_index(index, coefficient);
    assert_true(affine_add(form, form, &term, 1));
}

static void require(struct constraints *s, const struct affine_form *form)
{
    bool exact = true;
    assert_true(conjunction_add(&s->when, form, &s->indices, &pool, &exact));
    assert_true(exact);
}

static struct footprint only;
static uint32_t emitted_count;

static void emit_only(void *user, const struct footprint *footprint)
{
    (void)user;
    only = *footprint;
    emitted_count++;
}

static void assert_one_exact(const struct constraints *s, uint32_t dims, int64_t offset,
                             uint64_t bytes)
{
    assert_true(check_constraints(s));
    emitted_count = 0;
    find(s, &s->when, emit_only, NULL);
    assert_int_equal(emitted_count, 1);
    assert_int_equal(only.dim_count, dims);
    assert_int_equal(only.offset, offset);
    assert_int_equal(only.bytes, bytes);
}

/* i = 32 * block + thread < 1000: a[i] */
static void guarded_row_is_one_range(void **state)
{
    (void)state;
    struct constraints s;
    start(&s, 4);
    uint32_t block = basic(&s, 0, 39), thread = basic(&s, 0, 31);
    put(&s.address, block, 128);
    put(&s.address, thread, 4);
    struct affine_form guard = affine_constant(999);
    put(&guard, block, -32);
    put(&guard, thread, -1);
    require(&s, &guard);
    assert_one_exact(&s, 0, 0, 4000);
}

/* x < 13, y < 7 in an image 40 wide, by blocks of 8 * 4: rows stay rows. */
static void guarded_tile_has_two_dimensions(void **state)
{
    (void)state;
    struct constraints s;
    start(&s, 4);
    uint32_t block_x = basic(&s, 0, 1), block_y = basic(&s, 0, 1);
    uint32_t x = basic(&s, 0, 7), y = basic(&s, 0, 3);
    struct affine_form guard_x = affine_constant(12), guard_y = affine_constant(6);
    put(&s.address, block_x, 32);
    put(&s.address, x, 4);
    put(&s.address, block_y, 4 * 160);
    put(&s.address, y, 160);
    put(&guard_x, block_x, -8);
    put(&guard_x, x, -1);
    put(&guard_y, block_y, -4);
    put(&guard_y, y, -1);
    require(&s, &guard_x);
    require(&s, &guard_y);
    assert_one_exact(&s, 1, 0, 52);
    assert_int_equal(only.dims[0].stride, 160);
    assert_int_equal(only.dims[0].count, 7);
}

/* j <= i < 12 in rows of 40: a row of each length, all of them found. */
static void triangle_is_exact(void **state)
{
    (void)state;
    struct constraints s;
    start(&s, 4);
    uint32_t i = basic(&s, 0, 11), j = basic(&s, 0, 11);
    struct affine_form below = affine_constant(0);
    put(&s.address, i, 160);
    put(&s.address, j, 4);
    put(&below, i, 1);
    put(&below, j, -1);
    require(&s, &below);
    assert_true(check_constraints(&s));
}

/* Nothing holds: nothing is emitted. */
static void contradiction_is_empty(void **state)
{
    (void)state;
    struct constraints s;
    start(&s, 4);
    uint32_t i = basic(&s, 0, 9), j = basic(&s, 0, 9);
    struct affine_form more = affine_constant(-12), less = affine_constant(11);
    put(&s.address, i, 4);
    put(&more, i, 1); /* i + j >= 12 > 11 >= i + 2j - j */
    put(&more, j, 1);
    put(&less, i, -1);
    put(&less, j, -2);
    require(&s, &more);
    require(&s, &less);
    struct emitted emitted = {.exact = true};
    find(&s, &s.when, emit, &emitted);
    assert_int_equal(emitted.footprints, 0);
}

/* Whatever is left of the budget, no byte is lost. */
static void small_budget_is_wider(void **state)
{
    (void)state;
    struct constraints s;
    start(&s, 4);
    uint32_t i = basic(&s, 0, 9), j = basic(&s, 0, 9);
    struct affine_form triangle = affine_constant(0);
    put(&s.address, i, 4);
    put(&s.address, j, 100);
    put(&triangle, i, 1);
    put(&triangle, j, -1);
    require(&s, &triangle);
    for (budget_given = 0; budget_given < 20; budget_given++)
        assert_int_equal(check_constraints(&s), budget_given >= 11);
    budget_given = FOOTPRINT_BUDGET;
}

/* The address is i again, put together from i / 8 and i % 8. */
static void split_index_is_whole_again(void **state)
{
    (void)state;
    struct constraints s;
    start(&s, 4);
    uint32_t i = basic(&s, 0, 99);
    uint32_t quotient = index_add(&s.indices, 0, 12), remainder = index_add(&s.indices, 0, 7);
    s.indices.divisions[s.indices.division_count++] =
        (struct division){affine_index(i, 1), 8, quotient, remainder};
    put(&s.address, quotient, 32);
    put(&s.address, remainder, 4);
    assert_one_exact(&s, 0, 0, 400);
}

/* The transpose of 6 rows of 8: a column for each remainder, the same bytes in another order. */
static void transposed_index_is_exact(void **state)
{
    (void)state;
    struct constraints s;
    start(&s, 8);
    uint32_t i = basic(&s, 0, 47);
    uint32_t quotient = index_add(&s.indices, 0, 5), remainder = index_add(&s.indices, 0, 7);
    s.indices.divisions[s.indices.division_count++] =
        (struct division){affine_index(i, 1), 8, quotient, remainder};
    put(&s.address, quotient, 8);
    put(&s.address, remainder, 48);
    assert_one_exact(&s, 0, 0, 384);
}

static void unbounded_index_is_open(void **state)
{
    (void)state;
    struct constraints s;
    start(&s, 4);
    uint32_t i = basic(&s, 0, AFFINE_INFINITE), j = basic(&s, -AFFINE_INFINITE, 0);
    s.address = affine_constant(16);
    put(&s.address, i, 4);
    emitted_count = 0;
    find(&s, NULL, emit_only, NULL);
    assert_int_equal(emitted_count, 1);
    assert_int_equal(only.offset, 16);
    assert_true(only.bytes == ACCESS_TO_END && !only.exact);
    put(&s.address, j, 4);
    find(&s, NULL, emit_only, NULL);
    assert_int_equal(emitted_count, 2);
    assert_true(only.bytes == ACCESS_WHOLE && !only.exact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guarded_row_is_one_range),
        cmocka_unit_test(guarded_tile_has_two_dimensions),
        cmocka_unit_test(triangle_is_exact),
        cmocka_unit_test(contradiction_is_empty),
        cmocka_unit_test(small_budget_is_wider),
        cmocka_unit_test(split_index_is_whole_again),
        cmocka_unit_test(transposed_index_is_exact),
        cmocka_unit_test(unbounded_index_is_open),
        cmocka_unit_test(random_constraint_sets),
        cmocka_unit_test(random_divided_constraint_sets),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
