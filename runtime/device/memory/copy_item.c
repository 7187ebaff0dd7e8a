/* See copy_item.h. Moves rows between device memory, pinned memory and the program's own. */
#include "runtime/device/memory/copy_item.h"
#include "csan/base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- Moving bytes -------------------------------------------------------------------------- */

/* Pageable memory is the program's and may be gone by now: let the kernel look before we touch. */
static bool guarded_copy(void *to, const void *from, size_t bytes, bool to_is_pageable)
{
    while (bytes) {
        struct iovec local = {to_is_pageable ? (void *)from : to, bytes};
        struct iovec remote = {to_is_pageable ? to : (void *)from, bytes};
        ssize_t moved = to_is_pageable ? process_vm_writev(getpid(), &local, 1, &remote, 1, 0)
                                       : process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
        if (moved < 0 && (errno == ENOSYS || errno == EPERM)) {
            memmove(to, from, bytes); /* a sandbox forbids looking */
            return true;
        }
        if (moved <= 0)
            return false;
        to = (char *)to + moved;
        from = (const char *)from + moved;
        bytes -= (size_t)moved;
    }
    return true;
}

static bool copy_bytes(const struct copy_operand *to, const struct copy_operand *from,
                       uint64_t to_offset, uint64_t from_offset, size_t bytes)
{
    void *target = memory_pointer(to->address + to_offset);
    const void *source = memory_pointer(from->address + from_offset);
    bool pageable_target = to->memory.kind == MEMORY_PAGEABLE;
    if (!pageable_target && from->memory.kind != MEMORY_PAGEABLE) {
        memmove(target, source, bytes);
        return true;
    }
    return guarded_copy(target, source, bytes, pageable_target);
}

static bool is_linear(const struct copy_operand *operand, const struct extent *extent)
{
    return (extent->height == 1 || operand->pitch == extent->width) &&
           (extent->depth == 1 || operand->slice == extent->width * extent->height);
}

static bool copy_box(const struct copy_operand *to, const struct copy_operand *from,
                     const struct extent *extent)
{
    if (is_linear(to, extent) && is_linear(from, extent))
        return copy_bytes(to, from, 0, 0, extent->width * extent->height * extent->depth);
    for (size_t z = 0; z < extent->depth; z++)
        for (size_t y = 0; y < extent->height; y++)
            if (!copy_bytes(to, from, z * to->slice + y * to->pitch,
                            z * from->slice + y * from->pitch, extent->width))
                return false;
    return true;
}

/* What the host gets to see. */
static void report_outcome(const struct copy_item *copy)
{
    const struct extent *extent = &copy->extent;
    uint64_t hash = 0;
    for (size_t z = 0; z < extent->depth; z++)
        for (size_t y = 0; y < extent->height; y++) {
            uint64_t row = copy->from.address + z * copy->from.slice + y * copy->from.pitch;
            hash = hash_mix_bytes(hash, memory_pointer(row), extent->width);
        }
    outcome_copy(copy->item.sequence, hash);
}

static enum step copy_step(struct item *item)
{
    struct copy_item *copy = (struct copy_item *)item;
    if (outcome_wanted() && copy->to.memory.kind != MEMORY_DEVICE &&
        copy->from.memory.kind != MEMORY_PAGEABLE)
        report_outcome(copy);
    if (copy_box(&copy->to, &copy->from, &copy->extent))
        return STEP_DONE;
    device_say("an asynchronous copy found its pageable memory gone (from 0x%llx to 0x%llx)",
               (unsigned long long)copy->from.address, (unsigned long long)copy->to.address);
    item->context_error = CUDA_ERROR_ILLEGAL_ADDRESS;
    return STEP_FAULT;
}

static void copy_discard(struct item *item)
{
    struct copy_item *copy = (struct copy_item *)item;
    device.host_writers -= copy->writes_host;
    free(copy->staged);
    free(copy);
}

static struct item *copy_again(const struct item *item);

struct copy_item *copy_item_create(const struct copy_operand *to, const struct copy_operand *from,
                                   const struct extent *extent)
{
    struct copy_item *copy = calloc(1, sizeof *copy);
    if (!copy)
        return NULL;
    copy->item.step = copy_step;
    copy->item.discard = copy_discard;
    copy->item.again = copy_again;
    copy->to = *to;
    copy->from = *from;
    copy->extent = *extent;
    return copy;
}

void copy_item_count(struct copy_item *copy)
{
    copy->writes_host = copy->to.memory.kind == MEMORY_PAGEABLE;
    device.host_writers += copy->writes_host;
}

static struct item *copy_again(const struct item *item)
{
    const struct copy_item *copy = (const struct copy_item *)item;
    struct copy_item *fresh = copy_item_create(&copy->to, &copy->from, &copy->extent);
    if (fresh)
        copy_item_count(fresh);
    return fresh ? &fresh->item : NULL;
}

bool copy_item_stage(struct copy_item *copy)
{
    const struct extent *extent = &copy->extent;
    copy->staged = malloc(extent->width * extent->height * extent->depth);
    if (!copy->staged)
        return false;
    struct copy_operand packed = {.address = (uint64_t)copy->staged,
                                  .pitch = extent->width,
                                  .slice = extent->width * extent->height,
                                  .memory.kind = MEMORY_HOST};
    if (!copy_box(&packed, &copy->from, extent))
        return false;
    copy->from = packed;
    return true;
}
