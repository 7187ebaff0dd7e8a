/* Declarations (PTX ISA sections 5 and 11.4): registers, variables of every state space with their
 * initialisers, and parameters. */
#include "runtime/ptx/parser.h"
#include "runtime/ptx/suffix.h"

#include <string.h>

/* Everything a declaration says before the name. */
struct shape {
    uint8_t space, type, ptr_space;
    bool is_ptr, managed;
    uint32_t align, vector;
};

static const struct {
    const char *word;
    uint8_t space;
} spaces[] = {
    {"global", PTX_SPACE_GLOBAL}, {"const", PTX_SPACE_CONST}, {"shared", PTX_SPACE_SHARED},
    {"local", PTX_SPACE_LOCAL},   {"param", PTX_SPACE_PARAM}, {"reg", PTX_SPACE_REG},
};

static uint8_t find_space(const struct parser *parser)
{
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (parser_at_directive(parser, spaces[i].word))
            return spaces[i].space;
    return PTX_SPACE_GENERIC;
}

bool declaration_is_space(const struct parser *parser)
{
    return find_space(parser) != PTX_SPACE_GENERIC;
}

/* .attribute(.managed), .attribute(.unified(1, 2)) */
static void read_attribute(struct parser *parser, struct shape *shape)
{
    unsigned depth = 0;
    do {
        if (parser->token.kind == TOKEN_END)
            parser_fail(parser, "the text ends inside .attribute(");
        if (parser_at_directive(parser, "managed"))
            shape->managed = true;
        depth += parser_at_mark(parser, '(');
        depth -= depth && parser_at_mark(parser, ')');
        parser_advance(parser);
    } while (depth);
}

static uint32_t read_alignment(struct parser *parser)
{
    int64_t align = expression_read_integer(parser);
    if (align < 1 || align > 1 << 20 || (align & (align - 1)))
        parser_fail(parser, ".align %lld is no power of two up to 1048576", (long long)align);
    return (uint32_t)align;
}

/* ".ptr .global .align 8": the alignment is the pointed-to memory's */
static void read_pointer(struct parser *parser, struct shape *shape)
{
    shape->is_ptr = true;
    uint8_t space = find_space(parser);
    if (space != PTX_SPACE_GENERIC) {
        shape->ptr_space = space;
        parser_advance(parser);
    }
    if (parser_accept_directive(parser, "align"))
        read_alignment(parser);
}

static struct shape read_shape(struct parser *parser)
{
    struct shape shape = {.space = find_space(parser), .vector = 1};
    parser_advance(parser);
    if (parser_at_mark(parser, '[')) { /* .const[2]: a bank */
        parser_advance(parser);
        expression_read_integer(parser);
        parser_expect_mark(parser, ']');
    }
    while (parser->token.kind == TOKEN_DIRECTIVE) {
        enum ptx_type type = ptx_suffix_type(parser->token.text, parser->token.length);
        if (parser_accept_directive(parser, "align")) {
            shape.align = read_alignment(parser);
        } else if (parser_accept_directive(parser, "attribute")) {
            read_attribute(parser, &shape);
        } else if (parser_accept_directive(parser, "ptr")) {
            read_pointer(parser, &shape);
        } else if (parser_at_directive(parser, "v2") || parser_at_directive(parser, "v4") ||
                   parser_at_directive(parser, "v8")) {
            shape.vector = (uint32_t)(parser->token.text[1] - '0');
            parser_advance(parser);
        } else if (type != PTX_TYPE_NONE) {
            shape.type = type;
            parser_advance(parser);
        } else {
            char text[64];
            parser_fail(parser, "'.%s' does not belong in a declaration",
                        parser_token_text(parser, text, sizeof text));
        }
    }
    if (shape.type == PTX_TYPE_NONE)
        parser_fail(parser, "a declaration without a type");
    return shape;
}

/* Bytes of one scalar of a type; opaque references are handles of 8 bytes. */
static uint32_t scalar_bytes(uint8_t type)
{
    uint32_t bits = ptx_type_bits(type);
    return bits ? (bits + 7) / 8 : 8;
}

/* ---- registers ---- */

uint32_t declaration_add_register(struct parser *parser, const char *name, uint8_t type)
{
    struct body *body = parser->body;
    if (!body)
        parser_fail(parser, "register '%.80s' outside a function", name);
    body->registers = ptx_arena_grow(&parser->scratch, body->registers, body->register_count,
                                     &body->register_capacity, sizeof *body->registers);
    body->registers[body->register_count] =
        (struct ptx_register){ptx_arena_text(parser->arena, name, strlen(name)), type};
    return (uint32_t)body->register_count++;
}

static void bind_register(struct parser *parser, struct name *name, uint8_t type)
{
    struct binding *binding = names_bind(&parser->names, parser->scope, name, BINDING_REGISTER);
    if (!binding)
        parser_fail(parser, "'%.80s' is declared twice", name->text);
    binding->index = declaration_add_register(parser, name->text, type);
}

void declaration_read_registers(struct parser *parser)
{
    struct shape shape = read_shape(parser);
    if (shape.vector != 1)
        parser_fail(parser, "vector registers (.v2, .v4 in .reg) are not supported");
    do {
        struct name *name = parser_expect_name(parser);
        if (!parser_accept_mark(parser, '<')) {
            bind_register(parser, name, shape.type);
            continue;
        }
        /* a plain integer: an expression would take the '>' for a comparison */
        if (parser->token.kind != TOKEN_INTEGER || parser->token.integer > PARSER_MAX_RANGE)
            parser_fail(parser, "a register range needs a count up to %d", PARSER_MAX_RANGE);
        uint32_t count = (uint32_t)parser->token.integer;
        parser_advance(parser);
        parser_expect_mark(parser, '>');
        if (!names_bind_range(&parser->names, parser->scope, name, shape.type, count))
            parser_fail(parser, "register range '%.80s' is declared twice", name->text);
    } while (parser_accept_mark(parser, ','));
    parser_expect_mark(parser, ';');
}

/* ---- initialisers ---- */

/* Where the next element of an initialiser goes. */
struct initialiser {
    struct ptx_variable *variable;
    uint8_t *bytes;
    size_t capacity;
    uint64_t position, highest;
    uint32_t element;        /* bytes of one */
    const uint64_t *strides; /* bytes of what one brace at each level spans, outermost first */
    uint32_t levels;
    struct ptx_relocation *relocations;
    size_t relocation_count, relocation_capacity;
};

static void reserve(struct parser *parser, struct initialiser *to, uint64_t bytes)
{
    uint64_t end = to->position + bytes;
    if (!to->variable->unsized && end > to->variable->size)
        parser_fail(parser, "too many values to initialise '%.80s' of %llu bytes",
                    to->variable->name, (unsigned long long)to->variable->size);
    if (end > PARSER_MAX_INITIALISED)
        parser_fail(parser, "the initialiser of '%.80s' is larger than %llu bytes",
                    to->variable->name, (unsigned long long)PARSER_MAX_INITIALISED);
    if (end > to->capacity) {
        size_t larger = to->capacity ? to->capacity * 2 : 64;
        while (larger < end)
            larger *= 2;
        uint8_t *moved = ptx_arena_array(&parser->scratch, larger, 1);
        if (to->highest)
            memcpy(moved, to->bytes, to->highest);
        to->bytes = moved;
        to->capacity = larger;
    }
    if (end > to->highest)
        to->highest = end;
}

static void put_constant(struct parser *parser, struct initialiser *to, const struct constant *c)
{
    uint64_t bits = (uint64_t)ptx_constant_bits(c, to->variable->type);
    reserve(parser, to, to->element);
    for (uint32_t i = 0; i < to->element; i++)
        to->bytes[to->position + i] = i < 8 ? (uint8_t)(bits >> (8 * i)) : 0;
    to->position += to->element;
}

/* sym, sym+4, generic(sym)-8; `mask` selects bytes of the address: 0xFF00(sym) (section 5.4.4) */
static void put_symbol(struct parser *parser, struct initialiser *to, uint64_t mask)
{
    struct ptx_relocation relocation = {.offset = to->position, .bytes = (uint8_t)to->element};
    struct name *name = parser_expect_name(parser);
    if (!strcmp(name->text, "generic") && parser_accept_mark(parser, '(')) {
        relocation.generic = true;
        name = parser_expect_name(parser);
        parser_expect_mark(parser, ')');
    }
    relocation.symbol = ptx_arena_text(parser->arena, name->text, name->length);
    while (parser_at_mark(parser, '+') || parser_at_mark(parser, '-')) {
        bool minus = parser_at_mark(parser, '-');
        parser_advance(parser);
        uint64_t addend = (uint64_t)expression_read_integer(parser);
        relocation.addend = (int64_t)((uint64_t)relocation.addend + (minus ? 0 - addend : addend));
    }
    for (; mask && !(mask & 0xff); mask >>= 8)
        relocation.shift++;
    reserve(parser, to, to->element);
    to->position += to->element;
    to->relocations = ptx_arena_grow(&parser->scratch, to->relocations, to->relocation_count,
                                     &to->relocation_capacity, sizeof relocation);
    to->relocations[to->relocation_count++] = relocation;
}

static void put_string(struct parser *parser, struct initialiser *to)
{
    for (size_t i = 0; i < parser->token.length; i++) {
        struct constant c = {.integer = (unsigned char)parser->token.text[i]};
        put_constant(parser, to, &c);
    }
    parser_advance(parser);
}

static void read_value(struct parser *parser, struct initialiser *to)
{
    if (parser->token.kind == TOKEN_STRING) {
        put_string(parser, to);
    } else if (parser->token.kind == TOKEN_NAME && !expression_starts(parser)) {
        put_symbol(parser, to, 0);
    } else if (parser->token.kind == TOKEN_INTEGER && lexer_peek(&parser->lexer) == '(') {
        uint64_t mask = parser->token.integer;
        parser_advance(parser);
        parser_expect_mark(parser, '(');
        put_symbol(parser, to, mask);
        parser_expect_mark(parser, ')');
    } else {
        struct constant c = expression_read(parser);
        put_constant(parser, to, &c);
    }
}

static void read_values(struct parser *parser, struct initialiser *to, uint32_t level)
{
    uint64_t start = to->position;
    if (level > PARSER_MAX_NESTING)
        parser_fail(parser, "initialiser nested deeper than %d", PARSER_MAX_NESTING);
    parser_expect_mark(parser, '{');
    while (!parser_at_mark(parser, '}')) {
        if (parser_at_mark(parser, '{'))
            read_values(parser, to, level + 1);
        else
            read_value(parser, to);
        if (!parser_accept_mark(parser, ','))
            break;
    }
    parser_expect_mark(parser, '}');
    if (level > 0 && level <= to->levels && to->position < start + to->strides[level - 1])
        to->position = start + to->strides[level - 1]; /* a row not written in full is padded */
}

/* Texture and sampler references are initialised by field names, which nothing here needs. */
static void skip_braces(struct parser *parser)
{
    unsigned depth = 0;
    do {
        if (parser->token.kind == TOKEN_END)
            parser_fail(parser, "the text ends inside an initialiser");
        depth += parser_at_mark(parser, '{');
        depth -= depth && parser_at_mark(parser, '}');
        parser_advance(parser);
    } while (depth);
}

static void keep_initialiser(struct parser *parser, struct initialiser *from)
{
    struct ptx_variable *variable = from->variable;
    if (variable->unsized) {
        variable->unsized = false;
        variable->size = from->highest;
    }
    parser->initialised_bytes += variable->size;
    if (variable->size > PARSER_MAX_INITIALISED ||
        parser->initialised_bytes > PARSER_MAX_INITIALISED_ALL)
        parser_fail(parser, "'%.80s': more initialised memory than the limit of %llu bytes",
                    variable->name, (unsigned long long)PARSER_MAX_INITIALISED);
    uint8_t *bytes = ptx_arena_array(parser->arena, variable->size, 1);
    if (from->highest)
        memcpy(bytes, from->bytes, from->highest);
    variable->init = bytes;
    size_t count = from->relocation_count;
    struct ptx_relocation *kept = ptx_arena_array(parser->arena, count, sizeof *kept);
    for (size_t i = 0; i < count; i++) {
        kept[i] = from->relocations[i];
        parser->relocations =
            ptx_arena_grow(&parser->scratch, parser->relocations, parser->relocation_count,
                           &parser->relocation_capacity, sizeof *parser->relocations);
        parser->relocations[parser->relocation_count++] =
            (struct pending_relocation){&kept[i], parser->token.line};
    }
    variable->relocations = kept;
    variable->relocation_count = (uint32_t)count;
}

static void read_initialiser(struct parser *parser, struct ptx_variable *variable,
                             const uint64_t *strides, uint32_t levels)
{
    if (ptx_type_bits(variable->type) == 0) {
        skip_braces(parser);
        return;
    }
    struct initialiser to = {.variable = variable,
                             .element = scalar_bytes(variable->type),
                             .strides = strides,
                             .levels = levels};
    if (parser_at_mark(parser, '{'))
        read_values(parser, &to, 0);
    else
        read_value(parser, &to);
    keep_initialiser(parser, &to);
}

void declaration_resolve_relocations(struct parser *parser)
{
    for (size_t i = 0; i < parser->relocation_count; i++) {
        struct ptx_relocation *relocation = parser->relocations[i].relocation;
        struct name *name =
            names_intern(&parser->names, relocation->symbol, strlen(relocation->symbol));
        struct binding *binding = name->binding;
        if (binding && binding->kind == BINDING_VARIABLE)
            relocation->variable = binding->variable;
        else if (binding && binding->kind == BINDING_FUNCTION)
            relocation->function = binding->function;
        else
            parser_fail_at(parser, parser->relocations[i].line,
                           "an initialiser names '%.80s', which is not declared", name->text);
    }
}

/* ---- variables ---- */

enum { MAX_DIMENSIONS = 16 };

/* "[4][8]" after a name: bytes that one item at each level spans; returns the levels. */
static uint32_t read_dimensions(struct parser *parser, struct ptx_variable *variable,
                                uint64_t item_bytes, uint64_t *strides)
{
    uint64_t counts[MAX_DIMENSIONS] = {0};
    uint32_t levels = 0;
    while (parser_accept_mark(parser, '[')) {
        if (levels == MAX_DIMENSIONS)
            parser_fail(parser, "an array of more than %d dimensions", MAX_DIMENSIONS);
        if (parser_at_mark(parser, ']')) {
            variable->unsized = true;
            counts[levels] = 0;
        } else {
            int64_t count = expression_read_integer(parser);
            if (count < 0)
                parser_fail(parser, "an array of %lld items", (long long)count);
            counts[levels] = (uint64_t)count;
        }
        levels++;
        parser_expect_mark(parser, ']');
    }
    uint64_t bytes = item_bytes;
    for (uint32_t i = levels; i-- > 0;) {
        strides[i] = bytes;
        if (counts[i] && bytes > PARSER_MAX_VARIABLE / counts[i])
            parser_fail(parser, "'%.80s' is larger than %llu bytes", variable->name,
                        (unsigned long long)PARSER_MAX_VARIABLE);
        bytes *= counts[i];
    }
    variable->size = bytes;
    return levels;
}

static uint64_t place(uint64_t *cursor, const struct ptx_variable *variable)
{
    uint64_t offset = (*cursor + variable->align - 1) / variable->align * variable->align;
    *cursor = offset + variable->size;
    return offset;
}

static void place_in_frame(struct parser *parser, struct ptx_variable *variable)
{
    struct ptx_function *function = parser->body->function;
    if (variable->linkage == PTX_LINK_EXTERN)
        return;
    if (variable->space == PTX_SPACE_LOCAL) {
        variable->offset = place(&function->local_bytes, variable);
    } else if (variable->space == PTX_SPACE_SHARED) {
        variable->offset = place(&function->shared_bytes, variable);
    } else if (variable->space == PTX_SPACE_PARAM) {
        variable->offset = place(&parser->body->param_cursor, variable);
        if (function->param_frame_bytes < parser->body->param_cursor)
            function->param_frame_bytes = parser->body->param_cursor;
    }
}

static void register_variable(struct parser *parser, struct ptx_variable *variable)
{
    struct body *body = parser->body;
    if (body) {
        variable->owner = body->function;
        body->locals = ptx_arena_grow(&parser->scratch, body->locals, body->local_count,
                                      &body->local_capacity, sizeof *body->locals);
        body->locals[body->local_count++] = variable;
        place_in_frame(parser, variable);
    }
    if (variable->space == PTX_SPACE_GLOBAL || variable->space == PTX_SPACE_CONST ||
        variable->space == PTX_SPACE_SHARED) {
        parser->variables =
            ptx_arena_grow(&parser->scratch, parser->variables, parser->variable_count,
                           &parser->variable_capacity, sizeof *parser->variables);
        parser->variables[parser->variable_count++] = variable;
    }
}

/* A module-scope variable may be declared .extern before (or after) it is defined: one object. */
static struct ptx_variable *redeclare(struct parser *parser, struct name *name,
                                      const struct ptx_variable *now)
{
    struct ptx_variable *before = name->binding->variable;
    bool declared_before = before && before->linkage == PTX_LINK_EXTERN;
    bool declares_again = now->linkage == PTX_LINK_EXTERN;
    if (name->binding->kind != BINDING_VARIABLE || !before || parser->body ||
        before->space != now->space || !(declared_before || declares_again))
        parser_fail(parser, "'%.80s' is declared twice", name->text);
    if (declared_before && !declares_again)
        *before = *now;
    return before;
}

static struct ptx_variable *bind_variable(struct parser *parser, struct name *name,
                                          const struct ptx_variable *draft)
{
    struct binding *binding = names_bind(&parser->names, parser->scope, name, BINDING_VARIABLE);
    if (!binding)
        return redeclare(parser, name, draft);
    struct ptx_variable *variable = ptx_arena_allocate(parser->arena, sizeof *variable);
    *variable = *draft;
    binding->variable = variable;
    return variable;
}

static void read_variable(struct parser *parser, const struct shape *shape,
                          enum ptx_linkage linkage)
{
    struct name *name = parser_expect_name(parser);
    uint64_t item_bytes = (uint64_t)scalar_bytes(shape->type) * shape->vector;
    struct ptx_variable draft = {.name = ptx_arena_text(parser->arena, name->text, name->length),
                                 .space = shape->space,
                                 .type = shape->type,
                                 .linkage = (uint8_t)linkage,
                                 .managed = shape->managed,
                                 .align = shape->align ? shape->align : (uint32_t)item_bytes};
    uint64_t strides[MAX_DIMENSIONS];
    if (draft.align & (draft.align - 1))
        draft.align = 1;
    uint32_t levels = read_dimensions(parser, &draft, item_bytes, strides);
    if (parser_accept_mark(parser, '='))
        read_initialiser(parser, &draft, strides, levels);
    bool known = name->binding && name->binding->depth == parser->scope->depth;
    struct ptx_variable *variable = bind_variable(parser, name, &draft);
    if (!known)
        register_variable(parser, variable);
}

void declaration_read(struct parser *parser, enum ptx_linkage linkage)
{
    struct shape shape = read_shape(parser);
    bool in_frame = shape.space == PTX_SPACE_LOCAL || shape.space == PTX_SPACE_PARAM;
    if (!parser->body && in_frame)
        parser_fail(parser, "a .local or .param variable outside a function");
    do
        read_variable(parser, &shape, linkage);
    while (parser_accept_mark(parser, ','));
    parser_expect_mark(parser, ';');
}

/* ---- parameters ---- */

static struct ptx_variable *param_variable(struct parser *parser, struct ptx_function *function,
                                           const struct ptx_param *param)
{
    struct ptx_variable *variable = ptx_arena_allocate(parser->arena, sizeof *variable);
    variable->name = param->name;
    variable->space = PTX_SPACE_PARAM;
    variable->type = param->type;
    variable->align = param->align;
    variable->size = param->size;
    variable->offset = param->offset;
    variable->owner = function;
    return variable;
}

static void bind_param(struct parser *parser, struct ptx_function *function, struct name *name,
                       const struct shape *shape, struct ptx_param *param)
{
    if (shape->space == PTX_SPACE_REG) {
        bind_register(parser, name, shape->type);
        param->reg = name->binding->index;
        return;
    }
    struct binding *binding = names_bind(&parser->names, parser->scope, name, BINDING_VARIABLE);
    if (!binding)
        parser_fail(parser, "parameter '%.80s' is declared twice", name->text);
    binding->variable = param_variable(parser, function, param);
    param->variable = binding->variable;
}

static void read_param(struct parser *parser, struct ptx_function *function, bool binds,
                       uint64_t *cursor, struct ptx_param *param)
{
    uint8_t space = find_space(parser);
    if (space != PTX_SPACE_PARAM && space != PTX_SPACE_REG)
        parser_fail(parser, "expected .param or .reg in a parameter list");
    struct shape shape = read_shape(parser);
    struct name *name = parser_expect_name(parser);
    struct ptx_variable draft = {.name = name->text};
    uint64_t strides[MAX_DIMENSIONS];
    uint64_t item_bytes = (uint64_t)scalar_bytes(shape.type) * shape.vector;
    read_dimensions(parser, &draft, item_bytes, strides);
    draft.align = shape.align ? shape.align : (uint32_t)item_bytes;
    uint64_t offset = space == PTX_SPACE_PARAM ? place(cursor, &draft) : 0;
    if (*cursor > 1 << 24)
        parser_fail(parser, "more than 16 MiB of parameters");
    *param = (struct ptx_param){.name = ptx_arena_text(parser->arena, name->text, name->length),
                                .type = shape.type,
                                .ptr_space = shape.ptr_space,
                                .is_ptr = shape.is_ptr,
                                .align = draft.align,
                                .size = (uint32_t)draft.size,
                                .offset = (uint32_t)offset,
                                .reg = PTX_NO_REGISTER};
    if (binds && strcmp(name->text, "_") != 0)
        bind_param(parser, function, name, &shape, param);
}

struct ptx_param *declaration_read_params(struct parser *parser, struct ptx_function *function,
                                          bool binds, uint32_t *count, uint64_t *cursor)
{
    struct ptx_param *params = NULL;
    size_t capacity = 0, read = 0;
    parser_expect_mark(parser, '(');
    while (!parser_at_mark(parser, ')')) {
        params = ptx_arena_grow(&parser->scratch, params, read, &capacity, sizeof *params);
        read_param(parser, function, binds, cursor, &params[read++]);
        if (!parser_accept_mark(parser, ','))
            break;
    }
    parser_expect_mark(parser, ')');
    struct ptx_param *kept = ptx_arena_array(parser->arena, read, sizeof *kept);
    if (read)
        memcpy(kept, params, read * sizeof *kept);
    *count = (uint32_t)read;
    return kept;
}
