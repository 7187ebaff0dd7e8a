/* uthash for tables keyed by handles: 8-byte values, mostly addresses. One multiplication in place
 * of uthash's general function, and no exit when memory is short (the element is then not added).
 */
#ifndef RUNTIME_HOOK_STATE_HANDLE_TABLE_H
#define RUNTIME_HOOK_STATE_HANDLE_TABLE_H

#include "csan/base/hash.h"

#include <stdint.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(key, key_bytes, hash)                                                        \
    do {                                                                                           \
        uint64_t handle_;                                                                          \
        memcpy(&handle_, (key), sizeof handle_);                                                   \
        (hash) = (unsigned)(hash_spread(handle_) >> 32);                                           \
    } while (0)
#include <uthash.h>

/* The table grows when a chain is this long. With uthash's 10 there are about six handles to a
 * chain, each in a cache line of its own: of a million events one in memory is enough. */
#undef HASH_BKT_CAPACITY_THRESH
#define HASH_BKT_CAPACITY_THRESH 5U

#endif
