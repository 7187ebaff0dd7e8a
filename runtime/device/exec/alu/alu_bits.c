/* Logic, shifts and bit fields (PTX ISA 9.7.1 and 9.7.7): and or xor not cnot lop3, shl shr shf,
 * bfe bfi bfind brev clz popc prmt bmsk szext fns. */
#include "runtime/device/exec/alu/alu_lane.h"
#include "runtime/device/exec/exec_decoder.h"
#include "runtime/device/exec/exec_lowering.h"

#define BITS2(name, bits, expression)                                                              \
    static int name##_##bits(struct warp *w, const struct micro *op)                               \
    {                                                                                              \
        uint##bits##_t *d = slot(w, op->d);                                                        \
        const uint##bits##_t *pa = slot(w, op->a), *pb = slot(w, op->b);                           \
        LANES(w, {                                                                                 \
            uint##bits##_t a = pa[l], b = pb[l];                                                   \
            (void)b;                                                                               \
            d[l] = (uint##bits##_t)(expression);                                                   \
        });                                                                                        \
        return FLOW_NEXT;                                                                          \
    }                                                                                              \
    LOWERING(name##_##bits, LOWERING_LANES, "uint" #bits "_t", "uint" #bits "_t",                  \
             "uint" #bits "_t", NULL, LOWERING_TEXT(expression))
#define LOGIC(name, expression)                                                                    \
    BITS2(name, 16, expression)                                                                    \
    BITS2(name, 32, expression)                                                                    \
    BITS2(name, 64, expression)                                                                    \
    static int name##_predicate(struct warp *w, const struct micro *op)                            \
    {                                                                                              \
        uint32_t a = *(uint32_t *)slot(w, op->a), b = *(uint32_t *)slot(w, op->b);                 \
        (void)b;                                                                                   \
        slot_set_predicate(w, op->d, expression);                                                  \
        return FLOW_NEXT;                                                                          \
    }                                                                                              \
    LOWERING(name##_predicate, LOWERING_PREDICATE, NULL, NULL, NULL, NULL,                         \
             LOWERING_TEXT(expression))                                                            \
    static micro_run *const name[] = {name##_predicate, name##_16, name##_32, name##_64};
LOGIC(and, a &b)
LOGIC(or, a | b)
LOGIC(xor, a ^ b)
LOGIC(not, ~a)
BITS2(cnot, 16, a == 0)
BITS2(cnot, 32, a == 0)
BITS2(cnot, 64, a == 0)
static micro_run *const cnot[] = {NULL, cnot_16, cnot_32, cnot_64};

static int width_index(uint32_t bits)
{
    return bits == 1 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : bits == 64 ? 3 : -1;
}

void decode_logic(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t bits = ptx_type_bits(i->type);
    int index = width_index(bits);
    micro_run *const *table = i->opcode == PTX_OP_AND   ? and
                              : i->opcode == PTX_OP_OR  ? or
                              : i->opcode == PTX_OP_XOR ? xor
                              : i->opcode == PTX_OP_NOT ? not
                                                        : cnot;
    decoder_plain(decoder, i, index < 0 ? NULL : table[index], bits);
}

/* ---- shifts: amounts are .u32 and clamp at the width ----------------------------------------- */

#define SHIFT(kind, name, type, bits, expression)                                                  \
    static int name(struct warp *w, const struct micro *op)                                        \
    {                                                                                              \
        type *d = slot(w, op->d);                                                                  \
        const type *pa = slot(w, op->a);                                                           \
        const uint32_t *pb = slot(w, op->b);                                                       \
        LANES(w, {                                                                                 \
            type a = pa[l];                                                                        \
            uint32_t b = pb[l];                                                                    \
            d[l] = (type)(expression);                                                             \
        });                                                                                        \
        return FLOW_NEXT;                                                                          \
    }                                                                                              \
    LOWERING(name, kind, LOWERING_TEXT(type), LOWERING_TEXT(type), "uint32_t", NULL,               \
             LOWERING_TEXT(expression))
#define SHIFTS(kind, signed_kind, bits)                                                            \
    SHIFT(kind, left_##bits, uint##bits##_t, bits, b < bits ? (uint64_t)a << (b & (bits - 1)) : 0) \
    SHIFT(kind, right_u##bits, uint##bits##_t, bits, b < bits ? a >> (b & (bits - 1)) : 0)         \
    SHIFT(signed_kind, right_s##bits, int##bits##_t, bits, a >> (b < bits ? b : bits - 1))
SHIFTS(LOWERING_ALONE, LOWERING_ALONE, 16)
/* gcc and clang shift signed numbers arithmetically, which is what PTX wants. */
// cppcheck-suppress shiftTooManyBitsSigned
SHIFTS(LOWERING_LANES, LOWERING_LANES, 32)
// cppcheck-suppress shiftTooManyBitsSigned
SHIFTS(LOWERING_LANES, LOWERING_ALONE, 64)

void decode_shift(struct decoder *decoder, const struct ptx_instruction *i)
{
    static micro_run *const runs[3][4] = {{NULL, left_16, left_32, left_64},
                                          {NULL, right_u16, right_u32, right_u64},
                                          {NULL, right_s16, right_s32, right_s64}};
    uint32_t bits = ptx_type_bits(i->type);
    int index = width_index(bits);
    int kind = i->opcode == PTX_OP_SHL ? 0 : ptx_type_is_signed(i->type) ? 2 : 1;
    uint32_t a = decoder_source(decoder, &i->operands[1], bits);
    uint32_t b = decoder_source(decoder, &i->operands[2], 32);
    uint32_t d = decoder_destination(decoder, &i->operands[0], bits);
    if (index < 1) {
        decoder_fail(decoder);
        return;
    }
    struct micro *op = decoder_emit(decoder, runs[kind][index]);
    op->d = d;
    op->a = a;
    op->b = b;
}

/* ---- 32-bit operations of three sources ------------------------------------------------------ */

#define CALLED3(name, expression)                                                                  \
    static int name(struct warp *w, const struct micro *op)                                        \
    {                                                                                              \
        uint32_t *d = slot(w, op->d);                                                              \
        const uint32_t *pa = slot(w, op->a), *pb = slot(w, op->b), *pc = slot(w, op->c);           \
        LANES(w, {                                                                                 \
            uint32_t a = pa[l], b = pb[l], c = pc[l];                                              \
            d[l] = (uint32_t)(expression);                                                         \
        });                                                                                        \
        return FLOW_NEXT;                                                                          \
    }
#define WORD3(name, expression)                                                                    \
    CALLED3(name, expression)                                                                      \
    LOWERING(name, LOWERING_LANES, "uint32_t", "uint32_t", "uint32_t", "uint32_t",                 \
             LOWERING_TEXT(expression))
WORD3(funnel_left_wrap, funnel(a, b, c & 31, true))
WORD3(funnel_left_clamp, funnel(a, b, c < 32 ? c : 32, true))
WORD3(funnel_right_wrap, funnel(a, b, c & 31, false))
WORD3(funnel_right_clamp, funnel(a, b, c < 32 ? c : 32, false))

void decode_shf(struct decoder *decoder, const struct ptx_instruction *i)
{
    bool left = i->part == PTX_PART_LEFT;
    decoder_plain(decoder, i,
                  left ? (i->wrap ? funnel_left_wrap : funnel_left_clamp)
                       : (i->wrap ? funnel_right_wrap : funnel_right_clamp),
                  32);
}

static inline uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t result = 0;
    for (uint32_t k = 0; k < 8; k++)
        if (table >> k & 1)
            result |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    return result;
}

static int lop3_run(struct warp *w, const struct micro *op)
{
    uint32_t *d = slot(w, op->d);
    const uint32_t *a = slot(w, op->a), *b = slot(w, op->b), *c = slot(w, op->c);
    uint32_t table = op->kind;
    LANES(w, d[l] = lop3(a[l], b[l], c[l], table));
    return FLOW_NEXT;
}

/* lop3.BoolOp d|p: p says whether the result is not zero, combined with q. */
static int lop3_predicate(struct warp *w, const struct micro *op)
{
    const uint32_t *value = slot(w, op->a);
    uint32_t result = 0, q = *(uint32_t *)slot(w, op->b);
    LANES(w, result |= (uint32_t)(value[l] != 0) << l);
    slot_set_predicate(w, op->d, op->kind == PTX_BOOL_OR ? result | q : result & q);
    return FLOW_NEXT;
}

void decode_lop3(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (i->operand_count < 5 || i->operands[4].kind != PTX_OPERAND_IMMEDIATE ||
        (i->bool_op && i->operand_count < 6)) {
        decoder_fail(decoder);
        return;
    }
    uint32_t slots[3], value = decoder_temporary(decoder, 32);
    for (int k = 0; k < 3; k++)
        slots[k] = decoder_source(decoder, &i->operands[k + 1], 32);
    uint32_t d = decoder_destination(decoder, &i->operands[0], 32);
    uint32_t q = i->bool_op ? decoder_source(decoder, &i->operands[5], 1) : 0;
    struct micro *op = decoder_emit(decoder, lop3_run);
    op->d = i->bool_op && i->operands[0].kind == PTX_OPERAND_SINK ? value : d;
    value = op->d;
    op->a = slots[0];
    op->b = slots[1];
    op->c = slots[2];
    op->kind = (uint8_t)i->operands[4].imm;
    if (!i->bool_op)
        return;
    uint32_t p = decoder_destination(decoder, &i->second, 1);
    op = decoder_emit(decoder, lop3_predicate);
    op->d = p;
    op->a = value;
    op->b = q;
    op->kind = i->bool_op;
}

/* ---- bit fields ---------------------------------------------------------------------------- */

/* Section 9.7.1.19: position and length are taken modulo 256; what is beyond the top is the sign.
 */
static uint64_t extract(uint64_t a, uint32_t position, uint32_t length, uint32_t bits, bool sign)
{
    position &= 0xff;
    length &= 0xff;
    if (length == 0)
        return 0;
    uint32_t top = position + length - 1 < bits - 1 ? position + length - 1 : bits - 1;
    uint64_t fill = sign && (a >> top & 1) ? ~0ull : 0;
    uint64_t field = position < bits ? a >> position : 0;
    uint32_t kept = position < bits ? (length < bits - position ? length : bits - position) : 0;
    uint64_t mask = kept >= 64 ? ~0ull : (1ull << kept) - 1;
    return (field & mask) | (fill & ~mask);
}

#define EXTRACT(suffix, type, bits, sign)                                                          \
    static int extract_##suffix(struct warp *w, const struct micro *op)                            \
    {                                                                                              \
        type *d = slot(w, op->d);                                                                  \
        const type *a = slot(w, op->a);                                                            \
        const uint32_t *b = slot(w, op->b), *c = slot(w, op->c);                                   \
        LANES(w, d[l] = (type)extract(a[l], b[l], c[l], bits, sign));                              \
        return FLOW_NEXT;                                                                          \
    }
EXTRACT(u32, uint32_t, 32, false)
EXTRACT(s32, uint32_t, 32, true)
EXTRACT(u64, uint64_t, 64, false)
EXTRACT(s64, uint64_t, 64, true)

void decode_bfe(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t bits = ptx_type_bits(i->type);
    micro_run *run = i->type == PTX_U32   ? extract_u32
                     : i->type == PTX_S32 ? extract_s32
                     : i->type == PTX_U64 ? extract_u64
                     : i->type == PTX_S64 ? extract_s64
                                          : NULL;
    uint32_t a = decoder_source(decoder, &i->operands[1], bits);
    uint32_t b = decoder_source(decoder, &i->operands[2], 32);
    uint32_t c = decoder_source(decoder, &i->operands[3], 32);
    uint32_t d = decoder_destination(decoder, &i->operands[0], bits);
    if (!run) {
        decoder_fail(decoder);
        return;
    }
    struct micro *op = decoder_emit(decoder, run);
    op->d = d;
    op->a = a;
    op->b = b;
    op->c = c;
}

static uint64_t insert(uint64_t a, uint64_t b, uint32_t position, uint32_t length, uint32_t bits)
{
    position &= 0xff;
    length &= 0xff;
    if (position >= bits || length == 0)
        return b;
    uint32_t kept = length < bits - position ? length : bits - position;
    uint64_t mask = (kept >= 64 ? ~0ull : (1ull << kept) - 1) << position;
    return (b & ~mask) | (a << position & mask);
}

#define INSERT(bits)                                                                               \
    static int insert_##bits(struct warp *w, const struct micro *op)                               \
    {                                                                                              \
        uint##bits##_t *d = slot(w, op->d);                                                        \
        const uint##bits##_t *a = slot(w, op->a), *b = slot(w, op->b);                             \
        const uint32_t *c = slot(w, op->c), *e = slot(w, op->e);                                   \
        LANES(w, d[l] = (uint##bits##_t)insert(a[l], b[l], c[l], e[l], bits));                     \
        return FLOW_NEXT;                                                                          \
    }
INSERT(32)
INSERT(64)

void decode_bfi(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t bits = ptx_type_bits(i->type);
    uint32_t a = decoder_source(decoder, &i->operands[1], bits);
    uint32_t b = decoder_source(decoder, &i->operands[2], bits);
    uint32_t c = decoder_source(decoder, &i->operands[3], 32);
    uint32_t e = decoder_source(decoder, &i->operands[4], 32);
    uint32_t d = decoder_destination(decoder, &i->operands[0], bits);
    if (bits != 32 && bits != 64) {
        decoder_fail(decoder);
        return;
    }
    struct micro *op = decoder_emit(decoder, bits == 32 ? insert_32 : insert_64);
    op->d = d;
    op->a = a;
    op->b = b;
    op->c = c;
    op->e = e;
}

/* ---- counting: .u32 results from 32- or 64-bit sources ----------------------------------------
 */

static uint32_t find_top(uint64_t a, uint32_t bits, bool sign, bool shift)
{
    if (sign && (a >> (bits - 1) & 1))
        a = ~a & (bits == 64 ? ~0ull : 0xffffffffull);
    if (a == 0)
        return 0xffffffff;
    uint32_t place = 63 - (uint32_t)__builtin_clzll(a);
    return shift ? bits - 1 - place : place;
}

static uint32_t count_bits(uint64_t a, const struct micro *op)
{
    uint32_t bits = op->width * 8u;
    switch (op->kind) {
    case PTX_OP_POPC:
        return (uint32_t)__builtin_popcountll(a);
    case PTX_OP_CLZ:
        return a ? (uint32_t)__builtin_clzll(a) - (64 - bits) : bits;
    default:
        return find_top(a, bits, op->option & 1, op->option & 2);
    }
}

static int count_run(struct warp *w, const struct micro *op)
{
    uint32_t *d = slot(w, op->d);
    const uint32_t *a32 = slot(w, op->a);
    const uint64_t *a64 = slot(w, op->a);
    if (op->width == 4)
        LANES(w, d[l] = count_bits(a32[l], op));
    else
        LANES(w, d[l] = count_bits(a64[l], op));
    return FLOW_NEXT;
}

static void decode_count(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t bits = ptx_type_bits(i->type);
    uint32_t a = decoder_source(decoder, &i->operands[1], bits);
    uint32_t d = decoder_destination(decoder, &i->operands[0], 32);
    if (bits != 32 && bits != 64) {
        decoder_fail(decoder);
        return;
    }
    struct micro *op = decoder_emit(decoder, count_run);
    op->d = d;
    op->a = a;
    op->kind = (uint8_t)i->opcode;
    op->width = (uint8_t)(bits / 8);
    op->option = (uint8_t)(ptx_type_is_signed(i->type) | i->shiftamt << 1);
}

void decode_bfind(struct decoder *decoder, const struct ptx_instruction *i)
{
    decode_count(decoder, i);
}
void decode_clz(struct decoder *decoder, const struct ptx_instruction *i)
{
    decode_count(decoder, i);
}
void decode_popc(struct decoder *decoder, const struct ptx_instruction *i)
{
    decode_count(decoder, i);
}

BITS2(reverse, 32, reverse(a) >> 32)
BITS2(reverse, 64, reverse(a))

void decode_brev(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t bits = ptx_type_bits(i->type);
    decoder_plain(decoder, i, bits == 32 ? reverse_32 : bits == 64 ? reverse_64 : NULL, bits);
}

/* ---- prmt, bmsk, szext, fns ------------------------------------------------------------------ */

/* Byte selectors of the special modes, by the low two bits of c (section 9.7.9.7). */
static uint32_t mode_selector(uint32_t form, uint32_t c)
{
    static const uint16_t selectors[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
        {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
        {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
    return selectors[form][c & 3];
}

static uint32_t permute(uint32_t a, uint32_t b, uint32_t selector)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (int k = 0; k < 4; k++) {
        uint32_t choice = selector >> (4 * k) & 15;
        uint32_t byte = (uint32_t)(bytes >> (8 * (choice & 7))) & 0xff;
        if (choice & 8)
            byte = byte & 0x80 ? 0xff : 0;
        result |= byte << (8 * k);
    }
    return result;
}
CALLED3(permute_run, permute(a, b, c))

static int permute_mode(struct warp *w, const struct micro *op)
{
    uint32_t *d = slot(w, op->d);
    const uint32_t *a = slot(w, op->a), *b = slot(w, op->b), *c = slot(w, op->c);
    LANES(w, d[l] = permute(a[l], b[l], mode_selector(op->kind, c[l])));
    return FLOW_NEXT;
}

void decode_prmt(struct decoder *decoder, const struct ptx_instruction *i)
{
    bool mode = i->form >= PTX_FORM_PRMT_F4E && i->form <= PTX_FORM_PRMT_RC16;
    decoder_plain(decoder, i, mode ? permute_mode : permute_run, 32);
    if (mode && !decoder->failed && decoder->code_count)
        decoder->code[decoder->code_count - 1].kind = (uint8_t)(i->form - PTX_FORM_PRMT_F4E);
}

/* bmsk: `b` ones from bit `a`; beyond 31 clamps or wraps (section 9.7.1.22). */
static uint32_t bit_mask(uint32_t a, uint32_t b, bool wrap)
{
    if (wrap) {
        a &= 31;
        b &= 31;
    }
    if (a > 31 || b == 0)
        return 0;
    return (b > 31 ? ~0u : (1u << b) - 1) << a;
}

/* szext: from bit a on, the sign or zeros (section 9.7.1.23). */
static uint32_t extend(uint32_t a, uint32_t b, bool wrap, bool sign)
{
    if (wrap)
        b &= 31;
    if (b > 31)
        return a;
    if (b == 0)
        return 0;
    uint32_t mask = (1u << b) - 1;
    return sign && (a >> (b - 1) & 1) ? a | ~mask : a & mask;
}

static int mask_run(struct warp *w, const struct micro *op)
{
    uint32_t *d = slot(w, op->d);
    const uint32_t *a = slot(w, op->a), *b = slot(w, op->b);
    bool wrap = op->option & 1;
    if (op->kind)
        LANES(w, d[l] = extend(a[l], b[l], wrap, op->option & 2));
    else
        LANES(w, d[l] = bit_mask(a[l], b[l], wrap));
    return FLOW_NEXT;
}

static void decode_mask(struct decoder *decoder, const struct ptx_instruction *i, bool extends)
{
    decoder_plain(decoder, i, mask_run, 32);
    if (decoder->failed || !decoder->code_count)
        return;
    struct micro *op = &decoder->code[decoder->code_count - 1];
    op->kind = extends;
    op->option = (uint8_t)(i->wrap | (i->type == PTX_S32) << 1);
}

void decode_bmsk(struct decoder *decoder, const struct ptx_instruction *i)
{
    decode_mask(decoder, i, false);
}
void decode_szext(struct decoder *decoder, const struct ptx_instruction *i)
{
    decode_mask(decoder, i, true);
}

/* fns: the n-th set bit from `base` upwards, or downwards for a negative n (section 9.7.1.17). */
static uint32_t find_set(uint32_t mask, uint32_t base, int32_t n)
{
    if (n == 0)
        return mask >> (base & 31) & 1 ? base : 0xffffffff;
    int32_t step = n > 0 ? 1 : -1, left = n > 0 ? n : -n;
    for (int64_t place = base; place >= 0 && place < 32; place += step)
        if (mask >> place & 1 && --left == 0)
            return (uint32_t)place;
    return 0xffffffff;
}
CALLED3(find_set_run, find_set(a, b, (int32_t)c))

void decode_fns(struct decoder *decoder, const struct ptx_instruction *i)
{
    decoder_plain(decoder, i, find_set_run, 32);
}
