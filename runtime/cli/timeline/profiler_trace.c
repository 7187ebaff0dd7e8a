/* A trace of PyTorch's profiler: Chrome's trace format, with baseTimeNanoseconds beside the events.
 * Their times are microseconds since then (libkineto, since PyTorch 2.3), or since 1970 (before).
 */
#include "runtime/cli/findings/json_read.h"
#include "runtime/cli/timeline/other_trace.h"

#include <stdio.h>
#include <string.h>

/* 2001; what counts from a start of its own is below. */
#define EPOCH_MICROSECONDS 1e15

/* Whether the times of events are since 1970: the first one with a time says it. */
static bool is_since_epoch(const struct json_object *events)
{
    const size_t count = json_object_array_length(events);
    for (size_t i = 0; i < count; i++) {
        struct json_object *time = json_member(json_object_array_get_idx(events, i), "ts");
        if (time)
            return json_object_get_double(time) > EPOCH_MICROSECONDS;
    }
    return false;
}

static bool events_take(struct other_trace *trace, const struct json_object *root, char *message,
                        size_t message_bytes)
{
    const struct json_object *events = json_member(root, "traceEvents");
    if (!json_object_is_type(events, json_type_array)) {
        snprintf(message, message_bytes,
                 "it has no traceEvents, as a trace of PyTorch's profiler has");
        return false;
    }
    if (!json_whole(json_member(root, "baseTimeNanoseconds"), &trace->base) &&
        !is_since_epoch(events)) {
        snprintf(message, message_bytes,
                 "it has no baseTimeNanoseconds, and its times are not those of a clock");
        return false;
    }
    trace->count = json_object_array_length(events);
    for (size_t i = 0; i < trace->count; i++)
        text_add(&trace->events, ",\n  %s",
                 json_object_to_json_string_ext(json_object_array_get_idx(events, i),
                                                JSON_C_TO_STRING_PLAIN |
                                                    JSON_C_TO_STRING_NOSLASHESCAPE));
    return true;
}

/* Nsight Systems writes an object a line, and describes its members nowhere (nsys export --type
 * json, text; "JSON and Text Format Description"). */
static bool has_lines_of_objects(const char *text)
{
    const char *line = strchr(text, '\n');
    return text[0] == '{' && line && line[-1] == '}' && line[1] == '{';
}

bool profiler_trace_read(struct other_trace *trace, const char *text, size_t bytes, char *message,
                         size_t message_bytes)
{
    if (has_lines_of_objects(text)) {
        snprintf(
            message, message_bytes,
            "it has an object a line, as a JSON export of Nsight Systems: csan reads what nsys "
            "export --type sqlite writes");
        return false;
    }
    struct json_object *root = json_read(text, bytes, message, message_bytes);
    const bool good = root && events_take(trace, root, message, message_bytes);
    json_object_put(root);
    return good;
}
