/* Arithmetic of .f16, .bf16 and their pairs (PTX ISA 9.7.4). Sums and products of halves are exact
 * or innocuously rounded in float or double; each result is then rounded once more, to its format.
 */
#include "runtime/device/exec/exec_decoder.h"
#include "runtime/device/exec/exec_half.h"

#include <math.h>

struct half_operation {
    uint8_t opcode;
    bool bfloat, flush, saturate, relu, nan, xorsign;
};

static double widen(uint16_t bits, const struct half_operation *operation)
{
    double value = operation->bfloat ? (double)bfloat_to_float(bits) : (double)half_to_float(bits);
    double smallest = operation->bfloat ? 0x1p-126 : 0x1p-14;
    return operation->flush && fabs(value) < smallest ? copysign(0.0, value) : value;
}

static uint16_t narrow(double value, const struct half_operation *operation)
{
    if (operation->relu && value <= 0)
        value = 0.0;
    if (operation->saturate)
        value = value > 0 ? (value < 1 ? value : 1.0) : 0.0;
    uint16_t bits = operation->bfloat ? bfloat_from_double(value) : half_from_double(value);
    uint16_t exponent = operation->bfloat ? 0x7f80 : 0x7c00;
    return operation->flush && !(bits & exponent) ? bits & 0x8000 : bits;
}

/* min and max choose one of the operands, bit for bit. */
static uint16_t choose(uint16_t a, uint16_t b, const struct half_operation *operation)
{
    double x = widen(a, operation), y = widen(b, operation);
    bool lower = operation->opcode == PTX_OP_MIN;
    if (x != x || y != y) {
        if (operation->nan || (x != x && y != y))
            return HALF_NAN;
        return narrow(x != x ? y : x, operation);
    }
    if (operation->xorsign) {
        double sign = signbit(x) != signbit(y) ? -1.0 : 1.0;
        x = fabs(x), y = fabs(y);
        return narrow(copysign((x < y) == lower ? x : y, sign), operation);
    }
    if (x == y)
        return narrow(signbit(x) == lower ? x : y, operation);
    return narrow((x < y) == lower ? x : y, operation);
}

static uint16_t operate(uint16_t a, uint16_t b, uint16_t c, const struct half_operation *operation)
{
    double x, y;
    switch (operation->opcode) {
    case PTX_OP_MIN:
    case PTX_OP_MAX:
        return choose(a, b, operation);
    case PTX_OP_ABS:
        return operation->flush ? narrow(fabs(widen(a, operation)), operation) : a & 0x7fff;
    case PTX_OP_NEG:
        return operation->flush ? narrow(-widen(a, operation), operation) : a ^ 0x8000;
    default:
        break;
    }
    x = widen(a, operation);
    y = widen(b, operation);
    switch (operation->opcode) {
    case PTX_OP_ADD:
        return narrow(half_fma(x, 1.0, y), operation);
    case PTX_OP_SUB:
        return narrow(half_fma(x, 1.0, -y), operation);
    case PTX_OP_MUL:
        return narrow(x * y, operation);
    case PTX_OP_EX2:
        return narrow(exp2(x), operation);
    case PTX_OP_TANH:
        return narrow(tanh(x), operation);
    default: /* fma */
        return narrow(half_fma(x, y, widen(c, operation)), operation);
    }
}

static int half_run(struct warp *w, const struct micro *op)
{
    uint16_t *d = slot(w, op->d);
    const uint16_t *a = slot(w, op->a), *b = slot(w, op->b), *c = slot(w, op->c);
    LANES(w, d[l] = operate(a[l], b[l], c[l], op->pointer));
    return FLOW_NEXT;
}

static int half_pair_run(struct warp *w, const struct micro *op)
{
    uint32_t *d = slot(w, op->d);
    const uint32_t *a = slot(w, op->a), *b = slot(w, op->b), *c = slot(w, op->c);
    LANES(w, {
        uint32_t low = operate((uint16_t)a[l], (uint16_t)b[l], (uint16_t)c[l], op->pointer);
        uint32_t high = operate((uint16_t)(a[l] >> 16), (uint16_t)(b[l] >> 16),
                                (uint16_t)(c[l] >> 16), op->pointer);
        d[l] = low | high << 16;
    });
    return FLOW_NEXT;
}

static uint32_t expected_operands(uint16_t opcode)
{
    switch (opcode) {
    case PTX_OP_FMA:
        return 4;
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MUL:
    case PTX_OP_MIN:
    case PTX_OP_MAX:
        return 3;
    case PTX_OP_ABS:
    case PTX_OP_NEG:
    case PTX_OP_EX2:
    case PTX_OP_TANH:
        return 2;
    default:
        return 0;
    }
}

bool decode_half(struct decoder *decoder, const struct ptx_instruction *i)
{
    bool pair = i->type == PTX_F16X2 || i->type == PTX_BF16X2;
    if (!pair && i->type != PTX_F16 && i->type != PTX_BF16)
        return false;
    struct half_operation *operation = decoder_keep(decoder, sizeof *operation);
    bool known = i->operand_count == expected_operands(i->opcode) &&
                 (i->rounding == PTX_ROUND_NONE || i->rounding == PTX_ROUND_RN);
    if (!operation || !known) {
        decoder_fail(decoder);
        return true;
    }
    *operation = (struct half_operation){.opcode = (uint8_t)i->opcode,
                                         .bfloat = i->type == PTX_BF16 || i->type == PTX_BF16X2,
                                         .flush = i->ftz,
                                         .saturate = i->sat,
                                         .relu = i->relu,
                                         .nan = i->nan,
                                         .xorsign = i->xorsign};
    decoder_plain(decoder, i, pair ? half_pair_run : half_run, pair ? 32 : 16);
    if (!decoder->failed && decoder->code_count)
        decoder->code[decoder->code_count - 1].pointer = operation;
    return true;
}
