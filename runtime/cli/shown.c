/* See shown.h. The C library lets streams be replaced (fopencookie(3), stdin(3)). */
#include "runtime/cli/shown.h"
#include "csan/base/text.h"
#include "csan/base/wrap.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Of standard output, where lines are to be broken; else 0. */
static size_t output_columns;

static bool write_all(int descriptor, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(descriptor, bytes, count);
        if (written < 0 && errno != EINTR)
            return false;
        bytes += written > 0 ? written : 0;
        count -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* Lines come whole: the longest text that is printed at once, csan help, has room. */
static char output_bytes[1 << 18];

/* fopencookie(3): as many bytes as were taken; 0 for an error. */
static ssize_t write_shown(void *cookie, const char *bytes, size_t count)
{
    struct text shown = {0};
    const size_t columns = (intptr_t)cookie == STDOUT_FILENO ? output_columns : 0;
    text_add_shown(&shown, bytes, count);
    if (columns && shown.length) {
        struct text wrapped = {0};
        wrap_indented_add(&wrapped, shown.data, shown.length, columns);
        text_free(&shown);
        shown = wrapped;
    }
    const bool written =
        !shown.cut && write_all((int)(intptr_t)cookie, shown.data ? shown.data : "", shown.length);
    text_free(&shown);
    return written ? (ssize_t)count : 0;
}

void shown_progress(const char *format, ...)
{
    static const char erase[] = "\r\033[K";
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fflush(stderr);
    if (write_all(STDERR_FILENO, erase, sizeof erase - 1))
        write_shown((void *)(intptr_t)STDERR_FILENO, line, strlen(line));
}

void shown_wrap(void)
{
    fflush(stdout);
    output_columns = wrap_columns(STDOUT_FILENO);
}

bool shown_is_due(struct shown_pace *pace)
{
    struct timespec clock;
    clock_gettime(CLOCK_MONOTONIC, &clock);
    const double now = (double)clock.tv_sec + (double)clock.tv_nsec * 1e-9;
    if (pace->began == 0)
        pace->began = now;
    if (now - pace->began < 1 || now - pace->drawn < 0.2 || !isatty(STDERR_FILENO))
        return false;
    pace->drawn = now;
    pace->shown = true;
    return true;
}

void shown_done(struct shown_pace *pace)
{
    if (pace->shown)
        shown_progress("%s", "");
    pace->shown = false;
}

static FILE *stream_of(int descriptor, int buffering)
{
    const cookie_io_functions_t functions = {.write = write_shown};
    FILE *stream = fopencookie((void *)(intptr_t)descriptor, "w", functions);
    if (stream)
        setvbuf(stream, buffering == _IONBF ? NULL : output_bytes, buffering, sizeof output_bytes);
    return stream;
}

void shown_start(void)
{
    FILE *errors = stream_of(STDERR_FILENO, _IONBF);
    FILE *output = isatty(STDOUT_FILENO) ? stream_of(STDOUT_FILENO, _IOLBF) : NULL;
    stderr = errors ? errors : stderr;
    stdout = output ? output : stdout;
}
