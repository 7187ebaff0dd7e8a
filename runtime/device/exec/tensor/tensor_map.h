/* The embedded device's own form of a tensor map: what cuTensorMapEncodeTiled writes into the 128
 * bytes of a CUtensorMap, and bulk tensor copies read. A GPU's layout is not documented, and
 * programs must not look inside (CUDA Driver API, "Tensor Map Object Management"). The functions
 * are pure. */
#ifndef RUNTIME_DEVICE_EXEC_TENSOR_TENSOR_MAP_H
#define RUNTIME_DEVICE_EXEC_TENSOR_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TENSOR_RANK_MOST = 5,
    TENSOR_MAP_BYTES = 128,
    TENSOR_BOX_MOST = 256,
    TENSOR_STEP_MOST = 8,
    TENSOR_PIXELS_MOST = 1024,
    TENSOR_WIDE_PIXELS = 128,     /* of im2col::w::128 */
    TENSOR_ROWS = 4,              /* of tile::gather4 and tile::scatter4 */
    TENSOR_AXES_MOST = 3,         /* of pixels, in im2col mode */
    TENSOR_PIECE = 16,            /* bytes: the unit of boxes, strides and swizzles */
    TENSOR_SHARED_ALIGNMENT = 128 /* of a swizzled box in shared memory */
};
#define TENSOR_MAP_MAGIC UINT64_C(0x70616d2d6e617363) /* "csan-map" */

enum tensor_wide { TENSOR_WIDE_NONE, TENSOR_WIDE_W, TENSOR_WIDE_W128 };

/* "Swizzling Modes" (PTX ISA 5.5.7) and their atoms, as the values of tensormap.replace. Atoms of
 * more than 16 bytes are those of the mode of 128 bytes. */
enum tensor_swizzle {
    TENSOR_SWIZZLE_NONE,
    TENSOR_SWIZZLE_32,
    TENSOR_SWIZZLE_64,
    TENSOR_SWIZZLE_128,
    TENSOR_SWIZZLE_96,
    TENSOR_SWIZZLES
};
enum tensor_atom { TENSOR_ATOM_16, TENSOR_ATOM_32, TENSOR_ATOM_32_FLIPPED, TENSOR_ATOM_64 };

/* "Sub-byte Types" (PTX ISA 5.5.1.1): sizes, boxes and coordinates count values along the innermost
 * axis, and a map's element is a group of them. */
enum tensor_packing {
    TENSOR_PLAIN,    /* an element is a value */
    TENSOR_4_BITS,   /* .b4x16: a byte with two values */
    TENSOR_4_PADDED, /* .b4x16_p64: 8 bytes with 16 values; 16 in shared memory */
    TENSOR_6_PADDED  /* .b6x16_p32, .b6p2x16: 12 bytes with 16 values; 16 in shared memory */
};

/* Interleaved tensors (PTX ISA 5.5.6): an element is a slice of channels of one pixel, with 16 or
 * 32 bytes. The innermost axes have the pixels, the one before the last has the slices, and a box
 * or a pixel of im2col mode has one slice, however many channels the map says. No section says so;
 * it was measured on an H200 (driver 580, CUDA 13.0; test_device_tensor_interleave.c). */
enum tensor_interleave { TENSOR_NOT_INTERLEAVED, TENSOR_SLICES_16, TENSOR_SLICES_32 };

struct tensor_map {
    uint64_t base;
    uint64_t magic;
    uint64_t strides[TENSOR_RANK_MOST]; /* bytes; the innermost's is an element */
    uint32_t sizes[TENSOR_RANK_MOST];   /* values, innermost first; 1 beyond the rank */
    uint16_t box[TENSOR_RANK_MOST];     /* values that a copy reaches over: see tensor_map_count */
    uint8_t steps[TENSOR_RANK_MOST];    /* from element to element of the box: tensor_map_step */
    uint8_t rank;
    uint8_t element_bytes; /* by its type */
    uint8_t type;          /* enum ptx_type: of the elements, for reductions */
    uint8_t packing;       /* enum tensor_packing */
    uint8_t swizzle;       /* enum tensor_swizzle */
    uint8_t atom;          /* enum tensor_atom */
    uint8_t nan;           /* what lies outside is NaN; else 0 */
    uint8_t interleave;    /* enum tensor_interleave */
    /* im2col mode, if pixels is not 0: a copy has that many pixels, each with box[0] channels. They
     * lie in a box of the axes between the innermost and the outermost: from lower to the size +
     * upper
     * - 1. */
    uint16_t pixels;
    int16_t lower[TENSOR_AXES_MOST], upper[TENSOR_AXES_MOST];
    uint8_t wide; /* enum tensor_wide: pixels go on along the second axis alone, then in the next
                     image */
};

/* A map that has no fields yet: of bytes, with one axis. */
void tensor_map_begin(struct tensor_map *map);
/* Values in an element, and bytes that an element has in global and in shared memory. */
uint32_t tensor_map_values(const struct tensor_map *map);
uint32_t tensor_map_bytes(const struct tensor_map *map);
uint32_t tensor_map_held_bytes(const struct tensor_map *map);
/* Elements of the tensor along an axis. */
uint32_t tensor_map_size(const struct tensor_map *map, uint32_t axis);
bool tensor_map_is_interleaved(const struct tensor_map *map);
/* Elements from one of the box to the next one. "TMA doesn't support the stride for dimension zero"
 * unless the tensor is interleaved. */
uint32_t tensor_map_step(const struct tensor_map *map, uint32_t axis);
/* Elements of a box along an axis: "ceil(boxDim[i] / elementStrides[i])". */
uint32_t tensor_map_count(const struct tensor_map *map, uint32_t axis);
/* Whether a copy may use it: a map lies in memory that the program can write. */
bool tensor_map_is_valid(const struct tensor_map *map);
/* im2col modes: the first axis that has pixels. The channels' is another. */
uint32_t tensor_map_pixel_axis(const struct tensor_map *map);
/* Elements of a pixel: channels, or one slice. */
uint32_t tensor_map_pixel_count(const struct tensor_map *map);
/* From a pixel to the next one. At the end of the box of an axis it goes on at its begin, and one
 * step along the next axis; `at` is by axis of the tensor. */
void tensor_map_next_pixel(const struct tensor_map *map, int64_t at[TENSOR_RANK_MOST]);
/* Bytes of a box in shared memory, and how many so many of a copy reach over, which is no less. */
uint64_t tensor_map_box_bytes(const struct tensor_map *map);
uint64_t tensor_map_shared_bytes(const struct tensor_map *map, uint64_t bytes);
/* Where the box's byte `offset` lies in shared memory, behind the address of the box there. If the
 * map swizzles, that is a multiple of TENSOR_SHARED_ALIGNMENT. Then atoms change places with others
 * of the same 128, 64 or 32 bytes. */
uint64_t tensor_map_shared_place(const struct tensor_map *map, uint64_t shared, uint64_t offset);

_Static_assert(sizeof(struct tensor_map) <= TENSOR_MAP_BYTES, "a map is that large");

#endif
