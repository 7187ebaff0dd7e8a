/* Which pages an op of the device may touch, and what happens to an access of one. */
#include "runtime/instrumented/copies.h"
#include "runtime/instrumented/table.h"

EXPORTED uint16_t csan_host_written[INSTRUMENTED_PAGES], csan_host_touched[INSTRUMENTED_PAGES];

/* Looked at where a page's counter is not 0. */
static uint16_t areas[INSTRUMENTED_AREAS];

struct csan_host_table host_table;

EXPORTED struct csan_host_counters csan_host_activate(const struct csan_host_table *table)
{
    host_table = *table;
    return (struct csan_host_counters){csan_host_written, csan_host_touched, areas};
}

static bool is_in_area(uintptr_t address)
{
    return areas[address >> INSTRUMENTED_AREA_SHIFT & (INSTRUMENTED_AREAS - 1)] != 0;
}

/* Before libcsan.so registers its table, nothing is counted. */
EXPORTED void csan_host_access(const void *address, size_t bytes, int writes, const void *pc)
{
    if (is_in_area((uintptr_t)address) || is_in_area((uintptr_t)address + bytes - 1))
        host_table.access(address, bytes, writes, pc);
}

static bool any_page(const void *address, size_t bytes, const uint16_t *pages)
{
    const uintptr_t page = (uintptr_t)1 << INSTRUMENTED_PAGE_SHIFT;
    const uintptr_t end = (uintptr_t)address + bytes;
    size_t looked = 0;
    for (uintptr_t at = (uintptr_t)address; at < end && looked < INSTRUMENTED_PAGES;
         at = (at | (page - 1)) + 1, looked++)
        if (may_meet((const void *)at, pages) && is_in_area(at))
            return true;
    return false;
}

EXPORTED void csan_host_range(const void *address, size_t bytes, int writes, const void *pc)
{
    if (any_page(address, bytes, writes ? csan_host_touched : csan_host_written))
        host_table.access(address, bytes, writes, pc);
}

/* ---- Copies ---- */

#define PC() __builtin_return_address(0)

/* clang calls these in place of the C library's. */
EXPORTED void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    csan_host_range(from, bytes, 0, PC());
    csan_host_range(to, bytes, 1, PC());
    return copies_next.copy(to, from, bytes);
}
EXPORTED void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
    csan_host_range(from, bytes, 0, PC());
    csan_host_range(to, bytes, 1, PC());
    return copies_next.move(to, from, bytes);
}
EXPORTED void *__tsan_memset(void *to, int value, size_t bytes)
{
    csan_host_range(to, bytes, 1, PC());
    return copies_next.set(to, value, bytes);
}
