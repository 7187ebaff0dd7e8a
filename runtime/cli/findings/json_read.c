/* See json_read.h. */
#include "runtime/cli/findings/json_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, NUMBER_BYTES = 64 };

struct parser {
    const char *text, *at, *end;
    const char *wrong; /* what is, where `at` is */
    unsigned depth;
};

static bool fail(struct parser *parser, const char *what)
{
    if (!parser->wrong)
        parser->wrong = what;
    return false;
}

static void skip_blanks(struct parser *parser)
{
    while (parser->at < parser->end && strchr(" \t\r\n", *parser->at) && *parser->at)
        parser->at++;
}

static bool take(struct parser *parser, char c)
{
    skip_blanks(parser);
    if (parser->at == parser->end || *parser->at != c)
        return false;
    parser->at++;
    return true;
}

static bool take_word(struct parser *parser, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(parser->end - parser->at) < length || memcmp(parser->at, word, length) != 0)
        return fail(parser, "there is no such value");
    parser->at += length;
    return true;
}

/* ---- strings */

static bool parse_hex(struct parser *parser, unsigned *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++, parser->at++) {
        char c = parser->at < parser->end ? *parser->at : '\0';
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 16;
        if (digit == 16)
            return fail(parser, "\\u is not followed by four hexadecimal digits");
        *code = *code * 16 + digit;
    }
    return true;
}

static char *put_character(char *to, unsigned code)
{
    if (code == 0 || (code >= 0xd800 && code < 0xe000))
        code = 0xfffd;
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3f));
    } else {
        if (code >= 0x10000) {
            *to++ = (char)(0xf0 | code >> 18);
            *to++ = (char)(0x80 | (code >> 12 & 0x3f));
        } else {
            *to++ = (char)(0xe0 | code >> 12);
        }
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
}

/* Behind \u; two of them may be one character (surrogates). */
static bool parse_escaped_code(struct parser *parser, char **to)
{
    unsigned high, low;
    if (!parse_hex(parser, &high))
        return false;
    bool pair = high >= 0xd800 && high < 0xdc00 && parser->end - parser->at >= 6 &&
                parser->at[0] == '\\' && parser->at[1] == 'u';
    if (pair) {
        const char *second = parser->at;
        parser->at += 2;
        if (!parse_hex(parser, &low))
            return false;
        if (low >= 0xdc00 && low < 0xe000)
            high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        else
            parser->at = second;
    }
    *to = put_character(*to, high);
    return true;
}

static bool parse_escape(struct parser *parser, char **to)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char c = parser->at < parser->end ? *parser->at++ : '\0';
    const char *letter = c ? strchr(letters, c) : NULL;
    if (c == 'u')
        return parse_escaped_code(parser, to);
    if (!letter)
        return fail(parser, "there is no such escape");
    *(*to)++ = meanings[letter - letters];
    return true;
}

/* An escaped string is never longer than what stands for it. */
static char *parse_string(struct parser *parser)
{
    if (!take(parser, '"')) {
        fail(parser, "a string is missing");
        return NULL;
    }
    const char *close = parser->at;
    while (close < parser->end && *close != '"')
        close += *close == '\\' && close + 1 < parser->end ? 2 : 1;
    if (close >= parser->end) {
        fail(parser, "a string does not end");
        return NULL;
    }
    char *string = malloc((size_t)(close - parser->at) + 1), *to = string;
    while (string && parser->at < close) {
        if (*parser->at != '\\') {
            *to++ = *parser->at ? *parser->at : ' ';
            parser->at++;
            continue;
        }
        parser->at++;
        if (!parse_escape(parser, &to)) {
            free(string);
            return NULL;
        }
    }
    if (!string) {
        fail(parser, "there is no memory");
        return NULL;
    }
    *to = '\0';
    parser->at = close + 1;
    return string;
}

/* ---- values */

static bool parse_value(struct parser *parser, struct json *json);

static bool parse_number(struct parser *parser, struct json *json)
{
    char digits[NUMBER_BYTES], *end;
    size_t length = 0;
    while (parser->at + length < parser->end && parser->at[length] &&
           strchr("+-.0123456789eE", parser->at[length]))
        length++;
    if (!length || length >= sizeof digits)
        return fail(parser, "there is no such value");
    memcpy(digits, parser->at, length);
    digits[length] = '\0';
    json->type = JSON_NUMBER;
    json->real = strtod(digits, &end);
    if (*end)
        return fail(parser, "there is no such number");
    errno = 0;
    if (digits[0] != '-')
        json->number = strtoull(digits, &end, 10);
    json->whole = digits[0] != '-' && !*end && !errno;
    json->number = json->whole ? json->number : 0;
    parser->at += length;
    return true;
}

/* Room doubles at powers of two. */
static bool reserve(struct parser *parser, struct json *json)
{
    if (json->count & (json->count - 1))
        return true;
    size_t room = json->count ? json->count * 2 : 1;
    struct json *items = realloc(json->items, room * sizeof *items);
    if (items)
        json->items = items;
    char **keys = items ? realloc(json->keys, room * sizeof *keys) : NULL;
    if (keys)
        json->keys = keys;
    return (items && keys) || fail(parser, "there is no memory");
}

static bool parse_item(struct parser *parser, struct json *json)
{
    if (!reserve(parser, json) || !json->items || !json->keys)
        return false;
    struct json *item = &json->items[json->count];
    char **key = &json->keys[json->count];
    *item = (struct json){0};
    *key = json->type == JSON_OBJECT ? parse_string(parser) : NULL;
    json->count++;
    if (json->type == JSON_OBJECT && (!*key || !take(parser, ':')))
        return fail(parser, "a ':' is missing");
    return parse_value(parser, item);
}

static bool parse_items(struct parser *parser, struct json *json, enum json_type type, char close)
{
    json->type = type;
    parser->at++;
    if (take(parser, close))
        return true;
    do {
        if (!parse_item(parser, json))
            return false;
    } while (take(parser, ','));
    return take(parser, close) || fail(parser, "a ',' or the end of a list is missing");
}

static bool parse_value(struct parser *parser, struct json *json)
{
    skip_blanks(parser);
    if (parser->at == parser->end)
        return fail(parser, "it ends too early");
    if (parser->depth == DEPTH_MAX)
        return fail(parser, "it nests too deep");
    parser->depth++;
    bool good;
    switch (*parser->at) {
    case '{':
        good = parse_items(parser, json, JSON_OBJECT, '}');
        break;
    case '[':
        good = parse_items(parser, json, JSON_ARRAY, ']');
        break;
    case '"':
        json->type = JSON_STRING;
        good = (json->string = parse_string(parser)) != NULL;
        break;
    case 't':
    case 'f':
        json->type = JSON_TRUTH;
        json->truth = *parser->at == 't';
        good = take_word(parser, json->truth ? "true" : "false");
        break;
    case 'n':
        good = take_word(parser, "null");
        break;
    default:
        good = parse_number(parser, json);
    }
    parser->depth--;
    return good;
}

/* ---- documents */

struct json *json_parse(const char *text, size_t bytes, char *message, size_t message_bytes)
{
    struct parser parser = {.text = text, .at = text, .end = text + bytes};
    struct json *json = calloc(1, sizeof *json);
    bool good = json && parse_value(&parser, json);
    skip_blanks(&parser);
    if (good && parser.at != parser.end)
        good = fail(&parser, "something follows its end");
    if (good)
        return json;
    snprintf(message, message_bytes, "byte %zu: %s", (size_t)(parser.at - text),
             parser.wrong ? parser.wrong : "there is no memory");
    json_free(json);
    return NULL;
}

static void clear(struct json *json)
{
    for (size_t i = 0; i < json->count; i++) {
        clear(&json->items[i]);
        free(json->keys[i]);
    }
    free(json->items);
    free(json->keys);
    free(json->string);
}

void json_free(struct json *json)
{
    if (json)
        clear(json);
    free(json);
}

const struct json *json_member(const struct json *object, const char *key)
{
    if (!object || object->type != JSON_OBJECT)
        return NULL;
    for (size_t i = 0; i < object->count; i++)
        if (object->keys[i] && strcmp(object->keys[i], key) == 0)
            return &object->items[i];
    return NULL;
}
