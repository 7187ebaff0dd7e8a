/* A stack as the lines of a report. */
#ifndef CSAN_STACK_STACK_TEXT_H
#define CSAN_STACK_STACK_TEXT_H

#include "csan/stack/stack_frames.h"
#include "csan/base/text.h"

/* Stretches of libraries' frames are one line each (stack_fold.h), unless all are. */
void stack_text_add(struct text *text, const struct stack_style *style,
                    const struct stack_frames *stack);
/* Where the innermost frame of the program's own is, "file:line" or the next best; "" when there is
 * no frame. */
void stack_text_place(const struct stack_frames *stack, char *place, size_t bytes);

#endif
