/* See library_call.h. */
#include "runtime/hook/api/library_call.h"
#include "csan/base/loaded_object.h"
#include "csan/detector/context.h"
#include "csan/detector/named_range.h"
#include "csan/shadow/lmad.h"
#include "runtime/hook/host/host_blocks.h"
#include "runtime/hook/host/lent_memory.h"
#include "runtime/hook/host/unguarded.h"
#include "runtime/hook/interpose/call_watch.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/session/counters.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/state/host_function.h"
#include "runtime/hook/state/thread.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/auxv.h>

enum { LANE_BITS = 32, LABEL_BYTES = CSAN_NAME_MAX };

/* How deep the calling thread is inside libraries, and whether that is what keeps it from the
 * hooks. */
static __thread struct {
    uint32_t depth;
    bool entered;
} inside __attribute__((tls_model("initial-exec")));

static uint32_t requests;      /* ever started; atomic */
static uint32_t requests_over; /* of those, for which a thread waited; atomic */

/* Before the process uses CUDA there is nothing that could be in the way. */
static bool enter(void)
{
    return session_state == SESSION_ON && guard_enter();
}

/* ---- The stack ---- */

/* Without the frames of the library that declares the call: it stands in front of the function that
 * the program called. The program itself may declare calls, too. */
static void stack_capture(struct callsite_stack *stack)
{
    struct loaded_object object, program;
    size_t own = 0;
    callsite_capture(stack);
    if (!stack->count || !loaded_object_at(stack->frames[0], &object) ||
        (loaded_object_at((const void *)getauxval(AT_PHDR), &program) && program.map == object.map))
        return;
    while (own < stack->count && stack->frames[own] >= object.start &&
           stack->frames[own] < object.end)
        own++;
    if (own == stack->count)
        return;
    stack->frames += own;
    stack->count -= own;
    stack->note = NULL;
}

static csan_site site_of(const struct csan_call *call)
{
    struct callsite_stack stack;
    stack_capture(&stack);
    return host_function_site(
        callsite_intern(&stack, call->name, call->arguments, call->argument_count));
}

/* ---- Ops ---- */

static uint64_t op(csan_lane lane, csan_site site, const struct csan_call *call)
{
    struct range_path *path = call->detail ? range_path_with_detail(call->detail) : NULL;
    const struct range_actor before =
        path ? named_range_act((struct range_actor){true, path}) : (struct range_actor){0};
    const uint64_t number =
        csan_op(session_context(), lane, site, CSAN_LEVEL_LIBRARY, call->accesses, call->count);
    if (path)
        named_range_act(before);
    range_path_release(path);
    return number;
}

/* From the first byte to the last; of an access that touches nothing, none. */
static struct range hull_of(const struct csan_access *access)
{
    struct range hull;
    return lmad_hull(access, &hull.start, &hull.end) ? hull
                                                     : (struct range){access->base, access->base};
}

/* The library touches the memory as the host does: pages that are guarded are opened. */
static void pages_open(const struct csan_call *call)
{
    for (size_t i = 0; host_access_guards && i < call->count; i++) {
        const struct range hull = hull_of(&call->accesses[i]);
        lent_memory_open((const void *)(uintptr_t)hull.start, hull.end - hull.start);
    }
}

/* The other process, or MPI's own thread, may come at any time: no page is guarded meanwhile. Pages
 * of blocks alone ever are. */
static void request_expose(const struct csan_call *call, uint64_t request)
{
    for (size_t i = 0; i < call->count;) {
        const uint16_t argument = call->accesses[i].argument;
        struct range hull = hull_of(&call->accesses[i]);
        for (i++; i < call->count && call->accesses[i].argument == argument; i++) {
            const struct range next = hull_of(&call->accesses[i]);
            hull.start = next.start < hull.start ? next.start : hull.start;
            hull.end = next.end > hull.end ? next.end : hull.end;
        }
        if (host_blocks_may_have(hull))
            unguarded_expose(hull, request);
    }
}

void library_call_touches(const struct csan_call *call)
{
    if (!enter())
        return;
    op(thread_lane(), site_of(call), call);
    pages_open(call);
    guard_leave();
}

/* A request is its lane, and a number by which two lives of a lane differ. */
uint64_t library_request_start(const struct csan_call *call)
{
    char label[LABEL_BYTES];
    if (__builtin_expect(calls_watched, 0))
        call_watch_host();
    if (!enter())
        return 0;
    const uint32_t serial = __atomic_add_fetch(&requests, 1, __ATOMIC_SEQ_CST);
    snprintf(label, sizeof label, "the request of %s", call->name);
    const csan_lane lane = thread_makes_lane(serial, label);
    const uint64_t request = lane == CSAN_NO_LANE ? 0 : (uint64_t)serial << LANE_BITS | (lane + 1);
    if (request) {
        csan_lane_describe(session_context(), lane, CSAN_LANE_REQUEST, 0);
        if (host_access_guards)
            request_expose(call, request);
        op(lane, site_of(call), call);
        pages_open(call);
    } else {
        __atomic_fetch_add(&requests_over, 1, __ATOMIC_RELAXED);
    }
    guard_leave();
    return request;
}

bool library_requests_pending(void)
{
    return __atomic_load_n(&requests, __ATOMIC_SEQ_CST) !=
           __atomic_load_n(&requests_over, __ATOMIC_RELAXED);
}

void library_request_end(uint64_t request, int waited)
{
    const csan_lane lane = (csan_lane)request - 1;
    if (!request || !enter())
        return;
    if (waited) {
        __atomic_fetch_add(&requests_over, 1, __ATOMIC_RELAXED);
        csan_lane_waits(session_context(), thread_lane(), lane);
    }
    if (host_access_guards && waited)
        unguarded_conceal(request, UINT_MAX);
    csan_lane_destroy(session_context(), lane);
    guard_leave();
}

/* ---- Inside a library ---- */

static void inside_begin(void)
{
    guard_self.depth = 1;
    inside.entered = true;
}

/* A function of its own: else each call would keep registers for it. */
static __attribute__((noinline)) void inside_begin_watched(void)
{
    call_watch_host();
    inside_begin();
}

void library_call_inside(int begin)
{
    if (begin) {
        if (inside.depth++ != 0 || guard_self.depth != 0)
            return;
        if (__builtin_expect(calls_watched, 0))
            inside_begin_watched();
        else
            inside_begin();
    } else if (inside.depth && --inside.depth == 0 && inside.entered) {
        guard_self.depth = 0;
        inside.entered = false;
    }
}

uint32_t *library_call_flag(void)
{
    return session_state == SESSION_ON && !calls_watched ? &guard_self.depth : NULL;
}

/* Of a window, say. The process need not use CUDA yet: its memory may be registered later. */
void library_call_exposed(const void *memory, size_t bytes, int begin)
{
    const uint64_t start = (uintptr_t)memory, owner = start | UINT64_C(1) << 63;
    if (!host_access_guards)
        return;
    if (begin) { /* nothing at all has an end, too */
        unguarded_expose((struct range){start, start + (bytes ? bytes : 1)}, owner);
        lent_memory_open(memory, bytes);
    } else {
        unguarded_conceal(owner, 1);
    }
}

/* A child that starts anew after a fork has another context. */
const struct csan_activity *library_call_activity(void)
{
    static struct csan_activity activity = {.deferred = &deferred_filling.put};
    if (!enter())
        return NULL;
    __atomic_store_n(&activity.entered, context_generation(session_context()), __ATOMIC_RELEASE);
    guard_leave();
    return &activity;
}

/* ---- Others ---- */

void *library_call_host_view(const void *pointer)
{
    static void *view; /* the device's function; or this file's, where there is none */
    void *known = __atomic_load_n(&view, __ATOMIC_ACQUIRE);
    if (session_state != SESSION_ON || known == &view)
        return NULL;
    if (!known) {
        known = driver_function("device_memory_view");
        __atomic_store_n(&view, known ? known : (void *)&view, __ATOMIC_RELEASE);
        if (!known)
            return NULL;
    }
    return ((void *(*)(const void *))known)(pointer);
}

void library_call_count(const struct csan_call_counts *counts)
{
    counters_calls_add(counts);
}
