/* Where the description of a texture or surface lies, for the detector: a byte that kernels read
 * when they use the object, and that its destruction frees. A GPU keeps descriptions where no
 * address of the program reaches them, so each has a byte of the upper half of addresses, by its
 * handle. The hooks and the embedded device name it alike. */
#ifndef RUNTIME_TRACE_OBJECT_ADDRESS_H
#define RUNTIME_TRACE_OBJECT_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

enum { OBJECT_HANDLE_BITS = 60 };

/* Arrays of a GPU begin at 2^63 (array_table.c). 0: a handle of more bits, which no driver gives.
 */
static inline uint64_t object_address(bool surface, uint64_t handle)
{
    const uint64_t first =
        surface ? UINT64_C(0x6) << OBJECT_HANDLE_BITS : UINT64_C(0x5) << OBJECT_HANDLE_BITS;
    return handle >> OBJECT_HANDLE_BITS ? 0 : first + handle;
}

static inline bool object_is_description(uint64_t address)
{
    return address >> OBJECT_HANDLE_BITS == 0x5 || address >> OBJECT_HANDLE_BITS == 0x6;
}

#endif
