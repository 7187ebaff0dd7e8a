/* Texels in memory, and their channels in registers (CUDA Driver API, CUarray_format and
 * CU_TRSF_READ_AS_INTEGER; PTX ISA sections 9.7.10 and 9.7.11). */
#ifndef RUNTIME_DEVICE_EXEC_TEXEL_H
#define RUNTIME_DEVICE_EXEC_TEXEL_H

#include "runtime/device/exec/exec.h"

enum { TEXEL_CHANNELS = 4 };

static inline uint32_t texel_bytes(const struct exec_texture *texture)
{
    return (uint32_t)texture->channels * texture->channel_bytes;
}

/* Whether registers get floating-point numbers. */
static inline bool texel_is_float(const struct exec_texture *texture)
{
    return texture->texel == EXEC_TEXEL_FLOAT || texture->scaled;
}

/* The register of channel `c` < texture->channels of a texel. */
uint32_t texel_register(const struct exec_texture *texture, const uint8_t *texel, unsigned c);

/* What an sRGB channel stands for, in units of 2^-15: at most 255 times 2^shift. Measured on an
 * H200, as 8 bits with an exponent that depends on the channel's range. */
uint32_t texel_linear(uint8_t srgb, unsigned *shift);

/* Writes the register as channel `c` of a texel: a float as it is or rounded, an integer that is
 * too large for the channel as the nearest that fits (sust.p). */
void texel_store(const struct exec_texture *texture, uint8_t *texel, unsigned c, uint32_t value);

#endif
