/* Work that the program enqueued, and the operators that make it. See operation.h.
 *
 * A thread keeps its running operators as a stack of frames. What a frame tells lies in the
 * thread's room until the outermost one ends, since work that waits for the end of an outer
 * operator may be an inner one's. */
#include "runtime/hook/operation.h"
#include "runtime/hook/annotate.h"
#include "runtime/hook/capture.h"
#include "runtime/hook/guard.h"
#include "runtime/hook/node.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 64, CHUNK_BYTES = 32 << 10, NO_FRAME = -1 };

struct access_list {
    const struct csan_access *items;
    size_t count;
};

/* An operator that runs. */
struct frame {
    const struct csan_operator *what;
    struct access_list accesses; /* those told at its beginning; with its outputs once it ended */
    struct access_list host;
    bool has_outputs;
    uint64_t launches; /* the thread's, when it began */
    size_t waiting;    /* the same: works waiting */
};

/* Work inside the detector whose accesses, or their arguments, come at the end of an operator. */
struct work {
    uint64_t ticket;
    CUgraphNode node; /* it is a graph's node, and no op of its own; then ticket is 0 */
    csan_site site;
    enum csan_level level;
    struct access_list accesses; /* what it touches, where known */
    int owner;                   /* the frame that tells it, else NO_FRAME */
};

struct chunk {
    struct chunk *next;
    size_t used, bytes;
    _Alignas(16) char data[];
};

struct operators {
    struct frame frames[FRAMES_MAX];
    int depth;  /* may go beyond FRAMES_MAX: those are not kept */
    int naming; /* the frame that names launches, or NO_FRAME */
    uint64_t launches;
    struct work *waiting;
    size_t waiting_count, waiting_room;
    struct chunk *room; /* the newest; the oldest is kept for the next time */
};

static __thread struct operators *self __attribute__((tls_model("initial-exec")));

static struct {
    pthread_key_t key;
    pthread_once_t once;
} operation = {.once = PTHREAD_ONCE_INIT};

/* ---- A thread's operators ---- */

static void room_clear(struct operators *own)
{
    while (own->room && own->room->next) {
        struct chunk *next = own->room->next;
        free(own->room);
        own->room = next;
    }
    if (own->room)
        own->room->used = 0;
}

static void thread_end(void *value)
{
    struct operators *own = value;
    self = NULL;
    room_clear(own);
    free(own->room);
    free(own->waiting);
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

bool operation_has_operator(void)
{
    return self && self->depth > 0;
}

/* Until the outermost operator ends; NULL when memory is short. */
static void *room_take(struct operators *own, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (!own->room || own->room->bytes - own->room->used < bytes) {
        size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        struct chunk *chunk = malloc(sizeof *chunk + size);
        if (!chunk)
            return NULL;
        *chunk = (struct chunk){.next = own->room, .bytes = size};
        own->room = chunk;
    }
    void *place = own->room->data + own->room->used;
    own->room->used += bytes;
    return place;
}

/* `first` and a copy of `more`, dims and all, in one list; `first` alone when memory is short. */
static struct access_list list_join(struct operators *own, struct access_list first,
                                    const struct csan_access *more, size_t count)
{
    size_t dims = 0;
    if (!count)
        return first;
    for (size_t i = 0; i < count; i++)
        dims += more[i].dim_count;
    struct csan_access *items = room_take(own, (first.count + count) * sizeof *items);
    struct csan_dim *place = items ? room_take(own, dims * sizeof *place) : NULL;
    if (!place)
        return first;
    if (first.count)
        memcpy(items, first.items, first.count * sizeof *items);
    for (size_t i = 0; i < count; i++) {
        struct csan_access *access = &items[first.count + i];
        *access = more[i];
        access->dims = place;
        if (access->dim_count)
            memcpy(place, more[i].dims, access->dim_count * sizeof *place);
        place += access->dim_count;
    }
    return (struct access_list){items, first.count + count};
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

static uint16_t argument_of(const struct csan_access *access, const struct frame *frame)
{
    return argument_among(access, frame->host,
                          argument_among(access, frame->accesses, CSAN_NO_ARGUMENT));
}

/* The list in the words of the naming operator. */
static struct access_list list_named(struct operators *own, struct access_list list,
                                     const struct frame *naming)
{
    struct csan_access *items = room_take(own, list.count * sizeof *items);
    if (!items)
        return list;
    for (size_t i = 0; i < list.count; i++) {
        items[i] = list.items[i];
        items[i].argument = argument_of(&list.items[i], naming);
    }
    return (struct access_list){items, list.count};
}

/* ---- Work ---- */

static struct frame *frame_top(struct operators *own)
{
    return &own->frames[(own->depth < FRAMES_MAX ? own->depth : FRAMES_MAX) - 1];
}

static struct frame *frame_naming(struct operators *own)
{
    return own->naming == NO_FRAME ? frame_top(own) : &own->frames[own->naming];
}

csan_site operation_site(const struct callsite_stack *stack, const char *name,
                         const char *const *arguments, size_t argument_count)
{
    if (!operation_has_operator())
        return callsite_intern(stack, name, arguments, argument_count);
    const struct csan_operator *what = frame_naming(self)->what;
    return callsite_intern(stack, what->name, what->arguments, what->argument_count);
}

/* Where work goes: onto a lane, or into the graph that the stream is captured into. */
struct target {
    csan_lane lane;
    bool captured, thread_default;
    CUstream stream;
};

static void tell_now(const struct target *target, csan_site site, enum csan_level level,
                     struct access_list list)
{
    if (target->captured)
        capture_op(target->stream, target->thread_default, site, level, list.items, list.count);
    else
        csan_op(process_context(), target->lane, site, level, list.items, list.count);
}

/* With what is known so far. False: nobody waits for more. */
static bool tell_pending(const struct target *target, struct work *work, struct access_list list)
{
    if (target->captured)
        work->node = capture_op(target->stream, target->thread_default, work->site, work->level,
                                list.items, list.count);
    else
        work->ticket = csan_op_pending(process_context(), target->lane, work->site, work->level,
                                       list.items, list.count);
    return work->node || work->ticket;
}

static void tell_rest(const struct work *work, enum csan_level level, struct access_list list)
{
    if (work->node)
        node_note(work->node, node_work_op(work->site, level, list.items, list.count));
    else
        csan_op_resolve(process_context(), work->ticket, level, list.items, list.count);
}

static void wait_for_end(struct operators *own, const struct work *work)
{
    if (own->waiting_count == own->waiting_room) {
        size_t room = own->waiting_room ? own->waiting_room * 2 : 16;
        struct work *bigger = realloc(own->waiting, room * sizeof *bigger);
        if (!bigger) { /* it goes on with what is known now */
            tell_rest(work, work->level, work->accesses);
            return;
        }
        own->waiting = bigger;
        own->waiting_room = room;
    }
    own->waiting[own->waiting_count++] = *work;
}

/* Of the innermost operator. */
static void enqueue_in_operator(struct operators *own, const struct target *target,
                                const struct work *work)
{
    struct frame *top = frame_top(own), *naming = frame_naming(own);
    bool told = work->owner != NO_FRAME;
    bool incomplete = naming->has_outputs || (told && top->has_outputs);
    struct access_list known =
        told && top == naming ? work->accesses : list_named(own, work->accesses, naming);
    if (!incomplete) {
        tell_now(target, work->site, work->level, known);
        return;
    }
    struct work waiting = *work;
    bool waits = tell_pending(target, &waiting, known);
    if (!told) /* the caller's array ends with the call */
        waiting.accesses =
            list_join(own, (struct access_list){0}, work->accesses.items, work->accesses.count);
    if (waits)
        wait_for_end(own, &waiting);
}

static void enqueue(const struct target *target, csan_site site, enum csan_level level, bool exact,
                    const struct csan_access *accesses, size_t count)
{
    struct operators *own = self;
    if (!operation_has_operator()) {
        tell_now(target, site, level, (struct access_list){accesses, count});
        return;
    }
    own->launches++;
    const struct frame *top = frame_top(own);
    bool told = !exact && (top->accesses.count || top->has_outputs);
    struct work work = {
        .site = site, .level = level, .accesses = {accesses, count}, .owner = NO_FRAME};
    if (told)
        work = (struct work){.site = site,
                             .level = CSAN_LEVEL_OPERATOR,
                             .accesses = top->accesses,
                             .owner = (int)(top - own->frames)};
    enqueue_in_operator(own, target, &work);
}

void operation_enqueue(csan_lane lane, csan_site site, enum csan_level level, bool exact,
                       const struct csan_access *accesses, size_t count)
{
    enqueue(&(struct target){.lane = lane}, site, level, exact, accesses, count);
}

void operation_capture(CUstream stream, bool thread_default, csan_site site, enum csan_level level,
                       bool exact, const struct csan_access *accesses, size_t count)
{
    struct target target = {.captured = true, .thread_default = thread_default, .stream = stream};
    enqueue(&target, site, level, exact, accesses, count);
}

/* ---- Operators ---- */

void operation_operator_begin(const struct csan_operator *what,
                              const struct csan_operator_call *call)
{
    struct operators *own = operators_of_thread();
    if (!own)
        return;
    if (own->depth++ >= FRAMES_MAX)
        return;
    struct frame *frame = frame_top(own);
    *frame = (struct frame){.what = what,
                            .has_outputs = call->has_outputs != 0,
                            .launches = own->launches,
                            .waiting = own->waiting_count};
    frame->accesses = list_join(own, frame->accesses, call->accesses, call->count);
    frame->host = list_join(own, frame->host, call->host_accesses, call->host_count);
    if (own->naming == NO_FRAME && !call->composite)
        own->naming = own->depth - 1;
}

/* What waits for the operator that ends: its owner's word, and then the naming operator's. */
static void resolve(struct operators *own, const struct frame *frame, int index)
{
    bool last = index == own->naming || own->naming == NO_FRAME;
    for (size_t i = frame->waiting; i < own->waiting_count; i++) {
        struct work *work = &own->waiting[i];
        if (work->owner == index)
            work->accesses = frame->accesses;
        if (!last)
            continue;
        struct access_list named =
            work->owner == index ? work->accesses : list_named(own, work->accesses, frame);
        bool told = named.count || work->owner == NO_FRAME;
        enum csan_level level = told ? work->level : CSAN_LEVEL_UNKNOWN;
        tell_rest(work, level, named);
    }
    if (last)
        own->waiting_count = frame->waiting;
}

/* An operator that did its work on the host: which of it is memory that streams may use, too. */
static void record_host(struct operators *own, const struct frame *frame)
{
    struct csan_access *items = room_take(own, frame->host.count * sizeof *items);
    size_t count = 0;
    if (!items)
        return;
    for (size_t i = 0; i < frame->host.count; i++) {
        enum csan_memory_kind kind;
        if (csan_memory_find(process_context(), frame->host.items[i].base, NULL, NULL, &kind) &&
            (kind == CSAN_MEMORY_HOST || kind == CSAN_MEMORY_MANAGED))
            items[count++] = frame->host.items[i];
    }
    if (!count)
        return;
    struct callsite_stack stack;
    callsite_capture(&stack);
    const struct csan_operator *what = frame->what;
    csan_op(process_context(), annotate_lane_of_host(),
            callsite_intern(&stack, what->name, what->arguments, what->argument_count),
            CSAN_LEVEL_OPERATOR, items, count);
}

static void operator_finish(struct operators *own, struct frame *frame)
{
    int index = (int)(frame - own->frames);
    if (own->waiting_count > frame->waiting)
        resolve(own, frame, index);
    if (frame->host.count && index == own->naming && frame->launches == own->launches)
        record_host(own, frame);
}

void operation_operator_end(const struct csan_access *outputs, size_t count)
{
    struct operators *own = self;
    if (!own || own->depth == 0)
        return;
    if (own->depth <= FRAMES_MAX) {
        struct frame *frame = frame_top(own);
        frame->accesses = list_join(own, frame->accesses, outputs, count);
        if (guard_enter()) {
            operator_finish(own, frame);
            guard_leave();
        }
        if (own->naming == own->depth - 1)
            own->naming = NO_FRAME;
    }
    if (--own->depth == 0) {
        own->waiting_count = 0;
        room_clear(own);
    }
}
