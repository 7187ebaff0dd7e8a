/* The detector's public functions about sites and lanes (csan.h, part 2). See context.c. */
#include "csan/detector/context_state.h"
#include "csan/stack/stack.h"

/* ---- sites */

csan_site csan_site_intern(csan_context *context, const char *name, const char *const *arguments,
                           size_t argument_count, const void *const *frames, size_t frame_count)
{
    csan_site site = site_table_intern(context->detector.sites, name, arguments, argument_count,
                                       frames, frame_count);
    if (context->recording)
        recording_site(context->recording, site);
    return site;
}

csan_site csan_site_launched(csan_context *context, csan_site node, const void *const *frames,
                             size_t frame_count)
{
    csan_site site = site_table_launched(context->detector.sites, node, frames, frame_count);
    if (context->recording)
        recording_site(context->recording, site);
    return site;
}

void context_define_kernel(csan_context *context, const char *name, const char *place)
{
    const bool news = site_table_define(context->detector.sites, name, place);
    if (news && context->recording)
        recording_kernel(context->recording, name, place);
}

csan_site context_site_named(csan_context *context, csan_site site, const char *name,
                             const char *const *arguments, size_t argument_count)
{
    const struct site *known = site_table_get(context->detector.sites, site);
    const void *const *frames = NULL;
    size_t count = 0;
    if (!known)
        return site;
    stack_depot_get(context->detector.stacks, known->stack, &frames, &count);
    return csan_site_intern(context, name ? name : known->name, arguments, argument_count, frames,
                            count);
}

csan_site context_site_with(csan_context *context, csan_site site, const char *const *arguments,
                            size_t argument_count)
{
    return context_site_named(context, site, NULL, arguments, argument_count);
}

const char *context_site_stack(csan_context *context, csan_site site, const void *const **frames,
                               size_t *count)
{
    const struct site *known = site_table_get(context->detector.sites, site);
    *frames = NULL;
    *count = 0;
    if (known)
        stack_depot_get(context->detector.stacks, known->stack, frames, count);
    return known ? known->name : NULL;
}

/* ---- lanes */

csan_lane csan_lane_create_as(csan_context *context, enum csan_lane_role role, uint64_t handle,
                              const char *label, csan_lane maker)
{
    struct order *order = &context->detector.order;
    csan_lane lane = CSAN_NO_LANE;
    lock_take(context->lock);
    if (maker < order->count)
        lane = order_lane_create_as(order, role, handle, label, maker);
    if (context->recording && lane != CSAN_NO_LANE)
        recording_lane(context->recording, context->recorded_as, role, lane, handle, label);
    context_leave(context);
    if (lane != CSAN_NO_LANE && maker != CSAN_HOST) /* in its turn, if something waits */
        csan_lane_waits(context, lane, maker);
    return lane;
}

csan_lane csan_lane_create_after(csan_context *context, uint64_t handle, const char *label,
                                 csan_lane maker)
{
    return csan_lane_create_as(context, CSAN_LANE_STREAM, handle, label, maker);
}

csan_lane csan_lane_create(csan_context *context, uint64_t handle, const char *label)
{
    return csan_lane_create_after(context, handle, label, CSAN_HOST);
}

csan_lane csan_lane_create_host(csan_context *context, const char *label, enum csan_host_lane kind)
{
    lock_take(context->lock);
    csan_lane lane = order_lane_create(&context->detector.order, 0, label);
    if (lane != CSAN_NO_LANE)
        order_lane_is_host(&context->detector.order, lane, kind == CSAN_HOST_THREAD);
    if (context->recording && lane != CSAN_NO_LANE)
        recording_host_lane(context->recording, context->recorded_as, lane, kind, label);
    context_leave(context);
    return lane;
}

void csan_lane_describe(csan_context *context, csan_lane lane, enum csan_lane_kind kind,
                        csan_site created)
{
    lock_take(context->lock);
    if (context_has_lane(context, lane)) {
        order_lane_describe(&context->detector.order, lane, (uint8_t)kind, created);
        if (context->recording)
            recording_lane_kind(context->recording, context->recorded_as, lane, kind, created);
    }
    context_leave(context);
}

void csan_lane_name(csan_context *context, csan_lane lane, const char *name)
{
    lock_take(context->lock);
    if (context_has_lane(context, lane)) {
        order_lane_name(&context->detector.order, lane, name);
        if (context->recording)
            recording_lane_name(context->recording, context->recorded_as, lane, name ? name : "");
    }
    context_leave(context);
}

void csan_lane_part_of(csan_context *context, csan_lane lane, csan_lane whole)
{
    lock_take(context->lock);
    if (context_has_lane(context, lane) && context_has_lane(context, whole)) {
        order_lane_part_of(&context->detector.order, lane, whole);
        if (context->recording)
            recording_lane_part_of(context->recording, context->recorded_as, lane, whole);
    }
    context_leave(context);
}
