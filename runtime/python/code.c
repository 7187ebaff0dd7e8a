/* See code.h.
 *
 * csan keeps no Python object alive, so an address alone does not identify a code object. A cell
 * runner or a template engine compiles code again and again. The new code, its name and its line
 * table may have the old one's addresses. From 3.12 on CPython numbers code objects. Before that,
 * csan compares a hash of the line table. code_cache spares most of these comparisons. */
#include "runtime/python/code.h"
#include "csan/base/fork_lock.h"
#include "csan/base/hash.h"
#include "runtime/python/code_text.h"

#include <pthread.h>

_Static_assert(PYTHON_TEXT_NUMBER_MAX < 1 << PYTHON_CODE_NUMBER_BITS, "each number fits");

enum {
    SLOT_BITS = 15, /* code objects found at once */
    PROBES = 4,
    HASHED_BYTES = 1024
};

/* A code object that csan has seen; one cache line. Readers take no lock: `version` is odd during a
 * write and changes with it. */
struct identity {
    uint32_t version, number; /* 0: nothing is here */
    const void *object, *file, *name, *lines;
    uint64_t stamp; /* distinguishes it from a later object at the same address */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct identity) == 64, "one line");

static struct {
    pthread_mutex_t lock;
    struct identity slots[1 << SLOT_BITS];
} codes = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct identity *slot_of(const void *object, size_t probe)
{
    uint64_t hash = hash_spread((uintptr_t)object >> 4);
    return &codes.slots[((hash >> (64 - SLOT_BITS)) + probe) & ((1 << SLOT_BITS) - 1)];
}

/* Hashes the beginning and the end of a long table. */
static uint64_t content_stamp(const struct python_layout *layout, const void *object)
{
    const void *lines = python_pointer_at(object, layout->code_lines);
    size_t bytes = (size_t)python_pointer_at(lines, layout->objects.bytes_length);
    const char *data = (const char *)lines + layout->objects.bytes_data;
    uint64_t hash = (uint64_t)python_number_at(object, layout->code_first_line);
    if (bytes <= 2 * HASHED_BYTES)
        return hash_mix(hash, hash_memory(data, bytes));
    hash = hash_mix(hash, hash_memory(data, HASHED_BYTES));
    return hash_mix(hash, hash_memory(data + bytes - HASHED_BYTES, HASHED_BYTES));
}

static uint64_t stamp_of(const struct python_layout *layout, const void *object)
{
    uint32_t version =
        layout->code_version ? (uint32_t)python_number_at(object, layout->code_version) : 0;
    return version ? version : content_stamp(layout, object);
}

static bool is_same(const struct identity *slot, const struct python_layout *layout,
                    const void *object)
{
    return __atomic_load_n(&slot->lines, __ATOMIC_ACQUIRE) ==
               python_pointer_at(object, layout->code_lines) &&
           __atomic_load_n(&slot->name, __ATOMIC_ACQUIRE) ==
               python_pointer_at(object, layout->code_name) &&
           __atomic_load_n(&slot->file, __ATOMIC_ACQUIRE) ==
               python_pointer_at(object, layout->code_file) &&
           __atomic_load_n(&slot->stamp, __ATOMIC_ACQUIRE) == stamp_of(layout, object);
}

/* 0: it is not known, or no longer. A read of a slot is valid if the slot's version is the same
 * afterwards. */
static uint32_t number_find(const struct python_layout *layout, const void *object)
{
    for (size_t probe = 0; probe < PROBES; probe++) {
        const struct identity *slot = slot_of(object, probe);
        uint32_t version = __atomic_load_n(&slot->version, __ATOMIC_ACQUIRE);
        if (!version)
            return 0;
        if (__atomic_load_n(&slot->object, __ATOMIC_ACQUIRE) != object)
            continue;
        uint32_t number = __atomic_load_n(&slot->number, __ATOMIC_ACQUIRE);
        bool same = is_same(slot, layout, object) && !(version & 1) &&
                    __atomic_load_n(&slot->version, __ATOMIC_RELAXED) == version;
        return same ? number : 0;
    }
    return 0;
}

/* Uses the address' own slot, or else a free one, or else the first of its slots. With the lock
 * held. */
static void identity_put(const struct python_layout *layout, const void *object, uint32_t number)
{
    struct identity *slot = slot_of(object, 0);
    for (size_t probe = PROBES; probe-- > 0;) {
        struct identity *at = slot_of(object, probe);
        if (!at->version || at->object == object)
            slot = at;
    }
    uint32_t version = slot->version;
    __atomic_store_n(&slot->version, version + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->object, object, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->number, number, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->lines, python_pointer_at(object, layout->code_lines), __ATOMIC_RELEASE);
    __atomic_store_n(&slot->name, python_pointer_at(object, layout->code_name), __ATOMIC_RELEASE);
    __atomic_store_n(&slot->file, python_pointer_at(object, layout->code_file), __ATOMIC_RELEASE);
    __atomic_store_n(&slot->stamp, stamp_of(layout, object), __ATOMIC_RELEASE);
    version += version + 2 ? 2 : 4; /* 0 is for nothing */
    __atomic_store_n(&slot->version, version, __ATOMIC_RELEASE);
}

/* With the lock held. */
static uint32_t number_add(const struct python_layout *layout, const void *object)
{
    uint32_t number = number_find(layout, object);
    if (number)
        return number;
    number = python_code_text(layout, object);
    identity_put(layout, object, number);
    return number;
}

/* From 3.13 on a frame of the interpreter's own follows a call of a class (_Py_InitCleanup in
 * Python/specialize.c). Its code has no lines, and one string as name and file. */
static bool has_source(const struct python_layout *layout, const void *object)
{
    return python_number_at(object, layout->code_first_line) ||
           python_pointer_at(object, layout->code_file) !=
               python_pointer_at(object, layout->code_name);
}

static void lock_keep(void)
{
    fork_lock_keep(&codes.lock);
}

static uint32_t number_slow(const struct python_interpreter *python, const void *object)
{
    const struct python_layout *layout = &python->layout;
    static pthread_once_t kept = PTHREAD_ONCE_INIT;
    if (!object || python_pointer_at(object, layout->objects.type) != python->code_type ||
        !has_source(layout, object))
        return 0;
    pthread_once(&kept, lock_keep);
    pthread_mutex_lock(&codes.lock);
    uint32_t number = number_add(layout, object);
    pthread_mutex_unlock(&codes.lock);
    return number;
}

uint32_t python_code_number(const struct python_interpreter *python, const void *object)
{
    uint32_t number = number_find(&python->layout, object);
    return __builtin_expect(number != 0, 1) ? number : number_slow(python, object);
}
