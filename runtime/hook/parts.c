/* See parts.h. */
#include "runtime/hook/parts.h"

/* The lane's newest, or NULL. */
static struct part *part_of(struct part *parts, uint32_t count, csan_lane lane)
{
    for (uint32_t i = count; i-- > 0;)
        if (parts[i].lane == lane)
            return &parts[i];
    return NULL;
}

static void add(struct part *parts, uint32_t *count, struct part *newest, csan_lane lane,
                uint64_t number)
{
    if (newest)
        newest->last = number;
    else if (*count < PARTS_MAX)
        parts[(*count)++] = (struct part){lane, number, number};
}

void parts_add(struct parts *parts, enum part_kind kind, csan_lane lane, uint64_t number)
{
    add(parts->whole, &parts->count, part_of(parts->whole, parts->count, lane), lane, number);
    if (kind == PART_TOLD) /* what is known by itself ends a piece */
        add(parts->told, &parts->told_count,
            parts->tells ? part_of(parts->told, parts->told_count, lane) : NULL, lane, number);
    parts->tells = kind == PART_TOLD;
}

bool parts_are_elsewhere(const struct parts *parts, csan_lane lane)
{
    return parts->count > 1 || (parts->count == 1 && parts->whole[0].lane != lane);
}

uint32_t parts_siblings(const struct parts *parts, enum part_kind kind, csan_lane lane,
                        struct part siblings[PARTS_MAX])
{
    const struct part *list = kind == PART_TOLD ? parts->whole : parts->told;
    const uint32_t count = kind == PART_TOLD ? parts->count : parts->told_count;
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        if (list[i].lane != lane)
            siblings[found++] = list[i];
    return found;
}
