#include "csan/detector/same_operator.h"

#include <stdlib.h>

void same_operator_add(struct same_operator *same_operator, struct same_operator_member pair)
{
    if (same_operator->count == same_operator->room) {
        uint32_t room = same_operator->room ? same_operator->room * 2 : 16;
        struct same_operator_member *bigger = realloc(same_operator->items, room * sizeof *bigger);
        if (!bigger)
            return;
        same_operator->items = bigger;
        same_operator->room = room;
    }
    same_operator->items[same_operator->count++] = pair;
}

bool same_operator_have(const struct same_operator *same_operator, uint32_t lane, uint32_t other,
                        uint64_t number)
{
    for (uint32_t i = 0; i < same_operator->count; i++) {
        const struct same_operator_member *pair = &same_operator->items[i];
        if (pair->lane == lane && pair->other == other && pair->first <= number &&
            number <= pair->last)
            return true;
    }
    return false;
}

void same_operator_forget(struct same_operator *same_operator, uint32_t lane)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < same_operator->count; i++)
        if (same_operator->items[i].lane != lane)
            same_operator->items[kept++] = same_operator->items[i];
    same_operator->count = kept;
}

void same_operator_clear(struct same_operator *same_operator)
{
    free(same_operator->items);
    *same_operator = (struct same_operator){0};
}
