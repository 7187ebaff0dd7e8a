/* PTX that the program gives for a function whose image has none (csan_kernel_ptx). Nothing proves
 * that the machine code was made from it, so it is used only if it has a kernel of the function's
 * name whose parameters lie where the driver says that the function's lie. */
#ifndef RUNTIME_HOOK_KERNEL_USER_PTX_H
#define RUNTIME_HOOK_KERNEL_USER_PTX_H

#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/kernel/image.h"

/* The function's kernel in the PTX given for it; NULL when it is not of this function: then that is
 * said. Asks the driver; without the hooks' lock. One caller at a time. */
const struct ptx_function *user_ptx_function(struct image *user_image, CUfunction handle,
                                             const char *name);

#endif
