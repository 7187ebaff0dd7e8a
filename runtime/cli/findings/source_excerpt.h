/* Lines of source around a place that a report names, for a page that shows them. The recording may
 * come from anybody, and the page may go to anybody. So only regular files with the name of a
 * source file are read, and only if they have not changed since the program ran. Not thread-safe.
 */
#ifndef RUNTIME_CLI_FINDINGS_SOURCE_EXCERPT_H
#define RUNTIME_CLI_FINDINGS_SOURCE_EXCERPT_H

#include <stddef.h>
#include <stdint.h>

enum { EXCERPT_LINES = 7, EXCERPT_COLUMNS = 200, SOURCE_BYTES_MAX = 1 << 20 };

struct source_excerpt {
    const char *problem; /* NULL: there are lines; else the reason why not, a sentence without its
                            full stop */
    uint32_t first;      /* the first line's number */
    size_t count;
    char lines[EXCERPT_LINES][EXCERPT_COLUMNS + 1]; /* longer ones are cut */
};

/* Files that were read; all zero: none. */
struct source_cache {
    struct source_file *files;
};

/* The lines around `line` of the file at that path. `ran`: when the program ran, in nanoseconds
 * since 1970; 0: not known. */
void source_excerpt_read(struct source_cache *cache, struct source_excerpt *excerpt,
                         const char *path, uint32_t line, uint64_t ran);
void source_cache_free(struct source_cache *cache);

#endif
