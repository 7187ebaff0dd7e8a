/* Keys of launches. See launch_key.h. */
#include "runtime/learn/launch_key.h"

#include <stdlib.h>
#include <string.h>

struct shape_head {
    uint32_t grid[3], block[3], cluster[3], shared, parameter_bytes, anchor_count;
};

struct shape_anchor {
    uint32_t offset;
    uint16_t leader; /* the first anchor in the same block */
    uint16_t kind;
    uint64_t told;
};

_Static_assert(sizeof(struct shape_head) == 48 && sizeof(struct shape_anchor) == 16,
               "keys are compared as bytes, and kept in files");

struct relation {
    uint8_t lowest;
    uint8_t distance[8]; /* to the leader */
};

static uint16_t leader_of(const struct learn_launch *launch, uint32_t index)
{
    const struct learn_block *block = &launch->anchors[index].block;
    for (uint32_t i = 0; i < index; i++)
        if (launch->anchors[i].block.start == block->start &&
            launch->anchors[i].block.end == block->end)
            return (uint16_t)i;
    return (uint16_t)index;
}

static void blank(uint8_t *parameters, uint32_t bytes, const struct learn_anchor *anchor)
{
    uint32_t own = anchor->kind == LEARN_PARAMETER    ? 8
                   : anchor->kind == LEARN_TENSOR_MAP ? LEARN_TENSOR_MAP_BYTES
                                                      : 0;
    if (own && anchor->offset < bytes)
        memset(parameters + anchor->offset, 0,
               own < bytes - anchor->offset ? own : bytes - anchor->offset);
}

/* Where a variable lies is the module's affair. */
static struct relation relation_of(const struct learn_launch *launch, uint32_t index,
                                   uint16_t leader)
{
    const struct learn_anchor *anchor = &launch->anchors[index];
    struct relation relation = {0};
    if (anchor->kind == LEARN_VARIABLE)
        return relation;
    uint64_t distance = anchor->address - launch->anchors[leader].address;
    relation.lowest = (uint8_t)anchor->address;
    memcpy(relation.distance, &distance, sizeof distance);
    return relation;
}

bool launch_key_make(struct launch_key *key, const struct learn_launch *launch)
{
    uint32_t count = launch->anchor_count, bytes = launch->parameter_bytes;
    size_t shape_bytes = sizeof(struct shape_head) + count * sizeof(struct shape_anchor);
    size_t scalar_bytes = bytes + count * sizeof(struct relation);
    key->bytes = shape_bytes + scalar_bytes <= sizeof key->room
                     ? key->room
                     : malloc(shape_bytes + scalar_bytes);
    if (!key->bytes)
        return false;
    key->shape_bytes = (uint32_t)shape_bytes;
    key->scalar_bytes = (uint32_t)scalar_bytes;
    key->anchor_count = count;
    struct shape_head head = {
        .shared = launch->shared, .parameter_bytes = bytes, .anchor_count = count};
    memcpy(head.grid, launch->grid, sizeof head.grid);
    memcpy(head.block, launch->block, sizeof head.block);
    memcpy(head.cluster, launch->cluster, sizeof head.cluster);
    memcpy(key->bytes, &head, sizeof head);
    uint8_t *shape = key->bytes + sizeof head, *scalars = key->bytes + shape_bytes;
    if (bytes)
        memcpy(scalars, launch->parameters, bytes);
    for (uint32_t i = 0; i < count; i++) {
        const struct learn_anchor *anchor = &launch->anchors[i];
        uint16_t leader = leader_of(launch, i);
        struct shape_anchor of_shape = {anchor->offset, leader, anchor->kind, anchor->told};
        struct relation relation = relation_of(launch, i, leader);
        memcpy(shape + i * sizeof of_shape, &of_shape, sizeof of_shape);
        blank(scalars, bytes, anchor);
        memcpy(scalars + bytes + i * sizeof relation, &relation, sizeof relation);
    }
    return true;
}

bool launch_key_copy(struct launch_key *to, const struct launch_key *key)
{
    size_t bytes = (size_t)key->shape_bytes + key->scalar_bytes;
    to->shape_bytes = key->shape_bytes;
    to->scalar_bytes = key->scalar_bytes;
    to->anchor_count = key->anchor_count;
    to->bytes = bytes <= sizeof to->room ? to->room : malloc(bytes);
    if (to->bytes)
        memcpy(to->bytes, key->bytes, bytes);
    return to->bytes != NULL;
}

void launch_key_release(struct launch_key *key)
{
    if (key->bytes != key->room)
        free(key->bytes);
    key->bytes = NULL;
}

bool launch_key_read_shape(const uint8_t *shape, uint32_t bytes, struct learn_launch *launch,
                           struct learn_anchor *anchors)
{
    struct shape_head head;
    struct shape_anchor anchor;
    if (bytes < sizeof head)
        return false;
    memcpy(&head, shape, sizeof head);
    if (head.anchor_count > LEARN_MAX_ANCHORS ||
        bytes != sizeof head + head.anchor_count * sizeof anchor)
        return false;
    *launch = (struct learn_launch){.shared = head.shared,
                                    .parameter_bytes = head.parameter_bytes,
                                    .anchors = anchors,
                                    .anchor_count = head.anchor_count};
    memcpy(launch->grid, head.grid, sizeof head.grid);
    memcpy(launch->block, head.block, sizeof head.block);
    memcpy(launch->cluster, head.cluster, sizeof head.cluster);
    for (uint32_t i = 0; i < head.anchor_count; i++) {
        memcpy(&anchor, shape + sizeof head + i * sizeof anchor, sizeof anchor);
        anchors[i] = (struct learn_anchor){
            .kind = (uint8_t)anchor.kind, .offset = anchor.offset, .told = anchor.told};
    }
    return true;
}
