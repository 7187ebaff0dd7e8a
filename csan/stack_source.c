/* The source of an interpreted language's stacks. See stack_source.h. */
#include "stack_source.h"

static struct {
    const struct csan_stack_source *source;
} registry;

void stack_source_set(const struct csan_stack_source *source)
{
    if (source && source->size < sizeof *source)
        source = NULL;
    __atomic_store_n(&registry.source, source, __ATOMIC_RELEASE);
}

size_t stack_source_capture(const void **frames, size_t capacity, bool locked)
{
    const struct csan_stack_source *source = __atomic_load_n(&registry.source, __ATOMIC_ACQUIRE);
    if (!source || (locked && source->waits))
        return 0;
    return source->capture(frames, capacity, locked);
}

bool stack_source_waits(void)
{
    const struct csan_stack_source *source = __atomic_load_n(&registry.source, __ATOMIC_ACQUIRE);
    return source && source->waits;
}

bool stack_source_describe(const void *frame, struct csan_source_line *line)
{
    const struct csan_stack_source *source = __atomic_load_n(&registry.source, __ATOMIC_ACQUIRE);
    return source && source->describe(frame, line);
}
