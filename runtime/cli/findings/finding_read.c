/* See finding_read.h. Keys that are missing or of another type are taken as absent, but for those
 * without which there is no report or no race: later versions add keys, and people edit files. */
#include "runtime/cli/findings/finding_read.h"
#include "csan/report/fingerprint.h"
#include "csan/stack/site.h"
#include "csan/stack/stack_library.h"
#include "csan/base/array.h"
#include "runtime/cli/findings/json_read.h"

#include "csan/report/proposal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION_MAX = 1 };

/* ---- members */

static uint64_t number_of(const struct json_object *object, const char *key)
{
    uint64_t number = 0;
    json_whole(json_member(object, key), &number);
    return number;
}

static bool truth_of(const struct json_object *object, const char *key)
{
    struct json_object *member = json_member(object, key);
    return json_object_is_type(member, json_type_boolean) && json_object_get_boolean(member);
}

/* Not a copy; NULL: it is no string. */
static const char *text_of(struct json_object *value)
{
    return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

/* Not a copy; NULL: it is absent. */
static const char *string_of(const struct json_object *object, const char *key)
{
    return text_of(json_member(object, key));
}

static char *copy_of(const struct json_object *object, const char *key)
{
    const char *string = string_of(object, key);
    return string ? strdup(string) : NULL;
}

static char *words_of(const struct json_object *object, const char *key)
{
    const char *string = string_of(object, key);
    return strdup(string ? string : "");
}

static char *digits_of(const struct json_object *object, const char *key)
{
    char digits[24];
    uint64_t number;
    if (!json_whole(json_member(object, key), &number))
        return NULL;
    snprintf(digits, sizeof digits, "%" PRIu64, number);
    return strdup(digits);
}

/* A place, in hexadecimal; 0: there is none. */
static uint64_t place_of(const struct json_object *object, const char *key)
{
    const char *digits = string_of(object, key);
    return digits ? strtoull(digits, NULL, 16) : 0;
}

/* An array; NULL: it is none. */
static struct json_object *array_of(const struct json_object *object, const char *key)
{
    struct json_object *member = json_member(object, key);
    return json_object_is_type(member, json_type_array) ? member : NULL;
}

static size_t count_of(const struct json_object *array)
{
    return array ? json_object_array_length(array) : 0;
}

static struct json_object *item_of(const struct json_object *array, size_t i)
{
    return json_object_array_get_idx(array, i);
}

static char **strings_of(const struct json_object *object, const char *key, size_t *count)
{
    const struct json_object *items = array_of(object, key);
    char **strings = calloc(count_of(items) + 1, sizeof *strings);
    *count = 0;
    for (size_t i = 0; strings && i < count_of(items); i++) {
        const char *string = text_of(item_of(items, i));
        if (string && (strings[*count] = strdup(string)))
            ++*count;
    }
    return strings;
}

/* ---- a race */

/* A report says whether a frame is a library's, and csan's own table whose. */
static const char *library_of(const struct json_object *frame)
{
    const struct json_object *own = json_member(frame, "own");
    const char *library = stack_library(string_of(frame, "function"), string_of(frame, "file"),
                                        string_of(frame, "module"));
    if (!own) /* an older report */
        return truth_of(frame, "heading") ? NULL : library;
    if (truth_of(frame, "own") || truth_of(frame, "heading"))
        return NULL;
    return library ? library : "a library";
}

static void stack_read(struct stack_frames *stack, const struct json_object *object,
                       const char *key)
{
    const struct json_object *items = array_of(object, key);
    const size_t count = count_of(items);
    stack->items = calloc(count + 1, sizeof *stack->items);
    stack->count = stack->items ? count : 0;
    for (size_t i = 0; i < stack->count; i++) {
        const struct json_object *frame = item_of(items, i);
        stack->items[i] = (struct stack_frame){.function = copy_of(frame, "function"),
                                               .file = copy_of(frame, "file"),
                                               .module = copy_of(frame, "module"),
                                               .line = (uint32_t)number_of(frame, "line"),
                                               .heading = truth_of(frame, "heading"),
                                               .library = library_of(frame),
                                               .offset = number_of(frame, "offset")};
    }
}

static void access_read(struct finding_access *access, const struct json_object *object)
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
                                      .detail = copy_of(object, "detail"),
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

static void seen_read(struct finding *finding, const struct json_object *object,
                      size_t process_count)
{
    uint64_t process;
    const struct json_object *items = array_of(object, "seen_by");
    size_t count = count_of(items);
    finding->seen_by = calloc(count + 1, sizeof *finding->seen_by);
    for (size_t i = 0; finding->seen_by && i < count; i++)
        if (json_whole(item_of(items, i), &process) && process < process_count)
            finding->seen_by[finding->seen_count++] = (uint32_t)process;
}

static void calls_read(struct finding *finding, const struct json_object *object)
{
    const struct json_object *items = array_of(object, "calls");
    size_t count = count_of(items);
    finding->calls = calloc(count + 1, sizeof *finding->calls);
    for (size_t i = 0; finding->calls && i < count; i++) {
        const struct json_object *item = item_of(items, i);
        struct finding_call *call = &finding->calls[finding->call_count++];
        *call = (struct finding_call){.role = words_of(item, "role"),
                                      .lane = words_of(item, "lane"),
                                      .name = words_of(item, "name"),
                                      .event = copy_of(item, "event"),
                                      .place = place_of(item, "place"),
                                      .after = number_of(item, "after")};
        stack_read(&call->stack, item, "stack");
    }
}

static void others_read(struct finding *finding, const struct json_object *object)
{
    const struct json_object *items = array_of(object, "others");
    size_t count = count_of(items);
    finding->others = calloc(count + 1, sizeof *finding->others);
    for (size_t i = 0; finding->others && i < count; i++) {
        const struct json_object *item = item_of(items, i);
        finding->others[finding->other_count++] =
            (struct finding_other){.lane = words_of(item, "lane"),
                                   .stream = number_of(item, "stream"),
                                   .number = number_of(item, "op"),
                                   .address = number_of(item, "address"),
                                   .bytes = number_of(item, "bytes")};
    }
    finding->other_total = number_of(object, "others_total");
}

static void proposal_read(struct finding_proposal *proposal, const struct json_object *object)
{
    const char *kind = string_of(object, "kind");
    const int known = kind ? proposal_kind_of(kind) : PROPOSAL_NONE;
    *proposal = (struct finding_proposal){.kind = known < 0 ? PROPOSAL_NONE : known,
                                          .from = place_of(object, "from"),
                                          .to = place_of(object, "to"),
                                          .obstacle = copy_of(object, "obstacle")};
}

/* ---- of what is no race */

static void size_read(uint32_t size[3], const struct json_object *object, const char *key)
{
    const struct json_object *items = array_of(object, key);
    for (size_t i = 0; i < count_of(items) && i < 3; i++) {
        uint64_t number = 0;
        json_whole(item_of(items, i), &number);
        size[i] = (uint32_t)number;
    }
}

static void thread_read(struct finding_error *error, const struct json_object *object)
{
    error->has_thread = array_of(object, "thread") != NULL;
    error->device = (int)number_of(object, "device");
    size_read(error->grid, object, "grid");
    size_read(error->block_size, object, "block_size");
    size_read(error->block, object, "block");
    size_read(error->thread, object, "thread");
    error->threads = number_of(object, "threads");
}

static void held_read(struct finding_out_of_memory *out_of_memory, const struct json_object *object)
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
static struct finding_out_of_memory *out_of_memory_read(const struct json_object *object)
{
    if (!json_object_is_type(object, json_type_object))
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
    const struct json_object *items = array_of(object, "held");
    const size_t count = count_of(items);
    for (size_t i = 0; i < count && i < CSAN_HELD_MAX; i++)
        held_read(out_of_memory, item_of(items, i));
    return out_of_memory;
}

static struct finding_error *error_read(const struct json_object *object)
{
    const struct json_object *neighbour = json_member(object, "neighbour");
    const struct json_object *reported = json_member(object, "reported_by");
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

/* A race has two. NULL: they are not whole. */
static const struct json_object *accesses_of(const struct json_object *object, bool is_error)
{
    const struct json_object *items = array_of(object, "accesses");
    return count_of(items) == 2 || (count_of(items) == 1 && is_error) ? items : NULL;
}

/* NULL: it is none. */
static struct finding *race_read(const struct json_object *object, size_t process_count)
{
    const struct json_object *allocation = json_member(object, "allocation");
    const struct json_object *error = json_member(object, "error");
    const bool is_error = json_object_is_type(error, json_type_object);
    const struct json_object *accesses = accesses_of(object, is_error);
    const char *kind = string_of(object, "kind");
    if (!kind || finding_kind_of(kind) < 0 || !accesses)
        return NULL;
    struct finding *finding = calloc(1, sizeof *finding);
    if (!finding)
        return NULL;
    *finding = (struct finding){.number = number_of(object, "number"),
                                .group = number_of(object, "group"),
                                .time = number_of(object, "time"),
                                .apart = number_of(object, "apart"),
                                .headline = words_of(object, "headline"),
                                .cause_kind = words_of(object, "cause_kind"),
                                .kind = finding_kind_of(kind),
                                .possible = !truth_of(object, "certain"),
                                .address = number_of(object, "address"),
                                .bytes = number_of(object, "bytes"),
                                .pointer = number_of(object, "pointer"),
                                .allocation = number_of(allocation, "address"),
                                .allocation_bytes = number_of(allocation, "bytes"),
                                .object = site_object_of_words(string_of(allocation, "object")),
                                .variable = words_of(allocation, "variable"),
                                .variable_module = words_of(allocation, "module"),
                                .cause = words_of(object, "cause"),
                                .fix = words_of(object, "fix"),
                                .text = words_of(object, "text"),
                                .unpromised = copy_of(object, "unpromised")};
    for (size_t i = 0; i < 2; i++)
        access_read(&finding->accesses[i], item_of(accesses, i)); /* NULL behind the last */
    if (is_error && !(finding->error = error_read(error))) {
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

static bool processes_read(struct finding_report *report, const struct json_object *root)
{
    const struct json_object *items = array_of(root, "processes");
    size_t count = count_of(items);
    report->processes = calloc(count + 1, sizeof *report->processes);
    if (!report->processes)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct json_object *item = item_of(items, i);
        report->processes[report->process_count++] =
            (struct finding_process){.rank = digits_of(item, "rank"),
                                     .process = digits_of(item, "process"),
                                     .machine = copy_of(item, "machine"),
                                     .command = copy_of(item, "command"),
                                     .directory = copy_of(item, "directory"),
                                     .file = copy_of(item, "file")};
    }
    return true;
}

static void summary_read(struct finding_report *report, const struct json_object *root)
{
    const struct json_object *summary = json_member(root, "summary");
    report->ended = json_object_is_type(summary, json_type_object);
    report->stats.ops = number_of(summary, "ops");
    for (int i = 0; i < CSAN_LEVEL_COUNT; i++)
        report->stats.launches[i] =
            number_of(json_member(summary, "levels"), finding_level_name(i));
    report->stats.suppressed = number_of(summary, "suppressed");
    report->stats.pending_timeouts = number_of(summary, "late");
    report->stats.promises_broken = number_of(summary, "unreleased");
    report->stats.strided_dropped = number_of(summary, "forgotten");
    report->stats.unordered = number_of(summary, "unordered");
    report->stats.unordered_counted =
        json_object_is_type(json_member(summary, "unordered"), json_type_int);
    report->device = copy_of(summary, "device");
    report->withheld = number_of(summary, "withheld");
    report->unmodelled = strings_of(summary, "unmodelled", &report->unmodelled_count);
    report->notes = strings_of(root, "notes", &report->note_count);
}

static bool known_read(struct finding_report *report, const struct json_object *root)
{
    const struct json_object *items = array_of(root, "known");
    size_t count = count_of(items);
    report->known = calloc(count + 1, sizeof *report->known);
    for (size_t i = 0; report->known && i < count; i++) {
        const char *text = string_of(item_of(items, i), "fingerprint");
        if (text && fingerprint_read(text, &report->known[report->known_count]))
            report->known_count++;
    }
    return report->known != NULL;
}

static const char *report_read(struct finding_report *report, const struct json_object *root)
{
    const struct json_object *races = array_of(root, "races");
    const char *format = string_of(root, "format");
    if (!format || strcmp(format, "csan-report") != 0)
        return "it is JSON, but no report of csan's";
    if (number_of(root, "version") > VERSION_MAX)
        return "it was written by a newer csan";
    if (!races)
        return "it has no list of races";
    report->findings = calloc(count_of(races) + 1, sizeof(struct finding *));
    if (!report->findings || !processes_read(report, root) || !known_read(report, root))
        return "there is no memory";
    for (size_t i = 0; i < count_of(races); i++) {
        struct finding *finding = race_read(item_of(races, i), report->process_count);
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
    struct json_object *root = json_read(text, bytes, message, message_bytes);
    if (!root)
        return false;
    const char *wrong = report_read(report, root);
    json_object_put(root);
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
