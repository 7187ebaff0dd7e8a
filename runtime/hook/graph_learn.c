/* Nodes that are learned. See graph_learn.h. */
#include "runtime/hook/graph_learn.h"
#include "runtime/hook/graph_code.h"
#include "runtime/hook/learning.h"
#include "runtime/hook/node.h"
#include "runtime/hook/trace.h"

#include <stdlib.h>

static struct learning_node *unlearned_of(const struct shape_entry *entry)
{
    struct learning_node *node = entry->work ? entry->work->unlearned : NULL;
    return node && !learning_node_is_over(node) ? node : NULL;
}

static void known_add(struct graph_wants *wants, CUfunction function)
{
    if (wants->known_count == wants->known_room) {
        const size_t room = wants->known_room ? 2 * wants->known_room : 16;
        CUfunction *grown = realloc(wants->known, room * sizeof *grown);
        if (!grown)
            return; /* it is waited for a while in vain */
        wants->known = grown;
        wants->known_room = room;
    }
    wants->known[wants->known_count++] = function;
}

/* True when it is told anew. */
static bool entry_take(struct shape_entry *entry, struct graph_wants *wants)
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
    known_add(wants, entry->code.function);
    return true;
}

static void entry_want(const struct shape *shape, size_t i, CUstream stream, bool thread_default,
                       struct graph_wants *wants)
{
    const struct shape_entry *entry = &shape->entries[i];
    if (entry->disabled || wants->count == GRAPH_WANTS)
        return;
    if (!graph_code_is_alone(shape, i)) {
        learning_node_pass(entry->work->unlearned);
        return;
    }
    if (!wants->items)
        wants->items = calloc(GRAPH_WANTS, sizeof *wants->items);
    struct graph_want *want = wants->items ? &wants->items[wants->count] : NULL;
    if (!want || !(want->taken = learning_node_ask(entry->work->unlearned, &want->what)))
        return;
    want->node = entry->node;
    want->what.stream = stream;
    want->what.thread_default = thread_default;
    wants->count++;
}

struct graph_learned graph_learn(struct shape *shape, size_t *from, CUstream stream,
                                 bool thread_default)
{
    const size_t looks = shape->count < GRAPH_LOOKS ? shape->count : GRAPH_LOOKS;
    struct graph_learned learned = {.open = looks < shape->count};
    size_t i = *from < shape->count ? *from : 0, next = i;
    for (size_t look = 0; look < looks; look++, i = i + 1 < shape->count ? i + 1 : 0) {
        struct shape_entry *entry = &shape->entries[i];
        const size_t wanted = learned.wants.count;
        if (!unlearned_of(entry))
            continue;
        if (entry_take(entry, &learned.wants))
            learned.changed = true;
        else
            entry_want(shape, i, stream, thread_default, &learned.wants);
        learned.open |= unlearned_of(entry) != NULL;
        if (learned.wants.count > wanted)
            next = i + 1;
    }
    *from = looks < shape->count ? i : next;
    return learned;
}

void graph_learn_begin(struct graph_wants *wants)
{
    for (size_t i = 0; i < wants->known_count; i++)
        trace_settle(wants->known[i]);
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
    free(wants->known);
}
