/* See thread.h. */
#include "runtime/hook/state/thread.h"
#include "csan/detector/context.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/state/thread_birth.h"
#include "runtime/hook/state/thread_name.h"
#include "runtime/threads/threads.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Held by the thread itself, and by whoever may join it. */
struct host_thread {
    int references;
    unsigned generation; /* of processes: a forked child starts anew */
    csan_lane lane;
    struct thread_birth *birth; /* until it starts; or NULL */
    csan_snapshot *end;         /* once it has ended */
};

/* What threads give up and get: a mutex, a semaphore, a key of the program's. */
struct meeting {
    const void *key;
    csan_snapshot *given; /* by the last one; or NULL */
    csan_lane lane;       /* of all who gave; CSAN_NO_LANE: none yet */
    UT_hash_handle hh;
};

static struct {
    pthread_key_t key;
    pthread_once_t once;
    bool keyed;
    unsigned count; /* threads so far, for their names */
    unsigned generation;
    struct meeting *meetings;
    size_t sweep_at; /* so many meetings */
} table = {.once = PTHREAD_ONCE_INIT, .sweep_at = 1024};

static __thread struct {
    csan_lane function; /* CSAN_HOST: none */
    struct host_thread *thread;
} self __attribute__((tls_model("initial-exec")));

/* ---- lanes */

static void host_thread_release(struct host_thread *thread)
{
    if (__atomic_sub_fetch(&thread->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (thread->end)
        csan_snapshot_release(session_context(), thread->end);
    thread_birth_free(thread->birth);
    free(thread);
}

/* Its lane was in the context of the process that forked this one. */
static bool is_of_parent(const struct host_thread *thread)
{
    return thread->generation != table.generation;
}

/* The last that csan sees of the thread; what runs later in it gets a lane of its own. */
static void thread_ended(void *value)
{
    struct host_thread *thread = value;
    self.thread = NULL;
    if (is_of_parent(thread) || !guard_enter_aside())
        return; /* csan is off, or the thread was ended within a call */
    thread->end = csan_snapshot_take(session_context(), thread->lane);
    csan_lane_destroy(session_context(), thread->lane);
    host_thread_release(thread);
    guard_leave();
}

static void thread_key(void)
{
    table.keyed = pthread_key_create(&table.key, thread_ended) == 0;
}

static struct host_thread *host_thread_create(void)
{
    struct host_thread *thread = calloc(1, sizeof *thread);
    char label[64];
    if (!thread)
        return NULL;
    snprintf(label, sizeof label, "host thread %u",
             __atomic_add_fetch(&table.count, 1, __ATOMIC_RELAXED));
    thread->references = 1;
    thread->generation = table.generation;
    thread->lane = csan_lane_create_host(session_context(), label, CSAN_HOST_THREAD);
    if (thread->lane != CSAN_NO_LANE)
        return thread;
    free(thread);
    return NULL;
}

static void adopt(struct host_thread *thread)
{
    pthread_once(&table.once, thread_key);
    if (pthread_setspecific(table.key, thread) == 0)
        self.thread = thread;
}

csan_lane thread_lane(void)
{
    if (self.function != CSAN_HOST)
        return self.function;
    if (__builtin_expect(session_options()->host_observed, 1))
        return CSAN_HOST;
    if (!self.thread) {
        struct host_thread *thread = host_thread_create();
        if (!thread)
            return CSAN_HOST;
        adopt(thread);
    }
    return self.thread ? self.thread->lane : CSAN_HOST;
}

bool thread_is_lane(csan_lane lane)
{
    return lane == CSAN_HOST || (self.thread && lane == self.thread->lane);
}

void thread_enqueues(csan_lane lane)
{
    csan_lane own = session_options()->host_observed ? CSAN_HOST : thread_lane();
    if (own != CSAN_HOST)
        csan_lane_waits(session_context(), lane, own);
}

csan_lane thread_makes_lane_as(enum csan_lane_role role, uint64_t handle, const char *label)
{
    csan_lane own = session_options()->host_observed ? CSAN_HOST : thread_lane();
    return csan_lane_create_as(session_context(), role, handle, label, own);
}

csan_lane thread_makes_lane(uint64_t handle, const char *label)
{
    return thread_makes_lane_as(CSAN_LANE_STREAM, handle, label);
}

void thread_in_function(csan_lane lane)
{
    self.function = lane;
}

/* ---- create and join */

static void *told_create(void)
{
    if (!guard_enter_aside())
        return NULL;
    struct host_thread *thread = host_thread_create();
    if (thread) {
        thread->references = 2;
        thread->birth = thread_birth_take();
        csan_lane_waits(session_context(), thread->lane, thread_lane());
    }
    guard_leave();
    return thread;
}

static void told_start(void *value)
{
    struct host_thread *thread = value;
    if (is_of_parent(thread) || !guard_enter_aside())
        return;
    thread_birth_is(thread->birth);
    thread->birth = NULL;
    adopt(thread);
    guard_leave();
}

static void told_join(void *value)
{
    const struct host_thread *thread = value;
    if (is_of_parent(thread) || !guard_enter_aside())
        return;
    if (thread->end)
        csan_snapshot_join(session_context(), thread_lane(), thread->end);
    guard_leave();
}

static void told_forget(void *value)
{
    struct host_thread *thread = value;
    if (is_of_parent(thread) || !guard_enter_aside())
        return;
    if (__atomic_load_n(&thread->references, __ATOMIC_ACQUIRE) == 1 && !thread->end)
        csan_lane_destroy(session_context(), thread->lane); /* it was never started */
    host_thread_release(thread);
    guard_leave();
}

/* ---- meetings */

static void meeting_remove(struct meeting *meeting)
{
    HASH_DEL(table.meetings, meeting);
    if (meeting->given)
        csan_snapshot_release(session_context(), meeting->given);
    if (meeting->lane != CSAN_NO_LANE)
        csan_lane_destroy(session_context(), meeting->lane);
    free(meeting);
}

/* Many a mutex is never destroyed. One that was given up with what everybody knows by now tells
 * nothing more. */
static void meetings_sweep(void)
{
    struct meeting *meeting, *next;
    if (HASH_COUNT(table.meetings) < table.sweep_at)
        return;
    HASH_ITER(hh, table.meetings, meeting, next)
    {
        if (meeting->lane == CSAN_NO_LANE &&
            (!meeting->given || context_is_over(session_context(), meeting->given)))
            meeting_remove(meeting);
    }
    table.sweep_at = 2 * HASH_COUNT(table.meetings) + 1024;
}

static struct meeting *meeting_of(const void *key)
{
    struct meeting *meeting;
    HASH_FIND_PTR(table.meetings, &key, meeting);
    if (meeting)
        return meeting;
    meetings_sweep();
    meeting = calloc(1, sizeof *meeting);
    if (!meeting)
        return NULL;
    meeting->key = key;
    meeting->lane = CSAN_NO_LANE;
    HASH_ADD_PTR(table.meetings, key, meeting);
    return meeting;
}

static void give(struct meeting *meeting, bool shared)
{
    csan_context *detector = session_context();
    if (!shared) {
        if (meeting->given)
            csan_snapshot_release(detector, meeting->given);
        meeting->given = csan_snapshot_take(detector, thread_lane());
        return;
    }
    if (meeting->lane == CSAN_NO_LANE)
        meeting->lane =
            csan_lane_create_host(detector, "what threads meet at", CSAN_HOST_SYNC_OBJECT);
    if (meeting->lane != CSAN_NO_LANE)
        csan_lane_waits(detector, meeting->lane, thread_lane());
}

static void get(struct meeting *meeting)
{
    csan_context *detector = session_context();
    if (meeting->given)
        csan_snapshot_join(detector, thread_lane(), meeting->given);
    if (meeting->lane != CSAN_NO_LANE)
        csan_lane_waits(detector, thread_lane(), meeting->lane);
}

/* Before the first CUDA call there is nothing to order. */
static bool enter_for_meeting(void)
{
    return __atomic_load_n(&session_state, __ATOMIC_ACQUIRE) == SESSION_ON && guard_enter();
}

static void told_release(const void *key, int shared)
{
    if (!enter_for_meeting())
        return;
    guard_lock();
    struct meeting *meeting = meeting_of(key);
    if (meeting)
        give(meeting, shared);
    guard_unlock();
    guard_leave();
}

/* What is done with a meeting where somebody gave something before; nothing where nobody did. */
static void told_of_known(const void *key, void (*act)(struct meeting *meeting))
{
    struct meeting *meeting;
    if (!enter_for_meeting())
        return;
    guard_lock();
    HASH_FIND_PTR(table.meetings, &key, meeting);
    if (meeting)
        act(meeting);
    guard_unlock();
    guard_leave();
}

static void told_acquire(const void *key)
{
    told_of_known(key, get);
}

static void told_end(const void *key)
{
    told_of_known(key, meeting_remove);
}

void thread_meets(const void *key, bool before)
{
    if (session_options()->host_observed)
        return;
    if (before)
        told_release(key, 1);
    else
        told_acquire(key);
}

/* ---- the start */

static const struct csan_threads_table told = {.create = told_create,
                                               .start = told_start,
                                               .join = told_join,
                                               .forget = told_forget,
                                               .release = told_release,
                                               .acquire = told_acquire,
                                               .end = told_end};

void thread_forked(void)
{
    guard_forked();
    thread_names_forked();
    table.generation++;
    table.count = 0;
    self.thread = NULL;
    if (table.keyed)
        pthread_setspecific(table.key, NULL);
}

void thread_start(void)
{
    thread_birth_start(!session_options()->host_observed && csan_threads_activate);
    if (session_options()->host_observed)
        return;
    thread_lane(); /* the first thread's: one that is made unseen knows no more than this one */
    if (csan_threads_activate)
        csan_threads_activate(&told);
    else
        session_note("host_order=threads, but libcsan_threads.so is not in this process: threads "
                     "that are created, joined or wait for one another show no order. Use csan "
                     "run, or link with -lcsan_threads");
}
