/* cvt between the 8-bit floating-point formats, always in pairs, and f32 or f16x2 (PTX
 * ISA 9.7.9.22; formats: 5.2.3). The upper byte is the first source. */
#include "runtime/device/exec/exec_decoder.h"
#include "runtime/device/exec/exec_half.h"

#include <math.h>

/* e4m3 has no infinity and one NaN; what would be infinity is format.infinity: all ones. */
static const struct format format_e4m3 = {3, -6, 8, 0x80, 0x7f};
static const struct format format_e5m2 = {2, -14, 15, 0x80, 0x7c};

struct fp8 {
    const struct format *format;
    bool relu;
};

/* .satfinite: what is too large is the largest number. */
static uint32_t encode(const struct fp8 *fp8, double value)
{
    if (fp8->relu && value <= 0)
        value = 0;
    uint32_t bits = format_encode(fp8->format, value, PTX_ROUND_RN);
    bool infinite = value == value && (bits & 0x7f) == fp8->format->infinity;
    return infinite ? bits - 1 : bits;
}

static uint16_t decode(const struct fp8 *fp8, uint32_t bits)
{
    uint16_t half = fp8->format == &format_e5m2 ? (uint16_t)(bits << 8)
                                                : half_from_double(e4m3_to_double(bits));
    if ((half & 0x7fff) > 0x7c00)
        return HALF_NAN;
    return fp8->relu && half & 0x8000 ? 0 : half;
}

static int from_floats(struct warp *w, const struct micro *op)
{
    uint16_t *d = slot(w, op->d);
    const float *a = slot(w, op->a), *b = slot(w, op->b);
    LANES(w, d[l] = (uint16_t)(encode(op->pointer, (double)a[l]) << 8 |
                               encode(op->pointer, (double)b[l])));
    return FLOW_NEXT;
}

static int from_halves(struct warp *w, const struct micro *op)
{
    uint16_t *d = slot(w, op->d);
    const uint32_t *a = slot(w, op->a);
    LANES(w, {
        uint32_t high = encode(op->pointer, (double)half_to_float((uint16_t)(a[l] >> 16)));
        d[l] = (uint16_t)(high << 8 | encode(op->pointer, (double)half_to_float((uint16_t)a[l])));
    });
    return FLOW_NEXT;
}

static int to_halves(struct warp *w, const struct micro *op)
{
    uint32_t *d = slot(w, op->d);
    const uint16_t *a = slot(w, op->a);
    LANES(w,
          d[l] = (uint32_t)decode(op->pointer, a[l] >> 8) << 16 | decode(op->pointer, a[l] & 0xff));
    return FLOW_NEXT;
}

static bool is_fp8(uint8_t type)
{
    return type == PTX_E4M3X2 || type == PTX_E5M2X2;
}

bool decode_fp8(struct decoder *decoder, const struct ptx_instruction *i)
{
    bool narrows = is_fp8(i->type2), widens = is_fp8(i->type);
    if (!narrows && !widens)
        return false;
    struct fp8 *fp8 = decoder_keep(decoder, sizeof *fp8);
    bool two = i->type == PTX_F32;
    bool known = narrows ? i->sat && (two || i->type == PTX_F16X2) : i->type2 == PTX_F16X2;
    if (!fp8 || !known || i->rounding != PTX_ROUND_RN || i->operand_count != (two ? 3u : 2u)) {
        decoder_fail(decoder);
        return true;
    }
    uint8_t type = narrows ? i->type2 : i->type;
    *fp8 = (struct fp8){type == PTX_E4M3X2 ? &format_e4m3 : &format_e5m2, i->relu};
    uint32_t a = decoder_source(decoder, &i->operands[1], narrows ? 32 : 16);
    uint32_t b = two ? decoder_source(decoder, &i->operands[2], 32) : a;
    uint32_t d = decoder_destination(decoder, &i->operands[0], narrows ? 16 : 32);
    struct micro *op = decoder_emit(decoder, two ? from_floats : narrows ? from_halves : to_halves);
    op->d = d;
    op->a = a;
    op->b = b;
    op->pointer = fp8;
    return true;
}
