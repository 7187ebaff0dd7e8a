/* See module_graph.h. */
#include "runtime/tracer/module_graph.h"
#include "runtime/tracer/modules.h"
#include "csan/base/lock_order.h"

void module_make_ready(CUmodule handle, CUcontext context, bool launches_wanted)
{
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    struct module *module = modules_get(handle, context);
    if (module && module->state == MODULE_PLAIN && !module->kept) {
        module->passing = !launches_wanted && (module->passing || !module->awaited);
        module->awaited = true;
        modules_changes_set(true);
    }
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
}

bool module_is_taken(CUmodule handle, CUcontext context)
{
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    struct module *module = modules_get(handle, context);
    if (module)
        module->taken += module->state != MODULE_PATCHED;
    const bool plain = !module || module->state != MODULE_PATCHED;
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
    return plain;
}

void module_all_are_taken(void)
{
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    modules.hidden++;
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
}

/* Changes that are due are made by whoever made the graph. */
static void keep(struct module *module)
{
    module->kept = true;
    if (module->state == MODULE_PATCHED)
        modules_changes_set(true);
}

bool module_was_taken(CUmodule handle, CUcontext context, bool plain, bool made)
{
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    struct module *module = modules_get(handle, context);
    if (module && module->passing && module->state == MODULE_PATCHED) {
        module->launched = true;
        modules_changes_set(true);
    }
    if (module && made && (plain || module->state != MODULE_PATCHED))
        keep(module);
    if (module) {
        module->awaited = module->passing = false;
        module->taken -= plain && module->taken > 0;
    }
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
    return module != NULL;
}

void module_all_were_taken(bool made)
{
    struct module *module, *next;
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    modules.hidden--;
    HASH_ITER(hh, modules.by_handle, module, next)
    {
        if (made)
            keep(module);
    }
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
}

unsigned module_kept(void)
{
    unsigned count = 0;
    struct module *module, *next;
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    HASH_ITER(hh, modules.by_handle, module, next)
    {
        count += module->kept && module->missed;
    }
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
    return count;
}
