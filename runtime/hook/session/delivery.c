/* See delivery.h. */
#include "runtime/hook/session/delivery.h"
#include "csan/base/output.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/internal_thread.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FORK_MS = 1000 }; /* that a fork waits for a report */

/* One of the three. */
struct item {
    struct item *next;
    const struct csan_race *race;
    char *line;
    const void **frames; /* of the line; or NULL */
    size_t frame_count;
};

static struct {
    const struct delivery_face *face;
    pthread_mutex_t mutex; /* of the list and the thread */
    pthread_cond_t filled;
    struct item *first, **last;
    bool started;            /* csan's thread */
    bool busy;               /* it is at an item */
    unsigned forks;          /* under way: it begins no other */
    uint64_t waited;         /* a fork has waited for the item of that number; atomic */
    uint64_t put, delivered; /* items so far; atomic */
    bool hurried;            /* symbols are done without; atomic */
} delivery = {.mutex = PTHREAD_MUTEX_INITIALIZER,
              .filled = PTHREAD_COND_INITIALIZER,
              .last = &delivery.first};

/* The thread is within the functions below: a signal handler that interrupted it must not wait. */
static __thread bool within __attribute__((tls_model("initial-exec")));

/* It is csan's thread. */
static __thread bool delivers __attribute__((tls_model("initial-exec")));
/* It holds csan's thread back while it forks. */
static __thread bool forks __attribute__((tls_model("initial-exec")));

static void list_lock(void)
{
    guard_self.locked++; /* first: who finds the one has the other */
    within = true;
    lock_order_take(LOCK_DELIVERY, &delivery.mutex);
}

static void list_unlock(void)
{
    lock_order_give(LOCK_DELIVERY, &delivery.mutex);
    within = false;
    guard_self.locked--;
}

/* ---- Delivering ---- */

static void item_free(struct item *item)
{
    free(item->line);
    free(item->frames);
    free(item);
}

static void item_deliver(const struct item *item)
{
    if (item->race)
        delivery.face->race(item->race);
    else if (item->frames)
        delivery.face->note_stack(item->frames, item->frame_count, item->line);
    else
        delivery.face->note(item->line);
}

static struct item *item_take(void)
{
    list_lock();
    while (!delivery.first || delivery.forks)
        pthread_cond_wait(&delivery.filled, &delivery.mutex);
    struct item *item = delivery.first;
    delivery.first = item->next;
    if (!delivery.first)
        delivery.last = &delivery.first;
    delivery.busy = true;
    list_unlock();
    return item;
}

static void *attend(void *unused)
{
    delivers = true;
    for (;;) {
        struct item *item = item_take();
        item_deliver(item);
        item_free(item);
        list_lock(); /* a fork sees both or neither */
        delivery.busy = false;
        __atomic_add_fetch(&delivery.delivered, 1, __ATOMIC_RELEASE);
        list_unlock();
    }
    return unused;
}

/* ---- Progress ---- */

static uint64_t delivered(void)
{
    return __atomic_load_n(&delivery.delivered, __ATOMIC_ACQUIRE);
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* `progress`: the time begins anew with each that comes. */
static bool wait_for(uint64_t count, int milliseconds, bool progress)
{
    uint64_t seen = delivered();
    int64_t until = now_ms() + milliseconds;
    while (seen < count && now_ms() < until) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        const uint64_t now = delivered();
        if (progress && now != seen)
            until = now_ms() + milliseconds;
        seen = now;
    }
    return seen >= count;
}

/* ---- Fork ---- */

/* csan's thread is to be at rest: what it is in the midst of, the loader's lock and the allocator's
 * among it, would stay so in the child. Only what it is at is waited for, and once: it may take
 * long. */
static void fork_prepare(void)
{
    if (within || delivers)
        return;
    list_lock();
    forks = true;
    delivery.forks++;
    const bool busy = delivery.busy;
    const uint64_t item = delivered() + 1;
    list_unlock();
    if (busy && __atomic_exchange_n(&delivery.waited, item, __ATOMIC_RELAXED) != item)
        wait_for(item, FORK_MS, false);
}

static void fork_parent(void)
{
    if (!forks)
        return;
    forks = false;
    list_lock();
    delivery.forks--;
    pthread_cond_signal(&delivery.filled);
    list_unlock();
}

/* csan's thread is not here, nor is what it held; the parent delivers what is in the list. */
static void fork_child(void)
{
    delivery.mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    delivery.filled = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    delivery.first = NULL;
    delivery.last = &delivery.first;
    delivery.started = delivery.busy = forks = delivers = false;
    delivery.forks = 0;
    delivery.waited = 0;
    delivery.put = delivery.delivered = 0;
    within = false;
}

/* ---- Putting ---- */

void delivery_start(const struct delivery_face *face)
{
    static bool registered;
    delivery.face = face;
    if (!registered)
        registered = pthread_atfork(fork_prepare, fork_parent, fork_child) == 0;
}

static bool is_attended(void)
{
    if (!delivery.started)
        __atomic_store_n(&delivery.started, internal_thread_start(attend, NULL, "csan reports"),
                         __ATOMIC_RELEASE);
    return delivery.started;
}

static void item_put(struct item *item)
{
    list_lock();
    const bool attended = is_attended();
    if (attended) {
        *delivery.last = item;
        delivery.last = &item->next;
        __atomic_add_fetch(&delivery.put, 1, __ATOMIC_RELEASE);
        pthread_cond_signal(&delivery.filled);
    }
    list_unlock();
    if (attended)
        return;
    guard_self.locked++;
    within = true;
    item_deliver(item);
    within = false;
    guard_self.locked--;
    item_free(item);
}

void delivery_race(const struct csan_race *race)
{
    struct item *item = calloc(1, sizeof *item);
    if (!item) {
        delivery.face->race(race);
        return;
    }
    item->race = race;
    item_put(item);
}

static bool is_outstanding(void)
{
    const uint64_t seen = delivered(); /* first: it never passes what was put */
    return __atomic_load_n(&delivery.put, __ATOMIC_ACQUIRE) != seen;
}

bool delivery_note_stack(const void *const *frames, size_t frame_count, const char *line)
{
    struct item *item = is_outstanding() ? calloc(1, sizeof *item) : NULL;
    if (!item)
        return false;
    item->line = strdup(line);
    item->frames = frames ? malloc((frame_count + 1) * sizeof *item->frames) : NULL;
    if (!item->line || (frames && !item->frames)) {
        item_free(item);
        return false;
    }
    if (frames)
        memcpy(item->frames, frames, frame_count * sizeof *item->frames);
    item->frame_count = frame_count;
    item_put(item);
    return true;
}

bool delivery_note(const char *line)
{
    return delivery_note_stack(NULL, 0, line);
}

/* ---- Waiting ---- */

bool delivery_wait(int milliseconds)
{
    if (within)
        return false;
    return wait_for(__atomic_load_n(&delivery.put, __ATOMIC_ACQUIRE), milliseconds, false);
}

void delivery_say_lost(void)
{
    char line[160];
    const uint64_t count = __atomic_load_n(&delivery.put, __ATOMIC_ACQUIRE) - delivered();
    if (!count)
        return;
    const int length = snprintf(line, sizeof line,
                                "csan: %llu report%s could not be written before the end of the "
                                "program\n",
                                (unsigned long long)count, count == 1 ? "" : "s");
    output_write(STDERR_FILENO, line, (size_t)length);
}

uint64_t delivery_progress(void)
{
    return delivered() + __atomic_load_n(&delivery.hurried, __ATOMIC_RELAXED);
}

bool delivery_finish(void)
{
    const uint64_t put = __atomic_load_n(&delivery.put, __ATOMIC_ACQUIRE);
    if (within)
        return false;
    if (wait_for(put, DELIVERY_PATIENCE_MS, true))
        return true;
    delivery.face->hurry();
    __atomic_store_n(&delivery.hurried, true, __ATOMIC_RELAXED);
    return wait_for(put, DELIVERY_GRACE_MS, true);
}
