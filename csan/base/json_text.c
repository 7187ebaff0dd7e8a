/* See json_text.h. */
#include "csan/base/json_text.h"

#include <inttypes.h>
#include <string.h>

/* Bytes of the UTF-8 character at `at` (RFC 3629): 0 when it is none. */
static size_t character_bytes(const unsigned char *at)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t bytes = at[0] < 0x80 ? 1 : at[0] < 0xc0 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    unsigned code = bytes > 1 ? at[0] & (0x7fu >> bytes) : at[0];
    if (at[0] >= 0xf8)
        return 0;
    for (size_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3f);
    }
    bool surrogate = code >= 0xd800 && code < 0xe000;
    return bytes && code >= least[bytes] && code <= 0x10ffff && !surrogate ? bytes : 0;
}

/* Bytes that may stand in a string as they are. */
static size_t plain_bytes(const unsigned char *at)
{
    size_t length = 0;
    while (at[length] >= ' ' && at[length] != '"' && at[length] != '\\' && at[length] != 0x7f) {
        size_t bytes = character_bytes(at + length);
        if (!bytes)
            break;
        length += bytes;
    }
    return length;
}

void json_string_add(struct text *text, const char *string)
{
    const unsigned char *at = (const unsigned char *)string;
    if (!string) {
        text_add(text, "null");
        return;
    }
    text_add(text, "\"");
    while (*at) {
        size_t plain = plain_bytes(at);
        if (plain)
            text_add_bytes(text, (const char *)at, plain);
        at += plain;
        if (!*at)
            break;
        if (*at == '"' || *at == '\\')
            text_add(text, "\\%c", *at);
        else if (*at == '\n')
            text_add(text, "\\n");
        else if (*at < ' ' || *at == 0x7f)
            text_add(text, "\\u%04x", *at);
        else
            text_add(text, "\\ufffd");
        at++;
    }
    text_add(text, "\"");
}

void json_member_string(struct text *text, const char *key, const char *string)
{
    text_add(text, "\"%s\": ", key);
    json_string_add(text, string);
    text_add(text, ", ");
}

void json_member_number(struct text *text, const char *key, uint64_t number)
{
    text_add(text, "\"%s\": %" PRIu64 ", ", key, number);
}

void json_member_truth(struct text *text, const char *key, bool value)
{
    text_add(text, "\"%s\": %s, ", key, value ? "true" : "false");
}

void json_member_maybe(struct text *text, const char *key, bool known, uint64_t number)
{
    if (known)
        json_member_number(text, key, number);
    else
        text_add(text, "\"%s\": null, ", key);
}

void json_comma_drop(struct text *text)
{
    if (text->length >= 2 && strcmp(text->data + text->length - 2, ", ") == 0)
        text->data[text->length -= 2] = '\0';
}
