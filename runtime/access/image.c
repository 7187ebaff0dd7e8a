/* Images of forms. See image.h. */
#include "image.h"

#include <string.h>

enum { MAX_VARIABLES = 24, MAX_ROWS = 28, MAX_CASES = 64, CASES_AT_ONCE = 16 };

/* constant + sum of coefficients * variables */
struct row {
    int64_t constant;
    int64_t coefficients[MAX_VARIABLES];
};

/* All values of `address` where every constraint is at least 0. */
struct system {
    uint32_t variable_count, constraint_count;
    int64_t low[MAX_VARIABLES], high[MAX_VARIABLES];
    struct row address;
    struct row constraints[MAX_ROWS];
    bool exact;
    struct interval limit; /* of the address, by constraints that are not here any more */
};

struct solver {
    uint64_t bytes;
    image_emit *emit;
    void *user;
    uint32_t cases;   /* systems made so far */
    uint32_t *budget; /* of all images of the launch */
    uint64_t work;    /* coefficients looked at, about */
    uint32_t index_of[MAX_VARIABLES];
};

/* ---- Rows ---- */

static int64_t floor_divide(int64_t a, int64_t b)
{
    int64_t quotient = a / b;
    return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t ceiling_divide(int64_t a, int64_t b)
{
    return -floor_divide(-a, b);
}

static struct interval row_interval(const struct system *s, const struct row *row, uint32_t without)
{
    __int128 low = row->constant, high = row->constant;
    bool open_low = false, open_high = false;
    for (uint32_t v = 0; v < s->variable_count; v++) {
        if (v == without || !row->coefficients[v])
            continue;
        __int128 c = row->coefficients[v];
        int64_t least = c > 0 ? s->low[v] : s->high[v], most = c > 0 ? s->high[v] : s->low[v];
        open_low |= least <= -FORM_INFINITE || least >= FORM_INFINITE;
        open_high |= most <= -FORM_INFINITE || most >= FORM_INFINITE;
        low += c * least;
        high += c * most;
    }
    if (open_low || low < -FORM_INFINITE)
        low = -FORM_INFINITE;
    if (open_high || high > FORM_INFINITE)
        high = FORM_INFINITE;
    if (low > FORM_INFINITE)
        low = FORM_INFINITE;
    if (high < -FORM_INFINITE)
        high = -FORM_INFINITE;
    return (struct interval){(int64_t)low, (int64_t)high};
}

/* row += scale * other; false on overflow */
static bool row_add(struct row *row, const struct row *other, int64_t scale)
{
    bool wraps = false;
    int64_t term;
    wraps |= __builtin_mul_overflow(other->constant, scale, &term);
    wraps |= __builtin_add_overflow(row->constant, term, &row->constant);
    for (uint32_t v = 0; v < MAX_VARIABLES; v++) {
        if (!other->coefficients[v])
            continue;
        wraps |= __builtin_mul_overflow(other->coefficients[v], scale, &term);
        wraps |= __builtin_add_overflow(row->coefficients[v], term, &row->coefficients[v]);
    }
    return !wraps;
}

static uint64_t row_divisor(const struct system *s, const struct row *row)
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

static void drop_constraint(struct system *s, uint32_t i)
{
    s->constraints[i] = s->constraints[--s->constraint_count];
}

/* Puts a number in place of a variable. A constraint that cannot hold the numbers is dropped. */
static void fix(struct system *s, uint32_t v, int64_t value)
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

static bool is_bounded(const struct system *s, uint32_t v)
{
    return s->low[v] > -FORM_INFINITE && s->high[v] < FORM_INFINITE;
}

/* ---- Simplification ---- */

enum outcome { SAME, CHANGED, EMPTY };

/* What a constraint says of each variable alone, given the ranges of the others. */
static enum outcome tighten(struct system *s, const struct row *row)
{
    enum outcome outcome = SAME;
    for (uint32_t v = 0; v < s->variable_count; v++) {
        int64_t c = row->coefficients[v];
        if (!c)
            continue;
        struct interval rest = row_interval(s, row, v);
        if (rest.high >= FORM_INFINITE)
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

static enum outcome simplify_once(struct system *s)
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
        struct interval interval = row_interval(s, row, MAX_VARIABLES);
        if (interval.high < 0)
            return EMPTY;
        if (interval.low >= 0) {
            drop_constraint(s, i--);
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

static bool simplify(struct system *s)
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
static bool eliminate_extreme(struct system *s, uint32_t v)
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
    if (end >= FORM_INFINITE || end <= -FORM_INFINITE) { /* it can always be met */
        for (uint32_t i = s->constraint_count; i-- > 0;)
            if (s->constraints[i].coefficients[v])
                drop_constraint(s, i);
        return true;
    }
    fix(s, v, end);
    return true;
}

/* Fourier-Motzkin: each lower bound below each upper one. Exact in integers where all lower or all
 * upper ones have coefficient 1 (Pugh, "The Omega Test", CACM 1992). */
static bool eliminate_between(struct system *s, uint32_t v)
{
    uint32_t lowers = 0, uppers = 0, made = 0;
    bool unit_lower = true, unit_upper = true;
    struct row rows[MAX_ROWS], fresh[MAX_ROWS];
    uint32_t count = s->constraint_count, keep = 0;
    memcpy(rows, s->constraints, count * sizeof *rows);
    for (uint32_t i = 0; i < count; i++) {
        lowers += rows[i].coefficients[v] > 0;
        uppers += rows[i].coefficients[v] < 0;
        unit_lower &= rows[i].coefficients[v] <= 1;
        unit_upper &= rows[i].coefficients[v] >= -1;
    }
    if (!is_bounded(s, v) || count + 2 > MAX_ROWS || (!unit_lower && !unit_upper) ||
        (lowers + 1) * (uppers + 1) + count > MAX_ROWS)
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
            if (made + keep == MAX_ROWS || !row_add(&sum, &rows[i], -rows[k].coefficients[v]) ||
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

static bool eliminate(struct system *s)
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

/* Whether a = k * b on b's variables: *k, and 1 or -1 for constraints. */
static bool proportional(const struct system *s, const struct row *a, const struct row *b,
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

static bool only_within(const struct system *s, const struct row *a, const struct row *b)
{
    for (uint32_t v = 0; v < s->variable_count; v++)
        if (a->coefficients[v] && !b->coefficients[v])
            return false;
    return true;
}

/* Every integer between its least and greatest value: the row's divisor is 1. */
static bool row_is_dense(const struct system *s, const struct row *row)
{
    bool used[MAX_VARIABLES] = {false};
    unsigned __int128 reach = 1;
    for (;;) {
        uint32_t least = MAX_VARIABLES;
        uint64_t step = 0;
        for (uint32_t v = 0; v < s->variable_count; v++) {
            int64_t c = row->coefficients[v];
            uint64_t own = c < 0 ? -(uint64_t)c : (uint64_t)c;
            if (c && !used[v] && (least == MAX_VARIABLES || own < step)) {
                least = v;
                step = own;
            }
        }
        if (least == MAX_VARIABLES)
            return true;
        used[least] = true;
        if (!is_bounded(s, least) || step > reach)
            return false;
        reach += (unsigned __int128)step * (uint64_t)(s->high[least] - s->low[least]);
    }
}

/* The constraint's variables become one, the constraint's own sum, where nothing needs them apart.
 */
static bool fuse(struct system *s, uint32_t i)
{
    struct row line = s->constraints[i];
    int64_t scale, sign;
    line.constant = 0;
    if (!proportional(s, &s->address, &line, &scale) || !row_is_dense(s, &line))
        return false;
    struct interval range = row_interval(s, &line, MAX_VARIABLES);
    int64_t low = range.low, high = range.high;
    for (uint32_t k = 0; k < s->constraint_count; k++) {
        const struct row *other = &s->constraints[k];
        bool apart = true;
        for (uint32_t v = 0; v < s->variable_count; v++)
            apart &= !(other->coefficients[v] && line.coefficients[v]);
        if (apart)
            continue;
        if (!proportional(s, other, &line, &sign) || !only_within(s, other, &line) ||
            (sign != 1 && sign != -1))
            return false;
        if (sign == 1 && -other->constant > low)
            low = -other->constant;
        if (sign == -1 && other->constant < high)
            high = other->constant;
    }
    uint32_t v = MAX_VARIABLES;
    for (uint32_t k = s->constraint_count; k-- > 0;) {
        bool apart = true;
        for (uint32_t w = 0; w < s->variable_count; w++)
            apart &= !(s->constraints[k].coefficients[w] && line.coefficients[w]);
        if (!apart)
            drop_constraint(s, k);
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

/* ---- Cases ---- */

/* How many values of v the constraint cuts into: below them it never holds, above them always. */
static bool cut_of(const struct system *s, const struct row *row, uint32_t v, int64_t *first,
                   int64_t *after)
{
    int64_t c = row->coefficients[v];
    struct interval rest = row_interval(s, row, v);
    if (!c || !interval_is_finite(rest) || !is_bounded(s, v))
        return false;
    if (c > 0) { /* from `after` on it always holds */
        *first = ceiling_divide(-rest.high, c);
        *after = ceiling_divide(-rest.low, c);
    } else { /* up to `first` - 1 it always holds */
        *first = floor_divide(rest.low, -c) + 1;
        *after = floor_divide(rest.high, -c) + 1;
    }
    if (*first < s->low[v])
        *first = s->low[v];
    if (*after > s->high[v] + 1)
        *after = s->high[v] + 1;
    if (*after < *first)
        *after = *first;
    return true;
}

static void solve(struct solver *solver, struct system *s);

/* Splits where the fewest cases come out. */
static bool split(struct solver *solver, struct system *s)
{
    int64_t best = CASES_AT_ONCE + 1, first = 0, after = 0;
    uint32_t row = 0, variable = 0;
    for (uint32_t i = 0; i < s->constraint_count; i++)
        for (uint32_t v = 0; v < s->variable_count; v++) {
            int64_t from, to;
            if (!s->constraints[i].coefficients[v] ||
                !cut_of(s, &s->constraints[i], v, &from, &to) || to - from >= best)
                continue;
            best = to - from;
            first = from;
            after = to;
            row = i;
            variable = v;
        }
    if (best > CASES_AT_ONCE || solver->cases + best + 1 > MAX_CASES || best >= *solver->budget)
        return false;
    solver->cases += (uint32_t)best + 1;
    *solver->budget -= (uint32_t)best + 1;
    struct system part = *s;
    if (s->constraints[row].coefficients[variable] > 0)
        part.low[variable] = after;
    else
        part.high[variable] = first - 1;
    drop_constraint(&part, row);
    if (part.low[variable] <= part.high[variable])
        solve(solver, &part);
    for (int64_t value = first; value < after; value++) {
        part = *s;
        part.low[variable] = part.high[variable] = value;
        solve(solver, &part);
    }
    return true;
}

/* ---- Ranges ---- */

bool image_normalize(struct image *image)
{
    bool merged = false;
    uint32_t count = 0;
    for (uint32_t i = 0; i < image->dim_count; i++) {
        struct access_dim dim = image->dims[i];
        if (dim.count <= 1 || dim.stride == 0)
            continue;
        if (dim.stride < 0) {
            image->offset += dim.stride * (int64_t)(dim.count - 1);
            dim.stride = -dim.stride;
        }
        uint32_t at = count++;
        for (; at > 0 && image->dims[at - 1].stride > dim.stride; at--)
            image->dims[at] = image->dims[at - 1];
        image->dims[at] = dim;
    }
    for (uint32_t i = 0; i < count;) {
        struct access_dim *dim = &image->dims[i];
        if (i == 0 && (uint64_t)dim->stride <= image->bytes) {
            image->bytes += (uint64_t)dim->stride * (dim->count - 1);
        } else if (i > 0 && dim->stride % dim[-1].stride == 0 &&
                   (uint64_t)dim->stride / (uint64_t)dim[-1].stride <= dim[-1].count) {
            dim[-1].count += (uint64_t)(dim->stride / dim[-1].stride) * (dim->count - 1);
        } else {
            i++;
            continue;
        }
        memmove(dim, dim + 1, (count - i - 1) * sizeof *dim);
        count--;
        merged = true;
        i = 0; /* what is inside has grown */
    }
    image->dim_count = count;
    return merged;
}

/* What is left of [*low, *high) within the limit. */
static bool clip(const struct solver *solver, const struct system *s, int64_t *low, int64_t *high)
{
    if (s->limit.low > *low)
        *low = s->limit.low;
    if (s->limit.high < FORM_INFINITE && s->limit.high + (int64_t)solver->bytes < *high)
        *high = s->limit.high + (int64_t)solver->bytes;
    return *low < *high;
}

static void emit_between(struct solver *solver, const struct system *s, int64_t low, int64_t high)
{
    struct image image = {.exact = false};
    if (!clip(solver, s, &low, &high))
        return;
    image.offset = low;
    image.bytes = (uint64_t)(high - low);
    solver->emit(solver->user, &image);
}

static void emit_open(struct solver *solver, const struct system *s)
{
    struct interval range = row_interval(s, &s->address, MAX_VARIABLES);
    struct image image = {.exact = false};
    if (s->limit.low > range.low)
        range.low = s->limit.low;
    if (s->limit.high < range.high)
        range.high = s->limit.high;
    if (range.low > -FORM_INFINITE && range.high < FORM_INFINITE) {
        emit_between(solver, s, range.low, range.high + (int64_t)solver->bytes);
        return;
    }
    image.offset = range.low > -FORM_INFINITE ? range.low : 0;
    image.bytes = range.low > -FORM_INFINITE ? ACCESS_TO_END : ACCESS_WHOLE;
    solver->emit(solver->user, &image);
}

/* The first or last of the outermost dimension's parts may reach beyond the limit: what is within
 * goes out by itself. Others that do so overlap, and are one range then. */
static void emit_clipped(struct solver *solver, const struct system *s, struct image *image)
{
    int64_t bytes = (int64_t)image->bytes, low = image->offset, high;
    if (image->dim_count == 0) {
        emit_between(solver, s, low, low + bytes);
        return;
    }
    struct access_dim *outer = &image->dims[image->dim_count - 1];
    for (uint32_t d = 0; d + 1 < image->dim_count; d++)
        bytes += image->dims[d].stride * (int64_t)(image->dims[d].count - 1);
    high = low + bytes;
    if (clip(solver, s, &low, &high) && low == image->offset && high == low + bytes) {
        low += outer->stride * (int64_t)(outer->count - 1);
        high = low + bytes;
        bool within = clip(solver, s, &low, &high) && high == low + bytes;
        int64_t last = outer->stride * (int64_t)(outer->count - 1), before = last - outer->stride;
        if (!within && outer->count > 1) {
            emit_between(solver, s, image->offset + last, image->offset + last + bytes);
            outer->count--;
            low = image->offset + before;
            high = low + bytes;
            within = clip(solver, s, &low, &high) && high == low + bytes;
        }
        if (within) {
            image_normalize(image);
            solver->emit(solver->user, image);
            return;
        }
    }
    bytes += outer->stride * (int64_t)(outer->count - 1);
    emit_between(solver, s, image->offset, image->offset + bytes);
}

/* All values over the box: the constraints are gone. */
static void emit_box(struct solver *solver, const struct system *s)
{
    struct image image = {.offset = s->address.constant, .bytes = solver->bytes, .exact = s->exact};
    struct interval hull = row_interval(s, &s->address, MAX_VARIABLES);
    if (!interval_is_finite(hull)) {
        emit_open(solver, s);
        return;
    }
    for (uint32_t v = 0; v < s->variable_count; v++) {
        int64_t stride = s->address.coefficients[v];
        if (!stride)
            continue;
        image.offset += stride * s->low[v];
        if (s->low[v] == s->high[v])
            continue;
        if (image.dim_count == ACCESS_MAX_DIMS) {
            image_normalize(&image);
            if (image.dim_count == ACCESS_MAX_DIMS) {
                emit_open(solver, s);
                return;
            }
        }
        image.dims[image.dim_count++] =
            (struct access_dim){stride, (uint64_t)(s->high[v] - s->low[v]) + 1};
    }
    image_normalize(&image);
    if (image.exact)
        solver->emit(solver->user, &image);
    else
        emit_clipped(solver, s, &image);
}

/* ---- Bounds without constraints ---- */

/* The address plus a multiple of what is at least 0 is no less than the address: the multiple that
 * takes one variable out bounds it (Lagrange's multiplier of a linear program over a box). */
static void limit_by(struct system *s, const struct row *constraint, uint32_t v)
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
    struct interval interval = row_interval(s, &sum, MAX_VARIABLES);
    if (above && interval.high < FORM_INFINITE && floor_divide(interval.high, q) < s->limit.high)
        s->limit.high = floor_divide(interval.high, q);
    if (!above && interval.low > -FORM_INFINITE && ceiling_divide(interval.low, q) > s->limit.low)
        s->limit.low = ceiling_divide(interval.low, q);
}

/* Wider than it is: only bounds of the address remain. */
static void drop_constraints(struct system *s)
{
    for (uint32_t i = 0; i < s->constraint_count; i++)
        for (uint32_t v = 0; v < s->variable_count; v++)
            limit_by(s, &s->constraints[i], v);
    s->constraint_count = 0;
    s->exact = false;
}

static void solve(struct solver *solver, struct system *s)
{
    for (uint32_t rounds = 0; rounds < 64; rounds++) {
        bool fused = false;
        uint64_t coefficients = (uint64_t)s->variable_count * s->variable_count;
        solver->work += (s->constraint_count + 1) * coefficients;
        if (!simplify(s))
            return;
        if (s->constraint_count == 0)
            break;
        if (eliminate(s))
            continue;
        for (uint32_t i = 0; i < s->constraint_count && !fused; i++)
            fused = fuse(s, i);
        if (fused)
            continue;
        if (split(solver, s))
            return;
        drop_constraints(s);
    }
    if (s->constraint_count)
        drop_constraints(s);
    emit_box(solver, s);
}

/* ---- Setting up ---- */

static uint32_t variable_of(struct solver *solver, struct system *s,
                            const struct index_table *indices, uint32_t index)
{
    for (uint32_t v = 0; v < s->variable_count; v++)
        if (solver->index_of[v] == index)
            return v;
    if (s->variable_count == MAX_VARIABLES)
        return MAX_VARIABLES;
    uint32_t v = s->variable_count++;
    solver->index_of[v] = index;
    s->low[v] = indices->ranges[index].low;
    s->high[v] = indices->ranges[index].high;
    return v;
}

static bool row_of(struct solver *solver, struct system *s, const struct index_table *indices,
                   const struct form *form, struct row *row)
{
    memset(row, 0, sizeof *row);
    row->constant = form->constant;
    for (uint32_t t = 0; t < form->count; t++) {
        uint32_t v = variable_of(solver, s, indices, form->terms[t].index);
        if (v == MAX_VARIABLES)
            return false;
        row->coefficients[v] = form->terms[t].coefficient;
    }
    return true;
}

static bool uses(const struct system *s, const struct row *row)
{
    for (uint32_t v = 0; v < s->variable_count; v++) {
        if (!row->coefficients[v])
            continue;
        if (s->address.coefficients[v])
            return true;
        for (uint32_t i = 0; i < s->constraint_count; i++)
            if (s->constraints[i].coefficients[v])
                return true;
    }
    return false;
}

static bool add_constraint(struct system *s, const struct row *row)
{
    if (s->constraint_count == MAX_ROWS)
        return false;
    s->constraints[s->constraint_count++] = *row;
    return true;
}

/* expression replaces k times `form` in a row whose part in form's variables is that. */
static bool replace_multiple(struct system *s, struct row *row, const struct row *form,
                             const struct row *expression)
{
    int64_t k;
    if (!proportional(s, row, form, &k))
        return false;
    return row_add(row, form, -k) && row_add(row, expression, k);
}

/* The two sides of the divisions not yet put in, as they stand: forms[i] == rows[i]. */
struct expressions {
    struct row forms[32], rows[32];
};

static bool all_proportional(const struct system *s, const struct expressions *older,
                             uint32_t count, const struct row *form)
{
    int64_t k;
    if (!proportional(s, &s->address, form, &k))
        return false;
    for (uint32_t i = 0; i < s->constraint_count; i++)
        if (!proportional(s, &s->constraints[i], form, &k))
            return false;
    for (uint32_t d = 0; d < count; d++)
        if (!proportional(s, &older->rows[d], form, &k) ||
            !proportional(s, &older->forms[d], form, &k))
            return false;
    return true;
}

/* form == expression, and a variable whose coefficient is then 1 or -1 is solved for. */
static bool substitute_unit(struct system *s, struct expressions *older, uint32_t count,
                            const struct row *form, const struct row *expression)
{
    struct row zero = *form;
    if (!row_add(&zero, expression, -1))
        return false;
    for (uint32_t v = 0; v < s->variable_count; v++) {
        int64_t c = zero.coefficients[v];
        if (c != 1 && c != -1)
            continue;
        struct row solution, without = zero, limit; /* v = -c * (zero without v) */
        without.coefficients[v] = 0;
        memset(&solution, 0, sizeof solution);
        if (!row_add(&solution, &without, -c))
            return false;
        for (uint32_t i = 0; i < s->constraint_count + 1 + 2 * count; i++) {
            uint32_t d = i - s->constraint_count - 1;
            struct row *row = i < s->constraint_count    ? &s->constraints[i]
                              : i == s->constraint_count ? &s->address
                              : d < count                ? &older->rows[d]
                                                         : &older->forms[d - count];
            int64_t k = row->coefficients[v];
            row->coefficients[v] = 0;
            if (k && !row_add(row, &solution, k))
                return false;
        }
        limit = solution;
        limit.constant -= s->low[v];
        struct row above;
        memset(&above, 0, sizeof above);
        above.constant = s->high[v];
        bool fits = add_constraint(s, &limit) && row_add(&above, &solution, -1) &&
                    add_constraint(s, &above);
        s->low[v] = s->high[v] = 0;
        return fits;
    }
    return false;
}

/* All rows can say it by multiples of the form. */
static bool substitute_multiples(struct system *s, struct expressions *older, uint32_t count,
                                 const struct row *form, const struct row *expression)
{
    struct row line = *form, low = *expression, high;
    struct interval range = row_interval(s, form, MAX_VARIABLES);
    line.constant = 0;
    for (uint32_t v = 0; v < s->variable_count; v++)
        if (form->coefficients[v] && expression->coefficients[v])
            return false;
    if (!interval_is_finite(range) || !row_is_dense(s, &line) ||
        !all_proportional(s, older, count, form))
        return false;
    bool fits = replace_multiple(s, &s->address, form, expression);
    for (uint32_t i = 0; i < s->constraint_count; i++)
        fits &= replace_multiple(s, &s->constraints[i], form, expression);
    for (uint32_t d = 0; d < count; d++)
        fits &= replace_multiple(s, &older->rows[d], form, expression) &&
                replace_multiple(s, &older->forms[d], form, expression);
    low.constant -= range.low;
    memset(&high, 0, sizeof high);
    high.constant = range.high;
    return fits && add_constraint(s, &low) && row_add(&high, expression, -1) &&
           add_constraint(s, &high);
}

/* Puts divisor * quotient + remainder in the place of the form that was divided. False: what is
 * known of the two is dropped. */
static bool put_division_in(struct system *s, struct expressions *older, uint32_t count,
                            const struct row *form, const struct row *expression)
{
    struct system system = *s;
    struct expressions expressions = *older;
    if (substitute_multiples(s, older, count, form, expression))
        return true;
    *s = system;
    *older = expressions;
    if (substitute_unit(s, older, count, form, expression))
        return true;
    *s = system;
    *older = expressions;
    return false;
}

/* Newest first: a newer one may divide what an older one made. */
static bool put_divisions_in(struct solver *solver, struct system *s,
                             const struct index_table *indices)
{
    struct expressions expressions;
    bool used[32] = {false}, any = true;
    memset(&expressions, 0, sizeof expressions);
    /* which take part: those whose results are used, and those that what they divide came from */
    while (any) {
        any = false;
        for (uint32_t d = 0; d < indices->division_count; d++) {
            const struct division *division = &indices->divisions[d];
            struct row probe;
            memset(&probe, 0, sizeof probe);
            for (uint32_t v = 0; v < s->variable_count; v++)
                if (solver->index_of[v] == division->quotient ||
                    solver->index_of[v] == division->remainder)
                    probe.coefficients[v] = 1;
            bool needed = uses(s, &probe);
            for (uint32_t o = 0; o < indices->division_count && !needed; o++)
                for (uint32_t v = 0; used[o] && v < s->variable_count; v++)
                    needed |= expressions.forms[o].coefficients[v] && probe.coefficients[v];
            if (used[d] || !needed)
                continue;
            used[d] = any = true;
            struct form result = form_index(division->quotient, division->modulus);
            struct form remainder = form_index(division->remainder, 1);
            form_add(&result, &result, &remainder, 1);
            if (!row_of(solver, s, indices, &division->form, &expressions.forms[d]) ||
                !row_of(solver, s, indices, &result, &expressions.rows[d]))
                return false;
        }
    }
    bool exact = true;
    for (uint32_t d = indices->division_count; d-- > 0;) {
        const struct row form = expressions.forms[d], row = expressions.rows[d];
        if (used[d])
            exact &= put_division_in(s, &expressions, d, &form, &row);
    }
    return exact;
}

void image_find(const struct form *form, const struct conjunction *when,
                const struct index_table *indices, uint64_t bytes, uint32_t *budget,
                image_emit *emit, void *user)
{
    struct solver solver = {.bytes = bytes, .budget = budget, .emit = emit, .user = user};
    struct system s;
    memset(&s, 0, sizeof s);
    s.exact = true;
    s.limit = (struct interval){-FORM_INFINITE, FORM_INFINITE};
    if (!row_of(&solver, &s, indices, form, &s.address))
        return; /* cannot be: a form has fewer terms than there is room for */
    if (*budget == 0) {
        s.exact = false;
        emit_box(&solver, &s);
        return;
    }
    --*budget;
    for (uint32_t i = 0; when && i < when->count; i++) {
        struct row row;
        if (row_of(&solver, &s, indices, when->constraints[i], &row))
            add_constraint(&s, &row);
        else
            s.exact = false;
    }
    if (indices->division_count && !put_divisions_in(&solver, &s, indices))
        s.exact = false;
    solve(&solver, &s);
    uint64_t large = solver.work / IMAGE_WORK; /* what is large counts as several */
    *budget -= large < *budget ? (uint32_t)large : *budget;
}
