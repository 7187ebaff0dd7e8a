/* Code that execs keep. See graph_code.h. */
#include "runtime/hook/graph/graph_code.h"
#include "runtime/hook/graph/graph_node_accesses.h"
#include "runtime/hook/observe/trace_source.h"

#include <stdlib.h>

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
        if (last && by_function(last, &kernels[i]) == 0) {
            last->wanted |= kernels[i].wanted;
            last->learned |= kernels[i].learned;
        } else {
            kernels[kept++] = kernels[i];
        }
    }
    return kept;
}

static void begin(struct graph_code *code)
{
    code->count = code->kernels ? unite(code->kernels, code->count) : 0;
    code->is_noted = true;
    trace_source_graph_begins(code->kernels, code->count, code->others);
}

struct graph_code graph_code_begin(const struct graph_topology *shape)
{
    struct graph_code code = {NULL};
    if (!trace_source_changes_code())
        return code;
    code.kernels = shape ? calloc(shape->count + 1, sizeof *code.kernels) : NULL;
    code.others = !code.kernels || shape->hides_kernels;
    for (size_t i = 0; code.kernels && i < shape->count; i++) {
        const struct graph_topology_entry *entry = &shape->entries[i];
        const bool known = entry->code.function != NULL;
        code.others |= entry->type == CU_GRAPH_NODE_TYPE_KERNEL && !known;
        if (!known)
            continue;
        struct trace_code *kernel = &code.kernels[code.count++];
        *kernel = entry->code;
        kernel->learned = graph_topology_entry_learning(entry) != NULL;
        kernel->wanted = kernel->learned && entry->work->level != CSAN_LEVEL_LEARNED;
    }
    begin(&code);
    return code;
}

static struct graph_code of_child(CUgraph graph)
{
    struct graph_topology shape;
    const bool read = graph_topology_read(graph, &shape);
    if (read)
        graph_topology_ask_code(&shape);
    struct graph_code code = graph_code_begin(read ? &shape : NULL);
    graph_topology_free(&shape);
    return code;
}

struct graph_code graph_code_begin_node(const CUgraphNodeParams *params)
{
    struct graph_code code = {NULL};
    if (!trace_source_changes_code())
        return code;
    if (params->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return of_child(params->graph.graph);
    if (params->type != CU_GRAPH_NODE_TYPE_KERNEL)
        return code;
    code.kernels = malloc(sizeof *code.kernels);
    if (code.kernels)
        code.kernels[code.count++] = graph_node_code(params);
    code.others = !code.kernels || !code.kernels->function;
    begin(&code);
    return code;
}

void graph_code_end(struct graph_code *code, CUresult result)
{
    if (code->is_noted)
        trace_source_graph_ends(code->kernels, code->count, code->others, result == CUDA_SUCCESS);
    free(code->kernels);
}
