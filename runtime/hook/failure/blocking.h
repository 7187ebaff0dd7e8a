/* Option launch_blocking: the host waits after launches, of all kernels or of some, as it does with
 * CUDA_LAUNCH_BLOCKING ("CUDA Environment Variables"), which the driver itself offers for all
 * kernels alone. The wait is csan's and orders nothing: what a run finds without it, it finds with
 * it. */
#ifndef RUNTIME_HOOK_FAILURE_BLOCKING_H
#define RUNTIME_HOOK_FAILURE_BLOCKING_H

#include <csan/csan.h>
#include "runtime/hook/interpose/driver.h"

struct kernel;

/* Whether launches of any kernel are waited for. */
bool blocking_any(void);
/* Whether that kernel's are. */
bool blocking_kernel(const struct kernel *kernel);

/* Whether those of a kernel that sites call so are. */
bool blocking_matches(const char *name);

/* Until what the stream holds has ended; the stream is not being captured. Within a hook, without
 * locks. Returns what the launch is to return. */
CUresult blocking_wait(CUstream stream, bool thread_default);

#endif
