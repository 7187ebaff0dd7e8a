/* See memory_owner.h. */
#include "runtime/hook/state/memory_owner.h"
#include "runtime/hook/state/handle_table.h"

#include <stdlib.h>

/* An allocation ends with its context, unless it is freed before. */
struct owned {
    uint64_t base;
    CUcontext context; /* NULL: none */
    enum memory_access access;
    UT_hash_handle hh;
};

static struct {
    struct owned *owned; /* under the hooks' lock */
    CUcontext first;     /* that ever owned any; atomic */
    bool several;        /* atomic */
} table;

static struct owned *owned_find(uint64_t base)
{
    struct owned *owned = NULL;
    HASH_FIND(hh, table.owned, &base, sizeof base, owned);
    return owned;
}

/* NULL: no memory is left. */
static struct owned *owned_make(uint64_t base)
{
    struct owned *owned = owned_find(base);
    if (!owned && (owned = calloc(1, sizeof *owned)) != NULL) {
        owned->base = base;
        HASH_ADD(hh, table.owned, base, sizeof base, owned);
    }
    return owned;
}

void memory_owner_set(uint64_t base, CUcontext context)
{
    struct owned *owned = owned_make(base);
    if (owned) {
        owned->context = context;
        owned->access = MEMORY_ACCESS_OF_CONTEXT;
    }
    if (!table.first)
        __atomic_store_n(&table.first, context, __ATOMIC_RELAXED);
    else if (table.first != context)
        __atomic_store_n(&table.several, true, __ATOMIC_RELAXED);
}

void memory_owner_set_access(uint64_t base, enum memory_access access)
{
    struct owned *owned = owned_make(base);
    if (owned)
        owned->access = access;
    __atomic_store_n(&table.several, true, __ATOMIC_RELAXED);
}

bool memory_owner_is_apart(uint64_t base, CUcontext context, enum memory_access *access)
{
    const struct owned *owned = owned_find(base);
    if (!owned)
        return false;
    *access = owned->access;
    return owned->access != MEMORY_ACCESS_OF_CONTEXT ||
           (owned->context && owned->context != context);
}

bool memory_owner_has_others(CUcontext context)
{
    const CUcontext first = __atomic_load_n(&table.first, __ATOMIC_RELAXED);
    return __atomic_load_n(&table.several, __ATOMIC_RELAXED) || (first && first != context);
}

void memory_owner_forget(uint64_t base)
{
    struct owned *owned = owned_find(base);
    if (!owned)
        return;
    HASH_DEL(table.owned, owned);
    free(owned);
}

CUcontext memory_owner(uint64_t base)
{
    const struct owned *owned = owned_find(base);
    return owned ? owned->context : NULL;
}

void memory_owner_ended(CUcontext context, void (*each)(uint64_t base))
{
    struct owned *owned = NULL, *next = NULL;
    HASH_ITER(hh, table.owned, owned, next)
    {
        if (owned->context != context)
            continue;
        each(owned->base);
        HASH_DEL(table.owned, owned);
        free(owned);
    }
}
