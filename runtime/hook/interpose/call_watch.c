/* See call_watch.h. */
#include "runtime/hook/interpose/call_watch.h"
#include "runtime/hook/run/added_order.h"
#include "runtime/hook/interpose/call_count.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/session.h"

#include <stdlib.h>

bool calls_watched;

void call_watch_start(void)
{
    const bool counts = call_count_start();
    calls_watched = added_order_start() || counts;
}

void call_watch_begin(struct watched_call *call)
{
    if (call->config) {
        call->stream = call->config->hStream;
        call->has_stream = true;
    }
    call->inside = session_state != SESSION_ON || guard_self.depth != 0 || guard_self.hosted;
    if (!call->inside && added_order_any())
        added_order_before(call);
}

CUresult call_watch_end(struct watched_call *call, CUresult result)
{
    if (call_counts)
        call_count(call->entry, result);
    if (!call->inside && added_order_any())
        added_order_after(call, result);
    free(call->own_config);
    return result;
}

void call_watch_host(void)
{
    if (session_state == SESSION_ON && guard_self.depth == 0 && !guard_self.hosted &&
        added_order_any())
        added_order_before_host();
}
