/* Semaphores of other interfaces: cuImportExternalSemaphore, signals and waits of streams and
 * graphs. A driver's own semaphores, such as Vulkan's, need a GPU. Here two kinds of descriptors
 * stand in their place:
 *
 *   CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD              an eventfd: a signal adds 1, a wait
 * takes CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD  a memory file, whose first 8 bytes
 * are the value
 *
 * So a test plays the other interface with `write`, `read` and a mapping. A wait that is not
 * satisfied looks again whenever the schedule gives it a step; others go first. */
#include "runtime/device/driver/external_semaphore.h"
#include "runtime/device/driver/graph/graph.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct CUextSemaphore_st {
    struct object object;
    uint64_t users;  /* items that name it, and its handle */
    int event;       /* -1: it is a timeline */
    uint64_t *value; /* of a timeline: atomic, shared with whoever has the file */
};

static void release(struct CUextSemaphore_st *semaphore)
{
    if (--semaphore->users)
        return;
    if (semaphore->event >= 0)
        close(semaphore->event);
    else
        munmap(semaphore->value, sizeof *semaphore->value);
    free(semaphore);
}

/* ---- Descriptors ------------------------------------------------------------------------------
 */

static bool is_eventfd(int descriptor)
{
    char path[64], target[64] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return readlink(path, target, sizeof target - 1) > 0 && strstr(target, "[eventfd]");
}

static uint64_t *map_value(int descriptor)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size < (off_t)sizeof(uint64_t))
        return NULL;
    void *value = mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return value == MAP_FAILED ? NULL : value;
}

/* "Importing [...] transfers ownership of the file descriptor": it is closed, or kept. */
static bool take(struct CUextSemaphore_st *semaphore, CUexternalSemaphoreHandleType type,
                 int descriptor)
{
    semaphore->event = -1;
    if (type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD && is_eventfd(descriptor))
        semaphore->event = descriptor;
    else if (type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD &&
             (semaphore->value = map_value(descriptor)))
        close(descriptor);
    return semaphore->event >= 0 || semaphore->value;
}

CUresult CUDAAPI cuImportExternalSemaphore(CUexternalSemaphore *extSem_out,
                                           const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *semHandleDesc)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!extSem_out || !semHandleDesc || semHandleDesc->flags)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct CUextSemaphore_st *semaphore = calloc(1, sizeof *semaphore);
    if (!semaphore)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    if (!take(semaphore, semHandleDesc->type, semHandleDesc->handle.fd)) {
        free(semaphore);
        return device_leave(
            device_lacks("an external semaphore that is neither an eventfd nor a memory file"));
    }
    semaphore->users = 1;
    object_add(&semaphore->object, OBJECT_SEMAPHORE);
    *extSem_out = semaphore;
    return device_leave(CUDA_SUCCESS);
}

/* "The handle must not be used after this call"; what is under way goes on. */
CUresult CUDAAPI cuDestroyExternalSemaphore(CUexternalSemaphore extSem)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    struct CUextSemaphore_st *semaphore = object_find(extSem, OBJECT_SEMAPHORE);
    if (!semaphore)
        return device_leave(CUDA_ERROR_INVALID_HANDLE);
    object_remove(&semaphore->object);
    release(semaphore);
    return device_leave(CUDA_SUCCESS);
}

/* ---- Signals and waits ------------------------------------------------------------------------
 */

struct semaphore_use {
    struct CUextSemaphore_st *semaphore;
    uint64_t value;
};

struct semaphore_item {
    struct item item;
    bool waits;
    unsigned count, next;
    void *params;                    /* for who asks a node; or NULL */
    CUexternalSemaphore *semaphores; /* the same */
    struct semaphore_use uses[];
};

static void signal_now(const struct semaphore_use *use)
{
    const uint64_t one = 1;
    if (use->semaphore->event < 0)
        __atomic_store_n(use->semaphore->value, use->value, __ATOMIC_SEQ_CST);
    else if (write(use->semaphore->event, &one, sizeof one) < 0)
        return; /* it has as many signals as it can have */
}

/* Nobody but the device waits for a semaphore that was imported: so a signal that is there stays
 * until it is read. */
static bool wait_is_over(const struct semaphore_use *use)
{
    uint64_t signals;
    struct pollfd ready = {.fd = use->semaphore->event, .events = POLLIN};
    if (use->semaphore->event < 0)
        return __atomic_load_n(use->semaphore->value, __ATOMIC_SEQ_CST) >= use->value;
    return poll(&ready, 1, 0) == 1 && read(ready.fd, &signals, sizeof signals) == sizeof signals;
}

static enum step semaphore_step(struct item *item)
{
    struct semaphore_item *work = (struct semaphore_item *)item;
    if (work->next == work->count)
        return STEP_DONE;
    if (!work->waits)
        signal_now(&work->uses[work->next]);
    else if (!wait_is_over(&work->uses[work->next]))
        return STEP_SPINNING;
    return ++work->next == work->count ? STEP_DONE : STEP_AGAIN;
}

static void semaphore_discard(struct item *item)
{
    struct semaphore_item *work = (struct semaphore_item *)item;
    for (unsigned i = 0; i < work->count; i++)
        release(work->uses[i].semaphore);
    free(work->params);
    free(work->semaphores);
    free(work);
}

static struct item *semaphore_again(const struct item *item);

static struct semaphore_item *semaphore_create(const struct semaphore_use *uses, unsigned count,
                                               bool waits)
{
    struct semaphore_item *work = calloc(1, sizeof *work + count * sizeof *uses);
    if (!work)
        return NULL;
    work->item.step = semaphore_step;
    work->item.discard = semaphore_discard;
    work->item.again = semaphore_again;
    work->waits = waits;
    work->count = count;
    for (unsigned i = 0; i < count; i++) {
        work->uses[i] = uses[i];
        uses[i].semaphore->users++;
    }
    return work;
}

static struct item *semaphore_again(const struct item *item)
{
    const struct semaphore_item *work = (const struct semaphore_item *)item;
    struct semaphore_item *fresh = semaphore_create(work->uses, work->count, work->waits);
    return fresh ? &fresh->item : NULL;
}

/* What is given, as an item. "For all other types [than NvSciSync], flags must be zero." */
#define MAKES(function, given, ends)                                                               \
    static CUresult function(const CUexternalSemaphore *semaphores, const given *params,           \
                             unsigned count, struct item **item)                                   \
    {                                                                                              \
        if (count && (!semaphores || !params))                                                     \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        struct semaphore_use *uses = calloc(count + 1, sizeof *uses);                              \
        CUresult result = uses ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;                          \
        for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++) {                           \
            uses[i].semaphore = object_find(semaphores[i], OBJECT_SEMAPHORE);                      \
            uses[i].value = params[i].params.fence.value;                                          \
            if (!uses[i].semaphore)                                                                \
                result = CUDA_ERROR_INVALID_HANDLE;                                                \
            else if (params[i].flags)                                                              \
                result = CUDA_ERROR_INVALID_VALUE;                                                 \
        }                                                                                          \
        struct semaphore_item *work =                                                              \
            result == CUDA_SUCCESS ? semaphore_create(uses, count, ends) : NULL;                   \
        free(uses);                                                                                \
        *item = work ? &work->item : NULL;                                                         \
        return work || result != CUDA_SUCCESS ? result : CUDA_ERROR_OUT_OF_MEMORY;                 \
    }
MAKES(make_signal, CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, false)
MAKES(make_wait, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, true)

#define STREAM_CALLS(function, given, make, node, suffix, per_thread)                              \
    CUresult CUDAAPI function##suffix(const CUexternalSemaphore *extSemArray,                      \
                                      const given *paramsArray, unsigned int numExtSems,           \
                                      CUstream handle)                                             \
    {                                                                                              \
        struct CUstream_st *stream;                                                                \
        struct item *item = NULL;                                                                  \
        CUresult result = stream_enter(handle, per_thread, &stream);                               \
        if (result != CUDA_SUCCESS)                                                                \
            return result;                                                                         \
        if ((result = capture_admits(stream)) != CUDA_SUCCESS ||                                   \
            (result = make(extSemArray, paramsArray, numExtSems, &item)) != CUDA_SUCCESS)          \
            return device_leave(result);                                                           \
        if (stream->capture)                                                                       \
            return device_leave(capture_work(stream, node, item));                                 \
        queue_enqueue(stream, item);                                                               \
        return device_leave(CUDA_SUCCESS);                                                         \
    }
#define SIGNALS(suffix, per_thread)                                                                \
    STREAM_CALLS(cuSignalExternalSemaphoresAsync, CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,           \
                 make_signal, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, suffix, per_thread)
#define WAITS(suffix, per_thread)                                                                  \
    STREAM_CALLS(cuWaitExternalSemaphoresAsync, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, make_wait,    \
                 CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, suffix, per_thread)
SIGNALS(, false)
SIGNALS(_ptsz, true)
WAITS(, false)
WAITS(_ptsz, true)

/* ---- Nodes of graphs --------------------------------------------------------------------------
 */

CUresult signal_of_node(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 *params, struct item **item)
{
    return make_signal(params->extSemArray, params->paramsArray, params->numExtSems, item);
}

CUresult wait_of_node(const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 *params, struct item **item)
{
    return make_wait(params->extSemArray, params->paramsArray, params->numExtSems, item);
}

#define DESCRIBES(function, node, given)                                                           \
    void function(struct item *item, node *params)                                                 \
    {                                                                                              \
        struct semaphore_item *work = (struct semaphore_item *)item;                               \
        if (!work->params)                                                                         \
            work->params = calloc(work->count + 1, sizeof(given));                                 \
        if (!work->semaphores)                                                                     \
            work->semaphores = calloc(work->count + 1, sizeof *work->semaphores);                  \
        given *all = work->params;                                                                 \
        const bool made = all && work->semaphores;                                                 \
        for (unsigned i = 0; made && i < work->count; i++) {                                       \
            work->semaphores[i] = work->uses[i].semaphore;                                         \
            all[i].params.fence.value = work->uses[i].value;                                       \
        }                                                                                          \
        *params = (node){.extSemArray = work->semaphores,                                          \
                         .paramsArray = all,                                                       \
                         .numExtSems = made ? work->count : 0};                                    \
    }
DESCRIBES(signal_describe, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1,
          CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS)
DESCRIBES(wait_describe, CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS)
