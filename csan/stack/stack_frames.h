/* A resolved stack: functions, files and lines. It begins where the program's own code begins:
 * frames of csan, of the CUDA driver and runtime, and of the code that nvcc generates around a
 * launch are left out at the top. What runs main is left out at the bottom. Owns its strings. */
#ifndef CSAN_STACK_STACK_FRAMES_H
#define CSAN_STACK_STACK_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_frame;
struct symbolizer;

struct stack_style {
    struct symbolizer *symbolizer;
    const char *strip;     /* beginning of source paths to leave out; "" for none */
    const char *directory; /* the same: the directory in which the program was started */
    bool full;             /* no frames are folded */
};

struct stack_frame {
    char *function; /* NULL: unknown. If `heading`: text in an interpreter's words, and no frame */
    char *file;     /* NULL: unknown */
    char *module;   /* NULL: no loaded object, or an interpreter's frame */
    uint32_t line;  /* 0: unknown */
    bool heading;
    const char *library; /* stack_library.h; NULL: the program's own */
    uint64_t
        offset; /* the address as the module's file numbers it; without a module, the address */
};

struct stack_frames {
    struct stack_frame *items; /* innermost first */
    size_t count;
    char *entry; /* the function of CUDA's runtime that the program called; NULL: none, or not known
                  */
};

/* `callee` is the demangled kernel or API function that the stack led to, or "". It is needed
 * because nvcc gives a kernel's stub on the host the kernel's name. Fewer frames when memory is
 * short. */
void stack_frames_resolve(struct stack_frames *stack, const struct stack_style *style,
                          const void *const *frames, size_t count, const char *callee);
void stack_frames_free(struct stack_frames *stack);

/* Where a person would look first. In this order: the innermost line of the program itself, in C++
 * or an interpreter's language; an interpreter's line of any package; a function of the program
 * without a line; any line; the library. NULL: nothing is known. */
const struct stack_frame *stack_frames_top(const struct stack_frames *stack);
/* Whether any is the program's own. */
bool stack_frames_have_own(const struct stack_frames *stack);

/* The path without the beginnings that the style leaves out, as a part of `path`. */
const char *stack_path_shorten(const struct stack_style *style, const char *path);

/* "file:line", or the next best. */
void stack_frame_place(const struct stack_frame *frame, char *place, size_t bytes);

/* Whether a report leaves the frame out at the beginning of a stack. */
bool stack_frame_is_hidden(const struct symbol_frame *frame, const char *callee);

#endif
