/* The images that nvcc embedded into the program and the libraries that it loaded, for functions
 * whose module csan never saw. One caller at a time. */
#ifndef RUNTIME_HOOK_KERNEL_IMAGE_EMBEDDED_H
#define RUNTIME_HOOK_KERNEL_IMAGE_EMBEDDED_H

#include "runtime/ptx/ir.h"

/* The kernel of that name in any of them, or NULL. It stays valid. Looks at objects first that were
 * loaded since the last call. `architecture` and `foreign`: see image_set_device and
 * image_is_foreign. */
const struct ptx_function *image_embedded_function(const char *name, uint32_t architecture,
                                                   bool *foreign);

#endif
