/* Wishes to trace. See trace_request.h. */
#include "runtime/tracer/trace_request.h"

/* Launches that a wish outlasts, and before its module is patched. */
enum { TURNS = 8, TURNS_PLAIN = 4096 };

/* After so many tries in a row in vain, the next takes 16 wishes, then 32, and so on. */
enum { IN_VAIN = 4, IN_VAIN_MAX = 24 };

void trace_request_set(struct trace_request *wish, enum trace_request_for what)
{
    if (what == TRACE_REQUEST_TO_LEARN)
        wish->caught = false;
    wish->turns = 0;
    wish->what = what;
}

bool trace_request_is_worth_a_try(struct trace_request *wish)
{
    return !trace_request_is_never_caught(wish) || ++wish->waited >= 1u << wish->in_vain;
}

void trace_request_try_begins(struct trace_request *wish)
{
    wish->turns = 0;
}

bool trace_request_outlasts_launch(struct trace_request *wish, bool patched)
{
    return wish->what != TRACE_REQUEST_NOTHING && ++wish->turns <= (patched ? TURNS : TURNS_PLAIN);
}

void trace_request_catch(struct trace_request *wish)
{
    wish->turns = TURNS; /* it need not outlast another */
    wish->caught = true;
    wish->in_vain = 0;
}

void trace_request_try_ends(struct trace_request *wish)
{
    if (wish->what != TRACE_REQUEST_TO_LEARN || wish->caught || wish->turns == 0)
        return;
    wish->in_vain += wish->in_vain < IN_VAIN_MAX;
    wish->waited = 0;
}

bool trace_request_is_never_caught(const struct trace_request *wish)
{
    return wish->in_vain >= IN_VAIN;
}
