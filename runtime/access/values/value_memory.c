/* .local and .param variables as values. See value_builder.h.
 *
 * A piece at a constant offset is a slot, and a slot is a variable as a register is. A memory that
 * is written through an address whose offset is not constant, or whose address goes where it cannot
 * be followed, is lost: what is read from it is unknown. Since that may be found out after
 * something was read, the graph is then built once more. */
#include "runtime/access/access_set.h"
#include "runtime/access/values/value_builder.h"

#include <string.h>

static struct node *node_at(struct builder *b, uint32_t node)
{
    return &b->graph->nodes[node];
}

struct memory *memory_of(struct builder *b, uint32_t node)
{
    return b->roots[node] ? &b->memories[b->roots[node] - 1] : NULL;
}

bool memory_place(struct builder *b, uint32_t node, int64_t *offset)
{
    const struct node *at = node_at(b, node);
    while (at->kind == NODE_EXIT || (at->kind == NODE_LOOP && at->b == node) ||
           (at->kind == NODE_JOIN && at->operand_count)) {
        /* what leads to one place alone; see the roots of joins */
        node = at->kind == NODE_JOIN ? at->operands[0] : at->a;
        at = node_at(b, node);
    }
    *offset = at->value;
    return at->kind == NODE_SYMBOL;
}

static bool was_lost(const struct builder *b, const struct ptx_variable *variable, uint32_t copy)
{
    for (size_t i = 0; i < b->lost_count; i++)
        if (b->lost[i].variable == variable && b->lost[i].copy == copy)
            return true;
    return false;
}

struct memory *memory_find_variable(struct builder *b, const struct ptx_variable *variable,
                                    uint32_t copy)
{
    for (size_t i = b->memory_count; i-- > 0;)
        if (b->memories[i].variable == variable && b->memories[i].copy == copy)
            return &b->memories[i];
    b->memories = ptx_arena_grow(&b->scratch, b->memories, b->memory_count, &b->memory_capacity,
                                 sizeof *b->memories);
    struct memory *memory = &b->memories[b->memory_count++];
    *memory =
        (struct memory){.variable = variable, .copy = copy, .lost = was_lost(b, variable, copy)};
    return memory;
}

void memory_lose(struct builder *b, struct memory *memory)
{
    if (memory->lost)
        return;
    memory->lost = true;
    b->lost =
        ptx_arena_grow(&b->scratch, b->lost, b->lost_count, &b->lost_capacity, sizeof *b->lost);
    b->lost[b->lost_count].variable = memory->variable;
    b->lost[b->lost_count++].copy = memory->copy;
    b->again = true;
}

void memory_escape(struct builder *b, uint32_t node)
{
    struct memory *memory = memory_of(b, node);
    if (memory)
        memory_lose(b, memory);
}

static struct slot *slot_find(struct memory *memory, int64_t offset, uint32_t bytes)
{
    for (size_t i = 0; i < memory->slot_count; i++)
        if (memory->slots[i].offset == offset && memory->slots[i].bytes == bytes)
            return &memory->slots[i];
    return NULL;
}

enum { SLOTS_MAX = 512 }; /* of one memory: a bigger one is an array, not variables */

static struct slot *slot_make(struct builder *b, struct memory *memory, int64_t offset,
                              uint32_t bytes)
{
    struct slot *slot = slot_find(memory, offset, bytes);
    if (slot)
        return slot;
    if (memory->slot_count == SLOTS_MAX || (memory->looked_up && b->graph->blocks[b->block].loop)) {
        memory_lose(b, memory); /* the second: that look-up might have seen this slot */
        return NULL;
    }
    uint32_t variable = variable_new(b, bytes * 8);
    memory->slots = ptx_arena_grow(&b->scratch, memory->slots, memory->slot_count,
                                   &memory->slot_capacity, sizeof *memory->slots);
    memory->slots[memory->slot_count] = (struct slot){offset, bytes, variable};
    return &memory->slots[memory->slot_count++];
}

uint32_t memory_read(struct builder *b, struct memory *memory, int64_t offset, uint32_t bytes)
{
    struct slot *slot = memory->lost || bytes > 8 ? NULL : slot_make(b, memory, offset, bytes);
    if (!slot)
        return node_any(b, bytes > 8 ? 64 : bytes * 8, ACCESS_BOUND_DATA);
    uint32_t node = variable_read(b, slot->variable, b->block);
    return node_use(b, node, b->graph->blocks[b->block].loop);
}

void memory_write(struct builder *b, struct memory *memory, int64_t offset, uint32_t bytes,
                  uint32_t node)
{
    struct slot *slot = memory->lost || bytes > 8 ? NULL : slot_make(b, memory, offset, bytes);
    if (!slot) {
        memory_escape(b, node);
        return;
    }
    uint32_t variable = slot->variable;
    if (node_at(b, node)->width != bytes * 8)
        node = node_extend(b, node, node_at(b, node)->width, bytes * 8, false);
    variable_write(b, variable, b->block, node);
    for (size_t i = 0; i < memory->slot_count; i++) {
        struct slot other = memory->slots[i];
        if (other.variable == variable || other.offset >= offset + bytes ||
            other.offset + other.bytes <= offset)
            continue;
        memory_escape(b, node);
        variable_write(b, other.variable, b->block,
                       node_any(b, other.bytes * 8, ACCESS_BOUND_DATA));
    }
}

/* A read at a computed offset: one of the slots of that size. */
uint32_t memory_look_up(struct builder *b, uint32_t address, uint32_t bytes)
{
    struct memory *memory = memory_of(b, address);
    uint32_t width = bytes > 8 ? 64 : bytes * 8, count = 0;
    if (memory->lost || bytes > 8)
        return node_any(b, width, ACCESS_BOUND_DATA);
    uint32_t *operands = ptx_arena_array(b->arena, memory->slot_count + 1, sizeof *operands);
    int64_t *offsets = ptx_arena_array(b->arena, memory->slot_count + 1, sizeof *offsets);
    for (size_t i = 0; i < memory->slot_count; i++) {
        struct slot slot = memory->slots[i];
        if (slot.bytes != bytes)
            continue;
        offsets[count] = slot.offset;
        operands[count] = memory_read(b, memory, slot.offset, bytes);
        memory_escape(b, operands[count]);
        memory = memory_of(b, address);
        count++;
    }
    memory->looked_up = true;
    uint32_t node = node_new(b, NODE_LOOKUP, width);
    struct node *to = node_at(b, node);
    to->a = address;
    to->operands = operands;
    to->offsets = offsets;
    to->operand_count = count;
    to->loop = b->graph->blocks[b->block].loop;
    return node;
}
