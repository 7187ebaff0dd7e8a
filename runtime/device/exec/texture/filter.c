/* See filter.h. */
#include "runtime/device/exec/texture/filter.h"
#include "runtime/device/exec/exec_half.h"
#include "runtime/device/exec/texture/texel.h"

enum { ONE = SAMPLER_ONE };

static bool is_srgb(const struct exec_texture *texture, unsigned c)
{
    return texture->srgb && c < 3;
}

/* ---- The border ---- */

/* The greatest number of a scaled channel, which stands for 1. */
static int32_t greatest_of(const struct exec_texture *texture)
{
    const int bits = texture->channel_bytes * 8;
    return (1 << (texture->texel == EXEC_TEXEL_SIGNED ? bits - 1 : bits)) - 1;
}

/* The border's color as a channel of a texel. What is less than a unit is dropped, but sRGB is
 * rounded. */
static int32_t border_number(const struct exec_texture *texture, unsigned c)
{
    const double value = (double)float_from_bits(texture->border[c]);
    const double least = texture->texel == EXEC_TEXEL_SIGNED ? -1 : 0;
    double color = value > least ? (value < 1 ? value : 1) : least;
    if (value != value)
        color = 0;
    if (!is_srgb(texture, c))
        return (int32_t)(color * greatest_of(texture));
    color = color <= 0.0031308 ? color * 12.92 : 1.055 * pow(color, 1 / 2.4) - 0.055;
    return (int32_t)(color * greatest_of(texture) + 0.5);
}

/* ---- Texels ---- */

/* A channel of a scaled format, before it is scaled. */
static int32_t number_of(const struct exec_texture *texture, const uint8_t *texel, unsigned c)
{
    uint32_t bits = 0;
    if (!texel)
        return border_number(texture, c);
    memcpy(&bits, texel + (size_t)c * texture->channel_bytes, texture->channel_bytes);
    if (texture->texel == EXEC_TEXEL_SIGNED)
        return texture->channel_bytes == 1 ? (int8_t)bits : (int16_t)bits;
    return (int32_t)bits;
}

static uint32_t register_of(const struct exec_texture *texture, const uint8_t *texel, unsigned c)
{
    uint8_t border[TEXEL_CHANNELS * 2];
    if (texel)
        return texel_register(texture, texel, c);
    if (!texture->scaled)
        return texture->border[c];
    const int32_t number = border_number(texture, c);
    memcpy(border + (size_t)c * texture->channel_bytes, &number, texture->channel_bytes);
    return texel_register(texture, border, c);
}

/* ---- Sums ---- */

static uint32_t sum_floats(const struct exec_texture *texture, const struct sampler_tap *taps,
                           const uint8_t *const *texels, unsigned count, unsigned c)
{
    double sum = 0;
    for (unsigned k = 0; k < count; k++)
        sum += taps[k].weight * (double)float_from_bits(register_of(texture, texels[k], c));
    return float_bits((float)(sum / ONE));
}

/* The sum of a scaled format, in units of 1 / ONE of a texel's, as a number of 16 bits. 8 bits
 * become 16 by repeating them, after the sum; of those with a sign, only the first four bits of the
 * sum are repeated once more. The least number is -1 only after the sum, too. */
static uint32_t scale_sum(const struct exec_texture *texture, int32_t sum)
{
    const bool is_signed = texture->texel == EXEC_TEXEL_SIGNED;
    const int32_t greatest = is_signed ? INT16_MAX : UINT16_MAX;
    int32_t number = (sum + ONE / 2) >> 8;
    if (texture->channel_bytes == 1)
        number = is_signed ? sum + ((sum + (sum >> 12) * 16 + 64) >> 7) : sum + number;
    if (number < -greatest)
        number = -greatest;
    return float_bits((float)number / (float)greatest);
}

static uint32_t sum_numbers(const struct exec_texture *texture, const struct sampler_tap *taps,
                            const uint8_t *const *texels, unsigned count, unsigned c)
{
    int32_t sum = 0;
    for (unsigned k = 0; k < count; k++)
        sum += (int32_t)taps[k].weight * number_of(texture, texels[k], c);
    return scale_sum(texture, sum);
}

/* Rounds half up to the 11 bits of a half. `unit`: the value of 1. */
static float rounded_to_half(uint32_t sum, double unit)
{
    const int excess = sum >> 11 ? 32 - 11 - __builtin_clz(sum) : 0;
    const uint32_t half = excess ? 1u << (excess - 1) : 0;
    return (float)((double)(((sum + half) >> excess) << excess) * unit);
}

/* sRGB: the numbers have 8 bits with one exponent, which is that of the greatest. */
static uint32_t sum_srgb(const struct exec_texture *texture, const struct sampler_tap *taps,
                         const uint8_t *const *texels, unsigned count, unsigned c)
{
    uint32_t values[SAMPLER_TAPS], sum = 0;
    unsigned greatest = 0, shift;
    for (unsigned k = 0; k < count; k++) {
        values[k] = texel_linear((uint8_t)number_of(texture, texels[k], c), &shift);
        greatest = shift > greatest ? shift : greatest;
    }
    for (unsigned k = 0; k < count; k++)
        sum += taps[k].weight * (values[k] >> greatest);
    return float_bits(rounded_to_half(sum, (double)(1 << greatest) / (1 << 15) / ONE));
}

uint32_t filter_sum(const struct exec_texture *texture, const struct sampler_tap *taps,
                    const uint8_t *const *texels, unsigned count, unsigned c)
{
    const bool single = count == 1 && (!texture->linear || !texture->scaled);
    if (single)
        return register_of(texture, texels[0], c);
    if (!texture->scaled)
        return sum_floats(texture, taps, texels, count, c);
    if (is_srgb(texture, c))
        return sum_srgb(texture, taps, texels, count, c);
    return sum_numbers(texture, taps, texels, count, c);
}

uint32_t filter_gathered(const struct exec_texture *texture, const uint8_t *texel, unsigned c)
{
    if (!texture->scaled || is_srgb(texture, c))
        return register_of(texture, texel, c);
    return scale_sum(texture, ONE * number_of(texture, texel, c));
}
