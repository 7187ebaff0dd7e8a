/* The first reading of the recordings of several processes: what they share, and which record of an
 * event, and which handle, each wait and each opening is about.
 *
 * Records, waits, and handles that are made and opened bear the time of the machine's clock. A wait
 * is for the newest record, of any process, that was made before the wait began. An opening is of
 * the newest handle of these bytes. */
#ifndef CSAN_REPLAY_LINK_SCAN_H
#define CSAN_REPLAY_LINK_SCAN_H

#include "csan/recording/recording_read.h"
#include "csan/replay/lock_sections.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINK_NONE = 0xffffffffu };

/* A record of an event, a handle that was made, or a receive: the process, and its how manieth of
 * these it is. */
struct link_source {
    uint32_t process, number;
};

/* What a process shares, or opened. */
struct link_memory {
    uint64_t bytes;
    uint64_t unified; /* where it lies for all processes: 0: it is not shared */
};

struct link_process {
    struct link_source *wanted; /* by number of wait, opening or send that was taken; process
                                   LINK_NONE: there is none */
    size_t wanted_count;
    uint32_t *uses; /* by number of record, handle or receive: how many wait for it */
    size_t source_count;
    struct link_memory *births; /* by number of birth, from 1; 0: memory whose birth was not seen */
    size_t birth_count;
    uint64_t *opened; /* by number of wait or opening: where the opened memory lies for all */
    struct link_memory *mapped; /* by number of MAP: the whole memory that it maps a part of */
    size_t mapped_count;
    uint32_t *taken; /* by number of TAKE or LOOK: which message of its channel it is, from 1 */
    size_t taken_count;
    uint32_t lacks; /* bits of enum csan_link_lack */
    bool foreign;   /* it has memory open of a process that is not among these */
    bool uncertain; /* a receive is not there that may have had another one's message */
    bool unordered; /* it had a lock, and another process too, and which came first is not known */
    bool exposed;   /* it read values of a window that others may have written at the same time */
};

struct link_scan;

/* `count` processes. NULL: memory is short. */
struct link_scan *link_scan_create(size_t count);
void link_scan_destroy(struct link_scan *scan);
/* An entry of a process, in its order. False: memory is short. */
bool link_scan_take(struct link_scan *scan, size_t process, const struct recorded *recorded);
/* After the last entry of all. False: memory is short. */
bool link_scan_resolve(struct link_scan *scan);
const struct link_process *link_scan_of(const struct link_scan *scan, size_t process);
const struct lock_sections *link_scan_locks(const struct link_scan *scan);

#endif
