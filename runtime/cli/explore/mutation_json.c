/* The result of csan mutate as one JSON document: include/csan/csan-mutate.schema.json. */
#include "csan/base/json_text.h"
#include "runtime/cli/command_json.h"
#include "runtime/cli/explore/mutation.h"

#include <stdio.h>

enum { FORMAT_VERSION = 1 };

static const char *const findings[] = {
    [NEEDED] = "needed",         [POSSIBLY_NEEDED] = "possibly-needed",
    [FAILED] = "fails",          [TIMED_OUT] = "timed-out",
    [OUTPUT] = "output-differs", [UNSEEN] = "unseen",
    [UNREACHED] = "not-reached", [UNTRIED] = "not-tried"};

static void races_add(struct text *text, const struct mutate_run *plain)
{
    text_add(text, "\"races\": [");
    for (size_t i = 0; i < plain->race_count; i++) {
        json_string_add(text, plain->races[i]);
        text_add(text, ", ");
    }
    json_comma_drop(text);
    text_add(text, "],\n");
}

static void trial_add(struct text *text, const struct mutation *mutation, size_t index)
{
    const struct trial *trial = &mutation->trials[index];
    char how[64];
    bool failed = trial->finding == FAILED;
    if (failed)
        child_describe_end(trial->status, how, sizeof how);
    text_add(text, "\n    {");
    json_member_number(text, "number", index + 1);
    json_member_string(text, "finding", findings[trial->finding]);
    json_member_string(text, "race", trial->race);
    json_member_string(text, "end", failed ? how : NULL);
    json_comma_drop(text);
    text_add(text, "}, ");
}

static void place_add(struct text *text, const struct mutation *mutation, size_t first)
{
    const struct mutate_run *plain = &mutation->plain;
    text_add(text, "\n  {");
    json_member_string(text, "text", plain->syncs[first].text);
    text_add(text, "\n   \"synchronizations\": [");
    for (size_t i = first; i < plain->sync_count; i++)
        if (plain->syncs[i].first == first)
            trial_add(text, mutation, i);
    json_comma_drop(text);
    text_add(text, "]}, ");
}

void mutation_print_json(const struct mutation *mutation, int code)
{
    const struct mutate_run *plain = &mutation->plain;
    struct text text = {0};
    command_json_head_add(&text, &mutation->program, "csan-mutate", FORMAT_VERSION);
    races_add(&text, plain);
    text_add(&text, " \"places\": [");
    for (size_t i = 0; i < plain->sync_count; i++)
        if (plain->syncs[i].first == i)
            place_add(&text, mutation, i);
    json_comma_drop(&text);
    text_add(&text, "],\n ");
    json_member_number(&text, "left_out", mutation->tried);
    json_member_truth(&text, "output_compared", mutation->steady);
    json_member_truth(&text, "interrupted", child_interrupted() != 0);
    json_member_number(&text, "exit_code", (uint64_t)code);
    json_comma_drop(&text);
    text_add(&text, "}\n");
    fputs(text.data ? text.data : "", stdout);
    text_free(&text);
}
