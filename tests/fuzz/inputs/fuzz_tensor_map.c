/* libFuzzer: tensor maps. The input is what cuTensorMapEncodeTiled gets, or the bytes of a map that
 * a program has written over. A map that was encoded is valid, and the elements of a valid map's
 * box lie in the shared memory that it says it reaches over, each in a place of its own. */
#include "runtime/device/driver/driver.h"
#include "runtime/device/exec/tensor/tensor_map.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

CUresult device_lacks(const char *name)
{
    (void)name;
    return CUDA_ERROR_NOT_SUPPORTED;
}

struct input {
    uint8_t is_map, type, rank, interleave, swizzle, promotion, fill, shared;
    uint64_t base;
    cuuint64_t sizes[TENSOR_RANK_MOST], strides[TENSOR_RANK_MOST];
    cuuint32_t box[TENSOR_RANK_MOST], steps[TENSOR_RANK_MOST];
};

enum { SHARED_MOST = 1 << 18 };

static void check_places(const struct tensor_map *map, uint64_t shared)
{
    static uint8_t taken[SHARED_MOST];
    const uint64_t end = tensor_map_box_bytes(map), reach = tensor_map_shared_bytes(map, end);
    if (reach < end)
        abort();
    if (reach > SHARED_MOST) /* more than there is shared memory: no copy begins */
        return;
    memset(taken, 0, reach);
    const uint32_t all = tensor_map_held_bytes(map),
                   held = all < TENSOR_PIECE ? all : TENSOR_PIECE; /* a swizzle turns pieces */
    for (uint64_t offset = 0; offset < end; offset += held) {
        const uint64_t place = tensor_map_shared_place(map, shared, offset);
        if (place >= reach || held > reach - place || taken[place]++)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct input input;
    struct tensor_map map;
    CUtensorMap encoded;
    memset(&input, 0, sizeof input);
    memcpy(&input, data, bytes < sizeof input ? bytes : sizeof input);
    if (input.is_map & 1) {
        memset(&map, 0, sizeof map);
        if (bytes > 8)
            memcpy(&map, data + 8, bytes - 8 < sizeof map ? bytes - 8 : sizeof map);
        map.magic = TENSOR_MAP_MAGIC;
    } else {
        if (cuTensorMapEncodeTiled(&encoded, (CUtensorMapDataType)input.type, input.rank,
                                   (void *)(uintptr_t)input.base, input.sizes, input.strides,
                                   input.box, input.steps, (CUtensorMapInterleave)input.interleave,
                                   (CUtensorMapSwizzle)input.swizzle,
                                   (CUtensorMapL2promotion)input.promotion,
                                   (CUtensorMapFloatOOBfill)input.fill) != CUDA_SUCCESS)
            return 0;
        memcpy(&map, &encoded, sizeof map);
        if (!tensor_map_is_valid(&map))
            abort();
    }
    if (tensor_map_is_valid(&map))
        check_places(&map, (uint64_t)input.shared * TENSOR_SHARED_ALIGNMENT);
    return 0;
}
