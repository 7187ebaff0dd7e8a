/* See transfer.h. */
#include "runtime/hook/state/transfer.h"
#include "runtime/hook/state/array_table.h"

const char *const transfer_arguments[2] = {"src", "dst"};
const char *const transfer_set_arguments[1] = {"dst"};

size_t transfer_access(const struct transfer_side *side, int kind, struct csan_access *access)
{
    if (side->is_array)
        return 0;
    *access = (struct csan_access){.base = side->base,
                                   .bytes = side->row_bytes,
                                   .dims = side->dims,
                                   .dim_count = side->dim_count,
                                   .kind = (uint8_t)kind,
                                   .argument = kind == CSAN_READ ? 0 : 1};
    return 1;
}

size_t transfer_accesses(const struct transfer_side *source, const struct transfer_side *target,
                         struct csan_access *accesses)
{
    const size_t count = transfer_access(source, CSAN_READ, accesses);
    return count + transfer_access(target, CSAN_WRITE, &accesses[count]);
}

uint64_t transfer_reach(const struct transfer_side *side)
{
    uint64_t bytes = side->row_bytes;
    for (uint8_t i = 0; i < side->dim_count; i++)
        bytes += (uint64_t)side->dims[i].stride * (side->dims[i].count - 1);
    return bytes;
}

/* Rows of `width` bytes, `height` of them `pitch` apart, `depth` planes `plane` bytes apart. */
static void shape(struct transfer_side *side, uint64_t width, uint64_t height, uint64_t pitch,
                  uint64_t depth, uint64_t plane)
{
    side->row_bytes = height && depth ? width : 0;
    if (height > 1 && pitch == width)
        side->row_bytes *= height;
    else if (height > 1)
        side->dims[side->dim_count++] = (struct csan_dim){(int64_t)pitch, height};
    if (depth > 1 && side->dim_count == 0 && plane == side->row_bytes)
        side->row_bytes *= depth;
    else if (depth > 1)
        side->dims[side->dim_count++] = (struct csan_dim){(int64_t)plane, depth};
}

/* Where one side of a CUDA_MEMCPY2D or 3D begins, and in what kind of memory. */
static void locate(struct transfer_side *side, CUmemorytype type, const void *host,
                   CUdeviceptr_v2 device, uint64_t offset)
{
    side->is_array = type == CU_MEMORYTYPE_ARRAY;
    if (side->is_array) {
        side->place = MEMORY_TYPE_DEVICE;
        return;
    }
    side->base = (type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : device) + offset;
    side->place = type == CU_MEMORYTYPE_DEVICE ? MEMORY_TYPE_DEVICE : memory_type_of(side->base);
}

/* The same in an array, which has its own distances between rows and layers. */
static void locate_array(struct transfer_side *side, CUarray handle, uint64_t x, uint64_t y,
                         uint64_t z, uint64_t *pitch, uint64_t *plane)
{
    struct array_range range;
    if (!side->is_array || !array_find(handle, &range))
        return;
    side->is_array = false; /* memory as any other */
    *pitch = range.pitch;
    *plane = range.plane;
    side->base = range.base + z * range.plane + y * range.pitch + x;
}

void transfer_2d(struct transfer_side *source, struct transfer_side *target,
                 const CUDA_MEMCPY2D_v2 *what)
{
    if (!what)
        return;
    uint64_t source_pitch = what->srcPitch, target_pitch = what->dstPitch, plane;
    locate(source, what->srcMemoryType, what->srcHost, what->srcDevice,
           what->srcY * what->srcPitch + what->srcXInBytes);
    locate(target, what->dstMemoryType, what->dstHost, what->dstDevice,
           what->dstY * what->dstPitch + what->dstXInBytes);
    locate_array(source, what->srcArray, what->srcXInBytes, what->srcY, 0, &source_pitch, &plane);
    locate_array(target, what->dstArray, what->dstXInBytes, what->dstY, 0, &target_pitch, &plane);
    shape(source, what->WidthInBytes, what->Height, source_pitch, 1, 0);
    shape(target, what->WidthInBytes, what->Height, target_pitch, 1, 0);
}

/* Of CUDA_MEMCPY3D and its peer form, which name these members alike. */
#define COPY_3D(source, target, what)                                                              \
    do {                                                                                           \
        uint64_t source_pitch = (what)->srcPitch, target_pitch = (what)->dstPitch;                 \
        uint64_t source_plane = source_pitch * (what)->srcHeight;                                  \
        uint64_t target_plane = target_pitch * (what)->dstHeight;                                  \
        locate(source, (what)->srcMemoryType, (what)->srcHost, (what)->srcDevice,                  \
               (what)->srcZ *source_plane + (what)->srcY * source_pitch + (what)->srcXInBytes);    \
        locate(target, (what)->dstMemoryType, (what)->dstHost, (what)->dstDevice,                  \
               (what)->dstZ *target_plane + (what)->dstY * target_pitch + (what)->dstXInBytes);    \
        locate_array(source, (what)->srcArray, (what)->srcXInBytes, (what)->srcY, (what)->srcZ,    \
                     &source_pitch, &source_plane);                                                \
        locate_array(target, (what)->dstArray, (what)->dstXInBytes, (what)->dstY, (what)->dstZ,    \
                     &target_pitch, &target_plane);                                                \
        shape(source, (what)->WidthInBytes, (what)->Height, source_pitch, (what)->Depth,           \
              source_plane);                                                                       \
        shape(target, (what)->WidthInBytes, (what)->Height, target_pitch, (what)->Depth,           \
              target_plane);                                                                       \
    } while (0)

void transfer_3d(struct transfer_side *source, struct transfer_side *target,
                 const CUDA_MEMCPY3D_v2 *what)
{
    if (what)
        COPY_3D(source, target, what);
}

void transfer_3d_peer(struct transfer_side *source, struct transfer_side *target,
                      const CUDA_MEMCPY3D_PEER_v1 *what)
{
    if (what)
        COPY_3D(source, target, what);
}

struct csan_access transfer_set_access(const struct transfer_set *set, struct csan_dim *dim)
{
    struct csan_access access = {.base = set->base, .bytes = set->width, .kind = CSAN_WRITE};
    *dim = (struct csan_dim){(int64_t)set->pitch, set->height};
    if (set->height > 1 && set->pitch == set->width)
        access.bytes *= set->height;
    else if (set->height > 1) {
        access.dims = dim;
        access.dim_count = 1;
    }
    return access;
}
