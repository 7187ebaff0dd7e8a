/* Streams: created ones, the legacy default stream of each context, and the default stream of each
 * host thread. queue.c and schedule.c run what is in them. */
#include "runtime/device/driver/graph/graph.h"
#include "csan/base/array.h"
#include "runtime/device/driver/interprocess_event.h"

#include <stdlib.h>
#include <string.h>

/* Default streams of threads are found by a number that is never used again. The key's destructor
 * runs when a thread ends: its streams are destroyed once they are done. */
static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;

static void thread_ended(void *value)
{
    uint64_t thread = (uint64_t)value;
    if (atomic_load(&device.forked) || atomic_load(&device.closing))
        return;
    device_lock();
    for (struct CUctx_st *context = device.contexts; context; context = context->next)
        for (struct CUstream_st *stream = context->streams, *next; stream; stream = next) {
            next = stream->next;
            if (!stream->per_thread || stream->thread != thread || stream->destroyed)
                continue;
            object_remove(&stream->object);
            stream->destroyed = true;
            stream_release_if_drained(stream);
        }
    device_unlock();
}

static void thread_key_create(void)
{
    pthread_key_create(&thread_key, thread_ended);
}

uint64_t stream_thread(void)
{
    static atomic_uint_fast64_t next = 1;
    pthread_once(&thread_once, thread_key_create);
    uint64_t mine = (uint64_t)pthread_getspecific(thread_key);
    if (!mine) {
        mine = atomic_fetch_add(&next, 1);
        pthread_setspecific(thread_key, (void *)mine);
    }
    return mine;
}

enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 };

bool stream_is_blocking(const struct CUstream_st *stream)
{
    return !(stream->flags & CU_STREAM_NON_BLOCKING);
}

struct CUstream_st *stream_create(struct CUctx_st *context, unsigned flags, int priority)
{
    struct CUstream_st *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->context = context;
    stream->flags = flags;
    stream->priority = priority > LEAST_PRIORITY      ? LEAST_PRIORITY
                       : priority < GREATEST_PRIORITY ? GREATEST_PRIORITY
                                                      : priority;
    stream->serial = ++device.next_stream;
    struct CUstream_st **last = &context->streams;
    while (*last)
        last = &(*last)->next;
    *last = stream;
    object_add(&stream->object, OBJECT_STREAM);
    return stream;
}

/* Behind the legacy stream, which is the first: most walks are for a stream of the program's. */
struct CUstream_st *stream_create_branch(struct CUctx_st *context)
{
    struct CUstream_st *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->context = context;
    stream->flags = CU_STREAM_NON_BLOCKING;
    stream->serial = ++device.next_stream;
    stream->branch = true;
    stream->next = context->legacy->next;
    context->legacy->next = stream;
    return stream;
}

void stream_abandon(struct CUstream_st *stream)
{
    stream->destroyed = true;
    stream_release_if_drained(stream);
}

void stream_free(struct CUstream_st *stream)
{
    struct CUstream_st **link = &stream->context->streams;
    while (*link != stream)
        link = &(*link)->next;
    *link = stream->next;
    if (!stream->destroyed && !stream->branch)
        object_remove(&stream->object);
    capture_leave(stream);
    mark_release(stream->beside.lets);
    mark_release(stream->beside.end);
    free(stream->orders);
    free(stream);
}

void stream_release_if_drained(struct CUstream_st *stream)
{
    if (stream->destroyed && !stream->head && !stream->waiters)
        stream_free(stream);
}

static struct CUstream_st *per_thread_stream(struct CUctx_st *context)
{
    uint64_t thread = stream_thread();
    for (struct CUstream_st *stream = context->streams; stream; stream = stream->next)
        if (stream->per_thread && stream->thread == thread)
            return stream;
    struct CUstream_st *stream = stream_create(context, 0, 0);
    if (stream) {
        stream->per_thread = true;
        stream->thread = thread;
    }
    return stream;
}

struct CUstream_st *stream_resolve(struct CUctx_st *context, CUstream handle, bool per_thread)
{
    if (handle == CU_STREAM_PER_THREAD || (!handle && per_thread))
        return per_thread_stream(context);
    if (handle == CU_STREAM_LEGACY || !handle)
        return context->legacy;
    return object_find(handle, OBJECT_STREAM);
}

CUresult stream_enter(CUstream handle, bool per_thread, struct CUstream_st **stream)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    *stream = stream_resolve(context, handle, per_thread);
    return *stream ? CUDA_SUCCESS : device_leave(CUDA_ERROR_INVALID_HANDLE);
}

/* Enter for a call on a stream whose context must not have failed. */
static CUresult enter(CUstream handle, bool per_thread, struct CUctx_st **context,
                      struct CUstream_st **stream)
{
    CUresult result = device_enter_context(context);
    if (result != CUDA_SUCCESS)
        return result;
    *stream = stream_resolve(*context, handle, per_thread);
    if (!*stream)
        return device_leave(CUDA_ERROR_INVALID_HANDLE);
    if ((*stream)->context->error != CUDA_SUCCESS)
        return device_leave((*stream)->context->error);
    return CUDA_SUCCESS;
}

/* ---- Create and destroy -------------------------------------------------------------------- */

CUresult CUDAAPI cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!phStream || flags & ~(unsigned)CU_STREAM_NON_BLOCKING)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct CUstream_st *stream = stream_create(context, flags, priority);
    if (!stream)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    green_stream_created(stream);
    *phStream = stream;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
    return cuStreamCreateWithPriority(phStream, Flags, 0);
}

/* "In case the device is still doing work in the stream hStream when cuStreamDestroy() is called,
 * the function will return immediately and the resources associated with hStream will be released
 * automatically once the device has completed all work in hStream." */
CUresult CUDAAPI cuStreamDestroy_v2(CUstream hStream)
{
    struct CUctx_st *context;
    CUresult result = device_enter_failed(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUstream_st *stream = object_find(hStream, OBJECT_STREAM);
    if (!stream || stream->legacy || stream->per_thread)
        return device_leave(CUDA_ERROR_INVALID_HANDLE);
    object_remove(&stream->object);
    stream->destroyed = true;
    stream_release_if_drained(stream);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamDestroy(CUstream hStream)
{
    return cuStreamDestroy_v2(hStream);
}

/* ---- Wait ---------------------------------------------------------------------------------- */

static CUresult synchronize(CUstream handle, bool per_thread)
{
    struct CUctx_st *context;
    struct CUstream_st *stream;
    CUresult result = enter(handle, per_thread, &context, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if ((result = capture_admits_wait(stream)) != CUDA_SUCCESS)
        return device_leave(result);
    struct goal goal = goal_stream(stream);
    result = schedule_until(&goal, stream->context);
    pool_trim();
    return device_leave(result);
}

CUresult CUDAAPI cuStreamSynchronize(CUstream hStream)
{
    return synchronize(hStream, false);
}
CUresult CUDAAPI cuStreamSynchronize_ptsz(CUstream hStream)
{
    return synchronize(hStream, true);
}

static CUresult query(CUstream handle, bool per_thread)
{
    struct CUctx_st *context;
    struct CUstream_st *stream;
    CUresult result = enter(handle, per_thread, &context, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if ((result = capture_admits_wait(stream)) != CUDA_SUCCESS)
        return device_leave(result);
    struct goal goal = goal_stream(stream);
    struct CUctx_st *owner = stream->context;
    if (!schedule_reached(&goal)) {
        schedule_query(&goal);
        if (owner->error != CUDA_SUCCESS)
            result = owner->error;
        else if (!schedule_reached(&goal))
            result = CUDA_ERROR_NOT_READY;
    }
    return device_leave(result);
}

CUresult CUDAAPI cuStreamQuery(CUstream hStream)
{
    return query(hStream, false);
}
CUresult CUDAAPI cuStreamQuery_ptsz(CUstream hStream)
{
    return query(hStream, true);
}

/* "Ordered before" as far as a stream-ordered allocation may count on it: what the stream waited
 * for directly. */
static void order_note(struct CUstream_st *stream, const struct mark *mark)
{
    for (size_t i = 0; i < stream->order_count; i++)
        if (stream->orders[i].stream == mark->stream) {
            if (stream->orders[i].sequence < mark->sequence)
                stream->orders[i].sequence = mark->sequence;
            return;
        }
    if (!array_room(&stream->orders, stream->order_count, &stream->order_capacity, 4, SIZE_MAX,
                    sizeof *stream->orders))
        return; /* less reuse, nothing worse */
    stream->orders[stream->order_count++] = (struct order){mark->stream, mark->sequence};
}

static CUresult wait_event(CUstream handle, CUevent hEvent, unsigned flags, bool per_thread)
{
    struct CUctx_st *context;
    struct CUstream_st *stream;
    CUresult result = enter(handle, per_thread, &context, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUevent_st *event = object_find(hEvent, OBJECT_EVENT);
    if (!event)
        return device_leave(CUDA_ERROR_INVALID_HANDLE);
    if (flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if ((result = capture_admits(stream)) != CUDA_SUCCESS)
        return device_leave(result);
    if (stream->capture || capture_has_event(event))
        return device_leave(capture_wait(stream, event, flags & CU_EVENT_WAIT_EXTERNAL));
    if (event->shared && (result = interprocess_event_look(event, context)) != CUDA_SUCCESS)
        return device_leave(result);
    /* "If cuEventRecord() has not been called on hEvent, this call acts as if the record has
     * already completed." On the legacy stream the wait still is a piece of work others wait for.
     */
    struct item *item = queue_marker(NULL, event->mark ? mark_retain(event->mark) : NULL);
    if (!item) {
        mark_release(event->mark);
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    if (event->mark)
        order_note(stream, event->mark);
    queue_enqueue(stream, item);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    return wait_event(hStream, hEvent, Flags, false);
}

CUresult CUDAAPI cuStreamWaitEvent_ptsz(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    return wait_event(hStream, hEvent, Flags, true);
}

/* ---- Ask ----------------------------------------------------------------------------------- */

/* Entry points that answer where the program wants it, for both default streams. */
#define ASKS(function, answer_type, found)                                                         \
    static CUresult function##_of(CUstream handle, answer_type *answer, bool per_thread)           \
    {                                                                                              \
        struct CUctx_st *context;                                                                  \
        struct CUstream_st *stream;                                                                \
        CUresult result = enter(handle, per_thread, &context, &stream);                            \
        if (result != CUDA_SUCCESS)                                                                \
            return result;                                                                         \
        if (!answer)                                                                               \
            return device_leave(CUDA_ERROR_INVALID_VALUE);                                         \
        *answer = found;                                                                           \
        return device_leave(CUDA_SUCCESS);                                                         \
    }                                                                                              \
    CUresult CUDAAPI function(CUstream handle, answer_type *answer)                                \
    {                                                                                              \
        return function##_of(handle, answer, false);                                               \
    }                                                                                              \
    CUresult CUDAAPI function##_ptsz(CUstream handle, answer_type *answer)                         \
    {                                                                                              \
        return function##_of(handle, answer, true);                                                \
    }

ASKS(cuStreamGetFlags, unsigned int, stream->flags)
ASKS(cuStreamGetPriority, int, stream->priority)
ASKS(cuStreamGetId, unsigned long long, stream->serial)
ASKS(cuStreamGetCtx, CUcontext, stream->context)
ASKS(cuStreamGetDevice, CUdevice, stream->context->ordinal)

CUresult CUDAAPI cuStreamGetCtx_v2(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx)
{
    CUresult result = cuStreamGetCtx_of(hStream, pCtx, false);
    if (pGreenCtx && result == CUDA_SUCCESS)
        *pGreenCtx = green_of_stream(hStream);
    return result;
}

CUresult CUDAAPI cuStreamGetCtx_v2_ptsz(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx)
{
    CUresult result = cuStreamGetCtx_of(hStream, pCtx, true);
    if (pGreenCtx && result == CUDA_SUCCESS)
        *pGreenCtx = green_of_stream(hStream);
    return result;
}

CUresult CUDAAPI cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (leastPriority)
        *leastPriority = LEAST_PRIORITY;
    if (greatestPriority)
        *greatestPriority = GREATEST_PRIORITY;
    return device_leave(CUDA_SUCCESS);
}

/* ---- Attributes: hints about speed, kept and given back
 * ------------------------------------------ */

static CUresult set_attribute(CUstream handle, CUstreamAttrID attribute,
                              const CUstreamAttrValue *value, bool per_thread)
{
    struct CUctx_st *context;
    struct CUstream_st *stream;
    CUresult result = enter(handle, per_thread, &context, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!value || (unsigned)attribute >= STREAM_ATTRIBUTES)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    stream->attributes[attribute] = *value;
    if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY)
        stream->priority = value->priority;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr,
                                      const CUstreamAttrValue *value)
{
    return set_attribute(hStream, attr, value, false);
}

CUresult CUDAAPI cuStreamSetAttribute_ptsz(CUstream hStream, CUstreamAttrID attr,
                                           const CUstreamAttrValue *value)
{
    return set_attribute(hStream, attr, value, true);
}

static CUresult get_attribute(CUstream handle, CUstreamAttrID attribute, CUstreamAttrValue *value,
                              bool per_thread)
{
    struct CUctx_st *context;
    struct CUstream_st *stream;
    CUresult result = enter(handle, per_thread, &context, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!value || (unsigned)attribute >= STREAM_ATTRIBUTES)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *value = stream->attributes[attribute];
    if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY)
        value->priority = stream->priority;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr,
                                      CUstreamAttrValue *value)
{
    return get_attribute(hStream, attr, value, false);
}

CUresult CUDAAPI cuStreamGetAttribute_ptsz(CUstream hStream, CUstreamAttrID attr,
                                           CUstreamAttrValue *value)
{
    return get_attribute(hStream, attr, value, true);
}

static CUresult copy_attributes(CUstream dst, CUstream src, bool per_thread)
{
    struct CUctx_st *context;
    struct CUstream_st *to = NULL;
    CUresult result = enter(dst, per_thread, &context, &to);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUstream_st *from = stream_resolve(context, src, per_thread);
    if (!from || !to)
        return device_leave(CUDA_ERROR_INVALID_HANDLE);
    memcpy(to->attributes, from->attributes, sizeof to->attributes);
    to->priority = from->priority;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamCopyAttributes(CUstream dst, CUstream src)
{
    return copy_attributes(dst, src, false);
}

CUresult CUDAAPI cuStreamCopyAttributes_ptsz(CUstream dst, CUstream src)
{
    return copy_attributes(dst, src, true);
}

/* Managed memory is visible to every stream and to the host at all times: attaching changes
 * nothing. */
static CUresult attach(CUstream handle, CUdeviceptr dptr, unsigned flags, bool per_thread)
{
    struct CUctx_st *context;
    struct CUstream_st *stream;
    CUresult result = enter(handle, per_thread, &context, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST &&
        flags != CU_MEM_ATTACH_SINGLE)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if ((result = capture_refuses(stream)) != CUDA_SUCCESS) /* no node does this */
        return device_leave(result);
    return device_leave(memory_at(dptr).kind == MEMORY_MANAGED ? CUDA_SUCCESS
                                                               : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length,
                                        unsigned int flags)
{
    (void)length;
    return attach(hStream, dptr, flags, false);
}

CUresult CUDAAPI cuStreamAttachMemAsync_ptsz(CUstream hStream, CUdeviceptr dptr, size_t length,
                                             unsigned int flags)
{
    (void)length;
    return attach(hStream, dptr, flags, true);
}
