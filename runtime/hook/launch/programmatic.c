/* Programmatic dependent launches. See programmatic.h. */
#include "runtime/hook/launch/programmatic.h"
#include "runtime/hook/operator/operator_stack.h"
#include "runtime/hook/operator/operator_work.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/counters.h"
#include "runtime/hook/state/thread.h"

#include <stdio.h>

static struct {
    uint64_t launches; /* enqueued on lanes of their own so far; under the hooks' lock */
} programmatic;

/* A lane for one launch: named so that a report can distinguish it from its stream. */
static csan_lane lane_create(const struct stream *stream)
{
    unsigned long long handle = (unsigned long long)(uintptr_t)stream_handle(stream);
    char label[96];
    snprintf(label, sizeof label, "stream %llu, overlapping launch %llu", handle,
             (unsigned long long)++programmatic.launches);
    csan_lane lane = thread_makes_lane(handle, label);
    csan_lane_part_of(session_context(), lane, stream_lane(stream));
    return lane;
}

static csan_snapshot *take(csan_snapshot **from)
{
    csan_snapshot *snapshot = *from;
    *from = NULL;
    return snapshot;
}

/* Beside the kernel before; the stream goes on when both are done. */
static bool submit_beside(struct programmatic *launch, struct stream *stream, csan_site site,
                          const struct launch_accesses_touched *touched)
{
    csan_context *detector = session_context();
    const struct dependent_launch *overlap = &touched->overlap;
    struct stream_overlap *before = &launch->before, next = {0};
    size_t after_wait = overlap->waits ? touched->after_wait_count : 0;
    csan_lane lane = lane_create(stream);
    if (lane == CSAN_NO_LANE)
        return false;
    csan_snapshot_join(detector, lane, before->start);
    const uint64_t number = programmatic.launches;
    csan_step(detector, lane, CSAN_STEP_OVERLAPPING_LAUNCH, number, before->number, site);
    if (overlap->lets && overlap->lets_early)
        next.start = take(&before->start);
    if (touched->access_count > after_wait)
        operator_enqueue(lane, site, touched->level, true, touched->accesses + after_wait,
                         touched->access_count - after_wait);
    if (overlap->waits) {
        csan_snapshot_join(detector, lane, before->end);
        csan_step(detector, lane, CSAN_STEP_OVERLAPPING_WAITED, number, before->number, site);
    }
    if (overlap->lets && !overlap->lets_early)
        next.start = csan_snapshot_take(detector, lane);
    if (after_wait)
        operator_enqueue(lane, site, touched->level, true, touched->accesses, after_wait);
    if (!overlap->lets)
        next.start = csan_snapshot_take(detector, lane);
    next.end = csan_snapshot_take(detector, lane);
    next.number = number;
    next.whole = overlap->waits && before->whole;
    csan_lane_waits(detector, stream_lane(stream), lane);
    csan_lane_destroy(detector, lane);
    stream_set_overlap(stream, next);
    return true;
}

static void say_unknown(const struct programmatic *launch,
                        const struct launch_accesses_touched *touched)
{
    if (touched->level == CSAN_LEVEL_UNKNOWN)
        counters_unmodelled("griddepcontrol in kernels without PTX (taken to wait first)");
    else if (launch->before.unknown)
        counters_unmodelled("griddepcontrol in kernels without PTX (taken to let none overlap)");
}

/* Does it touch anything that a kernel before may still be at? That may be one which the kernel
 * before did not wait for. An operator's declaration does not say what comes before the wait. */
static bool is_beside(const struct programmatic *launch,
                      const struct launch_accesses_touched *touched)
{
    bool early = !touched->overlap.waits || touched->access_count > touched->after_wait_count;
    return launch->allowed && launch->before.end && touched->level != CSAN_LEVEL_UNKNOWN &&
           (early || !launch->before.whole) && (touched->exact || !operator_is_open());
}

bool programmatic_begin(struct programmatic *launch, struct stream *stream, csan_site site,
                        const struct launch_accesses_touched *touched)
{
    const struct dependent_launch *overlap = &touched->overlap;
    if (launch->allowed)
        say_unknown(launch, touched);
    if (is_beside(launch, touched) && submit_beside(launch, stream, site, touched))
        return true;
    if (!overlap->lets)
        return false;
    if (launch->allowed && launch->before.start && overlap->lets_early)
        launch->start = take(&launch->before.start);
    else
        launch->start = csan_snapshot_take(session_context(), stream_lane(stream));
    return false;
}

void programmatic_end(struct programmatic *launch, struct stream *stream,
                      const struct launch_accesses_touched *touched)
{
    if (launch->start)
        stream_set_overlap(stream,
                           (struct stream_overlap){
                               .start = launch->start,
                               .end = csan_snapshot_take(session_context(), stream_lane(stream)),
                               .whole = true});
    else if (touched->level == CSAN_LEVEL_UNKNOWN)
        stream_set_overlap(stream, (struct stream_overlap){.unknown = true});
    launch->start = NULL;
    stream_overlap_release(&launch->before);
}
