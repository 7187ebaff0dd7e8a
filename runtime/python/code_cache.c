/* See code_cache.h. */
#include "runtime/python/code_cache.h"

typedef void deallocator(void *object);

enum {
    TYPE_DEALLOCATOR = 48, /* tp_dealloc in 3.8 to 3.14: Include/cpython/object.h */
    PLACES = 2             /* of an object: the first one and its neighbor */
};

uint64_t code_cache[1 << CODE_CACHE_BITS] __attribute__((aligned(64)));

static struct {
    deallocator *original;
    bool remembers;
} cache;

static void code_dealloc(void *code)
{
    for (size_t i = 0; i < PLACES; i++) {
        uint64_t *place = &code_cache[code_cache_place(code) ^ i];
        uint64_t word = __atomic_load_n(place, __ATOMIC_ACQUIRE);
        if (code_cache_word_is(word, code))
            __atomic_compare_exchange_n(place, &word, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    }
    __atomic_load_n(&cache.original, __ATOMIC_ACQUIRE)(code);
}

void code_cache_start(const struct python_interpreter *python)
{
    deallocator **place = (deallocator **)((uintptr_t)python->code_type + TYPE_DEALLOCATOR);
    deallocator *found = __atomic_load_n(place, __ATOMIC_ACQUIRE), *none = NULL;
    if (!python_interpreter_has((const void *)(uintptr_t)found) ||
        !__atomic_compare_exchange_n(&cache.original, &none, found, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return;
    __atomic_store_n(place, code_dealloc, __ATOMIC_SEQ_CST);
    __atomic_store_n(&cache.remembers, true, __ATOMIC_SEQ_CST);
}

bool code_cache_find(const void *code, uint32_t *number)
{
    for (size_t i = 0; i < PLACES; i++) {
        const uint64_t word =
            __atomic_load_n(&code_cache[code_cache_place(code) ^ i], __ATOMIC_RELAXED);
        *number = word & ((1 << PYTHON_CODE_NUMBER_BITS) - 1);
        if (code_cache_word_is(word, code))
            return true;
    }
    return false;
}

/* Into the first place, unless another object is there. */
void code_cache_put(const void *code, uint32_t number)
{
    const uint64_t word = code_cache_key(code) << PYTHON_CODE_NUMBER_BITS | number;
    const bool fits = code_cache_word_is(word, code); /* an address of up to 49 bits */
    uint64_t *place = &code_cache[code_cache_place(code)], nothing = 0;
    if (!fits || !__atomic_load_n(&cache.remembers, __ATOMIC_ACQUIRE))
        return;
    if (!__atomic_compare_exchange_n(place, &nothing, word, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        __atomic_store_n(&code_cache[code_cache_place(code) ^ 1], word, __ATOMIC_RELEASE);
}
