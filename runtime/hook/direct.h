/* Makes a kernel's description from its PTX: the second level of knowledge, read or write per
 * pointer. The only place of the hooks that speaks to runtime/access. */
#ifndef RUNTIME_HOOK_DIRECT_H
#define RUNTIME_HOOK_DIRECT_H

#include "runtime/hook/kernel.h"
#include "runtime/ptx/ir.h"

/* Where a __device__ variable of the kernel's module lies: 1 and its address and bytes. */
typedef bool direct_find_variable(void *user, const char *name, uint64_t *address, uint64_t *bytes);

/* `ptx` may be NULL: then nothing is known. Everything is copied. NULL when memory is short. */
struct kernel *direct_kernel(const char *name, const struct ptx_function *ptx,
                             direct_find_variable *find, void *user);
void direct_release(struct kernel *kernel);

#endif
