/* The kind of memory at an address. The rules of copies and sets depend on it. */
#ifndef RUNTIME_HOOK_STATE_MEMORY_TYPE_H
#define RUNTIME_HOOK_STATE_MEMORY_TYPE_H

#include <stdbool.h>
#include <stdint.h>

enum memory_type {
    MEMORY_TYPE_PAGEABLE,
    MEMORY_TYPE_PINNED,
    MEMORY_TYPE_MANAGED,
    MEMORY_TYPE_DEVICE
};

/* Finds the driver's function; without any lock. */
void memory_type_symbols_find(void);

/* Looks among csan's own records first, and then asks the driver (0.4 us on an H200 for an address
 * that csan does not know). Takes no lock of the hooks. */
enum memory_type memory_type_of(uint64_t address);

/* 1 if a write to these bytes of the device, in no allocation of the program, may be a write to a
 * constant variable. All constants of a module have 64 KiB at most (CUDA C++ Programming Guide,
 * "Technical Specifications per Compute Capability"). */
bool memory_type_may_be_constant(uint64_t address, uint64_t bytes);

static inline bool memory_type_is_host(enum memory_type place)
{
    return place == MEMORY_TYPE_PAGEABLE || place == MEMORY_TYPE_PINNED;
}

#endif
