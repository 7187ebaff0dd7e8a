/* FNV-1a, 64 bits: the hash of what is written to files and compared with other runs, so it never
 * changes. */
#ifndef CSAN_BASE_HASH_H
#define CSAN_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

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

#endif
