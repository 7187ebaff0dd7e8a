/* The bounded FIFO in front of the detector. All entries enter here in the order in which the
 * program enqueued them. An entry leaves as soon as it is decided.
 *
 * Two kinds are not decided at once. An op whose access set is not known yet holds back everything
 * behind it. A join with a promise (a wait for a value that nobody has written yet) holds back its
 * lane and what depends on that lane. It lets the rest pass, because the write that keeps the
 * promise comes later. An entry that is held back with its lane takes along what it needs of other
 * lanes: their snapshots as of its own turn.
 *
 * The program is never held back. When the queue is full, or its head waits longer than the
 * time-out, an op goes on with its fallback and a promise is given up; both are counted.
 *
 * When nothing waits, nothing is copied or queued: an entry on the caller's stack is processed. Not
 * thread-safe: the context's lock covers every user. */
#ifndef CSAN_DETECTOR_QUEUE_H
#define CSAN_DETECTOR_QUEUE_H

#include "csan/detector/conflict.h"
#include "csan/detector/live_memory.h"
#include "csan/order/order.h"

enum snapshot_state {
    SNAPSHOT_EMPTY, /* an entry in the queue will fill it */
    SNAPSHOT_FILLED,
    SNAPSHOT_PROMISE /* nobody has kept it yet */
};

struct csan_snapshot {
    uint32_t references;
    enum snapshot_state state;
    uint32_t blocked_pass;
    uint32_t number; /* in the recording; 0: none yet */
    struct snapshot value;
};

struct csan_event {
    struct snapshot value; /* as of the entries processed so far */
    bool recorded;         /* as of the program */
    uint32_t blocked_pass;
    uint32_t number; /* in the recording; 0: none yet */
    /* while the lane is blocked: the snapshot that its newest record, which is held back, will get;
     * NULL: not known */
    struct csan_snapshot *newest;
};

/* A free between its begin and its end. */
struct csan_free {
    uint64_t base, bytes;
    enum csan_memory_kind kind;
    struct live_memory_entry live;
    uint32_t blocked_pass;
    uint32_t number; /* in the recording */
    /* after begin was processed: */
    uint32_t lane;               /* that frees it */
    struct allocation *detached; /* freed at the host */
    uint32_t ghost_generation;   /* freed on a stream: its allocation; 0: none */
    struct snapshot before;      /* every lane, as of begin */
    struct past_access death;
    struct conflict_list conflicts; /* reported if the free succeeds */
};

enum entry_kind {
    ENTRY_OP,
    ENTRY_SAME_OPERATOR,   /* of lane's next op: ops of other */
    ENTRY_JOIN_LANE,       /* lane <- other */
    ENTRY_JOIN,            /* lane <- snapshot */
    ENTRY_SNAPSHOT,        /* snapshot <- lane */
    ENTRY_SNAPSHOT_ALL,    /* snapshot <- every lane */
    ENTRY_SNAPSHOT_EVENT,  /* snapshot <- event */
    ENTRY_KEEP,            /* snapshot (a promise) <- lane */
    ENTRY_RECORD,          /* event <- lane */
    ENTRY_RECORD_SNAPSHOT, /* event <- snapshot */
    ENTRY_WAIT,            /* lane <- event */
    ENTRY_EVENT_DESTROY,
    ENTRY_LANE_DESTROY,
    ENTRY_BIRTH,
    ENTRY_FREE_BEGIN,
    ENTRY_FREE_END,
    ENTRY_POOL_ALLOC,
    ENTRY_POOL_FREE,
    ENTRY_STEP,   /* of lane: struct step */
    ENTRY_JUDGED, /* what is no op: struct context_call */
    ENTRY_DOUBT   /* work that csan did not see may have written any memory */
};

struct entry {
    enum entry_kind kind;
    uint32_t lane, other;
    uint32_t site;
    uint64_t number;      /* of an op */
    uint64_t first, last; /* of ops of the same operator; a step's object and detail */
    uint8_t step;         /* enum csan_step_kind */
    struct csan_snapshot *snapshot;
    struct csan_event *event;
    struct csan_free *free;
    uint64_t base, bytes;
    enum csan_memory_kind memory_kind;
    enum csan_level level;
    bool checked, failed;
    bool ignored;     /* a free: not even against requests (csan_ignore_begin) */
    uint8_t judged;   /* enum context_judged; a wrong pointer is `base` */
    uint8_t waited;   /* of a free's end: enum csan_free_waits */
    bool pending;     /* an op whose accesses are only the fallback so far */
    bool host_joined; /* an op held back: `snapshot` is the host's as of its turn */
    const struct csan_access *accesses;
    size_t access_count;
};

struct detector;
struct queued;

struct queue {
    struct queued *entries; /* utlist */
    struct queued *tickets; /* uthash */
    size_t count;           /* entries that count against the limit: all but steps */
    uint64_t last_ticket;
    uint32_t pass; /* what is marked with it is blocked */
    bool stopped;  /* some entry holds back everything behind it */
    bool kept;     /* a promise was kept during this pass */
    size_t limit;
    uint64_t timeout; /* nanoseconds; 0: none */
    uint64_t now;     /* the time that decisions use, if a recording has one; 0: the clock's */
};

void queue_init(struct queue *queue, size_t limit, uint64_t timeout);

/* Process the entry, or queue a copy of it (with its arrays; it owns references to its handles).
 * The entry may be on the stack. Returns the ticket of a pending op that was queued, else 0. */
uint64_t queue_submit(struct queue *queue, struct detector *detector, struct entry *entry);

/* Give a pending op its access set (copied). An unknown ticket has timed out: nothing happens. */
void queue_resolve(struct queue *queue, struct detector *detector, uint64_t ticket,
                   enum csan_level level, const struct csan_access *accesses, size_t count);

/* The ticket of the oldest op that waits for its access set; 0: none does. */
uint64_t queue_first_ticket(const struct queue *queue);

/* Decides everything now: ops with their fallbacks, and joins without the promises that nobody
 * kept. */
void queue_drain(struct queue *queue, struct detector *detector);

void snapshot_handle_release(struct csan_snapshot *snapshot);

#endif
