/* A stack as the lines of a report. */
#ifndef CSAN_STACK_TEXT_H
#define CSAN_STACK_TEXT_H

#include "stack_frames.h"
#include "text.h"

/* `callee` as for stack_frames_resolve. `place` receives where the first line shown is,
 * "file:line" or the next best; "" when there is no line. */
void stack_text_add(struct text *text, const struct stack_style *style, const void *const *frames,
                    size_t count, const char *callee, char *place, size_t place_bytes);

#endif
