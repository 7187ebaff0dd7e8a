/* What copies and memory sets touch, from their parameters. */
#ifndef RUNTIME_HOOK_STATE_TRANSFER_H
#define RUNTIME_HOOK_STATE_TRANSFER_H

#include <csan/csan.h>
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/state/memory_type.h"

/* ---- Copies ---- */

/* One side of a copy. */
struct transfer_side {
    uint64_t base;
    uint64_t row_bytes;
    struct csan_dim dims[2];
    uint8_t dim_count;
    bool is_array; /* a CUDA array that csan does not know */
    enum memory_type place;
};

/* The names of a copy's arguments. */
extern const char *const transfer_arguments[2];

/* The memory type is looked up only when csan needs it: most copies state it in their name. */
static inline struct transfer_side transfer_linear(uint64_t base, uint64_t bytes,
                                                   enum memory_type place)
{
    return (struct transfer_side){.base = base, .row_bytes = bytes, .place = place};
}

/* The two sides of a copy of rows or planes; nothing for NULL. */
void transfer_2d(struct transfer_side *source, struct transfer_side *target,
                 const CUDA_MEMCPY2D_v2 *what);
void transfer_3d(struct transfer_side *source, struct transfer_side *target,
                 const CUDA_MEMCPY3D_v2 *what);
void transfer_3d_peer(struct transfer_side *source, struct transfer_side *target,
                      const CUDA_MEMCPY3D_PEER_v1 *what);

/* Fills in an access of that kind. Returns how many: none for an array that csan does not know. */
size_t transfer_access(const struct transfer_side *side, int kind, struct csan_access *access);
/* Those of both sides. */
size_t transfer_accesses(const struct transfer_side *source, const struct transfer_side *target,
                         struct csan_access *accesses);
/* Bytes from the first to the last one. */
uint64_t transfer_reach(const struct transfer_side *side);

/* ---- Sets ---- */

struct transfer_set {
    CUdeviceptr_v2 base;
    uint64_t width, height, pitch; /* bytes, rows, bytes between rows */
};

/* The name of a set's argument. */
extern const char *const transfer_set_arguments[1];

/* `dim` is room for the access. */
struct csan_access transfer_set_access(const struct transfer_set *set, struct csan_dim *dim);

#endif
