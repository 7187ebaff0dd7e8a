#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool text_reserve(struct text *text, size_t more)
{
    size_t capacity = text->capacity ? text->capacity : 1024;
    while (capacity - text->length <= more)
        capacity *= 2;
    if (capacity == text->capacity)
        return true;
    char *data = realloc(text->data, capacity);
    if (!data)
        return false;
    text->data = data;
    text->capacity = capacity;
    return true;
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
