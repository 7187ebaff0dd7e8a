/* One side of a copy or a set: rows of a box in memory, and the kind of that memory. */
#ifndef RUNTIME_DEVICE_MEMORY_COPY_OPERAND_H
#define RUNTIME_DEVICE_MEMORY_COPY_OPERAND_H

#include "runtime/device/driver/graph/graph.h"

struct copy_operand {
    uint64_t address;
    size_t pitch, slice; /* bytes from row to row, from layer to layer */
    struct memory memory;
    CUarray array;  /* that it is in; or NULL */
    size_t x, y, z; /* where in it; x in bytes */
};

struct extent {
    size_t width, height, depth; /* width in bytes */
};

/* Looks its memory up. False: the box is not inside it, or rows overlap. */
bool copy_operand_is_valid(struct copy_operand *operand, const struct extent *extent);
bool copy_operand_is_host(const struct copy_operand *operand);
bool copy_operand_is_pageable(const struct copy_operand *operand);
/* CU_CTX_SYNC_MEMOPS: "synchronous memory operations initiated on this context will always
 * synchronize". The attribute of the same name says this of one allocation. */
bool copy_operand_always_waits(const struct CUctx_st *context, const struct copy_operand *operand);

#endif
