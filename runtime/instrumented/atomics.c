/* The interface of ThreadSanitizer's compiler pass for atomic operations: done as asked, at the
 * strongest order, and announced. A store of at least release order, and a load of at least acquire
 * order, order the threads (C11, 7.17.3). */
#include "runtime/instrumented/table.h"

#define PC() __builtin_return_address(0)

static bool releases(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static bool acquires(int order)
{
    return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME || order == __ATOMIC_ACQ_REL ||
           order == __ATOMIC_SEQ_CST;
}

static void before(const volatile void *address, int order)
{
    if (host_table.release && releases(order))
        host_table.release((const void *)address);
}

static void after(const volatile void *address, int order)
{
    if (host_table.acquire && acquires(order))
        host_table.acquire((const void *)address);
}

#define CHANGE(bits, type, name, value_of)                                                         \
    EXPORTED type __tsan_atomic##bits##_##name(volatile type *address, type value, int order)      \
    {                                                                                              \
        type old = *address;                                                                       \
        writes((const void *)address, sizeof *address, PC());                                      \
        before(address, order);                                                                    \
        while (!exchange_if_##bits(address, &old, value_of))                                       \
            ;                                                                                      \
        after(address, order);                                                                     \
        return old;                                                                                \
    }

#define COMPARE(bits, type, name)                                                                  \
    EXPORTED int __tsan_atomic##bits##_compare_exchange_##name(                                    \
        volatile type *address, type *expected, type value, int order, int failed)                 \
    {                                                                                              \
        writes((const void *)address, sizeof *address, PC());                                      \
        before(address, order);                                                                    \
        const bool done = exchange_if_##bits(address, expected, value);                            \
        after(address, done ? order : failed);                                                     \
        return done;                                                                               \
    }

#define ATOMICS(bits, type)                                                                        \
    EXPORTED type __tsan_atomic##bits##_load(const volatile type *address, int order)              \
    {                                                                                              \
        reads((const void *)address, sizeof *address, PC());                                       \
        const type value = load_##bits(address);                                                   \
        after(address, order);                                                                     \
        return value;                                                                              \
    }                                                                                              \
    EXPORTED void __tsan_atomic##bits##_store(volatile type *address, type value, int order)       \
    {                                                                                              \
        type old = *address;                                                                       \
        writes((const void *)address, sizeof *address, PC());                                      \
        before(address, order);                                                                    \
        while (!exchange_if_##bits(address, &old, value))                                          \
            ;                                                                                      \
    }                                                                                              \
    CHANGE(bits, type, exchange, value)                                                            \
    CHANGE(bits, type, fetch_add, (type)(old + value))                                             \
    CHANGE(bits, type, fetch_sub, (type)(old - value))                                             \
    CHANGE(bits, type, fetch_and, old &value)                                                      \
    CHANGE(bits, type, fetch_or, old | value)                                                      \
    CHANGE(bits, type, fetch_xor, old ^ value)                                                     \
    CHANGE(bits, type, fetch_nand, (type)(~(old & value)))                                         \
    COMPARE(bits, type, strong)                                                                    \
    COMPARE(bits, type, weak)                                                                      \
    EXPORTED type __tsan_atomic##bits##_compare_exchange_val(                                      \
        volatile type *address, type expected, type value, int order, int failed)                  \
    {                                                                                              \
        writes((const void *)address, sizeof *address, PC());                                      \
        before(address, order);                                                                    \
        const bool done = exchange_if_##bits(address, &expected, value);                           \
        after(address, done ? order : failed);                                                     \
        return expected;                                                                           \
    }

/* The compiler's own, of each width; false leaves what was found in `expected`. */
#define PRIMITIVES(bits, type)                                                                     \
    static inline type load_##bits(const volatile type *address)                                   \
    {                                                                                              \
        return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                         \
    }                                                                                              \
    static inline bool exchange_if_##bits(volatile type *address, type *expected, type value)      \
    {                                                                                              \
        return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST,      \
                                           __ATOMIC_SEQ_CST);                                      \
    }
PRIMITIVES(8, uint8_t)
PRIMITIVES(16, uint16_t)
PRIMITIVES(32, uint32_t)
PRIMITIVES(64, uint64_t)

/* cmpxchg16b, which the compiler has by this name without a library (-mcx16). */
typedef unsigned __int128 wide;
static inline bool exchange_if_128(volatile wide *address, wide *expected, wide value)
{
    const wide found = __sync_val_compare_and_swap(address, *expected, value);
    const bool done = found == *expected;
    *expected = found;
    return done;
}
static inline wide load_128(const volatile wide *address)
{
    return __sync_val_compare_and_swap((volatile wide *)(uintptr_t)address, 0, 0);
}

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
ATOMICS(128, wide)

EXPORTED void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
EXPORTED void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
