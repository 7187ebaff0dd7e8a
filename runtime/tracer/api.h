/* The functions of NVIDIA's Sanitizer API that csan calls (Compute Sanitizer API Reference Manual),
 * from libsanitizer-public.so of the CUDA Toolkit, which is opened at run time and never linked. */
#ifndef RUNTIME_TRACER_API_H
#define RUNTIME_TRACER_API_H

#include "runtime/hook/interpose/driver.h"

#include <sanitizer_callbacks.h>
#include <sanitizer_patching.h>

struct sanitizer_api {
    __typeof__(&sanitizerSubscribe) subscribe;
    __typeof__(&sanitizerEnableDomain) enable_domain;
    __typeof__(&sanitizerAddPatches) add_patches;
    __typeof__(&sanitizerPatchInstructions) patch_instructions;
    __typeof__(&sanitizerPatchModule) patch_module;
    __typeof__(&sanitizerUnpatchModule) unpatch_module;
    __typeof__(&sanitizerSetLaunchCallbackData) set_launch_data;
    __typeof__(&sanitizerSetCallbackData) set_function_data;
    __typeof__(&sanitizerGetResultString) result_string;
};

/* Opened once and kept; NULL where there is none: *why says so then, a literal or a message that
 * lives on. Thread-safe. */
const struct sanitizer_api *sanitizer_api_open(const char **why);

/* The meaning of the result, in NVIDIA's words; never NULL. */
const char *sanitizer_api_text(const struct sanitizer_api *api, SanitizerResult result);

#endif
