/* See source_excerpt.h. */
#include "runtime/cli/findings/source_excerpt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AROUND = EXCERPT_LINES / 2, FILES_MAX = 512 };

struct source_file {
    char *path, *text; /* the text ends in NUL; NULL: it was not read */
    const char *problem;
    uint64_t modified; /* nanoseconds since 1970 */
    bool whole;
    struct source_file *next;
};

/* ---- reading a file */

static bool is_source_name(const char *path)
{
    static const char *const endings[] = {"cu",  "cuh", "c",   "cc",  "cpp", "cxx", "h",   "hh",
                                          "hpp", "hxx", "inl", "inc", "ipp", "tpp", "tcc", "py",
                                          "pyx", "pxd", "jl",  "rs",  "f90", "f",   "cuf", "m",
                                          "mm",  "go",  "hip", "ptx", "mojo"};
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot + 1, endings[i]) == 0)
            return true;
    return false;
}

static void text_read(struct source_file *file, int descriptor, size_t bytes)
{
    size_t length = 0;
    ssize_t got = 1;
    file->whole = bytes <= SOURCE_BYTES_MAX;
    bytes = file->whole ? bytes : SOURCE_BYTES_MAX;
    file->text = malloc(bytes + 1);
    while (file->text && length < bytes && got > 0) {
        got = read(descriptor, file->text + length, bytes - length);
        length += got > 0 ? (size_t)got : 0;
    }
    if (file->text)
        file->text[length] = '\0';
    if (!file->text || got < 0)
        file->problem = "The source cannot be read";
    else if (strlen(file->text) != length)
        file->problem = "The source is no text";
}

/* No named pipe is waited for, and no terminal becomes the process's. */
static void file_read(struct source_file *file)
{
    struct stat state;
    if (!is_source_name(file->path)) {
        file->problem = "This file has no name of source";
        return;
    }
    int descriptor = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) {
        file->problem = errno == ENOENT || errno == ENOTDIR ? "The source is not here"
                                                            : "The source cannot be read";
        return;
    }
    if (fstat(descriptor, &state) != 0 || !S_ISREG(state.st_mode)) {
        file->problem = "The source is no regular file";
    } else {
        file->modified =
            (uint64_t)state.st_mtim.tv_sec * 1000000000u + (uint64_t)state.st_mtim.tv_nsec;
        text_read(file, descriptor, (size_t)state.st_size);
    }
    close(descriptor);
}

/* NULL: no memory, or too many. */
static const struct source_file *file_of(struct source_cache *cache, const char *path)
{
    size_t count = 0;
    for (struct source_file *file = cache->files; file; file = file->next, count++)
        if (strcmp(file->path, path) == 0)
            return file;
    struct source_file *file = count < FILES_MAX ? calloc(1, sizeof *file) : NULL;
    if (!file || !(file->path = strdup(path))) {
        free(file);
        return NULL;
    }
    file_read(file);
    file->next = cache->files;
    cache->files = file;
    return file;
}

void source_cache_free(struct source_cache *cache)
{
    while (cache->files) {
        struct source_file *file = cache->files;
        cache->files = file->next;
        free(file->path);
        free(file->text);
        free(file);
    }
}

/* ---- the lines */

static const char *problem_of(const struct source_file *file, uint64_t ran)
{
    if (!file)
        return "There are too many source files to show";
    if (file->problem)
        return file->problem;
    if (!ran)
        return "When the program ran is not known, so its source is not shown";
    return file->modified > ran ? "The source is newer than the recording" : NULL;
}

static void line_take(struct source_excerpt *excerpt, const char *line, size_t length)
{
    char *copy = excerpt->lines[excerpt->count++];
    if (length && line[length - 1] == '\r')
        length--;
    snprintf(copy, EXCERPT_COLUMNS + 1, "%.*s", (int)length, line);
}

static void lines_take(struct source_excerpt *excerpt, const struct source_file *file,
                       uint32_t line)
{
    const char *at = file->text;
    const uint32_t last = line + AROUND;
    for (uint32_t number = 1; *at && number <= last; number++) {
        const size_t length = strcspn(at, "\n");
        if (number >= excerpt->first)
            line_take(excerpt, at, length);
        at += length + (at[length] == '\n');
    }
    if (excerpt->first + excerpt->count > line)
        return;
    excerpt->count = 0;
    excerpt->problem = file->whole ? "The source has fewer lines"
                                   : "The line lies beyond the first MiB of the source";
}

void source_excerpt_read(struct source_cache *cache, struct source_excerpt *excerpt,
                         const char *path, uint32_t line, uint64_t ran)
{
    const struct source_file *file = file_of(cache, path);
    *excerpt = (struct source_excerpt){.problem = problem_of(file, ran),
                                       .first = line > AROUND ? line - AROUND : 1};
    if (!excerpt->problem && file && file->text)
        lines_take(excerpt, file, line);
}
