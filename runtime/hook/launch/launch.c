/* The hooks of kernel launches. See launch.h. */
#include "runtime/hook/launch/launch.h"
#include "driver_hooks.h"
#include "runtime/hook/failure/blocking.h"
#include "runtime/hook/failure/failure.h"
#include "runtime/hook/kernel/launch_prefetch.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/kernel/kernel.h"
#include "runtime/hook/failure/refused_call.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/observe/trace_source.h"

static bool launch_enter(struct launch *launch)
{
    if (!guard_enter_without_flush())
        return false;
    trace_start(); /* the source reports launches made after this */
    failure_start();
    launch->captured = stream_is_capturing(launch->stream, launch->entry->thread_default);
    launch->deferred = launch_deferrable_kernel(launch);
    if (launch->deferred) {
        callsite_prefetch();
        deferred_prefetch();
        trace_source_launch_begins();
        return true;
    }
    deferred_flush();
    const struct launch_prefetch *prefetch =
        trace_learns() ? launch_prefetch_find(launch->function, &launch->what) : NULL;
    if (prefetch)
        learning_prefetch();
    callsite_prefetch();
    kernel_prefetch(launch->function);
    if (prefetch)
        launch_prefetch_begin(prefetch);
    launch_request_trace(launch);
    trace_source_launch_begins();
    return true;
}

/* Option launch_blocking: once all is noted, so that a failure finds its launch. */
static CUresult launch_block(struct launch *launch, CUresult result)
{
    if (result != CUDA_SUCCESS || launch->captured || !blocking_any())
        return result;
    const struct kernel *kernel = launch_kernel(launch);
    return blocking_kernel(kernel) ? blocking_wait(launch->stream, launch->entry->thread_default)
                                   : result;
}

/* It did not begin. The function's handle is good: it is the stream that is wrong. */
static void launch_refused(struct launch *launch, CUresult result)
{
    struct callsite_stack stack;
    const struct kernel *kernel = launch_kernel(launch);
    callsite_capture(&stack);
    refused_call_stream(
        launch->entry, launch->stream,
        callsite_intern(&stack, kernel ? kernel->name : launch->entry->name, NULL, 0),
        kernel ? CSAN_LEVEL_UNKNOWN : CSAN_LEVEL_LIBRARY, result);
}

/* Not a launch whose bytes are all known before it runs: if it touches memory that it may not, csan
 * reports that at the launch (wrong_pointer.h, csan/detector/bounds). */
static bool launch_may_fail(const struct launch *launch)
{
    const struct kernel *kernel =
        launch->deferred ? launch->deferred : kernel_recall(launch->function);
    return !kernel || !kernel->faults_width ||
           __atomic_load_n(&kernel->ptx_exactness, __ATOMIC_RELAXED) != KERNEL_PTX_EXACT;
}

static CUresult launch_leave(struct launch *launch, CUresult result)
{
    trace_source_launch_ends();
    if (result == CUDA_SUCCESS && !launch->captured && !launch->overlaps && progress_is_wanted() &&
        launch_may_fail(launch))
        launch->progress = progress_write(launch->stream, launch->entry->thread_default);
    if (__builtin_expect(result != CUDA_SUCCESS, 0) &&
        refused_call_for_stream(launch->entry, launch->stream, result))
        launch_refused(launch, result);
    if (launch->deferred) {
        if (result == CUDA_SUCCESS)
            launch_defer(launch);
        result = launch_block(launch, result);
        guard_leave();
        return result;
    }
    if (result == CUDA_SUCCESS) {
        trace_launched();
        launch_submit(launch);
    } else if (launch->traced) {
        trace_want(NULL);
    }
    launch_release(launch);
    result = launch_block(launch, result);
    guard_leave();
    return result;
}

CUresult hook_launch_kernel(const struct driver_entry *entry, CUfunction f, unsigned int gridDimX,
                            unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,
                            unsigned int blockDimY, unsigned int blockDimZ,
                            unsigned int sharedMemBytes, CUstream hStream, void **kernelParams,
                            void **extra)
{
    PFN_cuLaunchKernel_v4000 real = DRIVER_REAL(entry, cuLaunchKernel_v4000);
    struct learning learning;
    struct launch launch;
    launch_begin(&launch, entry, f, hStream, &learning);
    launch.what = (struct launch_accesses_launch){.grid = {gridDimX, gridDimY, gridDimZ},
                                                  .block = {blockDimX, blockDimY, blockDimZ},
                                                  .shared = sharedMemBytes,
                                                  .parameters = kernelParams,
                                                  .extra = extra};
    if (!launch_enter(&launch))
        return real(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
                    sharedMemBytes, hStream, kernelParams, extra);
    return launch_leave(&launch, real(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY,
                                      blockDimZ, sharedMemBytes, hStream, kernelParams, extra));
}

CUresult hook_launch_kernel_ex(const struct driver_entry *entry, const CUlaunchConfig *config,
                               CUfunction f, void **kernelParams, void **extra)
{
    PFN_cuLaunchKernelEx_v11060 real = DRIVER_REAL(entry, cuLaunchKernelEx_v11060);
    struct learning learning;
    struct launch launch;
    launch_begin(&launch, entry, f, config ? config->hStream : NULL, &learning);
    launch.what = (struct launch_accesses_launch){0};
    if (config) {
        launch.what = (struct launch_accesses_launch){
            .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
            .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
            .shared = config->sharedMemBytes,
            .parameters = kernelParams,
            .extra = extra};
        launch.attributes = config->attrs;
        launch.attribute_count = config->attrs ? config->numAttrs : 0;
        launch_read_attributes(&launch);
    }
    if (!launch_enter(&launch))
        return real(config, f, kernelParams, extra);
    return launch_leave(&launch, real(config, f, kernelParams, extra));
}

CUresult hook_launch_cooperative_kernel(const struct driver_entry *entry, CUfunction f,
                                        unsigned int gridDimX, unsigned int gridDimY,
                                        unsigned int gridDimZ, unsigned int blockDimX,
                                        unsigned int blockDimY, unsigned int blockDimZ,
                                        unsigned int sharedMemBytes, CUstream hStream,
                                        void **kernelParams)
{
    PFN_cuLaunchCooperativeKernel_v9000 real = DRIVER_REAL(entry, cuLaunchCooperativeKernel_v9000);
    struct learning learning;
    struct launch launch;
    launch_begin(&launch, entry, f, hStream, &learning);
    launch.collective = true;
    launch.what = (struct launch_accesses_launch){.grid = {gridDimX, gridDimY, gridDimZ},
                                                  .block = {blockDimX, blockDimY, blockDimZ},
                                                  .shared = sharedMemBytes,
                                                  .parameters = kernelParams};
    if (!launch_enter(&launch))
        return real(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
                    sharedMemBytes, hStream, kernelParams);
    return launch_leave(&launch, real(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY,
                                      blockDimZ, sharedMemBytes, hStream, kernelParams));
}
