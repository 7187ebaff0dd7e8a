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

/* IEC 61966-2-1. */
static float from_srgb(float value)
{
    return value <= 0.04045f ? value / 12.92f : (float)pow(((double)value + 0.055) / 1.055, 2.4);
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
    float value = scaled(texture, bits);
    return float_bits(texture->srgb && c < 3 ? from_srgb(value) : value);
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
