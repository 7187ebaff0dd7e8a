/* A copy as an item of a stream: what runs when the schedule says so. With the device's lock held.
 */
#ifndef RUNTIME_DEVICE_MEMORY_COPY_ITEM_H
#define RUNTIME_DEVICE_MEMORY_COPY_ITEM_H

#include "runtime/device/memory/copy_operand.h"

struct copy_item {
    struct item item;
    struct copy_operand to, from;
    struct extent extent;
    void *staged;     /* what `from` points to, when it was staged */
    bool writes_host; /* counted in device.host_writers */
};

/* NULL: memory is short. */
struct copy_item *copy_item_create(const struct copy_operand *to, const struct copy_operand *from,
                                   const struct extent *extent);
/* It is about to be enqueued. */
void copy_item_count(struct copy_item *copy);
/* Packs the source into memory of the device's own. False: memory is short (copy->staged is NULL),
 * or the source cannot be read. */
bool copy_item_stage(struct copy_item *copy);

#endif
