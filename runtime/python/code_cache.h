/* The numbers of code objects by their addresses, so that a stack walk reads none of them again. A
 * code object leaves the cache before its memory is free: csan stands in front of the deallocator
 * of their type. That serves all interpreters of the process. From 3.13 on co_version would not do,
 * since each interpreter counts for itself (func_state in Include/internal/pycore_interp.h).
 *
 * A thread that runs a code object sees that all earlier ones at that address have left: the
 * interpreter's lock or its allocator's came between. So reads and writes take no lock. */
#ifndef RUNTIME_PYTHON_CODE_CACHE_H
#define RUNTIME_PYTHON_CODE_CACHE_H

#include "csan/base/hash.h"
#include "runtime/python/code.h"

#include <stddef.h>
#include <stdint.h>

enum { CODE_CACHE_BITS = 11 };

/* A word: the address without its bits that are 0, and below them the number. 0: nothing. */
extern uint64_t code_cache[1 << CODE_CACHE_BITS] __attribute__((visibility("hidden")));

/* From now on it remembers, if the type is laid out as CPython's. Any thread. */
void code_cache_start(const struct python_interpreter *python);

static inline uint64_t code_cache_key(const void *code)
{
    enum { ALIGNED_BITS = 3 };
    return (uintptr_t)code >> ALIGNED_BITS;
}

/* The first place where it may be. */
static inline size_t code_cache_place(const void *code)
{
    return (size_t)(hash_spread(code_cache_key(code)) >> (64 - CODE_CACHE_BITS));
}

static inline bool code_cache_word_is(uint64_t word, const void *code)
{
    return word >> PYTHON_CODE_NUMBER_BITS == code_cache_key(code);
}

/* What was put for the object; false: it is not there. Looks in one place only. */
static inline bool code_cache_get(const void *code, uint32_t *number)
{
    const uint64_t word = __atomic_load_n(&code_cache[code_cache_place(code)], __ATOMIC_RELAXED);
    *number = word & ((1 << PYTHON_CODE_NUMBER_BITS) - 1);
    return code_cache_word_is(word, code);
}

/* Looks in all places. */
bool code_cache_find(const void *code, uint32_t *number);

/* `code` is a code object that a frame of the calling thread holds, or lives for ever. */
void code_cache_put(const void *code, uint32_t number);

#endif
