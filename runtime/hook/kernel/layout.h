/* Where a kernel's parameters lie, and their bytes in a launch: one after another as the kernel
 * sees them, whichever way the program passed them. The kernel's PTX says where, else the driver.
 */
#ifndef RUNTIME_HOOK_KERNEL_LAYOUT_H
#define RUNTIME_HOOK_KERNEL_LAYOUT_H

#include "runtime/hook/interpose/driver.h"
#include "runtime/ptx/ir.h"

struct layout_parameter {
    uint32_t offset, bytes;
};

struct layout {
    uint32_t bytes, count;
    struct layout_parameter *parameters; /* by offset */
};

/* Finds the driver's functions; without any lock, before the others. */
void layout_symbols_find(void);

/* Where the parameter lies according to the driver. Drivers before 12.4 do not say. */
CUresult layout_ask(CUfunction handle, size_t index, size_t *offset, size_t *bytes);

/* False: neither PTX nor driver says, or memory is short. `ptx` may be NULL. Without the hooks'
 * lock. */
bool layout_find(struct layout *layout, CUfunction handle, const struct ptx_function *ptx);
void layout_release(struct layout *layout);

/* The buffer of CU_LAUNCH_PARAM_BUFFER_POINTER and its bytes; NULL when there is none. */
const uint8_t *layout_extra(void *const *extra, size_t *bytes);

/* Copies the parameters that the program passed to `to`, which has layout->bytes. Bytes between
 * them become 0. False: some were not passed. */
bool layout_copy(const struct layout *layout, void *const *parameters, void *const *extra,
                 uint8_t *to);

/* Whether `any` holds for one of the parameters' 8-byte words, as layout_copy has them; true, too,
 * if some were not passed. `any` looks at words that follow each other, where the program has them:
 * they may lie at any address. A last word that is not whole is left out. */
bool layout_any_word(const struct layout *layout, void *const *parameters, void *const *extra,
                     bool (*any)(const void *words, size_t bytes));

#endif
