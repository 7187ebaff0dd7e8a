/* See usage_text.h. */
#include "runtime/cli/usage_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* glibc: the standard streams are variables that may be set (manual, "Standard Streams"). */
char *usage_text_of(const struct command *command)
{
    char *text = NULL, help[] = "--help", name[32];
    size_t bytes;
    FILE *memory = open_memstream(&text, &bytes), *before = stdout;
    char *argv[] = {name, help, NULL};
    if (!memory)
        return NULL;
    snprintf(name, sizeof name, "%s", command->name);
    stdout = memory;
    command->run(2, argv);
    stdout = before;
    fclose(memory);
    return text;
}

static void take(char *word, size_t bytes, const char *from, size_t length)
{
    snprintf(word, bytes, "%.*s", (int)length, from);
}

/* "--device=embedded", "-o FILE", "-v, --verbose" */
static void parse(struct usage_flag *flag, const char *from, size_t length)
{
    const char *comma = memchr(from, ',', length);
    if (comma && comma[1] == ' ' && comma[2] == '-') { /* the long one */
        length -= (size_t)(comma + 2 - from);
        from = comma + 2;
    }
    size_t name = 0;
    while (name < length && from[name] != '=' && from[name] != ' ')
        name++;
    take(flag->name, sizeof flag->name, from, name);
    flag->joined = name < length && from[name] == '=';
    if (name < length)
        take(flag->value, sizeof flag->value, from + name + 1, length - name - 1);
    flag->literal = islower((unsigned char)flag->value[0]) != 0;
}

bool usage_flag_next(const char **at, struct usage_flag *flag)
{
    while (*at && **at) {
        const char *line = *at, *end = strchrnul(line, '\n');
        *at = *end ? end + 1 : end;
        if (strncmp(line, "  -", 3) != 0)
            continue;
        const char *gap = strstr(line + 2, "  ");
        const char *stop = gap && gap < end ? gap : end;
        if (stop == end && memchr(line + 2, ' ', (size_t)(end - line - 2)))
            stop = memchr(line + 2, ' ', (size_t)(end - line - 2)); /* no room for a gap */
        const char *words = stop;
        while (words < end && *words == ' ')
            words++;
        *flag = (struct usage_flag){0};
        parse(flag, line + 2, (size_t)(stop - line - 2));
        take(flag->summary, sizeof flag->summary, words, (size_t)(end - words));
        return true;
    }
    return false;
}
