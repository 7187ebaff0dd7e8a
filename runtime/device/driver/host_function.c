/* Host functions and stream callbacks. They run in stream order, one at a time, on a thread of the
 * driver's own and without its lock. If they ran on the thread that made the API call, a function
 * that takes a lock of the program's could wait for its own caller.
 *
 * A thread that hands a function over waits a moment for its end. So a run with one host thread and
 * a seed goes the same way every time. Only a function that takes long, or waits for that very
 * thread, is left to run beside it. */
#include "runtime/device/driver/graph/graph.h"

#include <errno.h>
#include <stdlib.h>

enum { HAND_OVER_NANOSECONDS = 20 * 1000 * 1000 };

struct hostfunc_item {
    struct item item;
    struct hostfunc_item *next_waiting;
    CUhostFn function; /* one of the two */
    CUstreamCallback callback;
    CUstream handle; /* as the program gave it */
    void *data;
    bool *finished; /* the waiting thread's, while it waits */
    bool counted;   /* in device.host_writers */
};

static void run_function(struct hostfunc_item *work)
{
    device_unlock();
    context_in_host_function = true;
    if (work->function)
        work->function(work->data);
    else
        work->callback(work->handle, CUDA_SUCCESS, work->data);
    context_in_host_function = false;
    device_lock();
    if (work->finished)
        *work->finished = true;
}

static void *host_thread(void *unused)
{
    (void)unused;
    device_lock();
    while (!atomic_load(&device.closing)) {
        struct hostfunc_item *work = device.hostfunc_head;
        if (!work) {
            pthread_cond_wait(&device.hostfunc_work, &device.lock);
            continue;
        }
        device.hostfunc_head = work->next_waiting;
        if (!device.hostfunc_head)
            device.hostfunc_tail = NULL;
        run_function(work);
        queue_complete(&work->item, CUDA_SUCCESS);
    }
    device_unlock();
    return NULL;
}

static void wait_a_moment(const bool *finished)
{
    struct timespec until = schedule_deadline(HAND_OVER_NANOSECONDS);
    while (!*finished)
        if (device.schedule.ignores_clock)
            pthread_cond_wait(&device.changed, &device.lock);
        else if (pthread_cond_timedwait(&device.changed, &device.lock, &until) == ETIMEDOUT)
            return;
}

static enum step hostfunc_step(struct item *item)
{
    struct hostfunc_item *work = (struct hostfunc_item *)item;
    if (!device.hostfunc_started)
        device.hostfunc_started = schedule_thread(host_thread);
    if (!device.hostfunc_started) {
        run_function(work);
        return STEP_DONE;
    }
    bool finished = false;
    work->finished = &finished;
    work->next_waiting = NULL;
    if (device.hostfunc_tail)
        device.hostfunc_tail->next_waiting = work;
    else
        device.hostfunc_head = work;
    device.hostfunc_tail = work;
    pthread_cond_signal(&device.hostfunc_work);
    wait_a_moment(&finished);
    if (!finished)
        work->finished = NULL;
    return STEP_ELSEWHERE;
}

static void hostfunc_discard(struct item *item)
{
    const struct hostfunc_item *work = (const struct hostfunc_item *)item;
    device.host_writers -= work->counted;
    free(item);
}

static struct item *hostfunc_again(const struct item *item);

static struct hostfunc_item *hostfunc_create(CUhostFn function, void *data)
{
    struct hostfunc_item *work = calloc(1, sizeof *work);
    if (!work)
        return NULL;
    work->item.step = hostfunc_step;
    work->item.of_program = true;
    work->item.discard = hostfunc_discard;
    work->item.again = hostfunc_again;
    work->function = function;
    work->data = data;
    return work;
}

/* It is about to be enqueued. */
static void hostfunc_count(struct hostfunc_item *work)
{
    work->counted = true;
    device.host_writers++;
}

static struct item *hostfunc_again(const struct item *item)
{
    const struct hostfunc_item *work = (const struct hostfunc_item *)item;
    struct hostfunc_item *fresh = hostfunc_create(work->function, work->data);
    if (fresh)
        hostfunc_count(fresh);
    return fresh ? &fresh->item : NULL;
}

CUresult hostfunc_of_node(const CUDA_HOST_NODE_PARAMS_v1 *params, struct item **item)
{
    if (!params->fn)
        return CUDA_ERROR_INVALID_VALUE;
    struct hostfunc_item *work = hostfunc_create(params->fn, params->userData);
    *item = work ? &work->item : NULL;
    return work ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

void hostfunc_describe(const struct item *item, CUDA_HOST_NODE_PARAMS_v1 *params)
{
    const struct hostfunc_item *work = (const struct hostfunc_item *)item;
    *params = (CUDA_HOST_NODE_PARAMS_v1){work->function, work->data};
}

static CUresult enqueue(CUstream handle, CUhostFn function, CUstreamCallback callback, void *data,
                        bool per_thread)
{
    struct CUstream_st *stream;
    CUresult result = stream_enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!function && !callback)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    /* Callbacks are no nodes: they get the stream's handle and its status. */
    if ((result = callback && stream->capture ? capture_refuses(stream) : capture_admits(stream)) !=
        CUDA_SUCCESS)
        return device_leave(result);
    struct hostfunc_item *work = hostfunc_create(function, data);
    if (!work)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    if (stream->capture)
        return device_leave(capture_work(stream, CU_GRAPH_NODE_TYPE_HOST, &work->item));
    work->callback = callback;
    work->handle = handle;
    hostfunc_count(work);
    queue_enqueue(stream, &work->item);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    return enqueue(hStream, fn, NULL, userData, false);
}

CUresult CUDAAPI cuLaunchHostFunc_ptsz(CUstream hStream, CUhostFn fn, void *userData)
{
    return enqueue(hStream, fn, NULL, userData, true);
}

/* How the driver's thread waits makes no difference here. */
static CUresult enqueue_with_mode(CUstream stream, CUhostFn function, void *data, unsigned mode,
                                  bool per_thread)
{
    enum { BLOCKING = 0, SPINWAIT = 1 };
    if (mode != BLOCKING && mode != SPINWAIT)
        return CUDA_ERROR_INVALID_VALUE;
    return enqueue(stream, function, NULL, data, per_thread);
}

CUresult CUDAAPI cuLaunchHostFunc_v2(CUstream hStream, CUhostFn fn, void *userData,
                                     unsigned int syncMode)
{
    return enqueue_with_mode(hStream, fn, userData, syncMode, false);
}

CUresult CUDAAPI cuLaunchHostFunc_v2_ptsz(CUstream hStream, CUhostFn fn, void *userData,
                                          unsigned int syncMode)
{
    return enqueue_with_mode(hStream, fn, userData, syncMode, true);
}

CUresult CUDAAPI cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData,
                                     unsigned int flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : enqueue(hStream, NULL, callback, userData, false);
}

CUresult CUDAAPI cuStreamAddCallback_ptsz(CUstream hStream, CUstreamCallback callback,
                                          void *userData, unsigned int flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : enqueue(hStream, NULL, callback, userData, true);
}
