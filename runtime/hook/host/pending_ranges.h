/* Ranges of the host's memory that ops of the device may still touch, for instrumented code. There
 * are counters of pages, which it tests at each access (instrumented.h), and the ranges themselves.
 * Thread-safe. A signal handler that interrupts a change of theirs meets nothing. */
#ifndef RUNTIME_HOOK_HOST_PENDING_RANGES_H
#define RUNTIME_HOOK_HOST_PENDING_RANGES_H

#include "csan/base/range_map.h"
#include "runtime/instrumented/instrumented.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* By the low bits of a page's number: how many ops write it, and how many touch it; of an area's
 * number: how many touch it. */
extern struct csan_host_counters pending_counters;

/* First. The counters are at 0. */
void pending_ranges_start(struct csan_host_counters counters);

/* An op touches these bytes; `epoch` stands for it. */
void pending_ranges_add(uint64_t epoch, struct range bytes, bool writes);
/* Ops that are over. */
void pending_ranges_release(bool (*is_over)(void *user, uint64_t epoch), void *user);
/* Memory that ends. */
void pending_ranges_forget(struct range bytes);
/* The op updates or looks at a word, of 8 bytes at most, in one piece each time. The host may look
 * at it meanwhile, and learn how far the op has come. */
void pending_ranges_add_word(uint64_t epoch, struct range word, bool writes);
/* The host may have learned so: who knows what of the ops until now is over. */
void pending_ranges_forget_all(void);

/* Ranges for which there was no room: nothing is looked for there. */
uint64_t pending_ranges_dropped(void);

/* Whether there may be any. Functions that are called often ask so first. */
extern size_t pending_ranges_count __attribute__((visibility("hidden"))); /* atomic */
static inline bool pending_ranges_any(void)
{
    return __atomic_load_n(&pending_ranges_count, __ATOMIC_ACQUIRE) != 0;
}

/* What an access of the host to these bytes meets of ops, for the most. Two reads do not meet. */
enum pending_ranges_met { PENDING_NOTHING, PENDING_WORD, PENDING_OP };
enum pending_ranges_met pending_ranges_meet(struct range bytes, bool writes);

/* In a forked child: nothing is pending. */
void pending_ranges_stop(void);

#endif
