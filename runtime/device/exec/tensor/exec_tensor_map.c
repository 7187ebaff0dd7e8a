/* See tensor_map.h. */
#include "runtime/device/exec/tensor/tensor_map.h"
#include "runtime/ptx/ir.h"

/* Bits of an address that those `shift` above turn, and bytes within which atoms change places. */
struct pattern {
    uint8_t bits, shift, span;
};

/* The tables of PTX ISA 5.5.7. That of 96 bytes has rows like that of 32. */
static struct pattern pattern_of(const struct tensor_map *map)
{
    static const struct pattern patterns[TENSOR_SWIZZLES] = {[TENSOR_SWIZZLE_NONE] = {0, 3, 1},
                                                             [TENSOR_SWIZZLE_32] = {0x10, 3, 32},
                                                             [TENSOR_SWIZZLE_64] = {0x30, 3, 64},
                                                             [TENSOR_SWIZZLE_128] = {0x70, 3, 128},
                                                             [TENSOR_SWIZZLE_96] = {0x10, 3, 96}};
    if (map->atom == TENSOR_ATOM_32)
        return (struct pattern){0x60, 2, 128};
    if (map->atom == TENSOR_ATOM_64)
        return (struct pattern){0x40, 1, 128};
    return patterns[map->swizzle];
}

/* What an element has, by its packing. */
static const struct {
    uint8_t values, bytes, held; /* bytes: 0: those of its type */
} packings[] = {[TENSOR_PLAIN] = {1, 0, 0},
                [TENSOR_4_BITS] = {2, 1, 1},
                [TENSOR_4_PADDED] = {16, 8, TENSOR_PIECE},
                [TENSOR_6_PADDED] = {16, 12, TENSOR_PIECE}};
enum { PACKINGS = sizeof packings / sizeof *packings, PADDED_VALUES = 128 };

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

uint32_t tensor_map_values(const struct tensor_map *map)
{
    return packings[map->packing].values;
}

uint32_t tensor_map_bytes(const struct tensor_map *map)
{
    return map->interleave ? (uint32_t)TENSOR_PIECE * map->interleave : map->element_bytes;
}

uint32_t tensor_map_held_bytes(const struct tensor_map *map)
{
    return map->interleave ? tensor_map_bytes(map)
           : map->packing  ? packings[map->packing].held
                           : map->element_bytes;
}

uint32_t tensor_map_size(const struct tensor_map *map, uint32_t axis)
{
    return axis ? map->sizes[axis] : map->sizes[0] / packings[map->packing].values;
}

bool tensor_map_is_interleaved(const struct tensor_map *map)
{
    return map->interleave != TENSOR_NOT_INTERLEAVED;
}

uint32_t tensor_map_step(const struct tensor_map *map, uint32_t axis)
{
    return axis || tensor_map_is_interleaved(map) ? map->steps[axis] : 1;
}

uint32_t tensor_map_count(const struct tensor_map *map, uint32_t axis)
{
    if (map->interleave && axis + 2u == map->rank)
        return 1; /* slice */
    const uint32_t step =
        axis ? map->steps[axis] : tensor_map_step(map, 0) * packings[map->packing].values;
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

/* "Interleaved layouts are supported only for 3D, 4D and 5D". Of 32 bytes, base and strides are
 * multiples of 32, and the swizzle is that of 32 bytes (CUDA Driver API, cuTensorMapEncodeTiled).
 */
static bool slices_are_valid(const struct tensor_map *map)
{
    const uint32_t bytes = tensor_map_bytes(map);
    bool aligned = map->base % bytes == 0;
    for (uint32_t i = 1; i < map->rank; i++)
        aligned &= map->strides[i] % bytes == 0;
    return aligned && map->rank >= 3 && map->interleave <= TENSOR_SLICES_32 &&
           map->packing == TENSOR_PLAIN && !map->wide && !map->atom &&
           map->swizzle <= TENSOR_SWIZZLE_128 &&
           (map->interleave == TENSOR_SLICES_16 || map->swizzle == TENSOR_SWIZZLE_32);
}

/* "Restriction on Tensor Copy instructions" (PTX ISA 9.7.9.27.1.1): of types with padding a box has
 * 128 values, and none fills with NaN. */
static bool packing_is_valid(const struct tensor_map *map)
{
    if (map->packing == TENSOR_PLAIN)
        return map->element_bytes && map->element_bytes <= sizeof(uint64_t) &&
               !(map->element_bytes & (map->element_bytes - 1));
    if (map->packing >= PACKINGS || map->element_bytes != packings[map->packing].bytes || map->nan)
        return false;
    if (map->packing == TENSOR_4_BITS)
        return map->sizes[0] % 2 == 0;
    return map->sizes[0] % PADDED_VALUES == 0 && map->box[0] == PADDED_VALUES &&
           map->base % (2 * TENSOR_PIECE) == 0 &&
           (map->swizzle == TENSOR_SWIZZLE_NONE || map->swizzle == TENSOR_SWIZZLE_128);
}

static bool swizzle_is_valid(const struct tensor_map *map, uint64_t inner)
{
    if (map->swizzle >= TENSOR_SWIZZLES || map->atom > TENSOR_ATOM_64 ||
        map->atom == TENSOR_ATOM_32_FLIPPED || (map->atom && map->swizzle != TENSOR_SWIZZLE_128) ||
        (map->swizzle == TENSOR_SWIZZLE_96 && map->wide == TENSOR_WIDE_W128))
        return false;
    return map->swizzle == TENSOR_SWIZZLE_NONE || tensor_map_is_interleaved(map) ||
           inner <= pattern_of(map).span;
}

bool tensor_map_is_valid(const struct tensor_map *map)
{
    bool valid = map->magic == TENSOR_MAP_MAGIC && map->rank && map->rank <= TENSOR_RANK_MOST &&
                 packing_is_valid(map) && (!map->interleave || slices_are_valid(map));
    for (uint32_t i = 0; valid && i < map->rank; i++)
        valid = axis_is_valid(map, i);
    if (map->pixels || map->wide)
        valid = valid && map->pixels && pixels_are_valid(map);
    if (!valid || map->box[0] % tensor_map_values(map))
        return false;
    /* Of an interleaved tensor, too, "the inner dimension" is that of the type. */
    const uint64_t inner = map->interleave
                               ? (uint64_t)map->box[0] * map->element_bytes
                               : (uint64_t)tensor_map_count(map, 0) * tensor_map_held_bytes(map);
    return inner % TENSOR_PIECE == 0 && swizzle_is_valid(map, inner);
}

uint32_t tensor_map_pixel_axis(const struct tensor_map *map)
{
    return map->interleave ? 0 : 1;
}

uint32_t tensor_map_pixel_count(const struct tensor_map *map)
{
    return map->interleave ? 1 : tensor_map_count(map, 0);
}

uint64_t tensor_map_box_bytes(const struct tensor_map *map)
{
    uint64_t count = 1;
    for (uint32_t i = 0; i < map->rank && !map->pixels; i++)
        count *= tensor_map_count(map, i);
    if (map->pixels)
        count = (uint64_t)map->pixels * tensor_map_pixel_count(map);
    return count * tensor_map_held_bytes(map);
}

/* The next pixel of an im2col copy, in place. The last axis is the images: behind the last pixel of
 * one, its element stride leads to the next, as on an H200. */
void tensor_map_next_pixel(const struct tensor_map *map, int64_t at[TENSOR_RANK_MOST])
{
    const uint32_t first = tensor_map_pixel_axis(map), images = map->rank - 1u;
    for (uint32_t i = 0; i < (map->wide ? 1 : map->rank - 2u); i++) {
        const uint32_t axis = first + i;
        at[axis] += map->steps[axis];
        if (at[axis] < (int64_t)map->sizes[axis] + map->upper[i])
            return;
        at[axis] = map->lower[i];
    }
    at[images] += map->steps[images];
}

uint64_t tensor_map_shared_bytes(const struct tensor_map *map, uint64_t bytes)
{
    const uint64_t span = map->swizzle == TENSOR_SWIZZLE_96 ? 32 : pattern_of(map).span;
    return (bytes + span - 1) / span * span;
}

uint64_t tensor_map_shared_place(const struct tensor_map *map, uint64_t shared, uint64_t offset)
{
    const uint64_t address = shared + offset;
    const struct pattern pattern = pattern_of(map);
    return (address ^ (address >> pattern.shift & pattern.bits)) - shared;
}
