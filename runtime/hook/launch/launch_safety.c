/* See launch_safety.h. */
#include "runtime/hook/launch/launch_safety.h"
#include "csan/detector/context.h"
#include "csan/shadow/lmad.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/memory_owner.h"

enum { VERIFIED_LAUNCHES = 2 };

static bool is_aligned(const struct lmad *lmad, uint32_t width)
{
    for (uint32_t i = 0; i < lmad->dim_count; i++)
        if (lmad->dims[i].stride % width)
            return false;
    return lmad->base % width == 0 && lmad->span % width == 0;
}

/* In memory whose place decides whether kernels may touch it, not a pool or a mapping. */
static bool is_within_memory(const struct lmad *lmad, CUcontext context)
{
    enum memory_access access = MEMORY_ACCESS_OF_CONTEXT;
    enum csan_memory_kind kind;
    uint64_t start, bytes;
    if (!csan_memory_find(session_context(), lmad->base, &start, &bytes, &kind) ||
        lmad->span > bytes || lmad->base - start > bytes - lmad->span)
        return false;
    return kind == CSAN_MEMORY_DEVICE && !memory_owner_is_apart(start, context, &access);
}

static bool is_safe(const struct csan_access *access, uint32_t width, CUcontext context)
{
    struct lmad lmad;
    return access->bound == CSAN_EXACT && access->bytes != CSAN_TO_END &&
           lmad_from_access(&lmad, access) && is_aligned(&lmad, width) &&
           is_within_memory(&lmad, context);
}

bool launch_cannot_fail(struct kernel *kernel, const struct launch_accesses_touched *touched,
                        CUcontext context)
{
    if (!kernel->faults_width || !touched->exact || touched->level != CSAN_LEVEL_RANGES)
        return false;
    if (kernel->verified < VERIFIED_LAUNCHES) {
        kernel->verified++;
        return false;
    }
    for (size_t i = 0; i < touched->access_count; i++)
        if (!is_safe(&touched->accesses[i], kernel->faults_width, context))
            return false;
    return true;
}
