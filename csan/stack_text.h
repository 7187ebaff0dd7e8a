/* A stack as the lines of a report: resolved, numbered, and begun where the program's own code
 * begins. Frames of csan, of the CUDA driver and run-time, and of what nvcc generates around a
 * launch are left out at the top; what runs main is left out at the bottom. */
#ifndef CSAN_STACK_TEXT_H
#define CSAN_STACK_TEXT_H

#include "text.h"

#include <stdbool.h>

struct symbol_frame;
struct symbolizer;

struct stack_style {
    struct symbolizer *symbolizer;
    const char *strip;     /* beginning of source paths to leave out; "" for none */
    const char *directory; /* the same: where the program was started; "" for none */
};

/* `callee` is the demangled kernel or API function the stack led to, or "": nvcc gives a kernel's
 * stub on the host the kernel's name. `place` receives where the first line shown is, "file:line"
 * or the next best; "" when there is no line. */
void stack_text_add(struct text *text, const struct stack_style *style, const void *const *frames,
                    size_t count, const char *callee, char *place, size_t place_bytes);

/* Whether a report leaves the frame out where a stack begins: what csan, CUDA and nvcc put between
 * the program and `callee`. */
bool stack_frame_is_hidden(const struct symbol_frame *frame, const char *callee);

#endif
