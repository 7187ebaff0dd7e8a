/* csan kernels --learned: prints the contents of the files of learned sets
 * (runtime/learn/learned_file.h). */
#ifndef RUNTIME_CLI_KERNELS_KERNEL_LEARNED_H
#define RUNTIME_CLI_KERNELS_KERNEL_LEARNED_H

#include <stdbool.h>

/* Kernels of any name when `pattern` is NULL. `verbose`: mangled names and files, too. Returns the
 * command's exit code. */
int kernels_learned(const char *pattern, bool verbose);

#endif
