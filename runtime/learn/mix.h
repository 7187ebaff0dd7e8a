/* A hash of words, one after another. */
#ifndef RUNTIME_LEARN_MIX_H
#define RUNTIME_LEARN_MIX_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t mix(uint64_t hash, uint64_t value)
{
    unsigned __int128 product =
        (unsigned __int128)(hash ^ value ^ 0x2545f4914f6cdd1du) * 0x9e3779b97f4a7c15u;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t mix_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    uint64_t word = 0;
    hash = mix(hash, count);
    for (; count >= 8; at += 8, count -= 8) {
        memcpy(&word, at, 8);
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, at, count);
    return mix(hash, word);
}

#endif
