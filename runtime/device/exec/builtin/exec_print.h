/* What kernels print: printf and the message of a failed assertion. */
#ifndef RUNTIME_DEVICE_EXEC_EXEC_PRINT_H
#define RUNTIME_DEVICE_EXEC_EXEC_PRINT_H

#include "runtime/device/exec/exec_engine.h"

/* Format as the device's printf does: `format` and `arguments` are generic addresses as the lane
 * sees them. Returns the number of arguments, -1 without a format (CUDA C++ Programming Guide,
 * "Formatted Output"). */
int print_format(struct warp *warp, int lane, uint64_t format, uint64_t arguments);

void print_assertion(struct warp *warp, int lane, const struct exec_assertion *assertion);

#endif
