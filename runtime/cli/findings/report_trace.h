/* A recording in Chrome's trace format (Google, "Trace Event Format"), for ui.perfetto.dev and
 * chrome://tracing: what csan report --perfetto writes. A thread for each lane, a slice for each op
 * and wait, a flow arrow for each wait and each race. A recording has the order of entries, and no
 * durations: entries stand one tick apart. */
#ifndef RUNTIME_CLI_FINDINGS_REPORT_TRACE_H
#define RUNTIME_CLI_FINDINGS_REPORT_TRACE_H

#include "csan/base/text.h"
#include "runtime/cli/findings/surroundings.h"

/* The surroundings were read whole. One finding for each neighbourhood. */
void report_trace_add(struct text *text, struct finding *const *findings,
                      const struct surroundings *surroundings);

#endif
