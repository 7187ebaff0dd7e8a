/* Nodes, and which node a variable is in a block. See value_builder.h. */
#include "csan/base/hash.h"
#include "runtime/access/access_set.h"
#include "runtime/access/values/value_builder.h"

#include <string.h>

/* ---- Nodes ---- */

static struct node *node_at(struct builder *b, uint32_t node)
{
    return &b->graph->nodes[node];
}

static uint32_t block_loop(const struct builder *b, uint32_t block)
{
    return b->graph->blocks[block].loop;
}

/* In all goes together: a block of many ways joins every variable that is read behind it. Some 200
 * ns for one. */
enum { GRAPH_NODES = 20000 };

uint32_t node_new(struct builder *b, enum node_kind kind, uint32_t width)
{
    struct value_graph *graph = b->graph;
    if (graph->node_count + b->spent >= GRAPH_NODES)
        value_graph_fail(b, "the kernel has too many values");
    graph->nodes = ptx_arena_grow(b->arena, graph->nodes, graph->node_count, &b->node_capacity,
                                  sizeof *graph->nodes);
    b->roots = ptx_arena_grow(&b->scratch, b->roots, graph->node_count, &b->root_capacity,
                              sizeof *b->roots);
    uint32_t at = graph->node_count++;
    graph->nodes[at] = (struct node){
        .kind = (uint8_t)kind, .width = (uint8_t)width, .block = b->block, .line = b->line};
    b->roots[at] = 0;
    return at;
}

uint32_t node_constant(struct builder *b, int64_t value, uint32_t width)
{
    uint32_t node = node_new(b, NODE_CONSTANT, width);
    node_at(b, node)->value = value;
    return node;
}

uint32_t node_unknown(struct builder *b, uint32_t width, int64_t low, int64_t high, int reason)
{
    uint32_t node = node_new(b, NODE_UNKNOWN, width);
    node_at(b, node)->value = low;
    node_at(b, node)->high = high;
    node_at(b, node)->reason = (uint8_t)reason;
    node_at(b, node)->loop = block_loop(b, b->block);
    return node;
}

uint32_t node_any(struct builder *b, uint32_t width, int reason)
{
    if (width >= 64)
        return node_unknown(b, width, INT64_MIN, INT64_MAX, reason);
    return node_unknown(b, width, 0, (int64_t)((UINT64_C(1) << width) - 1), reason);
}

/* The deeper of two loops of which one contains the other, as all operands of a node do. */
static uint32_t deeper(const struct builder *b, uint32_t left, uint32_t right)
{
    const struct value_graph_loop *loops = b->graph->loops;
    if (!left || !right)
        return left ? left : right;
    return loops[left].depth >= loops[right].depth ? left : right;
}

uint32_t node_use(struct builder *b, uint32_t node, uint32_t user)
{
    while (!value_graph_loop_contains(b->graph, node_at(b, node)->loop, user)) {
        uint32_t loop = node_at(b, node)->loop;
        uint32_t exit = node_new(b, NODE_EXIT, node_at(b, node)->width);
        struct node *to = node_at(b, exit);
        to->a = node;
        to->value = loop;
        to->loop = b->graph->loops[loop].parent;
        b->roots[exit] = b->roots[node];
        node = exit;
    }
    return node;
}

/* ---- Folding ---- */

static bool is_constant(struct builder *b, uint32_t node, int64_t *value)
{
    *value = node_at(b, node)->value;
    return node_at(b, node)->kind == NODE_CONSTANT;
}

static bool is_operation(struct builder *b, uint32_t node, enum node_operation operation)
{
    return node_at(b, node)->kind == NODE_OPERATION && node_at(b, node)->operation == operation;
}

static int64_t narrow(int64_t value, uint32_t width, bool is_signed)
{
    if (width >= 64)
        return value;
    uint64_t low = (uint64_t)value & ((UINT64_C(1) << width) - 1);
    if (is_signed && low >> (width - 1))
        low |= ~((UINT64_C(1) << width) - 1);
    return (int64_t)low;
}

static bool fold(enum node_operation operation, bool is_signed, uint32_t width, int64_t left,
                 int64_t right, int64_t *result)
{
    uint64_t a = (uint64_t)left, c = (uint64_t)right;
    switch (operation) {
    case NODE_ADD:
        *result = (int64_t)(a + c);
        break;
    case NODE_SUB:
        *result = (int64_t)(a - c);
        break;
    case NODE_MULTIPLY:
        *result = (int64_t)(a * c);
        break;
    case NODE_AND:
        *result = left & right;
        break;
    case NODE_OR:
        *result = left | right;
        break;
    case NODE_XOR:
        *result = left ^ right;
        break;
    case NODE_SHIFT_LEFT:
        *result = c >= width ? 0 : (int64_t)(a << c);
        break;
    default:
        return false;
    }
    *result = narrow(*result, width, is_signed);
    return true;
}

static bool same_node(struct builder *b, uint32_t left, uint32_t right)
{
    const struct node *x = node_at(b, left), *y = node_at(b, right);
    return left == right || (x->kind == NODE_CONSTANT && y->kind == NODE_CONSTANT &&
                             x->value == y->value && x->width == y->width);
}

static uint32_t make_magic(struct builder *b, const struct node *from, int64_t multiplier,
                           int64_t shift)
{
    struct node copy = *from;
    uint32_t node = node_new(b, NODE_OPERATION, copy.width);
    struct node *to = node_at(b, node);
    to->operation = NODE_MAGIC;
    to->is_signed = copy.is_signed;
    to->a = copy.a;
    to->value = multiplier;
    to->high = shift;
    to->loop = copy.loop;
    return node;
}

/* A wide product of a 32-bit value and a constant, shifted: the other way to write a high product.
 */
static uint32_t fold_wide_magic(struct builder *b, uint32_t product, int64_t amount)
{
    const struct node *at = node_at(b, product);
    int64_t multiplier;
    if (!is_operation(b, product, NODE_MULTIPLY) || at->width != 64 || amount < 1 || amount > 63 ||
        !is_operation(b, at->a, NODE_EXTEND) || !is_constant(b, at->b, &multiplier) ||
        node_at(b, at->a)->value != 32 || multiplier <= 0 || multiplier >> 32)
        return 0;
    struct node from = *node_at(b, at->a);
    return make_magic(b, &from, multiplier, amount);
}

/* Divisions by constants, as compilers write them (Granlund, Montgomery, "Division by Invariant
 * Integers using Multiplication", PLDI 1994): a high product, perhaps plus the dividend, shifted.
 */
static uint32_t fold_magic(struct builder *b, enum node_operation operation, uint32_t left,
                           uint32_t right)
{
    int64_t amount;
    if (operation == NODE_SHIFT_RIGHT && is_operation(b, left, NODE_MAGIC) &&
        is_constant(b, right, &amount) && amount >= 0 && node_at(b, left)->high + amount < 96)
        return make_magic(b, node_at(b, left), node_at(b, left)->value,
                          node_at(b, left)->high + amount);
    if (operation == NODE_SHIFT_RIGHT && is_constant(b, right, &amount))
        return fold_wide_magic(b, left, amount);
    for (int swapped = 0; swapped < 2 && operation == NODE_ADD; swapped++) {
        uint32_t x = swapped ? right : left, y = swapped ? left : right;
        if (!is_operation(b, x, NODE_MAGIC))
            continue;
        const struct node *magic = node_at(b, x);
        int64_t carry = (int64_t)1 << (magic->high < 62 ? magic->high : 0);
        if (magic->high != 32)
            continue;
        if (magic->is_signed && magic->a == y)
            return make_magic(b, magic, magic->value + carry, magic->high);
        /* ((a - m) >> 1) + m for m = a * value >> 32 */
        if (!magic->is_signed && is_operation(b, y, NODE_SHIFT_RIGHT)) {
            const struct node *half = node_at(b, y);
            if (is_constant(b, half->b, &amount) && amount == 1 &&
                is_operation(b, half->a, NODE_SUB) && node_at(b, half->a)->b == x &&
                node_at(b, half->a)->a == magic->a)
                return make_magic(b, magic, magic->value + carry, magic->high + 1);
        }
    }
    return 0;
}

/* x + 0, x * 1, x << 0, x & x ... */
static uint32_t fold_neutral(struct builder *b, enum node_operation operation, uint32_t left,
                             uint32_t right)
{
    int64_t value;
    if (is_constant(b, right, &value)) {
        bool adds = operation == NODE_ADD || operation == NODE_SUB || operation == NODE_OR ||
                    operation == NODE_XOR || operation == NODE_SHIFT_LEFT ||
                    operation == NODE_SHIFT_RIGHT;
        if ((adds && value == 0) ||
            ((operation == NODE_MULTIPLY || operation == NODE_DIVIDE) && value == 1))
            return left;
    }
    if (is_constant(b, left, &value) && value == 0 &&
        (operation == NODE_ADD || operation == NODE_OR))
        return right;
    if ((operation == NODE_AND || operation == NODE_OR) && same_node(b, left, right))
        return left;
    return 0;
}

/* symbol + constant */
static uint32_t fold_symbol(struct builder *b, enum node_operation operation, uint32_t left,
                            uint32_t right)
{
    int64_t value;
    if (operation == NODE_ADD && node_at(b, right)->kind == NODE_SYMBOL) {
        uint32_t swap = left;
        left = right;
        right = swap;
    }
    if ((operation != NODE_ADD && operation != NODE_SUB) || node_at(b, left)->kind != NODE_SYMBOL ||
        !is_constant(b, right, &value))
        return 0;
    struct node symbol = *node_at(b, left);
    uint32_t root = b->roots[left];
    uint32_t node = node_new(b, NODE_SYMBOL, symbol.width);
    node_at(b, node)->variable = symbol.variable;
    node_at(b, node)->value = symbol.value + (operation == NODE_ADD ? value : -value);
    b->roots[node] = root;
    return node;
}

/* (x << 32) >> n is the low half of x, extended, times 2^(32 - n). */
static uint32_t fold_low_half(struct builder *b, enum node_operation operation, bool is_signed,
                              uint32_t width, uint32_t left, uint32_t right)
{
    int64_t up, down;
    if (operation != NODE_SHIFT_RIGHT || width != 64 || !is_operation(b, left, NODE_SHIFT_LEFT) ||
        !is_constant(b, right, &down) || !is_constant(b, node_at(b, left)->b, &up) || up != 32 ||
        down < 0 || down > 32)
        return 0;
    uint32_t half = node_extend(b, node_at(b, left)->a, 64, 32, false);
    uint32_t wide = node_extend(b, half, 32, 64, is_signed);
    return node_operate(b, NODE_SHIFT_LEFT, false, 64, wide, node_constant(b, 32 - down, 32));
}

uint32_t node_operate(struct builder *b, enum node_operation operation, bool is_signed,
                      uint32_t width, uint32_t left, uint32_t right)
{
    int64_t x, y, result;
    bool binary = operation != NODE_NOT && operation != NODE_ABSOLUTE &&
                  operation != NODE_TRUNCATE && operation != NODE_EXTEND;
    if (binary) {
        if (is_constant(b, left, &x) && is_constant(b, right, &y) &&
            fold(operation, is_signed, width, x, y, &result))
            return node_constant(b, result, width);
        uint32_t folded = fold_neutral(b, operation, left, right);
        if (!folded)
            folded = fold_symbol(b, operation, left, right);
        if (!folded)
            folded = fold_magic(b, operation, left, right);
        if (!folded)
            folded = fold_low_half(b, operation, is_signed, width, left, right);
        if (folded)
            return folded;
    }
    uint32_t root_left = b->roots[left], root_right = binary ? b->roots[right] : 0;
    bool moves = operation == NODE_ADD || operation == NODE_SUB;
    if (root_left && (!moves || root_right))
        memory_escape(b, left);
    if (root_right && (!moves || root_left || operation == NODE_SUB))
        memory_escape(b, right);
    uint32_t node = node_new(b, NODE_OPERATION, width);
    struct node *to = node_at(b, node);
    to->operation = (uint8_t)operation;
    to->is_signed = is_signed;
    to->a = left;
    to->b = binary ? right : 0;
    to->loop = deeper(b, node_at(b, left)->loop, binary ? node_at(b, right)->loop : 0);
    if (moves)
        b->roots[node] = root_left ? root_left : operation == NODE_ADD ? root_right : 0;
    return node;
}

uint32_t node_extend(struct builder *b, uint32_t a, uint32_t from, uint32_t to, bool is_signed)
{
    int64_t value;
    if (to == from)
        return a;
    if (is_constant(b, a, &value))
        return node_constant(b, narrow(value, to < from ? to : from, is_signed), to);
    if (to == 32 && from == 64 && is_operation(b, a, NODE_MAGIC) && node_at(b, a)->high >= 32) {
        struct node magic = *node_at(b, a);
        magic.width = 32;
        return make_magic(b, &magic, magic.value, magic.high);
    }
    uint32_t node = node_operate(b, to < from ? NODE_TRUNCATE : NODE_EXTEND, is_signed, to, a, 0);
    node_at(b, node)->value = from;
    return node;
}

uint32_t node_select(struct builder *b, uint32_t predicate, uint32_t yes, uint32_t no)
{
    if (same_node(b, yes, no))
        return yes;
    memory_escape(b, yes);
    memory_escape(b, no);
    uint32_t node = node_new(b, NODE_OPERATION, node_at(b, yes)->width);
    struct node *to = node_at(b, node);
    to->operation = NODE_SELECT;
    to->a = predicate;
    to->b = yes;
    to->c = no;
    to->loop = deeper(b, deeper(b, node_at(b, yes)->loop, node_at(b, no)->loop),
                      node_at(b, predicate)->loop);
    return node;
}

/* ---- Variables ---- */

uint32_t variable_new(struct builder *b, uint32_t width)
{
    b->widths = ptx_arena_grow(&b->scratch, b->widths, b->variable_count, &b->width_capacity,
                               sizeof *b->widths);
    b->widths[b->variable_count] = (uint8_t)width;
    return (uint32_t)b->variable_count++;
}

/* Where the definition is, or where it would be. */
static uint32_t *definition_slot(const struct builder *b, uint32_t variable, uint32_t block)
{
    uint64_t key = hash_spread((uint64_t)variable << 32 | block);
    size_t mask = b->definition_slot_count - 1, at = (size_t)(key >> 32) & mask;
    for (;; at = (at + 1) & mask) {
        const struct definition *found = &b->definitions[b->definition_slots[at]];
        if (!b->definition_slots[at] || (found->variable == variable && found->block == block))
            return &b->definition_slots[at];
    }
}

static void grow_definition_slots(struct builder *b)
{
    b->definition_slot_count = b->definition_slot_count ? b->definition_slot_count * 4 : 256;
    b->definition_slots =
        ptx_arena_array(&b->scratch, b->definition_slot_count, sizeof *b->definition_slots);
    for (uint32_t d = 1; d < b->definition_count; d++)
        *definition_slot(b, b->definitions[d].variable, b->definitions[d].block) = d;
}

static uint32_t definition_find(const struct builder *b, uint32_t variable, uint32_t block)
{
    return b->definition_slot_count ? *definition_slot(b, variable, block) : 0;
}

void variable_write(struct builder *b, uint32_t variable, uint32_t block, uint32_t node)
{
    if (b->definition_count * 2 >= b->definition_slot_count)
        grow_definition_slots(b);
    uint32_t *slot = definition_slot(b, variable, block);
    if (!*slot) {
        b->definitions = ptx_arena_grow(&b->scratch, b->definitions, b->definition_count,
                                        &b->definition_capacity, sizeof *b->definitions);
        *slot = (uint32_t)b->definition_count++;
        b->definitions[*slot] = (struct definition){.variable = variable, .block = block};
    }
    b->definitions[*slot].node = node;
}

static uint32_t new_in_block(struct builder *b, enum node_kind kind, uint32_t width, uint32_t block)
{
    uint32_t node = node_new(b, kind, width);
    node_at(b, node)->block = block;
    node_at(b, node)->loop = block_loop(b, block);
    return node;
}

/* A JOIN of what comes in on each of the first `count` ways. */
static void join_fill(struct builder *b, uint32_t join, uint32_t variable, uint32_t block,
                      uint32_t count)
{
    uint32_t loop = node_at(b, join)->loop;
    uint32_t *operands = ptx_arena_array(b->arena, count, sizeof *operands);
    bool escapes = false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = b->graph->blocks[block].ways[i].block;
        operands[i] = node_use(b, variable_read(b, variable, from), loop);
        escapes |= operands[i] != operands[0];
    }
    for (uint32_t i = 0; i < count && escapes; i++)
        memory_escape(b, operands[i]);
    node_at(b, join)->operands = operands;
    node_at(b, join)->operand_count = count;
    node_at(b, join)->ways = b->graph->blocks[block].ways;
    node_at(b, join)->value = b->graph->blocks[block].dominator;
    if (!escapes)
        b->roots[join] = b->roots[operands[0]];
}

static uint32_t read_joined(struct builder *b, uint32_t variable, uint32_t block)
{
    uint32_t join = new_in_block(b, NODE_JOIN, b->widths[variable], block);
    variable_write(b, variable, block, join);
    join_fill(b, join, variable, block, b->graph->blocks[block].way_count);
    const struct node *node = node_at(b, join);
    for (uint32_t i = 1; i < node->operand_count; i++)
        if (node->operands[i] != node->operands[0])
            return join;
    uint32_t only = node->operands[0];
    variable_write(b, variable, block, only);
    return only;
}

/* The head of a loop: its rounds' ends may not be translated yet, see variable_seal. */
static uint32_t read_at_head(struct builder *b, uint32_t variable, uint32_t block)
{
    uint32_t node = new_in_block(b, NODE_LOOP, b->widths[variable], block);
    const struct value_graph_loop *loop = &b->graph->loops[block_loop(b, block)];
    variable_write(b, variable, block, node);
    uint32_t before;
    if (loop->outside_ways == 1) {
        before = variable_read(b, variable, b->graph->blocks[block].ways[0].block);
    } else {
        before = new_in_block(b, NODE_JOIN, b->widths[variable], block);
        node_at(b, before)->loop = loop->parent;
        join_fill(b, before, variable, block, loop->outside_ways);
    }
    before = node_use(b, before, loop->parent);
    node_at(b, node)->a = before;
    b->open =
        ptx_arena_grow(&b->scratch, b->open, b->open_count, &b->open_capacity, sizeof *b->open);
    b->open[b->open_count++] = (struct open_loop){node, block, variable};
    return node;
}

static uint32_t read_through(struct builder *b, uint32_t variable, uint32_t block)
{
    for (;;) {
        const struct value_graph_block *at = &b->graph->blocks[block];
        uint32_t d = definition_find(b, variable, block);
        if (d)
            return b->definitions[d].node;
        if (b->graph->loops && at->loop && b->graph->loops[at->loop].head == block)
            return read_at_head(b, variable, block);
        if (at->is_entry) {
            if (at->dominator == VALUE_GRAPH_NO_BLOCK) /* never written */
                return node_any(b, b->widths[variable], ACCESS_BOUND_DATA);
            block = at->dominator;
        } else if (at->way_count == 1) {
            block = at->ways[0].block;
        } else {
            return read_joined(b, variable, block);
        }
    }
}

enum { READ_DEPTH = 500 }; /* reads that wait for reads: each takes some 200 bytes of stack */

uint32_t variable_read(struct builder *b, uint32_t variable, uint32_t block)
{
    if (++b->depth > READ_DEPTH)
        value_graph_fail(b, "its branches are nested too deeply");
    uint32_t node = read_through(b, variable, block);
    b->depth--;
    return node;
}

/* What the ends of a round make of the variable: one node, or an unknown one when they disagree. */
static uint32_t read_round_end(struct builder *b, struct open_loop open)
{
    const struct value_graph_block *block = &b->graph->blocks[open.block];
    const struct value_graph_loop *loop = &b->graph->loops[block->loop];
    uint32_t last = 0;
    bool disagree = false;
    for (uint32_t w = loop->outside_ways; w < block->way_count; w++) {
        uint32_t from = block->ways[w].block;
        uint32_t node = node_use(b, variable_read(b, open.variable, from), block->loop);
        disagree |= last && last != node;
        if (disagree)
            memory_escape(b, node);
        last = node;
    }
    if (!disagree)
        return last;
    memory_escape(b, last);
    last = node_any(b, node_at(b, open.node)->width, ACCESS_BOUND_SHAPE);
    node_at(b, last)->loop = block->loop;
    return last;
}

void variable_seal(struct builder *b, uint32_t copy)
{
    size_t kept = 0;
    for (size_t i = 0; i < b->open_count; i++) {
        struct open_loop open = b->open[i];
        if (b->graph->blocks[open.block].function < copy) {
            b->open[kept++] = open; /* a caller's loop, which is not finished */
            continue;
        }
        uint32_t last = read_round_end(b, open);
        struct node *to = node_at(b, open.node);
        to->b = last;
        if (last == open.node) { /* nothing changes it */
            b->roots[open.node] = b->roots[to->a];
        } else {
            memory_escape(b, to->a);
            memory_escape(b, last);
        }
    }
    b->open_count = kept;
}

uint32_t variable_read_returned(struct builder *b, uint32_t variable, uint32_t copy)
{
    const struct copy *own = &b->copies[copy];
    uint32_t *operands = ptx_arena_array(b->arena, own->order_count, sizeof *operands), count = 0;
    struct value_graph_edge *ends = ptx_arena_array(b->arena, own->order_count, sizeof *ends);
    for (uint32_t i = 0; i < own->order_count; i++) {
        uint32_t block = own->first_block + own->order[i];
        const struct ptx_block *ptx = &own->function->blocks[own->order[i]];
        const struct ptx_instruction *last =
            &own->function->instructions[ptx->first + ptx->count - 1];
        if (last->opcode != PTX_OP_RET &&
            (ptx->successor_count || last->opcode == PTX_OP_EXIT || last->opcode == PTX_OP_TRAP))
            continue;
        operands[count] = node_use(b, variable_read(b, variable, block), block_loop(b, b->block));
        ends[count++] = (struct value_graph_edge){block, true};
    }
    if (!count)
        return node_any(b, b->widths[variable], ACCESS_BOUND_DATA);
    for (uint32_t i = 1; i < count; i++)
        if (operands[i] != operands[0]) {
            uint32_t any;
            for (uint32_t k = 0; k < count; k++)
                memory_escape(b, operands[k]);
            any = node_new(b, NODE_JOIN, b->widths[variable]);
            node_at(b, any)->value = b->block;
            node_at(b, any)->loop = block_loop(b, b->block);
            node_at(b, any)->operands = operands;
            node_at(b, any)->operand_count = count;
            node_at(b, any)->ways = ends;
            return any;
        }
    return operands[0];
}

/* ---- Registers ---- */

static uint32_t register_width(const struct builder *b, uint32_t reg)
{
    const struct ptx_function *function = b->copies[b->copy].function;
    uint32_t bits = ptx_type_bits(function->registers[reg].type);
    return bits ? bits : 64;
}

static uint32_t register_variable(struct builder *b, uint32_t reg)
{
    struct copy *copy = &b->copies[b->copy];
    if (!copy->registers[reg])
        copy->registers[reg] = variable_new(b, register_width(b, reg));
    return copy->registers[reg];
}

uint32_t register_read(struct builder *b, uint32_t reg)
{
    const struct copy *copy = &b->copies[b->copy];
    uint32_t node;
    if (copy->definitions[reg] > 1) {
        uint32_t variable = register_variable(b, reg);
        node = variable_read(b, variable, b->block);
    } else {
        node = copy->registers[reg];
        if (!node) /* read before it is written */
            node = node_any(b, register_width(b, reg), ACCESS_BOUND_DATA);
    }
    return node_use(b, node, block_loop(b, b->block));
}

void register_write(struct builder *b, uint32_t reg, uint32_t node)
{
    uint32_t width = register_width(b, reg);
    if (node_at(b, node)->width != width)
        node = node_extend(b, node, node_at(b, node)->width, width, false);
    if (b->copies[b->copy].definitions[reg] > 1) {
        uint32_t variable = register_variable(b, reg);
        variable_write(b, variable, b->block, node);
    } else {
        b->copies[b->copy].registers[reg] = node;
    }
}
