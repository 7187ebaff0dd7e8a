/* See connect.h. */
#include "runtime/hook/run/connect.h"
#include "driver_hooks.h"
#include "runtime/device/module/text_source.h"
#include "runtime/hook/interpose/dlsym.h"
#include "runtime/hook/interpose/driver_thread.h"
#include "runtime/hook/kernel/compiled_ptx.h"
#include "runtime/hook/kernel/kernel.h"
#include "runtime/hook/library/collective_link.h"
#include "runtime/hook/library/library.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/observe/trace_source.h"
#include "runtime/hook/operator/operator_stack.h"
#include "runtime/hook/operator/operator_work.h"
#include "runtime/hook/session/deferred.h"
#include "runtime/hook/state/memory_type.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/graph/capture.h"
#include "runtime/hook/graph/graph_calls.h"
#include "runtime/hook/host/device_fault.h"
#include "runtime/hook/run/fatal_signal.h"

/* Absent from builds without the tracer. */
__attribute__((weak, visibility("hidden"))) trace_source_function tracer_source;

/* The embedded device may ask for PTX of what was compiled in this process. */
static void driver_opened(void)
{
    void (*set)(device_text_source *);
    trace_driver_opened();
    *(void **)&set = driver_function("device_text_source_set");
    if (set)
        set(compiled_ptx_find);
}

void connect_tables(void)
{
    driver_table = (struct driver_table){driver_entries, driver_entry_count, driver_queries};
    library_table = (struct library_table){library_entries, library_entry_count};
    dlsym_other_stub = library_stub_of;
    driver_on_opened = driver_opened;
    trace_source_gpu = tracer_source;
}

/* ---- Deferred work ---- */

/* One thread processes at a time. */
static struct {
    void *push, *pop;            /* cuCtxPushCurrent, cuCtxPopCurrent */
    struct operators *operators; /* the thread's own */
    bool entered;                /* a context was pushed */
    bool aside;                  /* what the thread was before */
} batch;

static void batch_symbols_find(void)
{
    driver_function_cached(&batch.push, "cuCtxPushCurrent_v2");
    driver_function_cached(&batch.pop, "cuCtxPopCurrent_v2");
    stream_symbols_find();
    memory_type_symbols_find();
    kernel_symbols_find();
    driver_schedule_aside(driver_schedule_aside(true)); /* finds the function */
}

static CUcontext batch_begin(void)
{
    batch.aside = driver_schedule_aside(true);
    batch.operators = operator_act_for(NULL);
    batch.entered = false;
    return stream_current_context();
}

static void context_leave(void)
{
    CUcontext popped;
    PFN_cuCtxPopCurrent_v4000 pop =
        (PFN_cuCtxPopCurrent_v4000)__atomic_load_n(&batch.pop, __ATOMIC_ACQUIRE);
    if (pop)
        pop(&popped);
}

static void batch_context_is(CUcontext context)
{
    PFN_cuCtxPushCurrent_v4000 push =
        (PFN_cuCtxPushCurrent_v4000)__atomic_load_n(&batch.push, __ATOMIC_ACQUIRE);
    if (batch.entered)
        context_leave();
    batch.entered = context && push && push(context) == CUDA_SUCCESS;
}

static void batch_end(void)
{
    if (batch.entered)
        context_leave();
    operator_act_for(batch.operators);
    driver_schedule_aside(batch.aside);
}

void connect_hooks(uint32_t deferred)
{
    static const struct deferred_face face = {.thread_start = driver_thread_start,
                                              .symbols_find = batch_symbols_find,
                                              .begin = batch_begin,
                                              .end = batch_end,
                                              .context_is = batch_context_is};
    deferred_start(&face, deferred);
    operator_on_captured = capture_operator;
    graph_on_calls = collective_links_launched;
    fatal_signal_explain = device_fault_explain;
}
