/* When work runs: at entries to the API, on the calling thread, as far as the policy asks for;
 * which piece is next policy.c says. So one host thread and one schedule give the same run every
 * time.
 *
 *   eager, hold      at every entry and enqueue, all that may run; oldest first
 *   lazy, reverse    at synchronizations, until what they wait for is done; a query makes one step
 *   random           at every entry a coin says whether an item makes a step, and again
 *   replay           what schedule_file.c has for this occasion
 *
 * Occasions are counted (schedule.point): what was recorded at one is replayed at the same. A
 * thread of its own makes progress only while the program calls nothing for a while (it waits for
 * the device by looking at memory). Such steps are recorded as made before the next occasion, and
 * replayed there at the latest: a program that only reads memory after synchronizing cannot observe
 * the difference. An item that takes many steps, a kernel that spins, lets the others pass.
 *
 * Not the same in every run: what several host threads do against each other, a host function that
 * runs for longer than its step waits (host_function.c), and clocks that kernels read. */
#include "runtime/device/driver/driver.h"
#include "csan/base/environment.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    EAGER_STEPS = 4096, /* steps that one entry makes at most under eager */
    EAGER_SPINS = 64,   /* of which so many in a row without progress */
    RANDOM_STEPS = 16,  /* and under random */
    LAZY_IDLE_NANOSECONDS = 50 * 1000 * 1000,
    NAP_NANOSECONDS = 2 * 1000 * 1000,
    CLOSE_NANOSECONDS = 500 * 1000 * 1000,
    DRAIN_SPINS = 256,
    REPLAY_NAPS = 5000, /* how long a replayed step may wait for another thread */
};

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

bool goal_covers(const struct goal *goal, const struct CUstream_st *stream)
{
    if (goal->context)
        return stream->context == goal->context || stream->context->home == goal->context;
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

/* See device_schedule_aside. */
static _Thread_local bool aside;

/* See device_schedule_position. */
static _Thread_local uint64_t entered;

/* ---- Steps --------------------------------------------------------------------------------- */

/* Of the step this thread is making: 0: not asked for yet; what its item made before. A step may
 * let go of the lock, and other threads make theirs meanwhile. */
static _Thread_local uint64_t step_budget, step_slices;

/* `point`: the occasion that it is recorded for. */
static enum step make_step_at(struct CUstream_st *stream, uint64_t budget, bool idle,
                              uint64_t point)
{
    struct recorded_step made = {.point = point,
                                 .item = stream->head->sequence - device.schedule.base,
                                 .count = 1,
                                 .idle = idle};
    step_budget = budget;
    step_slices = stream->head->slices;
    device.schedule.clock++;
    device.schedule.elsewhere++;
    enum step step = queue_step(stream);
    device.schedule.elsewhere--;
    made.budget = step_budget;
    recording_add(&made);
    return step;
}

static enum step make_step(struct CUstream_st *stream, uint64_t budget, bool idle)
{
    return make_step_at(stream, budget, idle, device.schedule.point + idle);
}

uint64_t schedule_budget(void)
{
    if (!step_budget)
        step_budget = policy_budget(step_slices);
    return step_budget;
}

static struct CUstream_st *queue_of(uint64_t item)
{
    struct CUstream_st *stream = device.busy;
    while (stream && stream->head->sequence != item)
        stream = stream->busy_next;
    return stream;
}

/* The recorded item's queue once it may run. What holds it up may be with another thread. */
static struct CUstream_st *await_item(uint64_t item)
{
    for (int naps = 0; naps < REPLAY_NAPS; naps++) {
        struct CUstream_st *stream = queue_of(item);
        if (stream && queue_ready(stream))
            return stream;
        if (!device.schedule.elsewhere)
            return NULL;
        struct timespec until = schedule_deadline(NAP_NANOSECONDS);
        pthread_cond_timedwait(&device.changed, &device.lock, &until);
    }
    return NULL;
}

/* Make the next recorded step of this occasion. False: there is none. */
static bool replay_step(bool idle)
{
    const struct recorded_step *step = recording_next(idle);
    if (!step)
        return false;
    struct CUstream_st *stream = await_item(step->item + device.schedule.base);
    if (!stream) {
        recording_abandon("a recorded step's work is not there, or may not run yet");
        return false;
    }
    /* The program may come to the occasion before the idle worker has made the steps before it. */
    const struct recorded_step made = *step;
    recording_pass();
    make_step_at(stream, made.budget, made.idle, made.point);
    return true;
}

/* Something may happen now. */
static void occasion(void)
{
    device.schedule.point++;
    while (device.schedule.policy == POLICY_REPLAY && replay_step(false))
        device_breathe();
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
    struct CUstream_st *any =
        device.schedule.pending ? policy_pick_any(&device.schedule.random) : NULL;
    if (any)
        make_step(any, 0, false);
}

/* A synchronization that is replayed: its steps are recorded, or another thread's to make. */
static void wait_replayed(void)
{
    if (replay_step(false))
        return;
    struct timespec until = schedule_deadline(NAP_NANOSECONDS);
    if (device.schedule.elsewhere)
        pthread_cond_timedwait(&device.changed, &device.lock, &until);
    else if (device.schedule.policy == POLICY_REPLAY)
        recording_abandon("the program waits for work that the recording did not run");
}

static void wait_scheduled(const struct goal *goal)
{
    struct CUstream_st *next = policy_pick(goal);
    if (next)
        make_step(next, 0, false);
    else
        wait_elsewhere();
}

CUresult schedule_until(const struct goal *goal, struct CUctx_st *context)
{
    context->waiters++;
    if (goal->stream)
        goal->stream->waiters++;
    device.schedule.point++;
    recording_flush();
    while (context->error == CUDA_SUCCESS && !schedule_reached(goal)) {
        if (device.schedule.policy == POLICY_REPLAY)
            wait_replayed();
        else
            wait_scheduled(goal);
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

/* ---- Acting -------------------------------------------------------------------------------- */

static void run_eagerly(void)
{
    struct CUstream_st *next;
    int spins = 0;
    for (int steps = 0; steps < EAGER_STEPS && device.schedule.pending; steps++) {
        if (!(next = policy_pick_oldest()))
            break;
        /* When all that is left waits for the host, the host must get on. */
        spins = make_step(next, 0, false) == STEP_SPINNING ? spins + 1 : 0;
        if (spins > EAGER_SPINS)
            break;
    }
}

static void run_randomly(void)
{
    struct CUstream_st *next;
    for (int steps = 0; steps < RANDOM_STEPS && device.schedule.pending; steps++) {
        if (policy_coin() || !(next = policy_pick_any(&device.schedule.random)))
            break;
        make_step(next, 0, false);
    }
}

static bool is_eager(void)
{
    return device.schedule.policy == POLICY_EAGER || device.schedule.policy == POLICY_HOLD;
}

void schedule_entry(void)
{
    if (aside)
        return;
    entered = device.schedule.clock;
    occasion();
    if (!device.schedule.pending)
        return;
    if (is_eager())
        run_eagerly();
    else if (device.schedule.policy == POLICY_RANDOM)
        run_randomly();
}

/* Under hold the first queries are answered as they would be on a device that is late; when the
 * program keeps asking, it may be waiting for what is held. */
void schedule_query(const struct goal *goal)
{
    if (aside)
        return;
    occasion();
    if (device.schedule.policy == POLICY_EAGER || device.schedule.policy == POLICY_RANDOM ||
        device.schedule.policy == POLICY_REPLAY || schedule_reached(goal))
        return;
    if (device.schedule.policy == POLICY_HOLD && device.schedule.patience) {
        device.schedule.patience--;
        return;
    }
    struct CUstream_st *next = policy_pick(goal);
    if (next)
        make_step(next, 0, false);
}

/* ---- The idle worker ------------------------------------------------------------------------- */

static bool program_is_idle(void)
{
    if (device.schedule.ignores_clock)
        return false;
    uint64_t idle = device.schedule.idle_ns;
    if (device.schedule.stages_late && idle < LAZY_IDLE_NANOSECONDS)
        idle = LAZY_IDLE_NANOSECONDS;
    return !device.schedule.inside && device_nanoseconds() - device.schedule.last_call >= idle;
}

/* False: nothing can be done. */
static bool step_idly(void)
{
    if (device.schedule.policy == POLICY_REPLAY)
        return replay_step(true);
    struct CUstream_st *next = policy_pick_any(&device.schedule.idle_random);
    if (next)
        make_step(next, 0, true);
    return next != NULL;
}

static void *worker(void *unused)
{
    (void)unused;
    device_lock();
    while (!atomic_load(&device.closing)) {
        if (!device.schedule.pending) {
            device.schedule.asleep = true;
            pthread_cond_wait(&device.schedule.work, &device.lock);
            device.schedule.asleep = false;
            continue;
        }
        if (program_is_idle() && step_idly()) {
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
    occasion();
    if (is_eager())
        run_eagerly();
    if (!device.schedule.pending)
        return;
    if (!device.schedule.worker_started)
        device.schedule.worker_started = schedule_thread(worker);
    else if (device.schedule.asleep)
        pthread_cond_signal(&device.schedule.work);
}

/* ---- Begin and end ------------------------------------------------------------------------- */

/* False: nothing was changed. */
static bool begin(const char *text)
{
    struct schedule_choice choice;
    if (!schedule_parse(text, &choice) ||
        (choice.policy == POLICY_REPLAY && !recording_load(choice.file)))
        return false;
    policy_start(&choice);
    return true;
}

/* A schedule that cannot be had must not keep the program from running. */
void schedule_start(void)
{
    const char *text = environment_get("CSAN_SCHEDULE"),
               *save = environment_get("CSAN_SAVE_SCHEDULE");
    struct schedule_choice choice;
    device.schedule.by_default = !text || !*text || !strcmp(text, "eager");
    if (!text || !*text)
        text = "random:1";
    if (!begin(text)) {
        if (!schedule_parse(text, &choice))
            device_say("CSAN_SCHEDULE=%s is none of " DEVICE_SCHEDULES "; using eager", text);
        begin(text = "eager");
    }
    if (save && *save) {
        recording_save(save, text);
        device.schedule.by_default = false;
    }
}

bool schedule_is_usual(void)
{
    return device.schedule.by_default;
}

bool schedule_is_free(void)
{
    return schedule_is_usual() && !device.fixed_memory && !outcome_wanted();
}

/* The end counts as an outcome only when all work is done. What spins now spins for ever. */
static void drain(void)
{
    int vain = 0;
    occasion();
    while (device.schedule.pending && vain < DRAIN_SPINS) {
        struct CUstream_st *next = policy_pick_any(&device.schedule.random);
        if (next) {
            vain = make_step(next, 0, false) == STEP_SPINNING ? vain + 1 : 0;
            continue;
        }
        struct timespec until = schedule_deadline(NAP_NANOSECONDS);
        if (pthread_cond_timedwait(&device.changed, &device.lock, &until) == ETIMEDOUT)
            vain++;
    }
}

/* Another thread may be inside the device for good: then the files lack their ends. */
static void finish(bool recording_too)
{
    struct timespec until = schedule_deadline(CLOSE_NANOSECONDS);
    if (pthread_mutex_timedlock(&device.lock, &until))
        return;
    if (outcome_wanted())
        drain();
    outcome_close();
    if (recording_too)
        recording_close();
    device_unlock();
}

void schedule_close(void)
{
    finish(true);
}

__attribute__((visibility("default"))) void device_schedule_finish(void)
{
    if (device.initialised && !atomic_load(&device.forked))
        finish(false);
}

__attribute__((visibility("default"))) int device_schedule_set(const char *schedule)
{
    if (!schedule || device_enter() != CUDA_SUCCESS)
        return -1;
    schedule_all();
    bool begun = begin(schedule);
    device.schedule.by_default = false;
    device_leave(CUDA_SUCCESS);
    return begun ? 0 : -1;
}

__attribute__((visibility("default"))) bool device_schedule_aside(bool is_aside)
{
    const bool before = aside;
    aside = is_aside;
    return before;
}

__attribute__((visibility("default"))) void device_schedule_ignore_clock(void)
{
    device_lock();
    device.schedule.ignores_clock = true;
    device_unlock();
}

__attribute__((visibility("default"))) void
device_schedule_now(struct device_schedule_position *position)
{
    device_lock();
    position->newest = device.schedule.sequence - device.schedule.base;
    position->item =
        queue_last_item > device.schedule.base ? queue_last_item - device.schedule.base : 0;
    position->clock = device.schedule.clock;
    position->entered = entered;
    device_unlock();
}

CUresult schedule_item(struct CUstream_st *stream, struct item *item, bool wait)
{
    if (!wait) {
        queue_enqueue(stream, item);
        return CUDA_SUCCESS;
    }
    struct CUctx_st *context = stream->context;
    struct mark *mark = mark_create();
    if (!mark) {
        item->discard(item);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    item->done = mark_retain(mark);
    queue_enqueue(stream, item);
    struct goal goal = goal_mark(mark);
    CUresult result = schedule_until(&goal, context);
    mark_release(mark);
    return result;
}
