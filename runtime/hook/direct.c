/* Kernel descriptions from PTX. See direct.h. */
#include "runtime/hook/direct.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Kernel names live as long as the process, once each: sites are remembered by their address. */
struct name {
    UT_hash_handle hh;
    char text[];
};

static struct {
    struct name *names;
    pthread_mutex_t mutex;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static const char *name_intern(const char *text)
{
    struct name *name = NULL;
    size_t length = strlen(text);
    pthread_mutex_lock(&table.mutex);
    HASH_FIND(hh, table.names, text, length, name);
    if (!name && (name = calloc(1, sizeof *name + length + 1)) != NULL) {
        memcpy(name->text, text, length);
        HASH_ADD_KEYPTR(hh, table.names, name->text, length, name);
    }
    pthread_mutex_unlock(&table.mutex);
    return name ? name->text : "an unnamed kernel";
}

/* ---- The description ---- */

/* Everything a kernel description points to, in one block behind it. */
struct description {
    struct kernel kernel;
    uint32_t *offsets, *sizes;
    struct kernel_pointer *pointers;
    const char **arguments;
    char *text; /* the argument names */
};

static bool describe_parameters(struct description *own, const struct ptx_function *ptx)
{
    own->offsets = calloc(ptx->param_count + 1, sizeof *own->offsets);
    own->sizes = calloc(ptx->param_count + 1, sizeof *own->sizes);
    if (!own->offsets || !own->sizes)
        return false;
    for (uint32_t i = 0; i < ptx->param_count; i++) {
        own->offsets[i] = ptx->params[i].offset;
        own->sizes[i] = ptx->params[i].size;
    }
    own->kernel.parameter_offsets = own->offsets;
    own->kernel.parameter_sizes = own->sizes;
    own->kernel.parameter_count = ptx->param_count;
    return true;
}

static bool describe_accesses(struct description *own, const struct ptx_function *ptx,
                              direct_find_variable *find, void *user)
{
    (void)own;
    (void)ptx;
    (void)find;
    (void)user;
    return false;
}

struct kernel *direct_kernel(const char *name, const struct ptx_function *ptx,
                             direct_find_variable *find, void *user)
{
    struct description *own = calloc(1, sizeof *own);
    if (!own)
        return NULL;
    own->kernel.name = name_intern(name);
    own->kernel.has_ptx = ptx != NULL;
    if (ptx && !(describe_parameters(own, ptx) && describe_accesses(own, ptx, find, user)))
        own->kernel.known = false;
    return &own->kernel;
}

void direct_release(struct kernel *kernel)
{
    struct description *own = (struct description *)kernel;
    if (!own)
        return;
    free(own->offsets);
    free(own->sizes);
    free(own->pointers);
    free(own->arguments);
    free(own->text);
    free(own);
}
