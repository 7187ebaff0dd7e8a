/* What the run amounted to, and what csan did not follow: said once, at exit. */
#ifndef RUNTIME_HOOK_RUN_SUMMARY_H
#define RUNTIME_HOOK_RUN_SUMMARY_H

#include "csan/report/report.h"

/* Something the program did that csan does not model; named once. `what` must stay valid. */
void summary_unmodelled(const char *what);

/* An entry point in a version newer than csan's table; named when verbosity > 0. */
void summary_unknown_version(const char *name, int version);

/* What was not followed, as lines "unmodelled NAME" and "note TEXT" of a recording's end;
 * and "device_name NAME". */
struct text;
void summary_facts(struct text *facts);

/* Print the summary line, and what was not followed. */
void summary_print(struct report_sink *report, const struct csan_stats *stats, int verbosity);

#endif
