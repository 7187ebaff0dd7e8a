/* Aliases: addresses that name the same bytes as other addresses, as when memory is mapped in two
 * places. Accesses by the second name are translated to the first name before anything else looks
 * at them. Owns the ranges. Not thread-safe: the context's lock covers every user. */
#ifndef CSAN_DETECTOR_ALIAS_H
#define CSAN_DETECTOR_ALIAS_H

#include <csan/csan.h>
#include "csan/base/range_map.h"

struct alias_table {
    struct range_map second; /* of struct alias: the second names */
};

void alias_init(struct alias_table *table);
void alias_clear(struct alias_table *table);

/* From now on, [base, base + bytes) is an alias of [onto, onto + bytes). Older aliases that it
 * overlaps end. If `onto` is itself an alias, its first name is used. False when memory is short or
 * `bytes` is 0. */
bool alias_add(struct alias_table *table, uint64_t base, uint64_t bytes, uint64_t onto);
/* Whether any of it is a second name. */
static inline bool alias_has(const struct alias_table *table, struct range range)
{
    return table->second.count && range_map_overlaps(&table->second, range);
}
/* All aliases inside [base, base + bytes) end. */
void alias_remove(struct alias_table *table, uint64_t base, uint64_t bytes);

/* Returns the accesses translated to first names. If nothing changes, this is the same array. Else
 * it is a new one in *room, with *count of them, which the caller frees. */
const struct csan_access *alias_canonicalize(const struct alias_table *table,
                                             const struct csan_access *accesses, size_t *count,
                                             struct csan_access **room);

#endif
