/* Work that the program enqueued, and the operators that enqueue it. See operator_stack.h.
 *
 * A thread keeps its running operators as a stack of frames, and the memory that was allocated
 * since the outermost one began. Such memory is the operator's output, or is used by it. */
#include "runtime/hook/operator/operator_stack.h"
#include "csan/base/array.h"
#include "csan/base/access_copy.h"
#include "runtime/hook/host/host_access.h"
#include "runtime/hook/operator/index_range.h"
#include "runtime/hook/state/copied_values.h"
#include "runtime/hook/state/known_contents.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/operator/operator_ops.h"
#include "runtime/hook/operator/operator_summary.h"
#include "runtime/hook/state/thread.h"
#include "runtime/hook/session/session.h"

#include <pthread.h>
#include <stdlib.h>

enum { FRAMES_MAX = 64, NO_FRAME = -1 };

struct access_list {
    const struct csan_access *items;
    size_t count;
};

/* An operator that runs. */
struct frame {
    const struct csan_operator *what;
    struct access_list accesses, host;  /* the caller's arrays */
    size_t made;                        /* how much memory the thread had made when it began, */
    uint64_t launches;                  /* and how many launches */
    csan_lane lane;                     /* of its first launch; CSAN_NO_LANE: none yet */
    CUstream stream;                    /* the same where that is captured */
    uint64_t id;                        /* if it has captured something; else 0 */
    uint64_t indices;                   /* number of index_range_note; 0: none */
    const struct callsite_stack *stack; /* of a library's call; or */
    csan_site site;                     /* of such a call's launches: it was deferred */
    bool library, apart, complete, traced;
    struct operator_ops ops;
    struct operator_summary_frame summary;
};

/* Memory made while operators run; bytes 0: given back since. */
struct made {
    uint64_t base, bytes;
};

struct operators {
    struct frame frames[FRAMES_MAX];
    int depth;  /* may go beyond FRAMES_MAX: those are not kept */
    int naming; /* the frame that names launches, or NO_FRAME */
    uint64_t launches;
    struct made *made;
    size_t made_count, made_room;
    struct csan_access *scratch; /* for the list of one launch */
    size_t scratch_room;
    struct csan_access *kept; /* of a deferred call */
};

static __thread struct operators *self __attribute__((tls_model("initial-exec")));
/* Work was deferred since the thread's operators last changed at once. */
static __thread bool behind __attribute__((tls_model("initial-exec")));

void (*operator_on_captured)(const struct operator_captured *work);

static struct {
    pthread_key_t key;
    pthread_once_t once;
    uint64_t newest_id; /* of frames; atomic */
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
    self = NULL;
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

static struct operators *operators_of_thread(void)
{
    if (self)
        return self;
    pthread_once(&operation.once, key_create);
    struct operators *fresh = calloc(1, sizeof *fresh);
    if (!fresh || pthread_setspecific(operation.key, fresh) != 0) {
        free(fresh);
        return NULL;
    }
    fresh->naming = NO_FRAME;
    return self = fresh;
}

void operator_falls_behind(void)
{
    behind = true;
}

bool operator_is_behind(void)
{
    return behind;
}

bool operator_is_open(void)
{
    return self && self->depth > 0;
}

struct operators *operator_count(void)
{
    return operators_of_thread();
}

struct operators *operator_act_for(struct operators *other)
{
    struct operators *before = self;
    self = other;
    return before;
}

static struct frame *frame_top(struct operators *own)
{
    return &own->frames[(own->depth < FRAMES_MAX ? own->depth : FRAMES_MAX) - 1];
}

static struct frame *frame_naming(struct operators *own)
{
    return own->naming == NO_FRAME ? frame_top(own) : &own->frames[own->naming];
}

/* ---- Memory ---- */

void operator_memory_made(uint64_t base, uint64_t bytes)
{
    struct operators *own = self;
    if (!operator_is_open())
        return;
    if (!array_room(&own->made, own->made_count, &own->made_room, 16, SIZE_MAX, sizeof *own->made))
        return;
    own->made[own->made_count++] = (struct made){base, bytes};
}

void operator_memory_gone(uint64_t base)
{
    struct operators *own = self;
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
    if (operator_is_open() && frame_top(self)->library)
        operator_memory_made(base, bytes);
}

/* ---- Arguments ---- */

static void reach(const struct csan_access *access, uint64_t *start, uint64_t *end)
{
    *start = access->base;
    *end = access->base + access->bytes;
    for (uint8_t i = 0; i < access->dim_count; i++) {
        int64_t span = access->dims[i].stride * (int64_t)(access->dims[i].count - 1);
        if (span < 0)
            *start += (uint64_t)span;
        else
            *end += (uint64_t)span;
    }
}

/* The argument in whose memory the access is: of several, one that is used in the same way. */
static uint16_t argument_among(const struct csan_access *access, struct access_list arguments,
                               uint16_t otherwise)
{
    uint64_t start, end, first, last;
    reach(access, &start, &end);
    for (size_t i = 0; i < arguments.count; i++) {
        reach(&arguments.items[i], &first, &last);
        if (start >= last || first >= end)
            continue;
        if (arguments.items[i].kind == access->kind)
            return arguments.items[i].argument;
        if (otherwise == CSAN_NO_ARGUMENT)
            otherwise = arguments.items[i].argument;
    }
    return otherwise;
}

static uint16_t argument_of(const struct operators *own, const struct csan_access *access,
                            const struct frame *frame)
{
    uint16_t found = argument_among(access, frame->accesses, CSAN_NO_ARGUMENT);
    found = argument_among(access, frame->host, found);
    for (size_t i = frame->made; i < own->made_count && found == CSAN_NO_ARGUMENT; i++)
        if (access->base - own->made[i].base < own->made[i].bytes)
            found = frame->what->output;
    return found;
}

/* ---- Work ---- */

csan_site operator_site(const struct callsite_stack *stack, const char *name,
                        const char *const *arguments, size_t argument_count)
{
    if (!operator_is_open())
        return callsite_intern(stack, name, arguments, argument_count);
    const struct csan_operator *what = frame_naming(self)->what;
    if (frame_top(self)->site)
        return frame_top(self)->site;
    if (frame_top(self)->stack)
        stack = frame_top(self)->stack;
    return callsite_intern(stack, what->name, what->arguments, what->argument_count);
}

const struct callsite_stack *operator_stack(void)
{
    return operator_is_open() ? frame_top(self)->stack : NULL;
}

/* Where work goes: onto a lane, or into the graph that the stream is captured into. */
struct target {
    csan_lane lane;
    bool captured, thread_default;
    CUstream stream;
};

static uint64_t frame_id(struct frame *frame)
{
    if (!frame->id)
        frame->id = __atomic_add_fetch(&operation.newest_id, 1, __ATOMIC_RELAXED);
    return frame->id;
}

static void enqueue_captured(struct operators *own, const struct target *target, csan_site site,
                             enum csan_level level, bool declared, struct access_list list)
{
    struct operator_captured work = {.stream = target->stream,
                                     .thread_default = target->thread_default,
                                     .part.declared = declared,
                                     .site = site,
                                     .level = level,
                                     .accesses = list.items,
                                     .count = list.count};
    if (operator_is_open()) {
        work.part.outermost = frame_id(&own->frames[0]);
        work.part.innermost = frame_id(frame_top(own));
    }
    operator_on_captured(&work);
}

static void same_operator_declare(const struct operator_ops *ops, enum operator_op_kind kind,
                                  csan_lane lane)
{
    struct operator_op others[OPERATOR_OPS_MAX];
    for (uint32_t i = operator_ops_same_operator(ops, kind, lane, others); i-- > 0;)
        csan_op_same_operator(session_context(), lane, others[i].lane, others[i].first,
                              others[i].last);
}

/* An op of an operator: declares the ops of the same operator, and joins them. */
static void enqueue_op(struct operators *own, csan_lane lane, csan_site site, enum csan_level level,
                       bool declared, struct access_list list)
{
    const enum operator_op_kind kind = declared ? OPERATOR_OP_DECLARED : OPERATOR_OP_KNOWN;
    struct frame *top = frame_top(own), *frame;
    if (operator_ops_are_elsewhere(&own->frames[0].ops, lane)) {
        for (frame = own->frames; frame < top; frame++)
            same_operator_declare(&frame->ops, OPERATOR_OP_INNER, lane);
        same_operator_declare(&top->ops, kind, lane);
    }
    uint64_t number = csan_op(session_context(), lane, site, level, list.items, list.count);
    for (frame = own->frames; frame < top; frame++)
        operator_ops_add(&frame->ops, OPERATOR_OP_INNER, lane, number);
    operator_ops_add(&top->ops, kind, lane, number);
}

/* Declared accesses count for copied_values.h. */
static void copies_forget(struct access_list list)
{
    uint64_t start, end;
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].kind == CSAN_READ)
            continue;
        reach(&list.items[i], &start, &end);
        copied_values_forget(start, list.items[i].bytes == CSAN_TO_END ? UINT64_MAX : end - start);
    }
}

static void enqueue_all(struct operators *own, const struct target *target, csan_site site,
                        enum csan_level level, bool declared, struct access_list list)
{
    if (copied_values_any())
        copies_forget(list);
    if (target->captured)
        enqueue_captured(own, target, site, level, declared, list);
    else if (operator_is_open())
        enqueue_op(own, target->lane, site, level, declared, list);
    else
        csan_op(session_context(), target->lane, site, level, list.items, list.count);
}

/* Room for a list of one launch; NULL when memory is short. */
static struct csan_access *scratch_take(struct operators *own, size_t count)
{
    return array_reserve(&own->scratch, count, &own->scratch_room, 16, SIZE_MAX,
                         sizeof *own->scratch)
               ? own->scratch
               : NULL;
}

/* What the operator says that its launches touch: its arguments, and the memory that it made. A
 * library makes memory for itself. */
static struct access_list list_declared(struct operators *own, const struct frame *frame)
{
    size_t count = frame->accesses.count;
    if (own->made_count == frame->made || frame->library)
        return frame->accesses;
    struct csan_access *items = scratch_take(own, count + own->made_count - frame->made);
    if (!items)
        return frame->accesses;
    for (size_t i = 0; i < count; i++)
        items[i] = frame->accesses.items[i];
    for (size_t i = frame->made; i < own->made_count; i++)
        if (own->made[i].bytes)
            items[count++] = (struct csan_access){.base = own->made[i].base,
                                                  .bytes = own->made[i].bytes,
                                                  .kind = CSAN_WRITE,
                                                  .argument = frame->what->output};
    return (struct access_list){items, count};
}

/* An operator that works on several streams shares its arguments out among them, which its word
 * does not say: of the second and later ones it is a bound. */
static struct access_list list_shared(struct operators *own, struct access_list list,
                                      const struct frame *frame, const struct target *target)
{
    if (target->captured ? frame->stream == target->stream : frame->lane == target->lane)
        return list;
    struct csan_access *items =
        list.items == own->scratch ? own->scratch : scratch_take(own, list.count);
    for (size_t i = 0; items && i < list.count; i++) {
        items[i] = list.items[i];
        items[i].bound = CSAN_BOUND_ANNOTATED;
    }
    return items ? (struct access_list){items, list.count} : list;
}

/* The list in the words of the naming operator; it may be the scratch itself. */
static struct access_list list_named(struct operators *own, struct access_list list,
                                     const struct frame *naming)
{
    struct csan_access *items =
        list.items == own->scratch ? own->scratch : scratch_take(own, list.count);
    for (size_t i = 0; items && i < list.count; i++) {
        items[i] = list.items[i];
        items[i].argument = argument_of(own, &items[i], naming);
    }
    return items ? (struct access_list){items, list.count} : list;
}

static struct operator_summary_list summary_list(struct access_list list)
{
    return (struct operator_summary_list){list.items, list.count};
}

/* The list's first `argument_count` are the top frame's arguments, if it is `declared`. */
static void enqueue_summarized(struct operators *own, bool declared, struct access_list list,
                               const struct csan_operator *what)
{
    struct frame *top = frame_top(own);
    if (declared && !top->library)
        operator_summary_note(&top->summary, what, summary_list(list), top->accesses.count);
    else
        operator_summary_known();
    for (struct frame *frame = own->frames; frame <= top; frame++)
        if ((frame != top || !declared) && !frame->library)
            operator_summary_reach(&frame->summary, summary_list(frame->accesses),
                                   summary_list(list));
}

static void enqueue(const struct target *target, csan_site site, enum csan_level level, bool exact,
                    const struct csan_access *accesses, size_t count)
{
    struct operators *own = self;
    struct access_list list = {accesses, count}, declared = {0};
    if (operator_is_open()) {
        struct frame *top = frame_top(own);
        const struct frame *naming = frame_naming(own);
        own->launches++;
        if (top->apart)
            return;
        if (!exact)
            declared = list_declared(own, top);
        if (declared.count) {
            if (top->lane == CSAN_NO_LANE) {
                top->lane = target->lane;
                top->stream = target->stream;
            }
            list = list_shared(own, declared, top, target);
            level = top->library ? CSAN_LEVEL_LIBRARY : CSAN_LEVEL_OPERATOR;
        }
        if (!declared.count || top != naming)
            list = list_named(own, list, naming);
        if (operator_summary_wanted())
            enqueue_summarized(own, declared.count != 0, list, naming->what);
    }
    const struct host_access_guarded guarded = host_access_guarded();
    enqueue_all(own, target, site, level, declared.count != 0, list);
    if (level != CSAN_LEVEL_OPERATOR && !target->captured && operator_summary_wanted())
        operator_summary_shared(target->lane, summary_list(list), host_access_all_guarded(guarded));
}

void operator_enqueue(csan_lane lane, csan_site site, enum csan_level level, bool exact,
                      const struct csan_access *accesses, size_t count)
{
    enqueue(&(struct target){.lane = lane}, site, level, exact, accesses, count);
}

void operator_capture(CUstream stream, bool thread_default, csan_site site, enum csan_level level,
                      bool exact, const struct csan_access *accesses, size_t count)
{
    struct target target = {.captured = true, .thread_default = thread_default, .stream = stream};
    enqueue(&target, site, level, exact, accesses, count);
}

/* ---- Operators ---- */

/* The frame of what begins, to be filled in; NULL: it is not kept. `late`: on whatever thread. */
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
        operator_summary_frame_begin(&frame->summary, frame->accesses.count, frame == self->frames);
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
    struct operators *own = self;
    if (operator_is_open() && own->depth <= FRAMES_MAX && count)
        frame_top(own)->indices = index_range_note(frame_top(own)->what, indices, count);
}

uint64_t operator_indices(void)
{
    const struct operators *own = self;
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
    struct operators *own = self;
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
    uint64_t start, end;
    for (size_t i = 0; call->complete && i < call->count && known_contents_any(); i++) {
        reach(&call->accesses[i], &start, &end);
        if (call->accesses[i].kind != CSAN_READ)
            known_contents_forget(start, end - start);
    }
}

void operator_library_end(uint64_t *base, uint64_t *bytes)
{
    struct operators *own = self;
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
    return operator_is_open() && frame_top(self)->apart;
}

bool operator_is_library(void)
{
    return operator_is_open() && frame_top(self)->library;
}

bool operator_prefers_traces(void)
{
    return operator_is_open() && frame_top(self)->traced;
}

bool operator_declares_writes(void)
{
    return operator_is_open() && frame_top(self)->complete;
}

void operator_name(struct csan_access *accesses, size_t count)
{
    for (size_t i = 0; operator_is_open() && i < count; i++)
        accesses[i].argument = argument_of(self, &accesses[i], frame_naming(self));
}

/* An operator that did its work on the host: which of it is memory that streams may use, too. */
static void record_host(struct operators *own, const struct frame *frame)
{
    struct csan_access *items = scratch_take(own, frame->host.count);
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
    struct operators *own = self;
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
