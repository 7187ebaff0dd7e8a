/* What another tool recorded of the same run, to be drawn beside csan's own moments: a trace of
 * PyTorch's profiler (torch.profiler, export_chrome_trace), or an export of Nsight Systems (nsys
 * export --type sqlite). Both know what time it was, so nothing else is needed to put them beside
 * each other. */
#ifndef RUNTIME_CLI_TIMELINE_OTHER_TRACE_H
#define RUNTIME_CLI_TIMELINE_OTHER_TRACE_H

#include "csan/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct other_trace {
    uint64_t base;      /* nanoseconds since 1970 from which its events count */
    struct text events; /* of Chrome's trace format; ",\n  " before each */
    size_t count;
    struct text left_out; /* a line for each part of it that csan cannot read: which, and why */
};

/* False: it cannot be read, or does not say what time it was; `message` says why. Give it back with
 * other_trace_free in either case. */
bool other_trace_read(struct other_trace *trace, const char *path, char *message,
                      size_t message_bytes);
void other_trace_free(struct other_trace *trace);

/* The two kinds, of a file that is open and read whole. */
bool profiler_trace_read(struct other_trace *trace, const char *text, size_t bytes, char *message,
                         size_t message_bytes);
bool nsight_export_read(struct other_trace *trace, const char *path, char *message,
                        size_t message_bytes);

#endif
