/* Stacks of an interpreted language among the native ones. The process has one source of them,
 * which the language's adapter sets. Its frames have bit 63 set; the table of stacks keeps them
 * like any other. */
#ifndef CSAN_STACK_STACK_SOURCE_H
#define CSAN_STACK_STACK_SOURCE_H

#include <csan/csan.h>

#include <stdbool.h>

/* `source` lives as long as the process; NULL: none. Its `size` says which members it has. */
void stack_source_set(const struct csan_stack_source *source);

/* The same for a language without a framework's adapter: whatever is called from it belongs to the
 * stack, too. */
void stack_source_set_mixed(const struct csan_stack_source *source);

/* The calling thread's frames, innermost first; 0 without a source. `locked`: the program may hold
 * locks, so a source that waits for one is not asked. */
size_t stack_source_capture(const void **frames, size_t capacity, bool locked);

/* Whether the source waits for locks. */
bool stack_source_waits(void);
/* Whether native frames come before the source's. */
bool stack_source_mixes(void);

bool stack_source_describe(const void *frame, struct csan_source_line *line);

static inline bool stack_source_owns(const void *frame)
{
    return (intptr_t)frame < 0;
}

#endif
