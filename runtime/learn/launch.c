/* Pointers among parameters. See launch.h. */
#include "runtime/learn/launch.h"

#include <string.h>

/* Nothing lies below (Linux, vm.mmap_min_addr), and no device's addresses are longer. */
#define LOWEST_POINTER  (UINT64_C(1) << 16)
#define HIGHEST_POINTER (UINT64_C(1) << 57)

static bool is_taken(const struct learn_anchor *anchors, uint32_t count, uint32_t offset)
{
    for (uint32_t i = 0; i < count; i++)
        if (anchors[i].kind == LEARN_TENSOR_MAP &&
            offset - anchors[i].offset < LEARN_TENSOR_MAP_BYTES)
            return true;
    return false;
}

/* A pointer to the end of a block belongs to it, unless another block begins there: then there is
 * no telling, and the first byte behind is likelier to be meant. */
static struct learn_block block_of(uint64_t value, learn_find_block *find, void *user)
{
    struct learn_block block = find(user, value);
    if (block.end)
        return block;
    block = find(user, value - 1);
    return block.end == value ? block : (struct learn_block){0};
}

uint32_t learn_find_pointers(const uint8_t *parameters, uint32_t bytes, learn_find_block *find,
                             void *user, struct learn_anchor *anchors, uint32_t count,
                             uint32_t capacity)
{
    uint32_t maps = count;
    for (uint32_t at = 0; at + 8 <= bytes && count < capacity; at += 8) {
        uint64_t value;
        memcpy(&value, parameters + at, sizeof value);
        if (value < LOWEST_POINTER || value >= HIGHEST_POINTER || is_taken(anchors, maps, at))
            continue;
        struct learn_block block = block_of(value, find, user);
        if (block.end)
            anchors[count++] = (struct learn_anchor){
                .kind = LEARN_PARAMETER, .offset = at, .address = value, .block = block};
    }
    return count;
}
