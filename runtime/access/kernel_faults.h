/* In which ways a kernel can fail while it runs. */
#ifndef RUNTIME_ACCESS_KERNEL_FAULTS_H
#define RUNTIME_ACCESS_KERNEL_FAULTS_H

#include "runtime/ptx/ir.h"

/* If the kernel can fail only by the address of an access to global memory, and all such accesses
 * are of one width: that width in bytes, or 1 if there are none. Addresses have to be multiples of
 * it (PTX ISA, "Addresses as Operands"). Otherwise 0: the kernel has a trap, a call (an assertion
 * is one), a branch by an index, or touches other memory that has bounds. Looks at the kernel's own
 * instructions, each once. Thread-safe. */
uint8_t kernel_faults_width(const struct ptx_function *kernel);

#endif
