/* The modules of the program that are patched, and their functions whose launches are traced.
 *
 * Patching and unpatching wait for all that the context's streams do, and stop for ever within a
 * launch callback (seen on an H200, driver 580, CUDA 13.0). So a module is patched within the
 * callback that says it was loaded, when it has no code on the device yet, and from then on only
 * while the context is idle; else later.
 *
 * Thread-safe. Callbacks come on threads that may hold the driver's own locks, and the Sanitizer
 * API takes those: so no lock that a callback waits for is held while that API is called. */
#ifndef RUNTIME_TRACER_MODULE_H
#define RUNTIME_TRACER_MODULE_H

#include "runtime/hook/driver.h"
#include "runtime/tracer/api.h"

struct module;

/* How fine a function's records have to be, as its launches have shown. */
struct grain {
    uint32_t shift; /* log2 of a granule's bytes */
    bool coarse;    /* finer is too much: its sets are bounds */
};

/* A launch that is traced, of a patched module, which stays patched until its end. */
struct module_launch {
    struct module *module;
    CUfunction function; /* as the program passes it: a CUkernel, too */
    struct grain grain;
};

/* ---- In callbacks ---- */

/* Before modules of that context are loaded: hands it the patches' code. */
void module_patches_load(const struct sanitizer_api *api, CUcontext context);
void module_loaded(const struct sanitizer_api *api, CUmodule handle, CUcontext context);
void module_unloads(CUmodule handle);
void module_context_ends(CUcontext context);

/* At a launch that is wanted: whether its module is patched, and *launch then. Where it is not, it
 * will be when the context is idle. */
bool module_launch_begin(const Sanitizer_LaunchData *data, CUfunction function,
                         struct module_launch *launch);
/* At any other launch. */
void module_launched(CUmodule handle);

/* ---- Elsewhere ---- */

/* Once for each launch that began, on any thread. */
void module_launch_end(const struct module_launch *launch);
/* The function's next launches take that grain. Before module_launch_end. */
void module_refine(const struct module_launch *launch, struct grain grain);

/* As struct trace_source has it. */
void module_settle(CUfunction function, bool known);

/* Whether some module waits to be patched or unpatched; a hint, without a lock. */
bool module_changes_wait(void);
/* Makes the changes that wait in that context, which is current, while `idle` says that it is. */
void module_changes_make(const struct sanitizer_api *api, CUcontext context, bool (*idle)(void));

/* How many modules or contexts the Sanitizer API refused, and why it did first. */
unsigned module_refusals(SanitizerResult *first);

#endif
