/* See operator_ops.h. */
#include "runtime/hook/operator/operator_ops.h"

#include <string.h>

/* The lane's newest, or NULL. */
static struct part *part_of(struct part *parts, uint32_t count, csan_lane lane)
{
    for (uint32_t i = count; i-- > 0;)
        if (parts[i].lane == lane)
            return &parts[i];
    return NULL;
}

/* Forgets the oldest for it, if need be. */
static struct part *lane_add(struct parts *parts, csan_lane lane, uint64_t number)
{
    if (parts->count == PARTS_MAX) {
        parts->count--;
        memmove(parts->whole, parts->whole + 1, parts->count * sizeof *parts->whole);
    }
    struct part *part = &parts->whole[parts->count++];
    *part = (struct part){lane, number, number};
    return part;
}

void parts_add(struct parts *parts, enum part_kind kind, csan_lane lane, uint64_t number)
{
    struct part *whole = part_of(parts->whole, parts->count, lane);
    const uint64_t before = whole ? whole->last : 0;
    if (whole)
        whole->last = number;
    else
        lane_add(parts, lane, number);
    if (kind != PART_TOLD)
        return;
    struct part *piece = part_of(parts->told, parts->told_count, lane);
    if (piece && piece->last == before) /* nothing that is known by itself came between */
        piece->last = number;
    else if (parts->told_count < PARTS_MAX)
        parts->told[parts->told_count++] = (struct part){lane, number, number};
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
