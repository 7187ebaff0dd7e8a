/* Affine forms: constant + sum of coefficient * index, the values that addresses and guards are
 * made of once a launch has put numbers in place of parameters, grid and block. An index is a
 * thread's or block's coordinate, a loop's counter, a quotient or remainder, or a value from memory
 * of which only bounds are known.
 *
 *   constraint      a form that must be at least 0
 *   conjunction     constraints that all hold
 *   disjunction     conjunctions of which at least one holds: a condition
 *
 * Forms are plain values; what is kept lies in the evaluation's pool and is not changed. */
#ifndef RUNTIME_ACCESS_AFFINE_H
#define RUNTIME_ACCESS_AFFINE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FORM_TERMS = 10, FORM_INDICES = 192, FORM_CONSTRAINTS = 14, FORM_CONJUNCTIONS = 8 };

/* Memory of one evaluation, of fixed size: when it is used up, so is the evaluation's budget. */
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
#define FORM_INFINITE ((int64_t)1 << 61)

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

struct form {
    int64_t constant;
    uint32_t count;
    struct term terms[FORM_TERMS]; /* ascending by index */
};

struct interval {
    int64_t low, high; /* inclusive; at or beyond +-FORM_INFINITE: no bound */
};

/* What an index may be: all integers from low to high. */
struct index_range {
    int64_t low, high;
    uint8_t bound; /* enum access_bound: not EXACT when it may take fewer values than these */
    uint32_t line; /* where it comes from in the PTX text, if not exact */
    uint32_t loop; /* if not exact: the innermost loop that it is another value in each round of */
};

/* quotient and remainder of a form: form == modulus * quotient + remainder, 0 <= remainder <
 * modulus
 */
struct division {
    struct form form;
    int64_t modulus;
    uint32_t quotient, remainder; /* indices */
};

/* The indices of one evaluation. */
struct index_table {
    struct index_range ranges[FORM_INDICES];
    uint32_t count;
    struct division divisions[32]; /* in the order they were made */
    uint32_t division_count;
};

struct conjunction {
    uint32_t count;
    const struct form *constraints[FORM_CONSTRAINTS];
};

struct disjunction {
    uint32_t count; /* 0: never */
    const struct conjunction *items[FORM_CONJUNCTIONS];
};

static inline struct form form_constant(int64_t constant)
{
    struct form form;
    form.constant = constant;
    form.count = 0;
    return form;
}

static inline struct form form_index(uint32_t index, int64_t coefficient)
{
    struct form form;
    form.constant = 0;
    form.count = coefficient != 0;
    form.terms[0] = (struct term){index, coefficient};
    return form;
}

static inline bool form_is_constant(const struct form *form)
{
    return form->count == 0;
}

/* *result = a + scale * b, modulo 2^64. False when it would have too many terms. */
bool form_add(struct form *result, const struct form *a, const struct form *b, int64_t scale);
/* *result = scale * a + constant, modulo 2^64 */
void form_scale(struct form *result, const struct form *a, int64_t scale, int64_t constant);
int64_t form_coefficient(const struct form *form, uint32_t index);
/* The form with `index` replaced. False when it would have too many terms. */
bool form_substitute(struct form *form, uint32_t index, const struct form *replacement);
bool form_same_terms(const struct form *a, const struct form *b);
static inline bool form_equal(const struct form *a, const struct form *b)
{
    return a->constant == b->constant && form_same_terms(a, b);
}
/* All values it can take. */
struct interval form_interval(const struct form *form, const struct index_table *indices);
static inline bool interval_is_finite(struct interval interval)
{
    return interval.low > -FORM_INFINITE && interval.high < FORM_INFINITE;
}
/* The greatest common divisor of the coefficients; 0 for a constant. */
int64_t form_divisor(const struct form *form);
/* Whether the form takes every multiple of its divisor (from its least value) up to its greatest.
 */
bool form_is_dense(const struct form *form, const struct index_table *indices);

/* A new index, or UINT32_MAX when there are too many. */
uint32_t index_add(struct index_table *indices, int64_t low, int64_t high);

/* A copy in the pool. */
const struct form *form_keep(struct pool *pool, const struct form *form);

/* Adds a constraint. The result is never for less than what both say: beyond the room for
 * constraints the new one is left out and *exact set to false. Returns false when the conjunction
 * cannot hold (then its content is of no use). */
bool conjunction_add(struct conjunction *conjunction, const struct form *constraint,
                     const struct index_table *indices, struct pool *pool, bool *exact);
/* Adds all of another's. */
bool conjunction_add_all(struct conjunction *conjunction, const struct conjunction *more,
                         const struct index_table *indices, struct pool *pool, bool *exact);
struct conjunction *conjunction_new(struct pool *pool, const struct conjunction *from);
/* Whether form >= 0 follows; may be false although it does. */
bool conjunction_implies(const struct conjunction *conjunction, const struct form *constraint,
                         const struct index_table *indices);

struct disjunction disjunction_always(struct pool *pool);
static inline struct disjunction disjunction_never(void)
{
    struct disjunction never;
    never.count = 0;
    return never;
}
/* No conjunction has a constraint, and there is one. */
bool disjunction_is_always(const struct disjunction *disjunction);
/* Both hold; either holds. When there is no room for the result it is wider and *exact becomes
 * false. */
struct disjunction disjunction_and(const struct disjunction *a, const struct disjunction *b,
                                   const struct index_table *indices, struct pool *pool,
                                   bool *exact);
struct disjunction disjunction_or(const struct disjunction *a, const struct disjunction *b,
                                  const struct index_table *indices, struct pool *pool,
                                  bool *exact);
/* One constraint as a condition. */
struct disjunction disjunction_of(const struct form *constraint, const struct index_table *indices,
                                  struct pool *pool);

#endif
