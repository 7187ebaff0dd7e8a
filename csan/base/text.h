/* Text that grows, such as a report that is being written. When memory is short, the text stays as
 * long as it is, and `cut` is set. Not thread-safe: each text belongs to the thread that made it.
 */
#ifndef CSAN_BASE_TEXT_H
#define CSAN_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *data; /* ends in NUL once anything was added */
    size_t length, capacity;
    bool cut;
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* printf counts in int: what may have 2 GiB or more is added by these two. */
void text_add_bytes(struct text *text, const char *bytes, size_t count);
void text_add_text(struct text *text, const struct text *more); /* cut, too, if that one is */
void text_end(struct text *text); /* what follows is apart from it, by a NUL */
void text_free(struct text *text);

/* Adds bytes as a terminal may be shown them. Names of programs, files and kernels may contain any
 * bytes, and none of them may erase or overwrite what a terminal shows. So control characters
 * become \xNN, also those of Unicode (U+0080 to U+009F). New lines, tabs and the three sequences of
 * csan's own colours stay. */
void text_add_shown(struct text *text, const char *bytes, size_t count);
/* The same in place, for one name: each byte of a control character, a new line too, becomes '?'.
 */
void text_make_plain(char *name);

/* A demangled C++ name without its ABI tags, [abi:...]: Numba puts a hash of many letters there. */
void text_drop_tags(char *name);

#endif
