/* Integer arithmetic (PTX ISA 9.7.1) and the shared opcodes' way to the float files: add, sub, mul,
 * mad, div, rem, abs, neg, min, max, with carry, 24-bit, sums of differences, dot products. */
#include "runtime/device/exec/alu/alu_lane.h"
#include "runtime/device/exec/exec_decoder.h"
#include "runtime/device/exec/exec_lowering.h"

/* ---- tables of handlers by type ------------------------------------------------------------- */

#define CALLED2(name, suffix, type, expression)                                                    \
    static int name##_##suffix(struct warp *w, const struct micro *op)                             \
    {                                                                                              \
        type *d = slot(w, op->d);                                                                  \
        const type *pa = slot(w, op->a), *pb = slot(w, op->b);                                     \
        LANES(w, {                                                                                 \
            type a = pa[l], b = pb[l];                                                             \
            (void)a, (void)b;                                                                      \
            d[l] = (type)(expression);                                                             \
        });                                                                                        \
        return FLOW_NEXT;                                                                          \
    }
#define HANDLER2_AS(kind, name, suffix, type, expression)                                          \
    CALLED2(name, suffix, type, expression)                                                        \
    LOWERING(name##_##suffix, kind, LOWERING_TEXT(type), LOWERING_TEXT(type), LOWERING_TEXT(type), \
             NULL, LOWERING_TEXT(expression))
#define HANDLER2(...) HANDLER2_AS(LOWERING_LANES, __VA_ARGS__)
#define CALLED3(name, suffix, result_type, type, expression)                                       \
    static int name##_##suffix(struct warp *w, const struct micro *op)                             \
    {                                                                                              \
        result_type *d = slot(w, op->d);                                                           \
        const type *pa = slot(w, op->a), *pb = slot(w, op->b);                                     \
        const result_type *pc = slot(w, op->c);                                                    \
        LANES(w, {                                                                                 \
            type a = pa[l], b = pb[l];                                                             \
            result_type c = pc[l];                                                                 \
            (void)c;                                                                               \
            d[l] = (result_type)(expression);                                                      \
        });                                                                                        \
        return FLOW_NEXT;                                                                          \
    }

#define HANDLER3_AS(kind, name, suffix, result_type, type, expression)                             \
    CALLED3(name, suffix, result_type, type, expression)                                           \
    LOWERING(name##_##suffix, kind, LOWERING_TEXT(result_type), LOWERING_TEXT(type),               \
             LOWERING_TEXT(type), LOWERING_TEXT(result_type), LOWERING_TEXT(expression))
#define HANDLER3(...) HANDLER3_AS(LOWERING_LANES, __VA_ARGS__)

#define TABLE(name)                                                                                \
    static micro_run *const name[PTX_TYPE_OTHER] = {                                               \
        [PTX_U16] = name##_u16, [PTX_S16] = name##_s16, [PTX_U32] = name##_u32,                    \
        [PTX_S32] = name##_s32, [PTX_U64] = name##_u64, [PTX_S64] = name##_s64};
#define BINARY(name, expression)                                                                   \
    HANDLER2(name, u16, uint16_t, expression)                                                      \
    HANDLER2(name, s16, int16_t, expression)                                                       \
    HANDLER2(name, u32, uint32_t, expression)                                                      \
    HANDLER2(name, s32, int32_t, expression)                                                       \
    HANDLER2(name, u64, uint64_t, expression)                                                      \
    HANDLER2(name, s64, int64_t, expression)                                                       \
    TABLE(name)
#define TERNARY(name, expression)                                                                  \
    HANDLER3(name, u16, uint16_t, uint16_t, expression)                                            \
    HANDLER3(name, s16, int16_t, int16_t, expression)                                              \
    HANDLER3(name, u32, uint32_t, uint32_t, expression)                                            \
    HANDLER3(name, s32, int32_t, int32_t, expression)                                              \
    HANDLER3(name, u64, uint64_t, uint64_t, expression)                                            \
    HANDLER3(name, s64, int64_t, int64_t, expression)                                              \
    TABLE(name)

/* the high half of a product */
#define HIGH_u16(a, b) ((uint32_t)(a) * (uint32_t)(b) >> 16)
#define HIGH_s16(a, b) ((int32_t)(a) * (int32_t)(b) >> 16)
#define HIGH_u32(a, b) ((uint64_t)(a) * (uint64_t)(b) >> 32)
#define HIGH_s32(a, b) ((int64_t)(a) * (int64_t)(b) >> 32)
#define HIGH_u64(a, b) high_u64(a, b)
#define HIGH_s64(a, b) high_s64(a, b)

BINARY(add, a + b)
BINARY(subtract, a - b)
BINARY(multiply, (uint64_t)a *(uint64_t)b)
BINARY(minimum, a < b ? a : b)
BINARY(maximum, a > b ? a : b)
TERNARY(multiply_add, (uint64_t)a *(uint64_t)b + (uint64_t)c)
TERNARY(differences, c + (a < b ? b - a : a - b))

/* An integer division by zero gives all ones on every GPU so far, its remainder the dividend. The
 * most negative number divided by -1 is itself. */
#define DIVIDE(suffix, type, expression_divide, expression_remainder)                              \
    HANDLER2_AS(LOWERING_ALONE, divide, suffix, type, b == 0 ? (type)-1 : expression_divide)       \
    HANDLER2_AS(LOWERING_ALONE, modulo, suffix, type, b == 0 ? a : expression_remainder)
DIVIDE(u16, uint16_t, a / b, a % b)
DIVIDE(u32, uint32_t, a / b, a % b)
DIVIDE(u64, uint64_t, a / b, a % b)
DIVIDE(s16, int16_t, b == -1 ? -a : a / b, b == -1 ? 0 : a % b)
DIVIDE(s32, int32_t, b == -1 ? -a : a / b, b == -1 ? 0 : a % b)
DIVIDE(s64, int64_t, b == -1 ? -a : a / b, b == -1 ? 0 : a % b)
TABLE(divide)
TABLE(modulo)

#define HIGH_AS(kind, suffix, type)                                                                \
    HANDLER2_AS(kind, multiply_high, suffix, type, HIGH_##suffix(a, b))                            \
    HANDLER3_AS(kind, multiply_add_high, suffix, type, type, (type)HIGH_##suffix(a, b) + c)
#define HIGH(suffix, type) HIGH_AS(LOWERING_LANES, suffix, type)
HIGH(u16, uint16_t)
HIGH(s16, int16_t)
HIGH(u32, uint32_t)
HIGH(s32, int32_t)
HIGH_AS(LOWERING_ALONE, u64, uint64_t)
HIGH_AS(LOWERING_ALONE, s64, int64_t)
TABLE(multiply_high)
TABLE(multiply_add_high)

#define WIDE(suffix, narrow, wide)                                                                 \
    static int multiply_wide_##suffix(struct warp *w, const struct micro *op)                      \
    {                                                                                              \
        wide *d = slot(w, op->d);                                                                  \
        const narrow *a = slot(w, op->a), *b = slot(w, op->b);                                     \
        LANES(w, d[l] = (wide)((wide)a[l] * (wide)b[l]));                                          \
        return FLOW_NEXT;                                                                          \
    }                                                                                              \
    LOWERING(multiply_wide_##suffix, LOWERING_LANES, LOWERING_TEXT(wide), LOWERING_TEXT(narrow),   \
             LOWERING_TEXT(narrow), NULL, LOWERING_TEXT((wide)a *(wide)b))                         \
    HANDLER3(multiply_add_wide, suffix, wide, narrow, (wide)a *(wide)b + c)
WIDE(u16, uint16_t, uint32_t)
WIDE(s16, int16_t, int32_t)
WIDE(u32, uint32_t, uint64_t)
WIDE(s32, int32_t, int64_t)
static micro_run *const multiply_wide[PTX_TYPE_OTHER] = {[PTX_U16] = multiply_wide_u16,
                                                         [PTX_S16] = multiply_wide_s16,
                                                         [PTX_U32] = multiply_wide_u32,
                                                         [PTX_S32] = multiply_wide_s32};
static micro_run *const multiply_add_wide[PTX_TYPE_OTHER] = {[PTX_U16] = multiply_add_wide_u16,
                                                             [PTX_S16] = multiply_add_wide_s16,
                                                             [PTX_U32] = multiply_add_wide_u32,
                                                             [PTX_S32] = multiply_add_wide_s32};

/* ---- add, sub ------------------------------------------------------------------------------ */

HANDLER2(add_saturated, s32, int32_t, saturate_s32((int64_t)a + b))
HANDLER2(subtract_saturated, s32, int32_t, saturate_s32((int64_t)a - b))
HANDLER3(multiply_add_saturated, s32, int32_t, int32_t,
         saturate_s32(((int64_t)a * b >> 32) + (int64_t)c))

/* two 16-bit halves, without a carry between them */
static uint32_t halves(uint32_t a, uint32_t b, uint8_t opcode, bool sign)
{
    uint32_t result = 0;
    for (int k = 0; k < 32; k += 16) {
        uint16_t x = (uint16_t)(a >> k), y = (uint16_t)(b >> k);
        bool less = sign ? (int16_t)x < (int16_t)y : x < y;
        uint16_t r = (uint16_t)(opcode == PTX_OP_ADD   ? x + y
                                : opcode == PTX_OP_SUB ? x - y
                                : opcode == PTX_OP_MIN ? (less ? x : y)
                                                       : (less ? y : x));
        result |= (uint32_t)r << k;
    }
    return result;
}

static int halves_run(struct warp *w, const struct micro *op)
{
    uint32_t *d = slot(w, op->d);
    const uint32_t *a = slot(w, op->a), *b = slot(w, op->b);
    LANES(w, {
        d[l] = halves(a[l], b[l], op->kind, op->option);
        if (op->width && (int16_t)d[l] < 0)
            d[l] &= 0xffff0000;
        if (op->width && (int32_t)d[l] < 0)
            d[l] &= 0xffff;
    });
    return FLOW_NEXT;
}

/* .u16x2 and .s16x2; true when the instruction is one */
static bool decode_halves(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (i->type != PTX_U16X2 && i->type != PTX_S16X2)
        return false;
    decoder_plain(decoder, i, halves_run, 32);
    if (!decoder->failed && decoder->code_count) {
        struct micro *op = &decoder->code[decoder->code_count - 1];
        op->kind = (uint8_t)i->opcode;
        op->option = i->type == PTX_S16X2;
        op->width = i->relu;
    }
    return true;
}

/* The condition code of .cc instructions: one bit per lane, in the warp. */
static int add_with_carry(struct warp *w, const struct micro *op)
{
    const uint32_t *a32 = slot(w, op->a), *b32 = slot(w, op->b);
    const uint64_t *a64 = slot(w, op->a), *b64 = slot(w, op->b);
    uint32_t *d32 = slot(w, op->d);
    uint64_t *d64 = slot(w, op->d);
    bool subtracts = op->kind, takes = op->option & 1, gives = op->option & 2;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint64_t carry = takes ? w->carry >> l & 1 : 0, out;
        if (op->width == 4) {
            uint64_t wide =
                subtracts ? (uint64_t)a32[l] - b32[l] - carry : (uint64_t)a32[l] + b32[l] + carry;
            d32[l] = (uint32_t)wide;
            out = wide >> 32 & 1;
        } else {
            unsigned __int128 a = a64[l], b = b64[l];
            unsigned __int128 wide = subtracts ? a - b - carry : a + b + carry;
            d64[l] = (uint64_t)wide;
            out = (uint64_t)(wide >> 64) & 1;
        }
        if (gives)
            w->carry = (w->carry & ~(1u << l)) | (uint32_t)out << l;
    }
    return FLOW_NEXT;
}

/* mad.cc and madc: the product's half, then the addition with carry. */
static void decode_multiply_carry(struct decoder *decoder, const struct ptx_instruction *i,
                                  uint32_t bits)
{
    micro_run *run = i->part == PTX_PART_HI ? multiply_high[i->type] : multiply[i->type];
    if (i->operand_count < 4 || !run) {
        decoder_fail(decoder);
        return;
    }
    uint32_t product = decoder_temporary(decoder, bits);
    uint32_t a = decoder_source(decoder, &i->operands[1], bits);
    uint32_t b = decoder_source(decoder, &i->operands[2], bits);
    uint32_t c = decoder_source(decoder, &i->operands[3], bits);
    uint32_t d = decoder_destination(decoder, &i->operands[0], bits);
    struct micro *op = decoder_emit(decoder, run);
    op->d = product;
    op->a = a;
    op->b = b;
    op = decoder_emit(decoder, add_with_carry);
    op->d = d;
    op->a = product;
    op->b = c;
    op->width = (uint8_t)(bits / 8);
    op->option = (uint8_t)((i->opcode == PTX_OP_MADC) | i->carry_out << 1);
}

void decode_carry(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t bits = ptx_type_bits(i->type);
    if ((bits != 32 && bits != 64) || ptx_type_is_float(i->type)) {
        decoder_fail(decoder);
        return;
    }
    if (i->opcode == PTX_OP_MADC || i->opcode == PTX_OP_MAD) {
        decode_multiply_carry(decoder, i, bits);
        return;
    }
    decoder_plain(decoder, i, add_with_carry, bits);
    if (decoder->failed || !decoder->code_count)
        return;
    struct micro *op = &decoder->code[decoder->code_count - 1];
    op->width = (uint8_t)(bits / 8);
    op->kind = i->opcode == PTX_OP_SUB || i->opcode == PTX_OP_SUBC;
    bool takes = i->opcode == PTX_OP_ADDC || i->opcode == PTX_OP_SUBC;
    op->option = (uint8_t)(takes | i->carry_out << 1);
}

static void decode_integer(struct decoder *decoder, const struct ptx_instruction *i,
                           micro_run *const *table)
{
    micro_run *run = i->type < PTX_TYPE_OTHER ? table[i->type] : NULL;
    decoder_plain(decoder, i, run, ptx_type_bits(i->type));
}

static bool decode_other_types(struct decoder *decoder, const struct ptx_instruction *i)
{
    return decode_float(decoder, i) || decode_half(decoder, i) || decode_halves(decoder, i);
}

void decode_add(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (i->carry_out)
        decode_carry(decoder, i);
    else if (decode_other_types(decoder, i))
        return;
    else if (i->sat && i->type == PTX_S32)
        decoder_plain(decoder, i, add_saturated_s32, 32);
    else
        decode_integer(decoder, i, add);
}

void decode_sub(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (i->carry_out)
        decode_carry(decoder, i);
    else if (decode_other_types(decoder, i))
        return;
    else if (i->sat && i->type == PTX_S32)
        decoder_plain(decoder, i, subtract_saturated_s32, 32);
    else
        decode_integer(decoder, i, subtract);
}

/* ---- mul, mad ------------------------------------------------------------------------------ */

static void decode_wide(struct decoder *decoder, const struct ptx_instruction *i,
                        micro_run *const *table)
{
    uint32_t bits = ptx_type_bits(i->type);
    micro_run *run = i->type < PTX_TYPE_OTHER ? table[i->type] : NULL;
    bool adds = i->operand_count > 3;
    if (!run) {
        decoder_fail(decoder);
        return;
    }
    uint32_t a = decoder_source(decoder, &i->operands[1], bits);
    uint32_t b = decoder_source(decoder, &i->operands[2], bits);
    uint32_t c = adds ? decoder_source(decoder, &i->operands[3], bits * 2) : 0;
    uint32_t d = decoder_destination(decoder, &i->operands[0], bits * 2);
    struct micro *op = decoder_emit(decoder, run);
    op->d = d;
    op->a = a;
    op->b = b;
    op->c = c;
}

void decode_mul(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (decode_other_types(decoder, i))
        return;
    if (i->part == PTX_PART_WIDE)
        decode_wide(decoder, i, multiply_wide);
    else
        decode_integer(decoder, i, i->part == PTX_PART_HI ? multiply_high : multiply);
}

void decode_mad(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (i->carry_out)
        decode_carry(decoder, i);
    else if (decode_float(decoder, i))
        return;
    else if (i->part == PTX_PART_WIDE)
        decode_wide(decoder, i, multiply_add_wide);
    else if (i->sat && i->type == PTX_S32 && i->part == PTX_PART_HI)
        decoder_plain(decoder, i, multiply_add_saturated_s32, 32);
    else
        decode_integer(decoder, i, i->part == PTX_PART_HI ? multiply_add_high : multiply_add);
}

#define LOW24(x)    ((uint32_t)(x)&0xffffff)
#define SIGNED24(x) ((int32_t)((uint32_t)(x) << 8) >> 8)
HANDLER3(low24, u32, uint32_t, uint32_t, (uint64_t)LOW24(a) * LOW24(b) + c)
HANDLER3(low24, s32, int32_t, int32_t, (int64_t)SIGNED24(a) * SIGNED24(b) + c)
HANDLER3(high24, u32, uint32_t, uint32_t, ((uint64_t)LOW24(a) * LOW24(b) >> 16) + c)
HANDLER3(high24, s32, int32_t, int32_t, ((int64_t)SIGNED24(a) * SIGNED24(b) >> 16) + c)

static void decode_24(struct decoder *decoder, const struct ptx_instruction *i, bool adds)
{
    bool high = i->part == PTX_PART_HI, sign = i->type == PTX_S32;
    if ((i->type != PTX_U32 && i->type != PTX_S32) || i->sat) {
        decoder_fail(decoder);
        return;
    }
    uint32_t a = decoder_source(decoder, &i->operands[1], 32);
    uint32_t b = decoder_source(decoder, &i->operands[2], 32);
    uint32_t c =
        adds ? decoder_source(decoder, &i->operands[3], 32) : decoder_constant(decoder, 32, 0);
    uint32_t d = decoder_destination(decoder, &i->operands[0], 32);
    struct micro *op = decoder_emit(decoder, high ? (sign ? high24_s32 : high24_u32)
                                                  : (sign ? low24_s32 : low24_u32));
    op->d = d;
    op->a = a;
    op->b = b;
    op->c = c;
}

void decode_mul24(struct decoder *decoder, const struct ptx_instruction *i)
{
    decode_24(decoder, i, false);
}

void decode_mad24(struct decoder *decoder, const struct ptx_instruction *i)
{
    decode_24(decoder, i, true);
}

/* ---- the others ---------------------------------------------------------------------------- */

void decode_div(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (!decode_float(decoder, i))
        decode_integer(decoder, i, divide);
}

void decode_rem(struct decoder *decoder, const struct ptx_instruction *i)
{
    decode_integer(decoder, i, modulo);
}

BINARY(absolute, magnitude((int64_t)a))
BINARY(negate, 0 - (uint64_t)a)

void decode_abs(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (!decode_float(decoder, i) && !decode_half(decoder, i))
        decode_integer(decoder, i, absolute);
}

void decode_neg(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (!decode_float(decoder, i) && !decode_half(decoder, i))
        decode_integer(decoder, i, negate);
}

HANDLER2(minimum_relu, s32, int32_t, a < b ? (a < 0 ? 0 : a) : (b < 0 ? 0 : b))
HANDLER2(maximum_relu, s32, int32_t, a > b ? (a < 0 ? 0 : a) : (b < 0 ? 0 : b))

void decode_min_max(struct decoder *decoder, const struct ptx_instruction *i)
{
    bool lower = i->opcode == PTX_OP_MIN;
    if (i->operand_count == 4 && ptx_type_is_float(i->type) && decode_float(decoder, i))
        return; /* of three */
    if (i->operand_count != 3)
        decoder_fail(decoder);
    else if (decode_other_types(decoder, i))
        return;
    else if (i->relu && i->type == PTX_S32)
        decoder_plain(decoder, i, lower ? minimum_relu_s32 : maximum_relu_s32, 32);
    else
        decode_integer(decoder, i, lower ? minimum : maximum);
}

void decode_sad(struct decoder *decoder, const struct ptx_instruction *i)
{
    decode_integer(decoder, i, differences);
}

/* dp4a and dp2a: a's elements are bytes or halves, b's bytes; option bits: a signed, b signed */
static int64_t element(uint32_t value, uint32_t index, uint32_t bits, bool sign)
{
    uint32_t raw = value >> (index * bits) & ((1u << bits) - 1);
    return sign ? (int64_t)((int32_t)(raw << (32 - bits)) >> (32 - bits)) : (int64_t)raw;
}

static int dot_product(struct warp *w, const struct micro *op)
{
    uint32_t *d = slot(w, op->d);
    const uint32_t *a = slot(w, op->a), *b = slot(w, op->b), *c = slot(w, op->c);
    uint32_t bits = op->width, count = 32 / bits, first = op->kind;
    LANES(w, {
        int64_t sum = c[l];
        for (uint32_t k = 0; k < count; k++)
            sum += element(a[l], k, bits, op->option & 1) *
                   element(b[l], first + k, 8, op->option & 2);
        d[l] = (uint32_t)sum;
    });
    return FLOW_NEXT;
}

void decode_dp(struct decoder *decoder, const struct ptx_instruction *i)
{
    bool bytes = i->opcode == PTX_OP_DP4A;
    decoder_plain(decoder, i, dot_product, 32);
    if (decoder->failed || !decoder->code_count)
        return;
    uint8_t first_type = i->type2 ? i->type2 : i->type;
    struct micro *op = &decoder->code[decoder->code_count - 1];
    op->width = bytes ? 8 : 16;
    op->kind = !bytes && i->part == PTX_PART_HI ? 2 : 0;
    op->option = (uint8_t)(ptx_type_is_signed(first_type) | ptx_type_is_signed(i->type) << 1);
}
