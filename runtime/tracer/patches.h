/* The code that patched modules call, and for which of their instructions. Not thread-safe: the
 * Sanitizer API allows one caller at a time. */
#ifndef RUNTIME_TRACER_PATCHES_H
#define RUNTIME_TRACER_PATCHES_H

#include "runtime/tracer/api.h"

/* Gives a context that code, before modules of it are patched. */
SanitizerResult patches_load(const struct sanitizer_api *api, CUcontext context);
/* Patches a module. To unpatch it removes all patches (seen on an H200, driver 580). */
SanitizerResult patches_put(const struct sanitizer_api *api, CUmodule module);

#endif
