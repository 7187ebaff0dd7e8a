/* The modules of the program that are patched. Patching and unpatching wait for all that the
 * context's streams do, and stop for ever within a launch callback (seen on an H200, driver 580,
 * CUDA 13.0). So a module is patched within the callback that says it was loaded, when it has no
 * code on the device yet, and from then on only while the context is idle; else later.
 *
 * Thread-safe, with a lock of its own. */
#ifndef RUNTIME_TRACER_MODULE_H
#define RUNTIME_TRACER_MODULE_H

#include "runtime/hook/driver.h"
#include "runtime/tracer/api.h"

/* Before modules of that context are patched, with it current: hands it the patches' code. */
bool module_patches_load(const struct sanitizer_api *api, CUcontext context);

/* In the resource callbacks. */
void module_loaded(const struct sanitizer_api *api, CUmodule handle, CUcontext context);
void module_unloads(CUmodule handle);
void module_context_ends(CUcontext context);

/* In the launch callback of a launch that is wanted, of the function as the program passes it:
 * whether its module is patched. Where it is not, it will be when the context is idle. */
bool module_is_ready(const Sanitizer_LaunchData *data, CUfunction function);

/* In that of any other launch. */
void module_launched(CUmodule handle);

/* Whether some module waits to be patched or unpatched; a hint, without the lock. */
bool module_changes_wait(void);
/* Makes the changes that wait, with a context current that is idle. */
void module_changes_make(const struct sanitizer_api *api, CUcontext context);

/* A traced launch of the function is over. */
void module_launch_done(CUfunction function);

/* As struct trace_source has it. */
void module_settle(CUfunction function, bool known);

#endif
