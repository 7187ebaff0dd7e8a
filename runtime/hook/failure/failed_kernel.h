/* What a GPU's core dump says of a failed kernel, in the terms of device/failure.h. The machine
 * code of the failing instruction, and the registers of the threads there, give it. */
#ifndef RUNTIME_HOOK_FAILURE_FAILED_KERNEL_H
#define RUNTIME_HOOK_FAILURE_FAILED_KERNEL_H

#include "runtime/coredump/coredump.h"

/* Calls failure_add. `dump` is complete, and stays the caller's. */
void failed_kernel_report(const struct coredump *dump, const struct coredump_fault *fault);

#endif
