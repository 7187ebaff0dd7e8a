/* Freed memory, by address, until other memory is allocated there: who allocated it and who freed
 * it. If nothing else is known of an address, a use of it is then a use after free. Under a live
 * block of a pool an entry may stay until that block ends: most blocks come where the same ones
 * were.
 *
 * It keeps the newest FREED_MOST ranges. Not thread-safe: the context's lock covers every user. */
#ifndef CSAN_SHADOW_FREED_H
#define CSAN_SHADOW_FREED_H

#include "csan/shadow/access_history.h"
#include "csan/base/range_map.h"

enum { FREED_MOST = 4096 };

struct freed_range {
    struct range range; /* what of it is left */
    struct range whole; /* as it was allocated */
    uint32_t birth_site;
    struct past_access death;
    uint64_t turn; /* the newest have the highest */
    bool at_host;  /* csan does not learn when the C library gives the address out again */
};

struct freed {
    struct range_map map; /* of struct freed_range */
    uint64_t turns;
};

void freed_init(struct freed *freed);
void freed_clear(struct freed *freed);

/* Memory in that range was freed. This replaces what was known there before. */
void freed_add(struct freed *freed, struct range range, bool at_host, uint32_t birth_site,
               const struct past_access *death);
/* Something else lies there now. */
void freed_forget(struct freed *freed, struct range range);
/* What was freed at the address, or NULL; valid until the next change. */
const struct freed_range *freed_find(const struct freed *freed, uint64_t address);

/* Whether memory was freed in the range that was not only the host's. */
bool freed_has_device_memory(const struct freed *freed, struct range range);

#endif
