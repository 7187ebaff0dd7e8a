/* See stack_memo.h. */
#include "csan/stack/stack_memo.h"

static bool is_same(const struct stack_memo_item *item, const void *const *frames, size_t count,
                    const char *callee)
{
    return item->frames && item->frames == frames && item->count == count &&
           (item->callee == callee || (!item->callee[0] && !callee[0]));
}

static struct stack_memo_item *item_of(struct stack_memo *memo, const struct stack_style *style,
                                       const void *const *frames, size_t count, const char *callee)
{
    for (size_t i = 0; i < STACK_MEMO_STACKS; i++)
        if (is_same(&memo->items[i], frames, count, callee))
            return &memo->items[i];
    struct stack_memo_item *item = &memo->items[memo->next++ % STACK_MEMO_STACKS];
    stack_frames_free(&item->stack);
    *item = (struct stack_memo_item){.frames = frames, .count = count, .callee = callee};
    stack_frames_resolve(&item->stack, style, frames, count, callee);
    return item;
}

const struct stack_frames *stack_memo_get(struct stack_memo *memo, const struct stack_style *style,
                                          const void *const *frames, size_t count,
                                          const char *callee)
{
    return &item_of(memo, style, frames, count, callee)->stack;
}

struct stack_frames stack_memo_take(struct stack_memo *memo, const struct stack_style *style,
                                    const void *const *frames, size_t count, const char *callee)
{
    struct stack_memo_item *item = item_of(memo, style, frames, count, callee);
    const struct stack_frames stack = item->stack;
    *item = (struct stack_memo_item){.frames = NULL};
    return stack;
}

void stack_memo_clear(struct stack_memo *memo)
{
    for (size_t i = 0; i < STACK_MEMO_STACKS; i++)
        stack_frames_free(&memo->items[i].stack);
    *memo = (struct stack_memo){.next = 0};
}
