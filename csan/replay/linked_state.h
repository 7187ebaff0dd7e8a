/* What the parts of a linked process share: its lanes and order (linked_order.c), its memory and
 * ops (linked_memory.c), and what joins it to others (linked_link.c). linked_process.c gives them
 * the entries. A part takes an entry, and returns NULL or why no recording can have it. */
#ifndef CSAN_REPLAY_LINKED_STATE_H
#define CSAN_REPLAY_LINKED_STATE_H

#include "csan/replay/linked_process.h"
#include "csan/replay/shared_memory.h"

#include <uthash.h>

enum { LINKED_NAME_BYTES = 96 };

/* A lane of the recording. */
struct mapped_lane {
    csan_lane lane; /* + 1; 0: there is none */
    uint8_t role;   /* enum csan_lane_role */
    bool host;      /* the host, a thread of it, or what threads synchronize by */
    bool request;
    bool passed_by; /* it orders nothing and does nothing */
};

/* An op whose access set comes later. */
struct linked_ticket {
    uint64_t number, own;
    UT_hash_handle hh;
};

struct linked_process {
    struct linked *linked;
    const struct link_process *links;
    size_t number;
    char name[LINKED_NAME_BYTES / 2];
    csan_lane host, all;          /* `all`: a lane that learns what every lane of the process did */
    struct mapped_lane host_lane; /* `host`, as an entry of `lanes` */
    struct mapped_lane *lanes;
    size_t lane_capacity;
    csan_snapshot **snapshots;
    size_t snapshot_capacity;
    csan_event **events;
    size_t event_capacity;
    csan_snapshot **sources; /* records of shared events and handles made, while others want them */
    size_t source_capacity;
    uint32_t *uses_left;
    size_t source_count, wanted_count, birth_count, taken_count, mapped_count;
    csan_snapshot **releases; /* of locks, by number of UNLOCK, while others want them */
    size_t release_capacity, release_count, lock_count;
    uint32_t *release_uses_left; /* 0: not known yet */
    size_t release_uses_capacity;
    struct shared_memory shared;
    struct linked_ticket *tickets; /* uthash */
    struct replay_definitions definitions;
    struct csan_access *accesses;
    size_t access_capacity;
    uint32_t letters;
    uint64_t ops;  /* of the recording, up to the entry that is being taken */
    bool branched; /* inside a graph's nodes, which only their own process judges */
    bool ended;
};

extern const char linked_no_memory[], linked_no_such_lane[];

/* ---- Lanes and order ---- */

/* NULL: it is not there. */
struct mapped_lane *linked_lane_of(const struct linked_process *process, uint64_t number);
/* What the host enqueues comes after what it knows. */
void linked_join_host(const struct linked_process *process, const struct mapped_lane *lane);
/* The host has waited for all that the process's lanes did, but for its host threads and requests.
 */
void linked_host_waits_for_all(struct linked_process *process);

const char *linked_take_lane(struct linked_process *process, const struct recorded *recorded);
const char *linked_take_lane_words(struct linked_process *process, const struct recorded *recorded);
const char *linked_take_lane_destroy(struct linked_process *process, uint64_t number);
const char *linked_take_snapshot(struct linked_process *process, const struct recorded *recorded);
const char *linked_take_join(struct linked_process *process, const struct recorded *recorded);
const char *linked_take_join_lane(struct linked_process *process, const struct recorded *recorded);
const char *linked_take_event(struct linked_process *process, const struct recorded *recorded);

/* ---- Memory and ops ---- */

/* [base, base + bytes) of the process lies there for all. */
const char *linked_share(struct linked_process *process, uint64_t base, uint64_t bytes,
                         uint64_t unified);
const char *linked_take_birth(struct linked_process *process, const struct recorded *recorded);
const char *linked_take_op(struct linked_process *process, const struct recorded *recorded);
const char *linked_take_resolve(struct linked_process *process, const struct recorded *recorded);

/* ---- Links ---- */

const char *linked_take_link(struct linked_process *process, const struct recorded *recorded);

/* ---- Locks ---- */

bool linked_lock_ready(const struct linked_process *process, bool unlock, struct linked_want *want);
const char *linked_take_lock(struct linked_process *process, bool unlock, csan_lane lane);

#endif
