/* What the files of operators from summaries share. Only they include this.
 *
 *   operator_summary_state.c     the summaries, their lock, the calling thread
 *   operator_summary_rest.c      when operators rest and wake
 *   operator_summary_key.c       a launch's key, and how accesses relate to its pointers
 *   operator_summary_answer.c    what a summary answers
 *   operator_summary_repeated.c  launches that were answered, and are made again
 *   operator_summary.c           launches of operators, and their frames
 *   operator_summary_notes.c     the notes at the end */
#ifndef RUNTIME_HOOK_OPERATOR_OPERATOR_SUMMARY_STATE_H
#define RUNTIME_HOOK_OPERATOR_OPERATOR_SUMMARY_STATE_H

#include "csan/base/range_map.h"
#include "runtime/hook/operator/operator_summary.h"
#include "runtime/learn/summary_file.h"

#include <pthread.h>

enum { SAID_MOST = 20, BRIEF_BYTES = 128 };

enum state { FOLLOWED, RESTING, WAKING };

/* A kernel with launches that were not known. Texts live as long as the process. */
enum { NEWEST = 12, NEWEST_DROPPED = SUMMARY_UNSTEADY + 1 };
struct newest {
    const char *kernel, *what;
    uint64_t count, at; /* `at`: launches added before the newest one */
    uint8_t state;      /* that it was in: enum summary_state; or NEWEST_DROPPED */
};

/* The newest work on memory that the host shares: after how many launches, and where. */
struct newest_shared {
    uint64_t added, base, bytes;
};

extern struct operator_summary_own {
    pthread_once_t once;
    pthread_mutex_t mutex;        /* of all that is not atomic */
    bool begun, wanted, verifies; /* `begun`: atomic: `wanted` is known */
    const struct csan_operator_source *source;
    struct summaries *summaries;
    struct learn_program program;
    uint64_t process; /* a number that no other process has */
    bool identified, began_resting;
    struct summary_program noted;
    struct newest newest[NEWEST];
    /* For the summary. */
    uint64_t added, answered, unanswered, unreached, several, compared, narrower, rests, first_rest,
        unnamed, repeated, shared, shared_waits, capture_waits, spoiled, shifted;
    struct newest_shared newest_shared;
} operator_summary_own __attribute__((visibility("hidden")));

/* The thread's launch, and those of the operators that run. */
struct thread {
    const struct learning *launch; /* NULL: none, or of an unknown key */
    struct kernel *kernel;
    struct repeated *repeated; /* the launch, made again; NULL: it is not */
    bool repeated_applied;     /* its answer was taken; it is counted at its end */
    uint64_t passed_hash;      /* of what was passed, unless it is 0: without what is not read, */
    struct learning_passed
        passed;           /* at rest, of a launch that is not repeated: in `passed_room`, */
    uint8_t *passed_room; /* and behind it room for as many marks; bytes 0: none */
    size_t passed_capacity;
    bool asked;     /* between operator_summary_begin and _end */
    bool skips;     /* this outermost operator's launches are not compared */
    uint32_t turns; /* of operators that might be skipped */
    struct summary_key key;
    uint32_t *words;   /* two for each eight bytes of the parameters, */
    uint16_t *anchors; /* of which this pointer is there, plus one; 0: none */
    uint32_t slots, slot_room;
    struct range stack; /* end 0: not known yet */
    struct summary_access *accesses;
    size_t access_room;
    uint8_t *loose; /* of each slot */
    size_t loose_room;
    uint8_t *reached, *noted; /* bytes; of frames, one behind the other */
    size_t reached_count, reached_room, noted_bytes, noted_room;
};

/* The calling thread; NULL: operator_summary_thread was not called on it yet. */
extern __thread struct thread *operator_summary_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* ---- operator_summary_state.c ---- */

/* The calling thread, made if need be; NULL: memory is short, or there are no summaries. */
struct thread *operator_summary_thread(void);
void operator_summary_lock(void);
void operator_summary_unlock(void);
/* `room` with space for `wanted` items; NULL: memory is short, and `room` stays. */
void *operator_summary_grown(void *room, size_t *capacity, size_t wanted, size_t each);

/* ---- operator_summary_rest.c ---- */

/* enum state. */
uint8_t operator_summary_state(void);
/* The source asks for operators once more; from the first that begins they are followed.
 * `reason` NULL: for memory that the host shares, which is not worth a line. */
void operator_summary_wake(const char *reason);
/* The same after an op, in which a race may have been found that waits for operators. */
void operator_summary_wake_for_report(void);
/* An operator begins: they are followed if they were asked for. */
void operator_summary_woken(void);
/* A launch had a summary. From time to time operators are looked at again. */
void operator_summary_answered(void);
/* A launch has no summary. */
void operator_summary_unanswered(void);
/* Whether the operator that begins outermost may go without being compared: all is known and yet
 * they do not rest, or they have not come to rest for long. */
bool operator_summary_may_skip(void);
/* No operator runs on the thread: operators rest if the newest launches were known. */
void operator_summary_rest_if_known(void);
/* Whether the host may touch one of them, too. */
bool operator_summary_any_shared(struct operator_summary_list list);

/* ---- operator_summary_key.c ---- */

/* Completes the thread's key: which of its pointers lead into the same block. With the lock. */
void operator_summary_pointers_relate(struct thread *thread);
/* The pointer that so many eight bytes of the parameters hold; NULL: they hold none. */
const struct learn_anchor *operator_summary_anchor_of(const struct thread *thread, uint32_t slot);
/* The pointer into the access's memory: the one to its base, else the next before it, else any. -1:
 * there is none. */
int operator_summary_pointer_of(const struct learning *launch, const struct csan_access *access);
/* The access from the pointer in that slot, which is `address`; and back. */
void operator_summary_relate(const struct csan_access *access, uint64_t address, uint32_t slot,
                             struct summary_access *to);
void operator_summary_place(const struct summary_access *access, const struct learn_anchor *anchor,
                            struct csan_access *to, struct csan_dim *dims);
/* Of each slot, whether it is loose: its pointer leads into a block that none of these accesses is
 * in, or nobody set it, and a pointer may be there another time. False: memory is short. */
bool operator_summary_loose(struct thread *thread, const struct summary_access *accesses,
                            uint32_t count);

/* ---- operator_summary_notes.c ---- */

/* A kernel's name without template arguments and parameters, in BRIEF_BYTES. */
void operator_summary_brief(const char *name, char *brief);

/* ---- operator_summary_repeated.c ---- */

/* At rest: whether a launch was answered before of which only what was passed is known: where the
 * program has it, or a copy without what the kernel does not read. Sets the thread's `repeated`. */
void operator_summary_repeated_find_passed(struct thread *thread, CUfunction function,
                                           const struct launch_accesses_launch *what);
void operator_summary_repeated_find(struct thread *thread, const struct learning *launch);
/* Keeps the answer that the thread's launch got, which is KNOWN. With the lock. */
void operator_summary_repeated_keep(struct thread *thread, const struct summary_found *found,
                                    const struct launch_accesses_touched *touched);
/* What the thread's `repeated` touches. Sets who names it, or NULL. False: memory is short. */
bool operator_summary_repeated_apply(struct thread *thread, struct launch_accesses_touched *touched,
                                     const struct csan_operator **what);
void operator_summary_repeated_end(struct thread *thread);

/* ---- operator_summary_answer.c ---- */

/* Whether that is what the launch touches. */
bool operator_summary_is_answer(struct thread *thread, const struct summary_found *found);

#endif
