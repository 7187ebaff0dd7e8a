/* Prints the result of csan fix in words. See fix.h. */
#include "runtime/cli/explore/fix.h"
#include "csan/report/proposal.h"

#include <inttypes.h>
#include <string.h>

static size_t race_count(const struct fixing *fixing)
{
    return fixing->plain.report.finding_count;
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static bool is_alone(const struct fixing *fixing, const struct fix_trial *trial)
{
    return trial != &fixing->together;
}

bool fix_all_hold(const struct fixing *fixing)
{
    for (size_t i = 0; i < fixing->trial_count; i++)
        if (fixing->trials[i].verdict != FIX_VERIFIED)
            return false;
    if (fixing->trial_count == 1)
        return fixing->trials[0].left == 0;
    return fixing->trial_count == 0 ||
           (fixing->together_count == fixing->trial_count &&
            fixing->together.verdict == FIX_VERIFIED && fixing->together.left == 0);
}

/* ---- Lists of races */

bool fix_is_chosen(const struct fixing *fixing, const struct fix_trial *trial, size_t index,
                   enum fix_choice choice)
{
    const bool member = is_alone(fixing, trial) && fix_is_member(fixing, trial, index);
    if (choice == FIX_MEMBERS)
        return member;
    if (choice == FIX_REMOVED_TOO)
        return !member && trial->removed && trial->removed[index] &&
               fix_run_find(&fixing->again, fix_finding(fixing, index)->fingerprint);
    return trial->removed && !trial->removed[index];
}

static size_t count_of(const struct fixing *fixing, const struct fix_trial *trial,
                       enum fix_choice choice)
{
    size_t count = 0;
    for (size_t i = 0; i < race_count(fixing); i++)
        count += fix_is_chosen(fixing, trial, i, choice);
    return count;
}

/* "race 1", "races 1, 2". */
static void races_add(struct text *text, const struct fixing *fixing, const struct fix_trial *trial,
                      enum fix_choice choice)
{
    const char *separator = "";
    text_add(text, "race%s ", plural(count_of(fixing, trial, choice)));
    for (size_t i = 0; i < race_count(fixing); i++)
        if (fix_is_chosen(fixing, trial, i, choice)) {
            text_add(text, "%s%" PRIu64, separator, fix_finding(fixing, i)->number);
            separator = ", ";
        }
}

/* ---- What it costs */

static void pairs_add(struct text *text, uint64_t without, uint64_t with)
{
    if (with >= without) {
        text_add(text,
                 "costs: none of %" PRIu64 " pair%s of operations that could run at the same "
                 "time",
                 without, plural(without));
        return;
    }
    const uint64_t lost = without - with;
    text_add(text,
             "costs: of %" PRIu64 " pair%s of operations that could run at the same time, %" PRIu64
             " cannot any more (%" PRIu64 "%%)",
             without, plural(without), lost, (lost * 100 + without / 2) / without);
}

static void cost_add(struct text *text, const struct fixing *fixing, const struct fix_trial *trial)
{
    if (fixing->plain.report.ended)
        pairs_add(text, fixing->plain.report.stats.unordered, trial->unordered);
    else
        text_add(text, "what it costs is not known, since the program does not end by exit");
    if (fixing->seconds > 0 && trial->seconds > 0)
        text_add(text,
                 "; the program took %.3f s without it and %.3f s with it (medians of %lu runs)",
                 fixing->seconds, trial->seconds, fixing->runs);
}

/* ---- Verdicts */

static void outputs_add(struct text *text, const struct fixing *fixing,
                        const struct fix_trial *trial)
{
    const char *what = fixing->program.device == PROGRAM_GPU ? "run" : "schedule";
    if (trial->schedules)
        text_add(text, "; outputs equal over %u %s%s", trial->schedules, what,
                 plural(trial->schedules));
    if (trial->other_way)
        text_add(text, "; in %u %s%s the program went another way, and is not compared",
                 trial->other_way, what, plural(trial->other_way));
}

/* By which of several ways that the fix names, or by what in place of it. */
static const char *means_of(const struct finding *leader, const struct fix_trial *trial)
{
    if (trial->refuted)
        return " instead";
    if (leader->proposal.kind == PROPOSAL_NO_OVERLAP)
        return ", by a launch without programmatic stream serialization";
    if (fix_is_of_host(leader))
        return ", by a wait of the host right behind the first of the two";
    if (leader->proposal.kind == PROPOSAL_HOST_WAIT)
        return ", by a wait of the host";
    if (leader->kind == CSAN_RACE_REUSE || strcmp(leader->cause_kind, "per-thread") == 0)
        return ", by an event between the two";
    return "";
}

static void verified_add(struct text *text, const struct fixing *fixing,
                         const struct fix_trial *trial)
{
    const bool several = strchr(trial->order, ',') != NULL;
    text_add(text, "verified%s: %s alone remove%s ",
             means_of(fix_finding(fixing, trial->leader), trial),
             several ? "these orders" : "this order", several ? "" : "s");
    races_add(text, fixing, trial, FIX_MEMBERS);
    if (count_of(fixing, trial, FIX_REMOVED_TOO)) {
        text_add(text, " (and ");
        races_add(text, fixing, trial, FIX_REMOVED_TOO);
        text_add(text, ")");
    }
    if (trial->left) {
        text_add(text, "; no other is new (");
        races_add(text, fixing, trial, FIX_LEFT);
        text_add(text, " stay%s)", trial->left == 1 ? "s" : "");
    } else {
        text_add(text, "; nothing else is reported");
    }
    outputs_add(text, fixing, trial);
    text_add(text, "; ");
    cost_add(text, fixing, trial);
}

static void refuted_add(struct text *text, const struct fix_trial *trial)
{
    static const char *const why[] = {
        [FIX_IMPOSSIBLE] = "csan cannot put it in: %s",
        [FIX_UNREACHED] = "the order was put in nowhere: %s",
        [FIX_REMAINS] = "still reported with this order: %s",
        [FIX_NEW_RACE] = "another race appears: %s",
        [FIX_OUTPUT] = "nothing is reported, but the program does not end the same under each "
                       "schedule; what differs: %s",
        [FIX_FAILED] = "with this order %s"};
    if (trial->verdict == FIX_UNTRIED || trial->verdict == FIX_UNSTEADY) {
        text_add(
            text, "%s",
            trial->verdict == FIX_UNTRIED
                ? "not tried: interrupted"
                : "not verified: a second run without the fix did not report the race, so no run "
                  "can prove the fix");
        return;
    }
    text_add(text, "not verified: ");
    text_add(text, why[trial->verdict], trial->detail ? trial->detail : "(no memory)");
}

char *fix_refutation(const struct fix_trial *trial)
{
    struct text text = {0};
    refuted_add(&text, trial);
    return text.data;
}

static void verdict_add(struct text *text, const struct fixing *fixing,
                        const struct fix_trial *trial)
{
    if (trial->verdict == FIX_VERIFIED)
        verified_add(text, fixing, trial);
    else
        refuted_add(text, trial);
}

/* ---- A race */

/* "fill (app.cu:20)" */
static void side_add(struct text *text, const struct finding_access *access)
{
    char place[512] = "", brief[SHORT_NAME_BYTES];
    const struct stack_frames *stack =
        access->launch_stack.count ? &access->launch_stack : &access->stack;
    const struct stack_frame *top = stack_frames_top(stack);
    if (top)
        stack_frame_place(top, place, sizeof place);
    race_name_shorten(brief, sizeof brief, access->name);
    text_add(text, "%s", brief);
    if (place[0])
        text_add(text, " (%s)", place);
}

/* Where the group's order is not what its first race alone would need. */
static void ends_add(struct text *text, const struct fix_trial *trial)
{
    if (!trial->from)
        return;
    text_add(text, trial->refuted ? "  Instead an event is recorded after "
                                  : "  For all of these races the event is recorded after ");
    side_add(text, &trial->from->accesses[1]);
    text_add(text, " and waited for before ");
    side_add(text, &trial->to->accesses[0]);
    text_add(text, ".\n");
}

static void trial_add(struct text *text, const struct fixing *fixing, const struct fix_trial *trial)
{
    const struct finding *leader = fix_finding(fixing, trial->leader);
    text_add(text, "Race %" PRIu64 ": %s.\n", leader->number, leader->headline);
    for (size_t i = 0; i < race_count(fixing); i++)
        if (fix_is_member(fixing, trial, i) && i != trial->leader)
            text_add(text, "Race %" PRIu64 ", by the same missing order: %s.\n",
                     fix_finding(fixing, i)->number, fix_finding(fixing, i)->headline);
    text_add(text, "  Fix: %s.\n", leader->fix);
    for (size_t i = 0; trial->each && i < race_count(fixing); i++)
        if (fix_is_member(fixing, trial, i) &&
            strcmp(fix_finding(fixing, i)->fix, leader->fix) != 0)
            text_add(text, "  And: %s.\n", fix_finding(fixing, i)->fix);
    if (trial->refuted)
        text_add(text, "  %s.\n", trial->refuted);
    ends_add(text, trial);
    text_add(text, "  ");
    verdict_add(text, fixing, trial);
    text_add(text, ".\n");
}

/* ---- All of them */

static size_t held_count(const struct fixing *fixing)
{
    size_t count = 0;
    for (size_t i = 0; i < fixing->trial_count; i++)
        count += fixing->trials[i].verdict == FIX_VERIFIED;
    return count;
}

static void together_add(struct text *text, const struct fixing *fixing)
{
    const struct fix_trial *together = &fixing->together;
    if (fixing->together_count < 2)
        return;
    if (together->verdict == FIX_VERIFIED || together->verdict == FIX_REMAINS ||
        together->verdict == FIX_UNREACHED) {
        text_add(text, "; with %s of them together ",
                 fixing->together_count == fixing->trial_count ? "all" : "those");
        if (together->left)
            races_add(text, fixing, together, FIX_LEFT);
        else
            text_add(text, "no race");
        text_add(text, " %s left", together->left > 1 ? "are" : "is");
        outputs_add(text, fixing, together);
        text_add(text, "; ");
        cost_add(text, fixing, together);
    } else {
        text_add(text, "; all together: ");
        refuted_add(text, together);
    }
}

/* What no order mends. */
static void errors_add(struct text *text, const struct fixing *fixing)
{
    const uint64_t errors = fixing->plain.report.stats.errors;
    if (errors)
        text_add(text, "; %" PRIu64 " other finding%s, no race, which csan run reports", errors,
                 plural(errors));
}

static void summary_add(struct text *text, const struct fixing *fixing)
{
    const size_t count = race_count(fixing);
    if (child_interrupted())
        text_add(text, "csan fix: interrupted; this is what was found so far\n");
    if (!count) {
        text_add(text, "csan fix: no race is reported");
        errors_add(text, fixing);
        text_add(text, "\n");
        return;
    }
    text_add(text, "csan fix: %zu race%s, %zu missing order%s; %zu proposal%s verified", count,
             plural(count), fixing->trial_count, plural(fixing->trial_count), held_count(fixing),
             plural(held_count(fixing)));
    together_add(text, fixing);
    errors_add(text, fixing);
    text_add(text, "\n");
}

void fix_report(const struct fixing *fixing, int code)
{
    struct text text = {0};
    if (fixing->json) {
        fix_json_add(&text, fixing, code);
    } else {
        for (size_t i = 0; i < fixing->trial_count; i++)
            trial_add(&text, fixing, &fixing->trials[i]);
        summary_add(&text, fixing);
    }
    if (text.data)
        fwrite(text.data, 1, text.length, fixing->out);
    fflush(fixing->out);
    text_free(&text);
}
