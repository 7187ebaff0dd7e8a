/* Nodes of graphs that csan learns from. See graph_learn.h. */
#include "runtime/hook/graph/graph_learn.h"
#include "csan/base/array.h"
#include "runtime/hook/observe/learning.h"
#include "runtime/hook/observe/learning_node.h"
#include "runtime/hook/graph/graph_node_accesses.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/learn/learner.h"

#include <stdlib.h>

static bool has_learned_set(const struct graph_topology_entry *entry)
{
    return entry->work->level == CSAN_LEVEL_LEARNED;
}

static void settled_add(struct graph_wants *wants, CUfunction function)
{
    for (size_t i = 0; i < wants->settled_count; i++)
        if (wants->settled[i] == function)
            return;
    if (!array_room(&wants->settled, wants->settled_count, &wants->settled_room, 16, SIZE_MAX,
                    sizeof(CUfunction)))
        return; /* it is waited for a while in vain */
    wants->settled[wants->settled_count++] = function;
}

/* What was learned of it proved wrong. */
static bool entry_fall_back(struct graph_topology_entry *entry)
{
    struct graph_node_work *work =
        entry->work->otherwise ? graph_node_work_retain(entry->work->otherwise)
                               : graph_node_work_op(entry->work->site, CSAN_LEVEL_UNKNOWN, NULL, 0);
    if (!work)
        return false;
    graph_node_work_release(entry->work);
    entry->work = work;
    return true;
}

/* True when its accesses changed. */
static bool entry_take(struct graph_topology_entry *entry)
{
    size_t count;
    const bool has_set = has_learned_set(entry);
    bool refuted;
    struct csan_access *accesses =
        learning_node_look(entry->work->learning, has_set, &count, &refuted);
    struct graph_node_work *work =
        accesses ? graph_node_work_op(entry->work->site, CSAN_LEVEL_LEARNED, accesses, count)
                 : NULL;
    free(accesses);
    if (refuted)
        return entry_fall_back(entry);
    if (!work || (has_set && graph_node_work_touches_equal(work, entry->work))) {
        graph_node_work_release(work);
        return false;
    }
    work->part = entry->work->part;
    work->part.declared = false;
    work->learning = learning_node_retain(entry->work->learning);
    work->otherwise = graph_node_work_retain(has_set ? entry->work->otherwise : entry->work);
    graph_node_work_release(entry->work);
    entry->work = work;
    return true;
}

static void entry_want(const struct graph_topology *shape, size_t i, CUstream stream,
                       bool thread_default, struct graph_wants *wants)
{
    const struct graph_topology_entry *entry = &shape->entries[i];
    const bool has_set = has_learned_set(entry);
    if (entry->disabled)
        return;
    if (!entry->alone) {
        if (!has_set)
            learning_node_pass(entry->work->learning);
        return;
    }
    if (!wants->items)
        wants->items = calloc(GRAPH_WANTS, sizeof *wants->items);
    struct graph_want *want = wants->items ? &wants->items[wants->count] : NULL;
    if (!want || !(want->taken = learning_node_ask(entry->work->learning, has_set, &want->what)))
        return;
    want->node = entry->node;
    want->what.stream = stream;
    want->what.thread_default = thread_default;
    wants->count++;
}

/* The entry whose turn it is. True when its accesses changed. */
static bool entry_learn(struct graph_topology *shape, struct graph_learning *learning,
                        CUstream stream, bool thread_default, struct graph_wants *wants)
{
    const size_t i = learning->at;
    struct graph_topology_entry *entry = &shape->entries[i];
    const struct learning_node *node = graph_topology_entry_learning(entry);
    const bool is_open = node && !has_learned_set(entry) && !entry->disabled;
    bool changed = false;
    const CUfunction function = node ? learning_node_function(node) : NULL;
    if (node && (is_open || learning->to_look))
        changed = entry_take(entry);
    if (!changed && graph_topology_entry_learning(entry) && (is_open || learning->to_confirm)) {
        if (!learning->alone_known)
            graph_topology_find_alone(shape);
        learning->alone_known = true;
        entry_want(shape, i, stream, thread_default, wants);
    }
    const bool stays_open =
        is_open && graph_topology_entry_learning(entry) && !has_learned_set(entry);
    if (is_open && !stays_open)
        settled_add(wants, function);
    learning->closed = stays_open ? 0 : learning->closed + 1;
    learning->to_look -= learning->to_look > 0;
    learning->to_confirm -= learning->to_confirm > 0;
    learning->at = i + 1 < shape->count ? i + 1 : 0;
    return changed;
}

struct graph_learned graph_learn(struct graph_topology *shape, struct graph_learning *learning,
                                 CUstream stream, bool thread_default)
{
    struct graph_learned learned = {.changed = false};
    const uint64_t news = learning_news();
    size_t looks = shape->count < GRAPH_LOOKS ? shape->count : GRAPH_LOOKS;
    if (news != learning->news)
        learning->to_look = shape->count;
    learning->news = news;
    if (learn_is_turn(++learning->launches))
        learning->to_confirm = shape->count;
    for (; looks > 0 && learned.wants.count < GRAPH_WANTS; looks--) {
        if (learning->closed >= shape->count && !learning->to_look && !learning->to_confirm)
            break;
        learned.changed |= entry_learn(shape, learning, stream, thread_default, &learned.wants);
    }
    return learned;
}

void graph_learn_begin(struct graph_wants *wants)
{
    for (size_t i = 0; i < wants->settled_count; i++)
        trace_settle(wants->settled[i], false);
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
    free(wants->settled);
}
