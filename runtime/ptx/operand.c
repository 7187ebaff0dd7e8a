/* Operands of an instruction (PTX ISA section 6): registers, special registers, constants, symbols,
 * addresses in brackets, vectors in braces. */
#include "runtime/ptx/parser.h"
#include "runtime/ptx/suffix.h"

#include <string.h>

uint32_t ptx_operand_find_register(struct parser *parser, struct name *name)
{
    struct register_range *range = names_find_range(&parser->names, name);
    if (range) {
        struct binding *binding = names_bind(&parser->names, range->scope, name, BINDING_REGISTER);
        if (binding)
            binding->index = declaration_add_register(parser, name->text, range->type);
    }
    return name->binding && name->binding->kind == BINDING_REGISTER ? name->binding->index
                                                                    : PTX_NO_REGISTER;
}

/* Labels and registers may shadow in confusing ways; what an operand can mean is found first. */
struct binding *ptx_operand_find_binding(struct name *name)
{
    return name->binding;
}

/* Special registers of future versions pass; "%r7" is a register that somebody forgot. */
static bool may_be_special(const struct name *name)
{
    char last = name->text[name->length - 1];
    bool numbered = last >= '0' && last <= '9';
    return name->text[0] == '%' &&
           (!numbered || ptx_special_register_find(name->text, name->length) != PTX_SREG_NONE ||
            strncmp(name->text, "%reserved_", 10) == 0);
}

/* "%tid.x": a name and, attached, a component. An unknown one stays SPECIAL with PTX_SREG_NONE. */
static void read_special(struct parser *parser, const struct name *name,
                         struct ptx_operand *operand)
{
    char text[64];
    size_t length = name->length < sizeof text - 4 ? name->length : sizeof text - 4;
    memcpy(text, name->text, length);
    if (parser->token.kind == TOKEN_DIRECTIVE && parser->token.attached &&
        parser->token.length == 1) {
        text[length++] = '.';
        text[length++] = parser->token.text[0];
        parser_advance(parser);
    }
    operand->kind = PTX_OPERAND_SPECIAL;
    operand->special = (uint8_t)ptx_special_register_find(text, length);
}

/* What a name stands for, as an operand's or an address's base. */
static void read_name(struct parser *parser, struct ptx_operand *operand)
{
    struct name *name = parser_expect_name(parser);
    operand->reg = ptx_operand_find_register(parser, name);
    if (operand->reg != PTX_NO_REGISTER) {
        operand->kind = PTX_OPERAND_REGISTER;
        if (parser->token.kind == TOKEN_DIRECTIVE && parser->token.attached) {
            parser->has_selector = true; /* "%r1.b0", "%r1.h1" of the video instructions */
            parser_advance(parser);
        }
        return;
    }
    struct binding *binding = ptx_operand_find_binding(name);
    if (!binding && may_be_special(name)) {
        read_special(parser, name, operand);
    } else if (!binding) {
        parser_fail(parser, "'%.80s' is not declared", name->text);
    } else if (binding->kind == BINDING_VARIABLE) {
        operand->kind = PTX_OPERAND_SYMBOL;
        operand->variable = binding->variable;
    } else if (binding->kind == BINDING_FUNCTION) {
        operand->kind = PTX_OPERAND_FUNCTION;
        operand->function = binding->function;
    } else {
        parser_fail(parser, "'%.80s' is a label and cannot be an operand here", name->text);
    }
}

static void read_offset(struct parser *parser, struct ptx_operand *operand)
{
    while (parser_at_mark(parser, '+') || parser_at_mark(parser, '-')) {
        bool minus = parser_at_mark(parser, '-');
        parser_advance(parser);
        uint64_t offset = (uint64_t)expression_read_integer(parser);
        operand->imm = (int64_t)((uint64_t)operand->imm + (minus ? 0 - offset : offset));
    }
}

static void read_vector(struct parser *parser, struct ptx_operand *operand, enum ptx_type type)
{
    struct ptx_operand *elements = NULL;
    size_t count = 0, capacity = 0;
    parser_expect_mark(parser, '{');
    if (++parser->nesting > PARSER_MAX_NESTING)
        parser_fail(parser, "vector operand nested deeper than %d", PARSER_MAX_NESTING);
    while (!parser_at_mark(parser, '}')) {
        elements = ptx_arena_grow(&parser->scratch, elements, count, &capacity, sizeof *elements);
        ptx_operand_read(parser, &elements[count++], type);
        if (!parser_accept_mark(parser, ','))
            break;
    }
    parser_expect_mark(parser, '}');
    parser->nesting--;
    struct ptx_operand *kept = ptx_arena_array(parser->arena, count, sizeof *kept);
    if (count)
        memcpy(kept, elements, count * sizeof *kept);
    operand->kind = PTX_OPERAND_VECTOR;
    operand->elements = kept;
    operand->count = (uint32_t)count;
}

/* The operands after the base in "[texture, sampler, {x, y}]" and "[map, {x, y}]" */
static void read_coordinates(struct parser *parser, struct ptx_operand *address, enum ptx_type type)
{
    struct ptx_operand *parts = ptx_arena_array(parser->arena, 4, sizeof *parts);
    while (parser_accept_mark(parser, ',')) {
        if (address->count == 4)
            parser_fail(parser, "more than 5 parts in an address");
        ptx_operand_read(parser, &parts[address->count++], type);
    }
    address->elements = parts;
}

static void read_address(struct parser *parser, struct ptx_operand *operand, enum ptx_type type)
{
    parser_expect_mark(parser, '[');
    if (++parser->nesting > PARSER_MAX_NESTING)
        parser_fail(parser, "address nested deeper than %d", PARSER_MAX_NESTING);
    if (parser->token.kind == TOKEN_NAME && !expression_starts(parser)) {
        read_name(parser, operand);
        if (operand->kind != PTX_OPERAND_REGISTER && operand->kind != PTX_OPERAND_SYMBOL)
            parser_fail(parser, "an address needs a register, a variable or a constant");
        operand->base = operand->kind;
        read_offset(parser, operand);
    } else {
        operand->base = PTX_OPERAND_IMMEDIATE;
        operand->imm = expression_read_integer(parser);
    }
    operand->kind = PTX_OPERAND_ADDRESS;
    if (parser_at_mark(parser, ','))
        read_coordinates(parser, operand, type);
    parser_expect_mark(parser, ']');
    parser->nesting--;
}

/* "array[3]" is the address of an element (section 6.4.3) */
static void read_element(struct parser *parser, struct ptx_operand *operand)
{
    parser_expect_mark(parser, '[');
    uint64_t index = (uint64_t)expression_read_integer(parser);
    parser_expect_mark(parser, ']');
    uint64_t bytes = (ptx_type_bits(operand->variable->type) + 7) / 8;
    operand->imm = (int64_t)(index * bytes);
    operand->base = PTX_OPERAND_SYMBOL;
    operand->kind = PTX_OPERAND_ADDRESS;
}

static void read_named(struct parser *parser, struct ptx_operand *operand)
{
    if (parser->token.length == 1 && parser->token.text[0] == '_') {
        operand->kind = PTX_OPERAND_SINK;
        parser_advance(parser);
        return;
    }
    read_name(parser, operand);
    if (operand->kind != PTX_OPERAND_SYMBOL)
        return;
    if (parser_at_mark(parser, '['))
        read_element(parser, operand);
    else
        read_offset(parser, operand);
}

/* "!p" is a predicate negated, "!4" a constant expression. */
static bool negates_constant(struct parser *parser)
{
    char next = lexer_peek(&parser->lexer);
    return (next >= '0' && next <= '9') || next == '(' || next == '!';
}

void ptx_operand_read(struct parser *parser, struct ptx_operand *operand, enum ptx_type type)
{
    *operand = (struct ptx_operand){.reg = PTX_NO_REGISTER};
    if (parser_at_mark(parser, '{')) {
        read_vector(parser, operand, type);
    } else if (parser_at_mark(parser, '[')) {
        read_address(parser, operand, type);
    } else if (parser_at_mark(parser, '!') && !negates_constant(parser)) {
        parser_advance(parser);
        read_named(parser, operand);
        operand->negated = true;
    } else if (parser->token.kind == TOKEN_NAME && !expression_starts(parser)) {
        read_named(parser, operand);
    } else {
        struct constant constant = expression_read(parser);
        operand->kind = PTX_OPERAND_IMMEDIATE;
        operand->imm = ptx_constant_bits(&constant, type);
    }
}
