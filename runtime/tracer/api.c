/* libsanitizer-public.so. See api.h. */
#include "runtime/tracer/api.h"
#include "runtime/hook/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define LIBRARY "libsanitizer-public.so"

/* Where toolkits keep it, after what the environment and the loader say. */
static const char *const places[] = {"/usr/local/cuda/compute-sanitizer/" LIBRARY,
                                     "/opt/cuda/compute-sanitizer/" LIBRARY};

static struct {
    pthread_once_t once;
    bool found;
    const char *why;
    struct sanitizer_api api;
} opened = {.once = PTHREAD_ONCE_INIT};

static void *library_open(void)
{
    static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH"};
    char path[4096];
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof homes / sizeof *homes; i++) {
        const char *home = getenv(homes[i]);
        if (home &&
            snprintf(path, sizeof path, "%s/compute-sanitizer/" LIBRARY, home) < (int)sizeof path)
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (!library)
        library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; !library && i < sizeof places / sizeof *places; i++)
        library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

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
        {"sanitizerGetResultString", (void **)&api->result_string},
    };
    void *library = library_open();
    if (!library) {
        opened.why = LIBRARY " of the CUDA Toolkit was not found (set CUDA_HOME)";
        return;
    }
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        *wanted[i].function = driver_dlsym(library, wanted[i].name);
        if (!*wanted[i].function) {
            opened.why = LIBRARY " is too old: it lacks functions that csan calls";
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
