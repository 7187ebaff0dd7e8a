#include "csan/stack/stack_text.h"
#include "csan/stack/stack_fold.h"

#include <stdio.h>

enum { PLACE_BYTES = 256 };

static void line_add(struct text *text, size_t number, const struct stack_frame *frame)
{
    char place[PLACE_BYTES];
    stack_frame_place(frame, place, sizeof(place));
    const char *function = frame->function ? frame->function : frame->module ? NULL : "??";
    text_add(text, "  #%zu ", number);
    if (!function)
        text_add(text, "%s\n", place);
    else
        text_add(text, frame->file ? "%s %s\n" : "%s (%s)\n", function, place);
}

void stack_text_place(const struct stack_frames *stack, char *place, size_t bytes)
{
    const struct stack_frame *top = stack_frames_top(stack);
    place[0] = '\0';
    if (top || stack->count)
        stack_frame_place(top ? top : &stack->items[0], place, bytes);
}

void stack_text_add(struct text *text, const struct stack_style *style,
                    const struct stack_frames *stack)
{
    struct stack_fold fold = {.on = !style->full && stack_frames_have_own(stack)};
    for (size_t i = 0; i < stack->count; i++)
        if (!stack_fold_takes(&fold, text, stack->items[i].library))
            line_add(text, i, &stack->items[i]);
    stack_fold_end(&fold, text);
    if (!stack->count)
        text_add(text, "  (not recorded)\n");
}
