/* See race_cause.h. The rules that it states are those of explain.c, which names their sources. */
#include "csan/report/race_cause.h"
#include "csan/report/error_text.h"
#include "csan/report/proposal.h"

#include <stdio.h>
#include <string.h>

enum { CALL_BYTES = 256 };

/* Where the program made the call, as " (app.cu:40)"; "" where that is not known. */
static const char *at_call(struct race_words *words, const struct csan_race_call *call, char *text)
{
    char place[CALL_BYTES - 8];
    race_place(words, call->frames, call->frame_count, "", place, sizeof place);
    snprintf(text, CALL_BYTES, place[0] ? " (%s)" : "%s", place);
    return text;
}

/* " 'ready'", of an event that the program named; else "". */
static const char *event_name(const struct csan_race_call *call, char *text)
{
    snprintf(text, CALL_BYTES, call->event ? " '%s'" : "%s", call->event ? call->event : "");
    return text;
}

static bool has(const struct csan_race_call *call)
{
    return call->lane != NULL;
}

/* The free, and the use that it does not wait for. */
static void freed_in_use(const struct race_words *words, const struct race_side **freed,
                         const struct race_side **use)
{
    bool free_came_first = words->previous.access->kind == CSAN_FREE;
    *freed = free_came_first ? &words->previous : &words->current;
    *use = free_came_first ? &words->current : &words->previous;
}

/* ---- why */

/* What a call of a library started, which is not over before the program waits for it. */
static bool is_request(const struct csan_race_access *access)
{
    return access->lane_kind == CSAN_LANE_REQUEST;
}
/* A call of a library that takes no stream, or what it started. */
static bool is_library_call(const struct csan_race_access *access)
{
    return is_request(access) || (access->host && access->detail && access->detail[0]);
}

/* Calls that are over at the end of an epoch of their window. */
static bool is_one_sided(const char *name)
{
    static const char *const calls[] = {"MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Fetch_and_op",
                                        "MPI_Compare_and_swap"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strncmp(name, calls[i], strlen(calls[i])) == 0)
            return true;
    return false;
}

static void library_cause_add(struct text *text, const struct race_words *words,
                              const struct csan_race *race)
{
    if (is_request(&race->previous) && is_one_sided(race->previous.name))
        text_add(text, "nothing has ended the epoch of %s, so it may still touch the memory",
                 words->previous.brief);
    else if (is_request(&race->previous))
        text_add(text, "nothing has waited for %s, so it may still touch the memory",
                 words->previous.lane);
    else
        text_add(text, "%s takes no stream and waits for none; it may touch the memory at once",
                 words->current.brief);
}

static const char *plain_cause(const struct csan_race *race)
{
    if (race->current.at_call || race->previous.at_call)
        return "a copy from pageable memory may read its source at the call, before earlier work "
               "of its stream has run";
    if (race->kind != CSAN_RACE_ATOMIC)
        return "nothing orders the two accesses";
    if (race->current.kind == CSAN_ATOMIC && race->previous.kind == CSAN_ATOMIC)
        return "nothing orders the two atomic accesses, and they overlap only in part, so neither "
               "is atomic to the other";
    return "nothing orders the two accesses, and only one of them is atomic";
}

static void event_cause_add(struct text *text, struct race_words *words,
                            const struct csan_race_order *order)
{
    char wait[CALL_BYTES], record[CALL_BYTES], again[CALL_BYTES], event[CALL_BYTES];
    at_call(words, &order->wait, wait);
    at_call(words, &order->record, record);
    at_call(words, &order->again, again);
    event_name(&order->wait, event);
    if (order->cause == CSAN_CAUSE_RECORDED_AGAIN)
        text_add(text,
                 "the event%s that %s waits for%s was recorded on %s%s and then recorded again, on "
                 "%s%s; a wait covers the newest record only",
                 event, order->wait.lane, wait, order->record.lane, record, order->again.lane,
                 again);
    else if (order->cause == CSAN_CAUSE_RECORDED_BEFORE)
        text_add(text,
                 "the event%s that %s waits for%s was recorded%s before %s was enqueued; a wait "
                 "covers only what was enqueued before the record",
                 event, order->wait.lane, wait, record, words->previous.site);
    else if (order->cause == CSAN_CAUSE_NEVER_RECORDED)
        text_add(text,
                 "the event%s that %s waits for%s had not been recorded; a wait for such an event "
                 "returns at once",
                 event, order->wait.lane, wait);
    else
        text_add(text, "the wait for the event%s recorded on %s%s is in %s%s, and not in %s", event,
                 order->record.lane, record, order->wait.lane, wait, words->current.lane);
}

static const struct race_side *side_of_kind(const struct race_words *words, int kind)
{
    return words->previous.access->lane_kind == kind ? &words->previous : &words->current;
}

static void lane_cause_add(struct text *text, const struct race_words *words, int cause)
{
    if (cause == CSAN_CAUSE_NON_BLOCKING)
        text_add(text,
                 "%s is non-blocking (cudaStreamNonBlocking), so nothing orders it with the legacy "
                 "default stream",
                 side_of_kind(words, CSAN_LANE_NON_BLOCKING)->lane);
    else if (cause == CSAN_CAUSE_PER_THREAD)
        text_add(text, "each thread has a per-thread default stream of its own; joining the thread "
                       "orders the host, and not its stream");
    else
        text_add(text, "a host function is ordered with the work of its own stream only");
}

/* A bounded access may have no end. */
static void ad_hoc_cause_add(struct text *text, const struct csan_race_order *order)
{
    text_add(text, "no stream or event orders the two accesses; kernels may do it themselves, by a "
                   "release and an acquire of ");
    if (order->word_bytes <= 4096)
        text_add(text, "%llu bytes at ", (unsigned long long)order->word_bytes);
    text_add(text, "0x%llx; csan does not follow that", (unsigned long long)order->word);
}

/* The later access is of the very launch that may begin early. Else it is of a later one. */
static bool begins_early(const struct csan_race *race, const struct csan_race_call *launch)
{
    const struct csan_race_access *access = &race->current;
    return launch && launch->name && access->name && strcmp(launch->name, access->name) == 0 &&
           launch->frame_count == access->frame_count &&
           memcmp(launch->frames, access->frames, access->frame_count * sizeof *access->frames) ==
               0;
}

static void overlap_cause_add(struct text *text, struct race_words *words,
                              const struct csan_race *race, const struct csan_race_call *launch)
{
    char brief[SHORT_NAME_BYTES], at[CALL_BYTES];
    race_brief(words, launch->name, brief, sizeof brief);
    text_add(text,
             "%s%s may begin before the kernel launched before it ends (programmatic stream "
             "serialization), ",
             brief, at_call(words, launch, at));
    if (begins_early(race, launch))
        text_add(text, "and this access comes before any griddepcontrol.wait of its own");
    else
        text_add(text,
                 "and does not wait for that end with griddepcontrol.wait before it goes on; so "
                 "what waits for %s does not wait for %s",
                 brief, words->previous.site);
}

static void data_cause_add(struct text *text, struct race_words *words,
                           const struct csan_race *race)
{
    static const struct csan_race_order none;
    const struct csan_race_order *order = race->order ? race->order : &none;
    char one[CALL_BYTES], other[CALL_BYTES];
    if (race->current.at_call || race->previous.at_call) {
        text_add(text, "%s", plain_cause(race));
        return;
    }
    switch (order->cause) {
    case CSAN_CAUSE_RECORDED_AGAIN:
    case CSAN_CAUSE_RECORDED_BEFORE:
    case CSAN_CAUSE_NEVER_RECORDED:
    case CSAN_CAUSE_WAIT_ELSEWHERE:
        event_cause_add(text, words, order);
        return;
    case CSAN_CAUSE_NON_BLOCKING:
    case CSAN_CAUSE_PER_THREAD:
    case CSAN_CAUSE_HOST_FUNCTION:
        lane_cause_add(text, words, order->cause);
        return;
    case CSAN_CAUSE_STREAM_DESTROYED:
        text_add(text, "%s was destroyed%s, which does not wait for its work", words->previous.lane,
                 at_call(words, &order->wait, one));
        return;
    case CSAN_CAUSE_TWO_EXECUTABLE_GRAPHS:
        text_add(
            text,
            "the launches on %s%s and on %s%s are of two executables of one graph; launches of "
            "one executable are ordered, those of two are not",
            order->record.lane, at_call(words, &order->record, one), order->wait.lane,
            at_call(words, &order->wait, other));
        return;
    case CSAN_CAUSE_NO_DEPENDENCY_WAIT:
        overlap_cause_add(text, words, race, &order->wait);
        return;
    case CSAN_CAUSE_AD_HOC:
        ad_hoc_cause_add(text, order);
        return;
    default:
        if (is_request(&race->previous) || is_library_call(&race->current))
            library_cause_add(text, words, race);
        else
            text_add(text, "%s", plain_cause(race));
    }
}

void race_cause_add(struct text *text, struct race_words *words, const struct csan_race *race)
{
    const struct race_side *freed, *use;
    if (csan_is_error(race)) {
        error_cause_add(text, race);
        return;
    }
    switch (race->kind) {
    case CSAN_RACE_REUSE:
        text_add(text, "memory reused while %s still uses it: the pool gave it out again, to %s",
                 words->previous.lane, words->current.lane);
        return;
    case CSAN_RACE_FREE:
        freed_in_use(words, &freed, &use);
        text_add(text, "%s %s by %s while %s still uses it", race->object ? race->object : "memory",
                 race->object ? "destroyed" : "freed", freed->lane, use->lane);
        return;
    case CSAN_RACE_USE_AFTER_FREE:
        if (race->object)
            text_add(text, "%s used after it was destroyed", race->object);
        else
            text_add(text, race->previous.host ? "memory used after it was freed"
                                               : "memory used after its stream-ordered free");
        return;
    case CSAN_RACE_BIRTH:
        text_add(text, "the use is not ordered after the memory's allocation on %s",
                 words->previous.lane);
        return;
    default:
        data_cause_add(text, words, race);
    }
}

/* ---- what to do */

/* The side that is a copy from pageable memory, and the other; NULL: none is. */
static const struct race_side *copy_at_call(const struct race_words *words,
                                            const struct race_side **other)
{
    const struct race_side *current = &words->current, *previous = &words->previous;
    *other = current->access->at_call ? previous : current;
    return current->access->at_call ? current : previous->access->at_call ? previous : NULL;
}

static const struct race_side *side_of(const struct race_words *words,
                                       const struct csan_race_access *access)
{
    return words->previous.access == access ? &words->previous : &words->current;
}

/* A stream that can record and wait: a host function has none of its own. */
static const char *lane_of(const struct race_side *side)
{
    return side->access->lane_kind == CSAN_LANE_HOST_FUNCTION ? "the host function's stream"
                                                              : side->lane;
}

/* "stream A", or "stream A, stream B": of all lanes on which the same call was made. */
static void lanes_add(struct text *text, const struct csan_race *race,
                      const struct race_side *early)
{
    text_add(text, "%s", lane_of(early));
    for (size_t i = 0; i < race->also_count; i++)
        text_add(text, ", %s", race->also[i].lane);
    if (race->also_total > race->also_count)
        text_add(text, " and %zu more", race->also_total - race->also_count);
}

/* "cudaMemcpyToSymbolAsync" of cudaMemcpyToSymbol: each call of the runtime has that one beside it.
 */
static void form_with_stream_add(struct text *text, const struct race_side *side, bool set)
{
    static const char async[] = "Async";
    const size_t length = strlen(side->brief), end = sizeof async - 1;
    if (strncmp(side->brief, "cudaMem", strlen("cudaMem")) != 0)
        text_add(text, set ? "cudaMemsetAsync" : "cudaMemcpyAsync");
    else if (length > end && strcmp(side->brief + length - end, async) == 0)
        text_add(text, "%s", side->brief);
    else
        text_add(text, "%s%s", side->brief, async);
}

static void take_stream_add(struct text *text, const struct race_side *side,
                            const struct race_side *other)
{
    const bool set = strstr(side->access->name, "Memset") != NULL;
    text_add(text, "make %s in %s instead of the legacy default stream (", side->site, other->lane);
    form_with_stream_add(text, side, set);
    text_add(text, set ? " takes the stream; blocking streams then do not wait for it)"
                       : " takes the stream, cudaStreamSynchronize waits for it; blocking streams "
                         "then do not)");
}

static void host_order_add(struct text *text, struct race_words *words,
                           const struct proposal *proposal, const struct race_side *early,
                           const struct race_side *late)
{
    char at[CALL_BYTES], event[CALL_BYTES];
    if (proposal->recorded)
        text_add(text,
                 "make the host wait for the event%s recorded on %s%s, with cudaEventSynchronize, "
                 "before %s",
                 event_name(proposal->recorded, event), proposal->recorded->lane,
                 at_call(words, proposal->recorded, at), late->site);
    else if (is_library_call(late->access))
        text_add(text, "call cudaStreamSynchronize(%s) before %s, to wait for %s", lane_of(early),
                 late->site, early->site);
    else
        text_add(text, "synchronize the host with %s after %s, before %s", lane_of(early),
                 early->site, late->site);
}

/* An event that the program has anyway, or one more. */
static void event_order_add(struct text *text, struct race_words *words,
                            const struct csan_race *race, const struct proposal *proposal,
                            const struct race_side *early, const struct race_side *late)
{
    char at[CALL_BYTES], event[CALL_BYTES];
    if (proposal->recorded) {
        text_add(text, "make %s wait for the event%s recorded on %s%s before %s", lane_of(late),
                 event_name(proposal->recorded, event), proposal->recorded->lane,
                 at_call(words, proposal->recorded, at), late->site);
        return;
    }
    text_add(text, "record an event on ");
    lanes_add(text, race, early);
    text_add(text, " after %s, make %s wait for %s before %s", early->site, lane_of(late),
             race->also_total ? "each of them" : "it", late->site);
}

/* The text that the cause adds. */
static bool cause_order_add(struct text *text, struct race_words *words,
                            const struct csan_race *race, const struct race_side *early,
                            const struct race_side *late)
{
    const struct csan_race_order *order = race->order;
    char at[CALL_BYTES];
    switch (order->cause) {
    case CSAN_CAUSE_RECORDED_AGAIN:
        text_add(text, "record an event of its own on ");
        lanes_add(text, race, early);
        text_add(text,
                 " after %s and make %s wait for each of them before %s; or make it wait for ",
                 early->site, late->lane, late->site);
        text_add(text, "the event each time before that is recorded again%s",
                 at_call(words, &order->again, at));
        return true;
    case CSAN_CAUSE_RECORDED_BEFORE:
        if (has(&order->usable))
            return false;
        text_add(text, "record the event on %s after %s, and make %s wait for it after that",
                 early->lane, early->site, late->lane);
        return true;
    case CSAN_CAUSE_NEVER_RECORDED:
        if (has(&order->usable))
            return false;
        text_add(text, "record the event on %s after %s, before %s waits for it%s", early->lane,
                 early->site, order->wait.lane, at_call(words, &order->wait, at));
        return true;
    case CSAN_CAUSE_PER_THREAD:
        text_add(text,
                 "call cudaStreamSynchronize(cudaStreamPerThread) after %s, in the thread that "
                 "made it; or record an event there and make the other thread's stream wait for it "
                 "before %s",
                 early->site, late->site);
        return true;
    case CSAN_CAUSE_STREAM_DESTROYED:
        text_add(text,
                 "record an event on %s after %s and before that stream is destroyed%s, and make "
                 "%s wait for it before %s",
                 early->lane, early->site, at_call(words, &order->wait, at), late->lane,
                 late->site);
        return true;
    default:
        return false;
    }
}

static void order_add(struct text *text, struct race_words *words, const struct csan_race *race,
                      const struct proposal *proposal)
{
    const struct race_side *early = side_of(words, proposal->from);
    const struct race_side *late = side_of(words, proposal->to);
    if (race->order && cause_order_add(text, words, race, early, late))
        return;
    if (late->access->host || is_request(late->access))
        host_order_add(text, words, proposal, early, late);
    else
        event_order_add(text, words, race, proposal, early, late);
}

static void no_overlap_add(struct text *text, struct race_words *words,
                           const struct csan_race *race, const struct proposal *proposal)
{
    char at[CALL_BYTES], brief[SHORT_NAME_BYTES];
    race_brief(words, proposal->recorded->name, brief, sizeof brief);
    text_add(text,
             "call cudaGridDependencySynchronize() (griddepcontrol.wait) in %s%s, or launch it%s "
             "without programmatic stream serialization",
             brief,
             begins_early(race, proposal->recorded)
                 ? " before that access"
                 : ", also where it needs nothing of the kernel before",
             at_call(words, proposal->recorded, at));
}

/* How the program waits for what such a call started. */
static const char *request_wait(const char *name)
{
    if (is_one_sided(name))
        return "end its epoch (MPI_Win_fence, MPI_Win_flush, MPI_Win_unlock or MPI_Win_complete)";
    return strncmp(name, "MPI_", 4) == 0 ? "wait for it (MPI_Wait)" : "wait for it";
}

static void request_wait_add(struct text *text, const struct race_side *early,
                             const struct race_side *late)
{
    text_add(text, "%s after %s and before %s", request_wait(early->access->name), early->site,
             late->site);
}

/* A kernel and its children, or two children. */
static void grids_add(struct text *text, const struct race_side *early,
                      const struct race_side *late)
{
    static const char parent[] = "the parent grid";
    if (strcmp(early->lane, parent) == 0 || strcmp(late->lane, parent) == 0)
        text_add(text, "let the kernel do that before it launches the other, or in a tail launch "
                       "(cudaStreamTailLaunch): a kernel cannot wait for its children");
    else
        text_add(
            text,
            "let the kernel launch both into one of its streams, or launch %s as a tail launch "
            "(cudaStreamTailLaunch)",
            late->brief);
}

/* No order of streams does it. */
static void rearrange_add(struct text *text, const struct race_words *words,
                          const struct csan_race *race)
{
    const struct race_side *early = &words->previous, *late = &words->current;
    if (early->access->lane_kind == CSAN_LANE_GRID)
        grids_add(text, early, late);
    else if (race->kind == CSAN_RACE_USE_AFTER_FREE)
        text_add(text, "free it only after the use: move %s behind %s", early->site, late->site);
    else if (race->kind == CSAN_RACE_FREE && early->access->kind == CSAN_FREE)
        text_add(text,
                 "free it only after the use: move %s behind %s, and make %s wait for %s before it",
                 early->site, late->site, early->lane, late->lane);
    else if (is_request(early->access))
        request_wait_add(text, early, late);
    else if (early->access->host && late->access->host)
        text_add(text, "let %s wait for %s, by a mutex or by joining it, after %s and before %s",
                 late->lane, early->lane, early->site, late->site);
    else if (early->access->host)
        text_add(text, "let the host finish %s before %s is enqueued", early->site, late->site);
    else if (proposal_shares_launch(early->access, late->access))
        text_add(text, "add a dependency to the graph, from the node of %s to the node of %s",
                 early->brief, late->brief);
    else
        text_add(text,
                 "record an event on %s after %s, make %s wait for it before %s; a host function "
                 "comes after what its stream was given before the call that enqueued it",
                 lane_of(early), early->site, lane_of(late), late->site);
}

void race_fix_add(struct text *text, struct race_words *words, const struct csan_race *race)
{
    if (csan_is_error(race)) {
        error_fix_add(text, race);
        return;
    }
    const struct race_side *other, *copy = copy_at_call(words, &other);
    if (copy) {
        text_add(text,
                 "let the source of %s be pinned memory (cudaMallocHost, cudaHostRegister), or let "
                 "the host wait for %s before the call",
                 copy->site, other->site);
        return;
    }
    if (race->order && race->order->cause == CSAN_CAUSE_AD_HOC) {
        text_add(text,
                 "if the kernels always order the two, suppress this report; else enqueue the "
                 "one that releases first, record an event behind it, and make the other "
                 "one's stream wait for that");
        return;
    }
    const struct race_side *previous = &words->previous;
    const struct proposal proposal = proposal_of(race);
    if (race->kind == CSAN_RACE_REUSE)
        text_add(
            text,
            "give the block back to the pool only when %s is done with it (record an event on "
            "%s after %s and let the pool's stream wait for it), or tell the pool that %s uses "
            "it (record_stream in PyTorch)",
            previous->lane, previous->lane, previous->site, previous->lane);
    else if (proposal.kind == PROPOSAL_ORDER)
        order_add(text, words, race, &proposal);
    else if (proposal.kind == PROPOSAL_EDGE)
        text_add(text,
                 "add a dependency to the graph, from the node of %s to the node of %s (in a "
                 "capture: record an event after the one, and let the other's stream wait for it; "
                 "from child graph to child graph: between their nodes)",
                 side_of(words, proposal.from)->site, side_of(words, proposal.to)->site);
    else if (proposal.kind == PROPOSAL_NO_OVERLAP)
        no_overlap_add(text, words, race, &proposal);
    else if (race_is_host_change(race))
        text_add(
            text,
            "synchronize the host with %s after %s, before the host writes to that memory again",
            lane_of(previous), previous->site);
    else if (proposal.kind == PROPOSAL_STREAM)
        take_stream_add(text, side_of(words, proposal.to), side_of(words, proposal.from));
    else
        rearrange_add(text, words, race);
}

void race_group_fix_add(struct text *text, const struct race_words *words,
                        const struct csan_race *race)
{
    const struct proposal proposal = proposal_of(race);
    const struct race_side *early = &words->previous, *late = &words->current;
    if (proposal.kind == PROPOSAL_EDGE)
        text_add(text, "; it needs a dependency of its own, from the node of %s to the node of %s",
                 early->site, late->site);
    if (proposal.kind != PROPOSAL_ORDER || race->previous.sequence <= race->group_previous)
        return;
    if (race->previous.sequence < race->group_current)
        text_add(text, "; so the event has to be recorded after %s", early->site);
    else
        text_add(text, "; it needs an event of its own, after %s and before %s", early->site,
                 late->site);
}
