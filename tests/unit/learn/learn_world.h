/* What the tests of learning share: memory made of blocks, launches with pointers into them, traces
 * of bytes. */
#ifndef TESTS_UNIT_LEARN_LEARN_WORLD_H
#define TESTS_UNIT_LEARN_LEARN_WORLD_H

#include "runtime/learn/learned_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORLD_BLOCKS = 128, WORLD_PARAMETERS = 4096, WORLD_RANGES = 4096 };

struct world {
    struct learn_block blocks[WORLD_BLOCKS];
    size_t block_count;
    struct learn_anchor anchors[LEARN_MAX_ANCHORS];
    uint8_t parameters[WORLD_PARAMETERS];
    struct learn_launch launch;
    struct device_trace_range ranges[WORLD_RANGES];
    struct device_trace_launch trace;
};

static inline struct learn_block world_find(void *user, uint64_t address)
{
    const struct world *world = user;
    for (size_t i = 0; i < world->block_count; i++)
        if (address - world->blocks[i].start < world->blocks[i].end - world->blocks[i].start)
            return world->blocks[i];
    return (struct learn_block){0};
}

/* A launch of one block with no parameters yet. */
static inline void world_begin(struct world *world)
{
    memset(&world->launch, 0, sizeof world->launch);
    memset(world->parameters, 0, sizeof world->parameters);
    world->launch.grid[0] = world->launch.grid[1] = world->launch.grid[2] = 1;
    world->launch.block[0] = 32;
    world->launch.block[1] = world->launch.block[2] = 1;
    world->launch.parameters = world->parameters;
    world->launch.anchors = world->anchors;
    world->trace = (struct device_trace_launch){.ranges = world->ranges};
}

static inline uint64_t world_block(struct world *world, uint64_t start, uint64_t bytes)
{
    assert_true(world->block_count < WORLD_BLOCKS);
    world->blocks[world->block_count++] = (struct learn_block){start, start + bytes};
    return start;
}

static inline void world_parameter(struct world *world, const void *value, uint32_t bytes)
{
    uint32_t at = (world->launch.parameter_bytes + bytes - 1) / bytes * bytes;
    assert_true(at + bytes <= WORLD_PARAMETERS);
    memcpy(world->parameters + at, value, bytes);
    world->launch.parameter_bytes = at + bytes;
}
static inline void world_pointer(struct world *world, uint64_t value)
{
    world_parameter(world, &value, sizeof value);
}
static inline void world_number(struct world *world, uint32_t value)
{
    world_parameter(world, &value, sizeof value);
}
static inline void world_find_all(void *user, const uint64_t *addresses, uint32_t count,
                                  struct learn_block *blocks)
{
    for (uint32_t i = 0; i < count; i++) {
        blocks[i] = world_find(user, addresses[i]);
        if (blocks[i].end)
            continue;
        blocks[i] = world_find(user, addresses[i] - 1);
        if (blocks[i].end != addresses[i])
            blocks[i] = (struct learn_block){0, 0};
    }
}
/* After the last parameter. */
static inline void world_anchors(struct world *world)
{
    world->launch.anchor_count = learn_find_pointers(
        world->parameters, world->launch.parameter_bytes, (struct learn_block){0, UINT64_MAX},
        world_find_all, world, world->anchors, 0, LEARN_MAX_ANCHORS);
}

static inline void world_touch(struct world *world, uint32_t kind, uint64_t address, uint64_t bytes)
{
    assert_true(world->trace.count < WORLD_RANGES);
    world->ranges[world->trace.count++] =
        (struct device_trace_range){.address = address, .bytes = bytes, .kind = kind};
}
static inline void world_touch_rows(struct world *world, uint32_t kind, uint64_t address,
                                    uint64_t bytes, uint64_t stride, uint64_t count)
{
    world_touch(world, kind, address, bytes);
    struct device_trace_range *range = &world->ranges[world->trace.count - 1];
    range->dims = 1;
    range->stride[0] = stride;
    range->count[0] = count;
}

static inline struct learned_set *world_set(struct world *world)
{
    struct learned_set *set = learned_set_create(&world->trace, &world->launch, world_find, world);
    assert_non_null(set);
    return set;
}

/* Marks what the set touches in this launch: bit 1 << kind of each byte of [base, base + bytes). */
static inline void world_mark(const struct world *world, const struct learned_set *set,
                              uint64_t base, uint8_t *marks, uint64_t bytes)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const struct learned_range *range = &set->ranges[i];
        uint64_t address = learned_range_address(range, &world->launch), index[LEARNED_DIMS] = {0};
        uint64_t length = range->bytes;
        if (range->whole) {
            const struct learn_block *block = &world->launch.anchors[range->anchor].block;
            length = block->end - block->start;
        }
        for (bool more = true; more;) {
            uint64_t at = address;
            for (uint8_t k = 0; k < range->dims; k++)
                at += index[k] * range->stride[k];
            for (uint64_t k = 0; k < length; k++)
                if (at + k - base < bytes)
                    marks[at + k - base] |= (uint8_t)(1u << range->kind);
            more = false;
            for (int k = range->dims - 1; k >= 0 && !more; k--) {
                more = ++index[k] < range->count[k];
                if (!more)
                    index[k] = 0;
            }
        }
    }
}

/* xorshift64*: Vigna, ACM TOMS 42(4), 2016. */
static inline uint64_t world_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}
static inline uint64_t world_below(uint64_t *state, uint64_t limit)
{
    return world_random(state) % limit;
}

#endif
