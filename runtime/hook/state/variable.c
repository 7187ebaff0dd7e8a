/* Variables of modules. See variable.h. */
#include "runtime/hook/state/variable.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/state/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct variable {
    uint64_t base, bytes;
    const void *owner;
    CUcontext context;
    char *name;
    UT_hash_handle hh;
};

static struct {
    struct variable *variables; /* by base; under the hooks' lock */
} table;

static struct variable *find(uint64_t base)
{
    struct variable *variable = NULL;
    HASH_FIND(hh, table.variables, &base, sizeof base, variable);
    return variable;
}

static void drop(struct variable *variable)
{
    HASH_DEL(table.variables, variable);
    free(variable->name);
    free(variable);
}

bool variable_is_known(uint64_t base, uint64_t bytes, const char *name)
{
    const struct variable *variable = find(base);
    return variable && variable->bytes == bytes && strcmp(variable->name, name) == 0;
}

/* False: memory is short. */
static bool add(const void *owner, uint64_t base, uint64_t bytes, const char *name)
{
    struct variable *variable = calloc(1, sizeof *variable);
    char *copy = strdup(name);
    if (!variable || !copy) {
        free(variable);
        free(copy);
        return false;
    }
    *variable = (struct variable){.base = base,
                                  .bytes = bytes,
                                  .owner = owner,
                                  .context = stream_current_context(),
                                  .name = copy};
    HASH_ADD(hh, table.variables, base, sizeof variable->base, variable);
    return true;
}

void variable_found(const void *owner, uint64_t base, uint64_t bytes, const char *qualifier,
                    const char *name, const char *file)
{
    struct variable *former = find(base); /* one whose end was not seen */
    size_t room = strlen(qualifier) + strlen(name) + 2;
    char *label = malloc(room);
    if (former)
        drop(former);
    if (label && add(owner, base, bytes, name)) {
        snprintf(label, room, "%s %s", qualifier, name);
        csan_memory_create(session_context(), CSAN_MEMORY_VARIABLE, base, bytes, CSAN_HOST,
                           csan_site_intern(session_context(), label, &file, 1, NULL, 0));
    }
    free(label);
}

/* Not where other memory took its place. */
static void end(struct variable *variable)
{
    enum csan_memory_kind kind;
    uint64_t base;
    csan_free *token = NULL;
    if (csan_memory_find(session_context(), variable->base, &base, NULL, &kind) &&
        kind == CSAN_MEMORY_VARIABLE && base == variable->base)
        token = csan_memory_free_begin(session_context(), base, thread_lane(), 0, 0);
    if (token)
        csan_memory_free_end(session_context(), token, 0, CSAN_FREE_FORGOTTEN);
    drop(variable);
}

void variable_module_ended(const void *owner)
{
    struct variable *variable = NULL, *next = NULL;
    HASH_ITER(hh, table.variables, variable, next)
    {
        if (variable->owner == owner)
            end(variable);
    }
}

void variable_context_ended(CUcontext context)
{
    struct variable *variable = NULL, *next = NULL;
    HASH_ITER(hh, table.variables, variable, next)
    {
        if (variable->context == context)
            end(variable);
    }
}
