/* A program as C text that the host's compiler turns into machine code: one function csan_kernel of
 * type compiled_run (exec_compiled.h). The text depends on the program alone. */
#ifndef RUNTIME_DEVICE_COMPILE_LOWER_H
#define RUNTIME_DEVICE_COMPILE_LOWER_H

#include "runtime/device/compile/plan.h"

/* malloc'd; *bytes is its length. NULL: memory is short. */
char *lower_text(const struct plan *plan, size_t *bytes);

#endif
