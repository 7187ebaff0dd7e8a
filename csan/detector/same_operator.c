#include "csan/detector/same_operator.h"

#include <stdlib.h>

void same_operator_add(struct same_operator *siblings, struct same_operator_member sibling)
{
    if (siblings->count == siblings->room) {
        uint32_t room = siblings->room ? siblings->room * 2 : 16;
        struct same_operator_member *bigger = realloc(siblings->items, room * sizeof *bigger);
        if (!bigger)
            return;
        siblings->items = bigger;
        siblings->room = room;
    }
    siblings->items[siblings->count++] = sibling;
}

bool same_operator_have(const struct same_operator *siblings, uint32_t lane, uint32_t other,
                        uint64_t number)
{
    for (uint32_t i = 0; i < siblings->count; i++) {
        const struct same_operator_member *sibling = &siblings->items[i];
        if (sibling->lane == lane && sibling->other == other && sibling->first <= number &&
            number <= sibling->last)
            return true;
    }
    return false;
}

void same_operator_forget(struct same_operator *siblings, uint32_t lane)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < siblings->count; i++)
        if (siblings->items[i].lane != lane)
            siblings->items[kept++] = siblings->items[i];
    siblings->count = kept;
}

void same_operator_clear(struct same_operator *siblings)
{
    free(siblings->items);
    *siblings = (struct same_operator){0};
}
