/* Textures, surfaces and tensor maps, with the memory under each. Textures and surfaces are known
 * by the driver's handle, from creation to destruction. A tensor map is 128 bytes that the program
 * copies where it likes, and is known by these bytes.
 *
 * No kernel, and no copy of linear memory, can reach a CUDA array by an address. So an object over
 * an array that csan did not see created meets no other access that csan sees.
 *
 * Owns its tables. Thread-safe, with a lock of its own that is taken last. Launches use it. */
#ifndef RUNTIME_HOOK_STATE_OBJECT_TABLE_H
#define RUNTIME_HOOK_STATE_OBJECT_TABLE_H

#include <csan/csan.h>
#include "runtime/access/instruction_accesses.h"
#include "runtime/hook/interpose/driver.h"

enum { OBJECT_HANDLE_BYTES = 8, OBJECT_TENSOR_MAP_BYTES = 128, OBJECT_MAX_DIMS = 4 };

enum object_answer {
    OBJECT_UNKNOWN, /* no object that csan saw */
    OBJECT_NONE,    /* the null handle, or a tensor map of zeros: no memory */
    OBJECT_ARRAY,   /* over a CUDA array */
    OBJECT_MEMORY
};

/* The bytes [base + sum(i_k * stride_k), + bytes) for 0 <= i_k < count_k. */
struct object_memory {
    uint64_t base;
    uint64_t bytes; /* > 0, or CSAN_TO_END */
    struct csan_dim dims[OBJECT_MAX_DIMS];
    uint8_t dim_count;
    uint8_t element_bytes; /* for a tensor's element; 0: it has fewer than 8 bits, or there is no
                              tensor */
    uint64_t description;  /* of a texture or surface: object_address.h; else 0 */
    uint64_t identity;     /* for a tensor map: hash of its encoding's arguments, or of its bytes,
                              without the address; else 0 */
};

/* The bytes that name an object of this kind (enum instruction_access_object); 0: there is no such
 * kind. */
uint32_t object_name_bytes(uint8_t kind);

/* Whether any tensor map is known. */
bool object_has_tensor_maps(void);

/* What lies under the object that these bytes name; fills *memory for OBJECT_MEMORY. */
enum object_answer object_find(uint8_t kind, const void *name, struct object_memory *memory);

/* What lies under a tensor map whose encoding nobody saw, by its first 64 bytes (tensor_map.h).
 * There must be a current context. False: the bytes are no known map. */
bool object_read_tensor_map(const void *bytes, struct object_memory *memory);
/* Whether that can read maps of every kind that the driver encodes. */
bool object_reads_tensor_maps(void);

/* ---- Filling the tables ---- */

/* A texture or surface with that handle was made. Does nothing without a resource. */
/* The byte of its description (runtime/trace/object_address.h), or 0. */
uint64_t object_view_description(uint8_t kind, uint64_t handle);
void object_view_made(uint8_t kind, uint64_t handle, const CUDA_RESOURCE_DESC *resource);
/* Call these around the call that destroys it, since the handle may be given out again as soon as
 * that is done. The first returns what was taken out, or NULL. The second puts it back unless it is
 * `gone`. */
struct object_view *object_view_take_out(uint8_t kind, uint64_t handle);
void object_view_destroyed(struct object_view *view, bool gone);

/* An encoding's arguments beside the tensor: the box, and how elements are chosen and arranged. */
struct object_box {
    const cuuint32_t *sizes, *element_strides; /* rank many; sizes: NULL for im2col */
    const int *lower, *upper;                  /* rank - 2 many, or NULL */
    uint32_t numbers[8];
};
struct tensor;
struct object_memory object_of_tensor(const struct tensor *tensor, const struct object_box *box);
/* The tensor map of these bytes was made. */
void object_tensor_map_made(const CUtensorMap *name, const struct object_memory *memory);

#endif
