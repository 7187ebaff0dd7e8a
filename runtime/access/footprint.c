/* Images of forms. See footprint.h. */
#include "runtime/access/footprint.h"
#include "runtime/access/constraints.h"

#include <string.h>

enum { MAX_CASES = 64, CASES_AT_ONCE = 16 };

struct solver {
    uint64_t bytes;
    footprint_emit *emit;
    void *user;
    uint32_t cases;   /* systems made so far */
    uint32_t *budget; /* of all images of the launch */
    uint64_t work;    /* coefficients looked at, about */
    uint32_t index_of[CONSTRAINTS_VARIABLES];
};

/* ---- Cases ---- */

/* How many values of v the constraint cuts into: below them it never holds, above them always. */
static bool cut_of(const struct constraints *s, const struct row *row, uint32_t v, int64_t *first,
                   int64_t *after)
{
    int64_t c = row->coefficients[v];
    struct interval rest = row_interval(s, row, v);
    if (!c || !interval_is_finite(rest) || !constraints_is_bounded(s, v))
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

static void solve(struct solver *solver, struct constraints *s);

/* Splits where the fewest cases come out. */
static bool split(struct solver *solver, struct constraints *s)
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
    struct constraints part = *s;
    if (s->constraints[row].coefficients[variable] > 0)
        part.low[variable] = after;
    else
        part.high[variable] = first - 1;
    constraints_drop(&part, row);
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

bool footprint_normalize(struct footprint *footprint)
{
    bool merged = false;
    uint32_t count = 0;
    for (uint32_t i = 0; i < footprint->dim_count; i++) {
        struct access_dim dim = footprint->dims[i];
        if (dim.count <= 1 || dim.stride == 0)
            continue;
        if (dim.stride < 0) {
            footprint->offset += dim.stride * (int64_t)(dim.count - 1);
            dim.stride = -dim.stride;
        }
        uint32_t at = count++;
        for (; at > 0 && footprint->dims[at - 1].stride > dim.stride; at--)
            footprint->dims[at] = footprint->dims[at - 1];
        footprint->dims[at] = dim;
    }
    for (uint32_t i = 0; i < count;) {
        struct access_dim *dim = &footprint->dims[i];
        if (i == 0 && (uint64_t)dim->stride <= footprint->bytes) {
            footprint->bytes += (uint64_t)dim->stride * (dim->count - 1);
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
    footprint->dim_count = count;
    return merged;
}

/* What is left of [*low, *high) within the limit. */
static bool clip(const struct solver *solver, const struct constraints *s, int64_t *low,
                 int64_t *high)
{
    if (s->limit.low > *low)
        *low = s->limit.low;
    if (s->limit.high < AFFINE_INFINITE && s->limit.high + (int64_t)solver->bytes < *high)
        *high = s->limit.high + (int64_t)solver->bytes;
    return *low < *high;
}

static void emit_between(struct solver *solver, const struct constraints *s, int64_t low,
                         int64_t high)
{
    struct footprint footprint = {.exact = false};
    if (!clip(solver, s, &low, &high))
        return;
    footprint.offset = low;
    footprint.bytes = (uint64_t)(high - low);
    solver->emit(solver->user, &footprint);
}

static void emit_open(struct solver *solver, const struct constraints *s)
{
    struct interval range = row_interval(s, &s->address, CONSTRAINTS_VARIABLES);
    struct footprint footprint = {.exact = false};
    if (s->limit.low > range.low)
        range.low = s->limit.low;
    if (s->limit.high < range.high)
        range.high = s->limit.high;
    if (range.low > -AFFINE_INFINITE && range.high < AFFINE_INFINITE) {
        emit_between(solver, s, range.low, range.high + (int64_t)solver->bytes);
        return;
    }
    footprint.offset = range.low > -AFFINE_INFINITE ? range.low : 0;
    footprint.bytes = range.low > -AFFINE_INFINITE ? ACCESS_TO_END : ACCESS_WHOLE;
    solver->emit(solver->user, &footprint);
}

/* The first or last of the outermost dimension's parts may reach beyond the limit: what is within
 * goes out by itself. Others that do so overlap, and are one range then. */
static void emit_clipped(struct solver *solver, const struct constraints *s,
                         struct footprint *footprint)
{
    int64_t bytes = (int64_t)footprint->bytes, low = footprint->offset, high;
    if (footprint->dim_count == 0) {
        emit_between(solver, s, low, low + bytes);
        return;
    }
    struct access_dim *outer = &footprint->dims[footprint->dim_count - 1];
    for (uint32_t d = 0; d + 1 < footprint->dim_count; d++)
        bytes += footprint->dims[d].stride * (int64_t)(footprint->dims[d].count - 1);
    high = low + bytes;
    if (clip(solver, s, &low, &high) && low == footprint->offset && high == low + bytes) {
        low += outer->stride * (int64_t)(outer->count - 1);
        high = low + bytes;
        bool within = clip(solver, s, &low, &high) && high == low + bytes;
        int64_t last = outer->stride * (int64_t)(outer->count - 1), before = last - outer->stride;
        if (!within && outer->count > 1) {
            emit_between(solver, s, footprint->offset + last, footprint->offset + last + bytes);
            outer->count--;
            low = footprint->offset + before;
            high = low + bytes;
            within = clip(solver, s, &low, &high) && high == low + bytes;
        }
        if (within) {
            footprint_normalize(footprint);
            solver->emit(solver->user, footprint);
            return;
        }
    }
    bytes += outer->stride * (int64_t)(outer->count - 1);
    emit_between(solver, s, footprint->offset, footprint->offset + bytes);
}

/* All values over the box: the constraints are gone. */
static void emit_box(struct solver *solver, const struct constraints *s)
{
    struct footprint footprint = {
        .offset = s->address.constant, .bytes = solver->bytes, .exact = s->exact};
    struct interval hull = row_interval(s, &s->address, CONSTRAINTS_VARIABLES);
    if (!interval_is_finite(hull)) {
        emit_open(solver, s);
        return;
    }
    for (uint32_t v = 0; v < s->variable_count; v++) {
        int64_t stride = s->address.coefficients[v];
        if (!stride)
            continue;
        footprint.offset += stride * s->low[v];
        if (s->low[v] == s->high[v])
            continue;
        if (footprint.dim_count == ACCESS_MAX_DIMS) {
            footprint_normalize(&footprint);
            if (footprint.dim_count == ACCESS_MAX_DIMS) {
                emit_open(solver, s);
                return;
            }
        }
        footprint.dims[footprint.dim_count++] =
            (struct access_dim){stride, (uint64_t)(s->high[v] - s->low[v]) + 1};
    }
    footprint_normalize(&footprint);
    if (footprint.exact)
        solver->emit(solver->user, &footprint);
    else
        emit_clipped(solver, s, &footprint);
}

/* ---- Solving ---- */

static void solve(struct solver *solver, struct constraints *s)
{
    for (uint32_t rounds = 0; rounds < 64; rounds++) {
        bool fused = false;
        uint64_t coefficients = (uint64_t)s->variable_count * s->variable_count;
        solver->work += (s->constraint_count + 1) * coefficients;
        if (!constraints_simplify(s))
            return;
        if (s->constraint_count == 0)
            break;
        if (constraints_eliminate(s))
            continue;
        for (uint32_t i = 0; i < s->constraint_count && !fused; i++)
            fused = constraints_fuse(s, i);
        if (fused)
            continue;
        if (split(solver, s))
            return;
        constraints_drop_all(s);
    }
    if (s->constraint_count)
        constraints_drop_all(s);
    emit_box(solver, s);
}

/* ---- Setting up ---- */

static uint32_t variable_of(struct solver *solver, struct constraints *s,
                            const struct index_table *indices, uint32_t index)
{
    for (uint32_t v = 0; v < s->variable_count; v++)
        if (solver->index_of[v] == index)
            return v;
    if (s->variable_count == CONSTRAINTS_VARIABLES)
        return CONSTRAINTS_VARIABLES;
    uint32_t v = s->variable_count++;
    solver->index_of[v] = index;
    s->low[v] = indices->ranges[index].low;
    s->high[v] = indices->ranges[index].high;
    return v;
}

static bool row_of(struct solver *solver, struct constraints *s, const struct index_table *indices,
                   const struct affine_form *form, struct row *row)
{
    memset(row, 0, sizeof *row);
    row->constant = form->constant;
    for (uint32_t t = 0; t < form->count; t++) {
        uint32_t v = variable_of(solver, s, indices, form->terms[t].index);
        if (v == CONSTRAINTS_VARIABLES)
            return false;
        row->coefficients[v] = form->terms[t].coefficient;
    }
    return true;
}

static bool uses(const struct constraints *s, const struct row *row)
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

static bool add_constraint(struct constraints *s, const struct row *row)
{
    if (s->constraint_count == CONSTRAINTS_ROWS)
        return false;
    s->constraints[s->constraint_count++] = *row;
    return true;
}

/* expression replaces k times `form` in a row whose part in form's variables is that. */
static bool replace_multiple(struct constraints *s, struct row *row, const struct row *form,
                             const struct row *expression)
{
    int64_t k;
    if (!row_is_multiple(s, row, form, &k))
        return false;
    return row_add(row, form, -k) && row_add(row, expression, k);
}

/* The two sides of the divisions not yet put in, as they stand: forms[i] == rows[i]. */
struct expressions {
    struct row forms[32], rows[32];
};

static bool all_proportional(const struct constraints *s, const struct expressions *older,
                             uint32_t count, const struct row *form)
{
    int64_t k;
    if (!row_is_multiple(s, &s->address, form, &k))
        return false;
    for (uint32_t i = 0; i < s->constraint_count; i++)
        if (!row_is_multiple(s, &s->constraints[i], form, &k))
            return false;
    for (uint32_t d = 0; d < count; d++)
        if (!row_is_multiple(s, &older->rows[d], form, &k) ||
            !row_is_multiple(s, &older->forms[d], form, &k))
            return false;
    return true;
}

/* form == expression, and a variable whose coefficient is then 1 or -1 is solved for. */
static bool substitute_unit(struct constraints *s, struct expressions *older, uint32_t count,
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
static bool substitute_multiples(struct constraints *s, struct expressions *older, uint32_t count,
                                 const struct row *form, const struct row *expression)
{
    struct row line = *form, low = *expression, high;
    struct interval range = row_interval(s, form, CONSTRAINTS_VARIABLES);
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
static bool put_division_in(struct constraints *s, struct expressions *older, uint32_t count,
                            const struct row *form, const struct row *expression)
{
    struct constraints constraints = *s;
    struct expressions expressions = *older;
    if (substitute_multiples(s, older, count, form, expression))
        return true;
    *s = constraints;
    *older = expressions;
    if (substitute_unit(s, older, count, form, expression))
        return true;
    *s = constraints;
    *older = expressions;
    return false;
}

/* Newest first: a newer one may divide what an older one made. */
static bool put_divisions_in(struct solver *solver, struct constraints *s,
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
            struct affine_form result = affine_index(division->quotient, division->modulus);
            struct affine_form remainder = affine_index(division->remainder, 1);
            affine_add(&result, &result, &remainder, 1);
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

void footprint_find(const struct affine_form *form, const struct conjunction *when,
                    const struct index_table *indices, uint64_t bytes, uint32_t *budget,
                    footprint_emit *emit, void *user)
{
    struct solver solver = {.bytes = bytes, .budget = budget, .emit = emit, .user = user};
    struct constraints s;
    memset(&s, 0, sizeof s);
    s.exact = true;
    s.limit = (struct interval){-AFFINE_INFINITE, AFFINE_INFINITE};
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
    uint64_t large = solver.work / FOOTPRINT_WORK; /* what is large counts as several */
    *budget -= large < *budget ? (uint32_t)large : *budget;
}
