/* Tokens of PTX: names, directives, numbers, strings and marks; blanks and comments are dropped.
 * Reads each byte a bounded number of times, so any input takes linear time. */
#include "runtime/ptx/lexer.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool lexer_is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void lexer_start(struct lexer *lexer, const char *text, size_t bytes)
{
    const char *nul = bytes ? memchr(text, 0, bytes) : NULL;
    lexer->next = text;
    lexer->end = nul ? nul : text + bytes;
    lexer->line = 1;
    lexer_leave_out(lexer, NULL, 0);
}

void lexer_leave_out(struct lexer *lexer, const struct lexer_gap *gaps, size_t count)
{
    lexer->gaps = gaps;
    lexer->gap_count = count;
    lexer->gap_begin = count ? gaps->begin : NULL;
}

static void skip_gap(struct lexer *lexer)
{
    lexer->next = lexer->gaps->end;
    lexer->line += lexer->gaps->lines;
    lexer_leave_out(lexer, lexer->gaps + 1, lexer->gap_count - 1);
}

static void skip_comment(struct lexer *lexer)
{
    bool block = lexer->next[1] == '*';
    lexer->next += 2;
    for (; lexer->next < lexer->end; lexer->next++) {
        if (*lexer->next == '\n') {
            if (!block)
                return;
            lexer->line++;
        } else if (block && *lexer->next == '*' && lexer->next + 1 < lexer->end &&
                   lexer->next[1] == '/') {
            lexer->next += 2;
            return;
        }
    }
}

static void skip_blanks(struct lexer *lexer)
{
    while (lexer->next < lexer->end) {
        char c = *lexer->next;
        if (c == '\n')
            lexer->line++;
        if (c == ' ' || (c >= '\t' && c <= '\r'))
            lexer->next++;
        else if (c == '/' && lexer->next + 1 < lexer->end &&
                 (lexer->next[1] == '/' || lexer->next[1] == '*'))
            skip_comment(lexer);
        else if (lexer->next == lexer->gap_begin)
            skip_gap(lexer);
        else
            return;
    }
}

char lexer_peek(struct lexer *lexer)
{
    skip_blanks(lexer);
    return lexer->next < lexer->end ? *lexer->next : 0;
}

static void lex_name(struct lexer *lexer, struct token *token)
{
    token->kind = TOKEN_NAME;
    while (lexer->next < lexer->end && lexer_is_word(*lexer->next))
        lexer->next++;
    token->length = (size_t)(lexer->next - token->text);
}

/* ".shared::cta" is one directive, but "label:" after a directive keeps its colon. */
static void lex_directive(struct lexer *lexer, struct token *token)
{
    token->kind = TOKEN_DIRECTIVE;
    token->text++;
    while (lexer->next < lexer->end) {
        if (lexer_is_word(*lexer->next))
            lexer->next++;
        else if (lexer->end - lexer->next > 2 && lexer->next[0] == ':' && lexer->next[1] == ':' &&
                 lexer_is_word(lexer->next[2]))
            lexer->next += 2;
        else
            break;
    }
    token->length = (size_t)(lexer->next - token->text);
}

static void lex_string(struct lexer *lexer, struct token *token)
{
    token->kind = TOKEN_STRING;
    token->text++;
    while (lexer->next < lexer->end && *lexer->next != '"') {
        if (*lexer->next == '\n')
            lexer->line++;
        if (*lexer->next == '\\' && lexer->next + 1 < lexer->end)
            lexer->next++;
        lexer->next++;
    }
    token->length = (size_t)(lexer->next - token->text);
    if (lexer->next < lexer->end)
        lexer->next++;
}

static void lex_digits(struct lexer *lexer, struct token *token, unsigned base)
{
    uint64_t value = 0;
    while (lexer->next < lexer->end) {
        int digit = hex_value(*lexer->next);
        if (digit < 0 || (unsigned)digit >= base)
            break;
        value = value * base + (unsigned)digit;
        lexer->next++;
    }
    token->kind = TOKEN_INTEGER;
    token->integer = value;
    token->is_unsigned = value > INT64_MAX;
    if (lexer->next < lexer->end && *lexer->next == 'U') {
        token->is_unsigned = true;
        lexer->next++;
    }
}

/* 0fXXXXXXXX and 0dXXXXXXXXXXXXXXXX: IEEE bits in hexadecimal (section 4.5.2) */
static void lex_float_bits(struct lexer *lexer, struct token *token, bool single)
{
    lex_digits(lexer, token, 16);
    token->kind = TOKEN_FLOAT;
    token->single = single;
    if (single) {
        uint32_t bits = (uint32_t)token->integer;
        float value;
        memcpy(&value, &bits, sizeof value);
        token->number = value;
    } else {
        memcpy(&token->number, &token->integer, sizeof token->number);
    }
}

/* A decimal number with a point or an exponent starting at token->text. */
static bool lex_decimal_float(struct lexer *lexer, struct token *token)
{
    const char *c = token->text;
    bool real = false;
    while (c < lexer->end && is_digit(*c))
        c++;
    if (c < lexer->end && *c == '.') {
        real = true;
        for (c++; c < lexer->end && is_digit(*c); c++)
            ;
    }
    if (c < lexer->end && (*c == 'e' || *c == 'E')) {
        const char *e = c + 1;
        if (e < lexer->end && (*e == '+' || *e == '-'))
            e++;
        if (e < lexer->end && is_digit(*e)) {
            real = true;
            for (c = e; c < lexer->end && is_digit(*c); c++)
                ;
        }
    }
    if (!real)
        return false;
    char copy[128];
    size_t length = (size_t)(c - token->text);
    if (length >= sizeof copy)
        length = sizeof copy - 1;
    memcpy(copy, token->text, length);
    copy[length] = 0;
    token->kind = TOKEN_FLOAT;
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0); /* the host may use a comma */
    token->number = plain ? strtod_l(copy, NULL, plain) : strtod(copy, NULL);
    if (plain)
        freelocale(plain);
    lexer->next = c;
    return true;
}

static void lex_number(struct lexer *lexer, struct token *token)
{
    const char *start = token->text;
    char second = lexer->end - start > 1 ? start[1] : 0;
    bool hex_follows = lexer->end - start > 2 && hex_value(start[2]) >= 0;
    if (*start == '0' && hex_follows &&
        (second == 'f' || second == 'F' || second == 'd' || second == 'D' || second == 'x' ||
         second == 'X')) {
        lexer->next = start + 2;
        if (second == 'x' || second == 'X')
            lex_digits(lexer, token, 16);
        else
            lex_float_bits(lexer, token, second == 'f' || second == 'F');
    } else if (*start == '0' && hex_follows && (second == 'b' || second == 'B')) {
        lexer->next = start + 2;
        lex_digits(lexer, token, 2);
    } else if (!lex_decimal_float(lexer, token)) {
        lexer->next = start;
        lex_digits(lexer, token, *start == '0' ? 8 : 10);
    }
    token->length = (size_t)(lexer->next - start);
}

void lexer_advance(struct lexer *lexer, struct token *token)
{
    const char *before = lexer->next;
    skip_blanks(lexer);
    *token =
        (struct token){.line = lexer->line, .text = lexer->next, .attached = before == lexer->next};
    if (lexer->next >= lexer->end)
        return;
    char c = *lexer->next++;
    char following = lexer->next < lexer->end ? *lexer->next : 0;
    if (is_digit(c)) {
        lex_number(lexer, token);
    } else if (lexer_is_word(c) || c == '%') {
        lex_name(lexer, token);
    } else if (c == '.' && lexer_is_word(following)) {
        lex_directive(lexer, token);
    } else if (c == '"') {
        lex_string(lexer, token);
    } else {
        token->kind = TOKEN_MARK;
        token->mark = c;
        token->length = 1;
    }
}
