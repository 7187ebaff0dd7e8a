/* Writes a recording in Chrome's trace format (Google, "Trace Event Format"), for ui.perfetto.dev
 * and chrome://tracing: csan report --perfetto. Each process is one, each lane a thread, each
 * op and wait a slice, and each wait, message and race a flow arrow. A recording has the order of
 * entries and no durations, so entries stand one tick apart. */
#ifndef RUNTIME_CLI_FINDINGS_REPORT_TRACE_H
#define RUNTIME_CLI_FINDINGS_REPORT_TRACE_H

#include "csan/base/text.h"
#include "runtime/cli/findings/surroundings.h"

/* The surroundings must have been read whole. There is one finding for each neighbourhood. */
void report_trace_add(struct text *text, struct finding *const *findings,
                      const struct surroundings *surroundings);

#endif
