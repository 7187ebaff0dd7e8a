/* Addresses that are other names of the same bytes, as memory mapped in two places has: accesses by
 * the second name are taken to the first one before anything looks at them. Owns the ranges. Not
 * thread-safe: the context's lock covers every user. */
#ifndef CSAN_DETECTOR_ALIAS_H
#define CSAN_DETECTOR_ALIAS_H

#include <csan/csan.h>
#include "csan/base/range_map.h"

struct alias_table {
    struct range_map second; /* of struct alias: the second names */
};

void alias_init(struct alias_table *table);
void alias_clear(struct alias_table *table);

/* From now on [base, base + bytes) is a name of [onto, onto + bytes). Aliases that it overlaps end,
 * and what `onto` is an alias of is taken itself. False when memory is short or there are no bytes.
 */
bool alias_add(struct alias_table *table, uint64_t base, uint64_t bytes, uint64_t onto);
/* Whether any of it is a second name. */
static inline bool alias_has(const struct alias_table *table, struct range range)
{
    return table->second.count && range_map_overlaps(&table->second, range);
}
/* All names inside [base, base + bytes) end. */
void alias_remove(struct alias_table *table, uint64_t base, uint64_t bytes);

/* The accesses by their first names: the same array when nothing changes, else a new one in *room,
 * with *count of them, that the caller frees. */
const struct csan_access *alias_canonicalize(const struct alias_table *table,
                                             const struct csan_access *accesses, size_t *count,
                                             struct csan_access **room);

#endif
