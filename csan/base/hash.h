/* All hash functions of csan.
 *
 *   hash_bytes, hash_text     FNV-1a: for reports, their fingerprints and texts
 *   hash_mix, hash_mix_bytes  a word at a time: for keys in memory, and for names of learned files
 *   hash_memory               32 bytes at a time: for what memory holds
 *   hash_spread               of one word that is nearly unique by itself, such as an address
 *
 * Files keep the values of the first four, and other runs compare them. So these never change. */
#ifndef CSAN_BASE_HASH_H
#define CSAN_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)
#define HASH_ODD   UINT64_C(0x9e3779b97f4a7c15) /* 2^64 divided by the golden ratio */

static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* With its end. NULL is as "". */
static inline uint64_t hash_text(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text ? text : "", (text ? strlen(text) : 0) + 1);
}

/* Both halves of the product. */
static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_mix(uint64_t hash, uint64_t word)
{
    return hash_fold(hash ^ word ^ UINT64_C(0x2545f4914f6cdd1d), HASH_ODD);
}

/* With their number. */
static inline uint64_t hash_mix_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    uint64_t word = 0;
    hash = hash_mix(hash, count);
    for (; count >= 8; at += 8, count -= 8) {
        memcpy(&word, at, 8);
        hash = hash_mix(hash, word);
    }
    word = 0;
    memcpy(&word, at, count);
    return hash_mix(hash, word);
}

/* Four chains, so that the processor multiplies in all of them at a time. Unrolled also without
 * -O3, or they would lie in memory. */
static inline uint64_t hash_memory(const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    uint64_t chains[4] = {HASH_START, HASH_START + 1, HASH_START + 2, HASH_START + 3};
    uint64_t words[4], hash = count;
    for (; count >= sizeof words; at += sizeof words, count -= sizeof words) {
        memcpy(words, at, sizeof words);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++)
            chains[i] = hash_fold(chains[i] ^ words[i], HASH_ODD);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        hash = hash_mix(hash, chains[i]);
    return hash_mix_bytes(hash, at, count);
}

/* Take the upper bits: a multiplication carries upwards only. */
static inline uint64_t hash_spread(uint64_t word)
{
    return word * HASH_ODD;
}

#endif
