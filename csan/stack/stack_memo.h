/* The stacks of one report, each resolved once, however often the report and its finding show it.
 * To resolve a frame, the symbolizer asks another process. Not thread-safe; the report's lock
 * covers it. */
#ifndef CSAN_STACK_STACK_MEMO_H
#define CSAN_STACK_STACK_MEMO_H

#include "csan/stack/stack_frames.h"

enum { STACK_MEMO_STACKS = 16 };

struct stack_memo {
    struct stack_memo_item {
        const void *const *frames; /* NULL: it is free */
        size_t count;
        const char *callee;
        struct stack_frames stack;
    } items[STACK_MEMO_STACKS];
    size_t next; /* to be used for another stack */
};

/* As stack_frames_resolve; valid until the next call. Two stacks are the same if their `frames` and
 * `callee` point to the same. */
const struct stack_frames *stack_memo_get(struct stack_memo *memo, const struct stack_style *style,
                                          const void *const *frames, size_t count,
                                          const char *callee);
/* The same, and it is the caller's. */
struct stack_frames stack_memo_take(struct stack_memo *memo, const struct stack_style *style,
                                    const void *const *frames, size_t count, const char *callee);
void stack_memo_clear(struct stack_memo *memo);

#endif
