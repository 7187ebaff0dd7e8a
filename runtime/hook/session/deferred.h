/* What the hooks put off: what a launch touches is worked out, and told to the detector, by a
 * thread of csan's beside the program. csan's part of a launch is 25 KiB of code and 20 KiB of
 * data: within the hook a framework's launch waits for them, and then for its own that they drove
 * out of the processor's caches.
 *
 * Nothing is seen of that but when a race is reported: whatever else the program does that csan
 * knows of waits for what was put off before it (guard_enter), which is done in the order in which
 * it came. */
#ifndef RUNTIME_HOOK_SESSION_DEFERRED_H
#define RUNTIME_HOOK_SESSION_DEFERRED_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct CUctx_st; /* what a CUcontext points to */

/* The beginning of what is put off; the caller's own follows. It holds no references: who lets go
 * of what it names works off first. */
struct deferred_piece {
    void (*work)(const struct deferred_piece *piece); /* within a hook, without locks of hooks */
    struct CUctx_st *context;                         /* current while it works; NULL: any */
    size_t bytes;                                     /* the backlog's own */
    struct range_path *ranges; /* ... that are open in the thread; counted, or NULL */
};

enum { DEFERRED_PIECE_MAX = 8192 };

/* What working off needs of the driver and of the hooks. */
struct deferred_face {
    bool (*thread_start)(void *(*run)(void *));
    /* Finds all that work asks the driver, before there is any: dlsym takes the loader's lock, and
     * who holds that, in a constructor, may wait for the work. */
    void (*symbols_find)(void);
    /* Around a batch, on the thread that works it off: as in a thread of its own, without operators
     * that run. Returns the context that is current. */
    struct CUctx_st *(*begin)(void);
    void (*end)(void);
    /* What is worked off next was put off where that context was current. */
    void (*context_is)(struct CUctx_st *context);
};
/* Once the life cycle knows how many launches and blocks may be put off; 0: none. */
void deferred_start(const struct deferred_face *face, uint32_t limit);
/* How many may be; they may become none at any time. */
uint32_t deferred_limit(void);
void deferred_disable(void);

/* Room for so many bytes, to be filled until deferred_end, with the backlog locked; NULL without
 * it: nothing is put off, or not so much. Within a hook, without locks of hooks. */
struct deferred_piece *deferred_begin(size_t bytes);
void deferred_end(struct deferred_piece *piece);

/* Brings near what those write. */
void deferred_prefetch(void);

/* The batch that is filled: all that who puts a piece off writes but the piece, in one cache line.
 * The other cores' caches have it whenever csan's thread looked. */
extern struct deferred_filling {
    _Alignas(64) uint32_t put; /* pieces since the program began; atomic */
    uint32_t used, count;      /* bytes and pieces of the batch */
    uint8_t batch;             /* which it is */
    bool started, asleep;      /* csan's thread */
    pthread_mutex_t mutex;     /* of all this */
} deferred_filling;

/* Pieces that were worked off since the program began; atomic. */
extern uint32_t deferred_done;

static inline bool deferred_is_empty(void)
{
    const uint32_t put = __atomic_load_n(&deferred_filling.put, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&deferred_done, __ATOMIC_ACQUIRE) == put;
}

/* What was put off before the call, whoever did, is worked off at its return; nothing when that is
 * what the calling thread is at. Within a hook, without locks of hooks. Within a host function
 * csan's thread is waited for: the function must not call the driver (CUDA Driver API,
 * cuLaunchHostFunc). */
void deferred_flush_slow(void);
static inline void deferred_flush(void)
{
    if (__builtin_expect(!deferred_is_empty(), 0))
        deferred_flush_slow();
}

/* Pieces that were worked off, and those of them that the program's threads did; on any thread. */
void deferred_counts(uint64_t *all, uint64_t *within);

#endif
