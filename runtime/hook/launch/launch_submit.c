/* What a launch touches, enqueued as an op. See launch.h. */
#include "runtime/hook/launch/launch.h"
#include "csan/detector/context.h"
#include "runtime/hook/launch/launch_annotations.h"
#include "runtime/hook/graph/capture.h"
#include "runtime/hook/state/copied_values.h"
#include "runtime/hook/state/known_contents.h"
#include "runtime/hook/interpose/doubt.h"
#include "runtime/hook/failure/dump.h"
#include "runtime/hook/state/event_table.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/observe/range_verifier.h"
#include "runtime/hook/kernel/kernel.h"
#include "runtime/hook/observe/learning_node.h"
#include "runtime/hook/failure/launch_ring.h"
#include "runtime/hook/observe/learning_wait.h"
#include "runtime/hook/operator/operator_stack.h"
#include "runtime/hook/launch/programmatic.h"
#include "runtime/hook/failure/wrong_pointer.h"
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
static void record_events(const struct launch *launch, struct stream *stream,
                          struct programmatic *beside, csan_site site)
{
    for (unsigned i = 0; i < launch->attribute_count; i++) {
        CUevent handle = event_of_attribute(&launch->attributes[i]);
        if (handle && beside->allowed && beside->before.start)
            event_record_snapshot(handle, beside->before.start, site);
        else if (handle)
            event_record(handle, stream_lane(stream), site);
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

/* ---- Recording ---- */

/* The stream of a launch that succeeded, with the lock held and the joins before the op made; NULL
 * without the lock. */
static struct stream *launch_lock(const struct launch *launch, struct programmatic *beside,
                                  csan_site site)
{
    struct stream *stream = stream_lock(launch->stream, launch->entry->thread_default);
    if (!stream)
        return NULL;
    *beside =
        (struct programmatic){.allowed = launch->overlaps, .before = stream_use_launch(stream)};
    if (launch->records_events)
        record_events(launch, stream, beside, site);
    return stream;
}

/* Whether the op is to wait for its own trace, or for one before it. Within an operator its word is
 * good enough. */
enum wait { WAIT_NOT, WAIT_TRACE, WAIT_OTHER };
static enum wait wait_of(const struct launch *launch, const struct launch_accesses_touched *touched)
{
    uint8_t access = session_options()->access;
    if (launch->captured || operator_is_open() ||
        (touched->exact && access != ACCESS_BY_LEARN && access != ACCESS_BY_EXACT))
        return WAIT_NOT;
    if (launch->learns && !touched->exact && learning_waits(launch->learning))
        return WAIT_OTHER;
    bool wanted = trace_takes_all() || (launch->learns && launch->learning->reply.trace);
    return launch->traced && wanted ? WAIT_TRACE : WAIT_NOT;
}

/* The operator's word is good enough for what is launched in a graph. */
static void capture_kernel(struct launch *launch, const struct kernel *kernel, csan_site site,
                           const struct launch_accesses_touched *touched)
{
    const bool thread_default = launch->entry->thread_default;
    operator_capture(launch->stream, thread_default, site, touched->level, touched->exact,
                     touched->accesses, touched->access_count);
    struct learning_node *learning =
        launch->learns && !launch->collective && !operator_is_open()
            ? learning_node_create(launch->learning, kernel, launch->function, &launch->what,
                                   touched)
            : NULL;
    if (learning)
        capture_learning(launch->stream, thread_default, learning);
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

/* For when it fails. */
static void note_launched(const struct launch *launch, const struct kernel *kernel,
                          const struct stream *stream, csan_site site)
{
    struct launch_ring_entry launched = {.id = launch->deferred ? 0 : trace_launch_number(),
                                         .symbol = kernel->symbol,
                                         .site = site,
                                         .lane = stream_lane(stream),
                                         .indices = operator_indices(),
                                         .progress = launch->progress};
    memcpy(launched.grid, launch->what.grid, sizeof launched.grid);
    memcpy(launched.block, launch->what.block, sizeof launched.block);
    launch_ring_note(&launched);
    dump_launched();
}

/* A launch that succeeded, from what it touches to its op. Not cleared as a whole: it is large. */
struct submission {
    struct launch *launch;
    struct kernel *kernel;
    csan_site site;
    struct launch_accesses_touched touched;
    struct trace_users users;
    struct programmatic beside;
    struct stream *stream; /* locked; NULL: it is captured, or there is none */
    enum wait waits;
    uint64_t unplaced;            /* as context_unplaced before the accesses were found */
    struct wrong_pointers strays; /* rarely used */
    struct wrong_pointer_launch strays_of;
};

/* By the kernel's PTX, or what was learned of it. */
static void accesses_find(struct submission *submission)
{
    struct launch *launch = submission->launch;
    struct kernel *kernel = submission->kernel;
    struct launch_accesses_touched *touched = &submission->touched;
    submission->users = (struct trace_users){0};
    submission->unplaced = context_unplaced(session_context());
    doubt_look();
    launch_accesses_begin(kernel, &launch->what, touched);
    if (trace_judges() && !launch->captured)
        submission->users.verified = range_verifier_take(kernel, &launch->what, touched);
    if (launch->learns) {
        learning_apply(launch->learning, kernel, touched);
        submission->users.learned = learning_take(launch->learning);
    }
    if (!touched->exact && copied_values_any() && !operator_is_open())
        copied_values_forget_all();
}

/* If the accesses are not exact, csan uses the declaration of the operator that makes the launch,
 * or the launch's own trace, for which the op waits. */
static void op_submit(struct submission *submission)
{
    struct launch *launch = submission->launch;
    struct kernel *kernel = submission->kernel;
    struct launch_accesses_touched *touched = &submission->touched;
    struct stream *stream = submission->stream;
    const csan_site site = submission->site;
    const bool on_stream_lane =
        !stream || programmatic_begin(&submission->beside, stream, site, touched);
    const enum wait waits = on_stream_lane ? WAIT_NOT : wait_of(launch, touched);
    submission->waits = waits;
    if (launch->learns)
        learning_count(launch->learning, waits == WAIT_OTHER);
    if (waits == WAIT_NOT && !touched->exact && !launch->captured && !operator_is_open())
        trace_lacked();
    if (waits == WAIT_TRACE)
        trace_launch(&(struct trace_op){stream_lane(stream), site, kernel, touched,
                                        launch->learns ? launch->learning : NULL},
                     submission->users);
    else if (waits == WAIT_OTHER)
        learning_wait(launch->learning, stream_lane(stream), site, kernel, touched);
    else if (!on_stream_lane)
        operator_enqueue(stream_lane(stream), site, touched->level, touched->exact,
                         touched->accesses, touched->access_count);
}

/* What else is noted of it; gives the stream's lock back. */
static void op_submitted(struct submission *submission)
{
    struct launch_accesses_touched *touched = &submission->touched;
    struct stream *stream = submission->stream;
    programmatic_end(&submission->beside, stream, touched);
    note_launched(submission->launch, submission->kernel, stream, submission->site);
    if (wrong_pointers_may_be(submission->unplaced, stream_context(stream))) {
        submission->strays_of = (struct wrong_pointer_launch){
            stream_context(stream), stream_lane(stream), submission->site, touched->level};
        wrong_pointers_gather(touched, submission->strays_of.context, submission->unplaced,
                              &submission->strays);
    }
    guard_unlock();
}

static void submission_end(struct submission *submission)
{
    const struct launch *launch = submission->launch;
    struct launch_accesses_touched *touched = &submission->touched;
    if (submission->waits != WAIT_TRACE && !launch->deferred)
        trace_skip(submission->users);
    if (session_options()->verbosity >= 2 && touched->level != CSAN_LEVEL_LEARNED)
        launch_accesses_explain(submission->kernel, touched);
    launch_accesses_end(submission->kernel, touched);
    if (__builtin_expect(submission->strays.count != 0, 0))
        wrong_pointers_report(&submission->strays, &submission->strays_of);
}

static void record_kernel(struct launch *launch, struct kernel *kernel,
                          const struct launch_origin *origin)
{
    struct submission submission;
    submission.launch = launch;
    submission.kernel = kernel;
    submission.strays.count = 0;
    submission.beside = (struct programmatic){0};
    accesses_find(&submission);
    submission.site = site_of(origin, kernel);
    submission.stream =
        launch->captured ? NULL : launch_lock(launch, &submission.beside, submission.site);
    if (launch->captured)
        capture_kernel(launch, kernel, submission.site, &submission.touched);
    op_submit(&submission);
    if (submission.stream)
        op_submitted(&submission);
    submission_end(&submission);
}

/* By the program's own word. */
static void record_annotated(const struct launch *launch, const struct kernel *kernel,
                             const struct callsite_stack *stack,
                             const struct csan_access *annotated, size_t count)
{
    csan_site site = callsite_intern(stack, kernel->name, launch_annotations_arguments, 1);
    for (size_t i = 0; i < count; i++)
        if (annotated[i].kind != CSAN_READ)
            known_contents_forget(annotated[i].base, annotated[i].bytes);
    struct programmatic beside = {0};
    struct stream *stream = launch->captured ? NULL : launch_lock(launch, &beside, site);
    if (launch->captured)
        capture_op(launch->stream, launch->entry->thread_default, site, CSAN_LEVEL_ANNOTATED,
                   annotated, count);
    if (stream) {
        csan_op(session_context(), stream_lane(stream), site, CSAN_LEVEL_ANNOTATED, annotated,
                count);
        stream_overlap_release(&beside.before);
        note_launched(launch, kernel, stream, site);
        guard_unlock();
    }
    trace_skip((struct trace_users){0});
}

void launch_submit(struct launch *launch)
{
    size_t annotated_count;
    const struct csan_access *annotated = launch_annotations_take(&annotated_count);
    struct callsite_stack stack;
    launch->what.writes_declared = operator_declares_writes();
    for (unsigned i = 0; launch->captured && i < launch->attribute_count; i++)
        if (event_of_attribute(&launch->attributes[i]))
            event_note_captured(event_of_attribute(&launch->attributes[i]));
    callsite_capture(&stack);
    struct kernel *kernel = launch_kernel(launch);
    if (!kernel)
        trace_skip((struct trace_users){0});
    else if (annotated_count)
        record_annotated(launch, kernel, &stack, annotated, annotated_count);
    else
        record_kernel(launch, kernel, &(struct launch_origin){.stack = &stack});
}

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

/* An operator's word on what its launches touch is good enough, unless all is to be learned. */
static bool is_to_be_learned(void)
{
    return trace_learns() && (session_options()->access != ACCESS_BY_AUTO || !operator_is_open());
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

void launch_submit_deferred(struct launch *launch, struct kernel *kernel,
                            const struct launch_origin *origin)
{
    launch->collective = launch->collective || kernel->collective;
    launch->what.writes_declared = operator_declares_writes();
    if (is_to_be_learned())
        launch_learn(launch, kernel);
    record_kernel(launch, kernel, origin);
    launch_release(launch);
}
