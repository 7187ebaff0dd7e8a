/* SIMD video instructions on two halves or four bytes (PTX ISA 9.7.19): d = op(a, b) + c, without
 * selectors and accumulation masks. */
#include "runtime/device/exec/exec_decoder.h"

struct video {
    uint8_t opcode, compare;
    uint32_t bits; /* of an element */
    bool sign_d, sign_a, sign_b, saturate, accumulate;
};

static int64_t element(uint32_t value, uint32_t index, uint32_t bits, bool sign)
{
    uint32_t raw = value >> (index * bits) & ((1u << bits) - 1);
    return sign ? (int64_t)((int32_t)(raw << (32 - bits)) >> (32 - bits)) : (int64_t)raw;
}

static bool compares(uint8_t compare, int64_t a, int64_t b)
{
    switch (compare) {
    case PTX_CMP_EQ:
        return a == b;
    case PTX_CMP_NE:
        return a != b;
    case PTX_CMP_LT:
        return a < b;
    case PTX_CMP_LE:
        return a <= b;
    case PTX_CMP_GT:
        return a > b;
    default:
        return a >= b;
    }
}

static int64_t operate(const struct video *v, int64_t a, int64_t b)
{
    switch (v->opcode) {
    case PTX_OP_VADD2:
    case PTX_OP_VADD4:
        return a + b;
    case PTX_OP_VSUB2:
    case PTX_OP_VSUB4:
        return a - b;
    case PTX_OP_VAVRG2:
    case PTX_OP_VAVRG4: /* a half rounds away from zero */
        return (a + b + (a + b >= 0)) >> 1;
    case PTX_OP_VABSDIFF2:
    case PTX_OP_VABSDIFF4:
        return a > b ? a - b : b - a;
    case PTX_OP_VMIN2:
    case PTX_OP_VMIN4:
        return a < b ? a : b;
    case PTX_OP_VMAX2:
    case PTX_OP_VMAX4:
        return a > b ? a : b;
    default:
        return compares(v->compare, a, b);
    }
}

static int64_t limit(int64_t value, uint32_t bits, bool sign)
{
    int64_t most = sign ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1;
    int64_t least = sign ? -most - 1 : 0;
    return value > most ? most : value < least ? least : value;
}

static uint32_t video(const struct video *v, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t result = 0, sum = c;
    for (uint32_t k = 0; k < 32 / v->bits; k++) {
        int64_t value =
            operate(v, element(a, k, v->bits, v->sign_a), element(b, k, v->bits, v->sign_b));
        if (v->saturate)
            value = limit(value, v->bits, v->sign_d);
        sum += (uint32_t)value;
        result |= ((uint32_t)value & ((1u << v->bits) - 1)) << (k * v->bits);
    }
    return v->accumulate ? sum : result;
}

static int video_run(struct warp *w, const struct micro *op)
{
    uint32_t *d = slot(w, op->d);
    const uint32_t *a = slot(w, op->a), *b = slot(w, op->b), *c = slot(w, op->c);
    LANES(w, d[l] = video(op->pointer, a[l], b[l], c[l]));
    return FLOW_NEXT;
}

/* The mnemonic's types: "vabsdiff4.u32.u32.u32.add"; the IR keeps the first and the last. */
void decode_video(struct decoder *decoder, const struct ptx_instruction *i)
{
    struct video *v = decoder_keep(decoder, sizeof *v);
    bool quarters =
        strchr(i->mnemonic, '4') && strcspn(i->mnemonic, "4") < strcspn(i->mnemonic, ".");
    if (!v || i->form == PTX_FORM_OTHER || ptx_type_bits(i->type) != 32) {
        decoder_fail(decoder);
        return;
    }
    bool set = i->opcode == PTX_OP_VSET2 || i->opcode == PTX_OP_VSET4;
    const char *types = strchr(i->mnemonic, '.');
    bool signs[3] = {false, false, false};
    for (int k = 0; types && k < 3; k++) {
        if (types[1] == 's' && types[2] == '3')
            signs[k] = true;
        types = strchr(types + 1, '.');
    }
    *v = (struct video){.opcode = (uint8_t)i->opcode,
                        .compare = i->compare,
                        .bits = quarters ? 8 : 16,
                        .sign_d = !set && signs[0],
                        .sign_a = set ? signs[0] : signs[1],
                        .sign_b = set ? signs[1] : signs[2],
                        .saturate = i->sat,
                        .accumulate = i->atomic == PTX_ATOMIC_ADD};
    decoder_plain(decoder, i, video_run, 32);
    if (!decoder->failed && decoder->code_count)
        decoder->code[decoder->code_count - 1].pointer = v;
}
