/* Memory operations of streams: a stream writes a word, or waits until one has a value (CUDA Driver
 * API, "Stream Memory Operations"). A wait that is not satisfied looks again whenever the schedule
 * gives it a step; others go first. */
#include "runtime/device/driver/graph/graph.h"

#include <stdlib.h>
#include <string.h>

struct operation {
    bool is_wait, wide; /* of 64 bits */
    CUdeviceptr address;
    cuuint64_t value;
    unsigned flags;
};

struct value_item {
    struct item item;
    size_t count, next;
    CUstreamBatchMemOpParams *params; /* of the operations, for who asks a node; or NULL */
    struct operation operations[];
};

enum { BATCH_MAX = 256, CONDITIONS = CU_STREAM_WAIT_VALUE_NOR };

static void write_word(const struct operation *operation)
{
    uint32_t narrow = (uint32_t)operation->value;
    void *to = memory_pointer(operation->address);
    if (operation->wide)
        __atomic_store_n((uint64_t *)to, operation->value, __ATOMIC_SEQ_CST);
    else
        __atomic_store_n((uint32_t *)to, narrow, __ATOMIC_SEQ_CST);
}

static bool is_satisfied(const struct operation *operation)
{
    const void *at = memory_pointer(operation->address);
    bool wide = operation->wide;
    uint64_t is = wide ? __atomic_load_n((const uint64_t *)at, __ATOMIC_SEQ_CST)
                       : __atomic_load_n((const uint32_t *)at, __ATOMIC_SEQ_CST);
    uint64_t wanted = wide ? operation->value : (uint32_t)operation->value;
    switch (operation->flags & CONDITIONS) {
    case CU_STREAM_WAIT_VALUE_EQ:
        return is == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
        return (is & wanted) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
        return wide ? ~(is | wanted) != 0 : (uint32_t) ~(is | wanted) != 0;
    default:
        return wide ? (int64_t)(is - wanted) >= 0 : (int32_t)((uint32_t)is - (uint32_t)wanted) >= 0;
    }
}

/* The memory may have been freed since: then the context has failed, as a GPU's would. */
static bool is_there(const struct operation *operation)
{
    struct memory memory = memory_at(operation->address);
    return memory.kind != MEMORY_PAGEABLE &&
           memory_contains(&memory, operation->address, operation->wide ? 8 : 4);
}

static enum step value_step(struct item *item)
{
    struct value_item *work = (struct value_item *)item;
    if (work->next == work->count)
        return STEP_DONE;
    const struct operation *operation = &work->operations[work->next];
    if (!is_there(operation)) {
        item->context_error = CUDA_ERROR_ILLEGAL_ADDRESS;
        return STEP_FAULT;
    }
    if (!operation->is_wait)
        write_word(operation);
    else if (!is_satisfied(operation))
        return STEP_SPINNING;
    return ++work->next == work->count ? STEP_DONE : STEP_AGAIN;
}

static void value_discard(struct item *item)
{
    free(((struct value_item *)item)->params);
    free(item);
}

static struct item *value_again(const struct item *item);

static struct value_item *value_create(const struct operation *operations, size_t count)
{
    struct value_item *work = calloc(1, sizeof *work + count * sizeof *operations);
    if (!work)
        return NULL;
    work->item.step = value_step;
    work->item.discard = value_discard;
    work->item.again = value_again;
    work->count = count;
    memcpy(work->operations, operations, count * sizeof *operations);
    return work;
}

static struct item *value_again(const struct item *item)
{
    const struct value_item *work = (const struct value_item *)item;
    struct value_item *fresh = value_create(work->operations, work->count);
    return fresh ? &fresh->item : NULL;
}

/* ---- Entry points -------------------------------------------------------------------------- */

/* "This function cannot be used with managed memory." Remote writes cannot be flushed here:
 * CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES is 0. */
static CUresult check(const struct operation *operation)
{
    unsigned allowed = operation->is_wait ? CONDITIONS | CU_STREAM_WAIT_VALUE_FLUSH
                                          : CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
    if ((operation->flags & ~allowed) || operation->address % (operation->wide ? 8 : 4) ||
        !is_there(operation) || memory_at(operation->address).kind == MEMORY_MANAGED)
        return CUDA_ERROR_INVALID_VALUE;
    return operation->is_wait && (operation->flags & CU_STREAM_WAIT_VALUE_FLUSH)
               ? CUDA_ERROR_NOT_SUPPORTED
               : CUDA_SUCCESS;
}

static CUresult submit(CUstream handle, const struct operation *operations, size_t count,
                       bool per_thread)
{
    struct CUstream_st *stream;
    CUresult result = stream_enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    for (size_t i = 0; i < count; i++)
        if ((result = check(&operations[i])) != CUDA_SUCCESS)
            return device_leave(result);
    if ((result = capture_admits(stream)) != CUDA_SUCCESS)
        return device_leave(result);
    struct value_item *work = value_create(operations, count);
    if (!work)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    if (stream->capture)
        return device_leave(capture_work(stream, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, &work->item));
    queue_enqueue(stream, &work->item);
    return device_leave(CUDA_SUCCESS);
}

static CUresult submit_one(CUstream handle, struct operation operation, bool per_thread)
{
    return submit(handle, &operation, 1, per_thread);
}

/* Barriers are between operations that are in order here anyway. */
static CUresult read_one(const CUstreamBatchMemOpParams *params, struct operation *operation,
                         size_t *count)
{
    bool wide = false;
    switch (params->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        wide = params->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
        *operation = (struct operation){true, wide, params->waitValue.address,
                                        wide ? params->waitValue.value64 : params->waitValue.value,
                                        params->waitValue.flags};
        break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        wide = params->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
        *operation = (struct operation){
            false, wide, params->writeValue.address,
            wide ? params->writeValue.value64 : params->writeValue.value, params->writeValue.flags};
        break;
    case CU_STREAM_MEM_OP_BARRIER:
        return CUDA_SUCCESS;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    ++*count;
    return CUDA_SUCCESS;
}

static CUresult submit_batch(CUstream handle, unsigned count,
                             const CUstreamBatchMemOpParams *params, unsigned flags,
                             bool per_thread)
{
    struct operation operations[BATCH_MAX];
    size_t found = 0;
    if (!count || count > BATCH_MAX || !params || flags)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        CUresult result = read_one(&params[i], &operations[found], &found);
        if (result != CUDA_SUCCESS)
            return result;
    }
    return submit(handle, operations, found, per_thread);
}

/* ---- Nodes of graphs --------------------------------------------------------------------------
 */

static CUresult read_all(const CUDA_BATCH_MEM_OP_NODE_PARAMS *params,
                         struct operation operations[BATCH_MAX], size_t *count)
{
    CUresult result = CUDA_SUCCESS;
    *count = 0;
    if (!params->count || params->count > BATCH_MAX || !params->paramArray || params->flags)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < params->count && result == CUDA_SUCCESS; i++)
        result = read_one(&params->paramArray[i], &operations[*count], count);
    for (size_t i = 0; i < *count && result == CUDA_SUCCESS; i++)
        result = check(&operations[i]);
    return result;
}

CUresult memop_of_node(const CUDA_BATCH_MEM_OP_NODE_PARAMS *params, struct item **item)
{
    struct operation operations[BATCH_MAX];
    size_t count;
    CUresult result = read_all(params, operations, &count);
    if (result != CUDA_SUCCESS)
        return result;
    struct value_item *work = value_create(operations, count);
    *item = work ? &work->item : NULL;
    return work ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUstreamBatchMemOpParams params_of(const struct operation *operation)
{
    CUstreamBatchMemOpParams params = {0};
    if (operation->is_wait) {
        params.waitValue.operation =
            operation->wide ? CU_STREAM_MEM_OP_WAIT_VALUE_64 : CU_STREAM_MEM_OP_WAIT_VALUE_32;
        params.waitValue.address = operation->address;
        params.waitValue.value64 = operation->value;
        params.waitValue.flags = operation->flags;
    } else {
        params.writeValue.operation =
            operation->wide ? CU_STREAM_MEM_OP_WRITE_VALUE_64 : CU_STREAM_MEM_OP_WRITE_VALUE_32;
        params.writeValue.address = operation->address;
        params.writeValue.value64 = operation->value;
        params.writeValue.flags = operation->flags;
    }
    return params;
}

/* Barriers, which do nothing here, are not among them. */
void memop_describe(struct item *item, struct CUctx_st *context,
                    CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    struct value_item *work = (struct value_item *)item;
    if (!work->params)
        work->params = calloc(work->count + 1, sizeof *work->params);
    for (size_t i = 0; work->params && i < work->count; i++)
        work->params[i] = params_of(&work->operations[i]);
    *params = (CUDA_BATCH_MEM_OP_NODE_PARAMS){.ctx = context,
                                              .count = work->params ? (unsigned)work->count : 0,
                                              .paramArray = work->params};
}

/* ---- Entry points of streams ------------------------------------------------------------------
 */

/* CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER: "This flag is not supported in the v2 API" (cuda.h). */
#define ENTRIES(suffix, per_thread, refused)                                                       \
    CUresult CUDAAPI cuStreamWriteValue32##suffix(CUstream stream, CUdeviceptr addr,               \
                                                  cuuint32_t value, unsigned int flags)            \
    {                                                                                              \
        if (flags & (refused))                                                                     \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        return submit_one(stream, (struct operation){false, false, addr, value, flags},            \
                          per_thread);                                                             \
    }                                                                                              \
    CUresult CUDAAPI cuStreamWriteValue64##suffix(CUstream stream, CUdeviceptr addr,               \
                                                  cuuint64_t value, unsigned int flags)            \
    {                                                                                              \
        if (flags & (refused))                                                                     \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        return submit_one(stream, (struct operation){false, true, addr, value, flags},             \
                          per_thread);                                                             \
    }                                                                                              \
    CUresult CUDAAPI cuStreamWaitValue32##suffix(CUstream stream, CUdeviceptr addr,                \
                                                 cuuint32_t value, unsigned int flags)             \
    {                                                                                              \
        return submit_one(stream, (struct operation){true, false, addr, value, flags},             \
                          per_thread);                                                             \
    }                                                                                              \
    CUresult CUDAAPI cuStreamWaitValue64##suffix(CUstream stream, CUdeviceptr addr,                \
                                                 cuuint64_t value, unsigned int flags)             \
    {                                                                                              \
        return submit_one(stream, (struct operation){true, true, addr, value, flags}, per_thread); \
    }                                                                                              \
    CUresult CUDAAPI cuStreamBatchMemOp##suffix(CUstream stream, unsigned int count,               \
                                                CUstreamBatchMemOpParams *paramArray,              \
                                                unsigned int flags)                                \
    {                                                                                              \
        return submit_batch(stream, count, paramArray, flags, per_thread);                         \
    }

ENTRIES(, false, 0)
ENTRIES(_ptsz, true, 0)
ENTRIES(_v2, false, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER)
ENTRIES(_v2_ptsz, true, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER)
