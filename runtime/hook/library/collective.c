/* NCCL: ranks and roots of communicators, and the calls of a group. See collective.h. */
#include "runtime/hook/library/collective.h"
#include "runtime/hook/library/collective_link.h"
#include "runtime/hook/library/window.h"
#include "csan/base/array.h"
#include "runtime/hook/graph/capture.h"
#include "runtime/hook/graph/graph_node_accesses.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/operator/operator_work.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/session/session.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
    CUgraphNode node; /* that it became part of, if its stream is captured */
    size_t count;
    struct csan_access accesses[ACCESSES_MAX]; /* without dims */
    bool linked;                               /* it orders processes */
    struct graph_call what;
    struct collective_link link; /* once it is made */
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

/* What the calls of the node order, from the first to this one: each of its launches does. */
static void link_captured(const struct group *own, size_t number)
{
    const struct enqueued *call = &own->calls[number];
    struct graph_call *calls = malloc((number + 1) * sizeof *calls);
    size_t count = 0;
    for (size_t i = 0; calls && call->node && i <= number; i++)
        if (own->calls[i].node == call->node && own->calls[i].linked)
            calls[count++] = own->calls[i].what;
    if (call->linked && !collective_link_in_graph(&call->what))
        collective_link_captured();
    struct graph_calls *kept = count ? graph_calls_create(calls, count) : NULL;
    free(calls);
    if (kept)
        graph_node_calls(call->node, kept);
    else if (call->linked)
        collective_link_captured();
}

/* A node may do the work of several calls of the group: its accesses are those of all of them, with
 * the names of the first. */
static void record_captured(struct group *own, size_t number)
{
    struct enqueued *call = &own->calls[number];
    call->node = capture_op(call->stream, false, call->site, CSAN_LEVEL_LIBRARY, call->accesses,
                            call->count);
    struct csan_access *all = malloc((number + 1) * ACCESSES_MAX * sizeof *all);
    size_t count = 0, first = number;
    for (size_t i = number + 1; all && call->node && i-- > 0;) {
        if (own->calls[i].node != call->node)
            continue;
        memcpy(&all[count], own->calls[i].accesses, own->calls[i].count * sizeof *all);
        count += own->calls[i].count;
        first = i;
    }
    if (first != number)
        capture_op(call->stream, false, own->calls[first].site, CSAN_LEVEL_LIBRARY, all, count);
    free(all);
    link_captured(own, number);
}

/* The accesses of these kinds, in the stream's turn. */
static void op_of_kinds(csan_lane lane, const struct enqueued *call, unsigned kinds)
{
    struct csan_access accesses[ACCESSES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < call->count; i++)
        if (kinds & 1u << call->accesses[i].kind)
            accesses[count++] = call->accesses[i];
    if (count)
        csan_op(session_context(), lane, call->site, CSAN_LEVEL_LIBRARY, accesses, count);
}

/* What others get was read before they have it, and what is written comes behind what they gave. A
 * put writes what they get. All calls of a group give before one takes. */
enum half { WHOLE, GIVES, TAKES };

static void record(const struct enqueued *call, enum half half)
{
    enum { READS = 1u << CSAN_READ, ALL = ~0u };
    struct stream *stream = stream_lock(call->stream, false);
    if (!stream)
        return;
    stream_use(stream);
    const csan_lane lane = stream_lane(stream);
    if (half == GIVES) {
        op_of_kinds(lane, call, call->link.puts ? (unsigned)ALL : (unsigned)READS);
        collective_link_give(lane, &call->link);
    } else if (half == TAKES) {
        collective_link_take(lane, &call->link);
        if (!call->link.puts)
            op_of_kinds(lane, call, (unsigned)ALL & ~(unsigned)READS);
    } else {
        op_of_kinds(lane, call, (unsigned)ALL);
    }
    guard_unlock();
}

static void enqueue_one(struct group *own, size_t number, enum half half)
{
    struct enqueued *call = &own->calls[number];
    CUcontext context;
    bool pushed = call->device != ANY_DEVICE && context_push(call->device, &context);
    const bool captured = stream_is_capturing(call->stream, false);
    if (!captured && half == GIVES)
        collective_link_number(&call->what, &call->link);
    if (captured && half != TAKES)
        record_captured(own, number);
    else if (!captured)
        record(call, half);
    if (pushed)
        context_pop(call->device);
}

/* All calls of the group. */
static void enqueue(struct group *own)
{
    for (size_t i = 0; i < own->count; i++)
        enqueue_one(own, i, own->calls[i].linked ? GIVES : WHOLE);
    for (size_t i = 0; i < own->count; i++)
        if (own->calls[i].linked)
            enqueue_one(own, i, TAKES);
    own->count = 0;
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

bool collective_in_group(void)
{
    return self && self->depth > 0;
}

void collective_called(struct touch *call, const struct callsite_stack *stack, int result)
{
    struct group *own = group_of_thread();
    const struct csan_operator *what = &call->function->operation;
    unsigned place = (unsigned)call->function->stream;
    const bool signals = collective_link_signals(call);
    if (!own || (result != SUCCESS && result != IN_PROGRESS) || (call->count == 0 && !signals))
        return;
    struct enqueued called = {
        .stream = (CUstream)(uintptr_t)touch_argument_pointer(call, place),
        .device = ANY_DEVICE,
        .site = operator_site(stack, what->name, what->arguments, what->argument_count)};
    if (is_default_stream((uintptr_t)called.stream))
        called.device = device_of(call, touch_argument_pointer(call, place - 1));
    while (called.count < call->count && called.count < ACCESSES_MAX) {
        called.accesses[called.count] = call->accesses[called.count];
        called.accesses[called.count++].dims = NULL;
    }
    operator_name(called.accesses, called.count);
    for (size_t i = 0, links = collective_link_count(call); i < links; i++) {
        called.linked = collective_link_describe(call, i, &called.what);
        if (signals && !called.linked)
            continue;
        if (!array_room(&own->calls, own->count, &own->room, 8, SIZE_MAX, sizeof *own->calls))
            return;
        own->calls[own->count++] = called;
    }
    if (own->depth == 0)
        enqueue(own);
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
    windows_of_group(result == SUCCESS);
    if (result == SUCCESS || result == IN_PROGRESS)
        enqueue(own);
    own->count = 0;
}
