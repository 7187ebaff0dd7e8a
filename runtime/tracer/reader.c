/* The reader of records. See reader.h. */
#include "runtime/tracer/reader.h"
#include <csan/csan.h>
#include "runtime/trace/fold.h"
#include "runtime/hook/interpose/driver_thread.h"
#include "runtime/hook/session/session.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum {
    POLL_FIRST_US = 50,
    POLL_LAST_US = 2000,
    REST_MS = 1000,  /* how long a thread that ends a context waits for the reader */
    GAP_BYTES = 256, /* allocations begin at multiples of it */
    GAP_LIMIT = 4096 /* multiples that are looked at for the next one */
};

static struct {
    device_trace_done *done;
    void *user;
    pthread_mutex_t mutex; /* of what follows; no call is made with it */
    pthread_cond_t queued;
    struct watch *first, **last; /* to be watched, oldest first */
    pthread_mutex_t reading;     /* held by the reader while it calls the driver */
} reader = {.mutex = PTHREAD_MUTEX_INITIALIZER,
            .queued = PTHREAD_COND_INITIALIZER,
            .last = &reader.first,
            .reading = PTHREAD_MUTEX_INITIALIZER};

/* ---- Words ---- */

static void report_lost(const struct watch *watch)
{
    reader.done(reader.user, &(struct device_trace_launch){
                                 .id = watch->id, .lost = true, .unseen = watch->blind});
}

/* Checks the record's own flags. False: the launch counts as lost, and the next ones get another
 * granularity. */
static bool granularity_fits(const struct watch *watch, uint32_t flags)
{
    if (flags & RECORD_FULL) {
        module_too_small(&watch->launch, watch->largest);
        return false;
    }
    if (flags & RECORD_NARROW && !watch->launch.granularity.coarse) {
        module_too_wide(&watch->launch);
        return false;
    }
    return true;
}

/* Bounds at the allocations in [address, end). What lies between them, granules that begin before
 * an allocation or memory that csan does not know, is looked through for a while. True: one lies
 * within. */
static bool bound_within(struct bounds *bounds, uint64_t address, uint64_t end)
{
    uint64_t base, bytes;
    const uint64_t start = address;
    bool cut = false;
    for (unsigned gaps = 0; address < end && gaps < GAP_LIMIT;) {
        if (csan_memory_find(session_context(), address, &base, &bytes, NULL)) {
            bounds_add(bounds, base, base + bytes);
            cut |= base > start || base + bytes < end;
            address = base + bytes;
        } else {
            address = (address | (GAP_BYTES - 1)) + 1;
            gaps++;
        }
    }
    return cut;
}

/* No range may reach over the end of an allocation. */
static void cut_at_allocations(struct recorded *recorded)
{
    struct bounds bounds = {0};
    bool cut = false;
    for (size_t i = 0; i < recorded->count; i++) {
        const struct device_trace_range *range = &recorded->ranges[i];
        uint64_t end = range->address + range->bytes;
        for (uint32_t k = 0; k < range->dims; k++)
            end += range->stride[k] * (range->count[k] - 1);
        cut |= bound_within(&bounds, range->address, end);
    }
    if (cut) {
        size_t count;
        struct device_trace_range *ranges =
            fold_bounded(recorded->ranges, recorded->count, &bounds, &count);
        recorded->whole &= ranges && !bounds.failed;
        free(recorded->ranges);
        recorded->ranges = ranges;
        recorded->count = count;
    }
    bounds_clear(&bounds);
}

/* Of a tensor that a map describes, all may be touched, and need not be. */
static void report(const struct watch *watch, struct recorded *recorded)
{
    if (watch->mapped_count)
        recorded_join(recorded, watch->mapped, watch->mapped_count);
    cut_at_allocations(recorded);
    reader.done(reader.user, &(struct device_trace_launch){
                                 .id = watch->id,
                                 .inexact = watch->launch.granularity.coarse || watch->mapped_count,
                                 .lost = !recorded->whole,
                                 .count = recorded->count,
                                 .ranges = recorded->ranges});
}

/* ---- The reader ---- */

static void unqueue(struct watch *watch)
{
    lock_order_take(LOCK_TRACER_RECORDS, &reader.mutex);
    struct watch **at = &reader.first;
    while (*at != watch)
        at = &(*at)->next;
    *at = watch->next;
    if (!*at)
        reader.last = at;
    lock_order_give(LOCK_TRACER_RECORDS, &reader.mutex);
    free(watch);
}

/* DONE: *recorded has what it touched, unless the launch is discarded, and its buffer is free
 * again. BROKEN: what it touched is not known, and its buffer is out of use. */
static enum buffer_state read_record(const struct watch *watch, struct recorded *recorded)
{
    lock_order_take(LOCK_TRACER_READING, &reader.reading);
    enum buffer_state state = watch->failed ? BUFFER_BROKEN : buffer_state(watch->buffer);
    if (state == BUFFER_BROKEN)
        buffer_drop(watch->buffer);
    if (state == BUFFER_DONE && !buffer_read(watch->buffer, watch->launch.granularity.shift,
                                             watch->discarded ? NULL : recorded))
        state = BUFFER_BROKEN;
    lock_order_give(LOCK_TRACER_READING, &reader.reading);
    return state;
}

/* A node's record is the function's (node_begins): that it stayed empty may be for another reason.
 */
static bool record_is_likely(const struct watch *watch, const struct recorded *recorded)
{
    const bool empty = recorded->count == 0;
    return !(watch->node && empty) && module_record_is_likely(&watch->launch, empty);
}

/* True when it was done, and is no more. Who hears of it may find its record free and its module
 * at rest. */
static bool look(struct watch *watch)
{
    struct recorded recorded = {0};
    enum buffer_state state = read_record(watch, &recorded);
    if (state == BUFFER_BUSY)
        return false;
    bool whole = state == BUFFER_DONE && recorded.whole && !watch->blind && !watch->mixed &&
                 granularity_fits(watch, recorded.flags) && record_is_likely(watch, &recorded);
    module_launch_end(&watch->launch);
    if (whole)
        report(watch, &recorded);
    else if (!watch->discarded)
        report_lost(watch);
    recorded_clear(&recorded);
    unqueue(watch);
    return true;
}

/* True when one was done. Only this thread takes from the queue, so `next` stays valid. */
static bool look_at_all(void)
{
    bool any = false;
    lock_order_take(LOCK_TRACER_RECORDS, &reader.mutex);
    struct watch *watch = reader.first;
    lock_order_give(LOCK_TRACER_RECORDS, &reader.mutex);
    while (watch) {
        lock_order_take(LOCK_TRACER_RECORDS, &reader.mutex);
        struct watch *next = watch->next;
        lock_order_give(LOCK_TRACER_RECORDS, &reader.mutex);
        any |= look(watch);
        watch = next;
    }
    return any;
}

/* The driver has no notification that an event is done, so the thread polls. A host function behind
 * the launch would hold up the program's stream. */
static void *read_all(void *unused)
{
    unsigned pause = POLL_FIRST_US;
    for (;;) {
        lock_order_take(LOCK_TRACER_RECORDS, &reader.mutex);
        while (!reader.first) {
            pause = POLL_FIRST_US;
            pthread_cond_wait(&reader.queued, &reader.mutex);
        }
        lock_order_give(LOCK_TRACER_RECORDS, &reader.mutex);
        if (look_at_all())
            pause = POLL_FIRST_US;
        nanosleep(&(struct timespec){.tv_nsec = pause * 1000L}, NULL);
        pause = pause * 2 < POLL_LAST_US ? pause * 2 : POLL_LAST_US;
    }
    return unused;
}

bool reader_start(device_trace_done *done, void *user)
{
    reader.done = done;
    reader.user = user;
    return driver_thread_start(read_all);
}

void reader_take(struct watch *watch)
{
    watch->failed = !buffer_mark(watch->buffer, watch->stream, watch->thread_default);
    lock_order_take(LOCK_TRACER_RECORDS, &reader.mutex);
    *reader.last = watch;
    reader.last = &watch->next;
    pthread_cond_signal(&reader.queued);
    lock_order_give(LOCK_TRACER_RECORDS, &reader.mutex);
}

void watch_drop(struct watch *watch)
{
    buffer_return(watch->buffer);
    free(watch);
}

bool reader_rest(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += REST_MS / 1000;
    return lock_order_try(LOCK_TRACER_READING, pthread_mutex_timedlock(&reader.reading, &until)) ==
           0;
}

void reader_resume(void)
{
    lock_order_give(LOCK_TRACER_READING, &reader.reading);
}
