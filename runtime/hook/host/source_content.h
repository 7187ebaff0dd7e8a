/* What the sources of pending work hold: hashed when the work is enqueued, and again when the host
 * is first ordered after it. Another hash, though no work of a device wrote there meanwhile, means
 * that the host did, while the work could still read.
 *
 * Only pinned and registered memory that an op of a stream reads for certain. Of more than 32 KiB
 * the ends are hashed, and pieces between that change from op to op. Memory is read through the
 * kernel (process_vm_writev), so that what is not there any more, or is guarded, cannot fault.
 *
 * Whatever may have a right to write silences it: work of a device in flight there, work of which
 * nobody knows what it writes, a kernel that may raise a flag, host functions, and stores that the
 * detector has judged already.
 * Thread-safe; not for signal handlers that interrupt it. */
#ifndef RUNTIME_HOOK_HOST_SOURCE_CONTENT_H
#define RUNTIME_HOOK_HOST_SOURCE_CONTENT_H

#include "csan/detector/host_watch.h"

#include <stdbool.h>
#include <stdint.h>

/* Once, before anything else. At most so many microseconds a second are spent. False: this kernel
 * does not let a process read its own memory so. */
bool source_content_start(uint64_t microseconds);

/* An access: a source, or a reason to be silent of some. `alone`: its call has done nothing else.
 * Then a source that is the same as an earlier one is a second look at that one. True: there is
 * something for source_content_next. */
bool source_content_touched(const struct host_touch *touch, bool alone);

/* What is over is looked at once more. Returns the same. */
bool source_content_learned(bool (*is_over)(void *user, uint64_t epoch), void *user);

/* Sources in memory that ends, or of which the detector judged a store; and all. */
void source_content_forget(struct range bytes);
void source_content_forget_all(void);

struct source_change {
    uint64_t epoch, number; /* the op's */
    csan_site site;
    enum csan_level level;
    uint16_t argument;
    struct range bytes; /* among which some changed */
};
/* Takes out a change that was found; false: there is none. */
bool source_content_next(struct source_change *change);

/* In a forked child: nothing is looked at any more. */
void source_content_stop(void);

struct source_content_counts {
    uint64_t sources; /* hashed, if only in part */
    uint64_t skipped; /* not hashed, since a limit was reached */
    uint64_t silent;  /* hashed, and not compared */
};
struct source_content_counts source_content_counts(void);

#endif
