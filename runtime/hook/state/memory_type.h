/* What kind of memory an address is in: the rules of copies and sets depend on it. */
#ifndef RUNTIME_HOOK_STATE_MEMORY_TYPE_H
#define RUNTIME_HOOK_STATE_MEMORY_TYPE_H

#include <stdbool.h>
#include <stdint.h>

enum place { PLACE_PAGEABLE, PLACE_PINNED, PLACE_MANAGED, PLACE_DEVICE };

/* Finds the driver's function; without any lock. */
void place_symbols_find(void);

/* csan's own allocations first, else the driver (0.4 us on an H200 for an address it does not
 * know). Takes no lock of the hooks. */
enum place place_of(uint64_t address);

/* 1 when a write to these bytes of the device, in no allocation of the program's, may be one to a
 * constant variable: all constants of a module have 64 KiB at most (CUDA C++ Programming Guide,
 * "Technical Specifications per Compute Capability"). */
bool place_may_be_constant(uint64_t address, uint64_t bytes);

static inline bool place_is_host(enum place place)
{
    return place == PLACE_PAGEABLE || place == PLACE_PINNED;
}

#endif
