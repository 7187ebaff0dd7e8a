/* The hooks of host functions: cuLaunchHostFunc and cuStreamAddCallback. */
#include "runtime/hook/state/host_function.h"
#include "driver_hooks.h"
#include "runtime/hook/graph/capture.h"
#include "runtime/hook/graph/graph_node_accesses.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/state/stream.h"

/* How the driver's thread waits for the function's turn: cuLaunchHostFunc_v2. */
struct host_launch {
    const struct driver_entry *entry;
    CUstream stream;
    bool has_mode;
    unsigned mode;
};

static CUresult host_launch_call(const struct host_launch *launch, CUhostFn fn, void *data)
{
    if (launch->has_mode)
        return DRIVER_REAL(launch->entry, cuLaunchHostFunc_v13010)(launch->stream, fn, data,
                                                                   launch->mode);
    return DRIVER_REAL(launch->entry, cuLaunchHostFunc_v10000)(launch->stream, fn, data);
}

/* Each launch of the graph calls the function: the node is given to the driver in its place. */
static CUresult capture_host_function(const struct host_launch *launch, CUhostFn fn, void *userData)
{
    const struct driver_entry *entry = launch->entry;
    struct host_node *node = host_node_wrap(&fn, &userData);
    CUresult result = host_launch_call(launch, fn, userData);
    if (result == CUDA_SUCCESS)
        capture_work(launch->stream, entry->thread_default,
                     graph_node_work_host(callsite_of(entry->name, NULL, 0), node));
    return result;
}

static CUresult launch_host_function(const struct host_launch *launch, CUhostFn fn, void *userData)
{
    const struct driver_entry *entry = launch->entry;
    if (fn && stream_is_capturing(launch->stream, entry->thread_default))
        return capture_host_function(launch, fn, userData);
    const struct host_call_target target = {.function = fn, .data = userData};
    struct host_call *call =
        fn ? host_call_begin(launch->stream, entry->thread_default, entry->name, &target) : NULL;
    if (!call)
        return host_launch_call(launch, fn, userData);
    CUresult result = host_launch_call(launch, host_call_run, call);
    host_call_end(call, result, launch->stream, entry->thread_default);
    return result;
}

CUresult hook_launch_host_function(const struct driver_entry *entry, CUstream hStream, CUhostFn fn,
                                   void *userData)
{
    return launch_host_function(&(struct host_launch){.entry = entry, .stream = hStream}, fn,
                                userData);
}

CUresult hook_launch_host_function_v2(const struct driver_entry *entry, CUstream hStream,
                                      CUhostFn fn, void *userData, unsigned int syncMode)
{
    const struct host_launch launch = {entry, hStream, true, syncMode};
    return launch_host_function(&launch, fn, userData);
}

CUresult hook_stream_add_callback(const struct driver_entry *entry, CUstream hStream,
                                  CUstreamCallback callback, void *userData, unsigned int flags)
{
    PFN_cuStreamAddCallback_v5000 real = DRIVER_REAL(entry, cuStreamAddCallback_v5000);
    bool captured = stream_is_capturing(hStream, entry->thread_default); /* it will fail */
    const struct host_call_target target = {.callback = callback, .data = userData};
    struct host_call *call = callback && !captured ? host_call_begin(hStream, entry->thread_default,
                                                                     entry->name, &target)
                                                   : NULL;
    CUresult result;
    if (call) {
        result = real(hStream, host_call_run_callback, call, flags);
        host_call_end(call, result, hStream, entry->thread_default);
    } else {
        result = real(hStream, callback, userData, flags);
    }
    return result;
}
