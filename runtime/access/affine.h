/* Affine forms: constant + sum of coefficient * index. Addresses and guards become such forms once
 * a launch's numbers replace parameters, grid and block. An index is a thread's or block's
 * coordinate, a loop's counter, a quotient or remainder, or a value from memory of which only
 * bounds are known.
 *
 *   constraint      a form that must be at least 0
 *   conjunction     constraints that all hold
 *   disjunction     conjunctions of which at least one holds: a condition
 *
 * Forms are plain values. What is kept lies in the evaluation's pool and does not change. */
#ifndef RUNTIME_ACCESS_AFFINE_H
#define RUNTIME_ACCESS_AFFINE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AFFINE_TERMS = 10, AFFINE_INDICES = 192, AFFINE_CONSTRAINTS = 14, AFFINE_CONJUNCTIONS = 8 };

/* Memory of one evaluation, of fixed size. When it is used up, the evaluation's budget is, too. */
struct pool {
    char *memory;
    size_t used, bytes;
    jmp_buf *exhausted;
};

static inline void *pool_allocate(struct pool *pool, size_t bytes)
{
    size_t at = pool->used;
    bytes = (bytes + 7) & ~(size_t)7;
    if (bytes > pool->bytes - at)
        longjmp(*pool->exhausted, 1);
    pool->used = at + bytes;
    return pool->memory + at;
}

/* Bounds beyond this are no bounds. */
#define AFFINE_INFINITE ((int64_t)1 << 61)

/* The quotient, rounded towards minus infinity. */
static inline int64_t floor_divide(int64_t a, int64_t b)
{
    int64_t quotient = a / b;
    return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

struct term {
    uint32_t index;
    int64_t coefficient; /* never 0 */
};

struct affine_form {
    int64_t constant;
    uint32_t count;
    struct term terms[AFFINE_TERMS]; /* ascending by index */
};

struct interval {
    int64_t low, high; /* inclusive; at or beyond +-AFFINE_INFINITE: no bound */
};

/* The values that an index may have: all integers from low to high. */
struct index_range {
    int64_t low, high;
    uint8_t bound; /* enum access_bound: not EXACT if it may have only some of these values */
    uint32_t line; /* if not exact: its place in the PTX text */
    uint32_t loop; /* if not exact: the innermost loop in whose rounds its value differs */
};

/* quotient and remainder of a form: form == modulus * quotient + remainder, 0 <= remainder <
 * modulus
 */
struct division {
    struct affine_form form;
    int64_t modulus;
    uint32_t quotient, remainder; /* indices */
};

/* The indices of one evaluation. */
struct index_table {
    struct index_range ranges[AFFINE_INDICES];
    uint32_t count;
    struct division divisions[32]; /* in the order they were made */
    uint32_t division_count;
};

struct conjunction {
    uint32_t count;
    const struct affine_form *constraints[AFFINE_CONSTRAINTS];
};

struct disjunction {
    uint32_t count; /* 0: never */
    const struct conjunction *items[AFFINE_CONJUNCTIONS];
};

static inline struct affine_form affine_constant(int64_t constant)
{
    struct affine_form form;
    form.constant = constant;
    form.count = 0;
    return form;
}

static inline struct affine_form affine_index(uint32_t index, int64_t coefficient)
{
    struct affine_form form;
    form.constant = 0;
    form.count = coefficient != 0;
    form.terms[0] = (struct term){index, coefficient};
    return form;
}

static inline bool affine_is_constant(const struct affine_form *form)
{
    return form->count == 0;
}

/* *result = a + scale * b, modulo 2^64. False when it would have too many terms. */
bool affine_add(struct affine_form *result, const struct affine_form *a,
                const struct affine_form *b, int64_t scale);
/* *result = scale * a + constant, modulo 2^64 */
void affine_scale(struct affine_form *result, const struct affine_form *a, int64_t scale,
                  int64_t constant);
int64_t affine_coefficient(const struct affine_form *form, uint32_t index);
/* The form with `index` replaced. False when it would have too many terms. */
bool affine_substitute(struct affine_form *form, uint32_t index,
                       const struct affine_form *replacement);
bool affine_same_terms(const struct affine_form *a, const struct affine_form *b);
static inline bool affine_equal(const struct affine_form *a, const struct affine_form *b)
{
    return a->constant == b->constant && affine_same_terms(a, b);
}
/* All values it can take. */
struct interval affine_interval(const struct affine_form *form, const struct index_table *indices);
static inline bool interval_is_finite(struct interval interval)
{
    return interval.low > -AFFINE_INFINITE && interval.high < AFFINE_INFINITE;
}
/* The greatest common divisor of the coefficients; 0 for a constant. */
int64_t affine_divisor(const struct affine_form *form);
/* Whether the form takes every multiple of its divisor from its least value to its greatest. */
bool affine_is_dense(const struct affine_form *form, const struct index_table *indices);

/* A new index, or UINT32_MAX when there are too many. */
uint32_t index_add(struct index_table *indices, int64_t low, int64_t high);

/* A copy in the pool. */
const struct affine_form *affine_keep(struct pool *pool, const struct affine_form *form);

/* Adds a constraint. The result never excludes points that satisfy both. If there is no room for
 * the new constraint, it is left out and *exact becomes false. Returns false if the conjunction
 * cannot hold (its content is then meaningless). */
bool conjunction_add(struct conjunction *conjunction, const struct affine_form *constraint,
                     const struct index_table *indices, struct pool *pool, bool *exact);
/* Adds all of another's. */
bool conjunction_add_all(struct conjunction *conjunction, const struct conjunction *more,
                         const struct index_table *indices, struct pool *pool, bool *exact);
struct conjunction *conjunction_new(struct pool *pool, const struct conjunction *from);
/* Whether form >= 0 follows. It may be false although it follows. */
bool conjunction_implies(const struct conjunction *conjunction,
                         const struct affine_form *constraint, const struct index_table *indices);

struct disjunction disjunction_always(struct pool *pool);
static inline struct disjunction disjunction_never(void)
{
    return (struct disjunction){.count = 0};
}
/* Whether it has a conjunction without constraints, so that it always holds. */
bool disjunction_is_always(const struct disjunction *disjunction);
/* Both hold; either holds. If there is no room for the result, it is wider and *exact becomes
 * false. */
struct disjunction disjunction_and(const struct disjunction *a, const struct disjunction *b,
                                   const struct index_table *indices, struct pool *pool,
                                   bool *exact);
struct disjunction disjunction_or(const struct disjunction *a, const struct disjunction *b,
                                  const struct index_table *indices, struct pool *pool,
                                  bool *exact);
/* One constraint as a condition. */
struct disjunction disjunction_of(const struct affine_form *constraint,
                                  const struct index_table *indices, struct pool *pool);

#endif
