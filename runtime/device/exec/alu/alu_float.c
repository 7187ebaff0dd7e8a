/* Floating-point arithmetic of .f32 and .f64 (PTX ISA 9.7.3): rounding modes, .ftz, .sat, and what
 * becomes of NaNs. The approximate forms are computed in double and rounded once, so they are at
 * least as accurate as documented. */
#include "runtime/device/exec/exec_decoder.h"
#include "runtime/device/exec/exec_half.h"
#include "runtime/device/exec/exec_lowering.h"
#include "runtime/device/exec/float_control.h"

#include <math.h>

/* One handler per mode, so that the loops have no branches. */
#define FLOAT_MODE(name, mode, attribute, expression)                                              \
    attribute static int name##_##mode(struct warp *w, const struct micro *op)                     \
    {                                                                                              \
        float *d = slot(w, op->d);                                                                 \
        const float *pa = slot(w, op->a), *pb = slot(w, op->b), *pc = slot(w, op->c);              \
        LANES(w, {                                                                                 \
            float a = enter_32(pa[l], mode), b = enter_32(pb[l], mode);                            \
            float c = enter_32(pc[l], mode);                                                       \
            (void)b, (void)c;                                                                      \
            d[l] = leave_32(expression, mode);                                                     \
        });                                                                                        \
        return FLOW_NEXT;                                                                          \
    }
#define FLOAT_LOWERED(name, mode, expression)                                                      \
    LOWERING(name##_##mode, LOWERING_LANES, "float", "float", "float", "float",                    \
             #mode ":" LOWERING_TEXT(expression))
#define FLOAT_CALLED(name, attribute, expression)                                                  \
    FLOAT_MODE(name, MODE_PLAIN, attribute, expression)                                            \
    FLOAT_MODE(name, MODE_FLUSH, attribute, expression)                                            \
    FLOAT_MODE(name, MODE_SATURATE, attribute, expression)                                         \
    FLOAT_MODE(name, MODE_BOTH, attribute, expression)                                             \
    static micro_run *const name[MODES] = {name##_MODE_PLAIN, name##_MODE_FLUSH,                   \
                                           name##_MODE_SATURATE, name##_MODE_BOTH};
#define FLOAT_IN(name, attribute, expression)                                                      \
    FLOAT_CALLED(name, attribute, expression)                                                      \
    FLOAT_LOWERED(name, MODE_PLAIN, expression)                                                    \
    FLOAT_LOWERED(name, MODE_FLUSH, expression)                                                    \
    FLOAT_LOWERED(name, MODE_SATURATE, expression)                                                 \
    FLOAT_LOWERED(name, MODE_BOTH, expression)
#define FLOAT(name, expression) FLOAT_IN(name, , expression)
/* What needs a library's function is called. */
#define FLOAT_LIBRARY(name, expression) FLOAT_CALLED(name, , expression)
#define DOUBLE_CALLED(name, attribute, expression)                                                 \
    attribute static int name(struct warp *w, const struct micro *op)                              \
    {                                                                                              \
        double *d = slot(w, op->d);                                                                \
        const double *pa = slot(w, op->a), *pb = slot(w, op->b), *pc = slot(w, op->c);             \
        LANES(w, {                                                                                 \
            double a = pa[l], b = pb[l], c = pc[l];                                                \
            (void)b, (void)c;                                                                      \
            d[l] = (expression);                                                                   \
        });                                                                                        \
        return FLOW_NEXT;                                                                          \
    }
#define DOUBLE_IN(name, attribute, expression)                                                     \
    DOUBLE_CALLED(name, attribute, expression)                                                     \
    LOWERING(name, LOWERING_LANES, "double", "double", "double", "double",                         \
             LOWERING_TEXT(expression))
#define DOUBLE(name, expression)         DOUBLE_IN(name, , expression)
#define DOUBLE_LIBRARY(name, expression) DOUBLE_CALLED(name, , expression)
/* Where the processor may lack the instruction; elsewhere the plain handler has it. */
#if defined(__x86_64__)
#define WITH_FMA __attribute__((target("fma,avx2")))
#else
#define WITH_FMA
#endif

FLOAT(add_32, a + b)
FLOAT(sub_32, a - b)
FLOAT(mul_32, a *b)
FLOAT(div_32, a / b)
FLOAT(rcp_32, 1.0f / a)
FLOAT(sqrt_32, __builtin_sqrtf(a))
FLOAT_LIBRARY(fma_32, __builtin_fmaf(a, b, c))
FLOAT_IN(fast_fma_32, WITH_FMA, __builtin_fmaf(a, b, c))
FLOAT(rsqrt_32, (float)(1.0 / __builtin_sqrt((double)a)))
FLOAT_LIBRARY(sin_32, (float)sin((double)a))
FLOAT_LIBRARY(cos_32, (float)cos((double)a))
FLOAT_LIBRARY(lg2_32, (float)log2((double)a))
FLOAT_LIBRARY(ex2_32, (float)exp2((double)a))
FLOAT_LIBRARY(tanh_32, (float)tanh((double)a))
DOUBLE(add_64, leave_64(a + b, a, b, b))
DOUBLE(sub_64, leave_64(a - b, a, b, b))
DOUBLE(mul_64, leave_64(a *b, a, b, b))
DOUBLE(div_64, leave_64(a / b, a, b, b))
DOUBLE(rcp_64, leave_64(1.0 / a, a, a, a))
DOUBLE(sqrt_64, leave_64(__builtin_sqrt(a), a, a, a))
DOUBLE_LIBRARY(fma_64, leave_64(__builtin_fma(a, b, c), a, b, c))
DOUBLE_IN(fast_fma_64, WITH_FMA, leave_64(__builtin_fma(a, b, c), a, b, c))

FLOAT(min_32, least_32(a, b))
FLOAT(max_32, most_32(a, b))
FLOAT(min_nan_32, a != a || b != b ? NAN : least_32(a, b))
FLOAT(max_nan_32, a != a || b != b ? NAN : most_32(a, b))
FLOAT(min_sign_32, copysignf(least_32(fabsf(a), fabsf(b)), signbit(a) != signbit(b) ? -1 : 1))
FLOAT(max_sign_32, copysignf(most_32(fabsf(a), fabsf(b)), signbit(a) != signbit(b) ? -1 : 1))
DOUBLE(min_64, least_64(a, b))
DOUBLE(max_64, most_64(a, b))

/* ---- abs, neg, copysign: bits, not arithmetic -------------------------------------------------
 */

#define SIGN(name, bits, expression)                                                               \
    static int name(struct warp *w, const struct micro *op)                                        \
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
    LOWERING(name, LOWERING_LANES, "uint" #bits "_t", "uint" #bits "_t", "uint" #bits "_t", NULL,  \
             LOWERING_TEXT(expression))
#define TOP_32 ((uint32_t)1 << 31)
#define TOP_64 ((uint64_t)1 << 63)
SIGN(abs_32, 32, a & ~TOP_32)
SIGN(neg_32, 32, a ^ TOP_32)
SIGN(abs_flush_32, 32, flush_bits(a) & ~TOP_32)
SIGN(neg_flush_32, 32, flush_bits(a) ^ TOP_32)
SIGN(copysign_32, 32, (a & TOP_32) | (b & ~TOP_32))
SIGN(abs_64, 64, a & ~TOP_64)
SIGN(neg_64, 64, a ^ TOP_64)
SIGN(copysign_64, 64, (a & TOP_64) | (b & ~TOP_64))

/* ---- rounding modes ------------------------------------------------------------------------ */

/* Runs the handler in op->pointer under another rounding mode. The barriers keep the compiler from
 * moving its loads and stores, and so the arithmetic between them, out. */
static int rounded(struct warp *w, const struct micro *op)
{
    static const uint64_t modes[] = {[PTX_ROUND_RZ] = FLOAT_ROUND_ZERO,
                                     [PTX_ROUND_RM] = FLOAT_ROUND_DOWN,
                                     [PTX_ROUND_RP] = FLOAT_ROUND_UP};
    const uint64_t control = float_control_get();
    float_control_set((control & ~(uint64_t)FLOAT_ROUND_MASK) | modes[op->option]);
    __asm__ volatile("" ::: "memory");
    int flow = ((micro_run *)(uintptr_t)op->pointer)(w, op);
    __asm__ volatile("" ::: "memory");
    float_control_set(control);
    return flow;
}

/* Whether the rounding mode is another than to nearest. */
static bool rounds_otherwise(struct decoder *decoder, const struct ptx_instruction *i)
{
    const bool other =
        i->rounding == PTX_ROUND_RZ || i->rounding == PTX_ROUND_RM || i->rounding == PTX_ROUND_RP;
    if (!other && i->rounding != PTX_ROUND_NONE && i->rounding != PTX_ROUND_RN)
        decoder_fail(decoder);
    return other;
}

static void decode_rounded(struct decoder *decoder, const struct ptx_instruction *i, micro_run *run,
                           uint32_t bits)
{
    const bool other = rounds_otherwise(decoder, i);
    decoder_plain(decoder, i, other ? rounded : run, bits);
    if (!other || decoder->failed || !decoder->code_count)
        return;
    struct micro *op = &decoder->code[decoder->code_count - 1];
    op->pointer = (const void *)(uintptr_t)run;
    op->option = i->rounding;
}

/* ---- which handler ------------------------------------------------------------------------- */

static bool has_fma(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
#else
    return true;
#endif
}

static micro_run *const *table_32(const struct ptx_instruction *i)
{
    switch (i->opcode) {
    case PTX_OP_ADD:
        return add_32;
    case PTX_OP_SUB:
        return sub_32;
    case PTX_OP_MUL:
        return mul_32;
    case PTX_OP_MAD:
    case PTX_OP_FMA:
        return has_fma() ? fast_fma_32 : fma_32;
    case PTX_OP_DIV:
        return div_32;
    case PTX_OP_RCP:
        return rcp_32;
    case PTX_OP_SQRT:
        return sqrt_32;
    case PTX_OP_MIN:
        return i->xorsign ? min_sign_32 : i->nan ? min_nan_32 : min_32;
    case PTX_OP_MAX:
        return i->xorsign ? max_sign_32 : i->nan ? max_nan_32 : max_32;
    default:
        return NULL;
    }
}

static micro_run *run_64(const struct ptx_instruction *i)
{
    switch (i->opcode) {
    case PTX_OP_ADD:
        return add_64;
    case PTX_OP_SUB:
        return sub_64;
    case PTX_OP_MUL:
        return mul_64;
    case PTX_OP_MAD:
    case PTX_OP_FMA:
        return has_fma() ? fast_fma_64 : fma_64;
    case PTX_OP_DIV:
        return div_64;
    case PTX_OP_RCP:
        return rcp_64;
    case PTX_OP_SQRT:
        return sqrt_64;
    case PTX_OP_MIN:
        return min_64;
    case PTX_OP_MAX:
        return max_64;
    case PTX_OP_ABS:
        return abs_64;
    case PTX_OP_NEG:
        return neg_64;
    default:
        return NULL;
    }
}

static void decode_32(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (i->opcode == PTX_OP_ABS || i->opcode == PTX_OP_NEG) {
        bool absolute = i->opcode == PTX_OP_ABS;
        decoder_plain(
            decoder, i,
            absolute ? (i->ftz ? abs_flush_32 : abs_32) : (i->ftz ? neg_flush_32 : neg_32), 32);
        return;
    }
    micro_run *const *table = table_32(i);
    decode_rounded(decoder, i, table ? table[i->ftz | i->sat << 1] : NULL, 32);
}

static uint32_t expected_operands(const struct ptx_instruction *i)
{
    switch (i->opcode) {
    case PTX_OP_FMA:
    case PTX_OP_MAD:
        return 4;
    case PTX_OP_ABS:
    case PTX_OP_NEG:
    case PTX_OP_RCP:
    case PTX_OP_SQRT:
        return 2;
    default:
        return 3;
    }
}

/* .f32x2: both halves of 64 bits, one after the other. */
static void decode_pair(struct decoder *decoder, const struct ptx_instruction *i)
{
    micro_run *const *table = table_32(i);
    const bool other = rounds_otherwise(decoder, i);
    uint32_t parts[4][2] = {{0}}; /* of the destination, and of each source */
    if (!table || i->sat || i->operand_count != expected_operands(i) ||
        (i->opcode != PTX_OP_ADD && i->opcode != PTX_OP_SUB && i->opcode != PTX_OP_MUL &&
         i->opcode != PTX_OP_FMA)) {
        decoder_fail(decoder);
        return;
    }
    const uint32_t d = decoder_destination(decoder, &i->operands[0], 64);
    for (uint32_t k = 0; k < i->operand_count; k++) {
        const uint32_t whole = k ? decoder_source(decoder, &i->operands[k], 64) : d;
        for (int half = 0; half < 2; half++)
            parts[k][half] = decoder_temporary(decoder, 32);
        if (k)
            decode_split(decoder, whole, parts[k]);
    }
    for (int half = 0; half < 2; half++) {
        micro_run *run = table[i->ftz];
        struct micro *op = decoder_emit(decoder, other ? rounded : run);
        op->d = parts[0][half];
        op->a = parts[1][half];
        op->b = parts[2][half];
        op->c = parts[3][half];
        op->pointer = other ? (const void *)(uintptr_t)run : NULL;
        op->option = other ? i->rounding : 0;
    }
    decode_join(decoder, parts[0], d);
}

/* min and max of three. */
static void decode_of_three(struct decoder *decoder, const struct ptx_instruction *i)
{
    micro_run *const *table = table_32(i);
    uint32_t sources[3];
    if (!table || i->type != PTX_F32 || i->xorsign || i->abs || i->sat || i->rounding) {
        decoder_fail(decoder);
        return;
    }
    for (uint32_t k = 0; k < 3; k++)
        sources[k] = decoder_source(decoder, &i->operands[k + 1], 32);
    const uint32_t of_two = decoder_temporary(decoder, 32);
    const uint32_t d = decoder_destination(decoder, &i->operands[0], 32);
    for (uint32_t k = 1; k < 3; k++) {
        struct micro *op = decoder_emit(decoder, table[i->ftz]);
        op->a = k == 1 ? sources[0] : of_two;
        op->b = sources[k];
        op->d = k == 1 ? of_two : d;
    }
}

bool decode_float(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (i->type == PTX_F32X2) {
        decode_pair(decoder, i);
        return true;
    }
    if (i->type != PTX_F32 && i->type != PTX_F64)
        return false;
    if ((i->opcode == PTX_OP_MIN || i->opcode == PTX_OP_MAX) && i->operand_count == 4) {
        decode_of_three(decoder, i);
        return true;
    }
    bool mixed = i->type2 != PTX_TYPE_NONE && i->type2 != i->type;
    if (mixed || i->relu || i->operand_count != expected_operands(i))
        decoder_fail(decoder);
    else if (i->type == PTX_F32)
        decode_32(decoder, i);
    else
        decode_rounded(decoder, i, run_64(i), 64);
    return true;
}

/* ---- families of their own ------------------------------------------------------------------- */

void decode_fma(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (!decode_float(decoder, i) && !decode_half(decoder, i))
        decoder_fail(decoder);
}

/* rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 look at the upper 32 bits and give only those. */
static inline double upper_half(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    bits &= bits << 1 >> 53 ? 0xffffffff00000000 : 0x8000000000000000;
    memcpy(&value, &bits, 8);
    return value;
}
DOUBLE_LIBRARY(rcp_upper_64, upper_half(1.0 / upper_half(a)))
DOUBLE_LIBRARY(rsqrt_upper_64, upper_half(1.0 / sqrt(upper_half(a))))
DOUBLE(rsqrt_64, leave_64(1.0 / __builtin_sqrt(a), a, a, a))

void decode_rcp(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (i->type == PTX_F64 && i->approx)
        decoder_plain(decoder, i, rcp_upper_64, 64);
    else if (!decode_float(decoder, i))
        decoder_fail(decoder);
}

void decode_sqrt(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (!decode_float(decoder, i))
        decoder_fail(decoder);
}

void decode_rsqrt(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (i->type == PTX_F64)
        decoder_plain(decoder, i, i->ftz ? rsqrt_upper_64 : rsqrt_64, 64);
    else if (i->type == PTX_F32)
        decoder_plain(decoder, i, rsqrt_32[i->ftz], 32);
    else
        decoder_fail(decoder);
}

void decode_unary(struct decoder *decoder, const struct ptx_instruction *i)
{
    micro_run *const *table = i->opcode == PTX_OP_SIN   ? sin_32
                              : i->opcode == PTX_OP_COS ? cos_32
                              : i->opcode == PTX_OP_LG2 ? lg2_32
                              : i->opcode == PTX_OP_EX2 ? ex2_32
                                                        : tanh_32;
    if (i->type == PTX_F32)
        decoder_plain(decoder, i, table[i->ftz], 32);
    else if (!decode_half(decoder, i))
        decoder_fail(decoder);
}

void decode_copysign(struct decoder *decoder, const struct ptx_instruction *i)
{
    micro_run *run = i->type == PTX_F32 ? copysign_32 : i->type == PTX_F64 ? copysign_64 : NULL;
    decoder_plain(decoder, i, run, ptx_type_bits(i->type));
}

static bool has_property(double value, int class, uint8_t form)
{
    switch (form) {
    case PTX_FORM_TESTP_FINITE:
        return isfinite(value);
    case PTX_FORM_TESTP_INFINITE:
        return isinf(value);
    case PTX_FORM_TESTP_NUMBER:
        return !isnan(value);
    case PTX_FORM_TESTP_NOTANUMBER:
        return isnan(value);
    case PTX_FORM_TESTP_NORMAL:
        return class == FP_NORMAL;
    default:
        return class == FP_SUBNORMAL;
    }
}

static int test_property(struct warp *w, const struct micro *op)
{
    const float *a32 = slot(w, op->a);
    const double *a64 = slot(w, op->a);
    uint32_t result = 0;
    LANES(w, {
        int class = op->width == 4 ? fpclassify(a32[l]) : fpclassify(a64[l]);
        double value = op->width == 4 ? (double)a32[l] : a64[l];
        result |= (uint32_t)has_property(value, class, op->kind) << l;
    });
    slot_set_predicate(w, op->d, result);
    return FLOW_NEXT;
}

void decode_testp(struct decoder *decoder, const struct ptx_instruction *i)
{
    uint32_t bits = ptx_type_bits(i->type);
    bool known = i->form >= PTX_FORM_TESTP_FINITE && i->form <= PTX_FORM_TESTP_SUBNORMAL;
    if (!known || (i->type != PTX_F32 && i->type != PTX_F64)) {
        decoder_fail(decoder);
        return;
    }
    uint32_t a = decoder_source(decoder, &i->operands[1], bits);
    uint32_t d = decoder_destination(decoder, &i->operands[0], 1);
    struct micro *op = decoder_emit(decoder, test_property);
    op->d = d;
    op->a = a;
    op->kind = i->form;
    op->width = (uint8_t)(bits / 8);
}
