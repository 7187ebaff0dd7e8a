/* Findings as SARIF 2.1.0 (OASIS standard of 27 March 2020; sections are of its text): a rule for
 * each kind of finding, a result for each. */
#include "csan/report/finding_document.h"
#include "csan/report/fingerprint.h"
#include "csan/base/json_text.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *brief;
} rules[] = {
    [CSAN_RACE_DATA] = {"UnorderedAccesses",
                        "Two accesses to the same bytes, at least one a write, with nothing that "
                        "orders them."},
    [CSAN_RACE_ATOMIC] = {"AtomicAndPlainAccess",
                          "An atomic access that is unordered with a plain one, or with an atomic "
                          "one that overlaps it in part."},
    [CSAN_RACE_BIRTH] = {"UseBeforeAllocation",
                         "A use that is not ordered after the memory's stream-ordered allocation."},
    [CSAN_RACE_FREE] = {"FreeInUse", "A free that is not ordered after a use of the memory."},
    [CSAN_RACE_USE_AFTER_FREE] = {"UseAfterFree", "A use that comes after the memory's free."},
    [CSAN_RACE_REUSE] = {"ReuseInUse",
                         "Memory that a pool gave out again while another stream still uses it."},
    [CSAN_RACE_OUT_OF_BOUNDS] = {"OutOfBounds",
                                 "An access to bytes beside the memory that it is of."},
    [CSAN_RACE_DEVICE_EXCEPTION] = {"DeviceException", "A kernel that failed."},
    [CSAN_RACE_UNINITIALIZED] = {"UninitializedRead",
                                 "A read of bytes that nothing has written since their "
                                 "allocation."},
    [CSAN_RACE_LEAK] = {"Leak", "Memory that is never freed."},
    [CSAN_RACE_WRONG_DEVICE] = {"WrongDevice",
                                "Memory that the device cannot reach, or a stream or event of "
                                "another device."},
    [CSAN_RACE_OUT_OF_MEMORY] = {"OutOfMemory", "An allocation that failed."},
};
static_assert(sizeof rules / sizeof *rules == CSAN_RACE_KINDS, "every kind has its rule");

enum { RULE_COUNT = sizeof rules / sizeof *rules };

/* ---- atoms */

/* A message's text: brackets would be links, braces placeholders (3.11.5, 3.11.6). */
static void message_add(struct text *text, const char *key, const char *message)
{
    struct text escaped = {0};
    text_add(&escaped, "%s", "");
    for (; *message; message++) {
        if (strchr("[]\\", *message))
            text_add(&escaped, "\\");
        else if (strchr("{}", *message))
            text_add(&escaped, "%c", *message);
        text_add(&escaped, "%c", *message);
    }
    text_add(text, "\"%s\": {\"text\": ", key);
    json_string_add(text, escaped.data ? escaped.data : "");
    text_add(text, "}, ");
    text_free(&escaped);
}

/* What may not stand in a URI's path is percent-encoded (RFC 3986, 3.3). */
static void uri_add(struct text *uri, const char *path)
{
    for (; *path; path++) {
        if (isalnum((unsigned char)*path) || strchr("-._~/+,=@", *path))
            text_add(uri, "%c", *path);
        else
            text_add(uri, "%%%02X", (unsigned char)*path);
    }
}

/* A relative path is seen from where the program was started. */
static void artifact_add(struct text *text, const char *path)
{
    struct text uri = {0};
    text_add(&uri, "%s", path[0] == '/' ? "file://" : "");
    uri_add(&uri, path);
    text_add(text, "\"artifactLocation\": {");
    json_member_string(text, "uri", uri.data ? uri.data : "");
    if (path[0] != '/')
        json_member_string(text, "uriBaseId", "SRCROOT");
    json_comma_drop(text);
    text_add(text, "}");
    text_free(&uri);
}

static void directory_add(struct text *text, const char *directory)
{
    struct text uri = {0};
    text_add(&uri, "file://");
    uri_add(&uri, directory);
    text_add(&uri, "/");
    text_add(text, "{\"uri\": ");
    json_string_add(text, uri.data ? uri.data : "");
    text_add(text, "}");
    text_free(&uri);
}

/* Members of a location (3.28) but its message. */
static void location_add(struct text *text, const struct stack_frame *frame)
{
    const char *path = frame->file ? frame->file : frame->module;
    if (path && path[0]) {
        text_add(text, "\"physicalLocation\": {");
        artifact_add(text, path);
        if (frame->file && frame->line)
            text_add(text, ", \"region\": {\"startLine\": %" PRIu32 "}", frame->line);
        text_add(text, "}, ");
    }
    if (frame->function) {
        text_add(text, "\"logicalLocations\": [{");
        json_member_string(text, "fullyQualifiedName", frame->function);
        json_member_string(text, "kind", "function");
        json_comma_drop(text);
        text_add(text, "}], ");
    }
}

/* ---- the head */

static void rules_add(struct text *text)
{
    text_add(text, "\"rules\": [");
    for (int i = 0; i < RULE_COUNT; i++) {
        text_add(text, "%s\n   {\"id\": \"csan/%s\", ", i ? "," : "", finding_kind_name(i));
        json_member_string(text, "name", rules[i].name);
        message_add(text, "shortDescription", rules[i].brief);
        message_add(text, "fullDescription", rules[i].brief);
        text_add(text, "\"defaultConfiguration\": {\"level\": \"error\"}}");
    }
    text_add(text, "]");
}

void finding_sarif_head(struct text *text, const struct finding_process *processes, size_t count)
{
    const char *directory = count ? processes[0].directory : NULL;
    text_add(text,
             "{\"$schema\": \"https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/"
             "sarif-schema-2.1.0.json\",\n \"version\": \"2.1.0\",\n \"runs\": [{\n"
             "  \"tool\": {\"driver\": {\"name\": \"csan\", \"version\": \"%d.%d\", ",
             CSAN_VERSION_MAJOR, CSAN_VERSION_MINOR);
    message_add(text, "shortDescription", "Data races between GPU streams, and kernels that fail");
    rules_add(text);
    text_add(text, "}},\n  ");
    if (directory && directory[0] == '/') {
        text_add(text, "\"originalUriBaseIds\": {\"SRCROOT\": ");
        directory_add(text, directory);
        text_add(text, "},\n  ");
    }
    text_add(text, "\"columnKind\": \"utf16CodeUnits\",\n  \"results\": [");
}

/* ---- a result */

static void result_message_add(struct text *text, const struct finding *finding)
{
    const struct finding_access *now = &finding->accesses[0], *before = &finding->accesses[1];
    struct text message = {0};
    if (finding->error)
        text_add(&message, "%c%s.", toupper((unsigned char)finding->headline[0]),
                 finding->headline[0] ? finding->headline + 1 : "");
    else
        text_add(&message, "%s: %s by %s, %s, is not ordered after %s by %s, %s.",
                 finding->possible ? "Possible race" : "Race", now->name, now->lane, now->deed,
                 before->name, before->lane, before->deed);
    text_add(&message, " Cause: %s. Fix: %s.", finding->cause, finding->fix);
    message_add(text, "message", message.data ? message.data : "");
    text_free(&message);
}

static void related_add(struct text *text, const char *what, const char *name,
                        const struct stack_frames *stack, int *id)
{
    struct text message = {0};
    const struct stack_frame *frame = stack_frames_top(stack);
    if (!frame)
        return;
    text_add(&message, "%s%s%s", what, name[0] ? ": " : "", name);
    text_add(text, "%s\n     {\"id\": %d, ", *id ? "," : "", *id);
    location_add(text, frame);
    message_add(text, "message", message.data ? message.data : what);
    json_comma_drop(text);
    text_add(text, "}");
    ++*id;
    text_free(&message);
}

/* Where to look first: of a graph's node, where the graph was launched. */
static const struct stack_frames *stack_of(const struct finding_access *access)
{
    return access->launch_stack.count ? &access->launch_stack : &access->stack;
}

/* Where the kernel was launched; where that was not seen, the line of it that failed. */
static const struct stack_frame *place_of(const struct finding *finding)
{
    const struct stack_frame *frame = stack_frames_top(stack_of(&finding->accesses[0]));
    return frame || !finding->error ? frame : stack_frames_top(&finding->error->instruction);
}

static void related_error_add(struct text *text, const struct finding *finding, int *id)
{
    const struct finding_error *error = finding->error;
    related_add(text, "Instruction that failed", "", &error->instruction, id);
    related_add(text, "Allocation", "", &finding->allocation_stack, id);
    if (finding_has_previous(finding))
        related_add(text, finding->accesses[1].kind == CSAN_FREE ? "Free" : "Previous access",
                    finding->accesses[1].name, stack_of(&finding->accesses[1]), id);
    related_add(text, "Allocation beside it", "", &error->neighbour_stack, id);
    if (error->reported_by)
        related_add(text, "Call that reported it", error->reported_by, &error->reported_stack, id);
}

static void locations_add(struct text *text, const struct finding *finding)
{
    const struct stack_frame *frame = place_of(finding);
    int id = 0;
    text_add(text, "\n    \"locations\": [");
    if (frame) {
        text_add(text, "{");
        location_add(text, frame);
        json_comma_drop(text);
        text_add(text, "}");
    }
    text_add(text, "],\n    \"relatedLocations\": [");
    if (finding->error) {
        related_error_add(text, finding, &id);
    } else {
        related_add(text, "Previous access", finding->accesses[1].name,
                    stack_of(&finding->accesses[1]), &id);
        related_add(text, "Allocation", "", &finding->allocation_stack, &id);
    }
    text_add(text, "],");
}

static void stack_add(struct text *text, const char *what, const struct stack_frames *stack,
                      bool *first)
{
    if (!stack->count)
        return;
    text_add(text, "%s\n     {", *first ? "" : ",");
    message_add(text, "message", what);
    text_add(text, "\"frames\": [");
    for (size_t i = 0; i < stack->count; i++) {
        text_add(text, "%s\n      {\"location\": {", i ? "," : "");
        location_add(text, &stack->items[i]);
        json_comma_drop(text);
        text_add(text, "}}");
    }
    text_add(text, "]}");
    *first = false;
}

/* As JSON names the calls, and in words. */
static const char *call_title(const char *role)
{
    static const char *const titles[][2] = {{"record", "Record of the event"},
                                            {"record-again", "Later record of the same event"},
                                            {"wait", "Call that orders less than it seems to"},
                                            {"usable-record", "Record that can be waited for"}};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i][0], role) == 0)
            return titles[i][1];
    return role;
}

static void stacks_add(struct text *text, const struct finding *finding)
{
    bool first = true;
    text_add(text, "\n    \"stacks\": [");
    stack_add(text, finding->error ? "Launch or call" : "Access", &finding->accesses[0].stack,
              &first);
    stack_add(text, "Launch of the access's graph", &finding->accesses[0].launch_stack, &first);
    stack_add(text, finding->error ? "Free" : "Previous access", &finding->accesses[1].stack,
              &first);
    stack_add(text, "Launch of the previous access's graph", &finding->accesses[1].launch_stack,
              &first);
    stack_add(text, "Allocation", &finding->allocation_stack, &first);
    if (finding->error) {
        stack_add(text, "Allocation beside it", &finding->error->neighbour_stack, &first);
        stack_add(text, "Call that reported it", &finding->error->reported_stack, &first);
    }
    for (size_t i = 0; i < finding->call_count; i++)
        stack_add(text, call_title(finding->calls[i].role), &finding->calls[i].stack, &first);
    text_add(text, "],");
}

static void properties_add(struct text *text, const struct finding *finding)
{
    text_add(text, "\n    \"properties\": {");
    json_member_string(text, "finding", finding_class_name(finding->kind));
    json_member_number(text, "address", finding->address);
    json_member_number(text, "bytes", finding->bytes);
    json_member_number(text, "pointer", finding->pointer);
    text_add(text, "\"seenBy\": [");
    for (size_t i = 0; i < finding->seen_count; i++)
        text_add(text, "%s%" PRIu32, i ? ", " : "", finding->seen_by[i]);
    text_add(text, "], ");
    json_member_string(text, "report", finding->text);
    json_comma_drop(text);
    text_add(text, "}");
}

void finding_sarif_add(struct text *text, const struct finding *finding)
{
    text_add(text, "\n   {\"ruleId\": \"csan/%s\", \"ruleIndex\": %d, \"level\": \"%s\",\n    ",
             finding_kind_name(finding->kind), finding->kind,
             finding->possible ? "warning" : "error");
    result_message_add(text, finding);
    locations_add(text, finding);
    stacks_add(text, finding);
    text_add(text, "\n    \"partialFingerprints\": {\"csanRace/v%d\": \"%016" PRIx64 "\"},",
             FINGERPRINT_VERSION, finding->fingerprint);
    if (finding->state != FINDING_UNCOMPARED) /* 3.27.24: then on all results */
        text_add(text, "\n    \"baselineState\": \"%s\",",
                 finding->state == FINDING_NEW ? "new" : "unchanged");
    properties_add(text, finding);
    text_add(text, "}");
}

/* ---- the tail */

static void notification_add(struct text *text, const char *message)
{
    text_add(text, "\n    {\"level\": \"note\", ");
    message_add(text, "message", message);
    json_comma_drop(text);
    text_add(text, "}, ");
}

/* Of all processes of the document; the first has it. */
static void summary_notify(struct text *text, const struct finding_tail *tail)
{
    struct text line = {0};
    if (!tail->stats)
        return;
    text_add(&line, "%llu races, %llu possible races", (unsigned long long)tail->stats->races,
             (unsigned long long)tail->stats->possible);
    if (tail->stats->errors)
        text_add(&line, ", %llu other finding%s", (unsigned long long)tail->stats->errors,
                 tail->stats->errors == 1 ? "" : "s");
    finding_checked_add(&line, tail->stats, tail->device);
    notification_add(text, line.data ? line.data : "");
    text_free(&line);
}

static void notifications_add(struct text *text, const struct finding_tail *tail)
{
    text_add(text, "\"toolExecutionNotifications\": [");
    summary_notify(text, tail);
    for (size_t i = 0; i < tail->note_count; i++)
        notification_add(text, tail->notes[i]);
    for (size_t i = 0; i < tail->unmodelled_count; i++) {
        struct text line = {0};
        text_add(&line, "not modelled: %s", tail->unmodelled[i]);
        notification_add(text, line.data ? line.data : tail->unmodelled[i]);
        text_free(&line);
    }
    if (tail->known_count) {
        struct text line = {0};
        text_add(&line, "%zu known from the baseline", tail->known_count);
        notification_add(text, line.data ? line.data : "known from the baseline");
        text_free(&line);
    }
    for (size_t i = 0; i < tail->used_count; i++) {
        struct text line = {0};
        text_add(&line, "%" PRIu64 " suppressed by %s", tail->used[i].count, tail->used[i].line);
        notification_add(text, line.data ? line.data : tail->used[i].line);
        text_free(&line);
    }
    json_comma_drop(text);
    text_add(text, "]");
}

static void properties_of_process_add(struct text *text, const struct finding_process *process,
                                      const struct finding_tail *tail)
{
    const struct csan_stats *stats = tail ? tail->stats : NULL;
    text_add(text, "\"properties\": {");
    if (process->rank && process->rank[0])
        json_member_number(text, "rank", strtoull(process->rank, NULL, 10));
    if (stats) {
        json_member_number(text, "ops", stats->ops);
        json_member_number(text, "checked", stats->ops - stats->launches[CSAN_LEVEL_UNKNOWN]);
        json_member_string(text, "device", tail->device);
    }
    json_comma_drop(text);
    text_add(text, "}, ");
}

static void invocation_add(struct text *text, const struct finding_process *process,
                           const struct finding_tail *tail, bool first)
{
    text_add(text, "%s\n   {\"executionSuccessful\": %s, ", first ? "" : ",",
             tail->stats ? "true" : "false");
    if (process->command)
        json_member_string(text, "commandLine", process->command);
    if (process->machine)
        json_member_string(text, "machine", process->machine);
    if (process->process)
        json_member_number(text, "processId", strtoull(process->process, NULL, 10));
    if (process->directory && process->directory[0] == '/') {
        text_add(text, "\"workingDirectory\": ");
        directory_add(text, process->directory);
        text_add(text, ", ");
    }
    properties_of_process_add(text, process, first ? tail : NULL);
    if (first)
        notifications_add(text, tail);
    json_comma_drop(text);
    text_add(text, "}");
}

void finding_sarif_tail(struct text *text, const struct finding_process *processes, size_t count,
                        const struct finding_tail *tail)
{
    text_add(text, "],\n  \"invocations\": [");
    for (size_t i = 0; i < count; i++)
        invocation_add(text, &processes[i], tail, i == 0);
    text_add(text, "]}]}\n");
}
