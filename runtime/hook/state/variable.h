/* Variables of modules (__device__, __constant__, __managed__) as memory of the detector, so that a
 * report names them. A variable is declared when its address is first known: the program asks the
 * driver, or a kernel that uses it is launched. It ends with its module or context. All that used
 * it is over by then, so its end is not checked as a free. */
#ifndef RUNTIME_HOOK_STATE_VARIABLE_H
#define RUNTIME_HOOK_STATE_VARIABLE_H

#include "runtime/hook/interpose/driver.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether it was declared under that name. All functions here need the hooks' lock. */
bool variable_is_known(uint64_t base, uint64_t bytes, const char *name);

/* The variable `name`, as its module calls it, lies at [base, base + bytes) in the current context.
 * `owner`: the module's or library's handle. `qualifier`: "__constant__", or "variable" if it is
 * not known. `file`: the executable or library that contains the module, or "". */
void variable_found(const void *owner, uint64_t base, uint64_t bytes, const char *qualifier,
                    const char *name, const char *file);

void variable_module_ended(const void *owner);
void variable_context_ended(CUcontext context);

#endif
