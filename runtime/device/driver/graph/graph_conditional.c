/* See graph_conditional.h. */
#include "runtime/device/driver/graph/graph_conditional.h"
#include "csan/base/array.h"

#include <stdlib.h>

/* A handle is its place here, and one more. Handles are never given back ("cuGraphConditional-
 * HandleCreate"): a destroyed graph's are of no use any more. */
struct condition {
    const struct CUgraph_st *graph;
    unsigned value, initial;
    bool assigns; /* CU_GRAPH_COND_ASSIGN_DEFAULT */
    bool taken;   /* by a node: "a handle may be associated with one conditional node" */
};

static struct {
    struct condition *conditions;
    size_t count, capacity;
} all;

enum { CONDITIONS_MOST = 1 << 20 };

static struct condition *condition_of(uint64_t handle)
{
    return handle - 1 < all.count ? &all.conditions[handle - 1] : NULL;
}

void conditional_set(void *user, uint64_t handle, uint32_t value)
{
    struct condition *condition = condition_of(handle);
    (void)user;
    if (condition)
        condition->value = value;
}

CUresult CUDAAPI cuGraphConditionalHandleCreate(CUgraphConditionalHandle *pHandle_out,
                                                CUgraph hGraph, CUcontext ctx,
                                                unsigned int defaultLaunchValue, unsigned int flags)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    const struct CUgraph_st *graph = object_find(hGraph, OBJECT_GRAPH);
    if (!pHandle_out || !graph || graph->of_exec || (ctx && !object_find(ctx, OBJECT_CONTEXT)) ||
        flags & ~(unsigned)CU_GRAPH_COND_ASSIGN_DEFAULT)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if (!array_room(&all.conditions, all.count, &all.capacity, 16, CONDITIONS_MOST,
                    sizeof *all.conditions))
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    all.conditions[all.count++] =
        (struct condition){.graph = graph, .initial = defaultLaunchValue, .assigns = flags != 0};
    *pHandle_out = all.count;
    return device_leave(CUDA_SUCCESS);
}

/* ---- Values at the start ----------------------------------------------------------------------
 */

struct defaults_item {
    struct item item;
    const struct CUgraph_st *graph;
};

static enum step defaults_step(struct item *item)
{
    const struct CUgraph_st *graph = ((struct defaults_item *)item)->graph;
    for (size_t i = 0; i < all.count; i++)
        if (all.conditions[i].graph == graph && all.conditions[i].assigns)
            all.conditions[i].value = all.conditions[i].initial;
    return STEP_DONE;
}

static void free_item(struct item *item)
{
    free(item);
}

struct item *conditional_defaults(const struct CUgraph_st *graph, bool *needed)
{
    *needed = false;
    for (size_t i = 0; graph && i < all.count; i++)
        *needed |= all.conditions[i].graph == graph && all.conditions[i].assigns;
    struct defaults_item *defaults = *needed ? calloc(1, sizeof *defaults) : NULL;
    if (!defaults)
        return NULL;
    defaults->item.step = defaults_step;
    defaults->item.discard = free_item;
    defaults->graph = graph;
    return &defaults->item;
}

/* ---- Nodes ------------------------------------------------------------------------------------
 */

void conditional_free(struct conditional *conditional)
{
    if (!conditional)
        return;
    for (unsigned i = 0; i < conditional->size; i++)
        if (conditional->execs && conditional->execs[i])
            graph_body_release(conditional->execs[i]);
        else if (conditional->bodies && conditional->bodies[i])
            graph_destroy(conditional->bodies[i]);
    free(conditional->bodies);
    free(conditional->execs);
    free(conditional);
}

static struct conditional *create(uint64_t handle, CUgraphConditionalNodeType type, unsigned size)
{
    struct conditional *conditional = calloc(1, sizeof *conditional);
    if (!conditional)
        return NULL;
    *conditional = (struct conditional){.handle = handle, .type = type, .size = size};
    conditional->bodies = calloc(size, sizeof(*conditional->bodies));
    if (conditional->bodies)
        return conditional;
    free(conditional);
    return NULL;
}

static bool is_size(CUgraphConditionalNodeType type, unsigned size)
{
    const unsigned most = 1 << 16;
    return type == CU_GRAPH_COND_TYPE_IF       ? size == 1 || size == 2
           : type == CU_GRAPH_COND_TYPE_WHILE  ? size == 1
           : type == CU_GRAPH_COND_TYPE_SWITCH ? size >= 1 && size <= most
                                               : false;
}

CUresult conditional_of_params(CUDA_CONDITIONAL_NODE_PARAMS *params, struct CUgraphNode_st *node)
{
    struct condition *condition = condition_of(params->handle);
    if (!condition || condition->taken || !is_size(params->type, params->size))
        return CUDA_ERROR_INVALID_VALUE;
    node->conditional = create(params->handle, params->type, params->size);
    if (!node->conditional)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < params->size; i++) {
        struct CUgraph_st *body = graph_create_empty();
        if (!body)
            return CUDA_ERROR_OUT_OF_MEMORY;
        body->owner = node;
        node->conditional->bodies[i] = body;
    }
    condition->taken = true;
    params->phGraph_out = node->conditional->bodies;
    return CUDA_SUCCESS;
}

bool conditional_copy(struct CUgraphNode_st *to, const struct CUgraphNode_st *from, bool of_exec)
{
    const struct conditional *original = from->conditional;
    if (!original)
        return true;
    to->conditional = create(original->handle, original->type, original->size);
    for (unsigned i = 0; to->conditional && i < original->size; i++) {
        struct CUgraph_st *body = graph_clone(original->bodies[i], of_exec);
        if (!body)
            return false;
        body->owner = to;
        to->conditional->bodies[i] = body;
    }
    return to->conditional != NULL;
}

bool conditional_prepare(struct CUgraphNode_st *node, struct CUctx_st *context)
{
    struct conditional *conditional = node->conditional;
    if (!conditional || conditional->execs)
        return true;
    conditional->execs = calloc(conditional->size, sizeof(*conditional->execs));
    for (unsigned i = 0; conditional->execs && i < conditional->size; i++)
        if (!(conditional->execs[i] = graph_body_create(context, conditional->bodies[i])))
            return false;
    return conditional->execs != NULL;
}

/* ---- Runs -------------------------------------------------------------------------------------
 */

struct conditional_item {
    struct item item;
    uint64_t handle;
    CUgraphConditionalNodeType type;
    struct CUgraphExec_st *running; /* one of the bodies; or NULL */
    unsigned size;
    struct CUgraphExec_st *bodies[];
};

/* The body to run for a value; `size`: none. */
static unsigned choose(const struct conditional_item *run, unsigned value)
{
    switch (run->type) {
    case CU_GRAPH_COND_TYPE_IF:
        return value ? 0 : run->size == 2 ? 1 : run->size;
    case CU_GRAPH_COND_TYPE_WHILE:
        return value ? 0 : run->size;
    default:
        return value < run->size ? value : run->size;
    }
}

static enum step conditional_step(struct item *item)
{
    struct conditional_item *run = (struct conditional_item *)item;
    if (run->running && !graph_body_is_done(run->running))
        return STEP_SPINNING;
    if (run->running && run->type != CU_GRAPH_COND_TYPE_WHILE)
        return STEP_DONE;
    run->running = NULL;
    const struct condition *condition = condition_of(run->handle);
    const unsigned body = choose(run, condition ? condition->value : 0);
    if (body == run->size)
        return STEP_DONE;
    if (!graph_body_launch(run->bodies[body])) {
        item->context_error = CUDA_ERROR_OUT_OF_MEMORY;
        return STEP_FAULT;
    }
    run->running = run->bodies[body];
    return STEP_SPINNING;
}

static void conditional_discard(struct item *item)
{
    struct conditional_item *run = (struct conditional_item *)item;
    for (unsigned i = 0; i < run->size; i++)
        graph_body_release(run->bodies[i]);
    free(run);
}

struct item *conditional_item(const struct CUgraphNode_st *node)
{
    const struct conditional *conditional = node->conditional;
    struct conditional_item *run =
        calloc(1, sizeof *run + conditional->size * sizeof(*run->bodies));
    if (!run)
        return NULL;
    run->item.step = conditional_step;
    run->item.discard = conditional_discard;
    run->handle = conditional->handle;
    run->type = conditional->type;
    run->size = conditional->size;
    for (unsigned i = 0; i < run->size; i++)
        run->bodies[i] = graph_body_retain(conditional->execs[i]);
    return &run->item;
}
