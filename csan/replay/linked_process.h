/* One process's recording, replayed into a context that several processes share.
 *
 * Within a process its own replay finds the races. Here only order counts, and accesses to memory
 * that processes share: what touches no other memory is left out. So each process keeps its lanes,
 * snapshots and events, and its host is a lane of its own (CSAN_HOST_THREAD). Shared memory lies at
 * one address for all of them. Addresses of code are kept apart by the process's number in their
 * upper bits (linked_frame). */
#ifndef CSAN_REPLAY_LINKED_PROCESS_H
#define CSAN_REPLAY_LINKED_PROCESS_H

#include "csan/recording/recording_read.h"
#include "csan/replay/link_scan.h"
#include "csan/replay/message_table.h"
#include "csan/replay/replay_define.h"

struct linked_process;

enum { LINKED_FRAME_BITS = 48 };
/* Where the code at an address of a process lies among those of all. Frames of interpreted
 * languages have bit 63. */
static inline uint64_t linked_frame(uint64_t frame, size_t process)
{
    return frame ^ (uint64_t)(process + 1) << LINKED_FRAME_BITS;
}

/* What all of them share; the caller's. */
struct linked {
    csan_context *context;
    const struct link_scan *scan;
    struct message_table *messages;
    struct linked_process **processes;
    size_t count;
    struct replay_definitions *code; /* modules and lines of all */
    uint32_t *site_process;          /* by the context's site: process + 1, 0: none yet */
    size_t site_capacity;
    size_t now;        /* the process whose entry is being taken */
    uint64_t *origins; /* by the context's number of an op: its number in its recording, or 0 */
    size_t origin_capacity;
};

/* That op of the context is of the entry that is being taken. */
void linked_origin_note(struct linked *linked, uint64_t op);
/* Its number in its recording. An op that was not noted is the one that enters. */
uint64_t linked_origin(const struct linked *linked, uint64_t op);

/* `name`: "rank 3", in the names of its lanes. NULL: memory is short. */
struct linked_process *linked_process_create(struct linked *linked, size_t number,
                                             const char *name);
/* Its lanes stay; the host's lane ends, so that others need not wait for it. */
void linked_process_end(struct linked_process *process);
void linked_process_destroy(struct linked_process *process);

/* What an entry has to wait for. */
struct linked_want {
    enum {
        WANT_NOTHING,
        WANT_MESSAGE,
        WANT_COLLECTIVE,
        WANT_EVENT,
        WANT_HANDLE,
        WANT_VALUE,
        WANT_RECEIVE,
        WANT_LOCK
    } what;
    uint64_t key, number;
    uint32_t process; /* whose record or handle it is */
};
/* Whether the entry may be taken now; else what it waits for. */
bool linked_process_ready(const struct linked_process *process, const struct recorded *recorded,
                          struct linked_want *want);

/* Takes the entry, with the order that is there. NULL, or why no recording can have it. */
const char *linked_process_take(struct linked_process *process, const struct recorded *recorded);

#endif
