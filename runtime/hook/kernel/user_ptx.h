/* PTX that the program declares for a function whose image has none (csan_kernel_ptx). Nothing
 * proves that the machine code was made from it. So csan uses it only if it has a kernel of the
 * function's name whose parameters lie where the driver says. */
#ifndef RUNTIME_HOOK_KERNEL_USER_PTX_H
#define RUNTIME_HOOK_KERNEL_USER_PTX_H

#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/kernel/image.h"

/* The function's kernel in the PTX declared for it. NULL if that PTX does not fit the function,
 * which is then said. Asks the driver; without the hooks' lock. One caller at a time. */
const struct ptx_function *user_ptx_function(struct image *user_image, CUfunction handle,
                                             const char *name);

#endif
