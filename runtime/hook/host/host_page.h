/* The host's pages, as mprotect(2) counts them. x86-64 has those of 4 KiB. A kernel for aarch64 is
 * built for 4, 16 or 64 KiB (Linux, Documentation/arch/arm64/memory.rst). */
#ifndef RUNTIME_HOOK_HOST_HOST_PAGE_H
#define RUNTIME_HOOK_HOST_HOST_PAGE_H

#include <stdint.h>

#if defined(__x86_64__)
static inline unsigned host_page_shift(void)
{
    return 12;
}
#else
#include <sys/auxv.h>

/* The processor's pages do not change while the process runs. */
static inline unsigned host_page_shift(void)
{
    static unsigned shift;
    unsigned known = __atomic_load_n(&shift, __ATOMIC_RELAXED);
    if (!known) {
        known = (unsigned)__builtin_ctzl(getauxval(AT_PAGESZ));
        __atomic_store_n(&shift, known, __ATOMIC_RELAXED);
    }
    return known;
}
#endif

static inline uint64_t host_page_bytes(void)
{
    return UINT64_C(1) << host_page_shift();
}

#endif
