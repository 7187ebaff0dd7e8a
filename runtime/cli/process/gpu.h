/* Is there a GPU that --device=auto can use? */
#ifndef RUNTIME_CLI_PROCESS_GPU_H
#define RUNTIME_CLI_PROCESS_GPU_H

#include "runtime/cli/process/program.h"

/* False, with why on standard error where the machine has an NVIDIA driver or device file: there is
 * none that works, or none is visible. */
bool gpu_usable(const struct program *program);

#endif
