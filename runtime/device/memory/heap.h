/* The heap of malloc and free in kernels: one for each context, of CU_LIMIT_MALLOC_HEAP_SIZE bytes
 * (CUDA C++ Programming Guide, "Heap Memory Allocation"). It has addresses of its own, which no
 * copy and no cudaFree of the host takes, and lives as long as its context. What a kernel frees is
 * not given out again before long: reuse would look like a race between kernels, and a use of freed
 * memory would be none. With the device's lock held. */
#ifndef RUNTIME_DEVICE_MEMORY_HEAP_H
#define RUNTIME_DEVICE_MEMORY_HEAP_H

#include "runtime/device/driver/driver.h"
#include "runtime/device/exec/exec.h"

/* exec_memory.allocate and .release; `user` is the kernel's struct item. */
uint64_t heap_allocate(void *user, uint64_t bytes, uint64_t alignment);
bool heap_release(void *user, uint64_t address, uint64_t *bytes);

/* Whether the context's heap has the address in a block that is not freed; fills *region. */
bool heap_find(const struct CUctx_st *context, uint64_t address, struct exec_region *region);
/* Whether a kernel has used the context's heap: then its size is settled. */
bool heap_is_used(const struct CUctx_st *context);
void heap_forget(struct CUctx_st *context);

#endif
