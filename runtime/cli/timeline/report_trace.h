/* Writes a recording in Chrome's trace format (Google, "Trace Event Format"), for ui.perfetto.dev
 * and chrome://tracing: csan report --perfetto. Each process is one, each lane a thread, each
 * op and wait a slice, and each wait, message and race a flow arrow.
 *
 * A slice begins when the program made the call, by the host's clock. A recording does not know how
 * long the device worked, so slices are short. One made before csan 0.3 (format 1.12) has no times:
 * there entries stand one tick apart, in their order. */
#ifndef RUNTIME_CLI_TIMELINE_REPORT_TRACE_H
#define RUNTIME_CLI_TIMELINE_REPORT_TRACE_H

#include "csan/base/text.h"
#include "runtime/cli/findings/surroundings.h"

struct other_trace;

enum { TRACE_STREAMS_MAX = 16 };

/* What of it is wanted: all that is set must hold. */
struct trace_choice {
    const char *streams[TRACE_STREAMS_MAX]; /* lanes of these names, or whose names hold them */
    size_t stream_count;
    bool has_from, has_to;
    double from, to;                 /* seconds since the first moment */
    uint64_t race;                   /* the moments around that one alone; 0: all */
    const struct other_trace *other; /* drawn beside, if the recording has times; or NULL */
};

/* The surroundings must have been read whole. There is one finding for each neighbourhood. */
void report_trace_add(struct text *text, struct finding *const *findings,
                      const struct surroundings *surroundings, const struct trace_choice *choice);

/* Whether the recordings say when calls were made. */
bool report_trace_has_times(const struct surroundings *surroundings);

#endif
