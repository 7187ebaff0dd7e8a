/* uthash for tables whose keys are handles: 8-byte values, mostly addresses. The hash is one
 * multiplication in place of uthash's general function. When memory is short, the element is not
 * added, and the process goes on. */
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

/* The table grows when a chain reaches this length. With uthash's 10, a chain has about six
 * handles, each in its own cache line. With a million events each of these lines comes from memory,
 * so chains must be short. */
#undef HASH_BKT_CAPACITY_THRESH
#define HASH_BKT_CAPACITY_THRESH 5U

#endif
