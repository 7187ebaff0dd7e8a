/* What the rest of csan asks of a context beyond csan.h. */
#ifndef CSAN_CONTEXT_H
#define CSAN_CONTEXT_H

#include "csan/csan.h"

struct recording;

/* Everything that enters goes into the recording, too; without `check` into nothing else. Before
 * the first call that enters anything. The recording stays the caller's. */
void context_record(csan_context *context, struct recording *recording, int check);

/* The lane that stands for the host as it would be if that call's waits were promised, as
 * csan_lane_seen_to_wait uses it; CSAN_NO_LANE when there are too many. `what` lives as long as the
 * context. */
csan_lane context_unpromised_lane(csan_context *context, const char *what);

/* Time-outs go by this time, in nanoseconds from any beginning but 0, and not by the clock's. */
void context_set_time(csan_context *context, uint64_t nanoseconds);

#endif
