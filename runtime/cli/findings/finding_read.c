/* See finding_read.h. Keys that are missing or of another type are taken as absent, but for those
 * without which there is no report or no race: later versions add keys, and people edit files. */
#include "runtime/cli/findings/finding_read.h"
#include "csan/report/fingerprint.h"
#include "csan/stack/stack_library.h"
#include "runtime/cli/array.h"
#include "runtime/cli/findings/json_read.h"

#include "csan/report/proposal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION_MAX = 1 };

/* ---- members */

static uint64_t number_of(const struct json *object, const char *key)
{
    const struct json *member = json_member(object, key);
    return member && member->type == JSON_NUMBER ? member->number : 0;
}

static bool truth_of(const struct json *object, const char *key)
{
    const struct json *member = json_member(object, key);
    return member && member->type == JSON_TRUTH && member->truth;
}

/* Not a copy; NULL: it is absent. */
static const char *string_of(const struct json *object, const char *key)
{
    const struct json *member = json_member(object, key);
    return member && member->type == JSON_STRING ? member->string : NULL;
}

static char *copy_of(const struct json *object, const char *key)
{
    const char *string = string_of(object, key);
    return string ? strdup(string) : NULL;
}

static char *words_of(const struct json *object, const char *key)
{
    const char *string = string_of(object, key);
    return strdup(string ? string : "");
}

static char *digits_of(const struct json *object, const char *key)
{
    char digits[24];
    const struct json *member = json_member(object, key);
    if (!member || member->type != JSON_NUMBER || !member->whole)
        return NULL;
    snprintf(digits, sizeof digits, "%" PRIu64, member->number);
    return strdup(digits);
}

/* A place, in hexadecimal; 0: there is none. */
static uint64_t place_of(const struct json *object, const char *key)
{
    const char *digits = string_of(object, key);
    return digits ? strtoull(digits, NULL, 16) : 0;
}

/* The member's elements, if it is an array. */
static size_t array_of(const struct json *object, const char *key, const struct json **items)
{
    const struct json *member = json_member(object, key);
    bool is_array = member && member->type == JSON_ARRAY;
    *items = is_array ? member->items : NULL;
    return is_array ? member->count : 0;
}

static char **strings_of(const struct json *object, const char *key, size_t *count)
{
    const struct json *items;
    size_t length = array_of(object, key, &items);
    char **strings = calloc(length + 1, sizeof *strings);
    *count = 0;
    for (size_t i = 0; strings && i < length; i++)
        if (items[i].type == JSON_STRING && (strings[*count] = strdup(items[i].string)))
            ++*count;
    return strings;
}

/* ---- a race */

/* A report says whether a frame is a library's, and csan's own table whose. */
static const char *library_of(const struct json *frame)
{
    const struct json *own = json_member(frame, "own");
    const char *library = stack_library(string_of(frame, "function"), string_of(frame, "file"),
                                        string_of(frame, "module"));
    if (!own) /* an older report */
        return truth_of(frame, "heading") ? NULL : library;
    if (truth_of(frame, "own") || truth_of(frame, "heading"))
        return NULL;
    return library ? library : "a library";
}

static void stack_read(struct stack_frames *stack, const struct json *object, const char *key)
{
    const struct json *items;
    size_t count = array_of(object, key, &items);
    stack->items = calloc(count + 1, sizeof *stack->items);
    stack->count = stack->items ? count : 0;
    for (size_t i = 0; i < stack->count; i++)
        stack->items[i] = (struct stack_frame){.function = copy_of(&items[i], "function"),
                                               .file = copy_of(&items[i], "file"),
                                               .module = copy_of(&items[i], "module"),
                                               .line = (uint32_t)number_of(&items[i], "line"),
                                               .heading = truth_of(&items[i], "heading"),
                                               .library = library_of(&items[i]),
                                               .offset = number_of(&items[i], "offset")};
}

static void access_read(struct finding_access *access, const struct json *object)
{
    const char *operation = string_of(object, "operation");
    int kind = operation ? finding_access_of(operation) : 0;
    *access = (struct finding_access){.name = words_of(object, "name"),
                                      .symbol = words_of(object, "symbol"),
                                      .lane = words_of(object, "lane"),
                                      .arguments = words_of(object, "arguments"),
                                      .deed = words_of(object, "description"),
                                      .reason = copy_of(object, "reason"),
                                      .ranges = copy_of(object, "nvtx_ranges"),
                                      .defined = copy_of(object, "defined"),
                                      .stream = number_of(object, "stream"),
                                      .number = number_of(object, "op"),
                                      .place = place_of(object, "place"),
                                      .kind = kind < 0 ? 0 : kind,
                                      .host = truth_of(object, "host"),
                                      .at_call = truth_of(object, "at_call")};
    stack_read(&access->stack, object, "stack");
    stack_read(&access->launch_stack, object, "launch_stack");
    stack_read(&access->created, object, "created");
}

static void seen_read(struct finding *finding, const struct json *object, size_t process_count)
{
    const struct json *items;
    size_t count = array_of(object, "seen_by", &items);
    finding->seen_by = calloc(count + 1, sizeof *finding->seen_by);
    for (size_t i = 0; finding->seen_by && i < count; i++)
        if (items[i].whole && items[i].number < process_count)
            finding->seen_by[finding->seen_count++] = (uint32_t)items[i].number;
}

static void calls_read(struct finding *finding, const struct json *object)
{
    const struct json *items;
    size_t count = array_of(object, "calls", &items);
    finding->calls = calloc(count + 1, sizeof *finding->calls);
    for (size_t i = 0; finding->calls && i < count; i++) {
        struct finding_call *call = &finding->calls[finding->call_count++];
        *call = (struct finding_call){.role = words_of(&items[i], "role"),
                                      .lane = words_of(&items[i], "lane"),
                                      .name = words_of(&items[i], "name"),
                                      .event = copy_of(&items[i], "event"),
                                      .place = place_of(&items[i], "place"),
                                      .after = number_of(&items[i], "after")};
        stack_read(&call->stack, &items[i], "stack");
    }
}

static void others_read(struct finding *finding, const struct json *object)
{
    const struct json *items;
    size_t count = array_of(object, "others", &items);
    finding->others = calloc(count + 1, sizeof *finding->others);
    for (size_t i = 0; finding->others && i < count; i++)
        finding->others[finding->other_count++] =
            (struct finding_other){.lane = words_of(&items[i], "lane"),
                                   .stream = number_of(&items[i], "stream"),
                                   .number = number_of(&items[i], "op"),
                                   .address = number_of(&items[i], "address"),
                                   .bytes = number_of(&items[i], "bytes")};
    finding->other_total = number_of(object, "others_total");
}

static void proposal_read(struct finding_proposal *proposal, const struct json *object)
{
    const char *kind = string_of(object, "kind");
    const int known = kind ? proposal_kind_of(kind) : PROPOSAL_NONE;
    *proposal = (struct finding_proposal){.kind = known < 0 ? PROPOSAL_NONE : known,
                                          .from = place_of(object, "from"),
                                          .to = place_of(object, "to"),
                                          .obstacle = copy_of(object, "obstacle")};
}

/* ---- of what is no race */

static void size_read(uint32_t size[3], const struct json *object, const char *key)
{
    const struct json *items;
    const size_t count = array_of(object, key, &items);
    for (size_t i = 0; i < count && i < 3; i++)
        size[i] = items[i].type == JSON_NUMBER ? (uint32_t)items[i].number : 0;
}

static void thread_read(struct finding_error *error, const struct json *object)
{
    const struct json *thread = json_member(object, "thread");
    error->has_thread = thread && thread->type == JSON_ARRAY;
    error->device = (int)number_of(object, "device");
    size_read(error->grid, object, "grid");
    size_read(error->block_size, object, "block_size");
    size_read(error->block, object, "block");
    size_read(error->thread, object, "thread");
    error->threads = number_of(object, "threads");
}

static void held_read(struct finding_out_of_memory *out_of_memory, const struct json *object)
{
    const size_t i = out_of_memory->numbers.held_count++;
    out_of_memory->numbers.held[i] = (struct csan_held){.count = number_of(object, "allocations"),
                                                        .bytes = number_of(object, "bytes"),
                                                        .oldest = number_of(object, "oldest"),
                                                        .newest = number_of(object, "newest")};
    out_of_memory->held[i].name = words_of(object, "name");
    stack_read(&out_of_memory->held[i].stack, object, "stack");
}

/* NULL: there is none. */
static struct finding_out_of_memory *out_of_memory_read(const struct json *object)
{
    const struct json *items;
    if (!object || object->type != JSON_OBJECT)
        return NULL;
    struct finding_out_of_memory *out_of_memory = calloc(1, sizeof *out_of_memory);
    if (!out_of_memory)
        return NULL;
    out_of_memory->numbers =
        (struct csan_out_of_memory){.host = truth_of(object, "host"),
                                    .device = (int)number_of(object, "device"),
                                    .asked = number_of(object, "asked"),
                                    .free = number_of(object, "free"),
                                    .total = number_of(object, "total"),
                                    .others = number_of(object, "others"),
                                    .own = number_of(object, "own"),
                                    .own_count = number_of(object, "own_allocations"),
                                    .unused = number_of(object, "unused"),
                                    .reserved = number_of(object, "reserved"),
                                    .allocated = number_of(object, "allocated"),
                                    .more = number_of(object, "more"),
                                    .more_bytes = number_of(object, "more_bytes")};
    const size_t count = array_of(object, "held", &items);
    for (size_t i = 0; i < count && i < CSAN_HELD_MAX; i++)
        held_read(out_of_memory, &items[i]);
    return out_of_memory;
}

static struct finding_error *error_read(const struct json *object)
{
    const struct json *neighbour = json_member(object, "neighbour");
    const struct json *reported = json_member(object, "reported_by");
    const char *where = string_of(object, "where");
    struct finding_error *error = calloc(1, sizeof *error);
    if (!error)
        return NULL;
    *error = (struct finding_error){.exception = copy_of(object, "exception"),
                                    .code = copy_of(object, "code"),
                                    .detail = words_of(object, "detail"),
                                    .where = where ? finding_where_of(where) : CSAN_WHERE_UNKNOWN,
                                    .distance = number_of(object, "distance"),
                                    .neighbour = number_of(neighbour, "address"),
                                    .neighbour_bytes = number_of(neighbour, "bytes"),
                                    .reported_by = copy_of(reported, "name"),
                                    .launches_since = number_of(object, "launches_since"),
                                    .count = number_of(object, "allocations"),
                                    .total = number_of(object, "allocated_bytes")};
    finding_error_set_instruction(error, string_of(object, "function"), string_of(object, "place"));
    stack_read(&error->neighbour_stack, neighbour, "stack");
    stack_read(&error->reported_stack, reported, "stack");
    thread_read(error, object);
    error->out_of_memory = out_of_memory_read(json_member(object, "memory"));
    return error;
}

/* ---- a race, or another finding */

/* As many accesses as there are; a race has two. NULL: they are not whole. */
static const struct json *accesses_of(const struct json *object, size_t *count)
{
    const struct json *items, *error = json_member(object, "error");
    const bool is_error = error && error->type == JSON_OBJECT;
    *count = array_of(object, "accesses", &items);
    return *count == 2 || (*count == 1 && is_error) ? items : NULL;
}

/* NULL: it is none. */
static struct finding *race_read(const struct json *object, size_t process_count)
{
    static const struct json none = {.type = JSON_NULL};
    size_t count;
    const struct json *accesses = accesses_of(object, &count);
    const struct json *allocation = json_member(object, "allocation");
    const struct json *error = json_member(object, "error");
    const char *kind = string_of(object, "kind");
    if (!kind || finding_kind_of(kind) < 0 || !accesses)
        return NULL;
    struct finding *finding = calloc(1, sizeof *finding);
    if (!finding)
        return NULL;
    *finding = (struct finding){.number = number_of(object, "number"),
                                .group = number_of(object, "group"),
                                .time = number_of(object, "time"),
                                .headline = words_of(object, "headline"),
                                .cause_kind = words_of(object, "cause_kind"),
                                .kind = finding_kind_of(kind),
                                .possible = !truth_of(object, "certain"),
                                .address = number_of(object, "address"),
                                .bytes = number_of(object, "bytes"),
                                .pointer = number_of(object, "pointer"),
                                .allocation = number_of(allocation, "address"),
                                .allocation_bytes = number_of(allocation, "bytes"),
                                .variable = words_of(allocation, "variable"),
                                .variable_module = words_of(allocation, "module"),
                                .cause = words_of(object, "cause"),
                                .fix = words_of(object, "fix"),
                                .text = words_of(object, "text"),
                                .unpromised = copy_of(object, "unpromised")};
    access_read(&finding->accesses[0], &accesses[0]);
    access_read(&finding->accesses[1], count > 1 ? &accesses[1] : &none);
    if (error && error->type == JSON_OBJECT && !(finding->error = error_read(error))) {
        finding_destroy(finding);
        return NULL;
    }
    stack_read(&finding->allocation_stack, allocation, "stack");
    calls_read(finding, object);
    others_read(finding, object);
    proposal_read(&finding->proposal, json_member(object, "proposal"));
    seen_read(finding, object, process_count);
    finding->fingerprint = finding_fingerprint(finding);
    return finding;
}

/* ---- a report */

static bool processes_read(struct finding_report *report, const struct json *root)
{
    const struct json *items;
    size_t count = array_of(root, "processes", &items);
    report->processes = calloc(count + 1, sizeof *report->processes);
    if (!report->processes)
        return false;
    for (size_t i = 0; i < count; i++)
        report->processes[report->process_count++] =
            (struct finding_process){.rank = digits_of(&items[i], "rank"),
                                     .process = digits_of(&items[i], "process"),
                                     .machine = copy_of(&items[i], "machine"),
                                     .command = copy_of(&items[i], "command"),
                                     .directory = copy_of(&items[i], "directory"),
                                     .file = copy_of(&items[i], "file")};
    return true;
}

static void summary_read(struct finding_report *report, const struct json *root)
{
    const struct json *summary = json_member(root, "summary");
    report->ended = summary && summary->type == JSON_OBJECT;
    report->stats.ops = number_of(summary, "ops");
    for (int i = 0; i < CSAN_LEVEL_COUNT; i++)
        report->stats.launches[i] =
            number_of(json_member(summary, "levels"), finding_level_name(i));
    report->stats.suppressed = number_of(summary, "suppressed");
    report->stats.pending_timeouts = number_of(summary, "late");
    report->stats.promises_broken = number_of(summary, "unreleased");
    report->stats.strided_dropped = number_of(summary, "forgotten");
    const struct json *unordered = json_member(summary, "unordered");
    report->stats.unordered = number_of(summary, "unordered");
    report->stats.unordered_counted = unordered && unordered->type == JSON_NUMBER;
    report->device = copy_of(summary, "device");
    report->withheld = number_of(summary, "withheld");
    report->unmodelled = strings_of(summary, "unmodelled", &report->unmodelled_count);
    report->notes = strings_of(root, "notes", &report->note_count);
}

static bool known_read(struct finding_report *report, const struct json *root)
{
    const struct json *items;
    size_t count = array_of(root, "known", &items);
    report->known = calloc(count + 1, sizeof *report->known);
    for (size_t i = 0; report->known && i < count; i++) {
        const char *text = string_of(&items[i], "fingerprint");
        if (text && fingerprint_read(text, &report->known[report->known_count]))
            report->known_count++;
    }
    return report->known != NULL;
}

static const char *report_read(struct finding_report *report, const struct json *root)
{
    const struct json *races = json_member(root, "races");
    const char *format = string_of(root, "format");
    if (!format || strcmp(format, "csan-report") != 0)
        return "it is JSON, but no report of csan's";
    if (number_of(root, "version") > VERSION_MAX)
        return "it was written by a newer csan";
    if (!races || races->type != JSON_ARRAY)
        return "it has no list of races";
    report->findings = calloc(races->count + 1, sizeof(struct finding *));
    if (!report->findings || !processes_read(report, root) || !known_read(report, root))
        return "there is no memory";
    for (size_t i = 0; i < races->count; i++) {
        struct finding *finding = race_read(&races->items[i], report->process_count);
        if (!finding)
            return "one of its races is not whole";
        report->findings[report->finding_count++] = finding;
    }
    summary_read(report, root);
    return NULL;
}

bool finding_report_read(struct finding_report *report, const char *text, size_t bytes,
                         char *message, size_t message_bytes)
{
    *report = (struct finding_report){0};
    struct json *root = json_parse(text, bytes, message, message_bytes);
    if (!root)
        return false;
    const char *wrong = report_read(report, root);
    json_free(root);
    if (!wrong)
        return true;
    snprintf(message, message_bytes, "%s", wrong);
    finding_report_free(report);
    return false;
}

void finding_report_free(struct finding_report *report)
{
    for (size_t i = 0; i < report->finding_count; i++)
        finding_destroy(report->findings[i]);
    for (size_t i = 0; i < report->process_count; i++)
        finding_process_clear(&report->processes[i]);
    free(report->findings);
    free(report->processes);
    free(report->known);
    free(report->device);
    array_free_strings(report->unmodelled, report->unmodelled_count);
    array_free_strings(report->notes, report->note_count);
    *report = (struct finding_report){0};
}
