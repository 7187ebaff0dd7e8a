/* See access_copy.h. */
#include "csan/base/access_copy.h"

size_t access_copy_bytes(const struct csan_access *accesses, size_t count)
{
    size_t dims = 0;
    for (size_t i = 0; i < count; i++)
        dims += accesses[i].dim_count;
    return count * sizeof *accesses + dims * sizeof(struct csan_dim);
}

void access_copy(struct csan_access *to, const struct csan_access *accesses, size_t count)
{
    struct csan_dim *place = (struct csan_dim *)(to + count);
    for (size_t i = 0; i < count; i++) {
        to[i] = accesses[i];
        to[i].dims = place;
        for (uint8_t k = 0; k < accesses[i].dim_count; k++)
            *place++ = accesses[i].dims[k];
    }
}
