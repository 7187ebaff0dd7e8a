/* The memory that an access lies in, from its first byte to its last. */
#ifndef RUNTIME_HOOK_OPERATOR_ACCESS_EXTENT_H
#define RUNTIME_HOOK_OPERATOR_ACCESS_EXTENT_H

#include "csan/base/range_map.h"
#include "csan/shadow/lmad.h"

/* Without an end (CSAN_TO_END), to the end of all memory. Of an access that touches nothing, empty.
 */
static inline struct range access_extent(const struct csan_access *access)
{
    struct range extent;
    if (access->bytes == CSAN_TO_END)
        return (struct range){access->base, UINT64_MAX};
    if (!access->dim_count) /* most are so */
        return (struct range){access->base, access->base + access->bytes};
    return lmad_hull(access, &extent.start, &extent.end)
               ? extent
               : (struct range){access->base, access->base};
}

static inline bool extents_meet(struct range a, struct range b)
{
    return a.start < b.end && b.start < a.end;
}

#endif
