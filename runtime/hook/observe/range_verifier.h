/* The verifier of access sets (option verify_ranges): it compares a launch's trace with the ranges
 * from PTX. A byte touched outside of the set, and a byte of an exact range that was not touched,
 * are errors of csan's: each is said, and the program ends with 70. If the trace is a bound, the
 * former is not checked, and the launch counts as not judged. So does a launch without a trace, or
 * with too many ranges.
 *
 * At exit one line for each kernel, for scripts to read:
 *
 *   csan: ranges: KERNEL: N launches, N incomplete, N not judged, pointers: N exact, N bounded,
 *   N unknown; ARGUMENT BOUND, ARGUMENT BOUND...
 *
 * (on one line). KERNEL may hold any character; what follows it matches ": [0-9]+ launches, " for
 * the last time. BOUND is the worst over all launches: exact, guard, shape, data, budget (these
 * four count as bounded), direction or unknown (these two as unknown); " open" follows when a range
 * has no end of its own and was cut to the allocation. */
#ifndef RUNTIME_HOOK_OBSERVE_RANGE_VERIFIER_H
#define RUNTIME_HOOK_OBSERVE_RANGE_VERIFIER_H

#include "runtime/trace/trace.h"
#include "runtime/hook/kernel/launch_accesses.h"

struct range_verifier_case;

enum { RANGE_VERIFIER_EXIT_CODE = 70 };

/* Keeps what it needs of a launch, to verify it when the device has reported its trace. Between
 * launch_accesses_begin and launch_accesses_end. NULL when memory is short or the kernel has no
 * PTX. */
struct range_verifier_case *range_verifier_take(struct kernel *kernel,
                                                const struct launch_accesses_launch *launch,
                                                const struct launch_accesses_touched *touched);
/* Compares the case with its trace, and frees it; it may be NULL. `any_strength`: see struct
 * verify_case. */
void range_verifier_decide(struct range_verifier_case *verified,
                           const struct device_trace_launch *trace, bool any_strength);

/* There will be no trace: counts the case and frees it; it may be NULL. */
void range_verifier_drop(struct range_verifier_case *verified);

/* Prints the lines; 1 when there was an error. At exit. */
bool range_verifier_summarize(void);

#endif
