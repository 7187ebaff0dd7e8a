/* Modules as a whole: creation, release, finding symbols, laying out the static segments. */
#include "runtime/ptx/module.h"
#include "csan/base/hash.h"
#include "runtime/ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

struct ptx_module *ptx_module_create(void)
{
    struct ptx_module *module = calloc(1, sizeof *module);
    struct module_storage *storage = calloc(1, sizeof *storage);
    if (!module || !storage) {
        free(module);
        free(storage);
        return NULL;
    }
    module->arena = storage;
    return module;
}

void ptx_module_release(struct ptx_module *module)
{
    if (!module)
        return;
    struct module_storage *storage = module->arena;
    ptx_arena_release(&storage->arena);
    free(storage);
    free(module);
}

static size_t hash_name(const char *name)
{
    uint64_t hash = hash_text(HASH_START, name);
    return (size_t)(hash ^ (hash >> 29));
}

static struct symbol *symbol_slot(const struct module_storage *storage, const char *name)
{
    size_t mask = storage->symbol_capacity - 1;
    size_t i = hash_name(name) & mask;
    while (storage->symbols[i].name && strcmp(storage->symbols[i].name, name) != 0)
        i = (i + 1) & mask;
    return &storage->symbols[i];
}

/* Linked modules may hold several private symbols of one name: a shared one is found first. */
static void add_symbol(struct module_storage *storage, const char *name, uint8_t linkage,
                       const struct ptx_function *function, const struct ptx_variable *variable)
{
    struct symbol *symbol = symbol_slot(storage, name);
    if (symbol->name && linkage == PTX_LINK_NONE)
        return;
    *symbol = (struct symbol){name, function, variable};
}

static void place(struct ptx_variable *variable, uint64_t *segment)
{
    uint64_t align = variable->align ? variable->align : 1;
    *segment = (*segment + align - 1) / align * align;
    variable->offset = *segment;
    *segment += variable->size;
}

static void place_variables(struct ptx_module *module)
{
    for (uint32_t i = 0; i < module->variable_count; i++) {
        struct ptx_variable *variable = module->variables[i];
        if (variable->linkage == PTX_LINK_EXTERN)
            continue; /* defined elsewhere, or dynamic shared memory */
        if (variable->space == PTX_SPACE_GLOBAL)
            place(variable, &module->global_bytes);
        else if (variable->space == PTX_SPACE_CONST)
            place(variable, &module->const_bytes);
        else if (variable->space == PTX_SPACE_SHARED && !variable->owner)
            place(variable, &module->shared_bytes);
    }
}

void ptx_module_finish(struct ptx_module *module)
{
    struct module_storage *storage = module->arena;
    size_t capacity = 16;
    while (capacity < 2 * ((size_t)module->function_count + module->variable_count))
        capacity *= 2;
    storage->symbol_capacity = capacity;
    storage->symbols = ptx_arena_array(&storage->arena, capacity, sizeof *storage->symbols);
    for (uint32_t i = 0; i < module->function_count; i++)
        add_symbol(storage, module->functions[i]->name, module->functions[i]->linkage,
                   module->functions[i], NULL);
    for (uint32_t i = 0; i < module->variable_count; i++)
        if (!module->variables[i]->owner)
            add_symbol(storage, module->variables[i]->name, module->variables[i]->linkage, NULL,
                       module->variables[i]);
    place_variables(module);
}

static const struct symbol *find(const struct ptx_module *module, const char *name)
{
    const struct module_storage *storage = module->arena;
    return storage->symbols ? symbol_slot(storage, name) : NULL;
}

const struct ptx_function *ptx_module_function(const struct ptx_module *module, const char *name)
{
    const struct symbol *symbol = find(module, name);
    return symbol ? symbol->function : NULL;
}

const struct ptx_variable *ptx_module_variable(const struct ptx_module *module, const char *name)
{
    const struct symbol *symbol = find(module, name);
    return symbol ? symbol->variable : NULL;
}
