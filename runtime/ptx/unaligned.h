/* Little-endian numbers in a file's bytes, wherever they lie. */
#ifndef RUNTIME_PTX_UNALIGNED_H
#define RUNTIME_PTX_UNALIGNED_H

#include <stdint.h>
#include <string.h>

static inline uint16_t read16(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t read32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t read64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

#endif
