/* See recorded_lines.h. */
#include "runtime/cli/findings/recorded_lines.h"
#include "csan/replay/replay_define.h"
#include "csan/stack/stack_source.h"

static struct {
    const struct replay_definitions *definitions;
} used;

/* This process has no such stacks of its own. */
static size_t capture_nothing(const void **frames, size_t capacity, int locked)
{
    (void)frames;
    (void)capacity;
    (void)locked;
    return 0;
}

static int describe(const void *frame, struct csan_source_line *line)
{
    return used.definitions ? replay_definitions_describe(used.definitions, frame, line) : 0;
}

void recorded_lines_use(const struct replay_definitions *definitions)
{
    static const struct csan_stack_source source = {sizeof source, capture_nothing, describe, 0};
    used.definitions = definitions;
    stack_source_set(definitions ? &source : NULL);
}
