/* Whether a launch can fail, by what csan knows of it before it runs.
 *
 * With a GPU core dump (failure/dump.h) a call that waits returns success although a kernel failed,
 * so csan asks the device behind each wait. That takes 4 us, and more while copies run. Behind
 * launches that cannot fail it is left out. */
#ifndef RUNTIME_HOOK_LAUNCH_LAUNCH_SAFETY_H
#define RUNTIME_HOOK_LAUNCH_LAUNCH_SAFETY_H

#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/kernel/launch_accesses.h"

#include <stdbool.h>

/* Whether every byte that the launch touches is known, aligned, and lies in live memory that the
 * context's kernels may touch; and the kernel can fail in no other way. False for a kernel's first
 * two launches: an access whose pieces hide one that is not aligned fails there. With the hooks'
 * lock, between launch_accesses_begin and launch_accesses_end. */
bool launch_cannot_fail(struct kernel *kernel, const struct launch_accesses_touched *touched,
                        CUcontext context);

#endif
