/* See graph_sites.h. */
#include "runtime/hook/graph/graph_sites.h"
#include "runtime/hook/session/session.h"

#include <stdlib.h>
#include <string.h>

static csan_site site_of(csan_site node, const struct callsite_stack *stack)
{
    return csan_site_launched(session_context(), node, stack->frames, stack->count);
}

/* NULL: memory is short. */
static csan_site *sites_make(const struct graph_steps *merged, const struct callsite_stack *stack)
{
    csan_site *sites = malloc((merged->site_count + 1) * sizeof *sites), *at = sites;
    for (size_t s = 0; sites && s < merged->count; s++) {
        const struct graph_step *step = &merged->steps[s];
        for (size_t i = 0; i < step->birth_count; i++)
            *at++ = site_of(step->births[i]->site, stack);
        for (size_t i = 0; i < step->op_count; i++)
            *at++ = site_of(step->ops[i].site, stack);
        for (size_t i = 0; i < step->death_count; i++)
            *at++ = site_of(step->deaths[i]->site, stack);
    }
    return sites;
}

/* The newest call is the first. */
static struct graph_steps_call take_out(struct graph_steps *merged, csan_site call)
{
    struct graph_steps_call *calls = merged->calls;
    size_t at = 0;
    while (at < GRAPH_STEP_CALLS - 1 && (!call || calls[at].site != call))
        at++;
    const struct graph_steps_call taken = calls[at];
    memmove(calls + 1, calls, at * sizeof *calls);
    return taken;
}

void graph_sites_launch(struct graph_steps *merged, csan_site call,
                        const struct callsite_stack *stack)
{
    if (call && merged->launch == call)
        return;
    struct graph_steps_call newest = take_out(merged, call);
    if (!call || newest.site != call || !newest.sites) {
        free(newest.sites);
        newest = (struct graph_steps_call){call, sites_make(merged, stack)};
    }
    merged->calls[0] = newest;
    merged->launch = call;
    merged->launched = newest.sites;
}
