/* Calls, as exec_control.c decodes them, and the functions of the device's run-time that have no
 * body in PTX: exec_builtin.c. */
#ifndef RUNTIME_DEVICE_EXEC_EXEC_CALL_H
#define RUNTIME_DEVICE_EXEC_EXEC_CALL_H

#include "runtime/device/exec/exec_decoder.h"

/* One argument or result: where the caller has it. */
struct argument {
    bool in_memory; /* else in a slot */
    uint32_t slot;
    uint64_t offset; /* in the caller's .local frame */
    uint32_t bytes;
};

struct call_site {
    uint32_t callee; /* function index, or NO_FUNCTION: the address is in slot a */
    uint32_t argument_count, return_count;
    const struct argument *arguments, *returns;
};

/* What runs a function without a body; NULL: nothing does. */
micro_run *builtin_find(const struct ptx_function *function, uint32_t arguments);

/* One lane's 8 bytes of the k-th argument. */
uint64_t builtin_argument(struct warp *w, const struct call_site *site, uint32_t k, int lane);
/* The function's result, of up to 8 bytes; nothing if the caller takes none. */
void builtin_return(struct warp *w, const struct call_site *site, int lane, uint64_t value);

/* exec_heap.c */
micro_run builtin_malloc, builtin_aligned_malloc, builtin_free;

#endif
