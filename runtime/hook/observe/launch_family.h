/* A kernel that launches kernels, and its children, judged against each other: parts of one launch
 * (runtime/trace/trace.h), each a lane in a branch of the detector. To the rest of the program the
 * launch is one op, which touches what all of them touch. Thread-safe. */
#ifndef RUNTIME_HOOK_OBSERVE_LAUNCH_FAMILY_H
#define RUNTIME_HOOK_OBSERVE_LAUNCH_FAMILY_H

#include <csan/csan.h>
#include "runtime/trace/trace.h"

/* `site`: of the launch that the host made. Races are reported as any others. */
void launch_family_check(csan_site site, const struct device_trace_part *parts, size_t count);

/* A copy with all that is in it, to be freed by free(). NULL: there are none, or memory is short.
 */
struct device_trace_part *launch_family_copy(const struct device_trace_part *parts, size_t count);

#endif
