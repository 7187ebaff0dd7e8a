/* uthash for tables keyed by handles: 8-byte values, mostly addresses. One multiplication in place
 * of uthash's general function, and no exit when memory is short (the element is then not added).
 */
#ifndef RUNTIME_HOOK_HANDLE_TABLE_H
#define RUNTIME_HOOK_HANDLE_TABLE_H

#include <stdint.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(key, key_bytes, hash)                                                        \
    do {                                                                                           \
        uint64_t handle_;                                                                          \
        memcpy(&handle_, (key), sizeof handle_);                                                   \
        (hash) = (unsigned)((handle_ * 0x9e3779b97f4a7c15u) >> 32);                                \
    } while (0)
#include <uthash.h>

#endif
