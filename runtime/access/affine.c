/* Affine forms and conditions on them. See affine.h. */
#include "runtime/access/affine.h"

#include <string.h>

/* ---- Forms ---- */

static int64_t wrapping_multiply(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t wrapping_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

bool affine_add(struct affine_form *result, const struct affine_form *a,
                const struct affine_form *b, int64_t scale)
{
    struct affine_form sum =
        affine_constant(wrapping_add(a->constant, wrapping_multiply(b->constant, scale)));
    uint32_t i = 0, j = 0;
    if (!scale) {
        *result = *a;
        return true;
    }
    while (i < a->count || j < b->count) {
        struct term term;
        if (j == b->count || (i < a->count && a->terms[i].index < b->terms[j].index)) {
            term = a->terms[i++];
        } else {
            term = b->terms[j++];
            term.coefficient = wrapping_multiply(term.coefficient, scale);
            if (i < a->count && a->terms[i].index == term.index)
                term.coefficient = wrapping_add(term.coefficient, a->terms[i++].coefficient);
        }
        if (!term.coefficient)
            continue;
        if (sum.count == AFFINE_TERMS)
            return false;
        sum.terms[sum.count++] = term;
    }
    *result = sum;
    return true;
}

void affine_scale(struct affine_form *result, const struct affine_form *a, int64_t scale,
                  int64_t constant)
{
    struct affine_form scaled =
        affine_constant(wrapping_add(wrapping_multiply(a->constant, scale), constant));
    for (uint32_t i = 0; i < a->count; i++) {
        int64_t coefficient = wrapping_multiply(a->terms[i].coefficient, scale);
        if (coefficient)
            scaled.terms[scaled.count++] = (struct term){a->terms[i].index, coefficient};
    }
    *result = scaled;
}

int64_t affine_coefficient(const struct affine_form *form, uint32_t index)
{
    for (uint32_t i = 0; i < form->count; i++)
        if (form->terms[i].index == index)
            return form->terms[i].coefficient;
    return 0;
}

bool affine_substitute(struct affine_form *form, uint32_t index,
                       const struct affine_form *replacement)
{
    int64_t coefficient = affine_coefficient(form, index);
    if (!coefficient)
        return true;
    struct affine_form without = *form, minus = affine_index(index, coefficient);
    return affine_add(&without, &without, &minus, -1) &&
           affine_add(form, &without, replacement, coefficient);
}

bool affine_same_terms(const struct affine_form *a, const struct affine_form *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->terms[i].index != b->terms[i].index ||
            a->terms[i].coefficient != b->terms[i].coefficient)
            return false;
    return true;
}

static int64_t clamp(__int128 value)
{
    if (value > AFFINE_INFINITE)
        return AFFINE_INFINITE;
    if (value < -AFFINE_INFINITE)
        return -AFFINE_INFINITE;
    return (int64_t)value;
}

struct interval affine_interval(const struct affine_form *form, const struct index_table *indices)
{
    __int128 low = form->constant, high = form->constant;
    bool open_low = false, open_high = false;
    for (uint32_t i = 0; i < form->count; i++) {
        const struct index_range *range = &indices->ranges[form->terms[i].index];
        __int128 coefficient = form->terms[i].coefficient;
        bool up = coefficient > 0;
        int64_t least = up ? range->low : range->high, most = up ? range->high : range->low;
        open_low |= least <= -AFFINE_INFINITE || least >= AFFINE_INFINITE;
        open_high |= most <= -AFFINE_INFINITE || most >= AFFINE_INFINITE;
        low += coefficient * least;
        high += coefficient * most;
    }
    return (struct interval){open_low ? -AFFINE_INFINITE : clamp(low),
                             open_high ? AFFINE_INFINITE : clamp(high)};
}

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

int64_t affine_divisor(const struct affine_form *form)
{
    uint64_t divisor = 0;
    for (uint32_t i = 0; i < form->count; i++) {
        uint64_t other = magnitude(form->terms[i].coefficient);
        while (other) {
            uint64_t rest = divisor % other;
            divisor = other;
            other = rest;
        }
    }
    return (int64_t)divisor;
}

bool affine_is_dense(const struct affine_form *form, const struct index_table *indices)
{
    uint64_t divisor = (uint64_t)affine_divisor(form);
    bool used[AFFINE_TERMS] = {false};
    unsigned __int128 reach = divisor; /* every multiple of the divisor below this is taken */
    for (uint32_t done = 0; done < form->count; done++) {
        uint32_t least = 0;
        while (used[least])
            least++;
        for (uint32_t i = least + 1; i < form->count; i++)
            if (!used[i] &&
                magnitude(form->terms[i].coefficient) < magnitude(form->terms[least].coefficient))
                least = i;
        used[least] = true;
        const struct index_range *range = &indices->ranges[form->terms[least].index];
        uint64_t step = magnitude(form->terms[least].coefficient);
        if (range->low <= -AFFINE_INFINITE || range->high >= AFFINE_INFINITE || step > reach)
            return false;
        reach += (unsigned __int128)step * (uint64_t)(range->high - range->low);
    }
    return true;
}

uint32_t index_add(struct index_table *indices, int64_t low, int64_t high)
{
    if (indices->count == AFFINE_INDICES)
        return UINT32_MAX;
    indices->ranges[indices->count] = (struct index_range){.low = low, .high = high};
    return indices->count++;
}

/* ---- Conjunctions ---- */

/* a = -b but for the constant */
static bool affine_opposite_terms(const struct affine_form *a, const struct affine_form *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->terms[i].index != b->terms[i].index ||
            a->terms[i].coefficient != -b->terms[i].coefficient)
            return false;
    return true;
}

const struct affine_form *affine_keep(struct pool *pool, const struct affine_form *form)
{
    size_t bytes = offsetof(struct affine_form, terms) + form->count * sizeof form->terms[0];
    struct affine_form *kept = pool_allocate(pool, bytes);
    memcpy(kept, form, bytes);
    return kept;
}

bool conjunction_add(struct conjunction *conjunction, const struct affine_form *constraint,
                     const struct index_table *indices, struct pool *pool, bool *exact)
{
    struct interval interval = affine_interval(constraint, indices);
    if (interval.high < 0)
        return false;
    if (interval.low >= 0)
        return true;
    const struct affine_form **same = NULL;
    for (uint32_t i = 0; i < conjunction->count; i++) {
        const struct affine_form *other = conjunction->constraints[i];
        if (affine_same_terms(other, constraint))
            same = &conjunction->constraints[i];
        /* f + a >= 0 and -f + b >= 0 want a + b >= 0 */
        if (affine_opposite_terms(other, constraint) &&
            (__int128)other->constant + constraint->constant < 0)
            return false;
    }
    if (same) { /* the tighter of two */
        if (constraint->constant < (*same)->constant)
            *same = affine_keep(pool, constraint);
        return true;
    }
    if (conjunction->count == AFFINE_CONSTRAINTS) {
        *exact = false;
        return true;
    }
    conjunction->constraints[conjunction->count++] = affine_keep(pool, constraint);
    return true;
}

bool conjunction_add_all(struct conjunction *conjunction, const struct conjunction *more,
                         const struct index_table *indices, struct pool *pool, bool *exact)
{
    for (uint32_t i = 0; i < more->count; i++)
        if (!conjunction_add(conjunction, more->constraints[i], indices, pool, exact))
            return false;
    return true;
}

/* The interval of a - b; unknown where the difference wraps around. */
static struct interval difference_interval(const struct affine_form *a, const struct affine_form *b,
                                           const struct index_table *indices)
{
    const struct interval unknown = {-AFFINE_INFINITE, AFFINE_INFINITE};
    struct affine_form difference;
    int64_t checked;
    if (__builtin_sub_overflow(a->constant, b->constant, &checked))
        return unknown;
    for (uint32_t i = 0; i < b->count; i++)
        if (__builtin_sub_overflow(affine_coefficient(a, b->terms[i].index),
                                   b->terms[i].coefficient, &checked))
            return unknown;
    return affine_add(&difference, a, b, -1) ? affine_interval(&difference, indices) : unknown;
}

/* a * quotient + constant >= 0 as a constraint on what was divided: quotient >= n when that is at
 * least n * modulus, quotient <= n when it is below (n + 1) * modulus. False: it is not like that,
 * or the numbers are too large. */
static bool of_quotient(const struct affine_form *constraint, const struct index_table *indices,
                        struct affine_form *divided)
{
    const struct division *division = NULL;
    if (constraint->count != 1)
        return false;
    for (uint32_t d = 0; d < indices->division_count && !division; d++)
        if (indices->divisions[d].quotient == constraint->terms[0].index)
            division = &indices->divisions[d];
    if (!division)
        return false;
    int64_t coefficient = constraint->terms[0].coefficient, constant, limit;
    bool at_least = coefficient > 0;
    if (coefficient == INT64_MIN || constraint->constant == INT64_MIN)
        return false;
    constant = at_least ? -constraint->constant : constraint->constant;
    coefficient = at_least ? coefficient : -coefficient;
    int64_t n = constant / coefficient; /* up for the least, down for the greatest */
    if (constant % coefficient && (at_least == (constant > 0)))
        n += at_least ? 1 : -1;
    if (__builtin_mul_overflow(at_least ? n : n + 1, division->modulus, &limit) ||
        limit > AFFINE_INFINITE || limit < -AFFINE_INFINITE)
        return false;
    affine_scale(divided, &division->form, at_least ? 1 : -1, at_least ? -limit : limit - 1);
    return true;
}

bool conjunction_implies(const struct conjunction *conjunction,
                         const struct affine_form *constraint, const struct index_table *indices)
{
    struct affine_form divided;
    if (affine_interval(constraint, indices).low >= 0)
        return true;
    for (uint32_t i = 0; i < conjunction->count; i++)
        if (difference_interval(constraint, conjunction->constraints[i], indices).low >= 0)
            return true;
    /* a quotient is a newer index than those of what was divided: this ends */
    return of_quotient(constraint, indices, &divided) &&
           conjunction_implies(conjunction, &divided, indices);
}

/* Every constraint of b follows from a. */
static bool conjunction_implies_all(const struct conjunction *a, const struct conjunction *b,
                                    const struct index_table *indices)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (!conjunction_implies(a, b->constraints[i], indices))
            return false;
    return true;
}

/* ---- Disjunctions ---- */

struct conjunction *conjunction_new(struct pool *pool, const struct conjunction *from)
{
    struct conjunction *copy = pool_allocate(pool, sizeof *copy);
    copy->count = from ? from->count : 0;
    if (from)
        memcpy(copy->constraints, from->constraints, from->count * sizeof(from->constraints[0]));
    return copy;
}

struct disjunction disjunction_always(struct pool *pool)
{
    struct disjunction always;
    always.count = 1;
    always.items[0] = conjunction_new(pool, NULL);
    return always;
}

bool disjunction_is_always(const struct disjunction *disjunction)
{
    for (uint32_t i = 0; i < disjunction->count; i++)
        if (disjunction->items[i]->count == 0)
            return true;
    return false;
}

struct disjunction disjunction_of(const struct affine_form *constraint,
                                  const struct index_table *indices, struct pool *pool)
{
    struct disjunction result = disjunction_never();
    bool exact = true;
    struct conjunction *only = conjunction_new(pool, NULL);
    if (conjunction_add(only, constraint, indices, pool, &exact))
        result.items[result.count++] = only;
    return result;
}

/* Adds a conjunction unless one that is there already covers it; drops those it covers. */
static bool disjunction_put(struct disjunction *result, const struct conjunction *item,
                            const struct index_table *indices)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < result->count; i++)
        if (conjunction_implies_all(item, result->items[i], indices))
            return true;
    for (uint32_t i = 0; i < result->count; i++)
        if (!conjunction_implies_all(result->items[i], item, indices))
            result->items[kept++] = result->items[i];
    result->count = kept;
    if (kept == AFFINE_CONJUNCTIONS)
        return false;
    result->items[result->count++] = item;
    return true;
}

static bool implied_by_all(const struct disjunction *disjunction,
                           const struct affine_form *constraint, const struct index_table *indices)
{
    for (uint32_t i = 0; i < disjunction->count; i++)
        if (!conjunction_implies(disjunction->items[i], constraint, indices))
            return false;
    return true;
}

/* Adds the constraints of a that follow from every item of a and of b. */
static void add_common(struct conjunction *common, const struct disjunction *a,
                       const struct disjunction *b, const struct index_table *indices,
                       struct pool *pool)
{
    bool exact;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < a->items[i]->count; k++) {
            const struct affine_form *constraint = a->items[i]->constraints[k];
            if (implied_by_all(a, constraint, indices) && implied_by_all(b, constraint, indices))
                conjunction_add(common, constraint, indices, pool, &exact);
        }
}

/* One conjunction that holds where either does. */
static struct disjunction disjunction_hull(const struct disjunction *a, const struct disjunction *b,
                                           const struct index_table *indices, struct pool *pool)
{
    struct disjunction hull = disjunction_never();
    struct conjunction *common = conjunction_new(pool, NULL);
    add_common(common, a, b, indices, pool);
    add_common(common, b, a, indices, pool);
    hull.items[hull.count++] = common;
    return hull;
}

struct disjunction disjunction_and(const struct disjunction *a, const struct disjunction *b,
                                   const struct index_table *indices, struct pool *pool,
                                   bool *exact)
{
    struct disjunction result = disjunction_never();
    if (a->count == 1 && a->items[0]->count == 0)
        return *b;
    if (b->count == 1 && b->items[0]->count == 0)
        return *a;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; j < b->count; j++) {
            struct conjunction *both = conjunction_new(pool, a->items[i]);
            if (conjunction_add_all(both, b->items[j], indices, pool, exact) &&
                !disjunction_put(&result, both, indices)) {
                *exact = false; /* wider: with what all of b says */
                struct disjunction hull = disjunction_hull(b, b, indices, pool);
                return disjunction_and(a, &hull, indices, pool, exact);
            }
        }
    return result;
}

/* a and b are the two halves of a case distinction (f >= 0, -f - 1 >= 0) under the same other
 * constraints: together they are those others. */
static const struct conjunction *conjunction_join_halves(const struct conjunction *a,
                                                         const struct conjunction *b,
                                                         const struct index_table *indices,
                                                         struct pool *pool)
{
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; j < b->count; j++) {
            if (!affine_opposite_terms(a->constraints[i], b->constraints[j]) ||
                (__int128)a->constraints[i]->constant + b->constraints[j]->constant < -1)
                continue;
            struct conjunction *rest_a = conjunction_new(pool, a);
            struct conjunction *rest_b = conjunction_new(pool, b);
            rest_a->constraints[i] = rest_a->constraints[--rest_a->count];
            rest_b->constraints[j] = rest_b->constraints[--rest_b->count];
            if (conjunction_implies_all(rest_a, rest_b, indices) &&
                conjunction_implies_all(rest_b, rest_a, indices))
                return rest_a;
        }
    return NULL;
}

struct disjunction disjunction_or(const struct disjunction *a, const struct disjunction *b,
                                  const struct index_table *indices, struct pool *pool, bool *exact)
{
    struct disjunction result = *a;
    for (uint32_t j = 0; j < b->count; j++) {
        const struct conjunction *item = b->items[j];
        for (uint32_t i = 0; i < result.count; i++) {
            const struct conjunction *joined =
                conjunction_join_halves(result.items[i], item, indices, pool);
            if (!joined)
                continue;
            result.items[i] = result.items[--result.count];
            item = joined;
            i = UINT32_MAX; /* with the new one from the start */
        }
        if (!disjunction_put(&result, item, indices)) {
            *exact = false;
            return disjunction_hull(a, b, indices, pool);
        }
    }
    return result;
}
