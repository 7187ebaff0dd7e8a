#include "csan/base/text.h"
#include "csan/base/array.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool text_reserve(struct text *text, size_t more)
{
    return more < SIZE_MAX - text->length &&
           array_reserve(&text->data, text->length + more + 1, &text->capacity, 1024, SIZE_MAX, 1);
}

void text_add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0 || text->cut || !text_reserve(text, (size_t)length)) {
        text->cut = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

void text_add_bytes(struct text *text, const char *bytes, size_t count)
{
    if (text->cut || !text_reserve(text, count)) {
        text->cut = true;
        return;
    }
    if (count)
        memcpy(text->data + text->length, bytes, count);
    text->length += count;
    text->data[text->length] = '\0';
}

void text_add_text(struct text *text, const struct text *more)
{
    text_add_bytes(text, more->data, more->length);
    text->cut |= more->cut;
}

void text_end(struct text *text)
{
    if (text->cut || !text_reserve(text, 1)) {
        text->cut = true;
        return;
    }
    text->data[text->length++] = '\0';
    text->data[text->length] = '\0';
}

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

void text_drop_tags(char *name)
{
    static const char tag[] = "[abi:";
    char *at = name, *start, *end;
    while ((start = strstr(at, tag)) && (end = strchr(start, ']'))) {
        memmove(start, end + 1, strlen(end + 1) + 1);
        at = start;
    }
}

/* ---- control characters */

static const char *const own_sequences[] = {"\033[1;33m", "\033[1;31m", "\033[0m"};

static size_t own_sequence(const char *bytes, size_t count)
{
    for (size_t i = 0; i < sizeof(own_sequences) / sizeof(own_sequences[0]); i++) {
        size_t length = strlen(own_sequences[i]);
        if (length <= count && memcmp(bytes, own_sequences[i], length) == 0)
            return length;
    }
    return 0;
}

/* Of how many bytes the control character is that stands there; 0: there is none. The terminal
 * takes U+0080 to U+009F, 0xc2 0x80 to 0xc2 0x9f in UTF-8, as ESC and a letter (ECMA-48, "C1"). */
static size_t control_at(const char *bytes, size_t count)
{
    const unsigned char first = (unsigned char)bytes[0];
    if (first < ' ' || first == 0x7f)
        return 1;
    const unsigned char second = count > 1 ? (unsigned char)bytes[1] : 0;
    return first == 0xc2 && second >= 0x80 && second <= 0x9f ? 2 : 0;
}

/* As they are, up to the next control character. */
static size_t text_add_run(struct text *text, const char *bytes, size_t count)
{
    size_t run = 0, own;
    while (run < count) {
        if (bytes[run] == '\n' || bytes[run] == '\t' || !control_at(bytes + run, count - run))
            run++;
        else if ((own = own_sequence(bytes + run, count - run)) != 0)
            run += own;
        else
            break;
    }
    text_add_bytes(text, bytes, run);
    return run;
}

void text_add_shown(struct text *text, const char *bytes, size_t count)
{
    while (count > 0) {
        size_t run = text_add_run(text, bytes, count);
        bytes += run;
        count -= run;
        size_t control = count > 0 ? control_at(bytes, count) : 0;
        for (size_t i = 0; i < control; i++)
            text_add(text, "\\x%02x", (unsigned char)bytes[i]);
        bytes += control;
        count -= control;
    }
}

void text_make_plain(char *name)
{
    for (size_t left = strlen(name); left > 0;) {
        const size_t control = control_at(name, left), step = control ? control : 1;
        memset(name, '?', control);
        name += step;
        left -= step;
    }
}
