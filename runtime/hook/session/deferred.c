/* Deferred work, in two batches: one is filled while the other is processed. csan's thread looks
 * for work now and then while the program launches, because to wake a thread costs the program more
 * than a launch's share. Only after a while without work it sleeps until there is some. See
 * deferred.h. */
#include "runtime/hook/session/deferred.h"
#include "csan/detector/context.h"
#include "csan/detector/named_range.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/nap.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

enum {
    BATCH_BYTES = 256 << 10,
    ALIGNMENT = 16,
    LINE = 64,      /* of the processor's caches */
    NEAR_LINES = 6, /* a launch and a block */
    WAIT_US = 60,   /* of those who wait for csan's thread, between two looks */
    SPINS = 2000,   /* of those who wait for another's work, before they sleep: some 50 us */
};

struct batch {
    _Alignas(LINE) unsigned char room[BATCH_BYTES];
};

/* What is processed of one. */
struct taken {
    const struct batch *batch;
    uint32_t used, count;
};

static struct {
    uint32_t limit; /* if it is not paused; atomic */
    bool paused;    /* atomic */
    const struct deferred_face *face;
    /* Written with each batch: in other lines than what each launch reads. */
    _Alignas(LINE) pthread_mutex_t turn; /* of one thread to work; taken before the other */
    pthread_cond_t filling;              /* for csan's thread, if it sleeps */
    uint64_t all;                        /* pieces processed so far; atomic */
    uint64_t within; /* of those, how many by the program's own threads; atomic */
    bool large;      /* the newest batch was half full or more; atomic */
    struct nap nap;  /* of csan's thread */
    struct batch batches[2];
} deferred = {.turn = PTHREAD_MUTEX_INITIALIZER, .filling = PTHREAD_COND_INITIALIZER};

struct deferred_filling deferred_filling = {.mutex = PTHREAD_MUTEX_INITIALIZER};
_Alignas(LINE) uint32_t deferred_done;

static __thread bool works __attribute__((tls_model("initial-exec")));

/* ---- Whether ---- */

void deferred_start(const struct deferred_face *face, uint32_t limit)
{
    deferred.face = face;
    __atomic_store_n(&deferred.limit, limit, __ATOMIC_RELAXED);
}

uint32_t deferred_limit(void)
{
    return __atomic_load_n(&deferred.paused, __ATOMIC_RELAXED)
               ? 0
               : __atomic_load_n(&deferred.limit, __ATOMIC_RELAXED);
}

void deferred_disable(void)
{
    __atomic_store_n(&deferred.limit, 0, __ATOMIC_RELAXED);
}

void deferred_pause(void)
{
    __atomic_store_n(&deferred.paused, true, __ATOMIC_RELEASE);
}

void deferred_resume(void)
{
    __atomic_store_n(&deferred.paused, false, __ATOMIC_RELEASE);
}

/* ---- Working off ---- */

/* As if each thread's pieces were processed in a thread of their own. Default streams and
 * variables are those of the context that was current. */
static void batch_process(const struct taken *taken)
{
    const uint32_t ignored = context_ignore_swap(0);
    const struct range_actor actor = named_range_act((struct range_actor){.acts = true});
    struct CUctx_st *current = deferred.face->begin();
    for (size_t at = 0; at < taken->used;) {
        const struct deferred_piece *piece =
            (const struct deferred_piece *)(taken->batch->room + at);
        if (piece->context && piece->context != current) {
            deferred.face->context_is(piece->context);
            current = piece->context;
        }
        named_range_act((struct range_actor){.acts = true, .path = piece->ranges});
        piece->work(piece);
        range_path_release(piece->ranges);
        at += piece->bytes;
    }
    deferred.face->end();
    named_range_act(actor);
    context_ignore_swap(ignored);
}

/* The work deferred so far. */
static struct taken batch_take(void)
{
    struct deferred_filling *filling = &deferred_filling;
    guard_lock_object(LOCK_DEFERRED_FILLING, &filling->mutex);
    const struct taken taken = {&deferred.batches[filling->batch], filling->used, filling->count};
    filling->batch = !filling->batch;
    filling->used = filling->count = 0;
    guard_unlock_object(LOCK_DEFERRED_FILLING, &filling->mutex);
    return taken;
}

static void wait_a_little(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Another's work is done within microseconds, unless its thread has no processor. */
static void take_turn(void)
{
    guard_self.locked++;
    lock_order_begin(LOCK_DEFERRED_TURN);
    for (unsigned i = 0; i < SPINS; i++) {
        if (pthread_mutex_trylock(&deferred.turn) == 0)
            return;
        for (unsigned k = 0; k < 8; k++)
            wait_a_little();
    }
    pthread_mutex_lock(&deferred.turn);
}

/* That it does what is there now; it may do more before this looks. */
static void wait_for_thread(void)
{
    const uint32_t until = __atomic_load_n(&deferred_filling.put, __ATOMIC_ACQUIRE);
    while ((int32_t)(__atomic_load_n(&deferred_done, __ATOMIC_ACQUIRE) - until) < 0) {
        nap_end(&deferred.nap);
        nanosleep(&(struct timespec){.tv_nsec = WAIT_US * 1000}, NULL);
    }
}

/* csan's thread, for which there is always a next time. */
static bool take_turn_if_free(void)
{
    guard_self.locked++;
    if (pthread_mutex_trylock(&deferred.turn) == 0) {
        lock_order_begin(LOCK_DEFERRED_TURN);
        return true;
    }
    guard_self.locked--;
    return false;
}

/* With the turn, which it gives back. */
static void process_newest(bool beside)
{
    works = true;
    const struct taken taken = batch_take();
    batch_process(&taken);
    __atomic_store_n(&deferred_done, deferred_done + taken.count, __ATOMIC_RELEASE);
    __atomic_store_n(&deferred.all, deferred.all + taken.count, __ATOMIC_RELAXED);
    if (!beside)
        __atomic_store_n(&deferred.within, deferred.within + taken.count, __ATOMIC_RELAXED);
    __atomic_store_n(&deferred.large,
                     taken.used > BATCH_BYTES / 2 || taken.count > deferred_limit() / 2,
                     __ATOMIC_RELAXED);
    works = false;
    guard_unlock_object(LOCK_DEFERRED_TURN, &deferred.turn);
}

void deferred_flush_slow(void)
{
    if (works)
        return;
    if (guard_self.hosted) {
        wait_for_thread();
    } else {
        take_turn();
        process_newest(false);
    }
}

void deferred_counts(uint64_t *all, uint64_t *within)
{
    guard_lock_object(LOCK_DEFERRED_TURN, &deferred.turn);
    *all = deferred.all;
    *within = deferred.within;
    guard_unlock_object(LOCK_DEFERRED_TURN, &deferred.turn);
}

/* ---- csan's thread ---- */

static void sleep_until_filled(void)
{
    struct deferred_filling *filling = &deferred_filling;
    guard_lock_object(LOCK_DEFERRED_FILLING, &filling->mutex);
    filling->asleep = true;
    while (!filling->count)
        pthread_cond_wait(&deferred.filling, &filling->mutex);
    filling->asleep = false;
    guard_unlock_object(LOCK_DEFERRED_FILLING, &filling->mutex);
}

static void note_work(struct nap *nap)
{
    nap_worked(nap, __atomic_load_n(&deferred.all, __ATOMIC_RELAXED),
               __atomic_load_n(&deferred.within, __ATOMIC_RELAXED),
               __atomic_load_n(&deferred.large, __ATOMIC_RELAXED));
}

/* With SCHED_BATCH a thread that wakes does not take the processor from one that runs (sched(7)).
 * The program's thread would lose it for as long as a batch takes. */
static void make_way(void)
{
    const struct sched_param none = {0};
    pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);
}

static void *attend(void *unused)
{
    struct nap *nap = &deferred.nap;
    prctl(PR_SET_TIMERSLACK, 1000UL); /* ns */
    make_way();
    for (;;) {
        if (!deferred_is_empty()) {
            if (take_turn_if_free())
                process_newest(true);
            note_work(nap);
        } else if (!nap_without_work(nap)) {
            sleep_until_filled();
            nap_woken(nap); /* others may have processed since what woke it */
        }
        nap_take(nap);
    }
    return unused;
}

/* ---- Filling ---- */

static size_t rounded(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static bool has_room(const struct deferred_filling *filling, size_t bytes)
{
    return filling->count < deferred_limit() && bytes <= BATCH_BYTES - filling->used;
}

/* With the deferred work locked. If there can be no thread, nothing is deferred. */
static bool is_attended(struct deferred_filling *filling)
{
    if (!filling->started) {
        const bool started = deferred.face->thread_start(attend);
        __atomic_store_n(&filling->started, started, __ATOMIC_RELEASE);
        if (!started)
            deferred_disable();
    }
    return filling->started;
}

static void prefetch_room(const struct deferred_filling *filling)
{
    const unsigned char *next = deferred.batches[filling->batch].room + filling->used;
    for (unsigned i = 0; i < NEAR_LINES; i++)
        __builtin_prefetch(next + (size_t)i * LINE, 1);
}

void deferred_prefetch(void)
{
    __builtin_prefetch(&deferred_filling, 1);
}

struct deferred_piece *deferred_begin(size_t bytes)
{
    struct deferred_filling *filling = &deferred_filling;
    bytes = rounded(bytes);
    if (!deferred_limit() || bytes > DEFERRED_PIECE_MAX || works || context_ignores())
        return NULL;
    if (!__atomic_load_n(&filling->started, __ATOMIC_ACQUIRE))
        deferred.face->symbols_find();
    guard_lock_object(LOCK_DEFERRED_FILLING, &filling->mutex);
    if (is_attended(filling) && has_room(filling, bytes)) {
        unsigned char *room = deferred.batches[filling->batch].room + filling->used;
        struct deferred_piece *piece = (struct deferred_piece *)room;
        piece->bytes = bytes;
        return piece;
    }
    guard_unlock_object(LOCK_DEFERRED_FILLING, &filling->mutex);
    return NULL;
}

void deferred_end(struct deferred_piece *piece)
{
    struct deferred_filling *filling = &deferred_filling;
    piece->ranges = range_path_share(named_range_now());
    filling->used += (uint32_t)piece->bytes;
    filling->count++;
    __atomic_store_n(&filling->put, filling->put + 1, __ATOMIC_RELEASE);
    if (filling->asleep)
        pthread_cond_signal(&deferred.filling);
    prefetch_room(filling);
    guard_unlock_object(LOCK_DEFERRED_FILLING, &filling->mutex);
}
