/* Stacks of an interpreted language among the native ones: one source for the process, which the
 * language's adapter sets. A frame of its has bit 63 set; the depot keeps it like any other. */
#ifndef CSAN_STACK_STACK_SOURCE_H
#define CSAN_STACK_STACK_SOURCE_H

#include <csan/csan.h>

#include <stdbool.h>

/* `source` lives as long as the process; NULL: none. Members that its `size` says are missing are
 * none of its. */
void stack_source_set(const struct csan_stack_source *source);

/* The same of a language that no framework's adapter speaks for: what is called from it belongs to
 * the stack, too. */
void stack_source_set_mixed(const struct csan_stack_source *source);

/* The calling thread's frames, innermost first; 0 without a source. `locked`: the program may hold
 * locks, so a source that waits for one is not asked. */
size_t stack_source_capture(const void **frames, size_t capacity, bool locked);

/* Whether the source waits for locks. */
bool stack_source_waits(void);
/* Whether native frames go before the source's. */
bool stack_source_mixes(void);

bool stack_source_describe(const void *frame, struct csan_source_line *line);

static inline bool stack_source_owns(const void *frame)
{
    return (intptr_t)frame < 0;
}

#endif
