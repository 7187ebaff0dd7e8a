/* Decides what a run with an order shows. See fix.h. */
#include "runtime/cli/explore/fix.h"
#include "csan/report/proposal.h"

#include <stdlib.h>
#include <string.h>

/* ---- The median of times ---- */

static int by_time(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static double median(double *times, size_t count)
{
    if (!count)
        return 0;
    qsort(times, count, sizeof *times, by_time);
    return count % 2 ? times[count / 2] : (times[count / 2 - 1] + times[count / 2]) / 2;
}

/* On a GPU: how long the program takes. */
int fix_measure(struct fixing *fixing, const char *order, double *seconds)
{
    double *times = calloc(fixing->runs, sizeof *times);
    size_t count = 0;
    if (!times)
        return program_fail(&fixing->program, EXIT_CANNOT_RUN, "out of memory");
    while (count < fixing->runs) {
        struct fix_run run;
        fix_progress(fixing, *order ? "with an order" : "as it is");
        if (!fix_run_make(fixing, &run, order, fixing->schedule))
            break;
        times[count++] = run.run.seconds;
        fix_run_free(fixing, &run);
    }
    const bool whole = count == fixing->runs;
    *seconds = whole ? median(times, count) : 0;
    free(times);
    return whole ? 0 : fix_cut_short();
}

/* ---- With an order ---- */

void fix_trial_clear(struct fix_trial *trial)
{
    free(trial->detail);
    free(trial->refuted);
    free(trial->removed);
}

static void settle(struct fix_trial *trial, enum fix_verdict verdict, const char *detail)
{
    free(trial->detail);
    trial->verdict = verdict;
    trial->detail = strdup(detail);
}

/* False: it ended otherwise. */
static bool ended_alike(const struct fixing *fixing, struct fix_trial *trial, const struct run *run)
{
    char detail[160], how[64];
    if (!run->timed_out && run->status == fixing->plain.run.status)
        return true;
    child_describe_end(run->status, how, sizeof how);
    if (run->timed_out)
        snprintf(detail, sizeof detail, "the program did not end within %g s",
                 fixing->settings.timeout);
    else
        snprintf(detail, sizeof detail, "the program ends %s", how);
    settle(trial, FIX_FAILED, detail);
    return false;
}

/* The program has that race as it is. */
static bool is_known(const struct fixing *fixing, const struct finding *finding)
{
    return fix_run_find(&fixing->plain, finding->fingerprint) ||
           fix_run_find(&fixing->again, finding->fingerprint);
}

bool fix_came_back(const struct fixing *fixing, const struct fix_trial *trial)
{
    for (size_t i = 0; i < fixing->plain.report.finding_count; i++)
        if (fix_is_member(fixing, trial, i) &&
            !fix_run_find(&fixing->again, fixing->plain.report.findings[i]->fingerprint))
            return false;
    return true;
}

/* A race that the program has not as it is. */
static const struct finding *new_race(const struct fixing *fixing, const struct fix_run *run)
{
    for (size_t i = 0; i < run->report.finding_count; i++)
        if (!is_known(fixing, run->report.findings[i]))
            return run->report.findings[i];
    return NULL;
}

/* What the library says of an order at the end (added_order_summarize). */
struct outcome {
    unsigned long long recorded, waited, edges, changed, captured, failed;
};

static bool read_outcome(const struct fix_run *run, const char *order, struct outcome *outcome)
{
    const char *note = fix_run_note(run, order);
    return note && sscanf(note,
                          ": recorded %llu, waited %llu, edges %llu, changed %llu, captured %llu, "
                          "failed %llu",
                          &outcome->recorded, &outcome->waited, &outcome->edges, &outcome->changed,
                          &outcome->captured, &outcome->failed) == 6;
}

/* Why an order was put in nowhere; NULL: each was somewhere. */
static const char *unreached(const struct fix_run *run, const char *orders)
{
    for (const char *order = orders; *order; order += strspn(order, ",")) {
        struct outcome outcome = {0};
        if (!read_outcome(run, order, &outcome))
            return "the program did not come to its end";
        if (!outcome.waited && !outcome.edges && !outcome.changed)
            return outcome.captured ? "a call of the two is made in a captured stream"
                   : outcome.failed ? "the driver refused it"
                                    : "the program did not come to the second place behind the "
                                      "first one";
        order += strcspn(order, ",");
    }
    return NULL;
}

/* What the report of a run with the order shows; `leader`: it is one group's alone. */
static void classify(const struct fixing *fixing, struct fix_trial *trial,
                     const struct fix_run *run, bool alone)
{
    const struct finding_report *plain = &fixing->plain.report;
    const struct finding *other = new_race(fixing, run), *stays = NULL;
    trial->left = 0;
    for (size_t i = 0; i < plain->finding_count; i++) {
        const struct finding *same = fix_run_find(run, plain->findings[i]->fingerprint);
        trial->removed[i] = !same;
        trial->left += same != NULL;
        if (same && !stays && (!alone || fix_is_member(fixing, trial, i)))
            stays = plain->findings[i];
    }
    trial->unordered = run->report.stats.unordered;
    if (!ended_alike(fixing, trial, &run->run))
        return;
    /* A program that never comes to exit says nothing of it. */
    const char *why = plain->ended ? unreached(run, trial->order) : NULL;
    if (why)
        settle(trial, FIX_UNREACHED, why);
    else if (stays)
        settle(trial, FIX_REMAINS, stays->headline);
    else if (other)
        settle(trial, FIX_NEW_RACE, other->headline);
    else
        trial->verdict = FIX_VERIFIED;
}

/* Another run with the order, under another schedule, beside the first. False: that is enough. */
static bool compare(const struct fixing *fixing, struct fix_trial *trial,
                    const struct fix_run *first, const struct fix_run *run)
{
    char detail[256];
    const struct finding *other = run->report.finding_count ? run->report.findings[0] : NULL;
    if (!ended_alike(fixing, trial, &run->run))
        return false;
    if (other && is_known(fixing, other))
        settle(trial, FIX_REMAINS, other->headline);
    else if (other)
        settle(trial, FIX_NEW_RACE, other->headline);
    if (other)
        return false;
    if (!compare_way(&first->run, &run->run)) {
        trial->other_way++;
        return true;
    }
    const struct difference difference = compare_results(&first->run, &run->run, &fixing->ignored);
    if (difference.count) {
        difference_describe(&difference, detail, sizeof detail);
        settle(trial, FIX_OUTPUT, detail);
        return false;
    }
    trial->schedules++;
    return true;
}

/* No race is left: the program must end the same whatever the schedule. */
static int try_schedules(struct fixing *fixing, struct fix_trial *trial,
                         const struct fix_run *first)
{
    char schedule[32];
    double *times = calloc(fixing->runs + 1, sizeof *times);
    size_t count = 0;
    bool goes_on = true;
    if (!times)
        return program_fail(&fixing->program, EXIT_CANNOT_RUN, "out of memory");
    times[count++] = first->run.seconds;
    while (goes_on && count <= fixing->runs) {
        struct fix_run run;
        snprintf(schedule, sizeof schedule, "random:%zu", count);
        fix_progress(fixing, "with an order");
        if (!fix_run_make(fixing, &run, trial->order, schedule))
            break;
        times[count++] = run.run.seconds;
        goes_on = compare(fixing, trial, first, &run);
        fix_run_free(fixing, &run);
    }
    const bool whole = !goes_on || count > fixing->runs;
    if (fix_on_gpu(fixing) && whole)
        trial->seconds = median(times + 1, count - 1);
    free(times);
    return whole ? 0 : fix_cut_short();
}

static int try_order(struct fixing *fixing, struct fix_trial *trial, bool alone)
{
    struct fix_run run;
    int code = 0;
    if (!trial->removed)
        trial->removed = calloc(fixing->plain.report.finding_count + 1, sizeof *trial->removed);
    if (!trial->removed)
        return program_fail(&fixing->program, EXIT_CANNOT_RUN, "out of memory");
    fix_progress(fixing, alone ? "with an order" : "with all orders");
    if (!fix_run_make(fixing, &run, trial->order, fixing->schedule))
        return fix_cut_short();
    classify(fixing, trial, &run, alone);
    if (trial->verdict == FIX_VERIFIED && !run.report.finding_count)
        code = try_schedules(fixing, trial, &run);
    else if (trial->verdict == FIX_VERIFIED && fix_on_gpu(fixing))
        code = fix_measure(fixing, trial->order, &trial->seconds);
    fix_run_free(fixing, &run);
    return code;
}

static bool proposes_stream(const struct fixing *fixing, const struct fix_trial *trial)
{
    return fixing->plain.report.findings[trial->leader]->proposal.kind == PROPOSAL_STREAM;
}

/* One order for all races of the group does not do it, or not alone: each gets its own. Where csan
 * cannot put those in, the verdict on the one order stays. */
static int try_each(struct fixing *fixing, struct fix_trial *trial)
{
    struct fix_trial each = {.leader = trial->leader};
    if (!fix_order_each(fixing, &each)) {
        fix_trial_clear(&each);
        return 0;
    }
    fix_trial_clear(trial);
    *trial = each;
    return try_order(fixing, trial, true);
}

/* A call may have to stay in the legacy default stream, for the order that this one makes: then an
 * event does it. Where that does not hold either, the report is of what was proposed. */
static int try_event(struct fixing *fixing, struct fix_trial *trial)
{
    struct fix_trial event = {.leader = trial->leader};
    int code = fix_order_event(fixing, &event) ? try_order(fixing, &event, true) : 0;
    if (code || event.verdict != FIX_VERIFIED) {
        fix_trial_clear(&event);
        return code;
    }
    event.refuted = fix_refutation(trial);
    fix_trial_clear(trial);
    *trial = event;
    return 0;
}

int fix_try_group(struct fixing *fixing, struct fix_trial *trial)
{
    if (!fix_came_back(fixing, trial)) {
        trial->verdict = FIX_UNSTEADY;
        return 0;
    }
    int code = fix_order_choose(fixing, trial) ? try_order(fixing, trial, true) : 0;
    if (!code && trial->verdict == FIX_REMAINS && trial->from)
        code = try_each(fixing, trial);
    if (!code && trial->verdict != FIX_VERIFIED && proposes_stream(fixing, trial))
        code = try_event(fixing, trial);
    return code;
}

int fix_try_together(struct fixing *fixing)
{
    struct fix_trial *together = &fixing->together;
    for (size_t i = 0; i < fixing->trial_count; i++) {
        const struct fix_trial *trial = &fixing->trials[i];
        if (trial->verdict == FIX_VERIFIED && fix_order_add(together, trial->order))
            fixing->together_count++;
    }
    if (fixing->together_count < 2)
        return 0;
    return try_order(fixing, together, false);
}
