/* Products of matrices: mma.sync and wmma.mma (PTX ISA 9.7.14.4 and .5). PTX leaves the order of a
 * sum and its intermediate rounding open; here products and sums are made in double, exactly but
 * for .f64, and rounded once, to nearest even. */
#include "runtime/device/exec/exec_matrix.h"
#include "runtime/device/exec/exec_half.h"

#include <math.h>

enum { MOST_A = 16 * 256, MOST_B = 256 * 32, MOST_C = 32 * 32 };
enum { MOST_M = 32, MOST_N = 32, MOST_K = 256, WIDE_M = 16, NARROW_M = 8, NARROW_N = 8 };

struct product {
    uint32_t m, n, k;
    struct fragment a, b, c, d;
    bool saturate, exclusive;
    uint8_t kind; /* enum matrix_kind */
    bool scaled;  /* .block_scale: see alu_scale.c */
    struct matrix_scales scales;
    bool sparse;       /* a has half of the columns: see alu_sparse.c */
    uint32_t metadata; /* slot */
    uint32_t selector;
};

/* ---- elements ------------------------------------------------------------------------------ */

/* A float that has neither infinity nor NaN, behind its sign (PTX ISA 5.2.3). */
static double small_float(uint32_t bits, int mantissa, int exponents)
{
    const int bias = (1 << (exponents - 1)) - 1;
    const int exponent = (int)(bits >> mantissa) & ((1 << exponents) - 1);
    const int fraction = (int)bits & ((1 << mantissa) - 1);
    const double value = exponent ? ldexp((1 << mantissa) + fraction, exponent - bias - mantissa)
                                  : ldexp(fraction, 1 - bias - mantissa);
    return bits >> (mantissa + exponents) & 1 ? -value : value;
}

double matrix_element_value(uint8_t element, uint64_t bits)
{
    double value;
    switch (element) {
    case ELEMENT_F16:
        return (double)half_to_float((uint16_t)bits);
    case ELEMENT_BF16:
        return (double)bfloat_to_float((uint16_t)bits);
    case ELEMENT_TF32: /* the lower 13 bits are ignored */
        return (double)float_from_bits((uint32_t)bits & 0xffffe000);
    case ELEMENT_F32:
        return (double)float_from_bits((uint32_t)bits);
    case ELEMENT_F64:
        memcpy(&value, &bits, 8);
        return value;
    case ELEMENT_E4M3:
        return e4m3_to_double((uint32_t)bits);
    case ELEMENT_E5M2:
        return (double)half_to_float((uint16_t)(bits << 8));
    case ELEMENT_E2M1:
        return small_float((uint32_t)bits >> 2 & 15, 1, 2);
    case ELEMENT_E2M1_PACKED:
        return small_float((uint32_t)bits, 1, 2);
    case ELEMENT_E2M3:
        return small_float((uint32_t)bits & 63, 3, 2);
    case ELEMENT_E3M2:
        return small_float((uint32_t)bits & 63, 2, 3);
    case ELEMENT_S32:
        return (double)(int32_t)bits;
    case ELEMENT_S8:
        return (double)(int8_t)bits;
    case ELEMENT_S4:
        return (double)((int8_t)(bits << 4) >> 4);
    default:
        return (double)bits;
    }
}

/* Integers wrap, or stop at the ends. */
static uint32_t integer_bits(double value, bool saturate)
{
    if (saturate && value > INT32_MAX)
        return INT32_MAX;
    if (saturate && value < INT32_MIN)
        return (uint32_t)INT32_MIN;
    return (uint32_t)(int64_t)value;
}

static uint64_t element_bits(uint8_t element, bool saturate, double value)
{
    uint64_t bits;
    switch (element) {
    case ELEMENT_F16:
        return half_from_double(value);
    case ELEMENT_F32:
        return float_bits(half_canonical((float)value));
    case ELEMENT_S32:
        return integer_bits(value, saturate);
    default:
        memcpy(&bits, &value, 8);
        return bits;
    }
}

/* ---- fragments ----------------------------------------------------------------------------- */

static uint64_t register_bits(struct warp *w, const struct fragment *fragment, uint32_t r,
                              uint32_t lane)
{
    const void *values = slot(w, fragment->slots[r]);
    return fragment->register_bytes == 8 ? ((const uint64_t *)values)[lane]
                                         : ((const uint32_t *)values)[lane];
}

void matrix_read(struct warp *w, const struct fragment *fragment, double *matrix)
{
    uint32_t bits = matrix_element_bits(fragment->element), packed = fragment_packed(fragment);
    uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        for (uint32_t r = 0; r < fragment->count; r++) {
            uint64_t value = register_bits(w, fragment, r, lane);
            for (uint32_t j = 0; j < packed; j++) {
                uint32_t row, column;
                fragment_place(fragment, lane, r, j, &row, &column);
                matrix[row * fragment->columns + column] =
                    matrix_element_value(fragment->element, value >> (j * bits) & mask);
            }
        }
}

void matrix_write(struct warp *w, const struct fragment *d, bool saturate, const double *matrix)
{
    uint32_t bits = matrix_element_bits(d->element), packed = fragment_packed(d);
    for (uint32_t m = w->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        for (uint32_t r = 0; r < d->count; r++) {
            uint64_t value = 0;
            for (uint32_t j = 0; j < packed; j++) {
                uint32_t row, column;
                fragment_place(d, lane, r, j, &row, &column);
                value |= element_bits(d->element, saturate, matrix[row * d->columns + column])
                         << (j * bits);
            }
            memcpy((uint8_t *)slot(w, d->slots[r]) + (size_t)lane * d->register_bytes, &value,
                   d->register_bytes);
        }
    }
}

/* ---- the product --------------------------------------------------------------------------- */

static void multiply_exactly(const struct product *p, const double *a, const double *b, double *c)
{
    for (uint32_t row = 0; row < p->m; row++)
        for (uint32_t k = 0; k < p->k; k++) {
            double factor = a[row * p->k + k];
            for (uint32_t column = 0; column < p->n; column++)
                c[row * p->n + column] += factor * b[k * p->n + column];
        }
}

static void multiply_double(const struct product *p, const double *a, const double *b, double *c)
{
    for (uint32_t row = 0; row < p->m; row++)
        for (uint32_t k = 0; k < p->k; k++)
            for (uint32_t column = 0; column < p->n; column++)
                c[row * p->n + column] =
                    fma(a[row * p->k + k], b[k * p->n + column], c[row * p->n + column]);
}

/* .b1 with .xor.popc: bits that differ are counted, not bits set in both. */
static void count_differences(const struct product *p, const double *a, const double *b, double *c)
{
    for (uint32_t row = 0; row < p->m; row++)
        for (uint32_t k = 0; k < p->k; k++)
            for (uint32_t column = 0; column < p->n; column++)
                c[row * p->n + column] += a[row * p->k + k] != b[k * p->n + column];
}

static int product_run(struct warp *w, const struct micro *op)
{
    const struct product *product = op->pointer;
    double a[MOST_A], b[MOST_B], c[MOST_C];
    if (product->sparse)
        matrix_read_sparse(w, &product->a, product->metadata, product->selector, a);
    else
        matrix_read(w, &product->a, a);
    matrix_read(w, &product->b, b);
    matrix_read(w, &product->c, c);
    if (product->scaled &&
        !matrix_scale(w, &product->scales, product->m, product->n, product->k, a, b))
        return fault_raise(w, op, w->mask, EXEC_FAULT_ILLEGAL_INSTRUCTION, 0);
    if (product->exclusive)
        count_differences(product, a, b, c);
    else if (product->a.element == ELEMENT_F64)
        multiply_double(product, a, b, c);
    else
        multiply_exactly(product, a, b, c);
    matrix_write(w, &product->d, product->saturate, c);
    return FLOW_NEXT;
}

/* ---- decoding ------------------------------------------------------------------------------ */

/* Of fewer than 8 bits: only .kind::f8f6f4 and .kind::mxf8f6f4 have them. */
static bool is_narrow(const struct product *p, uint8_t element)
{
    return (p->kind == MATRIX_KIND_F8F6F4 || p->kind == MATRIX_KIND_MXF8F6F4) &&
           (element == ELEMENT_E2M1 || element == ELEMENT_E2M3 || element == ELEMENT_E3M2);
}

/* What may be multiplied: the kinds of A and B, and what they are summed in. */
static bool is_multipliable(const struct product *p)
{
    uint8_t a = p->a.element, b = p->b.element, c = p->c.element, d = p->d.element;
    switch (a) {
    case ELEMENT_F16:
        return b == a && (c == ELEMENT_F16 || c == ELEMENT_F32) &&
               (d == ELEMENT_F16 || d == ELEMENT_F32);
    case ELEMENT_BF16:
    case ELEMENT_TF32:
        return b == a && c == ELEMENT_F32 && d == c;
    case ELEMENT_F64:
        return b == a && c == a && d == a;
    case ELEMENT_E4M3:
    case ELEMENT_E5M2:
        return (b == ELEMENT_E4M3 || b == ELEMENT_E5M2 || is_narrow(p, b)) && d == c &&
               (c == ELEMENT_F32 || c == ELEMENT_F16);
    case ELEMENT_E2M1:
    case ELEMENT_E2M3:
    case ELEMENT_E3M2:
        return is_narrow(p, a) && (b == ELEMENT_E4M3 || b == ELEMENT_E5M2 || is_narrow(p, b)) &&
               d == c && (c == ELEMENT_F32 || c == ELEMENT_F16);
    case ELEMENT_E2M1_PACKED:
        return p->scaled && b == a && c == ELEMENT_F32 && d == c;
    case ELEMENT_S8:
    case ELEMENT_U8:
        return (b == ELEMENT_S8 || b == ELEMENT_U8) && c == ELEMENT_S32 && d == c;
    case ELEMENT_S4:
    case ELEMENT_U4:
        return (b == ELEMENT_S4 || b == ELEMENT_U4) && c == ELEMENT_S32 && d == c;
    case ELEMENT_B1:
        return b == a && c == ELEMENT_S32 && d == c;
    default:
        return false;
    }
}

/* The suffixes name d, a, b, c; wmma of halves names d and c alone. */
static bool name_elements(struct product *p, const struct matrix_words *words)
{
    if (words->element_count == 4) {
        p->d.element = words->elements[0];
        p->a.element = words->elements[1];
        p->b.element = words->elements[2];
        p->c.element = words->elements[3];
    } else {
        p->a.element = p->b.element = ELEMENT_F16;
        p->d.element = words->elements[0];
        p->c.element = words->elements[1];
    }
    return words->element_count == 4 || (words->element_count == 2 && p->a.opaque);
}

/* Whether fragments have a place for each element, and no other. mma: "m8n8k4" to "m16n8k256". */
static bool has_shape(const struct matrix_words *words, bool opaque)
{
    return words->m && words->n && words->k && words->m <= MOST_M && words->n <= MOST_N &&
           words->k <= MOST_K &&
           (opaque || (words->n == NARROW_N && (words->m == NARROW_M || words->m == WIDE_M)));
}

static void decode_product(struct decoder *decoder, const struct ptx_instruction *i, bool opaque)
{
    struct product *p = decoder_keep(decoder, sizeof *p);
    struct matrix_words words;
    matrix_read_words(i->mnemonic, &words);
    const uint32_t operands = words.sparse ? 6 : 4; /* in front of scales */
    if (!p || words.other || i->operand_count != operands + (words.scaled ? 4u : 0u) ||
        (words.sparse && opaque) || !matrix_scales_are_valid(&words) ||
        !has_shape(&words, opaque) || words.k * words.m > MOST_A || words.k * words.n > MOST_B ||
        words.m * words.n > MOST_C) {
        decoder_fail(decoder);
        return;
    }
    p->m = words.m, p->n = words.n, p->k = words.k;
    p->saturate = words.saturate;
    p->exclusive = words.exclusive;
    p->kind = words.kind;
    p->scaled = words.scaled;
    p->sparse = words.sparse;
    p->a = (struct fragment){
        .role = MATRIX_A, .rows = p->m, .columns = p->sparse ? p->k / 2 : p->k, .opaque = opaque};
    p->b = (struct fragment){.role = MATRIX_B, .rows = p->k, .columns = p->n, .opaque = opaque};
    p->c = (struct fragment){.role = MATRIX_C, .rows = p->m, .columns = p->n, .opaque = opaque};
    p->d = p->c;
    if (!name_elements(p, &words) || !is_multipliable(p)) {
        decoder_fail(decoder);
        return;
    }
    fragment_decode(decoder, &p->a, &i->operands[1], false);
    fragment_decode(decoder, &p->b, &i->operands[2], false);
    fragment_decode(decoder, &p->c, &i->operands[3], false);
    fragment_decode(decoder, &p->d, &i->operands[0], true);
    if (p->sparse) {
        p->metadata = decoder_source(decoder, &i->operands[4], 32);
        p->selector = (uint32_t)i->operands[5].imm;
        if (i->operands[5].kind != PTX_OPERAND_IMMEDIATE ||
            !matrix_sparse_is_valid(&p->a, p->selector))
            decoder_fail(decoder);
    }
    if (p->scaled && (p->c.element != ELEMENT_F32 ||
                      !matrix_decode_scales(decoder, i, operands, &words, &p->scales)))
        decoder_fail(decoder);
    matrix_decode_sync(decoder);
    decoder_emit(decoder, product_run)->pointer = p;
}

void decode_mma(struct decoder *decoder, const struct ptx_instruction *i)
{
    decode_product(decoder, i, false);
}

void decode_wmma(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (i->form == PTX_FORM_WMMA_MMA)
        decode_product(decoder, i, true);
    else if (i->form == PTX_FORM_WMMA_LOAD || i->form == PTX_FORM_WMMA_STORE)
        decode_wmma_access(decoder, i);
    else
        decoder_fail(decoder);
}
