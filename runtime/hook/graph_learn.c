/* Nodes that are learned. See graph_learn.h. */
#include "runtime/hook/graph_learn.h"
#include "runtime/hook/learning.h"
#include "runtime/hook/node.h"
#include "runtime/hook/trace.h"

#include <stdlib.h>

static struct learning_node *unlearned_of(const struct shape_entry *entry)
{
    struct learning_node *node = entry->work ? entry->work->unlearned : NULL;
    return node && !learning_node_is_over(node) ? node : NULL;
}

/* True when it is told anew. */
static bool entry_take(struct shape_entry *entry)
{
    size_t count;
    struct csan_access *accesses = learning_node_look(entry->work->unlearned, &count);
    struct node_work *work =
        accesses ? node_work_op(entry->work->site, CSAN_LEVEL_LEARNED, accesses, count) : NULL;
    free(accesses);
    if (!work)
        return false;
    node_work_release(entry->work);
    entry->work = work;
    return true;
}

bool graph_learn_take(struct shape *shape, size_t *open)
{
    bool any = false;
    *open = 0;
    for (size_t i = 0; i < shape->count; i++) {
        struct shape_entry *entry = &shape->entries[i];
        if (!unlearned_of(entry))
            continue;
        if (entry_take(entry))
            any = true;
        else
            *open += unlearned_of(entry) != NULL;
    }
    return any;
}

struct graph_wants graph_learn_choose(const struct shape *shape, CUstream stream,
                                      bool thread_default)
{
    struct graph_wants wants = {calloc(GRAPH_WANTS, sizeof *wants.items), 0};
    for (size_t i = 0; wants.items && i < shape->count && wants.count < GRAPH_WANTS; i++) {
        const struct shape_entry *entry = &shape->entries[i];
        struct learning_node *node = entry->disabled ? NULL : unlearned_of(entry);
        struct graph_want *want = &wants.items[wants.count];
        if (!node || !(want->taken = learning_node_ask(node, &want->what)))
            continue;
        want->node = entry->node;
        want->what.stream = stream;
        want->what.thread_default = thread_default;
        wants.count++;
    }
    return wants;
}

void graph_learn_begin(struct graph_wants *wants)
{
    for (size_t i = 0; i < wants->count; i++) {
        struct graph_want *want = &wants->items[i];
        if (trace_want_node(want->node, &want->what))
            continue;
        learning_drop(want->taken);
        want->taken = NULL;
    }
}

void graph_learn_end(struct graph_wants *wants, CUresult result)
{
    for (size_t i = 0; i < wants->count; i++)
        if (wants->items[i].taken)
            trace_node_launched(wants->items[i].node, result == CUDA_SUCCESS,
                                wants->items[i].taken);
    free(wants->items);
}
