/* Textures, surfaces and tensor maps: which memory lies under each. The first two are remembered by
 * the handle the driver gave, from their creation to their destruction; a tensor map is 128 bytes
 * that the program copies where it likes, and is remembered by these bytes.
 *
 * A CUDA array has no address that a kernel or a copy of linear memory could reach, so an object
 * over an array meets no other access that csan sees.
 *
 * Owns its tables. Thread-safe, with a lock of its own that is taken last. Asked by launches. */
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
    uint8_t element_bytes; /* of a tensor's element; 0: fewer than 8 bits, or no tensor */
    uint64_t identity;     /* of a tensor map: hash of its encoding's arguments, or of its bytes,
                              without the address; else 0 */
};

/* The bytes that name an object of this kind (enum instruction_access_object); 0: there is no such
 * kind. */
uint32_t object_name_bytes(uint8_t kind);

/* Whether any tensor map is known. */
bool object_has_tensor_maps(void);

/* What is under the object that these bytes name; *memory is filled for OBJECT_MEMORY. */
enum object_answer object_find(uint8_t kind, const void *name, struct object_memory *memory);

/* What is under a tensor map that nobody was seen to encode, by its first 64 bytes
 * (tensor_map.h). There must be a current context. False: they are none that is known. */
bool object_read_tensor_map(const void *bytes, struct object_memory *memory);
/* Whether that reads maps of every kind that the driver encodes. */
bool object_reads_tensor_maps(void);

/* ---- Filling the tables ---- */

/* A texture or surface of that handle was made; nothing without a resource. */
void object_view_made(uint8_t kind, uint64_t handle, const CUDA_RESOURCE_DESC *resource);
/* Around the call that destroys it, since the handle may be given out again as soon as that is
 * through: what was taken out, or NULL; it is put back unless it is `gone`. */
struct object_view *object_view_take_out(uint8_t kind, uint64_t handle);
void object_view_destroyed(struct object_view *view, bool gone);

/* An encoding's arguments beside the tensor: the box, how elements are picked and arranged. */
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
