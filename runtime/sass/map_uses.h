/* Which of a kernel's constants are tensor maps that it copies through, and in which direction. The
 * analysis follows each copy's map address through registers and along all paths. A map's address
 * is the constant bank's address (itself a constant), plus an offset, perhaps plus a multiple of an
 * index. The index is assumed to be less than 2^31 and not negative. An address computed in another
 * way is not known. For sm_90 and sm_90a (step.h). */
#ifndef RUNTIME_SASS_MAP_USES_H
#define RUNTIME_SASS_MAP_USES_H

#include "runtime/sass/map_use.h"

#include <stdbool.h>
#include <stdint.h>

struct map_uses {
    uint32_t count;
    struct map_use uses[MAP_USES_MOST]; /* by offset, and `every`; offsets are in constant bank 0,
                                           those of machine_code.h in the parameters */
};

/* Analyzes a kernel's code. False: some uses are not known, or memory was short. */
bool map_uses_find(struct map_uses *maps, const uint8_t *instructions, uint64_t bytes);

#endif
