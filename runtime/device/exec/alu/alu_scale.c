/* Scales of blocks (mma.block_scale, PTX ISA 9.7.14.3): along k, A and B have one, two or four
 * parts. In each part, each row of A and each column of B has a scale. Four lanes share two rows
 * of A and a column of B. One of these has the scales of the column, and two have those of the two
 * rows. */
#include "runtime/device/exec/exec_matrix.h"
#include "runtime/device/exec/exec_half.h"

#include <math.h>

enum {
    EIGHT = 8,
    QUAD = 4,
    WORD_BYTES = 4,
    SHAPE_M = 16,
    SHAPE_N = 8,
    THREADS_A = 2,
    NAN_UE8M0 = 0xff
};

/* ---- scales --------------------------------------------------------------------------------- */

static double scale_value(uint8_t element, uint32_t bits)
{
    if (element == ELEMENT_UE4M3)
        return e4m3_to_double(bits & 0x7f);
    return bits == NAN_UE8M0 ? NAN : ldexp(1, (int)bits - 127);
}

/* The lane that has the scales of a line: of a row of A, or of a column of B. */
static uint32_t lane_of(bool b, uint32_t line, uint32_t thread)
{
    return b ? line * QUAD + thread : line % EIGHT * QUAD + thread * THREADS_A + line / EIGHT;
}

/* Where a matrix' scales begin in a word, and which of the lanes have them. */
struct place {
    uint32_t byte, thread;
};

static bool find_place(const struct warp *w, const struct matrix_scales *scales, int which,
                       struct place *place)
{
    const uint32_t lane = (uint32_t)__builtin_ctz(w->mask);
    place->byte = ((const uint16_t *)slot(w, scales->byte[which]))[lane];
    place->thread = ((const uint16_t *)slot(w, scales->thread[which]))[lane];
    return place->byte % scales->count == 0 && place->byte < WORD_BYTES &&
           place->thread < (which ? (uint32_t)QUAD : (uint32_t)THREADS_A);
}

/* Of a line, in a part of k. */
static double scale_of(const struct warp *w, const struct matrix_scales *scales, int which,
                       const struct place *place, uint32_t line, uint32_t part)
{
    const uint32_t *words = slot(w, scales->words[which]);
    const uint32_t word = words[lane_of(which, line, place->thread)];
    return scale_value(scales->element, word >> (place->byte + part) * 8 & 0xff);
}

bool matrix_scale(const struct warp *w, const struct matrix_scales *scales, uint32_t m, uint32_t n,
                  uint32_t k, double *a, double *b)
{
    const uint32_t span = k / scales->count;
    struct place places[2];
    if (!find_place(w, scales, 0, &places[0]) || !find_place(w, scales, 1, &places[1]))
        return false;
    for (uint32_t part = 0; part < scales->count; part++) {
        for (uint32_t row = 0; row < m; row++) {
            const double scale = scale_of(w, scales, 0, &places[0], row, part);
            for (uint32_t i = 0; i < span; i++)
                a[row * k + part * span + i] *= scale;
        }
        for (uint32_t column = 0; column < n; column++) {
            const double scale = scale_of(w, scales, 1, &places[1], column, part);
            for (uint32_t i = 0; i < span; i++)
                b[(part * span + i) * n + column] *= scale;
        }
    }
    return true;
}

/* ---- decoding ------------------------------------------------------------------------------- */

static bool is_count(const struct matrix_words *words)
{
    const uint32_t count = words->scale_count;
    switch (words->kind) {
    case MATRIX_KIND_MXF8F6F4:
        return count == 1 && words->scale_element == ELEMENT_UE8M0;
    case MATRIX_KIND_MXF4:
        return count == 2 && words->scale_element == ELEMENT_UE8M0;
    case MATRIX_KIND_MXF4NVF4:
        return count == 4 || (count == 2 && words->scale_element == ELEMENT_UE8M0);
    default:
        return false;
    }
}

bool matrix_scales_are_valid(struct matrix_words *words)
{
    const bool wide = words->kind == MATRIX_KIND_MXF8F6F4;
    const uint32_t depth = (wide ? 32 : 64) * (words->sparse ? 2u : 1u);
    if (!words->scaled)
        return words->kind <= MATRIX_KIND_F8F6F4 && !words->scale_count && !words->scale_element;
    if (!words->scale_count)
        words->scale_count = wide ? 1 : words->kind == MATRIX_KIND_MXF4 ? 2 : 0;
    return words->scale_element && is_count(words) && words->m == SHAPE_M && words->n == SHAPE_N &&
           words->k == depth;
}

bool matrix_decode_scales(struct decoder *decoder, const struct ptx_instruction *i, uint32_t first,
                          const struct matrix_words *words, struct matrix_scales *scales)
{
    scales->count = (uint8_t)words->scale_count;
    scales->element = words->scale_element;
    for (int which = 0; which < 2; which++) {
        const struct ptx_operand *data = &i->operands[first + 2u * (uint32_t)which];
        const struct ptx_operand *place = data + 1;
        if (place->kind != PTX_OPERAND_VECTOR || place->count != 2)
            return false;
        scales->words[which] = decoder_source(decoder, data, 32);
        scales->byte[which] = decoder_source(decoder, &place->elements[0], 16);
        scales->thread[which] = decoder_source(decoder, &place->elements[1], 16);
    }
    return true;
}
