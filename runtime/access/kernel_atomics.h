/* What a kernel's atomic accesses say of the whole kernel: how wide they are, and whether the
 * kernel orders itself by them with kernels that run at the same time. It does so by a release
 * pattern, an acquire pattern, or both (PTX ISA, "Release and Acquire Patterns" of the memory
 * consistency model). A release pattern is a release, or a fence and then a strong write. An
 * acquire pattern is an acquire, or a strong read and then a fence. Only scopes .gpu and .sys reach
 * another kernel.
 *
 * Which of the two comes first is not checked, nor that both are about one word: a kernel may be
 * said to order what it does not. Thread-safe. */
#ifndef RUNTIME_ACCESS_KERNEL_ATOMICS_H
#define RUNTIME_ACCESS_KERNEL_ATOMICS_H

#include "runtime/ptx/ir.h"

#include <csan/csan.h>
#include <stdbool.h>

struct kernel_atomics {
    uint8_t bytes; /* width of all of them; 0: several, or not known */
    uint8_t order; /* set of enum csan_access_order */
    bool plain; /* there are strong loads or stores. A trace that knows of no strength has them as
                   plain reads and writes. */
};

/* Of the kernel; `order` of the functions that it calls, too. */
struct kernel_atomics kernel_atomics_find(const struct ptx_function *kernel);

/* What an access of that kind and so many contiguous bytes may order. `strength`: the kind says
 * whether it was strong. */
static inline uint8_t kernel_atomics_order(struct kernel_atomics atomics, uint8_t kind,
                                           uint64_t bytes, bool strength)
{
    enum { WORD_BYTES_MAX = 16 };
    if (kind == CSAN_ATOMIC)
        return atomics.order;
    if (strength || !atomics.plain || bytes > WORD_BYTES_MAX)
        return 0;
    return atomics.order & (kind == CSAN_READ ? CSAN_ACQUIRES : CSAN_RELEASES);
}

#endif
