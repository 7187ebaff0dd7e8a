/* A tensor map among a kernel's parameters that it copies through. */
#ifndef RUNTIME_SASS_MAP_USE_H
#define RUNTIME_SASS_MAP_USE_H

#include <stdint.h>

enum { MAP_USES_MOST = 32 }; /* of a kernel */
enum { MAP_USE_BYTES = 64 }; /* of a map: what follows is nothing to the device */

enum map_copy { MAP_READS = 1, MAP_STORES = 2, MAP_REDUCES = 4, MAP_COPIES = 7 };

struct map_use {
    uint32_t offset; /* of the map in the parameters */
    uint8_t copies;  /* enum map_copy, or'ed */
    uint32_t every;  /* of the next one of an array, any of which it may be; 0: it is one */
};

#endif
