/* See other_trace.h. */
#include "runtime/cli/timeline/other_trace.h"
#include "csan/base/regular_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 };
static const char sqlite_magic[16] = "SQLite format 3";

/* The file's bytes, NUL behind them; NULL: errno says why. */
static char *read_whole(int descriptor, size_t *bytes)
{
    char *data = NULL;
    size_t capacity = 0;
    *bytes = 0;
    for (;;) {
        if (capacity - *bytes < CHUNK) {
            char *grown = realloc(data, capacity = capacity * 2 + CHUNK + 1);
            if (!grown)
                break;
            data = grown;
        }
        const ssize_t got = read(descriptor, data + *bytes, CHUNK - 1);
        if (got == 0) {
            data[*bytes] = '\0';
            return data;
        }
        if (got < 0 && errno != EINTR)
            break;
        *bytes += got > 0 ? (size_t)got : 0;
    }
    free(data);
    return NULL;
}

/* By what the file begins with. */
static bool read_kind(struct other_trace *trace, const char *path, int descriptor, char *message,
                      size_t message_bytes)
{
    size_t bytes;
    char begin[sizeof sqlite_magic];
    const ssize_t got = pread(descriptor, begin, sizeof begin, 0);
    if (got == (ssize_t)sizeof begin && memcmp(begin, sqlite_magic, sizeof begin) == 0)
        return nsight_export_read(trace, path, message, message_bytes);
    if (got >= 2 && begin[0] == '\037' && begin[1] == '\213') {
        snprintf(message, message_bytes, "it is compressed; unpack it with gunzip");
        return false;
    }
    char *text = read_whole(descriptor, &bytes);
    if (!text) {
        snprintf(message, message_bytes, "%s", strerror(errno));
        return false;
    }
    const bool good = profiler_trace_read(trace, text, bytes, message, message_bytes);
    free(text);
    return good;
}

bool other_trace_read(struct other_trace *trace, const char *path, char *message,
                      size_t message_bytes)
{
    const char *wrong;
    *trace = (struct other_trace){0};
    const int descriptor = regular_file_open(path, &wrong);
    if (descriptor < 0) {
        snprintf(message, message_bytes, "%s", wrong);
        return false;
    }
    const bool good = read_kind(trace, path, descriptor, message, message_bytes);
    close(descriptor);
    if (good && (trace->events.cut || trace->left_out.cut)) {
        snprintf(message, message_bytes, "out of memory");
        return false;
    }
    return good;
}

void other_trace_free(struct other_trace *trace)
{
    text_free(&trace->events);
    text_free(&trace->left_out);
}
