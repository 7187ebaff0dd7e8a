/* Launches that are put off. See launch.h. */
#include "runtime/hook/launch/launch_annotations.h"
#include "runtime/hook/session/deferred.h"
#include "runtime/hook/kernel/kernel.h"
#include "runtime/hook/operator/operator_deferred.h"
#include "runtime/hook/launch/launch.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/observe/trace.h"

#include <string.h>

/* A launch in the backlog. Its parameters follow, as the kernel sees them. */
struct late {
    struct deferred_piece piece;
    const struct driver_entry *entry;
    CUfunction function;
    CUstream stream;
    struct kernel *kernel;
    struct operators *owner; /* of an operator that was put off and runs, and names it; or NULL: */
    csan_site site;
    uint32_t argument_count;
    uint32_t grid[3], block[3], cluster[3], shared, parameter_bytes;
    struct progress progress;
    bool collective, overlaps;
    uint8_t parameters[];
};

static void late_work(const struct deferred_piece *piece)
{
    const struct late *late = (const struct late *)piece;
    size_t bytes = late->parameter_bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)late->parameters,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    struct learning learning;
    struct launch launch = {.entry = late->entry,
                            .learning = &learning,
                            .function = late->function,
                            .stream = late->stream,
                            .what = {.shared = late->shared, .extra = bytes ? extra : NULL},
                            .collective = late->collective,
                            .overlaps = late->overlaps,
                            .progress = late->progress,
                            .late = late->kernel};
    memcpy(launch.what.grid, late->grid, sizeof late->grid);
    memcpy(launch.what.block, late->block, sizeof late->block);
    memcpy(launch.what.cluster, late->cluster, sizeof late->cluster);
    const struct launch_origin origin = {.site = late->site,
                                         .argument_count = late->argument_count};
    struct operators *before = operator_act_for(late->owner);
    launch_record_late(&launch, late->kernel, &origin);
    operator_act_for(before);
}

/* Where its parameters lie; NULL: nobody says. */
static const struct layout *layout_of(const struct kernel *kernel)
{
    if (!kernel->ptx)
        return learning_layout(kernel);
    return kernel->layout.count == kernel->ptx->param_count ? &kernel->layout : NULL;
}

struct kernel *launch_late_kernel(const struct launch *launch)
{
    const bool own_stream = stream_is_of_thread(launch->stream, launch->entry->thread_default);
    const bool library = operator_deferred_owner() != NULL; /* whose word is good enough */
    if (launch->captured || launch->tells_events || own_stream || trace_has_all() ||
        !deferred_limit() || (!library && operator_deferred_or_other()) || launch_annotations_any())
        return NULL;
    struct kernel *kernel = kernel_recall(launch->function);
    const bool learns = trace_learns() && (!library || session_options()->access != ACCESS_AUTO);
    const bool told = kernel && (layout_of(kernel) || (!kernel->ptx && !learns));
    return told && (!learns || learning_is_calm(kernel)) ? kernel : NULL;
}

/* False: there is no room. */
static bool late_put(const struct launch *launch, const struct launch_origin *origin)
{
    const struct launch_accesses_launch *what = &launch->what;
    const struct layout *layout = layout_of(launch->late);
    const uint32_t bytes = layout ? layout->bytes : 0;
    const CUcontext context = stream_current_context();
    struct late *late = (struct late *)deferred_begin(sizeof *late + bytes);
    if (!late)
        return false;
    *late =
        (struct late){.piece = {.work = late_work, .context = context, .bytes = late->piece.bytes},
                      .entry = launch->entry,
                      .function = launch->function,
                      .stream = launch->stream,
                      .kernel = launch->late,
                      .owner = operator_deferred_owner(),
                      .site = origin->site,
                      .argument_count = (uint32_t)origin->argument_count,
                      .shared = what->shared,
                      .parameter_bytes = bytes,
                      .collective = launch->collective,
                      .overlaps = launch->overlaps,
                      .progress = launch->progress};
    memcpy(late->grid, what->grid, sizeof late->grid);
    memcpy(late->block, what->block, sizeof late->block);
    memcpy(late->cluster, what->cluster, sizeof late->cluster);
    if (bytes && !layout_copy(layout, what->parameters, what->extra, late->parameters))
        late->parameter_bytes = 0; /* some were not passed */
    deferred_end(&late->piece);
    return true;
}

void launch_put_off(struct launch *launch)
{
    struct kernel *kernel = launch->late;
    const size_t argument_count = __atomic_load_n(&kernel->argument_count, __ATOMIC_RELAXED);
    struct callsite_stack stack;
    struct launch_origin origin = {.argument_count = argument_count};
    if (!operator_deferred_owner()) {
        callsite_capture(&stack);
        origin.stack = &stack;
        origin.site = callsite_recall(&stack, kernel->name, argument_count);
    }
    if ((origin.site || !origin.stack) && late_put(launch, &origin))
        return;
    deferred_flush();
    launch_record_late(launch, kernel, &origin);
}
