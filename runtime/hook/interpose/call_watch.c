/* See call_watch.h. */
#include "runtime/hook/interpose/call_watch.h"
#include "runtime/hook/interpose/call_count.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/session.h"

#include <stdlib.h>

bool calls_watched;

static const struct call_watcher *orders_of_run;

void call_watch_start(const struct call_watcher *orders)
{
    const bool counts = call_count_start();
    orders_of_run = orders;
    calls_watched = orders || counts;
}

void call_watch_begin(struct watched_call *call)
{
    if (call->config) {
        call->stream = call->config->hStream;
        call->has_stream = true;
    }
    call->inside = session_state != SESSION_ON || guard_self.depth != 0 || guard_self.hosted;
    if (!call->inside && orders_of_run)
        orders_of_run->before(call);
}

CUresult call_watch_end(struct watched_call *call, CUresult result)
{
    if (call_counts)
        call_count(call->entry, result);
    if (!call->inside && orders_of_run)
        orders_of_run->after(call, result);
    free(call->own_config);
    return result;
}

void call_watch_host(void)
{
    if (session_state == SESSION_ON && guard_self.depth == 0 && !guard_self.hosted && orders_of_run)
        orders_of_run->before_host();
}
