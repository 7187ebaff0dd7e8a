/* When the calls of a finding's two accesses came, by the recordings. */
#ifndef RUNTIME_CLI_FINDINGS_FINDING_TIMES_H
#define RUNTIME_CLI_FINDINGS_FINDING_TIMES_H

#include "csan/base/text.h"
#include "runtime/cli/findings/surroundings.h"

/* Sets what the findings' accesses are apart, where the surroundings have both and their recordings
 * have times. There is one neighbourhood for each finding. */
void finding_times_set(struct finding *const *findings, const struct surroundings *surroundings);

/* Whether that would set anything: a finding has two accesses, and is not set yet. */
bool finding_times_wanted(struct finding *const *findings, size_t count);

/* Nanoseconds with three digits: "850 ns", "3.2 ms". */
void duration_add(struct text *text, uint64_t nanoseconds);

/* "The calls came 3.2 ms apart.", with the line's end. Nothing: it is not known. */
void finding_times_add(struct text *text, const struct finding *finding);

#endif
