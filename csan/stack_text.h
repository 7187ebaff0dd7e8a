/* A stack as the lines of a report. */
#ifndef CSAN_STACK_TEXT_H
#define CSAN_STACK_TEXT_H

#include "stack_frames.h"
#include "text.h"

/* `callee` as for stack_frames_resolve. Stretches of libraries' frames are one line each
 * (stack_fold.h), unless all are. `place` receives where the innermost frame of the program's own
 * is, "file:line" or the next best; "" when there is no frame. */
void stack_text_add(struct text *text, const struct stack_style *style, const void *const *frames,
                    size_t count, const char *callee, char *place, size_t place_bytes);

#endif
