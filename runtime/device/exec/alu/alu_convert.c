/* cvt (PTX ISA 9.7.9.22). The frequent conversions have loops of their own; every other one goes
 * through one path: the source as an exact number (or one rounded to odd, which rounds again
 * correctly), then that number to the destination. */
#include "runtime/device/exec/exec_decoder.h"
#include "runtime/device/exec/exec_half.h"
#include "runtime/device/exec/exec_lowering.h"

#include <math.h>

struct conversion {
    uint8_t from, to;             /* enum ptx_type */
    uint8_t from_bytes, to_bytes; /* of the registers */
    uint8_t rounding;
    bool flush, saturate, relu, sign; /* sign: the destination is extended with its sign */
    bool second;                      /* packs two sources: b in the lower half */
};

/* ---- frequent conversions -------------------------------------------------------------------- */

#define CALLED(name, to_type, from_type, expression)                                               \
    static int name(struct warp *w, const struct micro *op)                                        \
    {                                                                                              \
        to_type *d = slot(w, op->d);                                                               \
        const from_type *pa = slot(w, op->a);                                                      \
        LANES(w, {                                                                                 \
            from_type a = pa[l];                                                                   \
            d[l] = (to_type)(expression);                                                          \
        });                                                                                        \
        return FLOW_NEXT;                                                                          \
    }
#define CONVERT_AS(kind, name, to_type, from_type, expression)                                     \
    CALLED(name, to_type, from_type, expression)                                                   \
    LOWERING(name, kind, LOWERING_TEXT(to_type), LOWERING_TEXT(from_type), NULL, NULL,             \
             LOWERING_TEXT(expression))
#define CONVERT(...) CONVERT_AS(LOWERING_LANES, __VA_ARGS__)
#define INTEGER_ROW(kind, from, type)                                                              \
    CONVERT(from##_to_16, uint16_t, type, a)                                                       \
    CONVERT(from##_to_32, uint32_t, type, a)                                                       \
    CONVERT(from##_to_64, uint64_t, type, a)                                                       \
    CONVERT_AS(kind, from##_to_f32, float, type, a)                                                \
    CONVERT_AS(kind, from##_to_f64, double, type, a)
INTEGER_ROW(LOWERING_LANES, u16, uint16_t)
INTEGER_ROW(LOWERING_LANES, s16, int16_t)
INTEGER_ROW(LOWERING_ALONE, u32, uint32_t)
INTEGER_ROW(LOWERING_LANES, s32, int32_t)
INTEGER_ROW(LOWERING_ALONE, u64, uint64_t)
INTEGER_ROW(LOWERING_ALONE, s64, int64_t)
#define ROW(from)                                                                                  \
    {                                                                                              \
        from##_to_16, from##_to_32, from##_to_64, from##_to_f32, from##_to_f64                     \
    }
static micro_run *const integer_rows[PTX_TYPE_OTHER][5] = {
    [PTX_U16] = ROW(u16), [PTX_S16] = ROW(s16), [PTX_U32] = ROW(u32),
    [PTX_S32] = ROW(s32), [PTX_U64] = ROW(u64), [PTX_S64] = ROW(s64)};

CONVERT(f32_to_f64, double, float, a)
CONVERT(f64_to_f32, float, double, half_canonical((float)a))
CONVERT(f32_to_s32_rzi, int32_t, float,
        a >= 0x1p31f    ? INT32_MAX
        : a >= -0x1p31f ? (int32_t)a
        : a != a        ? 0
                        : INT32_MIN)
CONVERT_AS(LOWERING_ALONE, f32_to_u32_rzi, uint32_t, float,
           a >= 0x1p32f ? UINT32_MAX
           : a > 0      ? (uint32_t)a
                        : 0)
CONVERT_AS(LOWERING_ALONE, f16_to_f32, float, uint16_t, half_canonical(half_to_float(a)))
CALLED(f32_to_f16, uint16_t, float, half_from_float(a))

static micro_run *frequent(const struct conversion *c)
{
    bool natural =
        c->from_bytes * 8u == ptx_type_bits(c->from) && c->to_bytes * 8u == ptx_type_bits(c->to);
    bool nearest = c->rounding == PTX_ROUND_NONE || c->rounding == PTX_ROUND_RN;
    if (!natural || c->flush || c->saturate || c->relu || c->second)
        return NULL;
    if (c->from == PTX_F32 && c->rounding == PTX_ROUND_RZI)
        return c->to == PTX_S32 ? f32_to_s32_rzi : c->to == PTX_U32 ? f32_to_u32_rzi : NULL;
    if (!nearest)
        return NULL;
    if (c->from == PTX_F32)
        return c->to == PTX_F64 ? f32_to_f64 : c->to == PTX_F16 ? f32_to_f16 : NULL;
    if (c->from == PTX_F64)
        return c->to == PTX_F32 ? f64_to_f32 : NULL;
    if (c->from == PTX_F16)
        return c->to == PTX_F32 ? f16_to_f32 : NULL;
    if (ptx_type_is_float(c->from))
        return NULL;
    switch (c->to) {
    case PTX_U16:
    case PTX_S16:
        return integer_rows[c->from][0];
    case PTX_U32:
    case PTX_S32:
        return integer_rows[c->from][1];
    case PTX_U64:
    case PTX_S64:
        return integer_rows[c->from][2];
    case PTX_F32:
        return integer_rows[c->from][3];
    case PTX_F64:
        return integer_rows[c->from][4];
    default:
        return NULL;
    }
}

/* ---- the general path ------------------------------------------------------------------------ */

struct number {
    bool integer, negative;
    uint64_t magnitude; /* of an integer */
    double value;       /* of a float; of an integer rounded to odd */
};

/* 64 bits to 53, what falls off kept in the last one. */
static double round_to_odd(uint64_t magnitude)
{
    int excess = magnitude ? 64 - __builtin_clzll(magnitude) - 53 : 0;
    if (excess <= 0)
        return (double)magnitude;
    uint64_t lost = magnitude & ((1ull << excess) - 1);
    return ldexp((double)(magnitude >> excess | (lost != 0)), excess);
}

static struct number read_integer(uint64_t raw, uint32_t bits, bool sign)
{
    raw = bits == 64 ? raw : raw & ((1ull << bits) - 1);
    struct number n = {.integer = true};
    n.negative = sign && raw >> (bits - 1) & 1;
    n.magnitude = n.negative ? (0 - raw) & (bits == 64 ? ~0ull : (1ull << bits) - 1) : raw;
    n.value = round_to_odd(n.magnitude);
    n.value = n.negative ? -n.value : n.value;
    return n;
}

static struct number read_number(const struct conversion *c, uint64_t raw)
{
    struct number n = {0};
    switch (c->from) {
    case PTX_F16:
        n.value = (double)half_to_float((uint16_t)raw);
        return n;
    case PTX_BF16:
        n.value = (double)bfloat_to_float((uint16_t)raw);
        return n;
    case PTX_F32:
        n.value = (double)float_from_bits((uint32_t)raw);
        if (c->flush && fabs(n.value) < 0x1p-126)
            n.value = copysign(0.0, n.value);
        return n;
    case PTX_F64:
        memcpy(&n.value, &raw, 8);
        return n;
    default:
        return read_integer(raw, ptx_type_bits(c->from), ptx_type_is_signed(c->from));
    }
}

static double round_to_integer(double value, uint8_t rounding)
{
    switch (rounding) {
    case PTX_ROUND_RNI:
        return nearbyint(value);
    case PTX_ROUND_RZI:
        return trunc(value);
    case PTX_ROUND_RMI:
        return floor(value);
    case PTX_ROUND_RPI:
        return ceil(value);
    default:
        return value;
    }
}

/* Integers of the destination's width: out of range is its end when saturating. */
static uint64_t clamp(const struct number *n, uint32_t bits, bool sign, bool saturate)
{
    uint64_t most = sign ? (1ull << (bits - 1)) - 1 : bits == 64 ? ~0ull : (1ull << bits) - 1;
    uint64_t least = sign ? 1ull << (bits - 1) : 0; /* magnitude of the lowest */
    uint64_t magnitude = n->magnitude;
    if (saturate && !n->negative && magnitude > most)
        magnitude = most;
    if (saturate && n->negative && magnitude > least)
        magnitude = least;
    return n->negative ? 0 - magnitude : magnitude;
}

static uint64_t float_to_integer(const struct conversion *c, double value, uint32_t bits, bool sign)
{
    /* "Zero if source is not .f64 and destination is not .s64, .u64; otherwise 1 << (width - 1)" */
    if (value != value)
        return c->from != PTX_F64 && bits != 64 ? 0 : 1ull << (bits - 1);
    value = round_to_integer(value, c->rounding ? c->rounding : PTX_ROUND_RZI);
    double most = ldexp(1.0, (int)bits - sign);
    struct number n = {.integer = true, .negative = value < 0};
    n.magnitude = fabs(value) >= most ? (sign && value < 0 ? 1ull << (bits - 1) : ~0ull)
                                      : (uint64_t)fabs(value);
    return clamp(&n, bits, sign, true);
}

static uint64_t to_format(const struct conversion *c, const struct format *format, double value)
{
    uint32_t bits = format_encode(format, value, c->rounding);
    bool subnormal = !(bits & format->infinity);
    return c->flush && subnormal ? bits & format->sign : bits;
}

static double to_double(const struct conversion *c, const struct number *n)
{
    if (!n->integer || n->magnitude >> 53 == 0)
        return n->value;
    /* more bits than a double has: round the magnitude ourselves */
    int excess = 64 - __builtin_clzll(n->magnitude) - 53;
    uint64_t whole = n->magnitude >> excess, rest = n->magnitude & ((1ull << excess) - 1);
    whole += rounds_up(whole, rest, 1ull << (excess - 1), n->negative, c->rounding);
    double value = ldexp((double)whole, excess);
    return n->negative ? -value : value;
}

static uint64_t number_to_float(const struct conversion *c, const struct number *n)
{
    struct number limited = *n;
    if (!n->integer)
        limited.value = round_to_integer(n->value, c->rounding);
    if (c->saturate)
        limited.value = limited.value > 0 ? (limited.value < 1 ? limited.value : 1.0) : 0.0;
    if (c->relu && limited.value <= 0)
        limited.value = 0.0;
    uint64_t bits;
    double value;
    switch (c->to) {
    case PTX_F16:
        return to_format(c, &format_f16, limited.value);
    case PTX_BF16:
        return to_format(c, &format_bf16, limited.value);
    case PTX_F32:
        return to_format(c, &format_f32, limited.value);
    case PTX_TF32: /* f32 with 10 bits of mantissa */
        return (uint64_t)format_encode(&(struct format){10, -126, 127, 0x40000, 0x3fc00},
                                       limited.value, c->rounding)
               << 13;
    default:
        value = to_double(c, &limited);
        memcpy(&bits, &value, 8);
        return bits;
    }
}

static uint64_t convert(const struct conversion *c, uint64_t raw)
{
    struct number n = read_number(c, raw);
    if (ptx_type_is_float(c->to) || c->to == PTX_TF32)
        return number_to_float(c, &n);
    uint32_t bits = ptx_type_bits(c->to);
    uint64_t result = n.integer ? clamp(&n, bits, c->sign, c->saturate)
                                : float_to_integer(c, n.value, bits, c->sign);
    if (bits == 64)
        return result;
    /* A register wider than the type gets the value extended. */
    uint64_t mask = (1ull << bits) - 1;
    return c->sign && (result >> (bits - 1) & 1) ? result | ~mask : result & mask;
}

static int convert_run(struct warp *w, const struct micro *op)
{
    const struct conversion *c = op->pointer;
    uint8_t *d = slot(w, op->d);
    const uint8_t *a = slot(w, op->a), *b = slot(w, op->b);
    LANES(w, {
        uint64_t raw = 0;
        memcpy(&raw, a + (size_t)l * c->from_bytes, c->from_bytes);
        uint64_t result = convert(c, raw);
        if (c->second) {
            memcpy(&raw, b + (size_t)l * c->from_bytes, c->from_bytes);
            result = result << 16 | convert(c, raw);
        }
        memcpy(d + (size_t)l * c->to_bytes, &result, c->to_bytes);
    });
    return FLOW_NEXT;
}

/* ---- decoding ------------------------------------------------------------------------------ */

static bool is_convertible(uint8_t type, bool destination)
{
    switch (type) {
    case PTX_F16:
    case PTX_BF16:
    case PTX_F32:
    case PTX_F64:
        return true;
    case PTX_TF32:
        return destination;
    default:
        return type >= PTX_U8 && type <= PTX_S64;
    }
}

/* ---- cvt.pack ------------------------------------------------------------------------------- */

/* "cvt.pack.sat.u8.s32.b32 d, a, b, c": d has b, above it a and above that c's lower bits. */
static const struct {
    const char *word;
    uint8_t bits;
    int32_t least, most;
} packed_types[] = {{".sat.u16.", 16, 0, 65535}, {".sat.s16.", 16, -32768, 32767},
                    {".sat.u8.", 8, 0, 255},     {".sat.s8.", 8, -128, 127},
                    {".sat.u4.", 4, 0, 15},      {".sat.s4.", 4, -8, 7},
                    {".sat.u2.", 2, 0, 3},       {".sat.s2.", 2, -2, 1}};
enum { PACKED_TYPES = sizeof packed_types / sizeof *packed_types };

static uint32_t packed(uint32_t type, int32_t value)
{
    const int32_t least = packed_types[type].least, most = packed_types[type].most;
    const int32_t held = value < least ? least : value > most ? most : value;
    return (uint32_t)held & ((1u << packed_types[type].bits) - 1);
}

static int convert_pack(struct warp *w, const struct micro *op)
{
    const uint32_t bits = packed_types[op->kind].bits;
    uint32_t *d = slot(w, op->d);
    const int32_t *a = slot(w, op->a), *b = slot(w, op->b);
    const uint32_t *c = slot(w, op->c);
    LANES(w, {
        const uint32_t above = bits == 16 ? 0 : c[l] << (2 * bits);
        d[l] = above | packed(op->kind, a[l]) << bits | packed(op->kind, b[l]);
    });
    return FLOW_NEXT;
}

static void decode_pack(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t type = 0;
    while (type < PACKED_TYPES && !strstr(i->mnemonic, packed_types[type].word))
        type++;
    const bool adds = type < PACKED_TYPES && packed_types[type].bits < 16;
    if (type == PACKED_TYPES || !strstr(i->mnemonic, adds ? ".s32.b32" : ".s32") ||
        i->operand_count != (adds ? 4u : 3u)) {
        decoder_fail(decoder);
        return;
    }
    const uint32_t a = decoder_source(decoder, &i->operands[1], 32);
    const uint32_t b = decoder_source(decoder, &i->operands[2], 32);
    const uint32_t c = adds ? decoder_source(decoder, &i->operands[3], 32) : a;
    const uint32_t d = decoder_destination(decoder, &i->operands[0], 32);
    struct micro *op = decoder_emit(decoder, convert_pack);
    op->a = a;
    op->b = b;
    op->c = c;
    op->d = d;
    op->kind = (uint8_t)type;
}

/* ---- decoding ------------------------------------------------------------------------------- */

void decode_cvt(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (!strncmp(i->mnemonic, "cvt.pack.", strlen("cvt.pack."))) {
        decode_pack(decoder, i);
        return;
    }
    if (decode_fp8(decoder, i) || decode_fp4(decoder, i))
        return;
    struct conversion *c = decoder_keep(decoder, sizeof *c);
    if (!c)
        return;
    uint8_t to = i->type2 ? i->type2 : i->type;
    c->second = to == PTX_F16X2 || to == PTX_BF16X2;
    *c = (struct conversion){.from = i->type,
                             .to = to == PTX_F16X2    ? PTX_F16
                                   : to == PTX_BF16X2 ? PTX_BF16
                                                      : to,
                             .rounding = i->rounding,
                             .flush = i->ftz,
                             .saturate = i->sat,
                             .relu = i->relu,
                             .second = c->second,
                             .sign = ptx_type_is_signed(to)};
    if (!is_convertible(c->from, false) || !is_convertible(c->to, true) ||
        i->operand_count != (c->second ? 3u : 2u)) {
        decoder_fail(decoder);
        return;
    }
    uint32_t from_bits, to_bits, second_bits = 0;
    uint32_t a = decoder_any_source(decoder, &i->operands[1], ptx_type_bits(i->type), &from_bits);
    uint32_t b = c->second ? decoder_any_source(decoder, &i->operands[2], 32, &second_bits) : a;
    uint32_t d = decoder_any_destination(
        decoder, &i->operands[0], c->second || to == PTX_TF32 ? 32 : ptx_type_bits(to), &to_bits);
    if (from_bits < ptx_type_bits(c->from) || from_bits > 64 || to_bits > 64 || to_bits < 16 ||
        (c->to != PTX_TF32 && to_bits < ptx_type_bits(c->to)) ||
        (c->second && (second_bits != from_bits || to_bits != 32)))
        decoder_fail(decoder);
    c->from_bytes = (uint8_t)(from_bits / 8);
    c->to_bytes = (uint8_t)(to_bits / 8);
    micro_run *run = frequent(c);
    struct micro *op = decoder_emit(decoder, run ? run : convert_run);
    op->d = d;
    op->a = a;
    op->b = b;
    op->pointer = c;
}
