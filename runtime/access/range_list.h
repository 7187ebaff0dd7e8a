/* The ranges of a set while it is made: each access adds some, and then they are merged. Unrolled
 * loops and split guards leave many ranges that are parts of one. */
#ifndef RUNTIME_ACCESS_RANGE_LIST_H
#define RUNTIME_ACCESS_RANGE_LIST_H

#include "runtime/access/footprint.h"

struct range_item {
    struct footprint footprint; /* footprint.exact is about the shape; `bound` decides */
    uint32_t base;
    uint8_t kind, bound, width;
    bool
        early; /* of an access that is; covers one that is not, since that is unordered with less */
    uint32_t line;
};

enum { RANGE_LIST_MAX = 512, RANGE_SET_MAX = 96 };

struct range_list {
    struct range_item items[RANGE_LIST_MAX];
    uint32_t count;
};

/* Adds a range. When the list is full, its ranges are first merged, at worst to whole hulls. */
void range_list_add(struct range_list *list, const struct range_item *item);
/* Merges the ranges: at most RANGE_SET_MAX are left. */
void range_list_finish(struct range_list *list);

#endif
