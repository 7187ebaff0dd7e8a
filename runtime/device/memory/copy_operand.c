/* See copy_operand.h. */
#include "runtime/device/memory/copy_operand.h"

/* The last byte of the box, plus one, from its first; false on overflow. */
static bool span_of(const struct copy_operand *operand, const struct extent *extent, uint64_t *span)
{
    uint64_t rows, layers;
    return !(__builtin_mul_overflow(extent->height - 1, operand->pitch, &rows) ||
             __builtin_mul_overflow(extent->depth - 1, operand->slice, &layers) ||
             __builtin_add_overflow(rows, layers, span) ||
             __builtin_add_overflow(*span, extent->width, span));
}

bool copy_operand_is_valid(struct copy_operand *operand, const struct extent *extent)
{
    uint64_t span;
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
