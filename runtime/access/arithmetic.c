/* Operations on values. See evaluate.h.
 *
 * A form stands for a register's bits modulo two to the power of its width. Where an operation
 * reads the bits as a number (a widening, a division, a comparison) the form is first brought into
 * that number's range; a form that spans several ranges becomes one piece for each (PTX ISA
 * section 9.7.1: integer arithmetic wraps). */
#include "runtime/access/evaluate.h"

#include <string.h>

/* Constants and coefficients as small as the width allows: the same modulo two to its power. */
static void narrow(struct affine_form *form, uint32_t width)
{
    if (width >= 64)
        return;
    uint32_t unused = 64 - width;
    form->constant = (int64_t)((uint64_t)form->constant << unused) >> unused;
    for (uint32_t i = 0; i < form->count; i++) {
        int64_t *coefficient = &form->terms[i].coefficient;
        int64_t limit = (int64_t)1 << width;
        if (*coefficient >= limit || *coefficient <= -limit)
            *coefficient = (int64_t)((uint64_t)*coefficient << unused) >> unused;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < form->count; i++)
        if (form->terms[i].coefficient)
            form->terms[kept++] = form->terms[i];
    form->count = kept;
}

static void put(struct evaluation *e, struct maker *maker, const struct conjunction *when,
                struct affine_form *form, uint32_t base, uint8_t bound, uint32_t width)
{
    if (base == BASE_NONE)
        narrow(form, width);
    maker_put(e, maker, when, form, base, bound);
}

/* ---- Windows ---- */

struct piece piece_window(struct evaluation *e, const struct piece *piece, __int128 low,
                          int64_t size, bool cut_low, bool cut_high, bool *possible)
{
    struct piece result = *piece;
    struct affine_form form = *piece->form, limit;
    bool exact = true;
    *possible = true;
    if (cut_low) { /* form - low >= 0 */
        affine_scale(&limit, &form, 1, (int64_t)-low);
        *possible &= when_also(e, result.when, &limit, &result.when, &exact);
    }
    if (cut_high && *possible) { /* low + size - 1 - form >= 0 */
        affine_scale(&limit, &form, -1, (int64_t)(low + size - 1));
        *possible &= when_also(e, result.when, &limit, &result.when, &exact);
    }
    if (!exact)
        result.bound = bound_worst(result.bound, ACCESS_BOUND_SHAPE);
    return result;
}

uint32_t piece_windows(struct evaluation *e, const struct piece *piece, uint32_t width,
                       bool is_signed, struct piece windows[WINDOWS])
{
    struct interval interval = piece_interval(e, piece);
    if (!interval_is_finite(interval) || piece->base != BASE_NONE)
        return 0;
    windows[0] = *piece;
    if (width >= 62)
        return 1;
    int64_t size = (int64_t)1 << width, start = is_signed ? -(size / 2) : 0;
    int64_t first = floor_divide(interval.low - start, size);
    int64_t last = floor_divide(interval.high - start, size);
    uint32_t count = 0;
    if (last - first >= WINDOWS)
        return 0;
    for (int64_t w = first; w <= last; w++) {
        bool possible;
        struct affine_form form;
        struct piece one = piece_window(e, piece, (__int128)w * size + start, size, w > first,
                                        w < last, &possible);
        if (!possible)
            continue;
        affine_scale(&form, piece->form, 1, -w * size);
        one.form = affine_keep(e->pool, &form);
        windows[count++] = one;
    }
    return count;
}

/* ---- Bits ---- */

/* form + times * (modulus * quotient + remainder - what was divided), if that has fewer terms. */
static void join_division(const struct division *division, int64_t times, struct affine_form *form)
{
    struct affine_form joined = *form, rest = affine_index(division->remainder, 1);
    struct affine_form whole = affine_index(division->quotient, division->modulus);
    if (times && affine_add(&joined, &joined, &division->form, -times) &&
        affine_add(&joined, &joined, &rest, times) && affine_add(&joined, &joined, &whole, times) &&
        joined.count < form->count)
        *form = joined;
}

/* x - x % m is m * (x / m), which shows that it is a multiple; x - m * (x / m) is x % m, which
 * shows that it is below m. */
static void join_divisions(const struct evaluation *e, struct affine_form *form)
{
    for (uint32_t d = 0; d < e->indices.division_count && form->count > 1; d++) {
        const struct division *division = &e->indices.divisions[d];
        int64_t whole = affine_coefficient(form, division->quotient);
        join_division(division, -affine_coefficient(form, division->remainder), form);
        if (whole % division->modulus == 0)
            join_division(division, -(whole / division->modulus), form);
    }
}

/* The form modulo two to the power of `bits`, from 0. Any form that stands for the register will
 * do.
 */
static const struct value *low_bits(struct evaluation *e, const struct piece *piece, uint32_t bits)
{
    struct maker maker = maker_start();
    struct piece plain = *piece;
    plain.bound = ACCESS_EXACT;
    if (bits == 0)
        return value_constant(e, 0);
    divide_piece(e, &maker, &plain, (int64_t)1 << bits, true);
    return maker_finish(e, &maker);
}

/* sum = sum + sign * (a modulo 2^bits), with a's own pieces: returns false when that is no value.
 */
static bool add_low_bits(struct evaluation *e, struct maker *maker, const struct value *sums,
                         const struct piece *piece, uint32_t bits, int64_t sign, uint32_t width)
{
    const struct value *low;
    if (bits >= width)
        low = value_form(e, piece->form);
    else if (bits > 60)
        return false;
    else
        low = low_bits(e, piece, bits);
    for (uint32_t s = 0; s < sums->count; s++)
        for (uint32_t i = 0; i < low->count; i++) {
            struct affine_form form;
            const struct conjunction *when;
            bool exact = true;
            if (!when_both(e, sums->pieces[s].when, low->pieces[i].when, &when, &exact))
                continue;
            if (!affine_add(&form, sums->pieces[s].form, low->pieces[i].form, sign))
                return false;
            join_divisions(e, &form);
            maker_put(e, maker, when, &form, BASE_NONE,
                      bound_worst(sums->pieces[s].bound,
                                  exact ? low->pieces[i].bound : ACCESS_BOUND_SHAPE));
        }
    return true;
}

/* a & mask: for each run of ones from bit `low` to `high`, a mod 2^high - a mod 2^low. NULL: none.
 */
static const struct value *mask_piece(struct evaluation *e, const struct piece *piece,
                                      uint64_t mask, uint32_t width)
{
    struct affine_form zero = affine_constant(0);
    struct maker first = maker_start();
    if (piece->base != BASE_NONE)
        return NULL;
    if (width < 64)
        mask &= (UINT64_C(1) << width) - 1;
    maker_put(e, &first, piece->when, &zero, BASE_NONE, piece->bound);
    const struct value *sum = maker_finish(e, &first);
    for (uint32_t bit = 0, runs = 0; bit < width;) {
        if (!(mask >> bit & 1)) {
            bit++;
            continue;
        }
        uint32_t end = bit;
        while (end < width && mask >> end & 1)
            end++;
        if (++runs > 4)
            return NULL;
        struct maker up = maker_start(), down = maker_start();
        if (!add_low_bits(e, &up, sum, piece, end, 1, width))
            return NULL;
        sum = maker_finish(e, &up);
        if (bit) {
            if (!add_low_bits(e, &down, sum, piece, bit, -1, width))
                return NULL;
            sum = maker_finish(e, &down);
        }
        bit = end;
    }
    return sum;
}

/* Every value is below two to the power of the result, or 64. */
static uint32_t bits_of(struct evaluation *e, const struct value *value)
{
    int64_t high = 0;
    for (uint32_t i = 0; i < value->count; i++) {
        struct interval interval = piece_interval(e, &value->pieces[i]);
        if (interval.low < 0 || value->pieces[i].base != BASE_NONE ||
            interval.high >= AFFINE_INFINITE)
            return 64;
        if (interval.high > high)
            high = interval.high;
    }
    return high ? 64 - (uint32_t)__builtin_clzll((uint64_t)high) : 0;
}

/* Zero bits at the low end that every value has. */
static uint32_t zeros_of(const struct value *value)
{
    uint32_t zeros = 64;
    for (uint32_t i = 0; i < value->count; i++) {
        uint64_t bits = (uint64_t)affine_divisor(value->pieces[i].form) |
                        (uint64_t)value->pieces[i].form->constant;
        uint32_t own = bits ? (uint32_t)__builtin_ctzll(bits) : 64;
        zeros = own < zeros ? own : zeros;
    }
    return zeros;
}

static const struct value *add_values(struct evaluation *e, const struct value *a,
                                      const struct value *b, int64_t sign, uint32_t width);

/* One side is a constant: and, or, xor by masking. NULL: it cannot be said so. */
static const struct value *bits_with_constant(struct evaluation *e, const struct node *node,
                                              const struct value *a, int64_t constant)
{
    struct maker maker = maker_start();
    for (uint32_t i = 0; i < a->count; i++) {
        struct piece piece = a->pieces[i];
        if (!piece_concrete(e, &piece))
            return NULL;
        const struct value *masked = mask_piece(e, &piece, (uint64_t)constant, node->width);
        if (!masked)
            return NULL;
        for (uint32_t k = 0; k < masked->count; k++) {
            struct affine_form form = *masked->pieces[k].form, sum;
            if (node->operation != NODE_AND) {
                /* a | c == a + c - (a & c), a ^ c == a + c - 2 * (a & c) */
                int64_t times = node->operation == NODE_OR ? -1 : -2;
                if (!affine_add(&sum, piece.form, &form, times))
                    return NULL;
                affine_scale(&form, &sum, 1, constant);
            }
            put(e, &maker, masked->pieces[k].when, &form, BASE_NONE, masked->pieces[k].bound,
                node->width);
        }
    }
    return maker_finish(e, &maker);
}

static const struct value *bitwise(struct evaluation *e, const struct node *node)
{
    const struct value *a = evaluate_node(e, node->a), *b = evaluate_node(e, node->b), *result;
    int64_t constant;
    if (node->operation != NODE_AND) { /* bits that are never both set: the sum */
        if (bits_of(e, a) <= zeros_of(b) || bits_of(e, b) <= zeros_of(a))
            return add_values(e, a, b, 1, node->width);
    }
    result = NULL;
    if (value_is_constant(b, &constant))
        result = bits_with_constant(e, node, a, constant);
    else if (value_is_constant(a, &constant))
        result = bits_with_constant(e, node, b, constant);
    if (result)
        return result;
    uint32_t bits_a = bits_of(e, a), bits_b = bits_of(e, b);
    uint32_t bits = node->operation == NODE_AND ? (bits_a < bits_b ? bits_a : bits_b)
                                                : (bits_a > bits_b ? bits_a : bits_b);
    return bits < 60 ? value_between(e, 0, ((int64_t)1 << bits) - 1, ACCESS_BOUND_SHAPE)
                     : value_any(e, node->width, ACCESS_BOUND_SHAPE);
}

/* ---- Sums and products ---- */

static bool add_pieces(struct evaluation *e, struct maker *maker, struct piece a, struct piece b,
                       int64_t sign, uint32_t width)
{
    const struct conjunction *when;
    bool exact = true;
    struct affine_form form;
    if (!when_both(e, a.when, b.when, &when, &exact))
        return true;
    uint32_t base = a.base;
    if (sign < 0 && b.base != BASE_NONE) {
        bool same = a.base == b.base && a.base >= BASE_MEMORY;
        bool number = same || (piece_concrete(e, &b) && piece_concrete(e, &a));
        base = number ? BASE_NONE : BASE_UNKNOWN;
    } else if (b.base != BASE_NONE) {
        /* p + n, both of which may look like pointers */
        bool number = a.base == BASE_NONE || piece_concrete(e, &a);
        base = number ? b.base : (uint32_t)BASE_UNKNOWN;
    }
    if (!affine_add(&form, a.form, b.form, sign))
        return false;
    join_divisions(e, &form);
    put(e, maker, when, &form, base,
        bound_worst(bound_worst(a.bound, b.bound), exact ? ACCESS_EXACT : ACCESS_BOUND_SHAPE),
        width);
    return true;
}

static const struct value *add_values(struct evaluation *e, const struct value *a,
                                      const struct value *b, int64_t sign, uint32_t width)
{
    struct maker maker = maker_start();
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count; k++)
            if (!add_pieces(e, &maker, a->pieces[i], b->pieces[k], sign, width))
                return value_any(e, width, ACCESS_BOUND_SHAPE);
    return maker_finish(e, &maker);
}

static int64_t constant_of_width(int64_t constant, uint32_t width)
{
    struct affine_form form = affine_constant(constant);
    narrow(&form, width);
    return form.constant;
}

/* The products of the two intervals' ends bound the product. */
static struct interval multiply_intervals(struct interval a, struct interval b)
{
    struct interval result = {-AFFINE_INFINITE, AFFINE_INFINITE};
    if (!interval_is_finite(a) || !interval_is_finite(b))
        return result;
    __int128 ends[4] = {(__int128)a.low * b.low, (__int128)a.low * b.high, (__int128)a.high * b.low,
                        (__int128)a.high * b.high};
    __int128 low = ends[0], high = ends[0];
    for (int i = 1; i < 4; i++) {
        low = ends[i] < low ? ends[i] : low;
        high = ends[i] > high ? ends[i] : high;
    }
    if (low > -(__int128)AFFINE_INFINITE && high < (__int128)AFFINE_INFINITE)
        result = (struct interval){(int64_t)low, (int64_t)high};
    return result;
}

static bool multiply_pieces(struct evaluation *e, struct maker *maker, struct piece a,
                            struct piece b, uint32_t width)
{
    const struct conjunction *when;
    bool exact = true;
    struct affine_form form;
    if (!when_both(e, a.when, b.when, &when, &exact))
        return true;
    if (!piece_concrete(e, &a) || !piece_concrete(e, &b))
        return false;
    uint8_t bound =
        bound_worst(bound_worst(a.bound, b.bound), exact ? ACCESS_EXACT : ACCESS_BOUND_SHAPE);
    if (affine_is_constant(b.form)) {
        affine_scale(&form, a.form, constant_of_width(b.form->constant, width), 0);
    } else if (affine_is_constant(a.form)) {
        affine_scale(&form, b.form, constant_of_width(a.form->constant, width), 0);
    } else {
        struct interval product = multiply_intervals(piece_interval(e, &a), piece_interval(e, &b));
        uint8_t why = bound_worst(form_bound(e, a.form), form_bound(e, b.form));
        const struct value *some =
            value_between(e, product.low, product.high, why ? why : ACCESS_BOUND_SHAPE);
        form = *some->pieces[0].form;
    }
    put(e, maker, when, &form, BASE_NONE, bound, width);
    return true;
}

static const struct value *multiply(struct evaluation *e, const struct node *node)
{
    const struct value *a = evaluate_node(e, node->a), *b = evaluate_node(e, node->b);
    struct maker maker = maker_start();
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count; k++)
            if (!multiply_pieces(e, &maker, a->pieces[i], b->pieces[k], node->width))
                return value_any(e, node->width, ACCESS_BOUND_SHAPE);
    return maker_finish(e, &maker);
}

static const struct value *shift_left(struct evaluation *e, const struct node *node)
{
    const struct value *a = evaluate_node(e, node->a), *b = evaluate_node(e, node->b);
    int64_t amount;
    struct maker maker = maker_start();
    if (!value_is_constant(b, &amount) || amount < 0)
        return value_any(e, node->width, ACCESS_BOUND_SHAPE);
    if (amount >= node->width)
        return value_constant(e, 0);
    for (uint32_t i = 0; i < a->count; i++) {
        struct piece piece = a->pieces[i];
        struct affine_form form;
        if (!piece_concrete(e, &piece))
            return value_any(e, node->width, ACCESS_BOUND_SHAPE);
        affine_scale(&form, piece.form, (int64_t)(UINT64_C(1) << amount), 0);
        put(e, &maker, piece.when, &form, BASE_NONE, piece.bound, node->width);
    }
    return maker_finish(e, &maker);
}

/* ---- Choices ---- */

/* The smaller or larger of two, each where it is; where they are equal, the one that is a number.
 */
static bool choose_pieces(struct evaluation *e, struct maker *maker, const struct piece *a,
                          const struct piece *b, bool maximum)
{
    const struct conjunction *when, *first, *second;
    bool exact = true;
    struct affine_form less, more;
    if (!when_both(e, a->when, b->when, &when, &exact))
        return true;
    if (!affine_add(&less, b->form, a->form, -1)) /* b - a >= 0: a is the smaller */
        return false;
    if (affine_is_constant(b->form) && affine_divisor(a->form) > 1)
        less.constant -= 1;
    affine_scale(&more, &less, -1, -1);
    uint8_t bound =
        bound_worst(bound_worst(a->bound, b->bound), exact ? ACCESS_EXACT : ACCESS_BOUND_SHAPE);
    const struct piece *of_less = maximum ? b : a, *of_more = maximum ? a : b;
    if (when_also(e, when, &less, &first, &exact))
        maker_put(e, maker, first, of_less->form, of_less->base, bound);
    if (when_also(e, when, &more, &second, &exact))
        maker_put(e, maker, second, of_more->form, of_more->base, bound);
    return true;
}

/* What of the piece is negative as a signed number, or what is not; false: nothing. */
static bool half_of(struct evaluation *e, const struct piece *piece, bool negative,
                    struct piece *half)
{
    struct affine_form constraint = *piece->form;
    bool exact = true;
    *half = *piece;
    if (negative)
        affine_scale(&constraint, piece->form, -1, -1);
    if (!when_also(e, piece->when, &constraint, &half->when, &exact))
        return false;
    if (!exact)
        half->bound = bound_worst(half->bound, ACCESS_BOUND_SHAPE);
    return true;
}

/* Unsigned 64-bit numbers of 2^63 and more are negative forms: larger than any other. */
static bool choose_wide_unsigned(struct evaluation *e, struct maker *maker, const struct piece *a,
                                 const struct piece *b, bool maximum)
{
    for (unsigned halves = 0; halves < 4; halves++) {
        bool high_a = halves & 1, high_b = halves & 2;
        const struct conjunction *when;
        struct piece left, right;
        bool exact = true;
        if (!half_of(e, a, high_a, &left) || !half_of(e, b, high_b, &right))
            continue;
        if (high_a == high_b) {
            if (!choose_pieces(e, maker, &left, &right, maximum))
                return false;
        } else if (when_both(e, left.when, right.when, &when, &exact)) {
            const struct piece *chosen = high_a == maximum ? &left : &right;
            uint8_t bound = bound_worst(left.bound, right.bound);
            maker_put(e, maker, when, chosen->form, chosen->base,
                      exact ? bound : bound_worst(bound, ACCESS_BOUND_SHAPE));
        }
    }
    return true;
}

static const struct value *choose(struct evaluation *e, const struct node *node)
{
    bool wide = node->width >= 62 && !node->is_signed;
    const struct value *a = evaluate_node(e, node->a), *b = evaluate_node(e, node->b);
    bool maximum = node->operation == NODE_MAXIMUM;
    struct maker maker = maker_start();
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count; k++) {
            struct piece left[WINDOWS], right[WINDOWS];
            uint32_t lefts = piece_windows(e, &a->pieces[i], node->width, node->is_signed, left);
            uint32_t rights = piece_windows(e, &b->pieces[k], node->width, node->is_signed, right);
            if (!lefts || !rights)
                return value_any(e, node->width, ACCESS_BOUND_SHAPE);
            for (uint32_t l = 0; l < lefts; l++)
                for (uint32_t r = 0; r < rights; r++)
                    if (wide ? !choose_wide_unsigned(e, &maker, &left[l], &right[r], maximum)
                             : !choose_pieces(e, &maker, &left[l], &right[r], maximum))
                        return value_any(e, node->width, ACCESS_BOUND_SHAPE);
        }
    return maker_finish(e, &maker);
}

static const struct value *absolute(struct evaluation *e, const struct node *node)
{
    const struct value *a = evaluate_node(e, node->a);
    struct maker maker = maker_start();
    for (uint32_t i = 0; i < a->count; i++) {
        struct piece windows[WINDOWS];
        uint32_t count = piece_windows(e, &a->pieces[i], node->width, true, windows);
        if (!count)
            return value_any(e, node->width, ACCESS_BOUND_SHAPE);
        for (uint32_t w = 0; w < count; w++) {
            struct affine_form negative;
            struct piece mirrored = windows[w];
            affine_scale(&negative, windows[w].form, -1, 0);
            mirrored.form = affine_keep(e->pool, &negative);
            if (!choose_pieces(e, &maker, &windows[w], &mirrored, true))
                return value_any(e, node->width, ACCESS_BOUND_SHAPE);
        }
    }
    return maker_finish(e, &maker);
}

static void put_chosen(struct evaluation *e, struct maker *maker, const struct condition *condition,
                       const struct value *value)
{
    for (uint32_t c = 0; c < condition->when.count; c++)
        for (uint32_t i = 0; i < value->count; i++) {
            const struct piece *piece = &value->pieces[i];
            const struct conjunction *when, *only = condition->when.items[c];
            bool exact = true;
            if (!when_both(e, only->count ? only : NULL, piece->when, &when, &exact))
                continue;
            uint8_t bound = bound_worst(piece->bound, condition->bound);
            maker_put(e, maker, when, piece->form, piece->base,
                      exact ? bound : bound_worst(bound, ACCESS_BOUND_SHAPE));
        }
}

static const struct value *select_value(struct evaluation *e, const struct node *node)
{
    const struct predicate *predicate = evaluate_predicate(e, node->a);
    struct maker maker = maker_start();
    if (predicate->yes.when.count)
        put_chosen(e, &maker, &predicate->yes, evaluate_node(e, node->b));
    if (predicate->no.when.count)
        put_chosen(e, &maker, &predicate->no, evaluate_node(e, node->c));
    return maker_finish(e, &maker);
}

/* ---- Widths ---- */

static const struct value *extend(struct evaluation *e, const struct node *node)
{
    const struct value *a = evaluate_node(e, node->a);
    uint32_t from = (uint32_t)node->value;
    struct maker maker = maker_start();
    for (uint32_t i = 0; i < a->count; i++) {
        struct piece windows[WINDOWS];
        uint32_t count = piece_windows(e, &a->pieces[i], from, node->is_signed, windows);
        if (!count) {
            uint8_t bound = form_bound(e, a->pieces[i].form);
            int64_t size = (int64_t)1 << from;
            return value_between(e, node->is_signed ? -(size / 2) : 0,
                                 node->is_signed ? size / 2 - 1 : size - 1,
                                 bound ? bound : ACCESS_BOUND_SHAPE);
        }
        for (uint32_t w = 0; w < count; w++)
            maker_put(e, &maker, windows[w].when, windows[w].form, BASE_NONE, windows[w].bound);
    }
    return maker_finish(e, &maker);
}

static const struct value *truncate(struct evaluation *e, const struct node *node)
{
    const struct value *a = evaluate_node(e, node->a);
    struct maker maker = maker_start();
    for (uint32_t i = 0; i < a->count; i++) {
        struct piece piece = a->pieces[i];
        struct affine_form form;
        if (!piece_concrete(e, &piece))
            return value_any(e, node->width, ACCESS_BOUND_SHAPE);
        form = *piece.form;
        put(e, &maker, piece.when, &form, BASE_NONE, piece.bound, node->width);
    }
    return maker_finish(e, &maker);
}

static const struct value *complement(struct evaluation *e, const struct node *node)
{
    const struct value *a = evaluate_node(e, node->a);
    struct maker maker = maker_start();
    for (uint32_t i = 0; i < a->count; i++) {
        struct piece piece = a->pieces[i];
        struct affine_form form;
        if (!piece_concrete(e, &piece))
            return value_any(e, node->width, ACCESS_BOUND_SHAPE);
        affine_scale(&form, piece.form, -1, -1);
        put(e, &maker, piece.when, &form, BASE_NONE, piece.bound, node->width);
    }
    return maker_finish(e, &maker);
}

const struct value *operate(struct evaluation *e, const struct node *node)
{
    switch (node->operation) {
    case NODE_ADD:
    case NODE_SUB:
        return add_values(e, evaluate_node(e, node->a), evaluate_node(e, node->b),
                          node->operation == NODE_ADD ? 1 : -1, node->width);
    case NODE_MULTIPLY:
        return multiply(e, node);
    case NODE_DIVIDE:
    case NODE_REMAINDER:
        return evaluate_divide(e, node);
    case NODE_SHIFT_LEFT:
        return shift_left(e, node);
    case NODE_SHIFT_RIGHT:
        return evaluate_shift_right(e, node);
    case NODE_AND:
    case NODE_OR:
    case NODE_XOR:
        return bitwise(e, node);
    case NODE_NOT:
        return complement(e, node);
    case NODE_MINIMUM:
    case NODE_MAXIMUM:
        return choose(e, node);
    case NODE_ABSOLUTE:
        return absolute(e, node);
    case NODE_EXTEND:
        return extend(e, node);
    case NODE_TRUNCATE:
        return truncate(e, node);
    case NODE_MAGIC:
        return evaluate_magic(e, node);
    case NODE_SELECT:
        return select_value(e, node);
    default:
        return value_any(e, node->width, ACCESS_BOUND_SHAPE);
    }
}
