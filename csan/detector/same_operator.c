#include "csan/detector/same_operator.h"

#include <stdlib.h>

void siblings_add(struct siblings *siblings, struct sibling sibling)
{
    if (siblings->count == siblings->room) {
        uint32_t room = siblings->room ? siblings->room * 2 : 16;
        struct sibling *bigger = realloc(siblings->items, room * sizeof *bigger);
        if (!bigger)
            return;
        siblings->items = bigger;
        siblings->room = room;
    }
    siblings->items[siblings->count++] = sibling;
}

bool siblings_have(const struct siblings *siblings, uint32_t lane, uint32_t other, uint64_t number)
{
    for (uint32_t i = 0; i < siblings->count; i++) {
        const struct sibling *sibling = &siblings->items[i];
        if (sibling->lane == lane && sibling->other == other && sibling->first <= number &&
            number <= sibling->last)
            return true;
    }
    return false;
}

void siblings_forget(struct siblings *siblings, uint32_t lane)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < siblings->count; i++)
        if (siblings->items[i].lane != lane)
            siblings->items[kept++] = siblings->items[i];
    siblings->count = kept;
}

void siblings_clear(struct siblings *siblings)
{
    free(siblings->items);
    *siblings = (struct siblings){0};
}
