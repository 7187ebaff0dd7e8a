/* See copy_operand.h. */
#include "runtime/device/memory/copy_operand.h"
#include "runtime/device/memory/array.h"

/* The last byte of the box, plus one, from its first; false on overflow. */
static bool span_of(const struct copy_operand *operand, const struct extent *extent, uint64_t *span)
{
    uint64_t rows, layers;
    return !(__builtin_mul_overflow(extent->height - 1, operand->pitch, &rows) ||
             __builtin_mul_overflow(extent->depth - 1, operand->slice, &layers) ||
             __builtin_add_overflow(rows, layers, span) ||
             __builtin_add_overflow(*span, extent->width, span));
}

static bool is_part(size_t first, size_t count, uint64_t limit)
{
    return first <= limit && count <= limit - first;
}

/* Where the box lies in its array. False: not inside it. */
static bool place_in_array(struct copy_operand *operand, const struct extent *extent)
{
    const struct CUarray_st *array = array_of(operand->array);
    if (!array)
        return false;
    const struct exec_level *level = &array->level;
    operand->pitch = level->pitch;
    operand->slice = level->slice;
    operand->address =
        level->base + operand->z * level->slice + operand->y * level->pitch + operand->x;
    return is_part(operand->x, extent->width, level->width * array_element_bytes(array)) &&
           is_part(operand->y, extent->height, level->height) &&
           is_part(operand->z, extent->depth, level->depth);
}

bool copy_operand_is_valid(struct copy_operand *operand, const struct extent *extent)
{
    uint64_t span;
    if (operand->array && !place_in_array(operand, extent))
        return false;
    operand->memory = memory_at(operand->address);
    if (!operand->address || !span_of(operand, extent, &span) ||
        operand->address + span < operand->address)
        return false;
    if ((extent->height > 1 && operand->pitch < extent->width) ||
        (extent->depth > 1 && operand->slice < extent->width))
        return false;
    return operand->memory.kind == MEMORY_PAGEABLE
               ? memory_is_mapped(operand->address, span)
               : memory_contains(&operand->memory, operand->address, span);
}

bool copy_operand_is_host(const struct copy_operand *operand)
{
    return operand->memory.kind != MEMORY_DEVICE;
}
bool copy_operand_is_pageable(const struct copy_operand *operand)
{
    return operand->memory.kind == MEMORY_PAGEABLE;
}

bool copy_operand_always_waits(const struct CUctx_st *context, const struct copy_operand *operand)
{
    return context->flags & CU_CTX_SYNC_MEMOPS || operand->memory.sync_memops;
}
