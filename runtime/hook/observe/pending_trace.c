/* Ops that wait. See pending_trace.h. */
#include "runtime/hook/observe/pending_trace.h"
#include "runtime/hook/session/session.h"

#include <stdlib.h>

static struct csan_access *copy_of(const struct csan_access *accesses, size_t count)
{
    size_t dim_count = 0;
    for (size_t i = 0; i < count; i++)
        dim_count += accesses[i].dim_count;
    struct csan_access *copy =
        malloc(count * sizeof *copy + dim_count * sizeof(struct csan_dim) + 1);
    struct csan_dim *dims = (struct csan_dim *)(copy + count);
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = accesses[i];
        copy[i].dims = dims;
        for (uint8_t k = 0; k < accesses[i].dim_count; k++)
            *dims++ = accesses[i].dims[k];
    }
    return copy;
}

bool pending_trace_begin(struct pending_trace *pending, csan_lane lane, csan_site site,
                         enum csan_level level, const struct csan_access *accesses, size_t count)
{
    *pending = (struct pending_trace){
        .level = level, .count = count, .accesses = copy_of(accesses, count)};
    if (!pending->accesses) {
        csan_op(session_context(), lane, site, level, accesses, count);
        return false;
    }
    /* 0: it was taken with its fallback, for want of room. */
    pending->ticket = csan_op_pending(session_context(), lane, site, level, accesses, count);
    return true;
}

void pending_trace_resolve(const struct pending_trace *pending, enum csan_level level,
                           const struct csan_access *accesses, size_t count)
{
    if (pending->ticket)
        csan_op_resolve(session_context(), pending->ticket, level, accesses, count);
}

void pending_trace_fall_back(const struct pending_trace *pending)
{
    pending_trace_resolve(pending, pending->level, pending->accesses, pending->count);
}

void pending_trace_release(struct pending_trace *pending)
{
    free(pending->accesses);
    *pending = (struct pending_trace){0};
}
