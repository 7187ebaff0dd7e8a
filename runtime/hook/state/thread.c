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
struct sync_object {
    const void *key;
    csan_snapshot *released; /* by the last one; or NULL */
    csan_lane lane;          /* of all who gave; CSAN_NO_LANE: none yet */
    UT_hash_handle hh;
};

static struct {
    pthread_key_t key;
    pthread_once_t once;
    bool keyed;
    unsigned count; /* threads so far, for their names */
    unsigned generation;
    struct sync_object *sync_objects;
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

static void *on_create(void)
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

static void on_start(void *value)
{
    struct host_thread *thread = value;
    if (is_of_parent(thread) || !guard_enter_aside())
        return;
    thread_birth_is(thread->birth);
    thread->birth = NULL;
    adopt(thread);
    guard_leave();
}

static void on_join(void *value)
{
    const struct host_thread *thread = value;
    if (is_of_parent(thread) || !guard_enter_aside())
        return;
    if (thread->end)
        csan_snapshot_join(session_context(), thread_lane(), thread->end);
    guard_leave();
}

static void on_forget(void *value)
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

static void sync_object_remove(struct sync_object *sync_object)
{
    HASH_DEL(table.sync_objects, sync_object);
    if (sync_object->released)
        csan_snapshot_release(session_context(), sync_object->released);
    if (sync_object->lane != CSAN_NO_LANE)
        csan_lane_destroy(session_context(), sync_object->lane);
    free(sync_object);
}

static bool lane_is_over(csan_lane lane)
{
    csan_snapshot *const all = csan_snapshot_take(session_context(), lane);
    const bool over = all && context_is_over(session_context(), all);
    if (all)
        csan_snapshot_release(session_context(), all);
    return over;
}

/* What was released into it, everybody already knows. */
static bool adds_nothing(const struct sync_object *sync_object)
{
    return (sync_object->lane == CSAN_NO_LANE || lane_is_over(sync_object->lane)) &&
           (!sync_object->released || context_is_over(session_context(), sync_object->released));
}

/* Many a mutex is never destroyed. */
static void sync_objects_sweep(void)
{
    struct sync_object *sync_object = NULL, *next;
    if (HASH_COUNT(table.sync_objects) < table.sweep_at)
        return;
    HASH_ITER(hh, table.sync_objects, sync_object, next)
    {
        if (adds_nothing(sync_object))
            sync_object_remove(sync_object);
    }
    table.sweep_at = 2 * HASH_COUNT(table.sync_objects) + 1024;
}

static struct sync_object *sync_object_of(const void *key)
{
    struct sync_object *sync_object;
    HASH_FIND_PTR(table.sync_objects, &key, sync_object);
    if (sync_object)
        return sync_object;
    sync_objects_sweep();
    sync_object = calloc(1, sizeof *sync_object);
    if (!sync_object)
        return NULL;
    sync_object->key = key;
    sync_object->lane = CSAN_NO_LANE;
    HASH_ADD_PTR(table.sync_objects, key, sync_object);
    return sync_object;
}

static void release_into(struct sync_object *sync_object, bool shared)
{
    csan_context *detector = session_context();
    if (!shared) {
        if (sync_object->released)
            csan_snapshot_release(detector, sync_object->released);
        sync_object->released = csan_snapshot_take(detector, thread_lane());
        return;
    }
    if (sync_object->lane == CSAN_NO_LANE)
        sync_object->lane =
            csan_lane_create_host(detector, "what threads meet at", CSAN_HOST_SYNC_OBJECT);
    if (sync_object->lane != CSAN_NO_LANE)
        csan_lane_waits(detector, sync_object->lane, thread_lane());
}

static void acquire_from(struct sync_object *sync_object)
{
    csan_context *detector = session_context();
    if (sync_object->released)
        csan_snapshot_join(detector, thread_lane(), sync_object->released);
    if (sync_object->lane != CSAN_NO_LANE)
        csan_lane_waits(detector, thread_lane(), sync_object->lane);
}

/* Before the first CUDA call there is nothing to order. */
static bool enter_for_sync_object(void)
{
    return __atomic_load_n(&session_state, __ATOMIC_ACQUIRE) == SESSION_ON && guard_enter();
}

static void on_release(const void *key, int shared)
{
    if (!enter_for_sync_object())
        return;
    guard_lock();
    struct sync_object *sync_object = sync_object_of(key);
    if (sync_object)
        release_into(sync_object, shared);
    guard_unlock();
    guard_leave();
}

/* What is done with a meeting where somebody gave something before; nothing where nobody did. */
static void act_on_known(const void *key, void (*act)(struct sync_object *sync_object))
{
    struct sync_object *sync_object;
    if (!enter_for_sync_object())
        return;
    guard_lock();
    HASH_FIND_PTR(table.sync_objects, &key, sync_object);
    if (sync_object)
        act(sync_object);
    guard_unlock();
    guard_leave();
}

static void on_acquire(const void *key)
{
    act_on_known(key, acquire_from);
}

static void on_end(const void *key)
{
    act_on_known(key, sync_object_remove);
}

void thread_synchronizes(const void *key, bool before)
{
    if (session_options()->host_observed)
        return;
    if (before)
        on_release(key, 1);
    else
        on_acquire(key);
}

/* ---- sleep */

void (*thread_on_sleep)(struct csan_threads_sleep *sleep, const void *object, const void *other);
void (*thread_on_wake)(struct csan_threads_sleep *sleep);

static void on_sleep(struct csan_threads_sleep *sleep, const void *object, const void *other)
{
    if (thread_on_sleep)
        thread_on_sleep(sleep, object, other);
}

static void on_wake(struct csan_threads_sleep *sleep)
{
    if (thread_on_wake)
        thread_on_wake(sleep);
}

/* ---- the start */

static const struct csan_threads_table callbacks = {.create = on_create,
                                                    .start = on_start,
                                                    .join = on_join,
                                                    .forget = on_forget,
                                                    .release = on_release,
                                                    .acquire = on_acquire,
                                                    .end = on_end,
                                                    .sleep = on_sleep,
                                                    .wake = on_wake};

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
        csan_threads_activate(&callbacks);
    else
        session_note("host_order=threads, but libcsan_threads.so is not in this process: threads "
                     "that are created, joined or wait for one another show no order. Use csan "
                     "run, or link with -lcsan_threads");
}
