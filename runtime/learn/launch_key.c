/* Keys of launches. See launch_key.h. */
#include "runtime/learn/launch_key.h"

#include <stdlib.h>
#include <string.h>

struct signature_head {
    uint32_t grid[3], block[3], cluster[3], shared, parameter_bytes, anchor_count;
};

struct signature_anchor {
    uint32_t offset, kind;
    uint64_t identity;
};

_Static_assert(sizeof(struct signature_head) == 48 && sizeof(struct signature_anchor) == 16,
               "keys are compared as bytes, and kept in files");

static void blank(uint8_t *parameters, uint32_t bytes, const struct learn_anchor *anchor)
{
    uint32_t room = anchor->offset < bytes ? bytes - anchor->offset : 0;
    if (anchor->kind == LEARN_PARAMETER && room >= 8)
        memset(parameters + anchor->offset, 0, 8);
    else if (anchor->kind == LEARN_TENSOR_MAP)
        memset(parameters + anchor->offset, 0, room < anchor->bytes ? room : anchor->bytes);
}

static void fill(struct launch_key *key, const struct learn_launch *launch)
{
    struct signature_head head = {.shared = launch->shared,
                                  .parameter_bytes = launch->parameter_bytes,
                                  .anchor_count = launch->anchor_count};
    uint32_t parameter_words = (launch->parameter_bytes + 3) / 4;
    uint8_t *signature = (uint8_t *)key->words + sizeof head;
    uint32_t *scalars = key->words + key->signature_bytes / 4;
    memcpy(head.grid, launch->grid, sizeof head.grid);
    memcpy(head.block, launch->block, sizeof head.block);
    memcpy(head.cluster, launch->cluster, sizeof head.cluster);
    memcpy(key->words, &head, sizeof head);
    if (parameter_words) {
        scalars[parameter_words - 1] = 0; /* what is behind the last byte */
        memcpy(scalars, launch->parameters, launch->parameter_bytes);
    }
    for (uint32_t i = 0; i < launch->anchor_count; i++) {
        const struct learn_anchor *anchor = &launch->anchors[i];
        struct signature_anchor of_signature = {anchor->offset, anchor->kind, anchor->identity};
        memcpy(signature + i * sizeof of_signature, &of_signature, sizeof of_signature);
        blank((uint8_t *)scalars, launch->parameter_bytes, anchor);
        /* where a variable lies is the module's affair */
        scalars[parameter_words + i] =
            anchor->kind == LEARN_VARIABLE ? 0 : (uint32_t)anchor->address & 0xff;
    }
}

bool launch_key_make(struct launch_key *key, const struct learn_launch *launch)
{
    uint32_t count = launch->anchor_count;
    key->signature_bytes =
        (uint32_t)(sizeof(struct signature_head) + count * sizeof(struct signature_anchor));
    key->scalar_count = (launch->parameter_bytes + 3) / 4 + count;
    key->anchor_count = count;
    size_t bytes = key->signature_bytes + (size_t)key->scalar_count * 4;
    key->words = bytes <= sizeof key->room ? key->room : malloc(bytes);
    if (key->words)
        fill(key, launch);
    return key->words != NULL;
}

bool launch_key_copy(struct launch_key *to, const struct launch_key *key)
{
    size_t bytes = key->signature_bytes + (size_t)key->scalar_count * 4;
    to->signature_bytes = key->signature_bytes;
    to->scalar_count = key->scalar_count;
    to->anchor_count = key->anchor_count;
    to->words = bytes <= sizeof to->room ? to->room : malloc(bytes);
    if (to->words)
        memcpy(to->words, key->words, bytes);
    return to->words != NULL;
}

void launch_key_release(struct launch_key *key)
{
    if (key->words != key->room)
        free(key->words);
    key->words = NULL;
}

bool launch_key_read_signature(const void *signature, uint32_t bytes, struct learn_launch *launch,
                               struct learn_anchor *anchors)
{
    struct signature_head head;
    struct signature_anchor anchor;
    if (bytes < sizeof head)
        return false;
    memcpy(&head, signature, sizeof head);
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
        memcpy(&anchor, (const uint8_t *)signature + sizeof head + i * sizeof anchor,
               sizeof anchor);
        anchors[i] = (struct learn_anchor){
            .kind = (uint8_t)anchor.kind, .offset = anchor.offset, .identity = anchor.identity};
    }
    return true;
}
