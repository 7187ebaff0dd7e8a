/* See modules.h. */
#include "runtime/tracer/modules.h"

#include <stdlib.h>

struct modules modules = {.calls = PTHREAD_MUTEX_INITIALIZER,
                          .mutex = PTHREAD_MUTEX_INITIALIZER,
                          .learning = {.part = 20},
                          .confirming = {.part = 100}};

void modules_changes_set(bool wait)
{
    __atomic_store_n(&modules.changes, wait, __ATOMIC_RELAXED);
}

void module_state_set(struct module *module, enum module_state state, bool launched)
{
    unsigned before = module->state != MODULE_PLAIN;
    module->state = state;
    module->launched = launched;
    module->taught = false;
    module->others = 0;
    __atomic_add_fetch(&modules.patched, (state != MODULE_PLAIN) - before, __ATOMIC_RELAXED);
}

void module_confirms_set(struct module *module, bool confirms)
{
    __atomic_add_fetch(&modules.looking, (unsigned)confirms - module->confirms, __ATOMIC_RELAXED);
    module->confirms = confirms;
}

struct budget *module_payer(const struct module *module)
{
    if (module->learning > 0 || module->awaited)
        return &modules.learning;
    return module->confirms ? &modules.confirming : NULL;
}

struct module *modules_find(CUmodule handle)
{
    struct module *module = NULL;
    HASH_FIND_PTR(modules.by_handle, &handle, module);
    return module;
}

struct module *modules_get(CUmodule handle, CUcontext context)
{
    struct module *module = modules_find(handle);
    if (!module && (module = calloc(1, sizeof *module))) {
        module->handle = handle;
        module->context = context;
        module->patience = MODULE_PATIENCE;
        HASH_ADD_PTR(modules.by_handle, handle, module);
        if (!module->hh.tbl) { /* memory is short */
            free(module);
            module = NULL;
        }
    }
    return module;
}

void modules_drop(struct module *module)
{
    if (!module->gone || module->flying > 0 || module->state == MODULE_CHANGING)
        return;
    machine_code_free(module->code);
    free(module);
}

struct module_function *modules_function(CUfunction handle)
{
    struct module_function *function = NULL;
    HASH_FIND(all, modules.functions, &handle, sizeof handle, function);
    return function;
}

void modules_forget(struct module *module)
{
    struct module_function *function, *next;
    HASH_ITER(hh, module->functions, function, next)
    {
        HASH_DEL(module->functions, function);
        if (modules_function(function->handle) == function)
            HASH_DELETE(all, modules.functions, function);
        free(function);
    }
    if (module->state == MODULE_PATCHED) {
        module_confirms_set(module, false);
        module_state_set(module, MODULE_PLAIN, false);
    }
    HASH_DEL(modules.by_handle, module);
    module->gone = true;
    modules_drop(module);
}

struct module_function *module_function_find(const struct module *module, CUfunction handle)
{
    struct module_function *function = NULL;
    HASH_FIND_PTR(module->functions, &handle, function);
    return function;
}

struct module_function *module_function_create(struct module *module, CUfunction handle,
                                               const char *name)
{
    struct module_function *function = calloc(1, sizeof *function);
    if (!function)
        return NULL;
    function->handle = handle;
    function->module = module;
    function->blind = machine_code_is_blind(module->code, name);
    function->copies = machine_code_maps(module->code, name) != NULL;
    granularity_history_init(&function->granularity);
    HASH_ADD_PTR(module->functions, handle, function);
    if (!function->hh.tbl) { /* memory is short */
        free(function);
        return NULL;
    }
    struct module_function *before = modules_function(handle);
    if (before)
        HASH_DELETE(all, modules.functions, before);
    HASH_ADD(all, modules.functions, handle, sizeof handle, function);
    if (function->all.tbl)
        return function;
    HASH_DEL(module->functions, function);
    free(function);
    return NULL;
}
