/* Patched modules. See module.h. */
#include "runtime/tracer/module.h"

#include <pthread.h>
#include <stdlib.h>
#include <uthash.h>

struct module {
    CUmodule handle;
    CUcontext context;
    bool patched, refused;
    bool instructed; /* what is to be patched in it was said */
    bool launched;   /* since it is patched */
    unsigned wanted; /* functions that are not settled */
    unsigned flying; /* traced launches that are not over */
    UT_hash_handle hh;
};

/* A function whose launches were wanted, as the program passes it. */
struct function {
    CUfunction handle;
    struct module *module;
    bool settled;
    UT_hash_handle hh;
};

static struct {
    pthread_mutex_t mutex;
    struct module *modules;
    struct function *functions;
    unsigned patched; /* modules */
    bool changes;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- Patches ---- */

/* patch.cu as a fat binary, put in by the assembler. */
__asm__(".section .rodata\n"
        ".balign 64\n"
        "csan_tracer_patches:\n"
        ".incbin \"" TRACER_PATCHES "\"\n"
        ".previous\n");
extern const char csan_tracer_patches[] __attribute__((visibility("hidden")));

static const struct {
    Sanitizer_InstructionId instruction;
    const char *patch;
} patches[] = {
    {SANITIZER_INSTRUCTION_GLOBAL_MEMORY_ACCESS, "csan_patch_access"},
    {SANITIZER_INSTRUCTION_MEMCPY_ASYNC, "csan_patch_copy"},
    {SANITIZER_INSTRUCTION_BULK_COPY_GLOBAL_TO_SHARED, "csan_patch_bulk_read"},
    {SANITIZER_INSTRUCTION_BULK_COPY_SHARED_TO_GLOBAL, "csan_patch_bulk_write"},
    {SANITIZER_INSTRUCTION_BULK_REDUCTION_SHARED_TO_GLOBAL, "csan_patch_bulk_reduce"},
};

bool module_patches_load(const struct sanitizer_api *api, CUcontext context)
{
    return api->add_patches(csan_tracer_patches, context) == SANITIZER_SUCCESS;
}

static void patch(const struct sanitizer_api *api, struct module *module)
{
    bool done = true;
    for (size_t i = 0; done && !module->instructed && i < sizeof patches / sizeof *patches; i++)
        done = api->patch_instructions(patches[i].instruction, module->handle, patches[i].patch) ==
               SANITIZER_SUCCESS;
    module->instructed |= done;
    module->patched = done && api->patch_module(module->handle) == SANITIZER_SUCCESS;
    module->refused = !module->patched;
    module->launched = false;
    table.patched += module->patched;
}

static void unpatch(const struct sanitizer_api *api, struct module *module)
{
    module->refused = api->unpatch_module(module->handle) != SANITIZER_SUCCESS;
    module->patched = module->refused;
    table.patched -= !module->patched;
}

/* ---- Modules and functions ---- */

static struct module *module_get(CUmodule handle, CUcontext context)
{
    struct module *module = NULL;
    HASH_FIND_PTR(table.modules, &handle, module);
    if (!module && (module = calloc(1, sizeof *module))) {
        module->handle = handle;
        module->context = context;
        HASH_ADD_PTR(table.modules, handle, module);
    }
    return module;
}

static struct function *function_find(CUfunction handle)
{
    struct function *function = NULL;
    HASH_FIND_PTR(table.functions, &handle, function);
    return function;
}

static bool function_want(CUfunction handle, struct module *module)
{
    struct function *function = function_find(handle);
    if (!function && (function = calloc(1, sizeof *function))) {
        function->handle = handle;
        function->settled = true;
        HASH_ADD_PTR(table.functions, handle, function);
    }
    if (!function)
        return false;
    function->module = module;
    module->wanted += function->settled;
    function->settled = false;
    module->launched = true;
    return true;
}

bool module_is_ready(const Sanitizer_LaunchData *data, CUfunction function)
{
    pthread_mutex_lock(&table.mutex);
    struct module *module = module_get(data->module, data->context);
    bool ready = module && !module->refused && function_want(function, module) && module->patched;
    module->flying += ready;
    table.changes |= module && !module->refused && !module->patched;
    pthread_mutex_unlock(&table.mutex);
    return ready;
}

void module_launched(CUmodule handle)
{
    struct module *module = NULL;
    if (__atomic_load_n(&table.patched, __ATOMIC_RELAXED) == 0)
        return;
    pthread_mutex_lock(&table.mutex);
    HASH_FIND_PTR(table.modules, &handle, module);
    if (module && module->patched && !module->launched) {
        module->launched = true;
        table.changes |= module->wanted == 0;
    }
    pthread_mutex_unlock(&table.mutex);
}

/* ---- Changes ---- */

bool module_changes_wait(void)
{
    return __atomic_load_n(&table.changes, __ATOMIC_RELAXED);
}

/* What is patched since it was loaded stays so until it is launched from, wanted or not. */
static bool to_be_unpatched(const struct module *module)
{
    return module->patched && module->launched && module->wanted == 0 && module->flying == 0;
}

static bool to_be_patched(const struct module *module)
{
    return !module->patched && module->wanted > 0;
}

void module_changes_make(const struct sanitizer_api *api, CUcontext context)
{
    struct module *module, *next;
    bool rest = false;
    pthread_mutex_lock(&table.mutex);
    HASH_ITER(hh, table.modules, module, next)
    {
        if (module->refused)
            continue;
        if (module->context == context && to_be_patched(module))
            patch(api, module);
        else if (module->context == context && to_be_unpatched(module))
            unpatch(api, module);
        else
            rest |= to_be_patched(module) || (module->patched && module->wanted == 0);
    }
    table.changes = rest;
    pthread_mutex_unlock(&table.mutex);
}

void module_launch_done(CUfunction handle)
{
    pthread_mutex_lock(&table.mutex);
    struct function *function = function_find(handle);
    if (function && function->module && function->module->flying)
        function->module->flying--;
    pthread_mutex_unlock(&table.mutex);
}

void module_settle(CUfunction handle, bool known)
{
    pthread_mutex_lock(&table.mutex);
    struct function *function = function_find(handle);
    if (function && function->module && function->settled != known) {
        function->module->wanted += known ? -1u : 1u;
        function->settled = known;
        table.changes = true;
    }
    pthread_mutex_unlock(&table.mutex);
}

/* With the lock. */
static void forget(struct module *module)
{
    struct function *function, *next;
    HASH_ITER(hh, table.functions, function, next)
    if (function->module == module) {
        HASH_DEL(table.functions, function);
        free(function);
    }
    table.patched -= module->patched;
    HASH_DEL(table.modules, module);
    free(module);
}

void module_loaded(const struct sanitizer_api *api, CUmodule handle, CUcontext context)
{
    pthread_mutex_lock(&table.mutex);
    struct module *module = module_get(handle, context);
    if (module && !module->patched)
        patch(api, module);
    pthread_mutex_unlock(&table.mutex);
}

void module_unloads(CUmodule handle)
{
    struct module *module = NULL;
    pthread_mutex_lock(&table.mutex);
    HASH_FIND_PTR(table.modules, &handle, module);
    if (module)
        forget(module);
    pthread_mutex_unlock(&table.mutex);
}

void module_context_ends(CUcontext context)
{
    struct module *module, *next;
    pthread_mutex_lock(&table.mutex);
    HASH_ITER(hh, table.modules, module, next)
    if (module->context == context)
        forget(module);
    pthread_mutex_unlock(&table.mutex);
}
