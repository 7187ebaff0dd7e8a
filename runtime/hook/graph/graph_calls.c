/* See graph_calls.h. */
#include "runtime/hook/graph/graph_calls.h"

#include <stdlib.h>
#include <string.h>

void (*graph_on_calls)(csan_lane lane, const struct graph_calls *calls);

struct graph_calls *graph_calls_create(const struct graph_call *items, size_t count)
{
    struct graph_calls *calls = calloc(1, sizeof *calls + count * sizeof *items);
    if (!calls)
        return NULL;
    calls->references = 1;
    calls->count = count;
    memcpy(calls->items, items, count * sizeof *items);
    return calls;
}

struct graph_calls *graph_calls_retain(struct graph_calls *calls)
{
    if (calls)
        __atomic_fetch_add(&calls->references, 1, __ATOMIC_RELAXED);
    return calls;
}

void graph_calls_release(struct graph_calls *calls)
{
    if (calls && __atomic_sub_fetch(&calls->references, 1, __ATOMIC_ACQ_REL) == 0)
        free(calls);
}
