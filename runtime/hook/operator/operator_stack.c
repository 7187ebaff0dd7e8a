/* The operators that run, thread by thread. See operator_stack.h. */
#include "runtime/hook/operator/operator_stack.h"
#include "csan/base/access_copy.h"
#include "runtime/hook/operator/access_extent.h"
#include "runtime/hook/operator/index_range.h"
#include "runtime/hook/operator/operator_frame.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/known_contents.h"
#include "runtime/hook/state/thread.h"

#include <pthread.h>
#include <stdlib.h>

__thread struct operators *operator_self;
/* Work was deferred since the thread's operators last changed at once. */
static __thread bool behind __attribute__((tls_model("initial-exec")));

static struct {
    pthread_key_t key;
    pthread_once_t once;
} operation = {.once = PTHREAD_ONCE_INIT};

/* ---- A thread's operators ---- */

/* Before the operators change at once. False: this thread cannot wait here, and deferred work may
 * still name them. */
static bool settle(void)
{
    if (!behind)
        return true;
    const bool entered = guard_enter(); /* which processes them */
    if (entered)
        guard_leave();
    behind = false;
    return entered;
}

static void thread_end(void *value)
{
    struct operators *own = value;
    const bool settled = settle();
    operator_self = NULL;
    if (!settled) /* the thread was cancelled within a hook */
        return;
    free(own->made);
    free(own->scratch);
    free(own->kept);
    free(own);
}

static void key_create(void)
{
    pthread_key_create(&operation.key, thread_end);
}

struct operators *operators_of_thread(void)
{
    if (operator_self)
        return operator_self;
    pthread_once(&operation.once, key_create);
    struct operators *fresh = calloc(1, sizeof *fresh);
    if (!fresh || pthread_setspecific(operation.key, fresh) != 0) {
        free(fresh);
        return NULL;
    }
    fresh->naming = NO_FRAME;
    return operator_self = fresh;
}

void operator_falls_behind(void)
{
    behind = true;
}

bool operator_is_behind(void)
{
    return behind;
}

bool operator_is_open_slow(void)
{
    return operator_self->depth > 0;
}

const struct callsite_stack *operator_stack(void)
{
    return operator_is_open() ? frame_top(operator_self)->stack : NULL;
}

/* ---- Memory ---- */

void operator_memory_made(uint64_t base, uint64_t bytes)
{
    struct operators *own = operator_self;
    if (!operator_is_open())
        return;
    if (!array_room(&own->made, own->made_count, &own->made_room, 16, SIZE_MAX, sizeof *own->made))
        return;
    own->made[own->made_count++] = (struct made){base, bytes};
}

void operator_memory_gone(uint64_t base)
{
    struct operators *own = operator_self;
    if (!operator_is_open())
        return;
    for (size_t i = own->made_count; i-- > 0;) {
        if (own->made[i].base != base || !own->made[i].bytes)
            continue;
        own->made[i].bytes = 0;
        break;
    }
    while (own->made_count > frame_top(own)->made && !own->made[own->made_count - 1].bytes)
        own->made_count--;
}

void operator_library_memory_made(uint64_t base, uint64_t bytes)
{
    if (operator_is_open() && frame_top(operator_self)->library)
        operator_memory_made(base, bytes);
}

/* ---- Operators ---- */

/* The frame of what begins, to be filled in; NULL: it is not kept. `deferred`: this may be another
 * thread than the program's. */
static struct frame *frame_begin(bool names, bool deferred)
{
    if (!deferred)
        settle();
    struct operators *own = operators_of_thread();
    if (own && own->depth == 0 && !deferred)
        callsite_hold();
    if (!own || own->depth++ >= FRAMES_MAX)
        return NULL;
    if (own->naming == NO_FRAME && names)
        own->naming = own->depth - 1;
    struct frame *frame = frame_top(own);
    frame->accesses = frame->host = (struct access_list){0};
    frame->made = own->made_count;
    frame->launches = own->launches;
    frame->lane = CSAN_NO_LANE;
    frame->id = 0;
    frame->indices = 0;
    frame->stack = NULL;
    frame->site = 0;
    frame->library = frame->apart = frame->complete = frame->traced = false;
    operator_ops_begin(&frame->ops);
    return frame;
}

static void frame_summarize(struct frame *frame)
{
    if (operator_summary_wanted())
        operator_summary_frame_begin(&frame->summary, frame->accesses.count,
                                     frame == operator_self->frames);
}

void operator_begin(const struct csan_operator *what, const struct csan_operator_call *call)
{
    struct frame *frame = frame_begin(!call->composite, false);
    if (!frame)
        return;
    frame->what = what;
    frame->accesses = (struct access_list){call->accesses, call->count};
    frame->host = (struct access_list){call->host_accesses, call->host_count};
    frame_summarize(frame);
}

void operator_note_indices(const struct csan_indices *indices, size_t count)
{
    struct operators *own = operator_self;
    if (operator_is_open() && own->depth <= FRAMES_MAX && count)
        frame_top(own)->indices = index_range_note(frame_top(own)->what, indices, count);
}

uint64_t operator_indices(void)
{
    const struct operators *own = operator_self;
    if (!operator_is_open())
        return 0;
    const int depth = own->depth < FRAMES_MAX ? own->depth : FRAMES_MAX;
    for (int i = own->naming == NO_FRAME ? depth - 1 : own->naming; i < depth; i++)
        if (own->frames[i].indices)
            return own->frames[i].indices;
    return 0;
}

/* A deferred call's accesses are released with its deferred piece. */
static struct access_list list_kept(const struct operator_library *call)
{
    struct operators *own = operator_self;
    struct csan_access *kept =
        realloc(own->kept, access_copy_bytes(call->accesses, call->count) + 1);
    if (!kept)
        return (struct access_list){0};
    own->kept = kept;
    access_copy(kept, call->accesses, call->count);
    return (struct access_list){kept, call->count};
}

void operator_library_begin(const struct operator_library *call)
{
    struct frame *frame = frame_begin(true, call->site != 0);
    if (frame) {
        frame->what = call->what;
        frame->accesses =
            call->site ? list_kept(call) : (struct access_list){call->accesses, call->count};
        frame->stack = call->stack;
        frame->site = call->site;
        frame->library = true;
        frame->apart = call->apart;
        frame->complete = call->complete;
        frame->traced = call->traced;
    }
    for (size_t i = 0; call->complete && i < call->count && known_contents_any(); i++) {
        const struct range extent = access_extent(&call->accesses[i]);
        if (call->accesses[i].kind != CSAN_READ)
            known_contents_forget(extent.start, extent.end - extent.start);
    }
}

void operator_library_end(uint64_t *base, uint64_t *bytes)
{
    struct operators *own = operator_self;
    *bytes = 0;
    if (own && own->depth > 0 && own->depth <= FRAMES_MAX) {
        size_t first = frame_top(own)->made;
        for (size_t i = first; i < own->made_count; i++)
            if (own->made[i].bytes > *bytes) {
                *base = own->made[i].base;
                *bytes = own->made[i].bytes;
            }
        own->made_count = first; /* the library's, not of an operator around it */
    }
    operator_end();
}

bool operator_is_collective(void)
{
    return operator_is_open() && frame_top(operator_self)->apart;
}

bool operator_is_library(void)
{
    return operator_is_open() && frame_top(operator_self)->library;
}

bool operator_prefers_traces(void)
{
    return operator_is_open() && frame_top(operator_self)->traced;
}

bool operator_declares_writes(void)
{
    return operator_is_open() && frame_top(operator_self)->complete;
}

/* An operator that did its work on the host: which of it is memory that streams may use, too. */
static void record_host(struct operators *own, const struct frame *frame)
{
    struct csan_access *items = operators_scratch(own, frame->host.count);
    size_t count = 0;
    for (size_t i = 0; items && i < frame->host.count; i++) {
        enum csan_memory_kind kind;
        if (csan_memory_find(session_context(), frame->host.items[i].base, NULL, NULL, &kind) &&
            (kind == CSAN_MEMORY_HOST || kind == CSAN_MEMORY_MANAGED))
            items[count++] = frame->host.items[i];
    }
    if (!count)
        return;
    struct callsite_stack stack;
    callsite_capture(&stack);
    const struct csan_operator *what = frame->what;
    csan_op(session_context(), thread_lane(),
            callsite_intern(&stack, what->name, what->arguments, what->argument_count),
            CSAN_LEVEL_OPERATOR, items, count);
}

void operator_end(void)
{
    struct operators *own = operator_self;
    if (!own || own->depth == 0)
        return;
    if (own->depth <= FRAMES_MAX) {
        const struct frame *frame = frame_top(own);
        bool naming = own->naming == own->depth - 1;
        if (naming && frame->host.count && frame->launches == own->launches && guard_enter()) {
            record_host(own, frame);
            guard_leave();
        }
        if (naming)
            own->naming = NO_FRAME;
        if (!frame->library && operator_summary_wanted())
            operator_summary_frame_end(&frame_top(own)->summary, frame->what,
                                       summary_list(frame->accesses), frame->ops.count > 1,
                                       own->depth == 1);
    }
    if (--own->depth == 0) {
        own->made_count = 0;
        if (!own->frames[0].site)
            callsite_release();
    }
}
