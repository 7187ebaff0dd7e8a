/* Code that execs keep. See graph_code.h. */
#include "runtime/hook/graph_code.h"
#include "runtime/hook/learning_node.h"
#include "runtime/hook/node.h"
#include "runtime/hook/trace_source.h"

#include <stdlib.h>

bool graph_code_is_alone(const struct shape *shape, size_t i)
{
    const CUfunction function = shape->entries[i].code.function;
    for (size_t k = 0; k < shape->count; k++)
        if (k != i && shape->entries[k].code.function == function)
            return false;
    return function != NULL;
}

static int by_function(const void *left, const void *right)
{
    const struct trace_code *a = left, *b = right;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return a->context < b->context ? -1 : a->context > b->context;
}

/* Each once in each context, in place; how many. */
static size_t unite(struct trace_code *kernels, size_t count)
{
    size_t kept = 0;
    qsort(kernels, count, sizeof *kernels, by_function);
    for (size_t i = 0; i < count; i++) {
        struct trace_code *last = kept > 0 ? &kernels[kept - 1] : NULL;
        if (last && by_function(last, &kernels[i]) == 0)
            last->wanted |= kernels[i].wanted, last->learned |= kernels[i].learned;
        else
            kernels[kept++] = kernels[i];
    }
    return kept;
}

static bool is_learned(const struct shape_entry *entry)
{
    const struct learning_node *node = entry->work ? entry->work->learning : NULL;
    return node && !learning_node_is_over(node);
}

void graph_code_begin(const struct shape *shape)
{
    struct trace_code *kernels = shape ? calloc(shape->count + 1, sizeof *kernels) : NULL;
    bool others = !kernels || shape->partial;
    size_t count = 0;
    for (size_t i = 0; kernels && i < shape->count; i++) {
        const struct shape_entry *entry = &shape->entries[i];
        const bool known = entry->code.function != NULL;
        others |= entry->type == CU_GRAPH_NODE_TYPE_KERNEL && !known;
        if (!known)
            continue;
        kernels[count] = entry->code;
        kernels[count].learned = is_learned(entry);
        kernels[count].wanted = is_learned(entry) && entry->work->level != CSAN_LEVEL_LEARNED;
        count++;
    }
    trace_source_graph_begins(kernels, kernels ? unite(kernels, count) : 0, others);
    free(kernels);
}

void graph_code_begin_node(const CUgraphNodeParams *params)
{
    const struct trace_code kernel = node_code(params);
    struct shape child;
    if (params->type == CU_GRAPH_NODE_TYPE_GRAPH) {
        graph_code_begin(shape_read(params->graph.graph, &child) ? &child : NULL);
        shape_free(&child);
    } else {
        trace_source_graph_begins(&kernel, kernel.function != NULL,
                                  params->type == CU_GRAPH_NODE_TYPE_KERNEL && !kernel.function);
    }
}

void graph_code_end(void)
{
    trace_source_graph_ends();
}
