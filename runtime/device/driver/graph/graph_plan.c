/* The order in which an executable graph's nodes are launched, and the branch that each is in. */
#include "runtime/device/driver/graph/graph_conditional.h"
#include "csan/base/array.h"

#include <stdlib.h>

struct builder {
    struct plan_entry *entries;
    size_t count, capacity;
    bool failed; /* no memory */
    bool cyclic;
};

static struct plan_entry *append(struct builder *builder, struct CUgraphNode_st *node,
                                 size_t dependencies)
{
    if (!array_room(&builder->entries, builder->count, &builder->capacity, 16, SIZE_MAX,
                    sizeof *builder->entries))
        return NULL;
    struct plan_entry *entry = &builder->entries[builder->count];
    *entry = (struct plan_entry){.node = node};
    entry->dependencies = calloc(dependencies + 1, sizeof(uint32_t));
    if (!entry->dependencies)
        return NULL;
    builder->count++;
    return entry;
}

static void add_graph(struct builder *builder, const struct CUgraph_st *graph,
                      const uint32_t *begin);

/* Nodes keep in `place` the entry that those behind them wait for. */
static void add_child(struct builder *builder, struct CUgraphNode_st *node)
{
    uint32_t begin = (uint32_t)builder->count - 1;
    builder->entries[begin].edge = true;
    add_graph(builder, node->child, &begin);
    size_t leaves = 1;
    for (const struct CUgraphNode_st *inner = node->child->first; inner; inner = inner->next)
        leaves += !inner->dependents.count;
    struct plan_entry *end = builder->failed ? NULL : append(builder, node, leaves);
    builder->failed |= !end;
    if (!end)
        return;
    end->edge = true;
    end->dependencies[end->dependency_count++] = begin;
    for (const struct CUgraphNode_st *inner = node->child->first; inner; inner = inner->next)
        if (!inner->dependents.count)
            end->dependencies[end->dependency_count++] = (uint32_t)inner->place;
    node->place = builder->count - 1;
}

static void add_node(struct builder *builder, struct CUgraphNode_st *node, const uint32_t *begin)
{
    size_t count = node->dependencies.count;
    struct plan_entry *entry = append(builder, node, count + 1);
    builder->failed |= !entry;
    if (!entry)
        return;
    for (size_t i = 0; i < count; i++)
        entry->dependencies[entry->dependency_count++] =
            (uint32_t)node->dependencies.nodes[i]->place;
    if (!count && begin)
        entry->dependencies[entry->dependency_count++] = *begin;
    node->place = builder->count - 1;
    if (node->child)
        add_child(builder, node);
}

/* In an order that the edges allow. Until a node's turn `place` counts what it still waits for. */
static void add_graph(struct builder *builder, const struct CUgraph_st *graph,
                      const uint32_t *begin)
{
    struct node_list ready = {0};
    for (struct CUgraphNode_st *node = graph->first; node; node = node->next) {
        node->place = node->dependencies.count;
        if (!node->place)
            builder->failed |= !node_list_add(&ready, node);
    }
    for (size_t next = 0; next < ready.count && !builder->failed; next++) {
        struct CUgraphNode_st *node = ready.nodes[next];
        add_node(builder, node, begin);
        for (size_t i = 0; i < node->dependents.count; i++)
            if (--node->dependents.nodes[i]->place == 0)
                builder->failed |= !node_list_add(&ready, node->dependents.nodes[i]);
    }
    builder->cyclic |= ready.count != graph->count; /* what is on a cycle never gets its turn */
    node_list_clear(&ready);
}

/* An entry goes into the branch of one that it waits for and that is the last there so far. */
static bool choose_branches(struct builder *builder, size_t *branch_count)
{
    uint32_t *last = calloc(builder->count + 1, sizeof *last); /* of each branch */
    size_t branches = 0;
    if (!last)
        return false;
    for (size_t i = 0; i < builder->count; i++) {
        struct plan_entry *entry = &builder->entries[i];
        size_t follows = entry->dependency_count;
        entry->awaited = true; /* until one behind it in its branch is found */
        for (size_t k = 0; k < entry->dependency_count; k++) {
            struct plan_entry *before = &builder->entries[entry->dependencies[k]];
            if (follows == entry->dependency_count &&
                last[before->branch] == entry->dependencies[k])
                follows = k;
        }
        entry->branch = follows < entry->dependency_count
                            ? builder->entries[entry->dependencies[follows]].branch
                            : (uint32_t)branches++;
        last[entry->branch] = (uint32_t)i;
    }
    free(last);
    *branch_count = branches;
    return true;
}

void graph_plan_free(struct plan_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(entries[i].dependencies);
    free(entries);
}

/* Which entries need a mark: those that others in other branches wait for, and the ends. */
static void find_awaited(struct plan_entry *entries, size_t count)
{
    for (size_t i = count; i-- > 0;)
        for (size_t k = 0; k < entries[i].dependency_count; k++)
            entries[entries[i].dependencies[k]].awaited = false;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < entries[i].dependency_count; k++) {
            struct plan_entry *before = &entries[entries[i].dependencies[k]];
            before->awaited |= before->branch != entries[i].branch;
        }
}

static bool prepare_bodies(const struct builder *builder, struct CUctx_st *context)
{
    for (size_t i = 0; i < builder->count; i++)
        if (!conditional_prepare(builder->entries[i].node, context))
            return false;
    return true;
}

CUresult graph_plan_make(struct CUgraphExec_st *exec)
{
    struct builder builder = {0};
    size_t branches = 0;
    add_graph(&builder, exec->graph, NULL);
    if (builder.failed || builder.cyclic || !choose_branches(&builder, &branches)) {
        graph_plan_free(builder.entries, builder.count);
        return builder.cyclic ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_OUT_OF_MEMORY;
    }
    find_awaited(builder.entries, builder.count);
    struct CUstream_st **grown = realloc(exec->branches, (branches + 1) * sizeof(*grown));
    if (grown)
        exec->branches = grown;
    while (grown && exec->branch_count < branches) {
        struct CUstream_st *branch = stream_create_branch(exec->context);
        if (!branch)
            break;
        exec->branches[exec->branch_count++] = branch;
    }
    if (exec->branch_count < branches || !prepare_bodies(&builder, exec->context)) {
        graph_plan_free(builder.entries, builder.count);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    graph_plan_free(exec->plan, exec->count);
    exec->plan = builder.entries;
    exec->count = builder.count;
    return CUDA_SUCCESS;
}
