/* See device_probe.h. */
#include "runtime/hook/failure/device_probe.h"
#include "csan/base/lock_order.h"
#include "runtime/hook/failure/dump.h"
#include "runtime/hook/interpose/call_count.h"
#include "runtime/hook/interpose/driver_thread.h"
#include "runtime/hook/state/stream.h"

#include <pthread.h>
#include <time.h>

enum {
    MOST_MS = 2000, /* at most so long until the device does something again */
    SPINS = 20000,  /* some 50 us: a word comes within 5 */
    PROBES = 16     /* contexts */
};

struct probe {
    CUcontext context; /* NULL: free */
    CUstream stream;
    uint32_t *word;
    uint32_t written;
};

static struct {
    pthread_mutex_t mutex;
    struct probe items[PROBES];
} probes = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* csan's own calls, for who compares what came to the hooks with what came to the driver. */
static CUresult counted(const char *symbol, CUresult result)
{
    call_count_own(symbol, result);
    return result;
}

static bool probe_make(struct probe *probe, CUcontext context)
{
    static void *functions[2];
    PFN_cuStreamCreate_v2000 create =
        (PFN_cuStreamCreate_v2000)driver_function_cached(&functions[0], "cuStreamCreate");
    PFN_cuMemHostAlloc_v2020 allocate =
        (PFN_cuMemHostAlloc_v2020)driver_function_cached(&functions[1], "cuMemHostAlloc");
    void *word = NULL;
    CUstream stream;
    if (!create || !allocate ||
        counted("cuStreamCreate", create(&stream, CU_STREAM_NON_BLOCKING)) != CUDA_SUCCESS ||
        counted("cuMemHostAlloc",
                allocate(&word, sizeof *probe->word, CU_MEMHOSTALLOC_DEVICEMAP)) != CUDA_SUCCESS)
        return false;
    *probe = (struct probe){.context = context, .stream = stream, .word = word};
    *probe->word = 0;
    return true;
}

/* Of the current context; NULL: there can be none. With the mutex. */
static struct probe *probe_of(CUcontext context)
{
    struct probe *place = NULL;
    for (int i = 0; i < PROBES; i++) {
        if (probes.items[i].context == context)
            return &probes.items[i];
        if (!place && !probes.items[i].context)
            place = &probes.items[i];
    }
    return place && probe_make(place, context) ? place : NULL;
}

static bool has_come(const struct probe *probe)
{
    return __atomic_load_n(probe->word, __ATOMIC_ACQUIRE) == probe->written;
}

/* With the mutex. Ends when the word has come, or a dump. */
static void probe_wait(struct probe *probe)
{
    static void *function;
    PFN_cuStreamWriteValue32_v11070 write_value =
        (PFN_cuStreamWriteValue32_v11070)driver_function_cached(&function,
                                                                "cuStreamWriteValue32_v2");
    probe->written++;
    if (!write_value || counted("cuStreamWriteValue32_v2",
                                write_value(probe->stream, (CUdeviceptr)(uintptr_t)probe->word,
                                            probe->written, 0)) != CUDA_SUCCESS)
        return;
    for (unsigned i = 0; i < SPINS; i++)
        if (has_come(probe) || dump_came())
            return;
    for (unsigned waited = 0; waited < MOST_MS && !has_come(probe) && !dump_came(); waited++)
        nap();
}

void device_probe_ask(void)
{
    CUcontext context = stream_current_context();
    const CUstreamCaptureMode mode = driver_capture_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    lock_order_take(LOCK_DUMPS, &probes.mutex);
    struct probe *probe = context ? probe_of(context) : NULL;
    if (probe)
        probe_wait(probe);
    lock_order_give(LOCK_DUMPS, &probes.mutex);
    driver_capture_mode(mode);
}

void device_probe_context_ended(CUcontext context)
{
    lock_order_take(LOCK_DUMPS, &probes.mutex);
    for (int i = 0; i < PROBES; i++)
        if (probes.items[i].context == context)
            probes.items[i].context = NULL;
    lock_order_give(LOCK_DUMPS, &probes.mutex);
}
