/* Deferred launches. See launch.h. */
#include "runtime/hook/launch/launch_annotations.h"
#include "runtime/hook/host/host_access.h"
#include "runtime/hook/host/host_blocks.h"
#include "runtime/hook/session/deferred.h"
#include "runtime/hook/kernel/kernel.h"
#include "runtime/hook/operator/operator_deferred.h"
#include "runtime/hook/operator/operator_summary.h"
#include "runtime/hook/launch/launch.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/observe/trace.h"

#include <string.h>

/* A deferred launch. Its parameters follow, as the kernel sees them. */
struct deferred_launch {
    struct deferred_piece piece;
    const struct driver_entry *entry;
    CUfunction function;
    CUstream stream;
    struct kernel *kernel;
    struct operators *owner; /* of a deferred operator that runs, and names it; or NULL: */
    csan_site site;
    uint32_t argument_count;
    uint32_t grid[3], block[3], cluster[3], shared, parameter_bytes;
    struct progress progress;
    struct range stack; /* of the thread that launched, if operators rest */
    bool collective, overlaps;
    uint8_t parameters[];
};

static void deferred_launch_work(const struct deferred_piece *piece)
{
    const struct deferred_launch *deferred = (const struct deferred_launch *)piece;
    size_t bytes = deferred->parameter_bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)deferred->parameters,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    struct learning learning;
    struct launch launch;
    launch_begin(&launch, deferred->entry, deferred->function, deferred->stream, &learning);
    launch.what =
        (struct launch_accesses_launch){.shared = deferred->shared, .extra = bytes ? extra : NULL};
    memcpy(launch.what.grid, deferred->grid, sizeof deferred->grid);
    memcpy(launch.what.block, deferred->block, sizeof deferred->block);
    memcpy(launch.what.cluster, deferred->cluster, sizeof deferred->cluster);
    launch.collective = deferred->collective;
    launch.overlaps = deferred->overlaps;
    launch.progress = deferred->progress;
    launch.deferred = deferred->kernel;
    launch.stack = deferred->stack;
    launch.origin.site = deferred->site;
    launch.origin.argument_count = deferred->argument_count;
    struct operators *before = operator_act_for(deferred->owner);
    launch_submit_deferred(&launch);
    operator_act_for(before);
}

/* Where its parameters lie; NULL: nobody says. */
static const struct layout *layout_of(const struct kernel *kernel)
{
    if (!kernel->ptx)
        return learning_layout(kernel);
    return kernel->layout.count == kernel->ptx->param_count ? &kernel->layout : NULL;
}

/* Whether a parameter points to memory that the host shares: it is guarded from the call on. */
static bool is_of_host(const struct launch *launch, const struct kernel *kernel)
{
    const struct range all = {0, UINT64_MAX};
    const struct layout *layout = host_blocks_may_have(all) ? layout_of(kernel) : NULL;
    return layout && layout->bytes &&
           (layout->bytes > DEFERRED_PIECE_MAX ||
            layout_any_word(layout, launch->what.parameters, launch->what.extra, host_blocks_any));
}

struct kernel *launch_deferrable_kernel(const struct launch *launch)
{
    const bool own_stream = stream_is_of_thread(launch->stream, launch->entry->thread_default);
    const bool library = operator_deferred_owner() != NULL; /* whose word is good enough */
    if (launch->captured || launch->records_events || own_stream || trace_has_all() ||
        !deferred_limit() || (!library && operator_deferred_or_other()) || launch_annotations_any())
        return NULL;
    struct kernel *kernel = kernel_recall(launch->function);
    const bool resting = operator_summary_rests(); /* its parameters decide, and no trace */
    const bool rests = resting && !library;
    const bool learns =
        trace_learns() && !resting && (!library || session_options()->access.insists);
    const bool describable = kernel && (layout_of(kernel) || (!kernel->ptx && !learns && !rests));
    if (describable && host_access_guards && is_of_host(launch, kernel))
        return NULL;
    return describable && (!learns || learning_is_calm(kernel)) ? kernel : NULL;
}

/* False: there is no room. */
static bool deferred_launch_put(const struct launch *launch)
{
    const struct launch_accesses_launch *what = &launch->what;
    const struct layout *layout = layout_of(launch->deferred);
    const uint32_t bytes = layout ? layout->bytes : 0;
    const CUcontext context = stream_current_context();
    struct deferred_launch *deferred =
        (struct deferred_launch *)deferred_begin(sizeof *deferred + bytes);
    if (!deferred)
        return false;
    *deferred = (struct deferred_launch){
        .piece = {.work = deferred_launch_work, .context = context, .bytes = deferred->piece.bytes},
        .entry = launch->entry,
        .function = launch->function,
        .stream = launch->stream,
        .kernel = launch->deferred,
        .owner = operator_deferred_owner(),
        .site = launch->origin.site,
        .argument_count = (uint32_t)launch->origin.argument_count,
        .shared = what->shared,
        .parameter_bytes = bytes,
        .collective = launch->collective,
        .overlaps = launch->overlaps,
        .progress = launch->progress,
        .stack = launch->stack};
    memcpy(deferred->grid, what->grid, sizeof deferred->grid);
    memcpy(deferred->block, what->block, sizeof deferred->block);
    memcpy(deferred->cluster, what->cluster, sizeof deferred->cluster);
    if (bytes && !layout_copy(layout, what->parameters, what->extra, deferred->parameters))
        deferred->parameter_bytes = 0; /* some were not passed */
    deferred_end(&deferred->piece);
    return true;
}

void launch_defer(struct launch *launch)
{
    struct kernel *kernel = launch->deferred;
    struct launch_origin *origin = &launch->origin;
    struct callsite_stack stack;
    const bool rests = operator_summary_rests();
    if (rests)
        launch->stack = operator_summary_stack();
    origin->argument_count = __atomic_load_n(&kernel->argument_count, __ATOMIC_RELAXED);
    if (!operator_deferred_owner()) {
        callsite_capture(&stack);
        origin->stack = &stack;
        origin->site = callsite_recall(&stack, kernel->name, origin->argument_count);
    }
    if ((origin->site || !origin->stack) && deferred_launch_put(launch))
        return;
    if (rests && origin->stack) /* it will be in the operator's words, and recalled in these */
        callsite_intern(origin->stack, kernel->name, kernel->arguments, origin->argument_count);
    deferred_flush();
    launch_submit_deferred(launch);
}
