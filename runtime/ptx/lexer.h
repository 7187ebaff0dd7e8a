/* The lexer: PTX text to tokens (PTX ISA section 4). It reads the text in place and keeps one token
 * of state; the parser is its only user. A NUL byte ends the text. */
#ifndef RUNTIME_PTX_LEXER_H
#define RUNTIME_PTX_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
    TOKEN_END,
    TOKEN_NAME,      /* %r1, $L__BB0_2, _Z3fooi, add */
    TOKEN_DIRECTIVE, /* .global, .f32, .shared::cta: text without the dot */
    TOKEN_INTEGER,   /* value in .integer */
    TOKEN_FLOAT,     /* value in .number; .single for 0f... */
    TOKEN_STRING,    /* text between the quotes, escapes as written */
    TOKEN_MARK       /* one punctuation character, in .mark */
};

struct token {
    enum token_kind kind;
    char mark;
    bool single;      /* FLOAT: written as 0fXXXXXXXX */
    bool is_unsigned; /* INTEGER: suffix U, or too large for a signed 64-bit value */
    bool attached;    /* no blank between the token before and this one */
    uint32_t line;
    const char *text;
    size_t length;
    uint64_t integer;
    double number;
};

/* A part of the text that is left out. */
struct lexer_gap {
    const char *begin, *end; /* between tokens */
    uint32_t lines;          /* that begin between the two */
};

struct lexer {
    const char *next, *end;
    uint32_t line;
    const char *gap_begin;        /* of the next one; NULL: no more */
    const struct lexer_gap *gaps; /* that one and those behind it, in the text's order */
    size_t gap_count;
};

/* Of a name, behind its first. */
bool lexer_is_word(char c);

void lexer_start(struct lexer *lexer, const char *text, size_t bytes);
/* Before the first token; the gaps stay the caller's, and stay there. */
void lexer_leave_out(struct lexer *lexer, const struct lexer_gap *gaps, size_t count);
/* The next token; at the end of the text TOKEN_END again and again. */
void lexer_advance(struct lexer *lexer, struct token *token);
/* The character after blanks and comments, without consuming anything but those; 0 at the end. */
char lexer_peek(struct lexer *lexer);

#endif
