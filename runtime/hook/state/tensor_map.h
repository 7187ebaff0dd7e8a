/* Reads the 128 bytes of a tensor map: which tensor in memory they describe. Libraries encode maps
 * in code of their own, and let kernels copy through the first 64 bytes (seen in cuBLAS 13's nvjet
 * kernels, whose maps lie 64 bytes apart).
 *
 * The layout is not documented. It was derived from 30,000 maps with random arguments that an
 * H200's driver (580.159.04) encoded. csan has the present driver encode a few before it trusts the
 * layout. Thread-safe. */
#ifndef RUNTIME_HOOK_STATE_TENSOR_MAP_H
#define RUNTIME_HOOK_STATE_TENSOR_MAP_H

#include <cuda.h>
#include <cudaTypedefs.h>
#include <stdbool.h>
#include <stdint.h>

enum { TENSOR_MAP_READ_BYTES = 64, TENSOR_MAP_RANK_MOST = 5 };

/* As the arguments of the encoding functions describe it (CUDA Driver API, cuTensorMapEncodeTiled).
 */
struct tensor {
    CUtensorMapDataType type;
    uint32_t rank;
    uint64_t base;
    const cuuint64_t *sizes, *strides; /* innermost first; the innermost has no stride */
    CUtensorMapInterleave interleave;
};

/* Bytes; 0: fewer than 8 bits, or a type that is not known. */
uint8_t tensor_element_bytes(CUtensorMapDataType type);
/* Bits that an element takes in memory; 8: a type that is not known. */
uint8_t tensor_element_bits(CUtensorMapDataType type);

struct tensor_map_read {
    bool is_im2col;
    CUtensorMapDataType type;
    uint32_t rank;
    uint64_t base;
    cuuint64_t sizes[TENSOR_MAP_RANK_MOST],
        strides[TENSOR_MAP_RANK_MOST - 1]; /* as struct tensor */
    CUtensorMapInterleave interleave;
    uint64_t identity; /* hash of all but the address */
};

/* Reads the map's first TENSOR_MAP_READ_BYTES. False: they are no map, or have bits set that were
 * zero in all maps that were seen. */
bool tensor_map_read(struct tensor_map_read *map, const void *bytes);

enum tensor_map_layout {
    TENSOR_MAP_LAYOUT_NOT_ASKED,
    TENSOR_MAP_LAYOUT_OTHER,
    TENSOR_MAP_LAYOUT_KNOWN
};

/* Whether maps that this function encodes are read correctly. Calls it a few times; there must be a
 * current context. NOT_ASKED: the call failed. For NULL the result is OTHER. */
enum tensor_map_layout tensor_map_layout_ask(PFN_cuTensorMapEncodeTiled_v12000 encode);
/* The same for im2col maps, of which none was read so far. */
enum tensor_map_layout tensor_map_layout_ask_im2col(PFN_cuTensorMapEncodeIm2col_v12000 encode);

#endif
