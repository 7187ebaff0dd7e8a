/* What the run found and checked, and what csan did not follow: printed once, at exit. */
#ifndef RUNTIME_HOOK_RUN_SUMMARY_H
#define RUNTIME_HOOK_RUN_SUMMARY_H

#include "csan/report/report.h"

/* What was not followed, as lines "unmodelled NAME" and "note TEXT" for the end of a recording; and
 * "device_name NAME". */
struct text;
void summary_facts(struct text *facts);

/* Prints the summary line, and what was not followed. */
void summary_print(struct report_sink *report, const struct csan_stats *stats, int verbosity);

#endif
