/* See exposed_windows.h. */
#include "csan/replay/exposed_windows.h"
#include "csan/base/array.h"

bool exposed_windows_add(struct exposed_windows *windows, const struct exposed_window *window)
{
    if (!array_grow(&windows->items, windows->count, sizeof *windows->items))
        return false;
    windows->items[windows->count++] = *window;
    return true;
}

static int compare_window(const void *a, const void *b)
{
    const struct exposed_window *one = a, *other = b;
    return (one->window > other->window) - (one->window < other->window);
}

/* Those of one window. Who reads is exposed to the first writer, or else to one that is another. */
static void resolve_window(const struct exposed_window *items, size_t count, bool *exposed)
{
    const struct exposed_window *writer = NULL;
    bool others = false;
    for (size_t i = 0; i < count; i++) {
        if (items[i].reads)
            continue;
        others |= writer && items[i].process != writer->process;
        writer = writer ? writer : &items[i];
    }
    for (size_t i = 0; writer && i < count; i++)
        if (items[i].reads && (others || items[i].process != writer->process))
            exposed[items[i].process] = true;
}

void exposed_windows_resolve(struct exposed_windows *windows, bool *exposed)
{
    struct exposed_window *items = windows->items;
    if (windows->count)
        qsort(items, windows->count, sizeof *items, compare_window);
    for (size_t first = 0, end; first < windows->count; first = end) {
        for (end = first; end < windows->count && items[end].window == items[first].window;)
            end++;
        resolve_window(items + first, end - first, exposed);
    }
}

void exposed_windows_clear(struct exposed_windows *windows)
{
    free(windows->items);
    *windows = (struct exposed_windows){0};
}
