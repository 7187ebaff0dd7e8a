/* See copy_operand.h. */
#include "runtime/device/memory/copy_operand.h"

/* The last byte of the box, plus one, from its first; false on overflow. */
static bool span_of(const struct copy_operand *side, const struct extent *extent, uint64_t *span)
{
    uint64_t rows, layers;
    return !(__builtin_mul_overflow(extent->height - 1, side->pitch, &rows) ||
             __builtin_mul_overflow(extent->depth - 1, side->slice, &layers) ||
             __builtin_add_overflow(rows, layers, span) ||
             __builtin_add_overflow(*span, extent->width, span));
}

bool copy_operand_is_valid(struct copy_operand *side, const struct extent *extent)
{
    uint64_t span;
    side->memory = memory_at(side->address);
    if (!side->address || !span_of(side, extent, &span) || side->address + span < side->address)
        return false;
    if ((extent->height > 1 && side->pitch < extent->width) ||
        (extent->depth > 1 && side->slice < extent->width))
        return false;
    return side->memory.kind == MEMORY_PAGEABLE
               ? memory_is_mapped(side->address, span)
               : memory_contains(&side->memory, side->address, span);
}

bool copy_operand_is_host(const struct copy_operand *side)
{
    return side->memory.kind != MEMORY_DEVICE;
}
bool copy_operand_is_pageable(const struct copy_operand *side)
{
    return side->memory.kind == MEMORY_PAGEABLE;
}

bool copy_operand_always_waits(const struct CUctx_st *context, const struct copy_operand *side)
{
    return context->flags & CU_CTX_SYNC_MEMOPS || side->memory.sync_memops;
}
