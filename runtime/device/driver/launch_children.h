/* Kernels that kernels launch (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"). A running
 * kernel has a family: the queues of its device streams, its children, and a record of who touched
 * what and after whom. A kernel is done when its children are, and then those of its tail launches.
 * With the device's lock held. */
#ifndef RUNTIME_DEVICE_DRIVER_LAUNCH_CHILDREN_H
#define RUNTIME_DEVICE_DRIVER_LAUNCH_CHILDREN_H

#include "runtime/device/driver/driver.h"
#include "runtime/device/exec/exec.h"
#include "runtime/trace/trace.h"

struct family;

/* exec_memory.runtime; `user` is the kernel's struct item. */
extern const struct exec_runtime children_runtime;

/* The kernel has run to its end: whether all that it launched is done, too. Tail launches begin
 * when all else is. `family` may be NULL: it launched nothing. */
bool children_are_done(struct family *family);
/* Of a family whose children are done: fills in launch->parts. The arrays are the family's. */
void children_report(struct family *family, exec_state *state, struct device_trace_launch *launch);
/* The kernel is gone. NULL is allowed. */
void children_forget(struct family *family);

/* A child has ended. `family`: its parent's. */
void child_is_done(struct family *family, uint32_t number, exec_state *state);

/* ---- launch.c -------------------------------------------------------------------------------- */

/* What launch.c has of a kernel's item. */
struct launch_kin {
    struct family *own;    /* once it launched something */
    struct family *parent; /* retained; NULL: the host launched it */
    uint32_t number;       /* in the parent's family */
};
struct launch_kin *launch_kin(struct item *kernel);
exec_state *launch_state(struct item *kernel);
/* A kernel of the same module as an item of its own, with `bytes` bytes of parameters. NULL with
 * *result saying why. Its kin is to be set before it is enqueued. */
struct item *launch_child(struct item *kernel, const struct exec_grid *grid, const void *params,
                          CUresult *result);
/* Bytes of a kernel's parameters by its address; 0: none, or no such kernel. */
uint64_t launch_param_bytes(struct item *kernel, uint64_t function);
const char *launch_name(struct item *kernel);

void family_retain(struct family *family);
void family_release(struct family *family);

#endif
