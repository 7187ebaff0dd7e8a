/* One launch of a kernel, between its hook and the detector. Its phases, in order:
 *
 *   describe       launch.c: the hook fills struct launch with what the program passed
 *   request trace  launch_request_trace, before the driver's call
 *   driver         launch.c: the driver's own function
 *   accesses       launch_submit.c: what the launch touches, by the best source there is
 *   submit         launch_submit.c: that as an op; launch_deferred.c: the same, deferred
 *   release        launch_release: what learning had begun for it ends */
#ifndef RUNTIME_HOOK_LAUNCH_LAUNCH_H
#define RUNTIME_HOOK_LAUNCH_LAUNCH_H

#include "csan/base/range_map.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/kernel/launch_accesses.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/failure/progress.h"
#include "runtime/hook/failure/wrong_pointer.h"
#include "runtime/hook/launch/programmatic.h"
#include "runtime/hook/observe/learning.h"
#include "runtime/hook/observe/trace.h"

#include <stdbool.h>

/* Where a launch comes from. */
struct launch_origin {
    const struct callsite_stack *stack; /* or NULL: */
    csan_site site; /* found before, for so many arguments; 0: the site of the running operator */
    size_t argument_count;
};

/* Which trace the op waits for. */
enum launch_wait { LAUNCH_WAIT_NONE, LAUNCH_WAIT_OWN, LAUNCH_WAIT_OTHER };

/* Each phase fills in its part. What only one phase uses is not cleared before: see launch_begin.
 */
struct launch {
    /* Describe: what the program passed. */
    const struct driver_entry *entry;
    CUfunction function;
    CUstream stream;
    struct launch_accesses_launch what;
    const CUlaunchAttribute *attributes;
    unsigned attribute_count;
    bool collective;     /* its blocks wait for each other, or for other devices */
    bool overlaps;       /* attribute: it may begin before the one before it ends */
    bool records_events; /* attributes: it records events */
    bool captured;       /* it becomes a node of a graph */

    /* Request trace. */
    bool traced;             /* its trace will be reported */
    bool learns;             /* `learning` was begun */
    bool summarized;         /* between operator_summary_begin and _end */
    struct kernel *kernel;   /* by launch_kernel */
    struct kernel *deferred; /* the launch is deferred; NULL: it is enqueued within its hook */
    struct range stack;      /* of a deferred one: of the thread that made it */
    struct learning *learning;

    /* Driver. */
    struct progress progress; /* where it stands in its stream */

    /* Accesses. */
    struct launch_origin origin;
    csan_site site;
    const struct csan_operator *named; /* by its summary; or NULL */
    struct launch_accesses_touched *touched;
    struct trace_users users;
    uint64_t unplaced; /* context_unplaced before the accesses were found */

    /* Submit. */
    struct stream *locked; /* its stream; NULL: it is captured, or the lock was not given */
    struct programmatic beside;
    enum launch_wait waits;
    struct wrong_pointers *strays;
};

/* A launch of which nothing but this is known: `what`, attributes and flags follow. Not cleared is
 * what a phase sets before it is used: named, users, unplaced (accesses_find), locked, beside
 * (stream_lock_of), waits (op_submit), strays; and `learning`, which is large. */
static inline void launch_begin(struct launch *launch, const struct driver_entry *entry,
                                CUfunction function, CUstream stream, struct learning *learning)
{
    launch->entry = entry;
    launch->function = function;
    launch->stream = stream;
    launch->attributes = NULL;
    launch->attribute_count = 0;
    launch->collective = launch->overlaps = launch->records_events = launch->captured = false;
    launch->traced = launch->learns = launch->summarized = false;
    launch->kernel = launch->deferred = NULL;
    launch->stack = (struct range){0};
    launch->learning = learning;
    launch->progress = (struct progress){0};
    launch->origin = (struct launch_origin){0};
    launch->site = 0;
    launch->touched = NULL;
}

/* The kernel, looked up at the first call; NULL: it is not known. */
struct kernel *launch_kernel(struct launch *launch);

/* `attributes` into the rest. */
void launch_read_attributes(struct launch *launch);

/* Before the driver's call: asks for a trace of the launch, if one is wanted and possible. */
void launch_request_trace(struct launch *launch);
/* After it, if it succeeded. */
void launch_submit(struct launch *launch);
/* The same of a deferred launch, which is never traced; `origin` is set. */
void launch_submit_deferred(struct launch *launch);
/* Comes last, whether or not the launch was submitted. */
void launch_release(struct launch *launch);

/* Before the driver's call: the kernel of a launch that can be deferred, for which only its
 * parameters are needed. NULL: the launch is enqueued within the hook, because the kernel is new or
 * the launch needs the thread. */
struct kernel *launch_deferrable_kernel(const struct launch *launch);
/* After it, if it succeeded. */
void launch_defer(struct launch *launch);

#endif
