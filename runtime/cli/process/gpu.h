/* Whether there is a GPU that --device=auto can use. */
#ifndef RUNTIME_CLI_PROCESS_GPU_H
#define RUNTIME_CLI_PROCESS_GPU_H

#include "runtime/cli/process/program.h"

/* False: there is none that works, or none is visible. If the machine has an NVIDIA driver or
 * device file, the reason goes to standard error. */
bool gpu_usable(const struct program *program);

#endif
