#include "csan/detector/same_operator.h"
#include "csan/base/array.h"

#include <stdlib.h>

void same_operator_add(struct same_operator *same_operator, struct same_operator_member pair)
{
    if (array_room(&same_operator->items, same_operator->count, &same_operator->room, 16, SIZE_MAX,
                   sizeof *same_operator->items))
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
