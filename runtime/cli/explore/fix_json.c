/* The result of csan fix as one JSON document: include/csan/csan-fix.schema.json. */
#include "csan/base/json_text.h"
#include "csan/report/proposal.h"
#include "runtime/cli/command_json.h"
#include "runtime/cli/explore/fix.h"

#include <inttypes.h>

enum { FORMAT_VERSION = 1 };

static void numbers_add(struct text *text, const char *key, const struct fixing *fixing,
                        const struct fix_trial *trial, enum fix_choice choice)
{
    text_add(text, "\"%s\": [", key);
    for (size_t i = 0; i < fixing->plain.report.finding_count; i++)
        if (fix_is_chosen(fixing, trial, i, choice))
            text_add(text, "%" PRIu64 ", ", fix_finding(fixing, i)->number);
    json_comma_drop(text);
    text_add(text, "], ");
}

static void milliseconds_add(struct text *text, const char *key, double seconds)
{
    json_member_maybe(text, key, seconds > 0, (uint64_t)(seconds * 1000 + 0.5));
}

static void outcome_add(struct text *text, const struct fixing *fixing,
                        const struct fix_trial *trial)
{
    static const char *const verdicts[] = {
        [FIX_UNTRIED] = "untried",   [FIX_VERIFIED] = "verified",   [FIX_IMPOSSIBLE] = "impossible",
        [FIX_UNSTEADY] = "unsteady", [FIX_UNREACHED] = "unreached", [FIX_REMAINS] = "remains",
        [FIX_NEW_RACE] = "new-race", [FIX_OUTPUT] = "output",       [FIX_FAILED] = "failed"};
    const bool ran = trial->removed != NULL, ended = fixing->plain.report.ended;
    json_member_string(text, "verdict", verdicts[trial->verdict]);
    json_member_string(text, "detail", trial->detail);
    json_member_string(text, "refuted", trial->refuted);
    json_member_string(text, "order", trial->order[0] ? trial->order : NULL);
    numbers_add(text, "races", fixing, trial, FIX_MEMBERS);
    numbers_add(text, "left", fixing, trial, FIX_LEFT);
    json_member_number(text, "schedules", trial->schedules);
    json_member_number(text, "other_way", trial->other_way);
    json_member_maybe(text, "unordered", ran && ended, trial->unordered);
    milliseconds_add(text, "milliseconds", trial->seconds);
    json_comma_drop(text);
}

static void order_add(struct text *text, const struct fixing *fixing, const struct fix_trial *trial)
{
    const struct finding *leader = fix_finding(fixing, trial->leader);
    text_add(text, "\n  {");
    json_member_number(text, "race", leader->number);
    json_member_string(text, "headline", leader->headline);
    json_member_string(text, "fix", leader->fix);
    json_member_string(text, "kind", proposal_kind_name(leader->proposal.kind));
    json_member_truth(text, "returned", fix_came_back(fixing, trial));
    outcome_add(text, fixing, trial);
    text_add(text, "}, ");
}

void fix_json_add(struct text *text, const struct fixing *fixing, int code)
{
    const struct finding_report *plain = &fixing->plain.report;
    command_json_head_add(text, &fixing->program, "csan-fix", FORMAT_VERSION);
    json_member_string(text, "device", fix_on_gpu(fixing) ? "gpu" : "embedded");
    json_member_number(text, "schedules_wanted", fixing->runs);
    json_member_number(text, "races", plain->finding_count);
    json_member_number(text, "other_findings", plain->stats.errors);
    json_member_maybe(text, "unordered", plain->ended, plain->stats.unordered);
    milliseconds_add(text, "milliseconds", fixing->seconds);
    text_add(text, "\n \"orders\": [");
    for (size_t i = 0; i < fixing->trial_count; i++)
        order_add(text, fixing, &fixing->trials[i]);
    json_comma_drop(text);
    text_add(text, "],\n \"together\": ");
    if (fixing->together_count < 2) {
        text_add(text, "null");
    } else {
        text_add(text, "{");
        outcome_add(text, fixing, &fixing->together);
        text_add(text, "}");
    }
    text_add(text, ",\n ");
    json_member_truth(text, "interrupted", child_interrupted() != 0);
    json_member_number(text, "exit_code", (uint64_t)code);
    json_comma_drop(text);
    text_add(text, "}\n");
}
