/* Nodes that are learned. See graph_learn.h. */
#include "runtime/hook/graph_learn.h"
#include "runtime/hook/learning.h"
#include "runtime/hook/learning_node.h"
#include "runtime/hook/node.h"
#include "runtime/hook/trace.h"

#include <stdlib.h>

static bool is_told(const struct shape_entry *entry)
{
    return entry->work->level == CSAN_LEVEL_LEARNED;
}

static void known_add(struct graph_wants *wants, CUfunction function)
{
    for (size_t i = 0; i < wants->known_count; i++)
        if (wants->known[i] == function)
            return;
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
    const bool told = is_told(entry);
    struct csan_access *accesses = learning_node_look(entry->work->learning, told, &count);
    struct node_work *work =
        accesses ? node_work_op(entry->work->site, CSAN_LEVEL_LEARNED, accesses, count) : NULL;
    free(accesses);
    if (!work || (told && node_work_touches_equal(work, entry->work))) {
        node_work_release(work);
        return false;
    }
    work->learning = learning_node_retain(entry->work->learning);
    node_work_release(entry->work);
    entry->work = work;
    if (!told)
        known_add(wants, learning_node_function(work->learning));
    return true;
}

static void entry_want(const struct shape *shape, size_t i, CUstream stream, bool thread_default,
                       struct graph_wants *wants)
{
    const struct shape_entry *entry = &shape->entries[i];
    const bool told = is_told(entry);
    if (entry->disabled)
        return;
    if (!entry->alone) {
        if (!told)
            learning_node_pass(entry->work->learning);
        return;
    }
    if (!wants->items)
        wants->items = calloc(GRAPH_WANTS, sizeof *wants->items);
    struct graph_want *want = wants->items ? &wants->items[wants->count] : NULL;
    if (!want || !(want->taken = learning_node_ask(entry->work->learning, told, &want->what)))
        return;
    want->node = entry->node;
    want->what.stream = stream;
    want->what.thread_default = thread_default;
    wants->count++;
}

static bool is_turn(uint64_t launches)
{
    return launches >= 4 && !(launches & (launches - 1));
}

/* The entry whose turn it is. True when it was told anew. */
static bool entry_learn(struct shape *shape, struct graph_learning *learning, CUstream stream,
                        bool thread_default, struct graph_wants *wants)
{
    const size_t i = learning->at;
    struct shape_entry *entry = &shape->entries[i];
    const bool is_open = shape_entry_learning(entry) && !is_told(entry);
    bool changed = false;
    if (shape_entry_learning(entry) && (is_open || learning->to_look))
        changed = entry_take(entry, wants);
    if (!learning->alone_known)
        shape_find_alone(shape);
    learning->alone_known = true;
    if (!changed && shape_entry_learning(entry) && (is_open || learning->to_confirm))
        entry_want(shape, i, stream, thread_default, wants);
    learning->known = shape_entry_learning(entry) && !is_told(entry) ? 0 : learning->known + 1;
    learning->to_look -= learning->to_look > 0;
    learning->to_confirm -= learning->to_confirm > 0;
    learning->at = i + 1 < shape->count ? i + 1 : 0;
    return changed;
}

struct graph_learned graph_learn(struct shape *shape, struct graph_learning *learning,
                                 CUstream stream, bool thread_default)
{
    struct graph_learned learned = {.changed = false};
    const uint64_t news = learning_news();
    size_t looks = shape->count < GRAPH_LOOKS ? shape->count : GRAPH_LOOKS;
    if (news != learning->news)
        learning->to_look = shape->count;
    learning->news = news;
    if (is_turn(++learning->launches))
        learning->to_confirm = shape->count;
    for (; looks > 0 && learned.wants.count < GRAPH_WANTS; looks--) {
        if (learning->known >= shape->count && !learning->to_look && !learning->to_confirm)
            break;
        learned.changed |= entry_learn(shape, learning, stream, thread_default, &learned.wants);
    }
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
