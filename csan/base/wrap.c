/* See wrap.h. */
#include "csan/base/wrap.h"

#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>

enum { COLUMNS_LEAST = 20, INDENT = 2 };

size_t wrap_columns(int descriptor)
{
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* The bytes of what is at `at`, and its width on the terminal: an escape has none. */
static size_t step(const char *at, const char *end, size_t *width)
{
    const char *next = at + 1;
    *width = 1;
    if (*at == '\033') {
        while (next < end && *next != 'm')
            next++;
        *width = 0;
        return (size_t)(next - at) + (next < end);
    }
    while (next < end && ((unsigned char)*next & 0xc0) == 0x80)
        next++;
    return (size_t)(next - at);
}

static size_t width_of(const char *at, const char *end)
{
    size_t all = 0, width;
    while (at < end) {
        at += step(at, end, &width);
        all += width;
    }
    return all;
}

/* One line, without its end. What follows is indented by that many blanks. */
static void line_add(struct text *text, const char *line, const char *end, size_t columns,
                     size_t indent)
{
    size_t column = 0, begin = strspn(line, " "); /* of this line on the terminal */
    while (line < end) {
        const char *word = line + strspn(line, " ");
        const char *behind = word;
        while (behind < end && *behind != ' ')
            behind++;
        const size_t width = width_of(word < end ? word : end, behind);
        if (column > begin && column + (size_t)(word - line) + width > columns) {
            text_add(text, "\n%*s", (int)indent, "");
            column = begin = indent;
            line = word;
        }
        text_add(text, "%.*s", (int)(behind - line), line);
        column += width_of(line, behind);
        line = behind;
    }
}

/* Half of the terminal at most is left blank. */
static size_t indent_behind(const char *line, const char *end, size_t columns)
{
    size_t blanks = 0;
    while (line + blanks < end && line[blanks] == ' ')
        blanks++;
    return (blanks < columns / 2 ? blanks : columns / 2) + INDENT;
}

static void lines_add(struct text *text, const char *bytes, size_t count, size_t columns,
                      bool indented)
{
    const char *end = bytes + count;
    while (bytes < end) {
        const char *stop = memchr(bytes, '\n', (size_t)(end - bytes));
        const char *behind = stop ? stop : end;
        if (columns < COLUMNS_LEAST || (*bytes == ' ' && !indented) ||
            width_of(bytes, behind) <= columns)
            text_add(text, "%.*s", (int)(behind - bytes), bytes);
        else
            line_add(text, bytes, behind, columns, indent_behind(bytes, behind, columns));
        if (stop)
            text_add(text, "\n");
        bytes = behind + (stop != NULL);
    }
}

void wrap_add(struct text *text, const char *bytes, size_t count, size_t columns)
{
    lines_add(text, bytes, count, columns, false);
}

void wrap_indented_add(struct text *text, const char *bytes, size_t count, size_t columns)
{
    lines_add(text, bytes, count, columns, true);
}
