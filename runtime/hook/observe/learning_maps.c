/* Tensor maps of a launch. See learning_maps.h. */
#include "runtime/hook/observe/learning_maps.h"
#include "runtime/hook/observe/learning.h"
#include "runtime/hook/observe/learning_parts.h"
#include "runtime/hook/state/object_table.h"
#include "runtime/hook/state/tensor_map.h"
#include "runtime/sass/map_use.h"

#include <string.h>

static struct learn_block block_at(uint64_t address)
{
    struct learn_block block = learning_find_block(NULL, address);
    return block.end ? block : (struct learn_block){address, address + 1};
}

/* CUDA Driver API, CUtensorMap: aligned to 64 bytes. */
uint32_t learning_maps_find(const uint8_t *parameters, uint32_t bytes, struct learn_anchor *anchors,
                            uint32_t capacity)
{
    uint32_t count = 0;
    struct object_memory memory;
    for (uint32_t at = 0; at + OBJECT_TENSOR_MAP_BYTES <= bytes && count < capacity; at += 64) {
        if (object_find(INSTRUCTION_ACCESS_OBJECT_TENSOR_MAP, parameters + at, &memory) !=
            OBJECT_MEMORY)
            continue;
        anchors[count++] = (struct learn_anchor){.kind = LEARN_TENSOR_MAP,
                                                 .bytes = OBJECT_TENSOR_MAP_BYTES,
                                                 .offset = at,
                                                 .identity = memory.identity,
                                                 .address = memory.base,
                                                 .block = block_at(memory.base)};
    }
    return count;
}

/* Ranges have two dimensions: of more, one is taken apart, that with the fewest. False: it is too
 * much. */
static bool mapped_put(struct learning *learning, const struct object_memory *memory,
                       enum device_trace_kind kind)
{
    struct device_trace_range range = {
        .address = memory->base, .bytes = memory->bytes, .kind = kind};
    uint8_t apart = memory->dim_count;
    for (uint8_t k = 0; memory->dim_count == 3 && k < 3; k++)
        if (apart == 3 || memory->dims[k].count < memory->dims[apart].count)
            apart = k;
    for (uint8_t k = memory->dim_count; k-- > 0 && memory->dim_count <= 3;) { /* outermost first */
        if (k == apart)
            continue;
        range.stride[range.dims] = (uint64_t)memory->dims[k].stride;
        range.count[range.dims++] = memory->dims[k].count;
    }
    const bool is_apart = apart < memory->dim_count;
    const uint64_t parts = is_apart ? memory->dims[apart].count : 1;
    if (memory->dim_count > 3 || parts > LEARNING_MAPPED - learning->mapped_count)
        return false;
    for (uint64_t part = 0; part < parts; part++) {
        learning->mapped[learning->mapped_count++] = range;
        range.address += is_apart ? (uint64_t)memory->dims[apart].stride : 0;
    }
    return true;
}

/* UINT64_MAX: beyond all. */
static uint64_t memory_end(const struct object_memory *memory)
{
    uint64_t end, reach;
    bool overflows = __builtin_add_overflow(memory->base, memory->bytes, &end);
    for (uint8_t i = 0; i < memory->dim_count; i++)
        overflows |= __builtin_mul_overflow((uint64_t)memory->dims[i].stride,
                                            memory->dims[i].count - 1, &reach) ||
                     __builtin_add_overflow(end, reach, &end);
    return overflows ? UINT64_MAX : end;
}

/* A map may be of more memory than there is, for a kernel that keeps its own bounds: the batch's
 * pointers are coordinates then. */
static bool map_place(struct learning *learning, const struct map_use *map,
                      struct learn_anchor *anchor)
{
    struct object_memory memory;
    const uint8_t *at = learning->parameters + map->offset;
    if (!object_read_tensor_map(at, &memory) || memory.bytes == CSAN_TO_END)
        return false;
    *anchor = (struct learn_anchor){.kind = LEARN_TENSOR_MAP,
                                    .bytes = TENSOR_MAP_READ_BYTES,
                                    .offset = map->offset,
                                    .identity = memory.identity,
                                    .address = memory.base,
                                    .block = learning_find_block(NULL, memory.base)};
    if (memory.base < anchor->block.start || memory_end(&memory) > anchor->block.end)
        return false;
    return (!(map->copies & MAP_READS) || mapped_put(learning, &memory, DEVICE_TRACE_READ)) &&
           (!(map->copies & MAP_STORES) || mapped_put(learning, &memory, DEVICE_TRACE_WRITE)) &&
           (!(map->copies & MAP_REDUCES) || mapped_put(learning, &memory, DEVICE_TRACE_ATOMIC));
}

_Static_assert((int)TENSOR_MAP_READ_BYTES == (int)MAP_USE_BYTES,
               "what a kernel copies through is what is read");

/* What the kernel does with each 64 bytes of the parameters; maps may lie side by side. */
enum { SLOTS_MOST = 512 };
struct slots {
    struct map_use maps[SLOTS_MOST]; /* by offset; of those that are none nothing is said */
    uint32_t count;
};

/* False: another one begins within the same 64 bytes, or it lies too far behind. */
static bool slot_add(struct slots *slots, const struct map_use *map, uint32_t offset)
{
    const uint32_t at = offset / TENSOR_MAP_READ_BYTES;
    if (at >= SLOTS_MOST)
        return false;
    for (; slots->count <= at; slots->count++)
        slots->maps[slots->count] = (struct map_use){0};
    struct map_use *slot = &slots->maps[at];
    if (slot->copies && slot->offset != offset)
        return false;
    slot->offset = offset;
    slot->copies |= map->copies;
    return true;
}

static bool is_zero(const struct learning *learning, uint32_t offset)
{
    static const uint8_t zeros[TENSOR_MAP_READ_BYTES];
    return memcmp(learning->parameters + offset, zeros, sizeof zeros) == 0;
}

/* Nobody says where an array ends: what else lies behind it reads as no map, nor do elements that
 * this launch leaves out. False: its first is something else, or too far behind. */
static bool array_add(struct slots *slots, const struct learning *learning,
                      const struct map_use *map)
{
    struct object_memory memory;
    const bool begins = object_reads_tensor_maps() &&
                        (is_zero(learning, map->offset) ||
                         object_read_tensor_map(learning->parameters + map->offset, &memory));
    for (uint32_t at = map->offset;
         begins && at + TENSOR_MAP_READ_BYTES <= learning->launch.parameter_bytes; at += map->every)
        if (object_read_tensor_map(learning->parameters + at, &memory) && !slot_add(slots, map, at))
            return false;
    return begins;
}

/* Those that are nothing but zeros are there for other launches. */
bool learning_maps_place(struct learning *learning, const struct map_use *maps, uint32_t map_count,
                         uint32_t capacity, uint32_t *count)
{
    struct slots slots;
    slots.count = 0;
    for (uint32_t i = 0; i < map_count; i++) {
        const struct map_use *map = &maps[i];
        if (map->offset + TENSOR_MAP_READ_BYTES > learning->launch.parameter_bytes ||
            !(map->every ? array_add(&slots, learning, map) : slot_add(&slots, map, map->offset)))
            return false;
    }
    for (uint32_t i = 0; i < slots.count; i++) {
        const struct map_use *map = &slots.maps[i];
        if (!map->copies || is_zero(learning, map->offset))
            continue;
        if (*count == capacity || !map_place(learning, map, &learning->anchors[*count]))
            return false;
        ++*count;
    }
    return true;
}
