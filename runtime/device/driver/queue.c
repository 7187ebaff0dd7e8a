/* A stream is a queue of items. An item may run when it is the first of its queue, when the mark it
 * waits for has been passed, and when the rules of the legacy default stream allow it:
 *
 *   "When an action is taken in the legacy stream [...], the legacy stream first waits on all
 *    blocking streams, the action is queued in the legacy stream, and then all blocking streams
 * wait on the legacy stream." (CUDA Driver API, Stream synchronization behavior)
 *
 * Items carry the number of their place in the order of all enqueues, so that rule is: the legacy
 * stream's head waits for every older item of a blocking stream, and theirs for its. */
#include "runtime/device/driver/driver.h"

#include <stdlib.h>

enum { SPIN_PENALTY = 64 }; /* slices: a round of policy.c's fairness */

_Thread_local uint64_t queue_last_item;
static _Thread_local bool has_enqueued;

struct mark *mark_create(void)
{
    struct mark *mark = calloc(1, sizeof *mark);
    if (mark)
        mark->references = 1;
    return mark;
}

struct mark *mark_retain(struct mark *mark)
{
    mark->references++;
    return mark;
}

void mark_release(struct mark *mark)
{
    if (mark && --mark->references == 0)
        free(mark);
}

void mark_pass(struct mark *mark, CUresult error)
{
    mark->done = true;
    mark->error = error;
    mark->queue = NULL;
    mark->nanoseconds = device_nanoseconds();
}

/* ---- Items --------------------------------------------------------------------------------- */

static enum step marker_step(struct item *item)
{
    (void)item;
    return STEP_DONE;
}

static void marker_discard(struct item *item)
{
    free(item);
}

struct item *queue_marker(struct mark *done, struct mark *wait)
{
    struct item *item = calloc(1, sizeof *item);
    if (!item)
        return NULL;
    item->step = marker_step;
    item->discard = marker_discard;
    item->done = done;
    item->wait = wait;
    return item;
}

/* Frees an item that left its queue, with the marks that it would have passed. */
static void item_release(struct item *item, CUresult error)
{
    if (item->done) {
        mark_pass(item->done, error);
        mark_release(item->done);
    }
    mark_release(item->wait);
    item->discard(item);
}

static void busy_add(struct CUstream_st *stream)
{
    stream->busy_next = NULL;
    stream->busy_previous = device.busy_last;
    if (device.busy_last)
        device.busy_last->busy_next = stream;
    else
        device.busy = stream;
    device.busy_last = stream;
}

static void busy_remove(struct CUstream_st *stream)
{
    if (stream->busy_previous)
        stream->busy_previous->busy_next = stream->busy_next;
    else
        device.busy = stream->busy_next;
    if (stream->busy_next)
        stream->busy_next->busy_previous = stream->busy_previous;
    else
        device.busy_last = stream->busy_previous;
}

void queue_append(struct CUstream_st *stream, struct item *item)
{
    item->stream = stream;
    item->next = NULL;
    item->sequence = stream->last = ++device.schedule.sequence;
    if (stream->tail) {
        stream->tail->next = item;
    } else {
        stream->head = item;
        busy_add(stream);
    }
    stream->tail = item;
    if (!has_enqueued) {
        has_enqueued = true;
        device.schedule.threads++;
    }
    if (item->step != marker_step)
        queue_last_item = item->sequence;
    device.schedule.pending++;
    if (item->done) {
        item->done->stream = stream->serial;
        item->done->sequence = item->sequence;
        item->done->queue = stream;
    }
}

void queue_enqueue(struct CUstream_st *stream, struct item *item)
{
    queue_append(stream, item);
    schedule_enqueued();
}

CUresult queue_append_marker(struct CUstream_st *stream, struct mark *done, struct mark *wait)
{
    struct item *item = queue_marker(done, wait);
    if (!item) {
        mark_release(done);
        mark_release(wait);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    queue_append(stream, item);
    return CUDA_SUCCESS;
}

void queue_drop(struct item *item)
{
    mark_release(item->done);
    mark_release(item->wait);
    item->discard(item);
}

bool queue_drained(const struct CUstream_st *stream, uint64_t sequence)
{
    return !stream->head || stream->head->sequence > sequence;
}

bool queue_ready(const struct CUstream_st *stream)
{
    const struct item *head = stream->head;
    if (!head || head->running || (head->wait && !head->wait->done))
        return false;
    if (!stream_is_blocking(stream))
        return true;
    if (!stream->legacy)
        return queue_drained(stream->context->legacy, head->sequence - 1);
    for (const struct CUstream_st *other = device.busy; other; other = other->busy_next)
        if (other != stream && other->context == stream->context && stream_is_blocking(other) &&
            !queue_drained(other, head->sequence - 1))
            return false;
    return true;
}

static void pop(struct CUstream_st *stream)
{
    stream->head = stream->head->next;
    if (!stream->head) {
        stream->tail = NULL;
        busy_remove(stream);
    }
    device.schedule.pending--;
}

static void finish(struct item *item, CUresult error)
{
    struct CUstream_st *stream = item->stream;
    pop(stream);
    policy_finished(item->sequence);
    outcome_item(item->sequence, item->started);
    item_release(item, error != CUDA_SUCCESS ? error : stream->context->error);
    if (error != CUDA_SUCCESS)
        context_fail(stream->context, error);
    pthread_cond_broadcast(&device.changed);
    stream_release_if_drained(stream);
}

__attribute__((visibility("default"))) void
device_work_subscribe(const struct device_work_watch *watch)
{
    device_lock();
    device.work = watch;
    device_unlock();
}

__attribute__((visibility("default"))) void *device_memory_view(const void *address)
{
    const uint64_t at = (uintptr_t)address;
    return arena_owns(&device.device_memory, at) ? memory_pointer(at) : NULL;
}

static enum step item_step(struct item *item)
{
    const struct device_work_watch *watch =
        item->of_program || item->step == marker_step ? NULL : device.work;
    if (watch)
        watch->begins();
    const enum step step = item->step(item);
    if (watch)
        watch->ends();
    return step;
}

enum step queue_step(struct CUstream_st *stream)
{
    struct item *item = stream->head;
    item->running = true;
    if (item->slices++ == 0)
        item->started = device.schedule.clock;
    enum step step = item_step(item);
    if (step == STEP_SPINNING || step == STEP_AGAIN)
        item->spins = step == STEP_SPINNING;
    switch (step) {
    case STEP_DONE:
        finish(item, CUDA_SUCCESS);
        break;
    case STEP_FAULT:
        finish(item, item->context_error);
        break;
    case STEP_SPINNING:
        item->slices += SPIN_PENALTY;
        item->running = false;
        break;
    case STEP_AGAIN:
        item->running = false;
        break;
    case STEP_ELSEWHERE: /* the item is no longer ours to look at */
        device.schedule.elsewhere++;
        break;
    }
    return step;
}

void queue_complete(struct item *item, CUresult error)
{
    device.schedule.elsewhere--;
    finish(item, error);
}

void queue_discard(struct CUstream_st *stream)
{
    struct item **link = &stream->head;
    if (!stream->head)
        return;
    stream->tail = NULL;
    if (*link && (*link)->running) {
        stream->tail = *link;
        link = &(*link)->next;
    }
    struct item *item = *link;
    *link = NULL;
    if (!stream->head)
        busy_remove(stream);
    while (item) {
        struct item *next = item->next;
        device.schedule.pending--;
        if (item->slices)
            outcome_item(item->sequence, item->started);
        item_release(item, stream->context->error);
        item = next;
    }
}
