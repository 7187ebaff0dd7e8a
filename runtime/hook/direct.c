/* Kernel descriptions from PTX. See direct.h. */
#include "runtime/hook/direct.h"
#include "runtime/access/direction.h"
#include "runtime/access/effect.h"

#include <dlfcn.h>
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

static const char *name_keep(const char *text)
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

typedef char *demangle_function(const char *name, char *buffer, size_t *length, int *status);

/* The name as written in the source, where the process has a C++ library to say it: races read from
 * code have it then, too. The report asks its helper for the others. */
static const char *name_intern(const char *text)
{
    int status = -1;
    demangle_function *demangle = NULL;
    if (strncmp(text, "_Z", 2) == 0)
        *(void **)&demangle = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    char *readable = demangle ? demangle(text, NULL, NULL, &status) : NULL;
    const char *name = name_keep(readable && status == 0 ? readable : text);
    free(readable);
    return name;
}

/* ---- The description ---- */

/* Everything a kernel description points to, in one block behind it. */
struct description {
    struct kernel kernel;
    uint32_t *offsets, *sizes;
    struct kernel_pointer *pointers;
    const char **arguments;
    char *text; /* the argument names, ARGUMENT_BYTES each */
};

enum { ARGUMENT_BYTES = 64 };

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

/* What a report calls an argument: its position, and the byte in it for a pointer inside a struct.
 */
static void argument_name(char *text, const struct access_pointer *pointer,
                          const struct ptx_function *ptx)
{
    if (pointer->source == ACCESS_SOURCE_VARIABLE) {
        snprintf(text, ARGUMENT_BYTES, "%s", pointer->variable->name);
        return;
    }
    uint32_t start =
        pointer->param_index < ptx->param_count ? ptx->params[pointer->param_index].offset : 0;
    if (pointer->param_offset > start)
        snprintf(text, ARGUMENT_BYTES, "%u+%u", pointer->param_index,
                 pointer->param_offset - start);
    else
        snprintf(text, ARGUMENT_BYTES, "%u", pointer->param_index);
}

/* 1 when everything the kernel touches is told by the pointers. */
static bool describe_pointer(struct kernel_pointer *to, const struct access_pointer *from,
                             direct_find_variable *find, void *user)
{
    to->offset = from->param_offset;
    to->reads = from->reads;
    to->writes = from->writes;
    to->atomics = from->atomics;
    to->guessed = from->guessed;
    to->is_variable = from->source == ACCESS_SOURCE_VARIABLE;
    return !to->is_variable || find(user, from->variable->name, &to->address, &to->bytes);
}

static void describe_accesses(struct description *own, const struct ptx_function *ptx,
                              direct_find_variable *find, void *user)
{
    const struct access_directions *directions = access_directions_find(ptx);
    uint32_t count = directions ? directions->count : 0;
    own->pointers = calloc(count + 1, sizeof *own->pointers);
    own->arguments = calloc(count + 1, sizeof *own->arguments);
    own->text = calloc(count + 1, ARGUMENT_BYTES);
    if (directions && own->pointers && own->arguments && own->text) {
        own->kernel.known = directions->complete;
        for (uint32_t i = 0; i < count; i++) {
            char *text = own->text + (size_t)i * ARGUMENT_BYTES;
            argument_name(text, &directions->pointers[i], ptx);
            own->arguments[i] = text;
            own->pointers[i].argument = (uint16_t)(i < CSAN_NO_ARGUMENT ? i : CSAN_NO_ARGUMENT);
            if (!describe_pointer(&own->pointers[i], &directions->pointers[i], find, user))
                own->kernel.known = false;
        }
        own->kernel.pointers = own->pointers;
        own->kernel.pointer_count = count;
        own->kernel.arguments = own->arguments;
        own->kernel.argument_count = count < CSAN_NO_ARGUMENT ? count : CSAN_NO_ARGUMENT;
    }
    access_directions_release(directions);
}

/* Atomics of different widths on the same bytes are not atomic to each other. */
static uint8_t atomic_width(const struct ptx_function *ptx)
{
    uint32_t width = 0;
    for (uint32_t i = 0; i < ptx->instruction_count; i++) {
        const struct ptx_instruction *instruction = &ptx->instructions[i];
        struct effect effects[EFFECT_MAX];
        const char *unknown = NULL;
        if (instruction->opcode == PTX_OP_CALL)
            return 0;
        int count = effect_find(instruction, effects, &unknown);
        for (int k = 0; k < count; k++) {
            uint32_t bytes = ptx_type_bits(instruction->type) / 8 * instruction->vector;
            if (!(effects[k].kinds & EFFECT_ATOMIC) || effects[k].space == PTX_SPACE_SHARED)
                continue;
            if (width && width != bytes)
                return 0;
            width = bytes;
        }
    }
    return (uint8_t)(width <= UINT8_MAX ? width : 0);
}

struct kernel *direct_kernel(const char *name, const struct ptx_function *ptx,
                             direct_find_variable *find, void *user)
{
    struct description *own = calloc(1, sizeof *own);
    if (!own)
        return NULL;
    own->kernel.name = name_intern(name);
    own->kernel.has_ptx = ptx != NULL;
    if (ptx)
        own->kernel.atomic_bytes = atomic_width(ptx);
    if (ptx && describe_parameters(own, ptx))
        describe_accesses(own, ptx, find, user);
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
