/* Pages of the host's memory that an op of the device may still write or read: made inaccessible,
 * or read-only, until the host is ordered after the op. Who touches them meanwhile faults
 * (host_fault.h).
 *
 * Only memory that is readable and writable is guarded, and is so again afterwards. Owns its
 * tables, which have a lock of their own, taken last. Thread-safe; page_guard_find, _open, _step
 * and _close are for signal handlers, too. */
#ifndef RUNTIME_HOOK_HOST_PAGE_GUARD_H
#define RUNTIME_HOOK_HOST_PAGE_GUARD_H

#include "csan/base/range_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_guard_limits {
    uint64_t bytes;        /* guarded at a time, at most */
    uint64_t microseconds; /* spent in the kernel on changes of protection, at most, a second */
};

/* Once, before anything else. */
void page_guard_start(struct page_guard_limits limits);

/* An op, for which `epoch` stands, touches these bytes. Of more than 256 KiB the ends are guarded,
 * and pages between that change from op to op. */
void page_guard_add(uint64_t epoch, struct range bytes, bool writes);

/* Ops that are over no longer guard anything. */
void page_guard_release(bool (*is_over)(void *user, uint64_t epoch), void *user);

/* The memory ends, or is lent to somebody who may touch it: it is opened, and stays so. */
void page_guard_forget(struct range bytes);

/* While a device touches memory as the host does (the embedded device), from pause to resume, all
 * pages are open. They nest, on any threads. */
void page_guard_pause(void);
void page_guard_resume(void);

/* In a forked child: nothing is guarded, and nothing will be. */
void page_guard_stop(void);

enum page_guard_found {
    PAGE_GUARD_NOT,    /* no page of csan's: the fault is the program's own */
    PAGE_GUARD_RETRY,  /* it is open by now */
    PAGE_GUARD_OTHERS, /* guarded for other bytes of the same page */
    PAGE_GUARD_GUARDED /* the bytes are an op's */
};
/* What an access of these bytes met that faulted at `address`. */
enum page_guard_found page_guard_find(uint64_t address, struct range bytes, bool writes);

/* Whether an access of these bytes would fault. */
bool page_guard_overlaps(struct range bytes, bool writes);

/* Opens the pages of these bytes until another op touches them; counts that as `unchecked`, when it
 * is an access that was not checked. */
void page_guard_open(struct range bytes, bool unchecked);

/* Opens them for one instruction; returns whether that may be: else they are opened as above. And
 * behind the instruction. */
bool page_guard_step(struct range bytes);
void page_guard_close(struct range bytes);

struct page_guard_counts {
    uint64_t ops;       /* that were guarded, if only in part */
    uint64_t skipped;   /* that were not, since a limit was reached */
    uint64_t unchecked; /* accesses that opened pages without being checked */
    uint64_t changes;   /* calls of mprotect */
};
struct page_guard_counts page_guard_counts(void);

#endif
