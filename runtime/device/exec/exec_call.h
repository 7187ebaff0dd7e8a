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
    uint32_t builtin; /* a number of the file's that has it */
};

/* What runs a function without a body; NULL: nothing does. */
micro_run *builtin_find(const struct ptx_function *function, uint32_t arguments, uint32_t *number);

/* Whether it is the device runtime's, whose bodies in libcudadevrt.a ask a GPU's firmware. */
bool builtin_replaces(const struct ptx_function *function);

/* One lane's 8 bytes of the k-th argument. */
uint64_t builtin_argument(struct warp *w, const struct call_site *site, uint32_t k, int lane);
/* The function's result, of up to 8 bytes; nothing if the caller takes none. */
void builtin_return(struct warp *w, const struct call_site *site, int lane, uint64_t value);

/* The bytes of the k-th argument, up to `bytes` of them; the rest is 0. */
void builtin_argument_bytes(struct warp *w, const struct call_site *site, uint32_t k, int lane,
                            void *to, uint32_t bytes);

/* exec_launch.c. NULL: it is no function of the device runtime. */
micro_run *launch_builtin_find(const char *name, uint32_t arguments, uint32_t *number);

/* exec_heap.c */
micro_run builtin_malloc, builtin_aligned_malloc, builtin_free;
/* One lane's free. False: malloc did not give that address, or it was freed before. */
bool heap_free(struct warp *w, uint64_t address);

#endif
