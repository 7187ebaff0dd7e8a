/* Where stacks of an interpreted language come from. See stack_source.h. */
#include "csan/stack/stack_source.h"

static struct {
    const struct csan_stack_source *source;
    bool mixes;
} registry;

static void set(const struct csan_stack_source *source, bool mixes)
{
    if (source && source->size < sizeof *source)
        source = NULL;
    __atomic_store_n(&registry.mixes, mixes && source, __ATOMIC_RELAXED);
    __atomic_store_n(&registry.source, source, __ATOMIC_RELEASE);
}

void stack_source_set(const struct csan_stack_source *source)
{
    set(source, false);
}

void stack_source_set_mixed(const struct csan_stack_source *source)
{
    set(source, true);
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

bool stack_source_mixes(void)
{
    return __atomic_load_n(&registry.mixes, __ATOMIC_RELAXED);
}

bool stack_source_describe(const void *frame, struct csan_source_line *line)
{
    const struct csan_stack_source *source = __atomic_load_n(&registry.source, __ATOMIC_ACQUIRE);
    return source && source->describe(frame, line);
}
