/* Where the kernels lie in a PTX text, found without reading what they do: libraries have hundreds
 * in one module, of which a program launches a few. */
#ifndef RUNTIME_PTX_OUTLINE_H
#define RUNTIME_PTX_OUTLINE_H

#include "runtime/ptx/lexer.h"

/* A definition of one. Pointers are into the text. */
struct outline_kernel {
    const char *name;
    size_t name_length;
    struct lexer_gap text; /* from its linkage to its closing brace */
};

struct outline {
    size_t count;
    size_t outside;                  /* bytes that are no kernel's */
    struct outline_kernel kernels[]; /* in the text's order */
};

/* Of a text that stays as it is as long as the outline is used, up to a NUL byte; the caller frees
 * it. Thread-safe. NULL: braces do not match, or memory is short. */
struct outline *outline_read(const char *text, size_t bytes);
/* The kernel of that name, or `count`. */
size_t outline_find(const struct outline *outline, const char *name);

#endif
