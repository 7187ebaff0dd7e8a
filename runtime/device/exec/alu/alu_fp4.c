/* cvt between the formats of fewer than 8 bits, in pairs, and f32 or f16x2; and of scales (PTX
 * ISA 9.7.9.22; formats: 5.2.3). e2m1: a pair is a byte; e2m3 and e3m2: a pair is two bytes, whose
 * upper two bits are 0. None of them has infinity or NaN. ue8m0: powers of two, 0xff is NaN. The
 * upper half is the first source. */
#include "runtime/device/exec/exec_decoder.h"
#include "runtime/device/exec/exec_half.h"

#include <math.h>

struct narrow {
    const char *name;
    struct format format; /* its infinity is one more than the largest number */
    uint8_t bits;         /* of a number */
    uint8_t step;         /* from number to number of a pair */
};
static const struct narrow formats[] = {{"e2m1x2", {1, 0, 2, 0x8, 0x8}, 4, 4},
                                        {"e2m3x2", {3, 0, 2, 0x20, 0x20}, 6, 8},
                                        {"e3m2x2", {2, -2, 4, 0x20, 0x20}, 6, 8}};

struct conversion {
    const struct narrow *narrow; /* NULL: ue8m0 */
    bool relu, up;               /* up: .rp, else .rz, of ue8m0 */
};

/* ---- numbers -------------------------------------------------------------------------------- */

/* .satfinite: what is too large, or a NaN, is the largest number. */
static uint32_t encode(const struct conversion *c, double value)
{
    const struct format *format = &c->narrow->format;
    const uint32_t largest = format->infinity - 1;
    if (value != value)
        return largest;
    if (c->relu && value <= 0)
        return 0;
    const uint32_t code = format_encode(format, fabs(value), PTX_ROUND_RN);
    return (code > largest ? largest : code) | (signbit(value) ? format->sign : 0);
}

static uint16_t decode(const struct conversion *c, uint32_t bits)
{
    const struct format *format = &c->narrow->format;
    const uint32_t code = bits & (format->sign - 1);
    const int exponent = (int)(code >> format->mantissa);
    const int fraction = (int)(code & ((1u << format->mantissa) - 1));
    const double value = exponent ? ldexp((1 << format->mantissa) + fraction,
                                          exponent - 1 + format->lowest - format->mantissa)
                                  : ldexp(fraction, format->lowest - format->mantissa);
    if (!(bits & format->sign))
        return half_from_double(value);
    return c->relu ? 0 : (uint16_t)(half_from_double(value) | 0x8000);
}

/* The exponent of |value|, rounded to a power of two. */
static uint32_t encode_scale(const struct conversion *c, double value)
{
    int exponent;
    if (value != value)
        return 0xff;
    if (value == 0)
        return 0;
    if (isinf(value))
        return 0xfe;
    const double fraction = frexp(fabs(value), &exponent); /* in [1/2, 1) */
    exponent -= !(c->up && fraction > 0.5);
    return exponent < -127 ? 0 : exponent > 127 ? 0xfe : (uint32_t)(exponent + 127);
}

/* ---- handlers ------------------------------------------------------------------------------- */

static int from_floats(struct warp *w, const struct micro *op)
{
    const struct conversion *c = op->pointer;
    uint16_t *d = slot(w, op->d);
    const float *a = slot(w, op->a), *b = slot(w, op->b);
    const uint32_t step = c->narrow->step;
    LANES(w, d[l] = (uint16_t)(encode(c, (double)a[l]) << step | encode(c, (double)b[l])));
    return FLOW_NEXT;
}

static int to_halves(struct warp *w, const struct micro *op)
{
    const struct conversion *c = op->pointer;
    uint32_t *d = slot(w, op->d);
    const uint16_t *a = slot(w, op->a);
    const uint32_t step = c->narrow->step;
    LANES(w, d[l] = (uint32_t)decode(c, a[l] >> step) << 16 | decode(c, a[l]));
    return FLOW_NEXT;
}

static int scales_from_floats(struct warp *w, const struct micro *op)
{
    uint16_t *d = slot(w, op->d);
    const float *a = slot(w, op->a), *b = slot(w, op->b);
    LANES(w, d[l] = (uint16_t)(encode_scale(op->pointer, (double)a[l]) << 8 |
                               encode_scale(op->pointer, (double)b[l])));
    return FLOW_NEXT;
}

/* bf16 has all of these numbers, the smallest as a subnormal one. */
static uint32_t decode_scale(uint32_t code)
{
    return code == 0xff ? 0x7fff : code ? code << 7 : 0x40;
}

static int scales_to_bfloats(struct warp *w, const struct micro *op)
{
    uint32_t *d = slot(w, op->d);
    const uint16_t *a = slot(w, op->a);
    LANES(w, d[l] = decode_scale(a[l] >> 8) << 16 | decode_scale(a[l] & 0xff));
    return FLOW_NEXT;
}

/* ---- decoding ------------------------------------------------------------------------------- */

static const struct narrow *format_of(const char *mnemonic)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strstr(mnemonic, formats[i].name))
            return &formats[i];
    return NULL;
}

/* Which of the forms "cvt.rn.satfinite{.relu}.NARROW.f32 d, a, b", "cvt.rn{.relu}.f16x2.NARROW d,
 * a", "cvt.{rz,rp}.satfinite.ue8m0x2.f32 d, a, b" and "cvt.rn.bf16x2.ue8m0x2 d, a" it is. */
static micro_run *run_of(const struct ptx_instruction *i, bool scale)
{
    const bool two = i->type == PTX_F32;
    if (two && i->sat && scale && (i->rounding == PTX_ROUND_RZ || i->rounding == PTX_ROUND_RP))
        return scales_from_floats;
    if (i->rounding != PTX_ROUND_RN)
        return NULL;
    if (two)
        return i->sat && !scale ? from_floats : NULL;
    if (scale)
        return strstr(i->mnemonic, ".bf16x2.ue8m0x2") ? scales_to_bfloats : NULL;
    return strstr(i->mnemonic, ".f16x2.e") && !strstr(i->mnemonic, ".bf16x2") ? to_halves : NULL;
}

bool decode_fp4(struct decoder *decoder, const struct ptx_instruction *i)
{
    const struct narrow *narrow = format_of(i->mnemonic);
    const bool scale = strstr(i->mnemonic, ".ue8m0x2") != NULL;
    if (!narrow && !scale)
        return false;
    struct conversion *c = decoder_keep(decoder, sizeof *c);
    micro_run *run = run_of(i, scale);
    const bool narrows = i->type == PTX_F32;
    if (!c || !run || i->operand_count != (narrows ? 3u : 2u) || (scale && i->relu)) {
        decoder_fail(decoder);
        return true;
    }
    *c = (struct conversion){narrow, i->relu, i->rounding == PTX_ROUND_RP};
    const uint32_t pair = narrow && narrow->bits == 4 ? 8 : 16;
    uint32_t a = decoder_source(decoder, &i->operands[1], narrows ? 32 : pair);
    uint32_t b = narrows ? decoder_source(decoder, &i->operands[2], 32) : a;
    uint32_t d = decoder_destination(decoder, &i->operands[0], narrows ? pair : 32);
    struct micro *op = decoder_emit(decoder, run);
    op->d = d;
    op->a = a;
    op->b = b;
    op->pointer = c;
    return true;
}
