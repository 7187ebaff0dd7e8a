/* libsanitizer-public.so. See api.h. */
#include "runtime/tracer/api.h"
#include "runtime/tracer/library_place.h"

#include <dlfcn.h>
#include <pthread.h>

static struct {
    pthread_once_t once;
    bool found;
    const char *why;
    struct sanitizer_api api;
} opened = {.once = PTHREAD_ONCE_INIT};

static void api_find(void)
{
    struct sanitizer_api *api = &opened.api;
    struct {
        const char *name;
        void **function;
    } wanted[] = {
        {"sanitizerSubscribe", (void **)&api->subscribe},
        {"sanitizerEnableDomain", (void **)&api->enable_domain},
        {"sanitizerAddPatches", (void **)&api->add_patches},
        {"sanitizerPatchInstructions", (void **)&api->patch_instructions},
        {"sanitizerPatchModule", (void **)&api->patch_module},
        {"sanitizerUnpatchModule", (void **)&api->unpatch_module},
        {"sanitizerSetLaunchCallbackData", (void **)&api->set_launch_data},
        {"sanitizerSetCallbackData", (void **)&api->set_function_data},
        {"sanitizerGetResultString", (void **)&api->result_string},
    };
    void *library = sanitizer_library_open();
    if (!library) {
        opened.why =
            SANITIZER_LIBRARY " of the CUDA Toolkit was not found (set CUDA_HOME to the toolkit)";
        return;
    }
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        *wanted[i].function = driver_dlsym(library, wanted[i].name);
        if (!*wanted[i].function) {
            opened.why = SANITIZER_LIBRARY " is too old: it lacks functions that csan calls";
            return;
        }
    }
    opened.found = true;
}

const struct sanitizer_api *sanitizer_api_open(const char **why)
{
    pthread_once(&opened.once, api_find);
    if (!opened.found)
        *why = opened.why;
    return opened.found ? &opened.api : NULL;
}

const char *sanitizer_api_text(const struct sanitizer_api *api, SanitizerResult result)
{
    const char *text = NULL;
    if (api->result_string(result, &text) != SANITIZER_SUCCESS || !text)
        text = "unknown error";
    return text;
}
