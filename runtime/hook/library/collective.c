/* NCCL: ranks and roots of communicators, and what a group has called. See collective.h. */
#include "runtime/hook/library/collective.h"
#include "runtime/hook/capture.h"
#include "runtime/hook/guard.h"
#include "runtime/hook/operation.h"
#include "runtime/hook/stream.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    SUCCESS = 0,
    IN_PROGRESS = 7, /* of a communicator that does not block: enqueued by a thread of NCCL's */
    ACCESSES_MAX = 4,
    ANY_DEVICE = -1
};

/* A call that its group's end enqueues. */
struct enqueued {
    CUstream stream;
    int device; /* whose default stream is meant, or ANY_DEVICE: the stream is none */
    csan_site site;
    size_t count;
    struct csan_access accesses[ACCESSES_MAX]; /* without dims */
};

struct group {
    int depth;
    size_t count, room;
    struct enqueued *calls;
};

static __thread struct group *self __attribute__((tls_model("initial-exec")));

static struct {
    pthread_key_t key;
    pthread_once_t once;
    void *retain, *release, *push, *pop;
} collective = {.once = PTHREAD_ONCE_INIT};

static void thread_end(void *value)
{
    struct group *own = value;
    self = NULL;
    free(own->calls);
    free(own);
}
static void key_create(void)
{
    pthread_key_create(&collective.key, thread_end);
}

static struct group *group_of_thread(void)
{
    if (self)
        return self;
    pthread_once(&collective.once, key_create);
    struct group *fresh = calloc(1, sizeof *fresh);
    if (!fresh || pthread_setspecific(collective.key, fresh) != 0) {
        free(fresh);
        return NULL;
    }
    return self = fresh;
}

/* ---- Enqueuing ---- */

/* The default streams belong to the communicator's device, whichever is current in the thread. */
static bool context_push(int device, CUcontext *context)
{
    PFN_cuDevicePrimaryCtxRetain_v7000 retain =
        (PFN_cuDevicePrimaryCtxRetain_v7000)driver_function_cached(&collective.retain,
                                                                   "cuDevicePrimaryCtxRetain");
    PFN_cuCtxPushCurrent_v4000 push =
        (PFN_cuCtxPushCurrent_v4000)driver_function_cached(&collective.push, "cuCtxPushCurrent_v2");
    PFN_cuDevicePrimaryCtxRelease_v11000 release =
        (PFN_cuDevicePrimaryCtxRelease_v11000)driver_function_cached(
            &collective.release, "cuDevicePrimaryCtxRelease_v2");
    if (!retain || !push || !release || retain(context, device) != CUDA_SUCCESS)
        return false;
    if (push(*context) == CUDA_SUCCESS)
        return true;
    release(device);
    return false;
}

static void context_pop(int device)
{
    CUcontext context;
    PFN_cuCtxPopCurrent_v4000 pop =
        (PFN_cuCtxPopCurrent_v4000)driver_function_cached(&collective.pop, "cuCtxPopCurrent_v2");
    PFN_cuDevicePrimaryCtxRelease_v11000 release =
        (PFN_cuDevicePrimaryCtxRelease_v11000)driver_function_cached(
            &collective.release, "cuDevicePrimaryCtxRelease_v2");
    if (pop)
        pop(&context);
    release(device);
}

static void record(const struct enqueued *call)
{
    if (stream_is_capturing(call->stream, false)) {
        capture_op(call->stream, false, call->site, CSAN_LEVEL_LIBRARY, call->accesses,
                   call->count);
        return;
    }
    struct stream *stream = stream_lock(call->stream, false);
    if (!stream)
        return;
    stream_use(stream);
    csan_op(process_context(), stream_lane(stream), call->site, CSAN_LEVEL_LIBRARY, call->accesses,
            call->count);
    guard_unlock();
}

static void enqueue(const struct enqueued *call)
{
    CUcontext context;
    bool pushed = call->device != ANY_DEVICE && context_push(call->device, &context);
    record(call);
    if (pushed)
        context_pop(call->device);
}

/* ---- Groups ---- */

static bool is_default_stream(uint64_t stream)
{
    return stream <= (uintptr_t)CU_STREAM_PER_THREAD; /* NULL, legacy, per thread */
}

static int device_of(const struct touch *call, uint64_t communicator)
{
    int device = ANY_DEVICE;
    int (*ask)(void *communicator, int *device) =
        (int (*)(void *, int *))library_ask(call->home, LIBRARY_DEVICE);
    if (!ask || ask((void *)(uintptr_t)communicator, &device) != SUCCESS)
        return ANY_DEVICE;
    return device;
}

void collective_called(struct touch *call, const struct callsite_stack *stack, int result)
{
    struct group *own = group_of_thread();
    const struct csan_operator *what = &call->function->operation;
    unsigned place = (unsigned)call->function->stream;
    if (!own || (result != SUCCESS && result != IN_PROGRESS) || call->count == 0)
        return;
    struct enqueued called = {
        .stream = (CUstream)(uintptr_t)touch_argument_pointer(call, place),
        .device = ANY_DEVICE,
        .site = operation_site(stack, what->name, what->arguments, what->argument_count)};
    if (is_default_stream((uintptr_t)called.stream))
        called.device = device_of(call, touch_argument_pointer(call, place - 1));
    while (called.count < call->count && called.count < ACCESSES_MAX) {
        called.accesses[called.count] = call->accesses[called.count];
        called.accesses[called.count++].dims = NULL;
    }
    operation_name(called.accesses, called.count);
    if (own->depth == 0) {
        enqueue(&called);
        return;
    }
    if (own->count == own->room) {
        size_t room = own->room ? own->room * 2 : 8;
        struct enqueued *bigger = realloc(own->calls, room * sizeof *bigger);
        if (!bigger)
            return;
        own->calls = bigger;
        own->room = room;
    }
    own->calls[own->count++] = called;
}

void collective_group_start(struct touch *call, int result);
void collective_group_start(struct touch *call, int result)
{
    (void)call;
    struct group *own = group_of_thread();
    if (own && result == SUCCESS)
        own->depth++;
}

void collective_group_end(struct touch *call, int result);
void collective_group_end(struct touch *call, int result)
{
    (void)call;
    struct group *own = group_of_thread();
    if (!own || own->depth == 0 || --own->depth > 0)
        return;
    for (size_t i = 0; i < own->count && (result == SUCCESS || result == IN_PROGRESS); i++)
        enqueue(&own->calls[i]);
    own->count = 0;
}
