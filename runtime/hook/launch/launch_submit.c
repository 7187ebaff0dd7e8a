/* What a launch touches, enqueued as an op. See launch.h. */
#include "runtime/hook/launch/launch.h"
#include "csan/detector/context.h"
#include "runtime/hook/launch/launch_annotations.h"
#include "runtime/hook/launch/launch_safety.h"
#include "runtime/hook/graph/capture.h"
#include "runtime/hook/state/copied_values.h"
#include "runtime/hook/state/known_contents.h"
#include "runtime/hook/interpose/doubt.h"
#include "runtime/hook/failure/dump.h"
#include "runtime/hook/failure/unverified.h"
#include "runtime/hook/state/event_table.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/observe/range_verifier.h"
#include "runtime/hook/kernel/kernel.h"
#include "runtime/hook/observe/learning_node.h"
#include "runtime/hook/failure/launch_ring.h"
#include "runtime/hook/observe/learning_wait.h"
#include "runtime/hook/operator/operator_stack.h"
#include "runtime/hook/operator/operator_work.h"
#include "runtime/hook/operator/operator_summary.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/observe/trace_source.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/session/session.h"

#include <string.h>

/* ---- Attributes ---- */

static CUevent event_of_attribute(const CUlaunchAttribute *attribute)
{
    if (attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
        return attribute->value.programmaticEvent.event;
    if (attribute->id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
        return attribute->value.launchCompletionEvent.event;
    return NULL;
}

/* An event recorded by the launch itself fires before the kernel ends: it holds what the kernel is
 * ordered after (CUDA Driver API, CUlaunchAttributeID). Before the op, with the stream locked. */
static void record_events(const struct launch *launch)
{
    const struct programmatic *beside = &launch->beside;
    for (unsigned i = 0; i < launch->attribute_count; i++) {
        CUevent handle = event_of_attribute(&launch->attributes[i]);
        if (handle && beside->allowed && beside->before.start)
            event_record_snapshot(handle, beside->before.start, launch->site);
        else if (handle)
            event_record(handle, stream_lane(launch->locked), launch->site);
    }
}

/* The last of several counts, as the driver takes it. */
void launch_read_attributes(struct launch *launch)
{
    for (unsigned i = 0; i < launch->attribute_count; i++) {
        const CUlaunchAttribute *attribute = &launch->attributes[i];
        const CUlaunchAttributeValue *value = &attribute->value;
        launch->records_events |= event_of_attribute(attribute) != NULL;
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            launch->collective = value->cooperative != 0;
        else if (attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            launch->overlaps = value->programmaticStreamSerializationAllowed != 0;
        else if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            memcpy(launch->what.cluster,
                   (uint32_t[]){value->clusterDim.x, value->clusterDim.y, value->clusterDim.z},
                   sizeof launch->what.cluster);
    }
}

/* ---- Accesses ---- */

/* Whether its operator, or the summary in the operator's place, declares what it touches. */
static bool is_summarized(const struct launch *launch)
{
    if (!operator_is_open() && !operator_summary_rests())
        return false;
    const uint8_t ptx = __atomic_load_n(&launch->kernel->ptx_exactness, __ATOMIC_RELAXED);
    return operator_summary_wanted() && !launch->learns &&
           (!launch->captured || operator_summary_rests()) && !operator_is_library() &&
           !(launch->kernel->ptx && ptx == KERNEL_PTX_EXACT);
}

/* By the kernel's PTX, or what was learned of it. */
static void accesses_find(struct launch *launch)
{
    launch->unplaced = context_unplaced(session_context());
    launch->named = NULL;
    launch->users = (struct trace_users){0};
    doubt_look();
    launch->summarized = is_summarized(launch);
    if (launch->summarized)
        operator_summary_begin(launch->learning, launch->kernel, launch->function, &launch->what,
                               launch->deferred ? launch->stack : operator_summary_stack());
    launch_accesses_begin(launch->kernel, &launch->what, launch->touched);
    if (launch->summarized)
        launch->named = operator_summary_apply(launch->touched);
    if (trace_judges() && !launch->captured)
        launch->users.verified =
            range_verifier_take(launch->kernel, &launch->what, launch->touched);
    if (launch->learns) {
        learning_apply(launch->learning, launch->kernel, launch->touched);
        launch->users.learned = learning_take(launch->learning);
    }
    if (!launch->touched->exact && copied_values_any() && !operator_is_open())
        copied_values_forget_all();
}

/* In the words of the operator, which is not declared. */
static csan_site site_named(const struct launch_origin *origin, const struct csan_operator *what)
{
    if (origin->stack)
        return callsite_intern(origin->stack, what->name, what->arguments, what->argument_count);
    return callsite_named(origin->site, what->name, what->arguments, what->argument_count);
}

static csan_site site_of(const struct launch_origin *origin, const struct kernel *kernel)
{
    if (origin->stack || !origin->site)
        return operator_site(origin->stack, kernel->name, kernel->arguments,
                             kernel->argument_count);
    if (origin->argument_count == kernel->argument_count)
        return origin->site;
    return context_site_with(session_context(), origin->site, kernel->arguments,
                             kernel->argument_count);
}

/* ---- Submit ---- */

/* Locks the stream of a launch that succeeded, and makes the joins before its op. */
static void stream_lock_of(struct launch *launch)
{
    struct stream *stream =
        launch->captured ? NULL : stream_lock(launch->stream, launch->entry->thread_default);
    launch->locked = stream;
    if (!stream)
        return;
    launch->beside =
        (struct programmatic){.allowed = launch->overlaps, .before = stream_use_launch(stream)};
    if (launch->records_events)
        record_events(launch);
}

/* Within an operator its declaration is enough, unless that is a bound and a trace is exact. */
static enum launch_wait wait_of(const struct launch *launch)
{
    const bool exact = launch->touched->exact;
    const bool declared = operator_is_open() && !(operator_prefers_traces() && trace_takes_all());
    if (launch->captured || declared || (exact && !session_options()->access.insists))
        return LAUNCH_WAIT_NONE;
    if (launch->learns && !exact && learning_waits(launch->learning))
        return LAUNCH_WAIT_OTHER;
    bool wanted = trace_takes_all() || (launch->learns && launch->learning->reply.trace);
    return launch->traced && wanted ? LAUNCH_WAIT_OWN : LAUNCH_WAIT_NONE;
}

static CUcontext context_of(CUstream handle, bool thread_default)
{
    struct stream *stream = stream_lock_known(handle, thread_default);
    const CUcontext context = stream ? stream_context(stream) : NULL;
    if (stream)
        guard_unlock();
    return context ? context : stream_current_context();
}

/* An operator's declaration is enough for what is launched in a graph. */
static void capture_kernel(const struct launch *launch)
{
    const struct launch_accesses_touched *touched = launch->touched;
    const bool thread_default = launch->entry->thread_default;
    operator_capture(launch->stream, thread_default, launch->site, touched->level, touched->exact,
                     touched->accesses, touched->access_count);
    struct learning_node *learning =
        launch->learns && !launch->collective && !operator_is_open()
            ? learning_node_create(launch->learning, launch->kernel, launch->function,
                                   &launch->what, touched)
            : NULL;
    if (learning)
        capture_learning(launch->stream, thread_default, learning);
    struct wrong_pointers *wrong =
        wrong_pointers_of_node(touched, context_of(launch->stream, thread_default), launch->site);
    if (wrong)
        capture_wrong(launch->stream, thread_default, wrong);
}

/* For when it fails. */
static void note_launched(const struct launch *launch)
{
    struct launch_ring_entry launched = {.id = launch->deferred ? 0 : trace_launch_number(),
                                         .symbol = launch->kernel->symbol,
                                         .site = launch->site,
                                         .lane = stream_lane(launch->locked),
                                         .indices = operator_is_open() ? operator_indices() : 0,
                                         .progress = launch->progress};
    memcpy(launched.grid, launch->what.grid, sizeof launched.grid);
    memcpy(launched.block, launch->what.block, sizeof launched.block);
    launch_ring_note(&launched);
    if (dump_wants(launched.lane) &&
        !(launch->touched &&
          launch_cannot_fail(launch->kernel, launch->touched, stream_context(launch->locked))))
        unverified_launched(launched.lane);
}

/* If the accesses are not exact, csan uses the declaration of the operator that makes the launch,
 * or the launch's own trace, for which the op waits. */
static void op_submit(struct launch *launch)
{
    const struct launch_accesses_touched *touched = launch->touched;
    struct stream *stream = launch->locked;
    const csan_site site = launch->site;
    const bool on_stream_lane =
        !stream || programmatic_begin(&launch->beside, stream, site, touched);
    launch->waits = on_stream_lane ? LAUNCH_WAIT_NONE : wait_of(launch);
    if (launch->learns)
        learning_count(launch->learning, launch->waits == LAUNCH_WAIT_OTHER);
    if (launch->waits == LAUNCH_WAIT_NONE && !touched->exact && !launch->captured &&
        !operator_is_open()) {
        trace_lacked();
        operator_summary_unknown();
    }
    if (launch->waits == LAUNCH_WAIT_OWN)
        trace_launch(&(struct trace_op){stream_lane(stream), site, launch->kernel, touched,
                                        launch->learns ? launch->learning : NULL},
                     launch->users);
    else if (launch->waits == LAUNCH_WAIT_OTHER)
        learning_wait(launch->learning, stream_lane(stream), site, launch->kernel, touched);
    else if (!on_stream_lane)
        operator_enqueue(stream_lane(stream), site, touched->level, touched->exact,
                         touched->accesses, touched->access_count);
}

/* What else is noted of it; gives the stream's lock back. */
static void op_submitted(struct launch *launch)
{
    struct stream *stream = launch->locked;
    programmatic_end(&launch->beside, stream, launch->touched);
    note_launched(launch);
    if (wrong_pointers_may_be(launch->unplaced, stream_context(stream)))
        wrong_pointers_gather(launch->touched,
                              &(struct wrong_pointer_launch){stream_context(stream),
                                                             stream_lane(stream), launch->site,
                                                             launch->touched->level},
                              launch->unplaced, launch->strays);
    guard_unlock();
}

static void accesses_end(struct launch *launch)
{
    if (launch->waits != LAUNCH_WAIT_OWN && !launch->deferred)
        trace_skip(launch->users);
    if (session_options()->verbosity >= 2 && launch->touched->level != CSAN_LEVEL_LEARNED)
        launch_accesses_explain(launch->kernel, launch->touched);
    launch_accesses_end(launch->kernel, launch->touched);
    if (__builtin_expect(launch->strays->count != 0, 0))
        wrong_pointers_report(launch->strays);
}

static void record_kernel(struct launch *launch)
{
    struct launch_accesses_touched touched;
    struct wrong_pointers strays;
    strays.count = 0;
    launch->touched = &touched;
    launch->strays = &strays;
    accesses_find(launch);
    launch->site = launch->named ? site_named(&launch->origin, launch->named)
                                 : site_of(&launch->origin, launch->kernel);
    stream_lock_of(launch);
    if (launch->captured)
        capture_kernel(launch);
    op_submit(launch);
    if (launch->locked)
        op_submitted(launch);
    accesses_end(launch);
    if (launch->summarized)
        operator_summary_end(launch->learning);
}

/* What the program declares. */
static void record_annotated(struct launch *launch, const struct csan_access *annotated,
                             size_t count)
{
    launch->site = callsite_intern(launch->origin.stack, launch->kernel->name,
                                   launch_annotations_arguments, 1);
    for (size_t i = 0; i < count; i++)
        if (annotated[i].kind != CSAN_READ)
            known_contents_forget(annotated[i].base, annotated[i].bytes);
    stream_lock_of(launch);
    if (launch->captured)
        capture_op(launch->stream, launch->entry->thread_default, launch->site,
                   CSAN_LEVEL_ANNOTATED, annotated, count);
    if (launch->locked) {
        csan_op(session_context(), stream_lane(launch->locked), launch->site, CSAN_LEVEL_ANNOTATED,
                annotated, count);
        stream_overlap_release(&launch->beside.before);
        note_launched(launch);
        guard_unlock();
    }
    trace_skip((struct trace_users){0});
}

void launch_submit(struct launch *launch)
{
    size_t annotated_count;
    const struct csan_access *annotated = launch_annotations_take(&annotated_count);
    struct callsite_stack stack;
    launch->what.writes_declared = operator_is_open() && operator_declares_writes();
    for (unsigned i = 0; launch->captured && i < launch->attribute_count; i++)
        if (event_of_attribute(&launch->attributes[i]))
            event_note_captured(event_of_attribute(&launch->attributes[i]));
    callsite_capture(&stack);
    launch->origin.stack = &stack;
    if (!launch_kernel(launch))
        trace_skip((struct trace_users){0});
    else if (annotated_count)
        record_annotated(launch, annotated, annotated_count);
    else
        record_kernel(launch);
}

/* ---- Kernel and trace ---- */

struct kernel *launch_kernel(struct launch *launch)
{
    if (!launch->kernel)
        launch->kernel = launch->deferred ? launch->deferred : kernel_of(launch->function);
    return launch->kernel;
}

static bool launch_ask(struct launch *launch)
{
    struct trace_want want = {.function = launch->function,
                              .stream = launch->stream,
                              .thread_default = launch->entry->thread_default,
                              .collective = launch->collective,
                              .threads = launch_accesses_threads(&launch->what)};
    if (launch->learns) {
        want.confirms = learning_is_known(launch->learning);
        want.reach = learning_reach(launch->learning);
        want.maps_are_known = launch->learning->maps_are_known;
        want.mapped = launch->learning->mapped;
        want.mapped_count = launch->learning->mapped_count;
    }
    return trace_want(&want);
}

/* An operator's declaration of what its launches touch is enough, unless all is to be learned. */
static bool is_to_be_learned(void)
{
    return trace_learns() && !operator_summary_rests() &&
           (session_options()->access.insists || !operator_is_open());
}

/* A launch whose trace would teach nothing new is not traced. */
static void launch_learn(struct launch *launch, struct kernel *kernel)
{
    launch->learns = true;
    if (launch->collective)
        learning_without(launch->learning, LEARNING_COLLECTIVE);
    else if (learning_begin(launch->learning, kernel, launch->function, &launch->what,
                            launch->captured) &&
             launch->learning->reply.trace) {
        launch->traced = !launch->deferred && launch_ask(launch);
        learning_missed(kernel, launch->traced                        ? LEARNING_MISSED_NONE
                                : learning_is_known(launch->learning) ? LEARNING_MISSED_TO_CONFIRM
                                                                      : LEARNING_MISSED_TO_LEARN);
        if (!launch->traced)
            learning_refused(launch->learning);
    }
}

void launch_release(struct launch *launch)
{
    if (!launch->learns)
        return;
    learning_refused(launch->learning); /* unless its trace was taken */
    learning_end(launch->learning);
}

void launch_request_trace(struct launch *launch)
{
    bool asked = trace_learns() || trace_is_exact() || trace_judges();
    struct kernel *kernel = asked ? launch_kernel(launch) : NULL;
    if (kernel && (operator_is_collective() || kernel->collective))
        launch->collective = true;
    if (kernel && is_to_be_learned())
        launch_learn(launch, kernel);
    if (!launch->captured && !launch->traced && (trace_takes_all() || trace_judges()))
        launch->traced = launch_ask(launch);
}

void launch_submit_deferred(struct launch *launch)
{
    struct kernel *kernel = launch_kernel(launch);
    launch->collective = launch->collective || kernel->collective;
    launch->what.writes_declared = operator_is_open() && operator_declares_writes();
    if (is_to_be_learned())
        launch_learn(launch, kernel);
    record_kernel(launch);
    launch_release(launch);
}
