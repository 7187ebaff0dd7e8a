/* Text that grows, such as what a report is put together in. When memory is short it stays as long
 * as it is and says so by `cut`. Not thread-safe: each text is its maker's. */
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
void text_end(struct text *text); /* what follows is apart from it, by a NUL */
void text_free(struct text *text);

/* Names of programs, files and kernels may hold anything. Add bytes as a terminal may be shown
 * them: control characters but new line and tab as \xNN, those of Unicode (U+0080 to U+009F) too,
 * but not the three sequences that csan itself colours with. Nothing can erase or overwrite. */
void text_add_shown(struct text *text, const char *bytes, size_t count);
/* The same in place, for one name: each byte of a control character, a new line too, becomes '?'.
 */
void text_make_plain(char *name);

/* A demangled C++ name without its ABI tags, [abi:...]: Numba puts a hash of many letters there. */
void text_drop_tags(char *name);

#endif
