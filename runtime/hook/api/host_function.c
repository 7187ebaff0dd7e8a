/* The hooks of host functions: cuLaunchHostFunc and cuStreamAddCallback. */
#include "runtime/hook/state/host_function.h"
#include "driver_hooks.h"
#include "runtime/hook/graph/capture.h"
#include "runtime/hook/graph/graph_node_accesses.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/state/stream.h"

/* Each launch of the graph calls the function: the node is given to the driver in its place. */
static CUresult capture_host_function(const struct driver_entry *entry, CUstream hStream,
                                      CUhostFn fn, void *userData)
{
    struct host_node *node = host_node_wrap(&fn, &userData);
    CUresult result = DRIVER_REAL(entry, cuLaunchHostFunc_v10000)(hStream, fn, userData);
    if (result == CUDA_SUCCESS)
        capture_work(hStream, entry->thread_default,
                     graph_node_work_host(callsite_of(entry->name, NULL, 0), node));
    return result;
}

CUresult hook_launch_host_function(const struct driver_entry *entry, CUstream hStream, CUhostFn fn,
                                   void *userData)
{
    PFN_cuLaunchHostFunc_v10000 real = DRIVER_REAL(entry, cuLaunchHostFunc_v10000);
    if (fn && stream_is_capturing(hStream, entry->thread_default)) {
        CUresult captured = capture_host_function(entry, hStream, fn, userData);
        return captured;
    }
    const struct host_call_target target = {.function = fn, .data = userData};
    struct host_call *call =
        fn ? host_call_begin(hStream, entry->thread_default, entry->name, &target) : NULL;
    CUresult result;
    if (call) {
        result = real(hStream, host_call_run, call);
        host_call_end(call, result, hStream, entry->thread_default);
    } else {
        result = real(hStream, fn, userData);
    }
    return result;
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
