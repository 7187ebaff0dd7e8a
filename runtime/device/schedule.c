/* Which piece of legal work runs next, and when. All of it is decided here, at entries to the API
 * on the calling thread, so that one host thread and one seed give the same run every time:
 *
 *   eager    everything runs when it is enqueued, oldest first
 *   lazy     nothing runs until a synchronization asks for it, and then only what it asks for,
 *            newest streams first; a query makes one step
 *   random   at every entry a coin says whether a random legal item makes a step, and again
 *
 * CSAN_SCHEDULE chooses: eager, lazy, random or random:SEED; without it random:1. A thread of its
 * own makes progress only while the program calls nothing for a while (it waits for the device by
 * looking at memory). An item that takes many steps, a kernel that spins, lets the others pass. */
#include "driver.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    FAIR_SLICES = 64,   /* after so many steps an item lets others pass */
    EAGER_STEPS = 4096, /* steps that one entry makes at most under eager */
    EAGER_SPINS = 64,   /* of which so many in a row without progress */
    RANDOM_STEPS = 16,  /* and under random */
    IDLE_NANOSECONDS = 20 * 1000 * 1000,
    LAZY_IDLE_NANOSECONDS = 50 * 1000 * 1000,
    NAP_NANOSECONDS = 2 * 1000 * 1000,
    SLICE = 8192, /* warp instructions of one step of a kernel */
};

/* ---- Random numbers: splitmix64, the same everywhere ------------------------------------------
 */

static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static bool coin(uint64_t *state)
{
    return random_next(state) >> 63;
}

/* ---- Goals --------------------------------------------------------------------------------- */

struct goal goal_mark(struct mark *mark)
{
    return (struct goal){.mark = mark};
}

struct goal goal_stream(struct CUstream_st *stream)
{
    if (stream->legacy)
        return (struct goal){.stream = stream, .sequence = device.schedule.sequence};
    return (struct goal){.stream = stream, .sequence = stream->last};
}

struct goal goal_context(struct CUctx_st *context)
{
    return (struct goal){.context = context, .sequence = device.schedule.sequence};
}

/* Does waiting for the goal include waiting for this stream? */
static bool goal_covers(const struct goal *goal, const struct CUstream_st *stream)
{
    if (goal->context)
        return stream->context == goal->context;
    if (!goal->stream)
        return false;
    if (goal->stream->legacy && stream->context == goal->stream->context)
        return stream_is_blocking(stream);
    return stream == goal->stream;
}

bool schedule_reached(const struct goal *goal)
{
    if (goal->mark)
        return goal->mark->done;
    if (goal->stream && !goal->stream->legacy)
        return queue_drained(goal->stream, goal->sequence);
    for (struct CUstream_st *stream = device.busy; stream; stream = stream->busy_next)
        if (goal_covers(goal, stream) && !queue_drained(stream, goal->sequence))
            return false;
    return true;
}

/* ---- Choosing ------------------------------------------------------------------------------ */

/* The queue whose head must run first so that `stream` is done up to `sequence`; NULL when that is
 * being run by another thread. Every step goes to an older item, so this ends. */
static struct CUstream_st *blocker(struct CUstream_st *stream, uint64_t sequence)
{
    while (stream && !queue_drained(stream, sequence)) {
        struct item *head = stream->head;
        if (head->running)
            return NULL;
        if (queue_ready(stream))
            return stream;
        if (head->wait && !head->wait->done) {
            sequence = head->wait->sequence;
            stream = head->wait->queue;
            continue;
        }
        sequence = head->sequence - 1;
        if (!stream->legacy) {
            stream = stream->context->legacy;
            continue;
        }
        struct CUstream_st *other = device.busy;
        while (other == stream || other->context != stream->context || !stream_is_blocking(other) ||
               queue_drained(other, sequence))
            other = other->busy_next;
        stream = other;
    }
    return NULL;
}

static struct CUstream_st *pick_needed(const struct goal *goal)
{
    if (goal->mark)
        return blocker(goal->mark->queue, goal->mark->sequence);
    if (goal->stream && !goal->stream->legacy)
        return blocker(goal->stream, goal->sequence);
    /* Of several streams, the one that got work last. */
    for (struct CUstream_st *stream = device.busy_last; stream; stream = stream->busy_previous) {
        if (!goal_covers(goal, stream) || queue_drained(stream, goal->sequence))
            continue;
        struct CUstream_st *found = blocker(stream, goal->sequence);
        if (found)
            return found;
    }
    return NULL;
}

/* The oldest ready item among those that made the fewest rounds of steps. */
static struct CUstream_st *pick_oldest(void)
{
    struct CUstream_st *best = NULL;
    for (struct CUstream_st *stream = device.busy; stream; stream = stream->busy_next) {
        if (!queue_ready(stream))
            continue;
        uint64_t rounds = stream->head->slices / FAIR_SLICES;
        uint64_t best_rounds = best ? best->head->slices / FAIR_SLICES : 0;
        if (!best || rounds < best_rounds ||
            (rounds == best_rounds && stream->head->sequence < best->head->sequence))
            best = stream;
    }
    return best;
}

static struct CUstream_st *pick_random(uint64_t *state)
{
    uint64_t ready = 0;
    for (struct CUstream_st *stream = device.busy; stream; stream = stream->busy_next)
        ready += queue_ready(stream);
    if (!ready)
        return NULL;
    uint64_t wanted = random_next(state) % ready;
    struct CUstream_st *chosen = device.busy;
    while (!queue_ready(chosen) || wanted-- != 0)
        chosen = chosen->busy_next;
    return chosen;
}

static struct CUstream_st *pick(const struct goal *goal)
{
    if (!device.schedule.pending)
        return NULL;
    if (device.schedule.policy == POLICY_RANDOM)
        return pick_random(&device.schedule.random);
    struct CUstream_st *oldest = pick_oldest();
    if (device.schedule.policy == POLICY_EAGER)
        return oldest;
    struct CUstream_st *needed = pick_needed(goal);
    if (!needed || !oldest)
        return needed;
    /* What is needed may be spinning on something that only other work can change. */
    return needed->head->slices / FAIR_SLICES > oldest->head->slices / FAIR_SLICES ? oldest
                                                                                   : needed;
}

/* ---- Waiting ------------------------------------------------------------------------------- */

struct timespec schedule_deadline(uint64_t nanoseconds)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    nanoseconds += (uint64_t)time.tv_nsec;
    time.tv_sec += (time_t)(nanoseconds / 1000000000u);
    time.tv_nsec = (long)(nanoseconds % 1000000000u);
    return time;
}

/* Another thread runs what we wait for. Should that take long, help with anything there is: a host
 * function may be waiting for it. */
static void wait_elsewhere(void)
{
    struct timespec until = schedule_deadline(NAP_NANOSECONDS);
    if (pthread_cond_timedwait(&device.changed, &device.lock, &until) != ETIMEDOUT)
        return;
    struct CUstream_st *any = device.schedule.pending ? pick_oldest() : NULL;
    if (any)
        queue_step(any);
}

CUresult schedule_until(const struct goal *goal, struct CUctx_st *context)
{
    context->waiters++;
    if (goal->stream)
        goal->stream->waiters++;
    while (context->error == CUDA_SUCCESS && !schedule_reached(goal)) {
        struct CUstream_st *next = pick(goal);
        if (next)
            queue_step(next);
        else
            wait_elsewhere();
        device_breathe();
    }
    CUresult error = context->error;
    if (--context->waiters == 0)
        pthread_cond_broadcast(&device.changed);
    if (goal->stream) {
        goal->stream->waiters--;
        stream_release_if_drained(goal->stream);
    }
    return error;
}

/* Contexts may come and go while we wait: begin again after each. */
static struct CUctx_st *context_with_work(struct goal *goal, uint64_t sequence)
{
    for (struct CUctx_st *context = device.contexts; context; context = context->next) {
        *goal = (struct goal){.context = context, .sequence = sequence};
        if (context->error == CUDA_SUCCESS && !schedule_reached(goal))
            return context;
    }
    return NULL;
}

void schedule_all(void)
{
    struct goal goal;
    uint64_t sequence = device.schedule.sequence;
    for (struct CUctx_st *context; (context = context_with_work(&goal, sequence));)
        schedule_until(&goal, context);
}

/* Under random, slices of all sizes: from a few instructions, to interleave kernels finely, to a
 * whole small kernel. */
uint64_t schedule_budget(void)
{
    if (device.schedule.policy != POLICY_RANDOM)
        return SLICE;
    return UINT64_C(16) << random_next(&device.schedule.random) % 11;
}

/* ---- Acting -------------------------------------------------------------------------------- */

static void run_eagerly(void)
{
    struct CUstream_st *next;
    int spins = 0;
    for (int steps = 0; steps < EAGER_STEPS && device.schedule.pending; steps++) {
        if (!(next = pick_oldest()))
            break;
        /* When all that is left waits for the host, the host must get on. */
        spins = queue_step(next) == STEP_SPINNING ? spins + 1 : 0;
        if (spins > EAGER_SPINS)
            break;
    }
}

static void run_randomly(void)
{
    struct CUstream_st *next;
    for (int steps = 0; steps < RANDOM_STEPS && device.schedule.pending; steps++) {
        if (coin(&device.schedule.random) || !(next = pick_random(&device.schedule.random)))
            break;
        queue_step(next);
    }
}

void schedule_entry(void)
{
    if (!device.schedule.pending)
        return;
    if (device.schedule.policy == POLICY_EAGER)
        run_eagerly();
    else if (device.schedule.policy == POLICY_RANDOM)
        run_randomly();
}

void schedule_query(const struct goal *goal)
{
    if (device.schedule.policy != POLICY_LAZY || schedule_reached(goal))
        return;
    struct CUstream_st *next = pick(goal);
    if (next)
        queue_step(next);
}

/* ---- The idle worker ------------------------------------------------------------------------- */

static bool program_is_idle(void)
{
    uint64_t idle =
        device.schedule.policy == POLICY_LAZY ? LAZY_IDLE_NANOSECONDS : IDLE_NANOSECONDS;
    return !device.schedule.inside && device_nanoseconds() - device.schedule.last_call >= idle;
}

static void *worker(void *unused)
{
    (void)unused;
    device_lock();
    while (!atomic_load(&device.closing)) {
        struct CUstream_st *next = NULL;
        if (!device.schedule.pending) {
            pthread_cond_wait(&device.schedule.work, &device.lock);
            continue;
        }
        if (program_is_idle())
            next = device.schedule.policy == POLICY_RANDOM
                       ? pick_random(&device.schedule.idle_random)
                       : pick_oldest();
        if (next) {
            queue_step(next);
            device_breathe();
        } else {
            struct timespec until = schedule_deadline(NAP_NANOSECONDS);
            pthread_cond_timedwait(&device.schedule.work, &device.lock, &until);
        }
    }
    device_unlock();
    return NULL;
}

bool schedule_thread(void *(*run)(void *))
{
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes))
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    /* The program's signals are for the program's threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, &attributes, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

void schedule_enqueued(void)
{
    if (device.schedule.policy == POLICY_EAGER)
        run_eagerly();
    if (!device.schedule.pending)
        return;
    if (!device.schedule.worker_started)
        device.schedule.worker_started = schedule_thread(worker);
    else if (device.schedule.pending == 1)
        pthread_cond_signal(&device.schedule.work);
}

/* random, or random:SEED */
static bool parse_seed(const char *text, uint64_t *seed)
{
    char *end = NULL;
    if (strncmp(text, "random", 6) != 0)
        return false;
    if (!text[6])
        return true;
    errno = 0;
    *seed = strtoull(text + 7, &end, 0);
    return text[6] == ':' && end != text + 7 && !*end && !errno;
}

void schedule_start(void)
{
    const char *text = getenv("CSAN_SCHEDULE");
    uint64_t seed = 1;
    device.schedule.policy = POLICY_RANDOM;
    if (text && !strcmp(text, "eager")) {
        device.schedule.policy = POLICY_EAGER;
    } else if (text && !strcmp(text, "lazy")) {
        device.schedule.policy = POLICY_LAZY;
    } else if (text && *text && !parse_seed(text, &seed)) {
        seed = 1;
        device_say("CSAN_SCHEDULE=%s is none of eager, lazy, random:SEED; using random:1", text);
    }
    device.schedule.random = seed;
    device.schedule.idle_random = ~seed;
}
