/* See explain.h.
 *
 * Sources of the rules: CUDA Driver API, "Event Management" (cuEventRecord: "captures in hEvent the
 * contents of hStream at the time of this call"; a later record overwrites it) and "Stream
 * Management" (cuStreamWaitEvent: an event that was never recorded makes the wait return at once;
 * cuStreamDestroy returns without waiting); CUDA C++ Programming Guide, "Default Stream" (a
 * non-blocking stream takes no part in the order with the legacy default stream; each host thread
 * has a per-thread default stream of its own) and "Host Functions (Callbacks)"; cuGraphLaunch
 * ("each launch is ordered behind ... any previous launches of hGraphExec"). */
#include "csan/detector/explain.h"

/* What the search looks at: an access on the earlier lane, and one on the current lane. */
struct search {
    const struct steps *steps;
    const struct order *order;
    const struct past_access *current, *earlier;
    uint32_t lane, earlier_lane;
};

/* The calls are in the order in which they were decided: one that was held back comes later than
 * those that the program made after it. */
static bool is_before_earlier(const struct search *search, const struct step *step)
{
    return step->after < search->earlier->op;
}

/* On that lane, and not on another stream that had its number before. */
static bool is_on(const struct search *search, const struct step *step, uint32_t lane)
{
    return step->lane == lane && !order_is_former(search->order, step->epoch);
}

/* The record's event carries the earlier access. */
static bool covers(const struct search *search, const struct step *record)
{
    return record->kind == CSAN_STEP_RECORD && is_on(search, record, search->earlier_lane) &&
           !order_is_former(search->order, search->earlier->epoch) &&
           epoch_sequence(record->epoch) >= epoch_sequence(search->earlier->epoch);
}

/* The newest record of an event from `back` on; NULL: none is kept. `*end` receives where it is. */
static const struct step *newest_record(const struct search *search, uint64_t event, uint64_t back,
                                        uint64_t *end)
{
    const struct step *step;
    for (; (step = steps_at(search->steps, back)); back++) {
        if (step->object != event)
            continue;
        if (step->kind == CSAN_STEP_EVENT_DESTROYED)
            return NULL;
        if (step->kind == CSAN_STEP_RECORD) {
            *end = back;
            return step;
        }
    }
    return NULL;
}

/* ---- a wait of the current lane's that does not cover the earlier access */

/* The event of that wait carried the access once, and was recorded again before the wait. */
static bool recorded_again(const struct search *search, const struct step *wait, uint64_t newest,
                           struct explanation *found)
{
    const struct step *again = steps_at(search->steps, newest), *step;
    for (uint64_t back = newest + 1; (step = steps_at(search->steps, back)); back++) {
        if (step->object != wait->object)
            continue;
        if (step->kind == CSAN_STEP_EVENT_DESTROYED)
            return false;
        if (covers(search, step)) {
            *found = (struct explanation){.cause = CSAN_CAUSE_RECORDED_AGAIN,
                                          .record = *step,
                                          .again = *again,
                                          .wait = *wait};
            return true;
        }
        if (step->kind == CSAN_STEP_RECORD)
            again = step;
    }
    return false;
}

static bool explain_wait(const struct search *search, const struct step *wait, uint64_t back,
                         struct explanation *found)
{
    uint64_t at;
    if (wait->kind == CSAN_STEP_WAIT_UNRECORDED) {
        *found = (struct explanation){.cause = CSAN_CAUSE_NEVER_RECORDED, .wait = *wait};
        return true;
    }
    const struct step *record = newest_record(search, wait->object, back + 1, &at);
    if (!record || covers(search, record))
        return false;
    if (recorded_again(search, wait, at, found))
        return true;
    if (record->lane != search->earlier_lane)
        return false;
    *found =
        (struct explanation){.cause = CSAN_CAUSE_RECORDED_BEFORE, .record = *record, .wait = *wait};
    return true;
}

/* A wait of the current lane's, or of the host's: what is enqueued afterwards comes after that one,
 * too. The host may well look at events that nobody recorded yet. */
static bool is_wait(const struct search *search, const struct step *step)
{
    const bool of_host = search->order->lanes[step->lane].host;
    return (step->kind == CSAN_STEP_WAIT && (of_host || is_on(search, step, search->lane))) ||
           (step->kind == CSAN_STEP_WAIT_UNRECORDED && is_on(search, step, search->lane));
}

/* Between the two accesses, the newest first. A wait for an event that was recorded too early is
 * believed last: it may be there for something else. */
static void explain_waits(const struct search *search, struct explanation *found)
{
    const struct step *step;
    for (uint64_t back = 0; (step = steps_at(search->steps, back)); back++) {
        struct explanation candidate;
        if (is_before_earlier(search, step) || !is_wait(search, step) ||
            !explain_wait(search, step, back, &candidate))
            continue;
        if (candidate.cause != CSAN_CAUSE_RECORDED_BEFORE) {
            *found = candidate;
            return;
        }
        if (found->cause == CSAN_CAUSE_NONE)
            *found = candidate;
    }
}

/* ---- records that nobody, or another lane, waits for */

/* Does the event still hold that record, or a later one of that lane? Not if it was destroyed. */
static bool holds(const struct search *search, uint64_t event, uint64_t back)
{
    uint64_t at;
    const struct step *newest = newest_record(search, event, 0, &at);
    return newest && at <= back && covers(search, newest);
}

/* The oldest record that covers the access, which is the nearest to it. */
static void find_usable(const struct search *search, struct explanation *found)
{
    const struct step *step;
    for (uint64_t back = 0; (step = steps_at(search->steps, back)); back++) {
        if (is_before_earlier(search, step) || !covers(search, step))
            continue;
        if ((found->usable.kind && step->object == found->usable.object) ||
            holds(search, step->object, back))
            found->usable = *step;
    }
}

/* A wait for such a record, on a third lane. */
static void explain_wait_elsewhere(const struct search *search, struct explanation *found)
{
    const struct step *step;
    for (uint64_t back = 0; (step = steps_at(search->steps, back)); back++) {
        uint64_t at;
        if (step->kind != CSAN_STEP_WAIT || is_before_earlier(search, step) ||
            is_on(search, step, search->lane) || is_on(search, step, search->earlier_lane))
            continue;
        const struct step *record = newest_record(search, step->object, back + 1, &at);
        if (!record || !covers(search, record))
            continue;
        found->cause = CSAN_CAUSE_WAIT_ELSEWHERE;
        found->record = *record;
        found->wait = *step;
    }
}

/* ---- what the lanes are */

static enum csan_lane_kind kind_of(const struct search *search, const struct past_access *past)
{
    const struct lane *lane = &search->order->lanes[epoch_lane(past->epoch)];
    const bool is_known = !order_is_former(search->order, past->epoch);
    return is_known ? (enum csan_lane_kind)lane->kind : CSAN_LANE_OTHER;
}

static bool are(const struct search *search, enum csan_lane_kind one, enum csan_lane_kind other)
{
    const enum csan_lane_kind a = kind_of(search, search->current),
                              b = kind_of(search, search->earlier);
    return (a == one && b == other) || (a == other && b == one);
}

static bool is_function(const struct search *search, uint32_t lane)
{
    return search->order->lanes[lane].role == CSAN_LANE_FUNCTION;
}

static void explain_lanes(const struct search *search, struct explanation *found)
{
    if (are(search, CSAN_LANE_LEGACY, CSAN_LANE_NON_BLOCKING))
        found->cause = CSAN_CAUSE_NON_BLOCKING;
    else if (are(search, CSAN_LANE_PER_THREAD, CSAN_LANE_PER_THREAD))
        found->cause = CSAN_CAUSE_PER_THREAD;
    else if (is_function(search, search->lane) || is_function(search, search->earlier_lane))
        found->cause = CSAN_CAUSE_HOST_FUNCTION;
}

/* The stream of the earlier access was destroyed, which does not wait for it. Its number may have
 * been another stream's since, which was destroyed in turn: the first after the access it is. */
static void explain_destroyed(const struct search *search, struct explanation *found)
{
    const struct step *step;
    for (uint64_t back = 0; (step = steps_at(search->steps, back)); back++) {
        if (step->kind != CSAN_STEP_STREAM_DESTROYED || step->lane != search->earlier_lane ||
            epoch_sequence(step->epoch) < epoch_sequence(search->earlier->epoch))
            continue;
        found->cause = CSAN_CAUSE_STREAM_DESTROYED;
        found->wait = *step;
    }
}

/* ---- launches of graphs */

/* The launch of a graph that the op was part of, or NULL. */
static const struct step *launch_of(const struct search *search, uint64_t op)
{
    const struct step *step, *nearest = NULL;
    for (uint64_t back = 0; (step = steps_at(search->steps, back)); back++) {
        const bool counts =
            step->kind == CSAN_STEP_GRAPH_LAUNCH || step->kind == CSAN_STEP_GRAPH_LAUNCHED;
        if (counts && step->after < op && (!nearest || step->after > nearest->after))
            nearest = step;
    }
    return nearest && nearest->kind == CSAN_STEP_GRAPH_LAUNCH ? nearest : NULL;
}

static void explain_graphs(const struct search *search, struct explanation *found)
{
    const struct step *now = launch_of(search, search->current->op);
    const struct step *then = launch_of(search, search->earlier->op);
    if (!now || !then || now->object == then->object || now->detail != then->detail || !now->detail)
        return;
    found->cause = CSAN_CAUSE_TWO_EXECUTABLE_GRAPHS;
    found->record = *then;
    found->wait = *now;
}

/* ---- launches that overlap the one before */

static bool is_overlapping(const struct step *step)
{
    return step->kind == CSAN_STEP_OVERLAPPING_LAUNCH || step->kind == CSAN_STEP_OVERLAPPING_WAITED;
}

/* The newest step of the overlapping launch that the lane was made for, or NULL. */
static const struct step *overlap_of_lane(const struct search *search, uint32_t lane)
{
    const struct step *step;
    for (uint64_t back = 0; (step = steps_at(search->steps, back)); back++)
        if (is_overlapping(step) && is_on(search, step, lane))
            return step;
    return NULL;
}

/* The newest step of that launch, or NULL. */
static const struct step *overlap_of_launch(const struct search *search, uint64_t launch)
{
    const struct step *step;
    for (uint64_t back = 0; launch && (step = steps_at(search->steps, back)); back++)
        if (is_overlapping(step) && step->object == launch)
            return step;
    return NULL;
}

/* From the current launch back to the earlier one: the first that does not wait for the one before
 * it hides that one from all behind. */
static void explain_overlap(const struct search *search, struct explanation *found)
{
    const struct step *launch = overlap_of_lane(search, search->lane);
    if (!launch || !order_same_stream(search->order, search->lane, search->earlier_lane))
        return;
    while (launch->kind == CSAN_STEP_OVERLAPPING_WAITED) {
        const struct step *before = overlap_of_launch(search, launch->detail);
        if (!before)
            return; /* it is too long ago */
        launch = before;
    }
    found->cause = CSAN_CAUSE_NO_DEPENDENCY_WAIT;
    found->wait = *launch;
}

struct explanation explain(const struct steps *steps, const struct order *order,
                           const struct past_access *current, const struct past_access *earlier)
{
    struct explanation found = {.cause = CSAN_CAUSE_NONE};
    const struct search search = {.steps = steps,
                                  .order = order,
                                  .current = current,
                                  .earlier = earlier,
                                  .lane = epoch_lane(current->epoch),
                                  .earlier_lane = epoch_lane(earlier->epoch)};
    void (*const explanations[])(const struct search *, struct explanation *) = {
        explain_overlap,        explain_graphs, explain_waits,
        explain_wait_elsewhere, explain_lanes,  explain_destroyed};
    for (size_t i = 0; i < sizeof explanations / sizeof *explanations; i++)
        if (found.cause == CSAN_CAUSE_NONE)
            explanations[i](&search, &found);
    find_usable(&search, &found);
    return found;
}
