/* Guards pages of the host's memory that an op of the device may still write or read: they are
 * inaccessible, or read-only, until the host is ordered after the op. A thread that touches one
 * meanwhile faults (host_fault.h).
 *
 * Only memory that is readable and writable is guarded, and it is so again afterwards. unguarded.h
 * has what else must not be guarded. Owns its tables, which have a lock of their own, taken last.
 * They do not grow, because an allocator may wait for that lock. Thread-safe. page_guard_find,
 * _open, _lend, _step and _close are for signal handlers, too. */
#ifndef RUNTIME_HOOK_HOST_PAGE_GUARD_H
#define RUNTIME_HOOK_HOST_PAGE_GUARD_H

#include "csan/base/range_map.h"
#include "csan/shadow/lmad.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_guard_limits {
    uint64_t bytes;        /* guarded at a time, at most */
    uint64_t microseconds; /* At most so much time a second is spent in the kernel on changes of
                              protection. */
    uint64_t stretches;    /* At most so many stretches of pages are guarded at a time. The kernel
                              keeps a table of them, in which the program needs room, too. */
};

/* Once, before anything else. */
void page_guard_start(struct page_guard_limits limits);

/* How much of an op's bytes is guarded: SAMPLED are the ends of many, and pages between. */
enum page_guard_part { PAGE_GUARD_NONE, PAGE_GUARD_PART, PAGE_GUARD_SAMPLED, PAGE_GUARD_WHOLE };

/* An op touches these bytes; `epoch` stands for it. If there are more than 256 KiB, their ends are
 * guarded, and some pages between, which change from op to op. */
enum page_guard_part page_guard_add(uint64_t epoch, struct range bytes, bool writes);
/* The same of bytes with gaps between. Pages that lie in a gap stay open. */
enum page_guard_part page_guard_add_strided(uint64_t epoch, const struct lmad *bytes, bool writes);
/* The op updates or looks at a word, of 8 bytes at most, in one piece each time. The host may look
 * at it meanwhile, and learn how far the op has come. */
enum page_guard_part page_guard_add_word(uint64_t epoch, struct range word, bool writes);
/* The host may have learned so: who knows what of the ops until now is over. */
void page_guard_forget_all(void);
/* Whether there may be any op. Functions that are called often ask so first. */
extern size_t page_guard_count __attribute__((visibility("hidden"))); /* records of ops; atomic */
static inline bool page_guard_any(void)
{
    return __atomic_load_n(&page_guard_count, __ATOMIC_ACQUIRE) != 0;
}

/* Removes the guards of ops that are over. */
void page_guard_release(bool (*is_over)(void *user, uint64_t epoch), void *user);

/* The memory ends, or is lent to another owner who may touch it. It is opened, and stays open. */
void page_guard_forget(struct range bytes);

/* While a device touches memory as the host does (the embedded device), all pages are open: from
 * pause to resume. These nest, on any threads. */
void page_guard_pause(void);
void page_guard_resume(void);

/* Nothing is guarded, and nothing will be; the latter in a forked child, whose threads are gone. */
void page_guard_stop(void);
void page_guard_forked(void);

enum page_guard_found {
    PAGE_GUARD_NOT,    /* no page of csan's: the fault belongs to the program */
    PAGE_GUARD_RETRY,  /* it is open by now */
    PAGE_GUARD_OTHERS, /* guarded for other bytes of the same page */
    PAGE_GUARD_WORD,   /* a word of page_guard_add_word */
    PAGE_GUARD_GUARDED /* the bytes are an op's */
};
/* What an access to these bytes, which faulted at `address`, has met. */
enum page_guard_found page_guard_find(uint64_t address, struct range bytes, bool writes);

/* How often csan has changed the page's protection; wraps around. Safe in signal handlers. */
uint32_t page_guard_changes(uint64_t address);

/* Of the ops that an access meets, the epochs, so many at most; returns how many there are. */
size_t page_guard_epochs(struct range bytes, bool writes, uint64_t *epochs, size_t most);

/* It faults though it should be open: the kernel is asked again, unless it is the program's doing.
 */
void page_guard_insist(uint64_t address);

/* The kernel is to read or write these bytes: their pages are opened until another op touches them,
 * and are not guarded before unguarded_end of what unguarded_begin gave before this call. Returns
 * the epoch of the op that such an access meets; 0: none. */
uint64_t page_guard_lend(struct range bytes, bool writes);
/* Whether that op still touches some of these bytes. */
bool page_guard_meets(uint64_t epoch, struct range bytes);

/* Opens the pages of these bytes until another op touches them. If this is for an access that was
 * not checked, it counts as `unchecked`. */
void page_guard_open(struct range bytes, bool unchecked);

/* Opens the pages for one instruction. False: that cannot be done, and they were opened as above.
 * _close is called after the instruction. */
bool page_guard_step(struct range bytes);
void page_guard_close(struct range bytes);

struct page_guard_counts {
    uint64_t ops;       /* that were guarded, if only in part */
    uint64_t in_part;   /* of these: some pages were not */
    uint64_t skipped;   /* that were not, since a limit was reached */
    uint64_t refused;   /* that were not: the memory cannot be guarded, or must not */
    uint64_t unchecked; /* accesses that opened pages without being checked */
    uint64_t changes;   /* calls of mprotect */
};
struct page_guard_counts page_guard_counts(void);

#endif
