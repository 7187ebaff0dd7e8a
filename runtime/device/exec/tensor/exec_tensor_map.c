/* See tensor_map.h. */
#include "runtime/device/exec/tensor/tensor_map.h"
#include "runtime/ptx/ir.h"

enum { ROW_SHIFT = 3 };

void tensor_map_begin(struct tensor_map *map)
{
    *map = (struct tensor_map){.magic = TENSOR_MAP_MAGIC, .rank = 1, .element_bytes = 1};
    map->type = PTX_U8;
    map->strides[0] = 1;
    for (uint32_t i = 0; i < TENSOR_RANK_MOST; i++) {
        map->sizes[i] = 1;
        map->box[i] = 1;
        map->steps[i] = 1;
    }
}

uint32_t tensor_map_count(const struct tensor_map *map, uint32_t axis)
{
    const uint32_t step = axis ? map->steps[axis] : 1;
    return (map->box[axis] + step - 1) / step;
}

static bool axis_is_valid(const struct tensor_map *map, uint32_t i)
{
    return map->sizes[i] && map->box[i] && map->box[i] <= TENSOR_BOX_MOST && map->steps[i] &&
           map->steps[i] <= TENSOR_STEP_MOST;
}

static bool pixels_are_valid(const struct tensor_map *map)
{
    bool valid =
        map->rank >= 3 && map->pixels <= TENSOR_PIXELS_MOST && map->wide <= TENSOR_WIDE_W128;
    for (uint32_t i = 1; i < map->rank; i++)
        valid &= map->box[i] == 1;
    return valid;
}

bool tensor_map_is_valid(const struct tensor_map *map)
{
    const uint64_t inner = (uint64_t)map->box[0] * map->element_bytes;
    bool valid = map->magic == TENSOR_MAP_MAGIC && map->rank && map->rank <= TENSOR_RANK_MOST &&
                 map->element_bytes && map->element_bytes <= sizeof(uint64_t) &&
                 !(map->element_bytes & (map->element_bytes - 1)) && inner % TENSOR_PIECE == 0;
    for (uint32_t i = 0; valid && i < map->rank; i++)
        valid = axis_is_valid(map, i);
    if (map->pixels || map->wide)
        valid = valid && map->pixels && pixels_are_valid(map);
    switch (map->swizzle) {
    case 0:
        return valid;
    case 0x10:
    case 0x30:
    case 0x70:
        return valid && inner <= (uint64_t)map->swizzle + TENSOR_PIECE;
    default:
        return false;
    }
}

uint64_t tensor_map_box_bytes(const struct tensor_map *map)
{
    uint64_t bytes = map->element_bytes;
    for (uint32_t i = 0; i < map->rank; i++)
        bytes *= tensor_map_count(map, i);
    return map->pixels ? bytes * map->pixels : bytes;
}

void tensor_map_next_pixel(const struct tensor_map *map, int64_t at[TENSOR_RANK_MOST - 1])
{
    const uint32_t axes = map->rank - 2u;
    for (uint32_t i = 0; i < (map->wide ? 1 : axes); i++) {
        at[i] += map->steps[i + 1];
        if (at[i] < (int64_t)map->sizes[i + 1] + map->upper[i])
            return;
        at[i] = map->lower[i];
    }
    at[axes]++;
}

uint64_t tensor_map_shared_bytes(const struct tensor_map *map, uint64_t bytes)
{
    const uint64_t span = map->swizzle ? map->swizzle + (uint64_t)TENSOR_PIECE : 1;
    return (bytes + span - 1) / span * span;
}

uint64_t tensor_map_shared_place(const struct tensor_map *map, uint64_t shared, uint64_t offset)
{
    const uint64_t address = shared + offset;
    return (address ^ (address >> ROW_SHIFT & map->swizzle)) - shared;
}
