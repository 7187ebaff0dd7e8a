/* Option launch_blocking: the host waits after launches, of all kernels or of some. The driver
 * itself offers that for all kernels by CUDA_LAUNCH_BLOCKING ("CUDA Environment Variables"). The
 * wait is csan's own and orders nothing, so a run finds the same as without it. */
#ifndef RUNTIME_HOOK_FAILURE_BLOCKING_H
#define RUNTIME_HOOK_FAILURE_BLOCKING_H

#include <csan/csan.h>
#include "runtime/hook/interpose/driver.h"

struct kernel;

/* Whether launches of any kernel are waited for. */
bool blocking_any(void);
/* Whether that kernel's are. */
bool blocking_kernel(const struct kernel *kernel);

/* Whether launches of the kernel that sites call so are waited for. */
bool blocking_matches(const char *name);

/* Waits until all work in the stream has ended; the stream is not being captured. Within a hook,
 * without locks. Returns what the launch is to return. */
CUresult blocking_wait(CUstream stream, bool thread_default);

#endif
