/* Requests for traces. See trace_request.h. */
#include "runtime/tracer/trace_request.h"

/* How many other launches a request outlasts, after and before its module is patched. */
enum { TURNS = 8, TURNS_PLAIN = 4096 };

/* After this many failed tries in a row, the next try takes 16 requests, then 32, and so on. */
enum { IN_VAIN = 4, IN_VAIN_MAX = 24 };

void trace_request_set(struct trace_request *request, enum trace_request_for what)
{
    if (what == TRACE_REQUEST_TO_LEARN)
        request->caught = false;
    request->turns = 0;
    request->what = what;
}

bool trace_request_is_worth_a_try(struct trace_request *request)
{
    return !trace_request_is_never_caught(request) || ++request->waited >= 1u << request->in_vain;
}

void trace_request_try_begins(struct trace_request *request)
{
    request->turns = 0;
}

bool trace_request_outlasts_launch(struct trace_request *request, bool patched)
{
    return request->what != TRACE_REQUEST_NOTHING &&
           ++request->turns <= (patched ? TURNS : TURNS_PLAIN);
}

void trace_request_catch(struct trace_request *request)
{
    request->turns = TURNS; /* it need not outlast another */
    request->caught = true;
    request->in_vain = 0;
}

void trace_request_try_ends(struct trace_request *request)
{
    if (request->what != TRACE_REQUEST_TO_LEARN || request->caught || request->turns == 0)
        return;
    request->in_vain += request->in_vain < IN_VAIN_MAX;
    request->waited = 0;
}

bool trace_request_is_never_caught(const struct trace_request *request)
{
    return request->in_vain >= IN_VAIN;
}
