/* Findings as csan's own JSON; include/csan/csan-report.schema.json says what each key is. Keys are
 * only ever added, and all of a version are always there. */
#include "csan/report/finding_document.h"
#include "csan/report/fingerprint.h"
#include "csan/report/proposal.h"
#include "csan/base/json_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { FORMAT_VERSION = 1 };

static void process_add(struct text *text, const struct finding_process *process)
{
    bool ranked = process->rank && process->rank[0], known = process->process != NULL;
    text_add(text, "{");
    json_member_maybe(text, "rank", ranked, ranked ? strtoull(process->rank, NULL, 10) : 0);
    json_member_maybe(text, "process", known, known ? strtoull(process->process, NULL, 10) : 0);
    json_member_string(text, "machine", process->machine);
    json_member_string(text, "command", process->command);
    json_member_string(text, "directory", process->directory);
    json_member_string(text, "file", process->file);
    json_comma_drop(text);
    text_add(text, "}");
}

void finding_json_head(struct text *text, const struct finding_process *processes, size_t count)
{
    text_add(text,
             "{\"format\": \"csan-report\", \"version\": %d, \"tool\": \"csan %d.%d\", "
             "\"fingerprint_version\": %d,\n",
             FORMAT_VERSION, CSAN_VERSION_MAJOR, CSAN_VERSION_MINOR, FINGERPRINT_VERSION);
    text_add(text, " \"processes\": [");
    for (size_t i = 0; i < count; i++) {
        text_add(text, "%s", i ? ",\n  " : "");
        process_add(text, &processes[i]);
    }
    text_add(text, "],\n \"races\": [");
}

/* ---- a race */

static void frame_add(struct text *text, const struct stack_frame *frame)
{
    text_add(text, "{");
    json_member_string(text, "function", frame->function);
    json_member_string(text, "file", frame->file);
    json_member_maybe(text, "line", frame->file && frame->line, frame->line);
    json_member_string(text, "module", frame->module);
    json_member_maybe(text, "offset", frame->module || !frame->file, frame->offset);
    json_member_truth(text, "heading", frame->heading);
    json_member_truth(text, "own", !frame->library && !frame->heading);
    json_comma_drop(text);
    text_add(text, "}");
}

static void stack_add(struct text *text, const char *key, const struct stack_frames *stack)
{
    text_add(text, "\"%s\": [", key);
    for (size_t i = 0; i < stack->count; i++) {
        text_add(text, "%s\n     ", i ? "," : "");
        frame_add(text, &stack->items[i]);
    }
    text_add(text, "]");
}

/* A number of 64 bits, which JSON's readers may not hold. */
static void place_add(struct text *text, const char *key, uint64_t place)
{
    char digits[20];
    snprintf(digits, sizeof digits, "%016" PRIx64, place);
    json_member_string(text, key, place ? digits : NULL);
}

static void access_add(struct text *text, const struct finding_access *access)
{
    text_add(text, "\n   {");
    json_member_string(text, "name", access->name);
    json_member_string(text, "symbol", access->symbol);
    json_member_string(text, "operation", finding_access_name(access->kind));
    json_member_string(text, "arguments", access->arguments);
    json_member_string(text, "description", access->deed);
    json_member_string(text, "lane", access->lane);
    json_member_number(text, "stream", access->stream);
    json_member_truth(text, "host", access->host);
    json_member_truth(text, "at_call", access->at_call);
    json_member_truth(text, "exact", !access->reason);
    json_member_string(text, "reason", access->reason);
    json_member_string(text, "defined", access->defined);
    json_member_number(text, "op", access->number);
    place_add(text, "place", access->place);
    stack_add(text, "stack", &access->stack);
    text_add(text, ", ");
    stack_add(text, "launch_stack", &access->launch_stack);
    text_add(text, ", ");
    json_member_string(text, "nvtx_ranges", access->ranges);
    json_member_string(text, "detail", access->detail);
    stack_add(text, "created", &access->created);
    text_add(text, "}");
}

static void memory_add(struct text *text, const struct finding *finding)
{
    json_member_number(text, "pointer", finding->pointer);
    json_member_number(text, "address", finding->address);
    json_member_number(text, "bytes", finding->bytes);
    text_add(text, "\n   \"allocation\": ");
    if (!finding->allocation_bytes) {
        text_add(text, "null, ");
        return;
    }
    text_add(text, "{");
    json_member_number(text, "address", finding->allocation);
    json_member_number(text, "bytes", finding->allocation_bytes);
    if (finding->variable && finding->variable[0]) {
        json_member_string(text, "variable", finding->variable);
        json_member_string(text, "module", finding->variable_module);
    }
    if (finding->object)
        json_member_string(text, "object", finding->object);
    stack_add(text, "stack", &finding->allocation_stack);
    text_add(text, "}, ");
}

static void call_add(struct text *text, const struct finding_call *call)
{
    text_add(text, "\n   {");
    json_member_string(text, "role", call->role);
    json_member_string(text, "lane", call->lane);
    json_member_string(text, "name", call->name);
    json_member_string(text, "event", call->event);
    place_add(text, "place", call->place);
    json_member_number(text, "after", call->after);
    stack_add(text, "stack", &call->stack);
    text_add(text, "}");
}

static void other_add(struct text *text, const struct finding_other *other)
{
    text_add(text, "\n   {");
    json_member_string(text, "lane", other->lane);
    json_member_number(text, "stream", other->stream);
    json_member_number(text, "op", other->number);
    json_member_number(text, "address", other->address);
    json_member_number(text, "bytes", other->bytes);
    json_comma_drop(text);
    text_add(text, "}");
}

/* ---- of what is no race */

static void size_add(struct text *text, const char *key, bool known, const uint32_t size[3])
{
    if (known)
        text_add(text, "\"%s\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "], ", key, size[0], size[1],
                 size[2]);
    else
        text_add(text, "\"%s\": null, ", key);
}

static void thread_add(struct text *text, const struct finding_error *error)
{
    const bool known = error->has_thread;
    json_member_maybe(text, "device", known || error->grid[0], (uint64_t)error->device);
    size_add(text, "grid", error->grid[0] != 0, error->grid);
    size_add(text, "block_size", error->block_size[0] != 0, error->block_size);
    size_add(text, "block", known, error->block);
    size_add(text, "thread", known, error->thread);
    json_member_maybe(text, "threads", error->threads != 0, error->threads);
}

static void neighbour_add(struct text *text, const struct finding_error *error)
{
    text_add(text, "\n    \"neighbour\": ");
    if (!error->neighbour_bytes) {
        text_add(text, "null, ");
        return;
    }
    text_add(text, "{");
    json_member_number(text, "address", error->neighbour);
    json_member_number(text, "bytes", error->neighbour_bytes);
    stack_add(text, "stack", &error->neighbour_stack);
    text_add(text, "}, ");
}

static void reported_add(struct text *text, const struct finding_error *error)
{
    text_add(text, "\n    \"reported_by\": ");
    if (!error->reported_by) {
        text_add(text, "null, ");
    } else {
        text_add(text, "{");
        json_member_string(text, "name", error->reported_by);
        stack_add(text, "stack", &error->reported_stack);
        text_add(text, "}, ");
    }
    json_member_maybe(text, "launches_since", error->reported_by != NULL, error->launches_since);
    json_member_maybe(text, "allocations", error->count != 0, error->count);
    json_member_maybe(text, "allocated_bytes", error->count != 0, error->total);
}

static void held_add(struct text *text, const struct finding_held *held,
                     const struct csan_held *numbers)
{
    text_add(text, "\n     {");
    json_member_string(text, "name", held->name);
    json_member_number(text, "allocations", numbers->count);
    json_member_number(text, "bytes", numbers->bytes);
    json_member_maybe(text, "oldest", numbers->oldest != 0, numbers->oldest);
    json_member_maybe(text, "newest", numbers->oldest != 0, numbers->newest);
    stack_add(text, "stack", &held->stack);
    text_add(text, "}");
}

static void out_of_memory_add(struct text *text, const struct finding_out_of_memory *out_of_memory)
{
    text_add(text, "\n    \"memory\": ");
    if (!out_of_memory) {
        text_add(text, "null, ");
        return;
    }
    const struct csan_out_of_memory *numbers = &out_of_memory->numbers;
    const bool known = numbers->total != 0;
    text_add(text, "{");
    json_member_truth(text, "host", numbers->host != 0);
    json_member_number(text, "device", (uint64_t)numbers->device);
    json_member_number(text, "asked", numbers->asked);
    json_member_maybe(text, "free", known, numbers->free);
    json_member_maybe(text, "total", known, numbers->total);
    json_member_maybe(text, "others", known, numbers->others);
    json_member_number(text, "own", numbers->own);
    json_member_number(text, "own_allocations", numbers->own_count);
    json_member_number(text, "unused", numbers->unused);
    json_member_number(text, "reserved", numbers->reserved);
    json_member_number(text, "allocated", numbers->allocated);
    json_member_number(text, "more", numbers->more);
    json_member_number(text, "more_bytes", numbers->more_bytes);
    text_add(text, "\"held\": [");
    for (size_t i = 0; i < numbers->held_count; i++) {
        text_add(text, i ? ", " : "");
        held_add(text, &out_of_memory->held[i], &numbers->held[i]);
    }
    text_add(text, "]}, ");
}

static void error_add(struct text *text, const struct finding_error *error)
{
    char place[PLACE_BYTES];
    text_add(text, "\n   \"error\": ");
    if (!error) {
        text_add(text, "null, ");
        return;
    }
    text_add(text, "{");
    json_member_string(text, "exception", error->exception);
    json_member_string(text, "code", error->code);
    json_member_string(text, "detail", error->detail);
    json_member_string(text, "function",
                       error->instruction.count ? error->instruction.items->function : NULL);
    json_member_string(text, "place",
                       finding_error_place(error, place, sizeof place) ? place : NULL);
    json_member_string(text, "where", finding_where_name(error->where));
    json_member_maybe(text, "distance", error->where != CSAN_WHERE_UNKNOWN, error->distance);
    neighbour_add(text, error);
    thread_add(text, error);
    reported_add(text, error);
    out_of_memory_add(text, error->out_of_memory);
    json_comma_drop(text);
    text_add(text, "}, ");
}

/* ---- a whole finding */

static void order_add(struct text *text, const struct finding *finding)
{
    json_member_string(text, "cause_kind", finding->cause_kind);
    text_add(text, "\"calls\": [");
    for (size_t i = 0; i < finding->call_count; i++) {
        text_add(text, "%s", i ? "," : "");
        call_add(text, &finding->calls[i]);
    }
    text_add(text, "], \"others\": [");
    for (size_t i = 0; i < finding->other_count; i++) {
        text_add(text, "%s", i ? "," : "");
        other_add(text, &finding->others[i]);
    }
    text_add(text, "], ");
    json_member_number(text, "others_total", finding->other_total);
}

static void proposal_add(struct text *text, const struct finding_proposal *proposal)
{
    text_add(text, "\"proposal\": {");
    json_member_string(text, "kind", proposal_kind_name(proposal->kind));
    place_add(text, "from", proposal->from);
    place_add(text, "to", proposal->to);
    json_member_string(text, "obstacle", proposal->obstacle);
    json_comma_drop(text);
    text_add(text, "}, ");
}

void finding_json_add(struct text *text, const struct finding *finding)
{
    text_add(text, "\n  {");
    json_member_number(text, "number", finding->number);
    json_member_number(text, "group", finding->group);
    json_member_maybe(text, "time", finding->time != 0, finding->time);
    json_member_maybe(text, "apart", finding->apart != 0, finding->apart);
    json_member_string(text, "headline", finding->headline);
    json_member_string(text, "finding", finding_class_name(finding->kind));
    json_member_string(text, "kind", finding_kind_name(finding->kind));
    json_member_truth(text, "certain", !finding->possible);
    text_add(text, "\"fingerprint\": \"%016" PRIx64 "\", ", finding->fingerprint);
    json_member_string(text, "cause", finding->cause);
    json_member_string(text, "fix", finding->fix);
    json_member_string(text, "unpromised", finding->unpromised);
    order_add(text, finding);
    proposal_add(text, &finding->proposal);
    memory_add(text, finding);
    error_add(text, finding->error);
    text_add(text, "\n   \"accesses\": [");
    access_add(text, &finding->accesses[0]);
    if (finding_has_previous(finding)) {
        text_add(text, ",");
        access_add(text, &finding->accesses[1]);
    }
    text_add(text, "],\n   \"seen_by\": [");
    for (size_t i = 0; i < finding->seen_count; i++)
        text_add(text, "%s%" PRIu32, i ? ", " : "", finding->seen_by[i]);
    text_add(text, "],\n   ");
    json_member_string(text, "text", finding->text);
    json_comma_drop(text);
    text_add(text, "}");
}

/* ---- the tail */

static void levels_add(struct text *text, const struct csan_stats *stats)
{
    text_add(text, "\"levels\": {");
    for (int i = 0; i < CSAN_LEVEL_COUNT; i++)
        json_member_number(text, finding_level_name(i), stats->launches[i]);
    json_comma_drop(text);
    text_add(text, "}, ");
}

static void strings_add(struct text *text, const char *key, const char *const *strings,
                        size_t count)
{
    text_add(text, "\"%s\": [", key);
    for (size_t i = 0; i < count; i++) {
        json_string_add(text, strings[i]);
        text_add(text, ", ");
    }
    json_comma_drop(text);
    text_add(text, "]");
}

static void summary_add(struct text *text, const struct finding_tail *tail)
{
    const struct csan_stats *stats = tail->stats;
    text_add(text, " \"summary\": ");
    if (!stats) {
        text_add(text, "null");
        return;
    }
    text_add(text, "{");
    json_member_number(text, "ops", stats->ops);
    levels_add(text, stats);
    json_member_number(text, "checked", stats->ops - stats->launches[CSAN_LEVEL_UNKNOWN]);
    json_member_string(text, "device", tail->device);
    json_member_number(text, "races", stats->races);
    json_member_number(text, "possible", stats->possible);
    json_member_number(text, "errors", stats->errors);
    json_member_number(text, "suppressed", stats->suppressed);
    json_member_number(text, "known", tail->known_count);
    json_member_number(text, "withheld", tail->withheld);
    json_member_number(text, "late", stats->pending_timeouts + stats->pending_overflows);
    json_member_number(text, "unreleased", stats->promises_broken);
    json_member_number(text, "forgotten", stats->strided_dropped);
    json_member_maybe(text, "unordered", stats->unordered_counted != 0, stats->unordered);
    text_add(text, "\"occurrences\": [");
    for (size_t i = 0; i < tail->occurrence_count; i++)
        text_add(text, "%s%" PRIu64, i ? ", " : "", tail->occurrences[i]);
    text_add(text, "], ");
    strings_add(text, "unmodelled", tail->unmodelled, tail->unmodelled_count);
    text_add(text, "}");
}

static void known_add(struct text *text, const struct finding_tail *tail)
{
    text_add(text, "],\n \"known\": [");
    for (size_t i = 0; i < tail->known_count; i++)
        text_add(text, "%s{\"fingerprint\": \"%016" PRIx64 "\"}", i ? ", " : "", tail->known[i]);
}

void finding_json_tail(struct text *text, const struct finding_tail *tail)
{
    known_add(text, tail);
    text_add(text, "],\n \"suppressions\": [");
    for (size_t i = 0; i < tail->used_count; i++) {
        text_add(text, "%s{", i ? ", " : "");
        json_member_string(text, "line", tail->used[i].line);
        json_member_number(text, "races", tail->used[i].count);
        json_comma_drop(text);
        text_add(text, "}");
    }
    text_add(text, "],\n ");
    strings_add(text, "notes", tail->notes, tail->note_count);
    text_add(text, ",\n");
    summary_add(text, tail);
    text_add(text, "}\n");
}
