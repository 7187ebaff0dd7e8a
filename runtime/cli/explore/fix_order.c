/* Turns what a report proposes into values of option add_order. See fix.h and
 * csan/report/proposal.h.
 *
 * A group's races lack one order, between the newest of their earlier accesses and the oldest of
 * their later ones. If the program goes back and forth between the two, so that the newest comes
 * after the oldest, each race has an order of its own. */
#include "runtime/cli/explore/fix.h"
#include "csan/report/proposal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool impossible(struct fix_trial *trial, const char *why)
{
    free(trial->detail);
    trial->verdict = FIX_IMPOSSIBLE;
    trial->detail = strdup(why);
    return false;
}

bool fix_order_add(struct fix_trial *trial, const char *order)
{
    const size_t length = strlen(trial->order), more = strlen(order);
    const char *known = strstr(trial->order, order);
    if (!more || (known && (known[more] == ',' || !known[more])))
        return true;
    if (length + more + 2 > sizeof trial->order)
        return false;
    snprintf(trial->order + length, sizeof trial->order - length, "%s%s", length ? "," : "", order);
    return true;
}

static bool add_between(struct fix_trial *trial, const char *prefix, uint64_t from, uint64_t to)
{
    char order[64];
    if (!from || !to)
        return impossible(trial, "it is not known where the program makes the two calls");
    snprintf(order, sizeof order, "%s%016" PRIx64 "-%016" PRIx64, prefix, from, to);
    return fix_order_add(trial, order) || impossible(trial, "too many orders at once");
}

bool fix_is_of_host(const struct finding *finding)
{
    static const char own[] = "the host's ";
    const struct finding_access *late = &finding->accesses[0];
    return finding->proposal.kind == PROPOSAL_ORDER && late->host && late->name &&
           strncmp(late->name, own, sizeof own - 1) == 0;
}

/* Before a later access of that finding's. */
static bool add_order(struct fix_trial *trial, const struct finding *late, uint64_t from,
                      uint64_t to)
{
    char order[64];
    if (!fix_is_of_host(late))
        return add_between(trial, "", from, to);
    if (!from)
        return impossible(trial, "it is not known where the program makes the call");
    snprintf(order, sizeof order, "behind-%016" PRIx64, from);
    return fix_order_add(trial, order) || impossible(trial, "too many orders at once");
}

static bool add_stream(const struct fixing *fixing, struct fix_trial *trial, size_t index)
{
    const struct finding_proposal *proposal = &fix_finding(fixing, index)->proposal;
    char order[64];
    if (!fixing->streams[index])
        return impossible(trial, "the other call is not always in one stream that the program "
                                 "creates");
    snprintf(order, sizeof order, "stream-%016" PRIx64 "-%u", proposal->to, fixing->streams[index]);
    return fix_order_add(trial, order) || impossible(trial, "too many orders at once");
}

/* The race's own. */
static bool add_own(const struct fixing *fixing, struct fix_trial *trial, size_t index)
{
    const struct finding_proposal *proposal = &fix_finding(fixing, index)->proposal;
    char order[64];
    switch (proposal->kind) {
    case PROPOSAL_ORDER:
        return add_order(trial, fix_finding(fixing, index), proposal->from, proposal->to);
    case PROPOSAL_EDGE:
        return add_between(trial, "", proposal->from, proposal->to);
    case PROPOSAL_HOST_WAIT:
        return add_between(trial, "host-", proposal->from, proposal->to);
    case PROPOSAL_NO_OVERLAP:
        snprintf(order, sizeof order, "no-overlap-%016" PRIx64, proposal->from);
        return fix_order_add(trial, order) || impossible(trial, "too many orders at once");
    case PROPOSAL_STREAM:
        return add_stream(fixing, trial, index);
    default:
        return impossible(trial, proposal->obstacle ? proposal->obstacle : "nothing is proposed");
    }
}

bool fix_order_each(const struct fixing *fixing, struct fix_trial *trial)
{
    trial->order[0] = '\0';
    trial->from = trial->to = NULL;
    trial->each = true;
    for (size_t i = 0; i < fixing->plain.report.finding_count; i++)
        if (fix_is_member(fixing, trial, i) && !add_own(fixing, trial, i))
            return false;
    return true;
}

/* The newest earlier access, and the oldest later one; false: one order is not enough, or the races
 * are not all of the kind. */
static bool find_ends(const struct fixing *fixing, const struct fix_trial *trial,
                      const struct finding **from, const struct finding **to)
{
    *from = *to = fix_finding(fixing, trial->leader);
    for (size_t i = 0; i < fixing->plain.report.finding_count; i++) {
        const struct finding *finding = fix_finding(fixing, i);
        if (!fix_is_member(fixing, trial, i))
            continue;
        if (finding->proposal.kind != PROPOSAL_ORDER)
            return false;
        if (finding->accesses[1].number > (*from)->accesses[1].number)
            *from = finding;
        if (finding->accesses[0].number < (*to)->accesses[0].number)
            *to = finding;
    }
    return (*from)->accesses[1].number < (*to)->accesses[0].number;
}

bool fix_order_choose(const struct fixing *fixing, struct fix_trial *trial)
{
    const struct finding *leader = fix_finding(fixing, trial->leader), *from, *to;
    if (!find_ends(fixing, trial, &from, &to))
        return fix_order_each(fixing, trial);
    if (from == leader && to == leader)
        return add_own(fixing, trial, trial->leader);
    trial->from = from;
    trial->to = to;
    /* An event that the program records for one of them need not be there for the other. */
    return add_order(trial, to, from == to ? from->proposal.from : from->accesses[1].place,
                     to->accesses[0].place);
}

bool fix_order_event(const struct fixing *fixing, struct fix_trial *trial)
{
    const struct finding *leader = fix_finding(fixing, trial->leader);
    trial->order[0] = '\0';
    trial->each = false;
    trial->from = trial->to = leader;
    return add_between(trial, "", leader->accesses[1].place, leader->accesses[0].place);
}

void fix_order_numbers(const struct fixing *fixing, struct fix_trial *trial)
{
    char order[64];
    for (size_t i = 0; i < fixing->plain.report.finding_count; i++) {
        const struct finding_proposal *proposal = &fix_finding(fixing, i)->proposal;
        if (proposal->kind != PROPOSAL_STREAM)
            continue;
        snprintf(order, sizeof order, "number-%016" PRIx64, proposal->from);
        fix_order_add(trial, order);
    }
}

void fix_order_take_numbers(struct fixing *fixing, const struct fix_run *run)
{
    char order[64];
    for (size_t i = 0; i < fixing->plain.report.finding_count; i++) {
        const struct finding_proposal *proposal = &fix_finding(fixing, i)->proposal;
        const char *note;
        if (proposal->kind != PROPOSAL_STREAM)
            continue;
        snprintf(order, sizeof order, "number-%016" PRIx64, proposal->from);
        note = fix_run_note(run, order);
        if (note)
            sscanf(note, ": stream %u", &fixing->streams[i]);
    }
}
