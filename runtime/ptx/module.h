/* A module's storage: the arena it lives in and the table that finds its symbols by name. What
 * ptx_module.arena points to; the parser and the linker fill it, module.c reads it. */
#ifndef RUNTIME_PTX_MODULE_H
#define RUNTIME_PTX_MODULE_H

#include "runtime/ptx/arena.h"
#include "runtime/ptx/ir.h"

struct symbol {
    const char *name;
    const struct ptx_function *function;
    const struct ptx_variable *variable;
};

struct module_storage {
    struct arena arena;
    struct symbol *symbols; /* open addressing, a power of two of them, NULL names are free */
    size_t symbol_capacity;
};

/* An empty module with its storage, or NULL when memory is short. */
struct ptx_module *ptx_module_create(void);
/* Fills the symbol table from the module's functions and module-scope variables, and each static
 * segment's layout. Call once, last; the arena's out_of_memory must be set. */
void ptx_module_finish(struct ptx_module *module);

#endif
