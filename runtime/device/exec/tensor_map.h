/* The embedded device's own form of a tensor map: what cuTensorMapEncodeTiled writes into the 128
 * bytes of a CUtensorMap, and bulk tensor copies read. A GPU's layout is not documented, and
 * programs must not look inside (CUDA Driver API, "Tensor Map Object Management"). */
#ifndef RUNTIME_DEVICE_EXEC_TENSOR_MAP_H
#define RUNTIME_DEVICE_EXEC_TENSOR_MAP_H

#include <stdint.h>

enum { TENSOR_RANK_MOST = 5, TENSOR_MAP_BYTES = 128 };
#define TENSOR_MAP_MAGIC UINT64_C(0x70616d2d6e617363) /* "csan-map" */

struct tensor_map {
    uint64_t base;
    uint64_t magic;
    uint64_t strides[TENSOR_RANK_MOST]; /* bytes; the innermost's is an element */
    uint32_t sizes[TENSOR_RANK_MOST];   /* elements, innermost first; 1 beyond the rank */
    uint16_t box[TENSOR_RANK_MOST];     /* elements that a copy has, steps taken into account */
    uint8_t steps[TENSOR_RANK_MOST];    /* from element to element of the box */
    uint8_t rank;
    uint8_t element_bytes;
    uint8_t
        swizzle; /* of 16-byte pieces: bits 4 to 6 of the address that bits 7 to 9 turn; a mask */
    uint8_t nan; /* what lies outside is NaN; else 0 */
};

_Static_assert(sizeof(struct tensor_map) <= TENSOR_MAP_BYTES, "a map is that large");

#endif
