/* Lines of the cache. See ahead.h. */
#include "runtime/hook/ahead.h"

#include <stdint.h>

static size_t add(struct ahead *ahead, size_t count, struct access_piece piece)
{
    uintptr_t at = (uintptr_t)piece.start & ~(uintptr_t)(AHEAD_LINE - 1);
    uintptr_t end = (uintptr_t)piece.start + piece.bytes;
    for (; at < end && count < AHEAD_LINES; at += AHEAD_LINE)
        __atomic_store_n(&ahead->lines[count++], (const void *)at, __ATOMIC_RELAXED);
    return count;
}

void ahead_note(struct ahead *ahead, const struct access_piece *pieces, size_t count)
{
    size_t lines = 0;
    for (size_t i = 0; i < count; i++)
        lines = add(ahead, lines, pieces[i]);
    if (lines < AHEAD_LINES)
        __atomic_store_n(&ahead->lines[lines], NULL, __ATOMIC_RELAXED);
}

void ahead_prefetch(const struct ahead *ahead)
{
    for (size_t i = 0; i < AHEAD_LINES; i++) {
        const void *line = __atomic_load_n(&ahead->lines[i], __ATOMIC_RELAXED);
        if (!line)
            break;
        __builtin_prefetch(line);
    }
}
