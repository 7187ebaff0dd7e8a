/* Comparison and selection (PTX ISA 9.7.5): setp, set, selp, slct. */
#include "runtime/device/exec/exec_decoder.h"
#include "runtime/device/exec/exec_half.h"
#include "runtime/device/exec/exec_lowering.h"

#include <math.h>

/* ---- comparisons: 32 lanes to 32 bits ------------------------------------------------------- */

typedef uint32_t compare_run(const void *a, const void *b);

/* Each lane gives a byte, so that the compiler can turn the loop into vectors. */
#define COMPARE(name, type, expression)                                                            \
    static uint32_t name(const void *left, const void *right)                                      \
    {                                                                                              \
        const type *pa = left, *pb = right;                                                        \
        uint8_t each[WARP_LANES];                                                                  \
        for (int l = 0; l < WARP_LANES; l++) {                                                     \
            type a = pa[l], b = pb[l];                                                             \
            each[l] = (expression) ? 1 : 0;                                                        \
        }                                                                                          \
        return collect(each);                                                                      \
    }                                                                                              \
    LOWERING(name, LOWERING_COMPARE, NULL, LOWERING_TEXT(type), LOWERING_TEXT(type), NULL,         \
             LOWERING_TEXT(expression))

/* Bytes of 0 or 1 to bits. */
static inline uint32_t collect(const uint8_t *each)
{
    uint32_t result = 0;
    for (int k = 0; k < 4; k++) {
        uint64_t eight;
        memcpy(&eight, each + 8 * k, 8);
        result |= (uint32_t)(eight * 0x0102040810204080ull >> 56) << (8 * k);
    }
    return result;
}

#define COMPARE_ALL(suffix, type)                                                                  \
    COMPARE(eq_##suffix, type, a == b)                                                             \
    COMPARE(ne_##suffix, type, a != b)                                                             \
    COMPARE(lt_##suffix, type, a < b)                                                              \
    COMPARE(le_##suffix, type, a <= b)                                                             \
    COMPARE(gt_##suffix, type, a > b)                                                              \
    COMPARE(ge_##suffix, type, a >= b)                                                             \
    static compare_run *const compare_##suffix[] = {                                               \
        [PTX_CMP_EQ] = eq_##suffix, [PTX_CMP_NE] = ne_##suffix, [PTX_CMP_LT] = lt_##suffix,        \
        [PTX_CMP_LE] = le_##suffix, [PTX_CMP_GT] = gt_##suffix, [PTX_CMP_GE] = ge_##suffix};
COMPARE_ALL(u16, uint16_t)
COMPARE_ALL(s16, int16_t)
COMPARE_ALL(u32, uint32_t)
COMPARE_ALL(s32, int32_t)
COMPARE_ALL(u64, uint64_t)
COMPARE_ALL(s64, int64_t)

/* Floats: ne, like every plain comparison, is false for a NaN; the ..u forms are true for one. */
#define COMPARE_FLOAT(suffix, type)                                                                \
    COMPARE(eq_##suffix, type, a == b)                                                             \
    COMPARE(ne_##suffix, type, a<b || a> b)                                                        \
    COMPARE(lt_##suffix, type, a < b)                                                              \
    COMPARE(le_##suffix, type, a <= b)                                                             \
    COMPARE(gt_##suffix, type, a > b)                                                              \
    COMPARE(ge_##suffix, type, a >= b)                                                             \
    COMPARE(equ_##suffix, type, !(a < b || a > b))                                                 \
    COMPARE(neu_##suffix, type, !(a == b))                                                         \
    COMPARE(ltu_##suffix, type, !(a >= b))                                                         \
    COMPARE(leu_##suffix, type, !(a > b))                                                          \
    COMPARE(gtu_##suffix, type, !(a <= b))                                                         \
    COMPARE(geu_##suffix, type, !(a < b))                                                          \
    COMPARE(num_##suffix, type, a == a && b == b)                                                  \
    COMPARE(nan_##suffix, type, a != a || b != b)                                                  \
    static compare_run *const compare_##suffix[] = {                                               \
        [PTX_CMP_EQ] = eq_##suffix,   [PTX_CMP_NE] = ne_##suffix,   [PTX_CMP_LT] = lt_##suffix,    \
        [PTX_CMP_LE] = le_##suffix,   [PTX_CMP_GT] = gt_##suffix,   [PTX_CMP_GE] = ge_##suffix,    \
        [PTX_CMP_EQU] = equ_##suffix, [PTX_CMP_NEU] = neu_##suffix, [PTX_CMP_LTU] = ltu_##suffix,  \
        [PTX_CMP_LEU] = leu_##suffix, [PTX_CMP_GTU] = gtu_##suffix, [PTX_CMP_GEU] = geu_##suffix,  \
        [PTX_CMP_NUM] = num_##suffix, [PTX_CMP_NAN] = nan_##suffix};
COMPARE_FLOAT(f32, float)
COMPARE_FLOAT(f64, double)

static uint8_t plain_compare(uint8_t compare)
{
    switch (compare) { /* unsigned spellings */
    case PTX_CMP_LO:
        return PTX_CMP_LT;
    case PTX_CMP_LS:
        return PTX_CMP_LE;
    case PTX_CMP_HI:
        return PTX_CMP_GT;
    case PTX_CMP_HS:
        return PTX_CMP_GE;
    default:
        return compare;
    }
}

static compare_run *find_compare(const struct ptx_instruction *i)
{
    uint8_t compare = plain_compare(i->compare);
    bool unsigned_spelling = compare != i->compare;
    bool simple = compare >= PTX_CMP_EQ && compare <= PTX_CMP_GE;
    if (compare == PTX_CMP_NONE)
        return NULL;
    switch (i->type) {
    case PTX_F32:
    case PTX_F16:
    case PTX_BF16:
    case PTX_F16X2:
    case PTX_BF16X2:
        return compare_f32[compare];
    case PTX_F64:
        return compare_f64[compare];
    case PTX_U16:
    case PTX_B16:
        return simple ? compare_u16[compare] : NULL;
    case PTX_U32:
    case PTX_B32:
        return simple ? compare_u32[compare] : NULL;
    case PTX_U64:
    case PTX_B64:
        return simple ? compare_u64[compare] : NULL;
    case PTX_S16:
        return simple ? (unsigned_spelling ? compare_u16 : compare_s16)[compare] : NULL;
    case PTX_S32:
        return simple ? (unsigned_spelling ? compare_u32 : compare_s32)[compare] : NULL;
    case PTX_S64:
        return simple ? (unsigned_spelling ? compare_u64 : compare_s64)[compare] : NULL;
    default:
        return NULL;
    }
}

/* ---- operands that need work first ----------------------------------------------------------- */

enum source_kind {
    SOURCE_PLAIN,
    SOURCE_FLUSH,
    SOURCE_F16,
    SOURCE_BF16,
    SOURCE_F16X2,
    SOURCE_BF16X2
};

struct comparison {
    compare_run *run;
    uint8_t source;  /* enum source_kind */
    uint8_t combine; /* enum ptx_bool_op with predicate slot c */
    bool flush;
};

/* .f32 copies of a source, flushed or widened; `half` chooses the upper value of a pair. */
static void convert_source(const struct comparison *comparison, const void *from, int half,
                           float *to)
{
    const uint16_t *h = from;
    const float *f = from;
    for (int l = 0; l < WARP_LANES; l++) {
        switch (comparison->source) {
        case SOURCE_F16:
            to[l] = half_to_float(h[l]);
            break;
        case SOURCE_BF16:
            to[l] = bfloat_to_float(h[l]);
            break;
        case SOURCE_F16X2:
            to[l] = half_to_float(h[2 * l + half]);
            break;
        case SOURCE_BF16X2:
            to[l] = bfloat_to_float(h[2 * l + half]);
            break;
        default:
            to[l] = half_flush(f[l]);
        }
        if (comparison->flush && fabsf(to[l]) < 0x1p-14f &&
            (comparison->source == SOURCE_F16 || comparison->source == SOURCE_F16X2))
            to[l] = copysignf(0.0f, to[l]);
    }
}

static uint32_t compare_lanes(struct warp *w, const struct micro *op, int half)
{
    const struct comparison *comparison = op->pointer;
    const void *a = slot(w, op->a), *b = slot(w, op->b);
    if (comparison->source == SOURCE_PLAIN)
        return comparison->run(a, b);
    float wide_a[WARP_LANES], wide_b[WARP_LANES];
    convert_source(comparison, a, half, wide_a);
    convert_source(comparison, b, half, wide_b);
    return comparison->run(wide_a, wide_b);
}

static uint32_t combine(uint32_t result, uint32_t other, uint8_t operation)
{
    return operation == PTX_BOOL_AND   ? result & other
           : operation == PTX_BOOL_OR  ? result | other
           : operation == PTX_BOOL_XOR ? result ^ other
                                       : result;
}

static struct comparison *place_comparison(struct decoder *decoder, const struct ptx_instruction *i)
{
    struct comparison *comparison = decoder_keep(decoder, sizeof *comparison);
    if (!comparison)
        return NULL;
    comparison->run = find_compare(i);
    comparison->combine = i->bool_op;
    comparison->flush = i->ftz;
    comparison->source = i->type == PTX_F16             ? SOURCE_F16
                         : i->type == PTX_BF16          ? SOURCE_BF16
                         : i->type == PTX_F16X2         ? SOURCE_F16X2
                         : i->type == PTX_BF16X2        ? SOURCE_BF16X2
                         : i->type == PTX_F32 && i->ftz ? SOURCE_FLUSH
                                                        : SOURCE_PLAIN;
    if (!comparison->run)
        decoder_fail(decoder);
    return comparison;
}

/* ---- setp ---------------------------------------------------------------------------------- */

/* Integer and .f32 comparisons without a second predicate or a combination: the common case. */
static int setp_simple(struct warp *w, const struct micro *op)
{
    slot_set_predicate(w, op->d,
                       ((compare_run *)(uintptr_t)op->pointer)(slot(w, op->a), slot(w, op->b)));
    return FLOW_NEXT;
}

/* p gets the comparison, q its opposite, each combined with c; of pairs p gets the lower half's
 * and q the upper's. */
static int setp_run(struct warp *w, const struct micro *op)
{
    const struct comparison *comparison = op->pointer;
    bool pair = comparison->source == SOURCE_F16X2 || comparison->source == SOURCE_BF16X2;
    uint32_t c = comparison->combine ? *(uint32_t *)slot(w, op->c) : 0;
    uint32_t first = compare_lanes(w, op, 0);
    uint32_t second = pair ? compare_lanes(w, op, 1) : ~first;
    slot_set_predicate(w, op->d, combine(first, c, comparison->combine));
    slot_set_predicate(w, op->q, combine(second, c, comparison->combine));
    return FLOW_NEXT;
}

LOWERING(setp_simple, LOWERING_SETP, NULL, NULL, NULL, NULL, NULL)
LOWERING(setp_run, LOWERING_SETP, NULL, NULL, NULL, NULL, NULL)

bool lowering_comparison_of(const struct micro *op, struct lowering_comparison *comparison)
{
    const struct comparison *c = op->pointer;
    const bool simple = op->run == setp_simple;
    if (!simple && c->source != SOURCE_PLAIN && c->source != SOURCE_FLUSH)
        return false;
    compare_run *run = simple ? (compare_run *)(uintptr_t)op->pointer : c->run;
    *comparison =
        (struct lowering_comparison){.compare = lowering_find((lowering_handler *)run),
                                     .combine = simple ? (uint8_t)PTX_BOOL_NONE : c->combine,
                                     .flush = !simple && c->source == SOURCE_FLUSH,
                                     .second = !simple};
    return comparison->compare != NULL;
}

void decode_setp(struct decoder *decoder, const struct ptx_instruction *i)
{
    struct comparison *comparison = place_comparison(decoder, i);
    uint32_t bits = ptx_type_bits(i->type);
    if (!comparison || (i->bool_op && i->operand_count < 4)) {
        decoder_fail(decoder);
        return;
    }
    uint32_t a = decoder_source(decoder, &i->operands[1], bits);
    uint32_t b = decoder_source(decoder, &i->operands[2], bits);
    uint32_t c = i->bool_op ? decoder_source(decoder, &i->operands[3], 1) : 0;
    uint32_t d = decoder_destination(decoder, &i->operands[0], 1);
    bool second = i->second.kind != PTX_OPERAND_NONE;
    bool simple = !second && !i->bool_op && comparison->source == SOURCE_PLAIN;
    uint32_t q =
        second ? decoder_destination(decoder, &i->second, 1) : decoder_temporary(decoder, 1);
    struct micro *op = decoder_emit(decoder, simple ? setp_simple : setp_run);
    op->d = d;
    op->a = a;
    op->b = b;
    op->c = c;
    op->q = q;
    op->pointer = simple ? (const void *)(uintptr_t)comparison->run : comparison;
}

/* ---- set: the result is a number: all ones or 1.0, or zero ------------------------------------
 */

static int set_run(struct warp *w, const struct micro *op)
{
    const struct comparison *comparison = op->pointer;
    bool pair = comparison->source == SOURCE_F16X2 || comparison->source == SOURCE_BF16X2;
    uint32_t c = comparison->combine ? *(uint32_t *)slot(w, op->c) : 0;
    uint32_t low = combine(compare_lanes(w, op, 0), c, comparison->combine);
    uint32_t high = pair ? combine(compare_lanes(w, op, 1), c, comparison->combine) : 0;
    uint64_t yes = (uint64_t)op->imm;
    uint16_t *d16 = slot(w, op->d);
    uint32_t *d32 = slot(w, op->d);
    LANES(w, {
        if (pair && op->option) /* two halves, a truth value each */
            d32[l] = (low >> l & 1 ? (uint32_t)yes & 0xffff : 0) |
                     (high >> l & 1 ? (uint32_t)yes << 16 : 0);
        else if (op->width == 2)
            d16[l] = low >> l & 1 ? (uint16_t)yes : 0;
        else
            d32[l] = low >> l & 1 ? (uint32_t)yes : 0;
    });
    return FLOW_NEXT;
}

static int64_t truth(uint8_t type)
{
    switch (type) {
    case PTX_F32:
        return 0x3f800000;
    case PTX_F16:
    case PTX_F16X2:
        return 0x3c00;
    case PTX_BF16:
    case PTX_BF16X2:
        return 0x3f80;
    case PTX_U16:
    case PTX_S16:
        return 0xffff;
    default:
        return 0xffffffff;
    }
}

void decode_set(struct decoder *decoder, const struct ptx_instruction *i)
{
    struct comparison *comparison = place_comparison(decoder, i);
    uint8_t type = i->type2 ? i->type2 : i->type;
    uint32_t bits = ptx_type_bits(i->type), to = ptx_type_bits(type);
    bool pair = i->type == PTX_F16X2 || i->type == PTX_BF16X2;
    if (!comparison || (to != 16 && to != 32) || (i->bool_op && i->operand_count < 4)) {
        decoder_fail(decoder);
        return;
    }
    uint32_t a = decoder_source(decoder, &i->operands[1], bits);
    uint32_t b = decoder_source(decoder, &i->operands[2], bits);
    uint32_t c = i->bool_op ? decoder_source(decoder, &i->operands[3], 1) : 0;
    uint32_t d = decoder_destination(decoder, &i->operands[0], to);
    struct micro *op = decoder_emit(decoder, set_run);
    op->d = d;
    op->a = a;
    op->b = b;
    op->c = c;
    op->imm = truth(type);
    op->width = (uint8_t)(to / 8);
    op->option = pair;
    op->pointer = comparison;
}

/* ---- selp, slct ---------------------------------------------------------------------------- */

#define SELECT(bits)                                                                               \
    static int select_##bits(struct warp *w, const struct micro *op)                               \
    {                                                                                              \
        uint##bits##_t *d = slot(w, op->d);                                                        \
        const uint##bits##_t *a = slot(w, op->a), *b = slot(w, op->b);                             \
        uint32_t p = *(uint32_t *)slot(w, op->c);                                                  \
        LANES(w, d[l] = p >> l & 1 ? a[l] : b[l]);                                                 \
        return FLOW_NEXT;                                                                          \
    }                                                                                              \
    LOWERING(select_##bits, LOWERING_SELECT, "uint" #bits "_t", "uint" #bits "_t",                 \
             "uint" #bits "_t", NULL, NULL)                                                        \
    /* by the sign of c: an integer, or with op->option a float: -0 and NaN are not below zero */  \
    static int choose_##bits(struct warp *w, const struct micro *op)                               \
    {                                                                                              \
        uint##bits##_t *d = slot(w, op->d);                                                        \
        const uint##bits##_t *a = slot(w, op->a), *b = slot(w, op->b);                             \
        const int32_t *integers = slot(w, op->c);                                                  \
        const float *floats = slot(w, op->c);                                                      \
        bool flush = op->option & 2;                                                               \
        LANES(w, {                                                                                 \
            float f = flush ? half_flush(floats[l]) : floats[l];                                   \
            d[l] = (op->option & 1 ? f >= 0.0f : integers[l] >= 0) ? a[l] : b[l];                  \
        });                                                                                        \
        return FLOW_NEXT;                                                                          \
    }
SELECT(16)
SELECT(32)
SELECT(64)

static micro_run *select_of(uint32_t bits, bool predicate)
{
    return bits == 16   ? (predicate ? select_16 : choose_16)
           : bits == 32 ? (predicate ? select_32 : choose_32)
           : bits == 64 ? (predicate ? select_64 : choose_64)
                        : NULL;
}

static void decode_selection(struct decoder *decoder, const struct ptx_instruction *i,
                             uint32_t bits, bool predicate)
{
    micro_run *run = select_of(bits, predicate);
    uint32_t a = decoder_source(decoder, &i->operands[1], bits);
    uint32_t b = decoder_source(decoder, &i->operands[2], bits);
    uint32_t c = decoder_source(decoder, &i->operands[3], predicate ? 1 : 32);
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
    op->option = (uint8_t)((i->type == PTX_F32) | i->ftz << 1);
}

void decode_selp(struct decoder *decoder, const struct ptx_instruction *i)
{
    decode_selection(decoder, i, ptx_type_bits(i->type), true);
}

void decode_slct(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (i->type != PTX_F32 && i->type != PTX_S32) {
        decoder_fail(decoder);
        return;
    }
    decode_selection(decoder, i, ptx_type_bits(i->type2), false);
}
