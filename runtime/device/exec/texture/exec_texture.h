/* What instructions of textures and of surfaces share: the geometry in their names, the operand
 * "[object, {layer, x, y, z}]", and lanes that name the same object (PTX ISA sections 9.7.10 and
 * 9.7.11). */
#ifndef RUNTIME_DEVICE_EXEC_EXEC_TEXTURE_H
#define RUNTIME_DEVICE_EXEC_EXEC_TEXTURE_H

#include "runtime/device/exec/exec_decoder.h"

/* An object and where in it. */
struct texture_place {
    uint32_t handle;         /* slot of 64 bits */
    uint32_t layer;          /* slot of 32 bits, of layered ones */
    uint32_t coordinates[3]; /* slots of 32 bits */
    uint8_t shape;           /* enum exec_shape */
    uint8_t dimensions;      /* coordinates used */
    bool layered;
};

/* Whether the word is part of the mnemonic: "2d" of "tex.level.2d.v4.f32.f32". */
bool texture_says(const struct ptx_instruction *instruction, const char *word);

/* Reads the geometry from the mnemonic, and the slots from the address. False: a form that is not
 * supported. `cubes`: the geometries cube and acube are allowed. */
bool texture_place(struct decoder *decoder, const struct ptx_instruction *instruction,
                   const struct ptx_operand *address, bool cubes, struct texture_place *place);
/* Only the object, of "[object]". */
bool texture_handle(struct decoder *decoder, const struct ptx_operand *address, uint32_t *handle);

/* For each object that lanes of w->mask name, calls `run` with w->mask of the lanes that name it.
 * A handle without an object is an illegal instruction. */
typedef const struct exec_texture *texture_finder(void *user, uint64_t handle);
typedef int texture_run(struct warp *w, const struct micro *op, const struct exec_texture *texture);
int texture_lanes(struct warp *w, const struct micro *op, uint32_t handle, texture_finder *find,
                  texture_run *run);

#endif
