/* PTX instructions as nodes. See value_builder.h. Integers are followed; what floating point, other
 * threads or memory decide is unknown, with the range its type gives it. */
#include "runtime/access/access_set.h"
#include "runtime/access/instruction_accesses.h"
#include "runtime/access/values/value_builder.h"

#include <string.h>

static struct node *node_at(struct builder *b, uint32_t node)
{
    return &b->graph->nodes[node];
}

/* ---- Operands ---- */

uint32_t value_graph_type_width(uint8_t type)
{
    uint32_t bits = ptx_type_bits(type);
    return bits ? bits : 64;
}

/* The value as an integer of `width` bits. */
static uint32_t resize(struct builder *b, uint32_t node, uint32_t width, bool is_signed)
{
    uint32_t has = node_at(b, node)->width;
    return has == width ? node : node_extend(b, node, has, width, is_signed);
}

static bool is_kernel_parameter(const struct builder *b, const struct ptx_variable *variable)
{
    const struct ptx_function *kernel = b->graph->kernel;
    for (uint32_t i = 0; i < kernel->param_count; i++)
        if (kernel->params[i].variable == variable)
            return true;
    return false;
}

static uint32_t symbol(struct builder *b, const struct ptx_variable *variable, int64_t offset)
{
    uint32_t node = node_new(b, NODE_SYMBOL, 64), copy = 0;
    node_at(b, node)->variable = variable;
    node_at(b, node)->value = offset;
    if (variable->space == PTX_SPACE_PARAM && b->copy == 0 && is_kernel_parameter(b, variable))
        return node;
    if (variable->space != PTX_SPACE_LOCAL && variable->space != PTX_SPACE_PARAM)
        return node;
    copy = b->copy;
    struct memory *memory = memory_find_variable(b, variable, copy);
    b->roots[node] = (uint32_t)(memory - b->memories) + 1;
    return node;
}

/* Registers that may have another value at each read, or have more than 32 bits (PTX ISA section
 * 10). */
static uint32_t special(struct builder *b, uint32_t reg)
{
    switch (reg) {
    case PTX_SREG_CLOCK64:
    case PTX_SREG_GLOBALTIMER:
    case PTX_SREG_GRIDID:
        return node_unknown(b, 64, 0, INT64_MAX, ACCESS_BOUND_DATA);
    case PTX_SREG_CLOCK:
    case PTX_SREG_CLOCK_HI:
    case PTX_SREG_GLOBALTIMER_LO:
    case PTX_SREG_GLOBALTIMER_HI:
    case PTX_SREG_SMID:
        return node_any(b, 32, ACCESS_BOUND_DATA);
    default:
        break;
    }
    if (reg >= PTX_SREG_PM_0 && reg <= PTX_SREG_PM_7)
        return node_unknown(b, 64, 0, INT64_MAX, ACCESS_BOUND_DATA);
    uint32_t node = node_new(b, NODE_SPECIAL, 32);
    node_at(b, node)->value = reg;
    return node;
}

uint32_t value_graph_operand(struct builder *b, const struct ptx_operand *o, uint32_t width,
                             bool is_signed)
{
    uint32_t node;
    switch (o->kind) {
    case PTX_OPERAND_REGISTER:
        node = register_read(b, o->reg);
        if (o->negated && width == 1)
            node = node_operate(b, NODE_NOT, false, 1, node, 0);
        break;
    case PTX_OPERAND_IMMEDIATE:
        return node_constant(b, o->imm, width);
    case PTX_OPERAND_SPECIAL:
        node = special(b, o->special);
        break;
    case PTX_OPERAND_SYMBOL:
        node = symbol(b, o->variable, o->imm);
        break;
    default:
        return node_any(b, width, ACCESS_BOUND_SHAPE);
    }
    return resize(b, node, width, is_signed);
}

/* The address inside brackets, 64 bits wide. */
static uint32_t address(struct builder *b, const struct ptx_operand *o)
{
    if (o->kind != PTX_OPERAND_ADDRESS)
        return value_graph_operand(b, o, 64, false);
    if (o->base == PTX_OPERAND_SYMBOL)
        return symbol(b, o->variable, o->imm);
    if (o->base != PTX_OPERAND_REGISTER)
        return node_constant(b, o->imm, 64);
    uint32_t base = resize(b, register_read(b, o->reg), 64, false);
    return node_operate(b, NODE_ADD, false, 64, base, node_constant(b, o->imm, 64));
}

uint32_t value_graph_predicate(struct builder *b, uint32_t reg)
{
    return register_read(b, reg);
}

/* ---- Results ---- */

static void write_register(struct builder *b, const struct ptx_instruction *instruction,
                           uint32_t reg, uint32_t node)
{
    if (instruction->guard != PTX_NO_REGISTER && instruction->opcode != PTX_OP_BRA) {
        uint32_t old = register_read(b, reg);
        uint32_t guard = register_read(b, instruction->guard);
        node = resize(b, node, node_at(b, old)->width, false);
        node = instruction->guard_negated ? node_select(b, guard, old, node)
                                          : node_select(b, guard, node, old);
    }
    register_write(b, reg, node);
}

static void write_operand(struct builder *b, const struct ptx_instruction *instruction,
                          const struct ptx_operand *to, uint32_t node)
{
    if (to->kind == PTX_OPERAND_REGISTER)
        write_register(b, instruction, to->reg, node);
}

/* The destination's register width, for results that are narrower than it. */
static uint32_t destination_width(struct builder *b, const struct ptx_operand *to)
{
    const struct ptx_function *function = b->copies[b->copy].function;
    return to->kind == PTX_OPERAND_REGISTER
               ? value_graph_type_width(function->registers[to->reg].type)
               : 64;
}

void value_graph_write_unknown(struct builder *b, const struct ptx_instruction *instruction,
                               const struct ptx_operand *to, int64_t low, int64_t high, int reason)
{
    if (to->kind == PTX_OPERAND_VECTOR) {
        for (uint32_t i = 0; i < to->count; i++)
            value_graph_write_unknown(b, instruction, &to->elements[i], low, high, reason);
        return;
    }
    if (to->kind != PTX_OPERAND_REGISTER)
        return;
    uint32_t width = destination_width(b, to);
    uint32_t node =
        low <= high ? node_unknown(b, width, low, high, reason) : node_any(b, width, reason);
    write_register(b, instruction, to->reg, node);
}

/* Whatever it writes, nothing is known of it. */
static void write_nothing_known(struct builder *b, const struct ptx_instruction *instruction)
{
    for (uint32_t i = 0; i < instruction->operand_count && i < 1; i++)
        value_graph_write_unknown(b, instruction, &instruction->operands[i], 1, 0,
                                  ACCESS_BOUND_DATA);
    value_graph_write_unknown(b, instruction, &instruction->second, 1, 0, ACCESS_BOUND_DATA);
}

/* ---- Arithmetic ---- */

static void binary(struct builder *b, const struct ptx_instruction *instruction,
                   enum node_operation operation)
{
    uint32_t width = value_graph_type_width(instruction->type);
    bool is_signed = ptx_type_is_signed(instruction->type);
    uint32_t left = value_graph_operand(b, &instruction->operands[1], width, is_signed);
    uint32_t right = value_graph_operand(b, &instruction->operands[2], width, is_signed);
    write_operand(b, instruction, &instruction->operands[0],
                  node_operate(b, operation, is_signed, width, left, right));
}

static void shift(struct builder *b, const struct ptx_instruction *instruction,
                  enum node_operation operation)
{
    uint32_t width = value_graph_type_width(instruction->type);
    bool is_signed = ptx_type_is_signed(instruction->type);
    uint32_t left = value_graph_operand(b, &instruction->operands[1], width, is_signed);
    uint32_t amount = value_graph_operand(b, &instruction->operands[2], 32, false);
    write_operand(b, instruction, &instruction->operands[0],
                  node_operate(b, operation, is_signed, width, left, amount));
}

static void unary(struct builder *b, const struct ptx_instruction *instruction,
                  enum node_operation operation)
{
    uint32_t width = value_graph_type_width(instruction->type);
    uint32_t a = value_graph_operand(b, &instruction->operands[1], width, true);
    write_operand(b, instruction, &instruction->operands[0],
                  node_operate(b, operation, true, width, a, 0));
}

/* The product as .lo, .wide or .hi says; 0 when it is not followed. */
static uint32_t product(struct builder *b, const struct ptx_instruction *instruction)
{
    uint32_t width = value_graph_type_width(instruction->type);
    bool is_signed = ptx_type_is_signed(instruction->type);
    uint32_t left = value_graph_operand(b, &instruction->operands[1], width, is_signed);
    uint32_t right = value_graph_operand(b, &instruction->operands[2], width, is_signed);
    if (instruction->part == PTX_PART_WIDE)
        return node_operate(b, NODE_MULTIPLY, is_signed, 2 * width,
                            resize(b, left, 2 * width, is_signed),
                            resize(b, right, 2 * width, is_signed));
    if (instruction->part != PTX_PART_HI)
        return node_operate(b, NODE_MULTIPLY, is_signed, width, left, right);
    if (width != 32 || node_at(b, right)->kind != NODE_CONSTANT)
        return 0;
    int64_t multiplier = node_at(b, right)->value;
    multiplier = is_signed ? (int64_t)(int32_t)multiplier : (int64_t)(uint32_t)multiplier;
    uint32_t node = node_new(b, NODE_OPERATION, 32);
    struct node *to = node_at(b, node);
    to->operation = NODE_MAGIC;
    to->is_signed = is_signed;
    to->a = left;
    to->value = multiplier;
    to->high = 32;
    to->loop = node_at(b, left)->loop;
    return node;
}

static void multiply(struct builder *b, const struct ptx_instruction *instruction, bool adds)
{
    uint32_t node = product(b, instruction);
    if (!node) {
        write_nothing_known(b, instruction);
        return;
    }
    if (adds) {
        uint32_t width = node_at(b, node)->width;
        uint32_t more = value_graph_operand(b, &instruction->operands[3], width, true);
        node = node_operate(b, NODE_ADD, false, width, node, more);
    }
    write_operand(b, instruction, &instruction->operands[0], node);
}

static void select_value(struct builder *b, const struct ptx_instruction *instruction)
{
    uint32_t width = value_graph_type_width(instruction->type);
    uint32_t yes = value_graph_operand(b, &instruction->operands[1], width, false);
    uint32_t no = value_graph_operand(b, &instruction->operands[2], width, false);
    uint32_t predicate = value_graph_operand(b, &instruction->operands[3], 1, false);
    write_operand(b, instruction, &instruction->operands[0], node_select(b, predicate, yes, no));
}

/* cvt.to.from: as the source's type reads it, then as the destination's register holds it. */
static void convert(struct builder *b, const struct ptx_instruction *instruction)
{
    uint8_t from = instruction->type, to = instruction->type2 ? instruction->type2 : from;
    if (ptx_type_is_float(from) || ptx_type_is_float(to) || instruction->sat) {
        write_nothing_known(b, instruction);
        return;
    }
    uint32_t node =
        value_graph_operand(b, &instruction->operands[1], value_graph_type_width(from), false);
    node = resize(b, node, value_graph_type_width(to), ptx_type_is_signed(from));
    node = resize(b, node, destination_width(b, &instruction->operands[0]), ptx_type_is_signed(to));
    write_operand(b, instruction, &instruction->operands[0], node);
}

/* bfe.u: (a >> position) & mask; bfi: the low bits of a put into b. At constant places only. */
static void bit_field(struct builder *b, const struct ptx_instruction *instruction)
{
    bool insert = instruction->opcode == PTX_OP_BFI;
    bool is_signed = !insert && ptx_type_is_signed(instruction->type);
    uint32_t width = value_graph_type_width(instruction->type), at = insert ? 3 : 2;
    const struct ptx_operand *place = &instruction->operands[at], *length = place + 1;
    if (place->kind != PTX_OPERAND_IMMEDIATE || length->kind != PTX_OPERAND_IMMEDIATE ||
        place->imm < 0 || place->imm >= width || length->imm <= 0 || length->imm >= width ||
        (is_signed && place->imm + length->imm > width)) {
        write_nothing_known(b, instruction);
        return;
    }
    int64_t mask = (int64_t)((UINT64_C(1) << length->imm) - 1);
    uint32_t shift_by = node_constant(b, place->imm, 32);
    uint32_t a = value_graph_operand(b, &instruction->operands[1], width, false), node;
    if (is_signed) { /* to the top, and down again with the sign */
        int64_t above = width - place->imm - length->imm;
        node = node_operate(b, NODE_SHIFT_LEFT, false, width, a, node_constant(b, above, 32));
        node = node_operate(b, NODE_SHIFT_RIGHT, true, width, node,
                            node_constant(b, width - length->imm, 32));
    } else if (!insert) {
        node = node_operate(b, NODE_SHIFT_RIGHT, false, width, a, shift_by);
        node = node_operate(b, NODE_AND, false, width, node, node_constant(b, mask, width));
    } else {
        uint32_t into = value_graph_operand(b, &instruction->operands[2], width, false);
        int64_t hole = (int64_t) ~((uint64_t)mask << place->imm);
        a = node_operate(b, NODE_AND, false, width, a, node_constant(b, mask, width));
        a = node_operate(b, NODE_SHIFT_LEFT, false, width, a, shift_by);
        into = node_operate(b, NODE_AND, false, width, into, node_constant(b, hole, width));
        node = node_operate(b, NODE_OR, false, width, into, a);
    }
    write_operand(b, instruction, &instruction->operands[0], node);
}

/* ---- Predicates ---- */

/* Whether the integer is below 0. The sign of x | y is that of either, of x & y that of both: how
 * compilers test several coordinates at once. */
static uint32_t is_negative(struct builder *b, uint32_t node, unsigned depth)
{
    const struct node *at = node_at(b, node);
    uint32_t width = at->width;
    if (at->kind == NODE_OPERATION && depth < 4 &&
        (at->operation == NODE_OR || at->operation == NODE_AND)) {
        enum node_operation operation = at->operation;
        uint32_t second = at->b, first = is_negative(b, at->a, depth + 1);
        return node_operate(b, operation, false, 1, first, is_negative(b, second, depth + 1));
    }
    uint32_t less = node_operate(b, NODE_LESS, true, 1, node, node_constant(b, 0, width));
    node_at(b, less)->value = width;
    return less;
}

/* x < 0, -1 < x: 0 for any other comparison. */
static uint32_t compare_sign(struct builder *b, enum node_operation operation, uint32_t left,
                             uint32_t right)
{
    const struct node *x = node_at(b, left), *y = node_at(b, right);
    int64_t first = x->kind == NODE_CONSTANT ? x->value : 1;
    int64_t second = y->kind == NODE_CONSTANT ? y->value : 2;
    bool below =
        (operation == NODE_LESS && second == 0) || (operation == NODE_LESS_EQUAL && second == -1);
    bool above =
        (operation == NODE_LESS && first == -1) || (operation == NODE_LESS_EQUAL && first == 0);
    const struct node *tested = below ? x : y;
    if ((!below && !above) || tested->kind != NODE_OPERATION ||
        (tested->operation != NODE_OR && tested->operation != NODE_AND))
        return 0;
    uint32_t negative = is_negative(b, below ? left : right, 0);
    return below ? negative : node_operate(b, NODE_NOT, false, 1, negative, 0);
}

static bool is_choice(struct builder *b, uint32_t node, bool is_signed, uint32_t width)
{
    const struct node *at = node_at(b, node);
    return at->kind == NODE_OPERATION && at->is_signed == is_signed && at->width == width &&
           (at->operation == NODE_MINIMUM || at->operation == NODE_MAXIMUM);
}

/* left < right or left <= right. To be below the smaller of two is to be below both, and so on: a
 * constraint for each, where a case distinction would be two conditions. */
static uint32_t compare_order(struct builder *b, enum node_operation operation, bool is_signed,
                              uint32_t width, uint32_t left, uint32_t right, unsigned depth)
{
    bool of_right = is_choice(b, right, is_signed, width);
    if (operation != NODE_EQUAL && depth < 4 &&
        (of_right || is_choice(b, left, is_signed, width))) {
        const struct node choice = *node_at(b, of_right ? right : left);
        bool both = (choice.operation == NODE_MINIMUM) == of_right;
        uint32_t first = compare_order(b, operation, is_signed, width, of_right ? left : choice.a,
                                       of_right ? choice.a : right, depth + 1);
        uint32_t second = compare_order(b, operation, is_signed, width, of_right ? left : choice.b,
                                        of_right ? choice.b : right, depth + 1);
        return node_operate(b, both ? NODE_AND : NODE_OR, false, 1, first, second);
    }
    uint32_t node = node_operate(b, operation, is_signed, 1, left, right);
    node_at(b, node)->value = width;
    return node;
}

static uint32_t compare(struct builder *b, const struct ptx_instruction *instruction)
{
    uint32_t width = value_graph_type_width(instruction->type), left, right;
    bool is_signed = ptx_type_is_signed(instruction->type), negate = false, swap = false;
    enum node_operation operation;
    if (ptx_type_is_float(instruction->type))
        return node_any(b, 1, ACCESS_BOUND_DATA);
    switch (instruction->compare) {
    case PTX_CMP_NE:
        negate = true; /* fall through */
    case PTX_CMP_EQ:
        operation = NODE_EQUAL;
        break;
    case PTX_CMP_GT:
    case PTX_CMP_HI:
        swap = true; /* fall through */
    case PTX_CMP_LT:
    case PTX_CMP_LO:
        operation = NODE_LESS;
        break;
    case PTX_CMP_GE:
    case PTX_CMP_HS:
        swap = true; /* fall through */
    case PTX_CMP_LE:
    case PTX_CMP_LS:
        operation = NODE_LESS_EQUAL;
        break;
    default:
        return node_any(b, 1, ACCESS_BOUND_DATA);
    }
    if (instruction->compare >= PTX_CMP_LO && instruction->compare <= PTX_CMP_HS)
        is_signed = false;
    left = value_graph_operand(b, &instruction->operands[1], width, is_signed);
    right = value_graph_operand(b, &instruction->operands[2], width, is_signed);
    memory_escape(b, left);
    memory_escape(b, right);
    uint32_t sign = 0;
    if (is_signed)
        sign = swap ? compare_sign(b, operation, right, left)
                    : compare_sign(b, operation, left, right);
    if (sign)
        return negate ? node_operate(b, NODE_NOT, false, 1, sign, 0) : sign;
    uint32_t node =
        compare_order(b, operation, is_signed, width, swap ? right : left, swap ? left : right, 0);
    return negate ? node_operate(b, NODE_NOT, false, 1, node, 0) : node;
}

static uint32_t combine(struct builder *b, uint8_t bool_op, uint32_t left, uint32_t right)
{
    enum node_operation operation = bool_op == PTX_BOOL_AND  ? NODE_AND
                                    : bool_op == PTX_BOOL_OR ? NODE_OR
                                                             : NODE_XOR;
    return node_operate(b, operation, false, 1, left, right);
}

static void set_predicate(struct builder *b, const struct ptx_instruction *instruction)
{
    uint32_t node = compare(b, instruction), other = 0;
    bool has_second = instruction->second.kind == PTX_OPERAND_REGISTER;
    if (has_second)
        other = node_operate(b, NODE_NOT, false, 1, node, 0);
    if (instruction->bool_op != PTX_BOOL_NONE && instruction->operand_count > 3) {
        uint32_t with = value_graph_operand(b, &instruction->operands[3], 1, false);
        node = combine(b, instruction->bool_op, node, with);
        if (has_second)
            other = combine(b, instruction->bool_op, other, with);
    }
    write_operand(b, instruction, &instruction->operands[0], node);
    if (has_second)
        write_operand(b, instruction, &instruction->second, other);
}

/* ---- Moves ---- */

/* mov of a vector: registers packed into one, or one taken apart. */
static void move_vector(struct builder *b, const struct ptx_instruction *instruction)
{
    const struct ptx_operand *to = &instruction->operands[0], *from = &instruction->operands[1];
    if (to->kind == PTX_OPERAND_VECTOR && from->kind == PTX_OPERAND_REGISTER && to->count) {
        uint32_t whole = register_read(b, from->reg);
        uint32_t width = node_at(b, whole)->width, piece = width / to->count;
        for (uint32_t i = 0; i < to->count && piece; i++) {
            uint32_t node = node_operate(b, NODE_SHIFT_RIGHT, false, width, whole,
                                         node_constant(b, (int64_t)i * piece, 32));
            write_operand(b, instruction, &to->elements[i], resize(b, node, piece, false));
        }
        return;
    }
    if (to->kind == PTX_OPERAND_REGISTER && from->kind == PTX_OPERAND_VECTOR && from->count) {
        uint32_t width = destination_width(b, to), piece = width / from->count, node = 0;
        for (uint32_t i = 0; i < from->count; i++) {
            uint32_t part =
                resize(b, value_graph_operand(b, &from->elements[i], piece, false), width, false);
            part = node_operate(b, NODE_SHIFT_LEFT, false, width, part,
                                node_constant(b, (int64_t)i * piece, 32));
            node = node ? node_operate(b, NODE_OR, false, width, node, part) : part;
        }
        write_operand(b, instruction, to, node);
        return;
    }
    write_nothing_known(b, instruction);
}

static void move(struct builder *b, const struct ptx_instruction *instruction)
{
    const struct ptx_operand *to = &instruction->operands[0], *from = &instruction->operands[1];
    if (to->kind == PTX_OPERAND_VECTOR || from->kind == PTX_OPERAND_VECTOR) {
        move_vector(b, instruction);
        return;
    }
    if (from->kind == PTX_OPERAND_FUNCTION) {
        write_nothing_known(b, instruction);
        return;
    }
    uint32_t width = destination_width(b, to);
    write_operand(b, instruction, to, value_graph_operand(b, from, width, false));
}

/* ---- Memory ---- */

/* The node of `bytes` bytes of the kernel's parameters at an address node that is known to be one.
 */
static uint32_t parameter(struct builder *b, uint32_t place, uint32_t bytes, int64_t more)
{
    const struct node *at = node_at(b, place);
    const struct ptx_variable *variable = at->variable;
    int64_t offset = at->value + more;
    uint32_t node = node_new(b, NODE_PARAM, bytes * 8);
    node_at(b, node)->value = (int64_t)variable->offset + offset;
    return node;
}

/* Walks an address to the kernel parameter it is in, if it is: symbol + something. */
static uint32_t parameter_root(struct builder *b, uint32_t node)
{
    for (uint32_t steps = 0; steps < 64; steps++) {
        const struct node *at = node_at(b, node);
        if (at->kind == NODE_SYMBOL)
            return at->variable->space == PTX_SPACE_PARAM && is_kernel_parameter(b, at->variable)
                       ? node
                       : 0;
        if (at->kind == NODE_EXIT) {
            node = at->a;
        } else if (at->kind == NODE_OPERATION && at->operation == NODE_ADD) {
            uint32_t left = parameter_root(b, at->a);
            return left ? left : parameter_root(b, at->b);
        } else {
            return 0;
        }
    }
    return 0;
}

static uint32_t read_parameter(struct builder *b, uint32_t place, uint32_t bytes, int64_t more)
{
    uint32_t root = parameter_root(b, place);
    if (bytes > 8 || !root)
        return node_any(b, bytes > 8 ? 64 : bytes * 8, ACCESS_BOUND_DATA);
    if (root == place)
        return parameter(b, place, bytes, more);
    uint32_t node = node_new(b, NODE_PARAM_AT, bytes * 8);
    struct node *to = node_at(b, node);
    to->a = place;
    to->variable = node_at(b, root)->variable;
    to->value = more;
    to->loop = node_at(b, place)->loop;
    return node;
}

static uint32_t read_element(struct builder *b, const struct ptx_instruction *instruction,
                             uint32_t place, uint32_t bytes, int64_t more)
{
    int64_t offset;
    struct memory *memory = memory_of(b, place);
    if (memory && memory_place(b, place, &offset))
        return memory_read(b, memory, offset + more, bytes);
    if (memory) {
        uint32_t moved = node_operate(b, NODE_ADD, false, 64, place, node_constant(b, more, 64));
        return memory_look_up(b, moved, bytes);
    }
    if (instruction->space == PTX_SPACE_PARAM || parameter_root(b, place))
        return read_parameter(b, place, bytes, more);
    bool follows =
        (instruction->space == PTX_SPACE_GLOBAL || instruction->space == PTX_SPACE_CONST ||
         instruction->space == PTX_SPACE_GENERIC) &&
        bytes >= 1 && bytes <= 8 && !ptx_type_is_float(instruction->type);
    if (!follows)
        return node_any(b, bytes > 8 ? 64 : bytes * 8, ACCESS_BOUND_DATA);
    uint32_t node = node_new(b, NODE_LOAD, bytes * 8);
    struct node *to = node_at(b, node);
    to->a = place;
    to->value = more;
    to->loop = b->graph->blocks[b->block].loop;
    return node;
}

static void load(struct builder *b, const struct ptx_instruction *instruction)
{
    const struct ptx_operand *to = &instruction->operands[0];
    uint32_t bytes = ptx_type_bits(instruction->type) / 8, place;
    bool is_signed = ptx_type_is_signed(instruction->type);
    if (instruction->space == PTX_SPACE_SHARED || instruction->space == PTX_SPACE_SHARED_CLUSTER ||
        instruction->operand_count < 2 || !bytes) {
        write_nothing_known(b, instruction);
        return;
    }
    place = address(b, &instruction->operands[1]);
    uint32_t count = to->kind == PTX_OPERAND_VECTOR ? to->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_operand *element = to->kind == PTX_OPERAND_VECTOR ? &to->elements[i] : to;
        uint32_t node = read_element(b, instruction, place, bytes, (int64_t)i * bytes);
        node = resize(b, node, destination_width(b, element), is_signed);
        write_operand(b, instruction, element, node);
    }
}

static void store_element(struct builder *b, const struct ptx_instruction *instruction,
                          uint32_t place, uint32_t bytes, int64_t more,
                          const struct ptx_operand *from)
{
    int64_t offset;
    struct memory *memory = memory_of(b, place);
    uint32_t node = value_graph_operand(b, from, bytes > 8 ? 64 : bytes * 8, false);
    if (!memory) {
        memory_escape(b, node);
        return;
    }
    if (!memory_place(b, place, &offset)) {
        memory_escape(b, node);
        memory_lose(b, memory_of(b, place));
        return;
    }
    if (instruction->guard != PTX_NO_REGISTER) {
        uint32_t old = memory_read(b, memory, offset + more, bytes);
        uint32_t guard = register_read(b, instruction->guard);
        node = instruction->guard_negated ? node_select(b, guard, old, node)
                                          : node_select(b, guard, node, old);
    }
    memory_write(b, memory_of(b, place), offset + more, bytes, node);
}

static void store(struct builder *b, const struct ptx_instruction *instruction)
{
    uint32_t bytes = ptx_type_bits(instruction->type) / 8;
    if (instruction->operand_count < 2 || !bytes)
        return;
    const struct ptx_operand *from = &instruction->operands[1];
    uint32_t place = address(b, &instruction->operands[0]);
    uint32_t count = from->kind == PTX_OPERAND_VECTOR ? from->count : 1;
    for (uint32_t i = 0; i < count; i++)
        store_element(b, instruction, place, bytes, (int64_t)i * bytes,
                      from->kind == PTX_OPERAND_VECTOR ? &from->elements[i] : from);
}

/* ---- Accesses ---- */

static uint64_t access_bytes(const struct ptx_instruction *instruction)
{
    uint32_t vector = instruction->vector ? instruction->vector : 1;
    return (uint64_t)ptx_type_bits(instruction->type) / 8 * vector;
}

/* cp.async names its bytes as an operand. */
static void copy_bytes(struct builder *b, const struct ptx_instruction *instruction,
                       struct value_graph_access *access)
{
    const struct ptx_operand *size =
        instruction->operand_count > 2 ? &instruction->operands[2] : NULL;
    access->bytes = 0;
    if (!size)
        return;
    if (size->kind == PTX_OPERAND_IMMEDIATE)
        access->bytes = (uint64_t)size->imm;
    else if (size->kind == PTX_OPERAND_REGISTER)
        access->size = value_graph_operand(b, size, 64, false);
    if (instruction->form == PTX_FORM_CP_ASYNC && instruction->operand_count > 3)
        access->size =
            value_graph_operand(b, &instruction->operands[3], 64, false); /* bytes really read */
}

static void record_access(struct builder *b, const struct ptx_instruction *instruction,
                          const struct instruction_access *touched)
{
    struct value_graph *graph = b->graph;
    struct value_graph_access access = {.block = b->block,
                                        .kinds = touched->kinds,
                                        .space = touched->space,
                                        .instruction = instruction,
                                        .function = b->copies[b->copy].function};
    bool whole = instruction->opcode == PTX_OP_LD || instruction->opcode == PTX_OP_LDU ||
                 instruction->opcode == PTX_OP_ST || instruction->opcode == PTX_OP_ATOM ||
                 instruction->opcode == PTX_OP_RED;
    access.bytes = access_bytes(instruction);
    access.width = (uint8_t)(ptx_type_bits(instruction->type) / 8);
    if (instruction->opcode == PTX_OP_CP)
        copy_bytes(b, instruction, &access);
    if (touched->object) {
        access.bytes = 0; /* where the texels lie is not in the kernel */
        access.size = 0;
    }
    if ((access.bytes || access.size) && (whole || instruction->opcode == PTX_OP_CP))
        access.address = address(b, touched->address);
    if (access.address && memory_of(b, access.address))
        return; /* of this thread */
    if (access.address && parameter_root(b, access.address))
        return;
    if (instruction->guard != PTX_NO_REGISTER) {
        access.guard = register_read(b, instruction->guard);
        access.guard_negated = instruction->guard_negated;
    }
    graph->accesses = ptx_arena_grow(b->arena, graph->accesses, graph->access_count,
                                     &b->access_capacity, sizeof *graph->accesses);
    graph->accesses[graph->access_count++] = access;
}

static void record_accesses(struct builder *b, const struct ptx_instruction *instruction)
{
    struct instruction_access touched[INSTRUCTION_ACCESS_MAX];
    const char *unknown;
    int count = instruction_accesses_find(instruction, touched, &unknown);
    if (unknown) {
        struct instruction_access nothing = {.space = PTX_SPACE_GENERIC};
        struct value_graph_access access = {.block = b->block,
                                            .space = nothing.space,
                                            .instruction = instruction,
                                            .function = b->copies[b->copy].function};
        b->graph->accesses = ptx_arena_grow(b->arena, b->graph->accesses, b->graph->access_count,
                                            &b->access_capacity, sizeof *b->graph->accesses);
        b->graph->accesses[b->graph->access_count++] = access;
    }
    for (int i = 0; i < count; i++)
        if (touched[i].space == PTX_SPACE_GENERIC || touched[i].space == PTX_SPACE_GLOBAL ||
            touched[i].space == PTX_SPACE_CONST)
            record_access(b, instruction, &touched[i]);
}

/* ---- All ---- */

static void translate_other(struct builder *b, const struct ptx_instruction *instruction)
{
    const struct ptx_operand *to = &instruction->operands[0];
    uint32_t width = value_graph_type_width(instruction->type);
    switch (instruction->opcode) {
    case PTX_OP_POPC:
    case PTX_OP_CLZ:
        value_graph_write_unknown(b, instruction, to, 0, width, ACCESS_BOUND_SHAPE);
        break;
    case PTX_OP_BRA:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
    case PTX_OP_ST:
    case PTX_OP_RED:
    case PTX_OP_BAR:
    case PTX_OP_MEMBAR:
    case PTX_OP_FENCE:
    case PTX_OP_TRAP:
    case PTX_OP_PREFETCH:
    case PTX_OP_NANOSLEEP:
        break;
    case PTX_OP_GRIDDEPCONTROL:
        dependent_launch_note(b, instruction);
        break;
    case PTX_OP_ATOM:
    case PTX_OP_LD:
        write_nothing_known(b, instruction);
        break;
    case PTX_OP_SHFL:
    case PTX_OP_VOTE:
    case PTX_OP_MATCH:
    case PTX_OP_BFIND:
    case PTX_OP_ACTIVEMASK:
    case PTX_OP_BREV:
    case PTX_OP_PRMT:
    case PTX_OP_LOP3:
    case PTX_OP_SHF:
        for (uint32_t i = 1; i < instruction->operand_count; i++)
            if (instruction->operands[i].kind == PTX_OPERAND_REGISTER)
                memory_escape(b, register_read(b, instruction->operands[i].reg));
        write_nothing_known(b, instruction);
        break;
    default:
        write_nothing_known(b, instruction);
    }
}

void value_graph_translate(struct builder *b, const struct ptx_instruction *instruction)
{
    uint8_t type = instruction->type;
    bool integer = !ptx_type_is_float(type) && ptx_type_bits(type) >= 1 &&
                   ptx_type_bits(type) <= 64 && type != PTX_U16X2 && type != PTX_S16X2 &&
                   !instruction->sat && !instruction->carry_out && !instruction->relu;
    record_accesses(b, instruction);
    if (!integer && instruction->opcode != PTX_OP_MOV && instruction->opcode != PTX_OP_CALL &&
        instruction->opcode != PTX_OP_LD && instruction->opcode != PTX_OP_ST &&
        instruction->opcode != PTX_OP_SETP) {
        translate_other(b, instruction);
        return;
    }
    switch (instruction->opcode) {
    case PTX_OP_MOV:
        move(b, instruction);
        break;
    case PTX_OP_CVTA: {
        uint32_t node = value_graph_operand(b, &instruction->operands[1], 64, false);
        value_graph_mark_pointer(b, node);
        write_operand(b, instruction, &instruction->operands[0], node);
        break;
    }
    case PTX_OP_LD:
    case PTX_OP_LDU:
        load(b, instruction);
        break;
    case PTX_OP_ST:
        store(b, instruction);
        break;
    case PTX_OP_CALL:
        value_graph_call(b, instruction);
        break;
    case PTX_OP_ADD:
        binary(b, instruction, NODE_ADD);
        break;
    case PTX_OP_SUB:
        binary(b, instruction, NODE_SUB);
        break;
    case PTX_OP_MUL:
        multiply(b, instruction, false);
        break;
    case PTX_OP_MAD:
        multiply(b, instruction, true);
        break;
    case PTX_OP_DIV:
        binary(b, instruction, NODE_DIVIDE);
        break;
    case PTX_OP_REM:
        binary(b, instruction, NODE_REMAINDER);
        break;
    case PTX_OP_AND:
        binary(b, instruction, NODE_AND);
        break;
    case PTX_OP_OR:
        binary(b, instruction, NODE_OR);
        break;
    case PTX_OP_XOR:
        binary(b, instruction, NODE_XOR);
        break;
    case PTX_OP_NOT:
        unary(b, instruction, NODE_NOT);
        break;
    case PTX_OP_ABS:
        unary(b, instruction, NODE_ABSOLUTE);
        break;
    case PTX_OP_NEG: {
        uint32_t width = value_graph_type_width(type);
        write_operand(b, instruction, &instruction->operands[0],
                      node_operate(b, NODE_SUB, true, width, node_constant(b, 0, width),
                                   value_graph_operand(b, &instruction->operands[1], width, true)));
        break;
    }
    case PTX_OP_MIN:
        binary(b, instruction, NODE_MINIMUM);
        break;
    case PTX_OP_MAX:
        binary(b, instruction, NODE_MAXIMUM);
        break;
    case PTX_OP_SHL:
        shift(b, instruction, NODE_SHIFT_LEFT);
        break;
    case PTX_OP_SHR:
        shift(b, instruction, NODE_SHIFT_RIGHT);
        break;
    case PTX_OP_SELP:
        select_value(b, instruction);
        break;
    case PTX_OP_SETP:
        set_predicate(b, instruction);
        break;
    case PTX_OP_CVT:
        convert(b, instruction);
        break;
    case PTX_OP_BFE:
    case PTX_OP_BFI:
        bit_field(b, instruction);
        break;
    default:
        translate_other(b, instruction);
    }
}
