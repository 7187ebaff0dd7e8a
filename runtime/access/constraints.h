/* Systems: an affine address and the constraints that its variables are under, each variable within
 * a range of integers. What they become without a change of what the address may be: fewer
 * constraints and variables, tighter ranges; and, where that fails, wider than they are.
 * footprint.c finds the address' values by them.
 *
 * Plain values on their user's stack; nothing is kept. */
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
    struct interval limit; /* of the address, by constraints that are not here any more */
};

static inline int64_t ceiling_divide(int64_t a, int64_t b)
{
    return -floor_divide(-a, b);
}

/* ---- Rows ---- */

/* Between what the row is, but for the part of `without` (CONSTRAINTS_VARIABLES: of none). */
struct interval row_interval(const struct constraints *s, const struct row *row, uint32_t without);
/* row += scale * other; false on overflow */
bool row_add(struct row *row, const struct row *other, int64_t scale);
/* Whether a = k * b on b's variables: *k, and 1 or -1 for constraints. */
bool row_is_multiple(const struct constraints *s, const struct row *a, const struct row *b,
                     int64_t *k);
/* Every integer between its least and greatest value: the row's divisor is 1. */
bool row_is_dense(const struct constraints *s, const struct row *row);

/* ---- Systems ---- */

bool constraints_is_bounded(const struct constraints *s, uint32_t v);
/* Leaves a constraint out. The last takes its place. */
void constraints_drop(struct constraints *s, uint32_t constraint);
/* Tightens ranges and removes constraints that always hold. False: nothing satisfies all
 * constraints. */
bool constraints_simplify(struct constraints *s);
/* Takes a variable out that the address has no part of; false: none can be. */
bool constraints_eliminate(struct constraints *s);
/* The constraint's variables become one, the constraint's own sum, where nothing needs them apart.
 */
bool constraints_fuse(struct constraints *s, uint32_t constraint);
/* Wider than it is: only bounds of the address remain. */
void constraints_drop_all(struct constraints *s);

#endif
