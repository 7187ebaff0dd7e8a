/* Nodes that copy in batches. See graph_copy_batch.h. */
#include "runtime/hook/graph/graph_copy_batch.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/state/transfer.h"

#include <stdlib.h>

/* The parameters behind the type and the reserved words, whatever the toolkit's headers have. */
static const void *params_of(const CUgraphNodeParams *params)
{
    return &params->kernel;
}

static size_t add(struct csan_access *accesses, size_t count, uint64_t base, uint64_t bytes,
                  int kind)
{
    if (!bytes)
        return count;
    accesses[count] = (struct csan_access){
        .base = base, .bytes = bytes, .kind = (uint8_t)kind, .argument = kind != CSAN_READ};
    return count + 1;
}

static size_t of_list(const struct newer_copy_batch_params *batch, struct csan_access *accesses)
{
    size_t found = 0;
    for (size_t i = 0; i < batch->count; i++) {
        found = add(accesses, found, batch->sources[i], batch->sizes[i], CSAN_READ);
        found = add(accesses, found, batch->targets[i], batch->sizes[i], CSAN_WRITE);
    }
    return found;
}

static size_t add_fabric(struct csan_access *accesses, size_t count,
                         const CUfabricCpyOperand *operand, size_t bytes, int kind)
{
    return operand->type == CU_FABRIC_COPY_OPERAND_TYPE_POINTER
               ? add(accesses, count, operand->op.ptr.ptr, bytes, kind)
               : count;
}

static size_t of_fabric(const struct newer_fabric_copy_params *batch, struct csan_access *accesses)
{
    size_t found = 0;
    for (size_t i = 0; i < batch->count; i++) {
        const CUDA_FABRIC_COPY_BATCH_OP *copy = &batch->list[i];
        found = add_fabric(accesses, found, &copy->src, copy->size, CSAN_READ);
        found = add_fabric(accesses, found, &copy->dst, copy->size, CSAN_WRITE);
    }
    return found;
}

struct graph_node_work *graph_node_of_copy_batch(const CUgraphNodeParams *params,
                                                 const struct callsite_stack *stack)
{
    const bool fabric = (int)params->type == NEWER_NODE_FABRIC_COPY_BATCH;
    const struct newer_copy_batch_params *list = params_of(params);
    const struct newer_fabric_copy_params *copies = params_of(params);
    if (!fabric && (int)params->type != NEWER_NODE_COPY_BATCH)
        return NULL;
    const size_t count = fabric ? copies->count : list->count;
    struct csan_access *accesses = calloc(2 * count + 1, sizeof *accesses);
    if (!accesses)
        return NULL;
    const size_t found = fabric ? of_fabric(copies, accesses) : of_list(list, accesses);
    const csan_site site =
        callsite_intern(stack, fabric ? "a node of fabric copies" : "a node of batched copies",
                        transfer_arguments, 2);
    struct graph_node_work *work = graph_node_work_op(site, CSAN_LEVEL_LIBRARY, accesses, found);
    free(accesses);
    return work;
}

CUresult graph_node_ask_copy_batch(CUgraphNode node, CUgraphNodeParams *params)
{
    static void *slot;
    const CUgraphNodeType type = params->type;
    if ((int)type != NEWER_NODE_FABRIC_COPY_BATCH && (int)type != NEWER_NODE_COPY_BATCH)
        return CUDA_ERROR_NOT_FOUND;
    PFN_cuGraphNodeGetParams_v13020 ask =
        (PFN_cuGraphNodeGetParams_v13020)driver_function_cached(&slot, "cuGraphNodeGetParams");
    return ask ? ask(node, params) : CUDA_ERROR_NOT_FOUND;
}
