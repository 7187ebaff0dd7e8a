/* The interface between libcsan_host.so, to which code that was compiled with -fsanitize=thread
 * announces its loads and stores, and libcsan.so, which knows what memory the device may still
 * touch. With option host=instrumented libcsan.so registers this table. */
#ifndef RUNTIME_INSTRUMENTED_INSTRUMENTED_H
#define RUNTIME_INSTRUMENTED_INSTRUMENTED_H

#include <stddef.h>
#include <stdint.h>

/* Counters of pages, by the low bits of the page's number. */
enum { INSTRUMENTED_PAGE_SHIFT = 12, INSTRUMENTED_PAGES = 1 << 16 };
/* The same of larger areas. Pages 256 MiB apart share a counter, areas 128 GiB apart do. */
enum { INSTRUMENTED_AREA_SHIFT = 21, INSTRUMENTED_AREAS = 1 << 16 };

/* Not 0: an op of the device that may not be over writes the page, or touches it, or the area.
 * libcsan.so counts. */
struct csan_host_counters {
    uint16_t *written, *touched, *areas;
};

struct csan_host_table {
    /* A load or store of the calling thread, by the instruction before `pc`, in such a page. Any
     * thread; does nothing while csan is off or is itself the caller. */
    void (*access)(const void *address, size_t bytes, int writes, const void *pc);
    /* The thread releases or acquires what it did before by an atomic operation on `key`. NULL: the
     * order of threads is not followed. */
    void (*release)(const void *key);
    void (*acquire)(const void *key);
};

/* Weak where it is called: the library may not be in the process. */
struct csan_host_counters csan_host_activate(const struct csan_host_table *table)
    __attribute__((weak, visibility("default")));

#endif
