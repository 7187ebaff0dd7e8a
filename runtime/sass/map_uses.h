/* Which of a kernel's constants are tensor maps that it copies through, and which way: found by
 * following, through registers and along all ways that control may take, where each copy has its
 * map's address from. A map's address is that of the constant bank, which is itself a constant, and
 * an offset, and perhaps a multiple of an index, which is taken to be less than 2^31 and not
 * negative; what is computed in another way is not told. For sm_90 and sm_90a (step.h). */
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

/* Of a kernel's code. False: they cannot all be told, or memory was short. */
bool map_uses_find(struct map_uses *maps, const uint8_t *instructions, uint64_t bytes);

#endif
