/* Two batches: one is filled while the other is worked off. csan's thread looks now and then while
 * the program launches, for to be woken costs the program more than a launch's share; only after a
 * while without any it sleeps until the next. See backlog.h. */
#include "runtime/hook/backlog.h"
#include "csan/context.h"
#include "runtime/hook/guard.h"
#include "runtime/hook/operation.h"
#include "runtime/hook/own.h"
#include "runtime/hook/process.h"
#include "runtime/hook/stream.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

enum {
    BATCH_BYTES = 65536,
    ALIGNMENT = 16,
    NAP_US = 20,
    NAPS = 100,   /* without anything to do, before it sleeps */
    SPINS = 2000, /* of those who wait for another's work, before they sleep: some 50 us */
};

struct batch {
    size_t used;
    uint32_t count;
    _Alignas(64) unsigned char room[BATCH_BYTES];
};

static struct {
    pthread_mutex_t turn;   /* of one thread to work; taken before the other */
    pthread_mutex_t mutex;  /* of the batch that is filled */
    pthread_cond_t filling; /* for csan's thread, if it sleeps */
    bool started, asleep;   /* that thread */
    unsigned filled;        /* which batch that is */
    struct batch batches[2];
    uint64_t done;    /* pieces; atomic */
    void *push, *pop; /* cuCtxPushCurrent, cuCtxPopCurrent */
} backlog = {.turn = PTHREAD_MUTEX_INITIALIZER,
             .mutex = PTHREAD_MUTEX_INITIALIZER,
             .filling = PTHREAD_COND_INITIALIZER};

uint32_t backlog_count;

static __thread bool works __attribute__((tls_model("initial-exec")));

/* ---- Working off ---- */

/* Default streams and variables are those of the context that was current. True: it was pushed. */
static bool context_enter(CUcontext context)
{
    PFN_cuCtxPushCurrent_v4000 push =
        (PFN_cuCtxPushCurrent_v4000)driver_function_cached(&backlog.push, "cuCtxPushCurrent_v2");
    return context && push && push(context) == CUDA_SUCCESS;
}

static void context_leave(void)
{
    CUcontext popped;
    PFN_cuCtxPopCurrent_v4000 pop =
        (PFN_cuCtxPopCurrent_v4000)driver_function_cached(&backlog.pop, "cuCtxPopCurrent_v2");
    if (pop)
        pop(&popped);
}

/* As if each thread's pieces were worked off in a thread of their own. */
static void batch_work_off(const struct batch *batch)
{
    struct operators *own_operators = operation_act_for(NULL);
    const uint32_t ignored = context_ignore_swap(0);
    CUcontext current = stream_current_context();
    bool entered = false;
    for (size_t at = 0; at < batch->used;) {
        const struct backlog_piece *piece = (const struct backlog_piece *)(batch->room + at);
        if (piece->context && piece->context != current) {
            if (entered)
                context_leave();
            entered = context_enter(piece->context);
            current = piece->context;
        }
        piece->work(piece);
        at += piece->bytes;
    }
    if (entered)
        context_leave();
    context_ignore_swap(ignored);
    operation_act_for(own_operators);
}

/* What was put off so far; NULL: nothing. */
static struct batch *batch_take(void)
{
    guard_lock_object(&backlog.mutex);
    struct batch *batch = &backlog.batches[backlog.filled];
    if (batch->count)
        backlog.filled = !backlog.filled;
    else
        batch = NULL; /* another thread was faster */
    guard_unlock_object(&backlog.mutex);
    return batch;
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
    for (unsigned i = 0; i < SPINS; i++) {
        if (pthread_mutex_trylock(&backlog.turn) == 0)
            return;
        for (unsigned k = 0; k < 8; k++)
            wait_a_little();
    }
    pthread_mutex_lock(&backlog.turn);
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = NAP_US * 1000L}, NULL);
}

/* That it does what is there now; it may do more before this looks. */
static void wait_for_thread(void)
{
    const uint32_t count = __atomic_load_n(&backlog_count, __ATOMIC_ACQUIRE);
    const uint64_t until = __atomic_load_n(&backlog.done, __ATOMIC_ACQUIRE) + count;
    while (__atomic_load_n(&backlog_count, __ATOMIC_ACQUIRE) != 0 &&
           __atomic_load_n(&backlog.done, __ATOMIC_ACQUIRE) < until)
        nap();
}

void backlog_work_off_slow(void)
{
    if (works)
        return;
    if (guard_self.hosted) {
        wait_for_thread();
        return;
    }
    take_turn();
    works = true;
    struct batch *batch = batch_take();
    if (batch) {
        batch_work_off(batch);
        __atomic_fetch_add(&backlog.done, batch->count, __ATOMIC_RELEASE);
        __atomic_fetch_sub(&backlog_count, batch->count, __ATOMIC_RELEASE);
        batch->used = batch->count = 0;
    }
    works = false;
    guard_unlock_object(&backlog.turn);
}

/* ---- csan's thread ---- */

static void sleep_until_filled(void)
{
    guard_lock_object(&backlog.mutex);
    backlog.asleep = true;
    while (!backlog.batches[backlog.filled].count)
        pthread_cond_wait(&backlog.filling, &backlog.mutex);
    backlog.asleep = false;
    guard_unlock_object(&backlog.mutex);
}

static void *attend(void *unused)
{
    unsigned naps = 0;
    prctl(PR_SET_TIMERSLACK, 1000UL); /* ns */
    for (;;) {
        if (__atomic_load_n(&backlog_count, __ATOMIC_RELAXED)) {
            backlog_work_off_slow();
            naps = 0;
        } else if (naps == NAPS) {
            sleep_until_filled();
        }
        nap();
        naps++;
    }
    return unused;
}

/* ---- Filling ---- */

static size_t rounded(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static bool has_room(const struct batch *batch, size_t bytes)
{
    return batch->count < process_puts_off() && bytes <= sizeof batch->room - batch->used;
}

/* With the backlog locked. Where there can be no thread, nothing is put off. */
static bool is_attended(void)
{
    if (!backlog.started && !(backlog.started = own_thread_start(attend)))
        process_puts_nothing_off();
    return backlog.started;
}

struct backlog_piece *backlog_begin(size_t bytes)
{
    bytes = rounded(bytes);
    if (!process_puts_off() || bytes > BACKLOG_PIECE_MAX || works || context_ignores())
        return NULL;
    guard_lock_object(&backlog.mutex);
    struct batch *batch = &backlog.batches[backlog.filled];
    if (is_attended() && has_room(batch, bytes)) {
        struct backlog_piece *piece = (struct backlog_piece *)(batch->room + batch->used);
        piece->bytes = bytes;
        return piece;
    }
    guard_unlock_object(&backlog.mutex);
    return NULL;
}

void backlog_end(struct backlog_piece *piece)
{
    struct batch *batch = &backlog.batches[backlog.filled];
    batch->used += piece->bytes;
    batch->count++;
    __atomic_fetch_add(&backlog_count, 1, __ATOMIC_RELEASE);
    if (backlog.asleep)
        pthread_cond_signal(&backlog.filling);
    guard_unlock_object(&backlog.mutex);
}
