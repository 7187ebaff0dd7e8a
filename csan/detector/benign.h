/* Bytes whose races the program declares harmless. Accesses are cut around them before anything
 * else looks at them. Owns the ranges. Not thread-safe: the context's lock covers every user. */
#ifndef CSAN_DETECTOR_BENIGN_H
#define CSAN_DETECTOR_BENIGN_H

#include <csan/csan.h>
#include "csan/base/range_map.h"

#include <stdbool.h>

struct benign_table {
    struct range_map ranges; /* of struct range, with gaps between them */
};

void benign_init(struct benign_table *table);
void benign_clear(struct benign_table *table);
/* False when memory is short. */
bool benign_add(struct benign_table *table, struct range range);
/* Whether any of it is in the table. */
static inline bool benign_has(const struct benign_table *table, struct range range)
{
    return table->ranges.count && range_map_overlaps(&table->ranges, range);
}
/* Memory there is born anew. */
void benign_remove(struct benign_table *table, struct range range);

/* Where an access "to the end" (CSAN_TO_END) ends; 0: it is not known. */
typedef uint64_t benign_find_end(void *user, uint64_t base);

/* Returns the accesses without benign bytes. If they have none, this is the same array. Else it is
 * a new one in *room, with *count of them, which the caller frees. A pattern that would fall into
 * thousands of pieces stays whole. */
const struct csan_access *benign_cut(const struct benign_table *table,
                                     const struct csan_access *accesses, size_t *count,
                                     benign_find_end *find_end, void *user, void **room);

#endif
