/* The result of csan explore as one JSON document: include/csan/csan-explore.schema.json. */
#include "csan/report/finding.h"
#include "csan/base/json_text.h"
#include "runtime/cli/process/child.h"
#include "runtime/cli/command_json.h"
#include "runtime/cli/explore/explore.h"

#include <stdio.h>
#include <stdlib.h>

enum { FORMAT_VERSION = 1 };

static void head_add(struct text *text, const struct explorer *explorer)
{
    command_json_head_add(text, &explorer->program, "csan-explore", FORMAT_VERSION);
    json_member_number(text, "schedules", explorer->made);
    json_member_number(text, "schedules_wanted", explorer->wanted);
    json_member_number(text, "results", explorer->kept_count);
    json_member_number(text, "ways", explorer->ways);
}

/* null where there is none. */
static void evidence_add(struct text *text, const char *key, const struct explorer *explorer,
                         const struct evidence *evidence)
{
    text_add(text, "\n   \"%s\": ", key);
    if (!evidence->runs[0]) {
        text_add(text, "null, ");
        return;
    }
    text_add(text, "{");
    json_member_string(text, "differs", evidence->what);
    text_add(text, "\"schedules\": [");
    for (int i = 0; i < 2; i++) {
        char path[SCRATCH_PATH];
        struct text command = {0};
        const bool kept = explore_schedule_path(explorer, evidence, i, path);
        explore_command_add(&command, explorer, evidence, i);
        text_add(text, "{");
        json_member_string(text, "file", kept ? path : NULL);
        json_member_string(text, "command", command.data ? command.data : "");
        json_comma_drop(text);
        text_add(text, "}, ");
        text_free(&command);
    }
    json_comma_drop(text);
    text_add(text, "]}, ");
}

static void race_add(struct text *text, const struct explorer *explorer, size_t index)
{
    const struct explored_race *finding = &explorer->findings[index];
    text_add(text, "\n  {");
    json_member_number(text, "number", index + 1);
    json_member_string(text, "kind", finding_kind_name(finding->race.kind));
    json_member_truth(text, "certain", !finding->race.possible);
    json_member_truth(text, "suppressed", finding->race.suppressed);
    json_member_truth(text, "confirmed", finding_confirmed(finding));
    text_add(text, "\"together_with\": [");
    for (size_t i = 0; i < explorer->finding_count; i++)
        if (i != index && (finding->together >> i & 1))
            text_add(text, "%zu, ", i + 1);
    json_comma_drop(text);
    text_add(text, "], ");
    json_member_number(text, "turned_without_effect", finding->in_vain);
    evidence_add(text, "evidence", explorer, &finding->evidence);
    text_add(text, "\n   ");
    json_member_string(text, "schedule", finding->schedule);
    json_member_string(text, "text", finding->text);
    json_comma_drop(text);
    text_add(text, "}, ");
}

void explore_report_json(const struct explorer *explorer, int code)
{
    struct text text = {0};
    head_add(&text, explorer);
    text_add(&text, "\n \"races\": [");
    for (size_t i = 0; i < explorer->finding_count; i++)
        race_add(&text, explorer, i);
    json_comma_drop(&text);
    text_add(&text, "],");
    evidence_add(&text, "unreported", explorer, &explorer->unreported);
    evidence_add(&text, "other_way", explorer, &explorer->parted);
    text_add(&text, "\n ");
    json_member_number(&text, "other_findings", explorer->errors);
    json_member_number(&text, "races_not_examined", explorer->untracked);
    json_member_number(&text, "parts_not_compared", explorer->ignored.count);
    json_member_truth(&text, "several_threads", explorer->threaded);
    json_member_truth(&text, "memory_compared", !explorer->kept_count || explorer->kept[0].whole);
    json_member_truth(&text, "interrupted", child_interrupted() != 0);
    json_member_number(&text, "exit_code", (uint64_t)code);
    json_comma_drop(&text);
    text_add(&text, "}\n");
    fputs(text.data ? text.data : "", stdout);
    text_free(&text);
}
