/* Events. An event holds the mark of its last record; waiting for the event is waiting for that
 * mark, whatever is recorded later. */
#include "runtime/device/driver/graph/graph.h"
#include "runtime/device/driver/interprocess_event.h"

#include <stdlib.h>

enum {
    EVENT_FLAGS = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS,
};

CUresult CUDAAPI cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    /* "CU_EVENT_INTERPROCESS must be set along with CU_EVENT_DISABLE_TIMING" */
    if (!phEvent || Flags & ~(unsigned)EVENT_FLAGS ||
        (Flags & CU_EVENT_INTERPROCESS && !(Flags & CU_EVENT_DISABLE_TIMING)))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct CUevent_st *event = calloc(1, sizeof *event);
    if (!event)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    if (Flags & CU_EVENT_INTERPROCESS && !(event->shared = interprocess_event_create())) {
        free(event);
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    event->context = context;
    event->flags = Flags;
    object_add(&event->object, OBJECT_EVENT);
    *phEvent = event;
    return device_leave(CUDA_SUCCESS);
}

/* "An event may be destroyed before it is complete [...] and any associated resources will
 * automatically be released asynchronously at completion." Waits keep the mark, not the event. */
CUresult CUDAAPI cuEventDestroy_v2(CUevent hEvent)
{
    struct CUctx_st *context;
    CUresult result = device_enter_failed(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUevent_st *event = object_find(hEvent, OBJECT_EVENT);
    if (!event)
        return device_leave(CUDA_ERROR_INVALID_HANDLE);
    object_remove(&event->object);
    capture_forget_event(event);
    mark_release(event->mark);
    interprocess_event_destroy(event->shared);
    free(event);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuEventDestroy(CUevent hEvent)
{
    return cuEventDestroy_v2(hEvent);
}

static CUresult record(CUevent hEvent, CUstream handle, unsigned flags, bool per_thread)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUevent_st *event = object_find(hEvent, OBJECT_EVENT);
    /* "The event and stream must be from the same CUcontext": the default streams are the current
     * context's. */
    struct CUstream_st *stream = stream_resolve(context, handle, per_thread);
    if (!event || !stream || context_home(event->context) != context_home(stream->context))
        return device_leave(CUDA_ERROR_INVALID_HANDLE);
    if (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if ((result = capture_admits(stream)) != CUDA_SUCCESS)
        return device_leave(result);
    if (stream->capture)
        return device_leave(capture_record(stream, event, flags & CU_EVENT_RECORD_EXTERNAL));
    struct mark *mark = mark_create();
    struct item *item = !mark           ? NULL
                        : event->shared ? interprocess_event_record(event->shared, mark)
                                        : queue_marker(mark, NULL);
    if (!item) {
        mark_release(mark);
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    capture_forget_event(event);
    mark_release(event->mark);
    event->mark = mark_retain(mark);
    queue_enqueue(stream, item);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuEventRecord(CUevent hEvent, CUstream hStream)
{
    return record(hEvent, hStream, 0, false);
}

CUresult CUDAAPI cuEventRecord_ptsz(CUevent hEvent, CUstream hStream)
{
    return record(hEvent, hStream, 0, true);
}

CUresult CUDAAPI cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    return record(hEvent, hStream, flags, false);
}

CUresult CUDAAPI cuEventRecordWithFlags_ptsz(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    return record(hEvent, hStream, flags, true);
}

static CUresult enter(CUevent hEvent, struct CUctx_st **context, struct CUevent_st **event)
{
    CUresult result = device_enter_context(context);
    if (result != CUDA_SUCCESS)
        return result;
    *event = object_find(hEvent, OBJECT_EVENT);
    return *event ? CUDA_SUCCESS : device_leave(CUDA_ERROR_INVALID_HANDLE);
}

CUresult CUDAAPI cuEventQuery(CUevent hEvent)
{
    struct CUctx_st *context;
    struct CUevent_st *event;
    CUresult result = enter(hEvent, &context, &event);
    if (result != CUDA_SUCCESS)
        return result;
    if ((result = capture_admits_event(event)) != CUDA_SUCCESS)
        return device_leave(result);
    /* "If cuEventRecord() has not been called on hEvent, this call returns CUDA_SUCCESS" */
    if (event->shared ? interprocess_event_done(event) : !event->mark || event->mark->done)
        return device_leave(CUDA_SUCCESS);
    if (event->shared && interprocess_event_is_foreign(event)) {
        struct goal all = goal_context(context); /* the other process may wait for any of it */
        schedule_query(&all);
        return device_leave(CUDA_ERROR_NOT_READY);
    }
    struct mark *mark = mark_retain(event->mark);
    struct goal goal = goal_mark(mark);
    schedule_query(&goal);
    if (context->error != CUDA_SUCCESS)
        result = context->error;
    else if (!mark->done)
        result = CUDA_ERROR_NOT_READY;
    mark_release(mark);
    return device_leave(result);
}

CUresult CUDAAPI cuEventSynchronize(CUevent hEvent)
{
    struct CUctx_st *context;
    struct CUevent_st *event;
    CUresult result = enter(hEvent, &context, &event);
    if (result != CUDA_SUCCESS)
        return result;
    if ((result = capture_admits_event(event)) != CUDA_SUCCESS)
        return device_leave(result);
    if (event->shared && (result = interprocess_event_look(event, context)) != CUDA_SUCCESS)
        return device_leave(result);
    if (!event->mark)
        return device_leave(CUDA_SUCCESS);
    struct mark *mark = mark_retain(event->mark);
    struct goal goal = goal_mark(mark);
    result = schedule_until(&goal, context);
    mark_release(mark);
    pool_trim();
    return device_leave(result);
}

static CUresult elapsed_time(float *milliseconds, CUevent hStart, CUevent hEnd)
{
    struct CUctx_st *context;
    struct CUevent_st *start;
    CUresult result = enter(hStart, &context, &start);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUevent_st *end = object_find(hEnd, OBJECT_EVENT);
    if (!milliseconds)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    /* "If either event was created with CU_EVENT_DISABLE_TIMING" or never recorded: invalid
     * handle; not complete: not ready. */
    if (!end || !start->mark || !end->mark || (start->flags | end->flags) & CU_EVENT_DISABLE_TIMING)
        return device_leave(CUDA_ERROR_INVALID_HANDLE);
    if (capture_has_event(start) || capture_has_event(end))
        return device_leave(capture_admits_event(capture_has_event(start) ? start : end));
    struct mark *from = mark_retain(start->mark), *to = mark_retain(end->mark);
    struct goal goal = goal_mark(from->done ? to : from);
    schedule_query(&goal); /* who polls must see progress, as with a query */
    if (context->error != CUDA_SUCCESS)
        result = context->error;
    else if (!from->done || !to->done)
        result = CUDA_ERROR_NOT_READY;
    else
        *milliseconds = (float)((double)(int64_t)(to->nanoseconds - from->nanoseconds) * 1e-6);
    mark_release(from);
    mark_release(to);
    return device_leave(result);
}

CUresult CUDAAPI cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return elapsed_time(pMilliseconds, hStart, hEnd);
}

CUresult CUDAAPI cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return elapsed_time(pMilliseconds, hStart, hEnd);
}
