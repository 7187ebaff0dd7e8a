/* Where kernels lie in a PTX text. See outline.h.
 *
 * Only what stands outside of braces is read in tokens. */
#include "runtime/ptx/outline.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct lexer lexer;
    struct outline *outline;
    size_t capacity;
    const char *linkage;          /* what the last token said of that; or NULL */
    bool is_named;                /* the kernel that is at hand, by the next name */
    bool has_pragma;              /* which a ';' ends that is not the kernel's */
    struct outline_kernel kernel; /* that one; without a name there is none */
};

static bool is_directive(const struct token *token, const char *word)
{
    return token->kind == TOKEN_DIRECTIVE && token->length == strlen(word) &&
           memcmp(token->text, word, token->length) == 0;
}

/* Behind a string's or comment's end, or the text's. */
static const char *string_skip(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\' && at + 1 < end)
            at++;
    return at < end ? at + 1 : end;
}

static const char *comment_skip(const char *at, const char *end)
{
    if (at[1] == '/') {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        return line ? line : end;
    }
    for (at += 2; at < end; at++)
        if (*at == '*' && at + 1 < end && at[1] == '/')
            return at + 2;
    return end;
}

/* Behind the brace that closes the one that is open; NULL: none does. */
static const char *braces_skip(const char *at, const char *end)
{
    static const bool matters[256] = {['{'] = true, ['}'] = true, ['"'] = true, ['/'] = true};
    size_t depth = 1;
    while (at < end) {
        if (!matters[(unsigned char)*at]) {
            at++;
        } else if (*at == '"') {
            at = string_skip(at, end);
        } else if (*at == '/') {
            const bool comments = at + 1 < end && (at[1] == '/' || at[1] == '*');
            at = comments ? comment_skip(at, end) : at + 1;
        } else {
            depth = *at == '{' ? depth + 1 : depth - 1;
            at++;
            if (depth == 0)
                return at;
        }
    }
    return NULL;
}

static uint32_t lines_between(const char *begin, const char *end)
{
    uint32_t lines = 0;
    for (; begin < end; begin++)
        lines += *begin == '\n';
    return lines;
}

/* False: memory is short. */
static bool kernel_add(struct reader *reader)
{
    struct outline *outline = reader->outline;
    if (outline->count == reader->capacity) {
        reader->capacity = 2 * reader->capacity + 8;
        outline = realloc(outline, sizeof *outline + reader->capacity * sizeof *outline->kernels);
        if (!outline)
            return false;
        reader->outline = outline;
    }
    reader->kernel.text.end = reader->lexer.next;
    reader->kernel.text.lines = lines_between(reader->kernel.text.begin, reader->lexer.next);
    outline->outside -= (size_t)(reader->kernel.text.end - reader->kernel.text.begin);
    outline->kernels[outline->count++] = reader->kernel;
    return true;
}

static bool is_one_of(const struct token *token, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_directive(token, words[i]))
            return true;
    return false;
}

/* A declaration ends what stands before it, be there a ';' or not. */
static void directive_read(struct reader *reader, const struct token *token)
{
    static const char *const linkages[] = {"visible", "weak", "extern", "common"},
                             *const others[] = {"func", "global", "const"};
    const bool is_linkage = is_one_of(token, linkages, sizeof linkages / sizeof *linkages),
               is_entry = is_directive(token, "entry");
    if (is_linkage || is_entry || is_one_of(token, others, sizeof others / sizeof *others))
        reader->kernel.name = NULL;
    if (is_entry) {
        reader->kernel.text.begin = reader->linkage ? reader->linkage : token->text - 1;
        reader->is_named = true;
    }
    reader->has_pragma = is_directive(token, "pragma");
    reader->linkage = is_linkage ? token->text - 1 : NULL;
}

/* False: it is not known. */
static bool token_read(struct reader *reader, const struct token *token)
{
    const bool opens = token->kind == TOKEN_MARK && token->mark == '{',
               ends = token->kind == TOKEN_MARK && token->mark == ';';
    if (token->kind == TOKEN_DIRECTIVE)
        directive_read(reader, token);
    else
        reader->linkage = NULL;
    if (token->kind == TOKEN_NAME && reader->is_named) {
        reader->kernel.name = token->text;
        reader->kernel.name_length = token->length;
        reader->is_named = false;
    }
    if (opens) {
        reader->lexer.next = braces_skip(reader->lexer.next, reader->lexer.end);
        if (!reader->lexer.next || (reader->kernel.name && !kernel_add(reader)))
            return false;
    }
    if (opens || (ends && !reader->has_pragma))
        reader->kernel.name = NULL;
    reader->has_pragma = reader->has_pragma && !ends;
    return true;
}

static bool outline_fill(struct reader *reader)
{
    struct token token;
    lexer_advance(&reader->lexer, &token);
    while (token.kind != TOKEN_END) {
        if (!token_read(reader, &token))
            return false;
        lexer_advance(&reader->lexer, &token);
    }
    return true;
}

struct outline *outline_read(const char *text, size_t bytes)
{
    struct reader reader = {.outline = calloc(1, sizeof *reader.outline)};
    if (!reader.outline)
        return NULL;
    lexer_start(&reader.lexer, text, bytes);
    reader.outline->outside = (size_t)(reader.lexer.end - text);
    if (outline_fill(&reader))
        return reader.outline;
    free(reader.outline);
    return NULL;
}

size_t outline_find(const struct outline *outline, const char *name)
{
    const size_t length = strlen(name);
    size_t i = 0;
    while (i < outline->count && (outline->kernels[i].name_length != length ||
                                  memcmp(outline->kernels[i].name, name, length) != 0))
        i++;
    return i;
}
