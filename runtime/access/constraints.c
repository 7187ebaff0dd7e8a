/* Systems of constraints. See constraints.h. */
#include "runtime/access/constraints.h"

#include <string.h>

/* ---- Rows ---- */

struct interval row_interval(const struct constraints *s, const struct row *row, uint32_t without)
{
    __int128 low = row->constant, high = row->constant;
    bool open_low = false, open_high = false;
    for (uint32_t v = 0; v < s->variable_count; v++) {
        if (v == without || !row->coefficients[v])
            continue;
        __int128 c = row->coefficients[v];
        int64_t least = c > 0 ? s->low[v] : s->high[v], most = c > 0 ? s->high[v] : s->low[v];
        open_low |= least <= -AFFINE_INFINITE || least >= AFFINE_INFINITE;
        open_high |= most <= -AFFINE_INFINITE || most >= AFFINE_INFINITE;
        low += c * least;
        high += c * most;
    }
    if (open_low || low < -AFFINE_INFINITE)
        low = -AFFINE_INFINITE;
    if (open_high || high > AFFINE_INFINITE)
        high = AFFINE_INFINITE;
    if (low > AFFINE_INFINITE)
        low = AFFINE_INFINITE;
    if (high < -AFFINE_INFINITE)
        high = -AFFINE_INFINITE;
    return (struct interval){(int64_t)low, (int64_t)high};
}

bool row_add(struct row *row, const struct row *other, int64_t scale)
{
    bool wraps = false;
    int64_t term;
    wraps |= __builtin_mul_overflow(other->constant, scale, &term);
    wraps |= __builtin_add_overflow(row->constant, term, &row->constant);
    for (uint32_t v = 0; v < CONSTRAINTS_VARIABLES; v++) {
        if (!other->coefficients[v])
            continue;
        wraps |= __builtin_mul_overflow(other->coefficients[v], scale, &term);
        wraps |= __builtin_add_overflow(row->coefficients[v], term, &row->coefficients[v]);
    }
    return !wraps;
}

static uint64_t row_divisor(const struct constraints *s, const struct row *row)
{
    uint64_t divisor = 0;
    for (uint32_t v = 0; v < s->variable_count; v++) {
        uint64_t other = row->coefficients[v] < 0 ? -(uint64_t)row->coefficients[v]
                                                  : (uint64_t)row->coefficients[v];
        while (other) {
            uint64_t rest = divisor % other;
            divisor = other;
            other = rest;
        }
    }
    return divisor;
}

void constraints_drop(struct constraints *s, uint32_t i)
{
    s->constraints[i] = s->constraints[--s->constraint_count];
}

/* Puts a number in place of a variable. A constraint that cannot hold the numbers is dropped. */
static void fix(struct constraints *s, uint32_t v, int64_t value)
{
    for (uint32_t i = 0; i <= s->constraint_count; i++) {
        struct row *row = i < s->constraint_count ? &s->constraints[i] : &s->address;
        int64_t term;
        bool wraps = __builtin_mul_overflow(row->coefficients[v], value, &term);
        wraps |= __builtin_add_overflow(row->constant, term, &row->constant);
        row->coefficients[v] = 0;
        if (wraps) {
            s->exact = false;
            if (i < s->constraint_count)
                memset(row, 0, sizeof *row);
        }
    }
    s->low[v] = s->high[v] = 0;
}

bool constraints_is_bounded(const struct constraints *s, uint32_t v)
{
    return s->low[v] > -AFFINE_INFINITE && s->high[v] < AFFINE_INFINITE;
}

/* ---- Simplification ---- */

enum outcome { SAME, CHANGED, EMPTY };

/* What a constraint says of each variable alone, given the ranges of the others. */
static enum outcome tighten(struct constraints *s, const struct row *row)
{
    enum outcome outcome = SAME;
    for (uint32_t v = 0; v < s->variable_count; v++) {
        int64_t c = row->coefficients[v];
        if (!c)
            continue;
        struct interval rest = row_interval(s, row, v);
        if (rest.high >= AFFINE_INFINITE)
            continue;
        /* c * v + rest.high >= 0 */
        if (c > 0) {
            int64_t low = ceiling_divide(-rest.high, c);
            if (low > s->low[v]) {
                s->low[v] = low;
                outcome = CHANGED;
            }
        } else {
            int64_t high = floor_divide(rest.high, -c);
            if (high < s->high[v]) {
                s->high[v] = high;
                outcome = CHANGED;
            }
        }
        if (s->low[v] > s->high[v])
            return EMPTY;
    }
    return outcome;
}

static enum outcome simplify_once(struct constraints *s)
{
    enum outcome outcome = SAME;
    for (uint32_t v = 0; v < s->variable_count; v++)
        if (s->low[v] > s->high[v]) {
            return EMPTY;
        } else if (s->low[v] == s->high[v]) {
            if (s->low[v])
                outcome = CHANGED;
            fix(s, v, s->low[v]);
        }
    for (uint32_t i = 0; i < s->constraint_count; i++) {
        struct row *row = &s->constraints[i];
        int64_t divisor = (int64_t)row_divisor(s, row);
        if (divisor > 1) {
            for (uint32_t v = 0; v < s->variable_count; v++)
                row->coefficients[v] /= divisor;
            row->constant = floor_divide(row->constant, divisor);
        }
        struct interval interval = row_interval(s, row, CONSTRAINTS_VARIABLES);
        if (interval.high < 0)
            return EMPTY;
        if (interval.low >= 0) {
            constraints_drop(s, i--);
            outcome = CHANGED;
            continue;
        }
        enum outcome own = tighten(s, row);
        if (own == EMPTY)
            return EMPTY;
        if (own == CHANGED)
            outcome = CHANGED;
    }
    return outcome;
}

bool constraints_simplify(struct constraints *s)
{
    for (uint32_t rounds = 0; rounds < 12; rounds++) {
        enum outcome outcome = simplify_once(s);
        if (outcome == EMPTY)
            return false;
        if (outcome == SAME)
            break;
    }
    return true;
}

/* ---- Variables that the address has no part of ---- */

/* A variable that all constraints want at the same end goes there. */
static bool eliminate_extreme(struct constraints *s, uint32_t v)
{
    bool up = false, down = false;
    for (uint32_t i = 0; i < s->constraint_count; i++) {
        up |= s->constraints[i].coefficients[v] > 0;
        down |= s->constraints[i].coefficients[v] < 0;
    }
    if (up && down)
        return false;
    int64_t end = up ? s->high[v] : s->low[v];
    if (!up && !down)
        return false;
    if (end >= AFFINE_INFINITE || end <= -AFFINE_INFINITE) { /* it can always be satisfied */
        for (uint32_t i = s->constraint_count; i-- > 0;)
            if (s->constraints[i].coefficients[v])
                constraints_drop(s, i);
        return true;
    }
    fix(s, v, end);
    return true;
}

/* Fourier-Motzkin: each lower bound below each upper one. Exact in integers where all lower or all
 * upper ones have coefficient 1 (Pugh, "The Omega Test", CACM 1992). */
static bool eliminate_between(struct constraints *s, uint32_t v)
{
    uint32_t lowers = 0, uppers = 0, made = 0;
    bool unit_lower = true, unit_upper = true;
    struct row rows[CONSTRAINTS_ROWS], fresh[CONSTRAINTS_ROWS];
    uint32_t count = s->constraint_count, keep = 0;
    memcpy(rows, s->constraints, count * sizeof *rows);
    for (uint32_t i = 0; i < count; i++) {
        lowers += rows[i].coefficients[v] > 0;
        uppers += rows[i].coefficients[v] < 0;
        unit_lower &= rows[i].coefficients[v] <= 1;
        unit_upper &= rows[i].coefficients[v] >= -1;
    }
    if (!constraints_is_bounded(s, v) || count + 2 > CONSTRAINTS_ROWS ||
        (!unit_lower && !unit_upper) || (lowers + 1) * (uppers + 1) + count > CONSTRAINTS_ROWS)
        return false;
    memset(&rows[count], 0, 2 * sizeof *rows);
    rows[count].coefficients[v] = 1;
    rows[count].constant = -s->low[v];
    rows[count + 1].coefficients[v] = -1;
    rows[count + 1].constant = s->high[v];
    for (uint32_t i = 0; i < count + 2; i++) {
        if (!rows[i].coefficients[v])
            fresh[made + keep++] = rows[i];
        if (rows[i].coefficients[v] <= 0)
            continue;
        for (uint32_t k = 0; k < count + 2; k++) {
            if (rows[k].coefficients[v] >= 0)
                continue;
            struct row sum;
            memset(&sum, 0, sizeof sum);
            if (made + keep == CONSTRAINTS_ROWS ||
                !row_add(&sum, &rows[i], -rows[k].coefficients[v]) ||
                !row_add(&sum, &rows[k], rows[i].coefficients[v]))
                return false;
            fresh[made + keep] = sum;
            made++;
        }
    }
    memcpy(s->constraints, fresh, (made + keep) * sizeof *fresh);
    s->constraint_count = made + keep;
    s->low[v] = s->high[v] = 0;
    return true;
}

bool constraints_eliminate(struct constraints *s)
{
    for (uint32_t v = 0; v < s->variable_count; v++) {
        bool used = false;
        for (uint32_t i = 0; i < s->constraint_count; i++)
            used |= s->constraints[i].coefficients[v] != 0;
        if (used && !s->address.coefficients[v] &&
            (eliminate_extreme(s, v) || eliminate_between(s, v)))
            return true;
    }
    return false;
}

/* ---- Constraints along the address ---- */

bool row_is_multiple(const struct constraints *s, const struct row *a, const struct row *b,
                     int64_t *k)
{
    bool first = true;
    *k = 0;
    for (uint32_t v = 0; v < s->variable_count; v++) {
        int64_t x = a->coefficients[v], y = b->coefficients[v];
        if (!y)
            continue;
        if (x % y)
            return false;
        if (!first && x / y != *k)
            return false;
        *k = x / y;
        first = false;
    }
    return true;
}

static bool only_within(const struct constraints *s, const struct row *a, const struct row *b)
{
    for (uint32_t v = 0; v < s->variable_count; v++)
        if (a->coefficients[v] && !b->coefficients[v])
            return false;
    return true;
}

bool row_is_dense(const struct constraints *s, const struct row *row)
{
    bool used[CONSTRAINTS_VARIABLES] = {false};
    unsigned __int128 reach = 1;
    for (;;) {
        uint32_t least = CONSTRAINTS_VARIABLES;
        uint64_t step = 0;
        for (uint32_t v = 0; v < s->variable_count; v++) {
            int64_t c = row->coefficients[v];
            uint64_t own = c < 0 ? -(uint64_t)c : (uint64_t)c;
            if (c && !used[v] && (least == CONSTRAINTS_VARIABLES || own < step)) {
                least = v;
                step = own;
            }
        }
        if (least == CONSTRAINTS_VARIABLES)
            return true;
        used[least] = true;
        if (!constraints_is_bounded(s, least) || step > reach)
            return false;
        reach += (unsigned __int128)step * (uint64_t)(s->high[least] - s->low[least]);
    }
}

bool constraints_fuse(struct constraints *s, uint32_t i)
{
    struct row line = s->constraints[i];
    int64_t scale, sign;
    line.constant = 0;
    if (!row_is_multiple(s, &s->address, &line, &scale) || !row_is_dense(s, &line))
        return false;
    struct interval range = row_interval(s, &line, CONSTRAINTS_VARIABLES);
    int64_t low = range.low, high = range.high;
    for (uint32_t k = 0; k < s->constraint_count; k++) {
        const struct row *other = &s->constraints[k];
        bool apart = true;
        for (uint32_t v = 0; v < s->variable_count; v++)
            apart &= !(other->coefficients[v] && line.coefficients[v]);
        if (apart)
            continue;
        if (!row_is_multiple(s, other, &line, &sign) || !only_within(s, other, &line) ||
            (sign != 1 && sign != -1))
            return false;
        if (sign == 1 && -other->constant > low)
            low = -other->constant;
        if (sign == -1 && other->constant < high)
            high = other->constant;
    }
    uint32_t v = CONSTRAINTS_VARIABLES;
    for (uint32_t k = s->constraint_count; k-- > 0;) {
        bool apart = true;
        for (uint32_t w = 0; w < s->variable_count; w++)
            apart &= !(s->constraints[k].coefficients[w] && line.coefficients[w]);
        if (!apart)
            constraints_drop(s, k);
    }
    for (uint32_t w = 0; w < s->variable_count; w++)
        if (line.coefficients[w]) {
            s->address.coefficients[w] = 0;
            s->low[w] = s->high[w] = 0;
            v = w;
        }
    s->address.coefficients[v] = scale;
    s->low[v] = low;
    s->high[v] = high;
    return true;
}

/* ---- Bounds without constraints ---- */

/* The address plus a multiple of what is at least 0 is no less than the address: the multiple that
 * takes one variable out bounds it (Lagrange's multiplier of a linear program over a box). */
static void limit_by(struct constraints *s, const struct row *constraint, uint32_t v)
{
    int64_t a = s->address.coefficients[v], c = constraint->coefficients[v];
    bool above = (a < 0) != (c < 0); /* else below */
    struct row sum;
    memset(&sum, 0, sizeof sum);
    if (!a || !c || a == INT64_MIN || c == INT64_MIN)
        return;
    int64_t p = a < 0 ? -a : a, q = c < 0 ? -c : c;
    if (!row_add(&sum, &s->address, q) || !row_add(&sum, constraint, above ? p : -p))
        return;
    struct interval interval = row_interval(s, &sum, CONSTRAINTS_VARIABLES);
    if (above && interval.high < AFFINE_INFINITE && floor_divide(interval.high, q) < s->limit.high)
        s->limit.high = floor_divide(interval.high, q);
    if (!above && interval.low > -AFFINE_INFINITE && ceiling_divide(interval.low, q) > s->limit.low)
        s->limit.low = ceiling_divide(interval.low, q);
}

void constraints_drop_all(struct constraints *s)
{
    for (uint32_t i = 0; i < s->constraint_count; i++)
        for (uint32_t v = 0; v < s->variable_count; v++)
            limit_by(s, &s->constraints[i], v);
    s->constraint_count = 0;
    s->exact = false;
}
