/* See refused_call.h. */
#include "runtime/hook/failure/refused_call.h"
#include "csan/detector/context.h"
#include "runtime/hook/session/deferred.h"
#include "runtime/hook/state/context_device.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/state/stream.h"

#include <stdio.h>
#include <stdlib.h>

bool refused_call_matters(CUresult result)
{
    return result == CUDA_ERROR_INVALID_VALUE && session_options()->errors;
}

/* Of a stream that csan knows: else the handle may be what is wrong. */
static csan_lane lane_of(const struct refused *call)
{
    struct stream *stream = stream_lock_known(call->stream, call->entry->thread_default);
    if (!stream)
        return CSAN_HOST;
    const csan_lane lane = stream_lane(stream);
    guard_unlock();
    return lane;
}

/* Rows that overlap are refused for that, whatever they reach. */
static bool is_box(const struct csan_access *access)
{
    for (uint8_t i = 0; i < access->dim_count; i++)
        if ((uint64_t)llabs(access->dims[i].stride) < access->bytes)
            return false;
    return access->bytes > 0;
}

void refused_call_copy(const struct refused *call)
{
    struct context_call checked = {
        .lane = lane_of(call), .site = call->site, .level = CSAN_LEVEL_LIBRARY};
    deferred_flush();
    for (size_t i = 0; i < call->access_count; i++) {
        checked.accesses = &call->accesses[i];
        checked.access_count = 1;
        if (is_box(checked.accesses))
            context_judge(session_context(), &checked);
    }
}

void refused_call_free(csan_site site, uint64_t address)
{
    const struct csan_access access = {
        .base = address, .bytes = 1, .kind = CSAN_WRITE, .argument = CSAN_NO_ARGUMENT};
    context_judge(session_context(), &(struct context_call){.lane = CSAN_HOST,
                                                            .site = site,
                                                            .level = CSAN_LEVEL_LIBRARY,
                                                            .accesses = &access,
                                                            .access_count = 1,
                                                            .what = CONTEXT_REFUSED_FREE});
}

/* ---- Streams ---- */

/* Where the stream is of another context than `current`: which, and its lane; else false. */
static bool stream_is_foreign(CUstream handle, bool thread_default, CUcontext current,
                              CUcontext *context, csan_lane *lane)
{
    struct stream *stream = stream_lock_known(handle, thread_default);
    CUcontext whole;
    if (!stream)
        return false;
    *context = whole = stream_context(stream);
    *lane = stream_lane(stream);
    stream_context_is_apart(&whole);
    stream_context_is_apart(&current);
    guard_unlock();
    return whole && current && whole != current;
}

bool refused_call_for_stream(const struct driver_entry *entry, CUstream stream, CUresult result)
{
    CUcontext context;
    csan_lane lane;
    return (result == CUDA_ERROR_INVALID_HANDLE || result == CUDA_ERROR_INVALID_CONTEXT) &&
           session_options()->errors &&
           stream_is_foreign(stream, entry->thread_default, stream_current_context(), &context,
                             &lane);
}

static const char *code_words(CUresult result)
{
    return result == CUDA_ERROR_INVALID_HANDLE ? "CUDA_ERROR_INVALID_HANDLE"
                                               : "CUDA_ERROR_INVALID_CONTEXT";
}

void refused_call_stream(const struct driver_entry *entry, CUstream stream, csan_site site,
                         enum csan_level level, CUresult result)
{
    CUcontext current = stream_current_context(), context;
    csan_lane lane;
    char detail[128];
    if (!stream_is_foreign(stream, entry->thread_default, current, &context, &lane))
        return;
    const int device = context_device(context), here = context_device(current);
    if (device < 0 || here < 0)
        return;
    if (device == here)
        snprintf(detail, sizeof detail,
                 "The stream is of another context of device %d than the current one.", device);
    else
        snprintf(detail, sizeof detail, "The stream is of device %d, and device %d is current.",
                 device, here);
    context_find(session_context(),
                 &(struct context_finding){
                     .kind = CSAN_RACE_WRONG_DEVICE,
                     .lane = lane,
                     .site = site,
                     .level = level,
                     .error = {.detail = detail, .code = code_words(result), .device = here}});
}
