/* Work that the hooks defer: a thread of csan's own derives what a launch touches and enqueues it
 * in the detector, beside the program. csan's part of a launch is 25 KiB of code and 20 KiB of
 * data. If the hook did it, a framework's launch would wait for that, and then for its own code and
 * data, which csan's would have evicted from the processor's caches.
 *
 * Only the moment of a report shows this. Every other call of the program that csan sees first
 * flushes the work deferred before it (guard_enter), in the order in which it came. */
#ifndef RUNTIME_HOOK_SESSION_DEFERRED_H
#define RUNTIME_HOOK_SESSION_DEFERRED_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct CUctx_st; /* what a CUcontext points to */

/* The head of a deferred piece; the caller's own data follow. It holds no references: code that
 * releases an object named here flushes first. */
struct deferred_piece {
    void (*work)(const struct deferred_piece *piece); /* within a hook, without locks of hooks */
    struct CUctx_st *context;                         /* current while it works; NULL: any */
    size_t bytes;                                     /* for deferred.c */
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
    /* The next piece was deferred while that context was current. */
    void (*context_is)(struct CUctx_st *context);
};
/* Called once the life cycle knows how many launches and blocks may be deferred; 0: none. */
void deferred_start(const struct deferred_face *face, uint32_t limit);
/* How many may be; they may become none at any time. */
uint32_t deferred_limit(void);
void deferred_disable(void);

/* Room for so many bytes, to be filled until deferred_end, with the deferred work locked. NULL,
 * without the lock: nothing is deferred, or not so much. Within a hook, without locks of hooks. */
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

/* Flushes all work deferred before the call, by any thread. It does nothing on a thread that is
 * flushing. Within a hook, without locks of hooks. Within a host function csan's thread is waited
 * for: the function must not call the driver (CUDA Driver API, cuLaunchHostFunc). */
void deferred_flush_slow(void);
static inline void deferred_flush(void)
{
    if (__builtin_expect(!deferred_is_empty(), 0))
        deferred_flush_slow();
}

/* Pieces that were worked off, and those of them that the program's threads did; on any thread. */
void deferred_counts(uint64_t *all, uint64_t *within);

#endif
