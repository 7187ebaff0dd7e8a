/* See texel.h. */
#include "runtime/device/exec/texture/texel.h"
#include "runtime/device/exec/exec_half.h"

/* ---- From memory ---- */

static uint32_t extended(uint32_t bits, unsigned bytes)
{
    return bytes == 1   ? (uint32_t)(int32_t)(int8_t)bits
           : bytes == 2 ? (uint32_t)(int32_t)(int16_t)bits
                        : bits;
}

/* IEC 61966-2-1, rounded to 8 bits. */
uint32_t texel_linear(uint8_t srgb, unsigned *shift)
{
    static const uint8_t starts[] = {32, 48, 64, 96, 136, 184, 248}; /* of the next exponent */
    const double value = srgb / 255.0;
    const double linear = value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
    *shift = 1;
    for (size_t i = 0; i < sizeof starts && srgb >= starts[i]; i++)
        ++*shift;
    return (uint32_t)floor(linear * (1 << 15) / (1 << *shift) + 0.5) << *shift;
}

/* From -1 or 0 to 1; the least signed number is -1, as the one above it. */
static float scaled(const struct exec_texture *texture, uint32_t bits)
{
    unsigned width = texture->channel_bytes * 8u;
    if (texture->texel == EXEC_TEXEL_UNSIGNED)
        return (float)bits / (float)((1u << width) - 1);
    float value = (float)(int32_t)bits / (float)((1u << (width - 1)) - 1);
    return value < -1 ? -1 : value;
}

uint32_t texel_register(const struct exec_texture *texture, const uint8_t *texel, unsigned c)
{
    uint32_t bits = 0;
    memcpy(&bits, texel + (size_t)c * texture->channel_bytes, texture->channel_bytes);
    if (texture->texel == EXEC_TEXEL_FLOAT)
        return texture->channel_bytes == 2 ? float_bits(half_to_float((uint16_t)bits)) : bits;
    if (texture->texel == EXEC_TEXEL_SIGNED)
        bits = extended(bits, texture->channel_bytes);
    if (!texture->scaled)
        return bits;
    unsigned shift;
    if (texture->srgb && c < 3)
        return float_bits((float)texel_linear((uint8_t)bits, &shift) / (1 << 15));
    return float_bits(scaled(texture, bits));
}

/* ---- To memory ---- */

static uint32_t fitting(const struct exec_texture *texture, uint32_t value)
{
    unsigned width = texture->channel_bytes * 8u;
    if (width == 32)
        return value;
    if (texture->texel == EXEC_TEXEL_UNSIGNED) {
        uint32_t greatest = (1u << width) - 1;
        return value < greatest ? value : greatest;
    }
    int32_t greatest = (1 << (width - 1)) - 1, number = (int32_t)value;
    return (uint32_t)(number > greatest        ? greatest
                      : number < -greatest - 1 ? -greatest - 1
                                               : number);
}

void texel_store(const struct exec_texture *texture, uint8_t *texel, unsigned c, uint32_t value)
{
    if (texture->texel == EXEC_TEXEL_FLOAT && texture->channel_bytes == 2)
        value = format_round(&format_f16, (double)float_from_bits(value), PTX_ROUND_RN);
    else if (texture->texel != EXEC_TEXEL_FLOAT)
        value = fitting(texture, value);
    memcpy(texel + (size_t)c * texture->channel_bytes, &value, texture->channel_bytes);
}
