/* Constant expressions (PTX ISA section 4.5): what an immediate operand or an initialiser may be.
 */
#include "runtime/ptx/parser.h"

#include <string.h>

static struct constant read_binary(struct parser *parser, int lowest);

bool expression_starts(const struct parser *parser)
{
    const struct token *t = &parser->token;
    return t->kind == TOKEN_INTEGER || t->kind == TOKEN_FLOAT ||
           (t->kind == TOKEN_MARK && t->mark && strchr("-+~(", t->mark)) ||
           (t->kind == TOKEN_NAME && t->length == 7 && memcmp(t->text, "WARP_SZ", 7) == 0);
}

static struct constant integer_constant(uint64_t value)
{
    return (struct constant){.integer = value, .number = (double)(int64_t)value};
}

static void negate(struct constant *c)
{
    c->number = -c->number;
    c->has_bits = false;
    c->integer = 0 - c->integer;
}

/* "(.s64) x" and "(.u64) x": only these two casts exist */
static struct constant read_parenthesised(struct parser *parser)
{
    struct constant c;
    parser_expect_mark(parser, '(');
    if (parser->token.kind == TOKEN_DIRECTIVE) {
        bool is_unsigned = parser_at_directive(parser, "u64");
        parser_advance(parser);
        parser_expect_mark(parser, ')');
        c = read_binary(parser, 100);
        c.is_unsigned = is_unsigned;
        return c;
    }
    c = read_binary(parser, 0);
    parser_expect_mark(parser, ')');
    return c;
}

static struct constant read_primary(struct parser *parser)
{
    const struct token *t = &parser->token;
    struct constant c = {0};
    if (t->kind == TOKEN_INTEGER) {
        c = integer_constant(t->integer);
        c.is_unsigned = t->is_unsigned;
    } else if (t->kind == TOKEN_FLOAT) {
        c.is_float = true;
        c.single = t->single;
        c.number = t->number;
        c.has_bits = t->text[0] == '0' && t->length > 2 && strchr("fFdD", t->text[1]);
        c.integer = t->integer;
    } else if (t->kind == TOKEN_NAME && expression_starts(parser)) {
        c = integer_constant(32); /* WARP_SZ */
    } else if (parser_at_mark(parser, '(')) {
        return read_parenthesised(parser);
    } else {
        char text[64];
        parser_fail(parser, "expected a constant before '%s'",
                    parser_token_text(parser, text, sizeof text));
    }
    parser_advance(parser);
    return c;
}

static void nest(struct parser *parser)
{
    if (++parser->nesting > PARSER_MAX_NESTING)
        parser_fail(parser, "constant expression nested deeper than %d levels", PARSER_MAX_NESTING);
}

static struct constant read_unary(struct parser *parser)
{
    struct constant c;
    nest(parser);
    if (parser_accept_mark(parser, '-')) {
        c = read_unary(parser);
        negate(&c);
    } else if (parser_accept_mark(parser, '+')) {
        c = read_unary(parser);
    } else if (parser_accept_mark(parser, '~')) {
        c = read_unary(parser);
        c.integer = ~c.integer;
    } else if (parser_accept_mark(parser, '!')) {
        c = integer_constant(read_unary(parser).integer == 0);
    } else {
        c = read_primary(parser);
    }
    parser->nesting--;
    return c;
}

static const struct operation {
    const char *text;
    int precedence;
} operations[] = {
    {"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4}, {"&", 5}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7},
    {"<<", 8}, {">>", 8}, {"<", 7}, {">", 7}, {"+", 9}, {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};

/* The operator at the current token, of at least `lowest` precedence; consumes it. "|" alone is
 * left to the operand syntax "p|q". */
static const struct operation *accept_operation(struct parser *parser, int lowest)
{
    if (parser->token.kind != TOKEN_MARK)
        return NULL;
    char second = parser->lexer.next < parser->lexer.end ? *parser->lexer.next : 0;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        const char *text = operations[i].text;
        if (text[0] != parser->token.mark || (text[1] && text[1] != second))
            continue;
        if (operations[i].precedence < lowest)
            return NULL;
        parser_advance(parser);
        if (text[1])
            parser_advance(parser);
        return &operations[i];
    }
    return NULL;
}

static uint64_t divide(struct parser *parser, const char *text, uint64_t a, uint64_t b,
                       bool is_unsigned)
{
    if (b == 0)
        parser_fail(parser, "division by zero in a constant expression");
    if (is_unsigned)
        return text[0] == '/' ? a / b : a % b;
    if (b == UINT64_MAX) /* INT64_MIN / -1 would trap */
        return text[0] == '/' ? 0 - a : 0;
    return text[0] == '/' ? (uint64_t)((int64_t)a / (int64_t)b)
                          : (uint64_t)((int64_t)a % (int64_t)b);
}

static uint64_t apply_integer(struct parser *parser, const char *text, const struct constant *x,
                              const struct constant *y)
{
    uint64_t a = x->integer, b = y->integer;
    bool is_unsigned = x->is_unsigned || y->is_unsigned;
    bool less = is_unsigned ? a < b : (int64_t)a < (int64_t)b;
    switch (text[0]) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    case '/':
    case '%':
        return divide(parser, text, a, b, is_unsigned);
    case '^':
        return a ^ b;
    case '=':
        return a == b;
    case '!':
        return a != b;
    case '|':
        return text[1] ? (a || b) : (a | b);
    case '&':
        return text[1] ? (a && b) : (a & b);
    case '<':
        if (text[1] == '<')
            return b < 64 ? a << b : 0;
        return text[1] ? less || a == b : less;
    default:
        break;
    }
    if (text[1] == '>') {
        if (x->is_unsigned)
            return b < 64 ? a >> b : 0;
        uint64_t shift = b < 63 ? b : 63, sign = a >> 63 ? UINT64_MAX : 0;
        return shift ? a >> shift | sign << (64 - shift) : a;
    }
    return text[1] ? !less : !less && a != b;
}

static struct constant apply(struct parser *parser, const char *text, struct constant a,
                             const struct constant *b)
{
    if (!a.is_float && !b->is_float) {
        uint64_t value = apply_integer(parser, text, &a, b);
        bool is_unsigned = a.is_unsigned || b->is_unsigned;
        a = integer_constant(value);
        a.is_unsigned = is_unsigned;
        return a;
    }
    double value = text[0] == '+'   ? a.number + b->number
                   : text[0] == '-' ? a.number - b->number
                   : text[0] == '*' ? a.number * b->number
                   : text[0] == '/' ? a.number / b->number
                                    : 0;
    if (!strchr("+-*/", text[0]))
        parser_fail(parser, "'%s' on floating-point constants", text);
    return (struct constant){.is_float = true, .single = a.single && b->single, .number = value};
}

static struct constant read_binary(struct parser *parser, int lowest)
{
    nest(parser);
    struct constant left = read_unary(parser);
    const struct operation *operation;
    while ((operation = accept_operation(parser, lowest))) {
        struct constant right = read_binary(parser, operation->precedence + 1);
        left = apply(parser, operation->text, left, &right);
    }
    if (lowest == 0 && parser_accept_mark(parser, '?')) {
        struct constant yes = read_binary(parser, 0);
        parser_expect_mark(parser, ':');
        struct constant no = read_binary(parser, 0);
        left = left.integer ? yes : no;
    }
    parser->nesting--;
    return left;
}

struct constant expression_read(struct parser *parser)
{
    return read_binary(parser, 0);
}

int64_t expression_read_integer(struct parser *parser)
{
    struct constant c = expression_read(parser);
    if (c.is_float)
        parser_fail(parser, "expected an integer constant");
    return (int64_t)c.integer;
}

/* IEEE binary16 by rounding to nearest even; the host compiler need not have the type. */
static uint16_t half_bits(double value)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    uint32_t sign = (bits >> 16) & 0x8000, mantissa = bits & 0x7fffff;
    int exponent = (int)((bits >> 23) & 0xff) - 127 + 15;
    if (exponent >= 31)
        return (uint16_t)(sign | 0x7c00 | (((bits >> 23) & 0xff) == 0xff && mantissa ? 0x200 : 0));
    if (exponent <= 0) {
        if (exponent < -10)
            return (uint16_t)sign;
        mantissa |= 0x800000;
        uint32_t shift = (uint32_t)(14 - exponent), half = mantissa >> shift;
        uint32_t rest = mantissa & ((1u << shift) - 1), middle = 1u << (shift - 1);
        return (uint16_t)(sign | (half + (rest > middle || (rest == middle && (half & 1)))));
    }
    uint32_t half = ((uint32_t)exponent << 10) | (mantissa >> 13), rest = mantissa & 0x1fff;
    return (uint16_t)(sign | (half + (rest > 0x1000 || (rest == 0x1000 && (half & 1)))));
}

static uint16_t bfloat_bits(double value)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)((bits >> 16) | 0x40);
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static int64_t single_bits(double value)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

int64_t ptx_constant_bits(const struct constant *c, enum ptx_type type)
{
    if (!c->is_float && !ptx_type_is_float(type))
        return (int64_t)c->integer;
    if (c->has_bits && ptx_type_bits(type) == (c->single ? 32 : 64))
        return (int64_t)c->integer; /* exactly as written, NaN payloads too */
    switch (type) {
    case PTX_F16:
        return half_bits(c->number);
    case PTX_BF16:
        return bfloat_bits(c->number);
    case PTX_F16X2:
    case PTX_BF16X2:
        return c->is_float ? single_bits(c->number) : (int64_t)c->integer;
    case PTX_F64:
        break;
    case PTX_F32:
    case PTX_TF32:
    case PTX_B32:
    case PTX_U32:
    case PTX_S32:
        return single_bits(c->number);
    default:
        if (c->single)
            return single_bits(c->number);
    }
    uint64_t bits;
    memcpy(&bits, &c->number, sizeof bits);
    return (int64_t)bits;
}
