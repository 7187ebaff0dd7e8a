/* A stack of an interpreted language as the lines of a report, in the form of Python's tracebacks.
 * The outermost call comes first, each with its line of the source. Native frames follow the Python
 * frames that called them. */
#ifndef CSAN_STACK_SCRIPT_TEXT_H
#define CSAN_STACK_SCRIPT_TEXT_H

#include "csan/stack/stack_text.h"

#include <stdbool.h>

/* Whether the stack has frames of an interpreted language, so that script_text_add prints it. */
bool script_text_concerns(const void *const *frames, size_t count);

void script_text_add(struct text *text, const struct stack_style *style, const void *const *frames,
                     size_t count);
/* The innermost line of the program's own code, not of a package. */
void script_text_place(const struct stack_style *style, const void *const *frames, size_t count,
                       char *place, size_t bytes);

#endif
