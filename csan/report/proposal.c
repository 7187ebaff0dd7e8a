/* See proposal.h. */
#include "csan/report/proposal.h"
#include "csan/detector/detect.h"

#include <stdbool.h>
#include <string.h>

static const char *const kinds[PROPOSAL_KINDS] = {
    [PROPOSAL_NONE] = "none",     [PROPOSAL_ORDER] = "order",
    [PROPOSAL_EDGE] = "edge",     [PROPOSAL_NO_OVERLAP] = "no-overlap",
    [PROPOSAL_STREAM] = "stream", [PROPOSAL_HOST_WAIT] = "host-wait"};

const char *proposal_kind_name(int kind)
{
    return kinds[kind >= 0 && kind < PROPOSAL_KINDS ? kind : PROPOSAL_NONE];
}

int proposal_kind_of(const char *name)
{
    for (int i = 0; i < PROPOSAL_KINDS; i++)
        if (strcmp(kinds[i], name) == 0)
            return i;
    return -1;
}

bool race_is_host_change(const struct csan_race *race)
{
    return race->current.host && race->current.name &&
           strcmp(race->current.name, detector_host_change) == 0;
}

static struct proposal none(const char *obstacle)
{
    return (struct proposal){.kind = PROPOSAL_NONE, .obstacle = obstacle};
}

static bool is_transfer(const char *name)
{
    return name && (strncmp(name, "cuMemset", 8) == 0 || strncmp(name, "cudaMemset", 10) == 0 ||
                    strncmp(name, "cuMemcpy", 8) == 0 || strncmp(name, "cudaMemcpy", 10) == 0);
}

static bool is_host_function(const struct csan_race_access *access)
{
    return access->lane_kind == CSAN_LANE_HOST_FUNCTION;
}

/* A memset or copy in the legacy default stream beside work of a stream of the program's: the call
 * could simply take that stream. */
static bool can_take_stream(const struct csan_race_access *access,
                            const struct csan_race_access *other)
{
    const bool stream =
        other->lane_kind == CSAN_LANE_NON_BLOCKING || other->lane_kind == CSAN_LANE_BLOCKING;
    return access->lane_kind == CSAN_LANE_LEGACY && !access->launch_frame_count && !other->host &&
           stream && is_transfer(access->name);
}

static bool cause_asks_own_event(int cause)
{
    return cause == CSAN_CAUSE_RECORDED_AGAIN || cause == CSAN_CAUSE_PER_THREAD ||
           cause == CSAN_CAUSE_STREAM_DESTROYED;
}

static const struct csan_race_call *usable_record(const struct csan_race *race)
{
    const struct csan_race_order *order = race->order;
    const bool usable = order && order->usable.lane && !cause_asks_own_event(order->cause);
    return usable ? &order->usable : NULL;
}

static bool makes_own_event(const struct csan_race *race)
{
    const int cause = race->order ? race->order->cause : CSAN_CAUSE_NONE;
    return cause_asks_own_event(cause) ||
           ((cause == CSAN_CAUSE_RECORDED_BEFORE || cause == CSAN_CAUSE_NEVER_RECORDED) &&
            !race->order->usable.lane);
}

/* One place may launch into several streams. Launches into one are ordered. */
bool proposal_shares_launch(const struct csan_race_access *a, const struct csan_race_access *b)
{
    return a->launch_frame_count && a->launch_frames == b->launch_frames &&
           a->stream == b->stream && (is_host_function(a) || is_host_function(b));
}

/* A copy that may read its source within the call, and a function that writes there. Which of the
 * two csan saw first is chance: the copy is the later one by its stream. */
static struct proposal at_call(const struct csan_race_access *copy,
                               const struct csan_race_access *other)
{
    if (!is_host_function(other) || !other->launch_frame_count)
        return none("the copy reads its source within the call");
    return (struct proposal){.kind = PROPOSAL_HOST_WAIT, .from = other, .to = copy};
}

/* `late` is to happen after `early`. */
static struct proposal between(const struct csan_race *race, const struct csan_race_access *early,
                               const struct csan_race_access *late)
{
    if (race->order && race->order->cause == CSAN_CAUSE_AD_HOC)
        return none("the kernels may order the two themselves, through memory");
    if (early->lane_kind == CSAN_LANE_GRID)
        return none("a kernel launches the other, and only the kernel's source can order them");
    if (race->in_graph)
        return (struct proposal){.kind = PROPOSAL_EDGE, .from = early, .to = late};
    if (race->order && race->order->cause == CSAN_CAUSE_NO_DEPENDENCY_WAIT)
        return (struct proposal){
            .kind = PROPOSAL_NO_OVERLAP, .from = early, .to = late, .recorded = &race->order->wait};
    if (early->at_call || late->at_call)
        return at_call(early->at_call ? early : late, early->at_call ? late : early);
    if (race_is_host_change(race))
        return none("csan does not know which of the host's stores it was");
    if (early->lane_kind == CSAN_LANE_REQUEST)
        return none("what has to come first is a request that the program has to wait for");
    if (early->host)
        return none("what has to come first is an access of the host's own");
    if ((is_host_function(early) && !early->launch_frame_count) ||
        (is_host_function(late) && !late->launch_frame_count))
        return none("it is not known which call enqueued the host function");
    if (proposal_shares_launch(early, late))
        return none("csan does not know which node of the graph calls the host function");
    if (!late->host && late->lane_kind != CSAN_LANE_REQUEST && !makes_own_event(race)) {
        if (can_take_stream(early, late))
            return (struct proposal){.kind = PROPOSAL_STREAM, .from = late, .to = early};
        if (can_take_stream(late, early))
            return (struct proposal){.kind = PROPOSAL_STREAM, .from = early, .to = late};
    }
    return (struct proposal){
        .kind = PROPOSAL_ORDER, .from = early, .to = late, .recorded = usable_record(race)};
}

struct proposal proposal_of(const struct csan_race *race)
{
    if (csan_is_error(race))
        return none("no order between two calls mends it");
    switch (race->kind) {
    case CSAN_RACE_USE_AFTER_FREE:
        return none("the free has to move behind the use");
    case CSAN_RACE_FREE:
        if (race->previous.kind == CSAN_FREE)
            return none("the free has to move behind the use");
        return between(race, &race->previous, &race->current);
    case CSAN_RACE_REUSE:
        return (struct proposal){
            .kind = PROPOSAL_ORDER, .from = &race->previous, .to = &race->current};
    default:
        return between(race, &race->previous, &race->current);
    }
}
