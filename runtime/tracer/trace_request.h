/* A wish to trace launches of a function, from when one is wanted until one was traced or the wish
 * is taken back. Most cannot be granted at once: the function's module is patched when the device
 * is idle, and by then other launches of it may come.
 *
 * Launches of one function take turns, those that are known and those that are not, so a wish
 * outlasts some that are not wanted. And some launches come only while nothing is patched (seen of
 * ResNet-18's on an H200), so tries in vain make the next one rarer.
 *
 * Not thread-safe. */
#ifndef RUNTIME_TRACER_TRACE_REQUEST_H
#define RUNTIME_TRACER_TRACE_REQUEST_H

#include <stdbool.h>

/* What launches are traced for. */
enum trace_request_for { TRACE_REQUEST_NOTHING, TRACE_REQUEST_TO_CONFIRM, TRACE_REQUEST_TO_LEARN };

/* All zero: nothing is wished for, and no try was in vain. */
struct trace_request {
    enum trace_request_for what;
    bool caught;      /* one was traced to learn, since that is wished for */
    unsigned turns;   /* launches that were not wanted, since the wish or the patch for it */
    unsigned in_vain; /* tries in a row */
    unsigned waited;  /* since then: launches that were wanted and not tried */
};

/* It is made, for another or more, or taken back: NOTHING. */
void trace_request_set(struct trace_request *wish, enum trace_request_for what);
/* A launch is wanted, and its module is not patched: whether that is worth a try. */
bool trace_request_is_worth_a_try(struct trace_request *wish);
/* Its module is patched from now on. */
void trace_request_try_begins(struct trace_request *wish);
/* A launch was not wanted: whether the wish holds. */
bool trace_request_outlasts_launch(struct trace_request *wish, bool patched);
/* A launch is traced to learn. */
void trace_request_catch(struct trace_request *wish);
/* The patched module is given up, or the wish: whether it was caught is counted. Nothing where no
 * launch came meanwhile. */
void trace_request_try_ends(struct trace_request *wish);
/* Whether its tries have been in vain too often for one each time. */
bool trace_request_is_never_caught(const struct trace_request *wish);

#endif
