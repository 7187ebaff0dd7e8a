/* Memory that was freed, by address, until something else lies there: who allocated it and who
 * freed it. A use of an address of which nothing else is known is then a use after free.
 *
 * It holds the newest FREED_MOST ranges. Not thread-safe: the context's lock covers every user. */
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
    bool at_host;  /* the C library may give the address out again, of which csan hears nothing */
};

struct freed {
    struct range_map map; /* of struct freed_range */
    uint64_t turns;
};

void freed_init(struct freed *freed);
void freed_clear(struct freed *freed);

/* Memory of that range was freed; whatever was known there before is forgotten. */
void freed_add(struct freed *freed, struct range range, bool at_host, uint32_t birth_site,
               const struct past_access *death);
/* Something else lies there now. */
void freed_forget(struct freed *freed, struct range range);
/* What was freed at the address, or NULL; valid until the next change. */
const struct freed_range *freed_find(const struct freed *freed, uint64_t address);

/* Whether memory that was not the host's was freed there, or in a part of it. */
bool freed_has_device_memory(const struct freed *freed, struct range range);

#endif
