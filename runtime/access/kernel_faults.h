/* In which ways a kernel can fail while it runs. */
#ifndef RUNTIME_ACCESS_KERNEL_FAULTS_H
#define RUNTIME_ACCESS_KERNEL_FAULTS_H

#include "runtime/ptx/ir.h"

#include <stdbool.h>

/* Whether the kernel can fail only by the address of an access to global memory. It then has no
 * trap, no call (an assertion is one), no branch by an index, and touches no other memory that has
 * bounds. Looks at the kernel's own instructions, each once. Thread-safe. */
bool kernel_faults_are_global(const struct ptx_function *kernel);

#endif
