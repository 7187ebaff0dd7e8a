/* Joins what a launch was seen to touch with the launch's op.
 *
 * The source (trace_source.h) calls back when a kernel has finished, on whatever thread ran it.
 * That may be before or after the launching thread learns the launch's number. The later of the two
 * completes the op. */
#ifndef RUNTIME_HOOK_OBSERVE_TRACE_H
#define RUNTIME_HOOK_OBSERVE_TRACE_H

#include <csan/csan.h>
#include "runtime/hook/interpose/driver.h"

#include <stdbool.h>

struct kernel;
struct launch_accesses_touched;
struct range_verifier_case;
struct learning;
struct learning_case;
struct map_use;
struct reads;
struct trace_want;

/* Subscribes at the first call, if this process has a source. Call it before a launch is made. */
void trace_start(void);

/* The driver's library was opened, and none of its functions has run: prepares the source. */
void trace_driver_opened(void);

/* Whether every launch is traced, and so must be processed when it is made. */
bool trace_has_all(void);
/* Whether the driver's tools interface is in use, from before any context is made. */
bool trace_has_tools(void);
/* Before the driver's call: see struct trace_source. False: the launch is not traced. */
bool trace_want(const struct trace_want *what);
bool trace_settle(CUfunction function, bool launch);
unsigned trace_time(void);
/* Whether there is a source that says which parameters kernels read. */
bool trace_knows_reads(void);
struct reads *trace_reads(CUfunction function, const char *kernel, uint32_t words);
uint32_t trace_maps(CUfunction function, const char *kernel, struct map_use *maps);
const char *trace_source_name(void);
/* Call it after the driver has made a launch, on the thread that asked for it, with no lock held.
 */
void trace_launched(void);
/* The number that the source gave to the calling thread's newest launch; 0: none. */
uint64_t trace_launch_number(void);
/* The same for a node of the graph that the calling thread launches next: call these before the
 * driver's call, and after it with no lock held. `succeeded`: the driver's call did; `taken` is
 * reported or dropped. */
bool trace_want_node(CUgraphNode node, const struct trace_want *what);
void trace_node_launched(CUgraphNode node, bool succeeded, struct learning_case *taken);
/* Counts a launch that is known by a bound or not at all, without a trace that might have shown
 * more. */
void trace_lacked(void);
/* At the end: why launches that were to be traced could not all be; NULL: nothing hindered it, or
 * none was to be traced. */
const char *trace_missing(void);
/* The driver has let the program wait for the device's work, in a stream or a context. */
void trace_waited(void);

/* From rest until resume, the source's own thread stays out of the driver. Pass resume what rest
 * returned. See struct trace_source. */
bool trace_rest(void);
void trace_resume(bool rested);

/* Whether every launch is traced, and its trace replaces PTX that is not exact (with access=exact,
 * also exact PTX). */
bool trace_takes_all(void);
/* Whether access=exact asks for that. */
bool trace_is_exact(void);
/* Whether launches are traced to learn from them, or use sets learned from earlier ones. */
bool trace_learns(void);
/* Whether traces say which loads and stores were strong (see struct trace_source). */
bool trace_knows_strength(void);
/* Whether traces, and what is learned of them, have loads from __constant__ variables. Where they
 * have not, such loads are those that PTX says. */
bool trace_knows_constants(void);
/* Whether csan would trace, but this GPU allows no traces, and earlier processes stored learned
 * sets, which csan then uses. Known before any of the driver's functions runs. */
bool trace_is_sourceless(void);
/* Whether every launch is to be verified (option verify_ranges). */
bool trace_judges(void);

/* Other users of a launch's trace. Either may be NULL; both are taken. */
struct trace_users {
    struct range_verifier_case *verified;
    struct learning_case *learned;
};

struct trace_op {
    csan_lane lane;
    csan_site site;
    const struct kernel *kernel;
    const struct launch_accesses_touched *touched; /* its fallback */
    const struct learning *learning; /* knows the launch's pointers; NULL: there are no others */
};

/* The newest launch of the calling thread is this op, which waits until the source reports what it
 * touched. With the hooks' lock, as for any op. */
void trace_launch(const struct trace_op *op, struct trace_users users);

/* The newest launch of the calling thread has no op that waits, unless it was reported before: its
 * trace goes only to the users. */
void trace_skip(struct trace_users users);

/* Waits until the device has reported the launches made so far: a second at most, or until the
 * detector would go on without them (option pending_timeout_ms). */
void trace_wait(void);

#endif
