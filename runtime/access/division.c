/* Division, remainder and what compilers make of them: multiplication by a magic number, shifts to
 * the right. A quotient that is no form of the indices becomes a new index with bounds of its own,
 * or a piece for each of its few values. See evaluate.h. */
#include "runtime/access/evaluate.h"

/* quotient = whole + rest / divisor, with the rest's least value in 0 .. divisor - 1. Multiples of
 * the divisor go into the whole; with `reduce` also the multiples in other coefficients. */
static bool split_form(struct evaluation *e, const struct affine_form *form, int64_t divisor,
                       bool reduce, struct affine_form *whole, struct affine_form *rest)
{
    *whole = affine_constant(0);
    *rest = affine_constant(form->constant);
    for (uint32_t i = 0; i < form->count; i++) {
        int64_t coefficient = form->terms[i].coefficient;
        int64_t times = floor_divide(coefficient, divisor), left = coefficient - times * divisor;
        if (left && !reduce) {
            times = 0;
            left = coefficient;
        } else if (left > divisor / 2) {
            left -= divisor;
            times++;
        }
        if (times)
            whole->terms[whole->count++] = (struct term){form->terms[i].index, times};
        if (left)
            rest->terms[rest->count++] = (struct term){form->terms[i].index, left};
    }
    struct interval interval = affine_interval(rest, &e->indices);
    if (!interval_is_finite(interval))
        return false;
    int64_t down = floor_divide(interval.low, divisor);
    rest->constant -= down * divisor;
    whole->constant += down;
    return true;
}

static const struct division *division_find(struct evaluation *e, const struct affine_form *form,
                                            int64_t divisor)
{
    struct index_table *indices = &e->indices;
    for (uint32_t d = 0; d < indices->division_count; d++)
        if (indices->divisions[d].modulus == divisor &&
            affine_equal(&indices->divisions[d].form, form))
            return &indices->divisions[d];
    if (indices->division_count == sizeof indices->divisions / sizeof indices->divisions[0])
        return NULL;
    struct interval interval = affine_interval(form, indices);
    struct division *division = &indices->divisions[indices->division_count];
    division->form = *form;
    division->modulus = divisor;
    division->quotient = index_add(indices, floor_divide(interval.low, divisor),
                                   floor_divide(interval.high, divisor));
    division->remainder = index_add(indices, 0, divisor - 1);
    if (division->quotient == UINT32_MAX || division->remainder == UINT32_MAX)
        return NULL;
    uint8_t bound = form_bound(e, form);
    indices->ranges[division->quotient].bound = bound;
    indices->ranges[division->remainder].bound = bound;
    indices->division_count++;
    return division;
}

/* The rest's few ranges, one piece for each. */
static void divide_by_cases(struct evaluation *e, struct maker *maker, const struct piece *piece,
                            const struct affine_form *whole, const struct affine_form *rest,
                            int64_t divisor, int64_t cases, bool remainder)
{
    for (int64_t q = 0; q < cases; q++) {
        bool possible;
        struct piece of_rest = *piece;
        of_rest.form = rest;
        struct piece one = piece_window(e, &of_rest, (__int128)q * divisor, divisor, q > 0,
                                        q < cases - 1, &possible);
        struct affine_form result;
        if (!possible)
            continue;
        if (remainder)
            affine_scale(&result, rest, 1, -q * divisor);
        else
            affine_scale(&result, whole, 1, q);
        maker_put(e, maker, one.when, &result, BASE_NONE, one.bound);
    }
}

/* The same form was divided by a multiple of the divisor, or by one of its divisors: then only what
 * came out of that is divided once more. */
static bool divide_again(struct evaluation *e, const struct affine_form *form, int64_t divisor,
                         struct affine_form *quotient, struct affine_form *remainder)
{
    struct index_table *indices = &e->indices;
    for (uint32_t d = 0; d < indices->division_count; d++) {
        const struct division found = indices->divisions[d];
        bool finer = found.modulus % divisor == 0, coarser = divisor % found.modulus == 0;
        if (found.modulus == divisor || !(finer || coarser) || !affine_equal(&found.form, form))
            continue;
        struct affine_form inner = affine_index(finer ? found.remainder : found.quotient, 1);
        struct affine_form whole = affine_index(found.quotient, 1),
                           rest = affine_index(found.remainder, 1);
        int64_t modulus = finer ? divisor : divisor / found.modulus;
        const struct division *more = division_find(e, &inner, modulus);
        if (!more)
            return false;
        *quotient = affine_index(more->quotient, 1);
        *remainder = affine_index(more->remainder, 1);
        if (finer) /* form = modulus * whole + (divisor * q + r) */
            return affine_add(quotient, quotient, &whole, found.modulus / divisor);
        /* form = modulus * (m * q + r) + rest */
        affine_scale(remainder, remainder, found.modulus, 0);
        return affine_add(remainder, remainder, &rest, 1);
    }
    const struct division *division = division_find(e, form, divisor);
    if (!division)
        return false;
    *quotient = affine_index(division->quotient, 1);
    *remainder = affine_index(division->remainder, 1);
    return true;
}

/* By two new indices: rest == divisor * quotient + remainder. */
static bool divide_by_indices(struct evaluation *e, struct maker *maker, const struct piece *piece,
                              const struct affine_form *whole, const struct affine_form *rest,
                              int64_t divisor, bool remainder)
{
    int64_t common = affine_divisor(rest), offset;
    struct affine_form reduced, result;
    if (common == 0 || divisor % common)
        common = 1;
    offset = rest->constant - floor_divide(rest->constant, common) * common;
    reduced = affine_constant(floor_divide(rest->constant, common));
    for (uint32_t i = 0; i < rest->count; i++)
        reduced.terms[reduced.count++] =
            (struct term){rest->terms[i].index, rest->terms[i].coefficient / common};
    struct affine_form quotient, left;
    if (!divide_again(e, &reduced, divisor / common, &quotient, &left))
        return false;
    if (remainder)
        affine_scale(&result, &left, common, offset);
    else if (!affine_add(&result, whole, &quotient, 1))
        return false;
    maker_put(e, maker, piece->when, &result, BASE_NONE, piece->bound);
    return true;
}

/* The piece's own conditions may leave so few quotients that each is a number. */
static bool divide_by_numbers(struct evaluation *e, struct maker *maker, const struct piece *piece,
                              int64_t divisor, bool remainder)
{
    struct interval interval = piece_interval(e, piece);
    if (!interval_is_finite(interval))
        return false;
    int64_t first = floor_divide(interval.low, divisor),
            last = floor_divide(interval.high, divisor);
    if (last - first > 1)
        return false;
    for (int64_t q = first; q <= last; q++) {
        bool possible;
        struct piece one =
            piece_window(e, piece, (__int128)q * divisor, divisor, q > first, q < last, &possible);
        struct affine_form result = affine_constant(q);
        if (!possible)
            continue;
        if (remainder)
            affine_scale(&result, piece->form, 1, -q * divisor);
        maker_put(e, maker, one.when, &result, BASE_NONE, one.bound);
    }
    return true;
}

void divide_piece(struct evaluation *e, struct maker *maker, const struct piece *piece,
                  int64_t divisor, bool remainder)
{
    struct affine_form whole, rest;
    uint8_t bound = bound_worst(piece->bound, form_bound(e, piece->form));
    if (divisor > 0 && divisor <= AFFINE_INFINITE / 2 &&
        divide_by_numbers(e, maker, piece, divisor, remainder))
        return;
    if (divisor <= 0 || divisor > AFFINE_INFINITE / 2 ||
        !split_form(e, piece->form, divisor, false, &whole, &rest)) {
        const struct value *any =
            value_between(e, remainder && divisor > 0 ? 0 : -AFFINE_INFINITE,
                          remainder && divisor > 0 ? divisor - 1 : AFFINE_INFINITE,
                          bound ? bound : ACCESS_BOUND_SHAPE);
        maker_put(e, maker, piece->when, any->pieces[0].form, BASE_NONE, piece->bound);
        return;
    }
    struct interval interval = affine_interval(&rest, &e->indices);
    int64_t cases = floor_divide(interval.high, divisor) + 1;
    bool dense = affine_is_dense(&rest, &e->indices) && !bound;
    if (cases > 2 && !dense && split_form(e, piece->form, divisor, true, &whole, &rest)) {
        interval = affine_interval(&rest, &e->indices);
        cases = floor_divide(interval.high, divisor) + 1;
        dense = affine_is_dense(&rest, &e->indices) && !bound;
    }
    if (cases <= 2 || (!dense && cases <= 4)) {
        divide_by_cases(e, maker, piece, &whole, &rest, divisor, cases, remainder);
        return;
    }
    if (divide_by_indices(e, maker, piece, &whole, &rest, divisor, remainder))
        return;
    const struct value *any = value_between(e, 0, remainder ? divisor - 1 : cases - 1,
                                            bound ? bound : ACCESS_BOUND_SHAPE);
    struct affine_form result = *any->pieces[0].form;
    if (!remainder && !affine_add(&result, &result, &whole, 1))
        longjmp(*e->pool->exhausted, 1);
    maker_put(e, maker, piece->when, &result, BASE_NONE, piece->bound);
}

/* a / b and a % b truncate towards 0 (PTX ISA sections 9.7.1.9 and 9.7.1.10). */
static void divide_signed(struct evaluation *e, struct maker *maker, const struct piece *piece,
                          int64_t divisor, bool remainder)
{
    struct interval interval = piece_interval(e, piece);
    struct piece half = *piece;
    struct affine_form form = *piece->form, negative;
    bool exact = true;
    if (interval.low >= 0) {
        divide_piece(e, maker, piece, divisor, remainder);
        return;
    }
    if (when_also(e, piece->when, &form, &half.when, &exact) && interval.high >= 0)
        divide_piece(e, maker, &half, divisor, remainder);
    affine_scale(&negative, &form, -1, -1); /* -1 - a >= 0 */
    half = *piece;
    if (!when_also(e, piece->when, &negative, &half.when, &exact))
        return;
    negative.constant = -form.constant;
    half.form = &negative;
    struct maker mirrored = maker_start();
    divide_piece(e, &mirrored, &half, divisor, remainder);
    const struct value *value = maker_finish(e, &mirrored);
    for (uint32_t i = 0; i < value->count; i++) {
        struct affine_form result;
        affine_scale(&result, value->pieces[i].form, -1, 0);
        maker_put(e, maker, value->pieces[i].when, &result, BASE_NONE,
                  exact ? value->pieces[i].bound : ACCESS_BOUND_SHAPE);
    }
}

/* Divides one piece by a piece that is a number, as the node's width reads it; false: the result is
 * not known. */
static bool divide_pieces(struct evaluation *e, struct maker *maker, const struct node *node,
                          const struct piece *a, const struct piece *b)
{
    struct piece windows[WINDOWS];
    int64_t divisor = b->form->constant;
    if (b->base != BASE_NONE || !affine_is_constant(b->form))
        return false;
    if (node->width < 64) {
        uint64_t bits = (uint64_t)divisor << (64 - node->width);
        divisor = node->is_signed ? (int64_t)bits >> (64 - node->width)
                                  : (int64_t)(bits >> (64 - node->width));
    }
    uint32_t count = divisor > 0 ? piece_windows(e, a, node->width, node->is_signed, windows) : 0;
    for (uint32_t w = 0; w < count && !node->is_signed; w++)
        if (piece_interval(e, &windows[w]).low < 0)
            return false;
    for (uint32_t w = 0; w < count; w++) {
        bool remainder = node->operation == NODE_REMAINDER;
        if (node->is_signed)
            divide_signed(e, maker, &windows[w], divisor, remainder);
        else
            divide_piece(e, maker, &windows[w], divisor, remainder);
    }
    return count != 0;
}

const struct value *evaluate_divide(struct evaluation *e, const struct node *node)
{
    const struct value *a = evaluate_node(e, node->a), *b = evaluate_node(e, node->b);
    struct maker maker = maker_start();
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count; k++) {
            struct piece one = a->pieces[i];
            bool exact = true;
            if (!when_both(e, one.when, b->pieces[k].when, &one.when, &exact))
                continue;
            one.bound = bound_worst(bound_worst(one.bound, b->pieces[k].bound),
                                    exact ? ACCESS_EXACT : ACCESS_BOUND_SHAPE);
            if (divide_pieces(e, &maker, node, &one, &b->pieces[k]))
                continue;
            /* perhaps a case that no thread is in: a divisor of 0 that a branch rules out */
            const struct value *any = value_any(e, node->width, ACCESS_BOUND_SHAPE);
            maker_put(e, &maker, one.when, any->pieces[0].form, BASE_NONE, ACCESS_BOUND_SHAPE);
        }
    return maker_finish(e, &maker);
}

/* a * value >> high: a division by a constant where a is known to be small enough. */
const struct value *evaluate_magic(struct evaluation *e, const struct node *node)
{
    const struct value *a = evaluate_node(e, node->a);
    struct maker maker = maker_start();
    __int128 power = (__int128)1 << node->high;
    if (node->value <= 0)
        return value_any(e, node->width, ACCESS_BOUND_SHAPE);
    __int128 divisor = (power + node->value - 1) / node->value;
    for (uint32_t i = 0; i < a->count; i++) {
        struct piece windows[WINDOWS];
        uint32_t count = piece_windows(e, &a->pieces[i], e->graph->nodes[node->a].width,
                                       node->is_signed, windows);
        if (!count)
            return value_any(e, node->width, ACCESS_BOUND_SHAPE);
        for (uint32_t w = 0; w < count; w++) {
            struct interval interval = piece_interval(e, &windows[w]);
            __int128 error = divisor * node->value - power;
            if (interval.low < 0)
                return value_any(e, node->width, ACCESS_BOUND_SHAPE);
            if (interval.high < divisor) { /* 0 throughout, if the product is that small */
                struct affine_form zero = affine_constant(0);
                if (((__int128)interval.high * node->value) >> node->high)
                    return value_any(e, node->width, ACCESS_BOUND_SHAPE);
                maker_put(e, &maker, windows[w].when, &zero, BASE_NONE, windows[w].bound);
            } else if (error * interval.high < power) {
                divide_piece(e, &maker, &windows[w], (int64_t)divisor, false);
            } else {
                const struct value *some = value_between(
                    e, 0, (int64_t)(((__int128)interval.high * node->value) >> node->high),
                    ACCESS_BOUND_SHAPE);
                maker_put(e, &maker, windows[w].when, some->pieces[0].form, BASE_NONE,
                          windows[w].bound);
            }
        }
    }
    return maker_finish(e, &maker);
}

const struct value *evaluate_shift_right(struct evaluation *e, const struct node *node)
{
    const struct value *a = evaluate_node(e, node->a), *b = evaluate_node(e, node->b);
    int64_t amount;
    struct maker maker = maker_start();
    if (!value_is_constant(b, &amount) || amount < 0)
        return value_any(e, node->width, ACCESS_BOUND_SHAPE);
    if (amount >= node->width) {
        if (!node->is_signed)
            return value_constant(e, 0);
        amount = node->width - 1;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        struct piece windows[WINDOWS];
        uint32_t count = piece_windows(e, &a->pieces[i], node->width, node->is_signed, windows);
        if (!count || amount >= 60 ||
            (!node->is_signed && node->width == 64 && piece_interval(e, &windows[0]).low < 0)) {
            if (count && amount >= 60 && piece_interval(e, &windows[0]).low >= 0) {
                struct affine_form zero = affine_constant(0);
                maker_put(e, &maker, a->pieces[i].when, &zero, BASE_NONE, a->pieces[i].bound);
                continue;
            }
            return value_any(e, node->width, ACCESS_BOUND_SHAPE);
        }
        for (uint32_t w = 0; w < count; w++)
            divide_piece(e, &maker, &windows[w], (int64_t)1 << amount, false);
    }
    return maker_finish(e, &maker);
}
