/* See range_history.h. */
#include "csan/detector/range_history.h"

#include <stdlib.h>

/* From that op on. */
struct range_change {
    uint64_t number;
    struct range_path *path;
};

static struct range_change *change_at(const struct range_history *history, uint64_t index)
{
    return &history->changes[index % RANGE_CHANGES];
}

bool range_history_note(struct range_history *history, uint64_t number, struct range_path *path)
{
    const struct range_path *before =
        history->count ? change_at(history, history->count - 1)->path : NULL;
    if (before == path)
        return false;
    if (!history->changes) {
        history->changes = calloc(RANGE_CHANGES, sizeof *history->changes);
        if (!history->changes)
            return false;
    }
    struct range_change *change = change_at(history, history->count++);
    range_path_release(change->path);
    *change = (struct range_change){number, range_path_share(path)};
    return true;
}

const char *range_history_find(const struct range_history *history, uint64_t number)
{
    uint64_t low = history->count > RANGE_CHANGES ? history->count - RANGE_CHANGES : 0;
    uint64_t high = history->count;
    if (low == high || change_at(history, low)->number > number)
        return "";
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (change_at(history, middle)->number <= number)
            low = middle;
        else
            high = middle;
    }
    const struct range_path *path = change_at(history, low)->path;
    return path ? path->text : "";
}

void range_history_clear(struct range_history *history)
{
    for (size_t i = 0; history->changes && i < RANGE_CHANGES; i++)
        range_path_release(history->changes[i].path);
    free(history->changes);
    *history = (struct range_history){0};
}
