/* Which of a kernel's constants are tensor maps that it copies through, and which way: found by
 * following, through registers and along all ways that control may take, where each copy has its
 * map's address from. A map's address is that of the constant bank, which is itself a constant, and
 * an offset, and perhaps a multiple of an index, which is taken to be less than 2^31 and not
 * negative; what is computed in another way is not told. For sm_90 and sm_90a (step.h). */
#ifndef RUNTIME_SASS_MAP_USES_H
#define RUNTIME_SASS_MAP_USES_H

#include <stdbool.h>
#include <stdint.h>

enum { MAP_USES_MOST = 32 };
enum { MAP_USE_BYTES = 64 }; /* of a map: what follows is nothing to the device */

struct map_use {
    uint32_t offset; /* of the map in constant bank 0; machine_code.h: in the parameters */
    uint8_t copies;  /* enum step_copy of step.h, or'ed */
    uint32_t every;  /* of the next one of an array, any of which it may be; 0: it is one */
};

struct map_uses {
    uint32_t count;
    struct map_use uses[MAP_USES_MOST]; /* by offset, and `every` */
};

/* Of a kernel's code. False: they cannot all be told, or memory was short. */
bool map_uses_find(struct map_uses *maps, const uint8_t *instructions, uint64_t bytes);

#endif
