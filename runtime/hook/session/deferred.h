/* Work that the hooks defer. A thread of csan's own finds out what a launch touches and enqueues it
 * in the detector, beside the program. csan's part of a launch is 25 KiB of code and 20 KiB of
 * data. If the hook did it, a framework's launch would wait for it, and then again for its own code
 * and data, which csan's would have evicted from the processor's caches.
 *
 * The program can notice it only by the moment of a report. Every other call that csan sees first
 * flushes the work that was deferred before it (guard_enter), in the order in which it came. */
#ifndef RUNTIME_HOOK_SESSION_DEFERRED_H
#define RUNTIME_HOOK_SESSION_DEFERRED_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct CUctx_st; /* what a CUcontext points to */

/* The head of a deferred piece; the caller's own data follow. It holds no references. So code that
 * releases an object that a piece names flushes first. */
struct deferred_piece {
    void (*work)(const struct deferred_piece *piece); /* within a hook, without locks of hooks */
    struct CUctx_st *context;                         /* current while it works; NULL: any */
    size_t bytes;                                     /* for deferred.c */
    struct range_path *ranges; /* named ranges that are open in the thread; counted, or NULL */
};

enum { DEFERRED_PIECE_MAX = 8192 };

/* What processing needs of the driver and of the hooks. */
struct deferred_face {
    bool (*thread_start)(void *(*run)(void *));
    /* Looks up the driver's functions that processing will call, before there is any work. dlsym
     * takes the loader's lock. A thread that holds that lock, in a constructor, may wait for the
     * work. */
    void (*symbols_find)(void);
    /* Called around a batch, on the thread that processes it: it acts as a thread of its own,
     * without running operators. Returns the context that is current. */
    struct CUctx_st *(*begin)(void);
    void (*end)(void);
    /* The next piece was deferred while that context was current. */
    void (*context_is)(struct CUctx_st *context);
};
/* Call it once it is known how many launches and blocks may be deferred; 0: none. */
void deferred_start(const struct deferred_face *face, uint32_t limit);
/* How many may be deferred; this may become 0 at any time. */
uint32_t deferred_limit(void);
/* For good. */
void deferred_disable(void);
/* Until it is resumed nothing more is deferred, also if it is paused before deferred_start. What
 * was deferred before is not flushed. Any thread. */
void deferred_pause(void);
void deferred_resume(void);

/* Returns room for so many bytes, to be filled until deferred_end, with the deferred work locked.
 * NULL, without the lock: nothing is deferred, or not so many bytes. Within a hook, without locks
 * of hooks. */
struct deferred_piece *deferred_begin(size_t bytes);
void deferred_end(struct deferred_piece *piece);

/* Brings near what those write. */
void deferred_prefetch(void);

/* The batch that is being filled. A thread that defers a piece writes only this cache line and the
 * piece. csan's thread takes the line to another core's cache whenever it looks. */
extern struct deferred_filling {
    _Alignas(64) uint32_t put; /* pieces since the program began; atomic */
    uint32_t used, count;      /* bytes and pieces of the batch */
    uint8_t batch;             /* which it is */
    bool started, asleep;      /* csan's thread */
    pthread_mutex_t mutex;     /* of all this */
} deferred_filling;

/* Pieces that were processed since the program began; atomic. */
extern uint32_t deferred_done;

static inline bool deferred_is_empty(void)
{
    const uint32_t put = __atomic_load_n(&deferred_filling.put, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&deferred_done, __ATOMIC_ACQUIRE) == put;
}

/* Flushes all work deferred before the call, by any thread. Does nothing on a thread that is
 * flushing. Within a hook, without locks of hooks. Within a host function it waits for csan's
 * thread, because the function must not call the driver (CUDA Driver API, cuLaunchHostFunc). */
void deferred_flush_slow(void);
static inline void deferred_flush(void)
{
    if (__builtin_expect(!deferred_is_empty(), 0))
        deferred_flush_slow();
}

/* How many pieces were processed, and how many of them by the program's threads. On any thread. */
void deferred_counts(uint64_t *all, uint64_t *within);

#endif
