/* A request to trace a launch of a function. It lasts until a launch was traced or the request is
 * withdrawn. Most requests cannot be served at once: csan patches the function's module when the
 * device is idle, and by then other launches may come.
 *
 * Known and unknown launches of one function alternate, so a request outlasts some launches that
 * need no trace. Some launches come only while nothing is patched (seen with ResNet-18 on an H200),
 * so each failed try makes the next one rarer.
 *
 * Not thread-safe. */
#ifndef RUNTIME_TRACER_TRACE_REQUEST_H
#define RUNTIME_TRACER_TRACE_REQUEST_H

#include <stdbool.h>

/* What launches are traced for. */
enum trace_request_for { TRACE_REQUEST_NOTHING, TRACE_REQUEST_TO_CONFIRM, TRACE_REQUEST_TO_LEARN };

/* All zero: there is no request, and no try has failed. */
struct trace_request {
    enum trace_request_for what;
    bool caught;      /* one was traced to learn, since the request */
    unsigned turns;   /* launches that needed no trace, since the request or its patch */
    unsigned in_vain; /* failed tries in a row */
    unsigned waited;  /* since then: launches that needed a trace and were not tried */
};

/* Makes or changes the request; NOTHING withdraws it. */
void trace_request_set(struct trace_request *request, enum trace_request_for what);
/* A launch needs a trace, and its module is not patched: whether a try is worthwhile. */
bool trace_request_is_worth_a_try(struct trace_request *request);
/* Its module is patched from now on. */
void trace_request_try_begins(struct trace_request *request);
/* A launch needed no trace: whether the request stays. */
bool trace_request_outlasts_launch(struct trace_request *request, bool patched);
/* A launch is traced to learn. */
void trace_request_catch(struct trace_request *request);
/* The patch is removed or the request withdrawn: counts whether the try succeeded. It counts
 * nothing if no launch came meanwhile. */
void trace_request_try_ends(struct trace_request *request);
/* Whether so many tries failed that not every launch gets one. */
bool trace_request_is_never_caught(const struct trace_request *request);

#endif
