/* A stack as the lines of a report. */
#ifndef CSAN_STACK_STACK_TEXT_H
#define CSAN_STACK_STACK_TEXT_H

#include "csan/stack/stack_frames.h"
#include "csan/base/text.h"

/* Consecutive frames of a library are one line (stack_fold.h), unless all frames are. */
void stack_text_add(struct text *text, const struct stack_style *style,
                    const struct stack_frames *stack);
/* The innermost frame of the program itself, "file:line" or the next best; "" when there is no
 * frame. */
void stack_text_place(const struct stack_frames *stack, char *place, size_t bytes);

#endif
