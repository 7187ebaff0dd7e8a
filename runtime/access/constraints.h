/* Systems: an affine address, and the constraints on its variables, each variable within a range of
 * integers. The functions simplify a system without changing the address's possible values: fewer
 * constraints and variables, tighter ranges. If that fails, they make it wider. footprint.c finds
 * the address's values by them.
 *
 * Plain values on the caller's stack; nothing is kept. */
#ifndef RUNTIME_ACCESS_CONSTRAINTS_H
#define RUNTIME_ACCESS_CONSTRAINTS_H

#include "runtime/access/affine.h"

enum { CONSTRAINTS_VARIABLES = 24, CONSTRAINTS_ROWS = 28 };

/* constant + sum of coefficients * variables */
struct row {
    int64_t constant;
    int64_t coefficients[CONSTRAINTS_VARIABLES];
};

/* All values of `address` where every constraint is at least 0. */
struct constraints {
    uint32_t variable_count, constraint_count;
    int64_t low[CONSTRAINTS_VARIABLES], high[CONSTRAINTS_VARIABLES];
    struct row address;
    struct row constraints[CONSTRAINTS_ROWS];
    bool exact;
    struct interval limit; /* for the address, from constraints that were removed */
};

static inline int64_t ceiling_divide(int64_t a, int64_t b)
{
    return -floor_divide(-a, b);
}

/* ---- Rows ---- */

/* The row's least and greatest value, without the term of `without` (CONSTRAINTS_VARIABLES: of
 * none). */
struct interval row_interval(const struct constraints *s, const struct row *row, uint32_t without);
/* row += scale * other; false on overflow */
bool row_add(struct row *row, const struct row *other, int64_t scale);
/* Whether a = k * b for b's variables. Sets *k, which is 1 or -1 for constraints. */
bool row_is_multiple(const struct constraints *s, const struct row *a, const struct row *b,
                     int64_t *k);
/* Whether it takes every integer between its least and greatest value: the row's divisor is 1. */
bool row_is_dense(const struct constraints *s, const struct row *row);

/* ---- Systems ---- */

bool constraints_is_bounded(const struct constraints *s, uint32_t v);
/* Removes a constraint. The last one takes its place. */
void constraints_drop(struct constraints *s, uint32_t constraint);
/* Tightens ranges and removes constraints that always hold. False: nothing satisfies all
 * constraints. */
bool constraints_simplify(struct constraints *s);
/* Removes a variable that the address does not depend on; false: none can be removed. */
bool constraints_eliminate(struct constraints *s);
/* Replaces the constraint's variables by one, the constraint's sum, if nothing needs them
 * separately. */
bool constraints_fuse(struct constraints *s, uint32_t constraint);
/* Makes it wider: only bounds of the address remain. */
void constraints_drop_all(struct constraints *s);

#endif
