/* PTX text to IR: the parser's and linker's one way in. See ir.h for what comes out. */
#ifndef RUNTIME_PTX_PTX_H
#define RUNTIME_PTX_PTX_H

#include "runtime/ptx/ir.h"
#include "runtime/ptx/outline.h"

struct ptx_error {
    uint32_t line;     /* in the PTX text, from 1; 0 when the error has no place */
    char message[256]; /* what was wrong and where, one line, no newline */
};

/* Parse `bytes` bytes of PTX text (a terminating NUL inside ends it). Returns a module the caller
 * releases with ptx_module_release, or NULL with *error filled. Unknown instructions and unknown
 * suffixes are no error: they become PTX_OP_UNKNOWN / PTX_TYPE_OTHER. Undefined externals stay
 * prototypes (functions) or PTX_LINK_EXTERN (variables). Never crashes on any input; nesting,
 * register counts and sizes are limited. Thread-safe. */
struct ptx_module *ptx_parse(const char *text, size_t bytes, struct ptx_error *error);

/* The same without all kernels but the one of that number in the text's outline, which takes the
 * time of what is outside of kernels and of that one. NULL, too, where more matters than that: it
 * names another kernel, or calls what others may have stored the address of. */
struct ptx_module *ptx_parse_kernel(const char *text, size_t bytes, const struct outline *outline,
                                    size_t kernel, struct ptx_error *error);

/* Link modules of separate compilation (-rdc=true) by symbol into one new module; a single module
 * with nothing unresolved may come back re-linked as well. The inputs stay valid and the caller's.
 * Rules: PTX ISA section 5.4 / 10.7 (.extern, .visible, .weak, .common); two strong definitions of
 * one name are an error, an undefined function stays a prototype. NULL with *error filled. */
struct ptx_module *ptx_link(const struct ptx_module *const *modules, size_t count,
                            struct ptx_error *error);

/* The same with units that nobody else needs: each is released as soon as it is copied, so that a
 * large program is not in memory twice. They are gone in any case, and `modules` is all NULL. */
struct ptx_module *ptx_link_taking(struct ptx_module **modules, size_t count,
                                   struct ptx_error *error);

void ptx_module_release(struct ptx_module *module);

#endif
