/* Kernels: their arguments, their variables, and how long they live. See kernel_description.h. */
#include "runtime/hook/kernel/kernel_description_state.h"
#include "csan/base/hash.h"
#include "runtime/access/kernel_faults.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/kernel/image.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/name.h"
#include "runtime/hook/state/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENT_BYTES = 64 };

/* ---- Arguments ---- */

/* The new argument's index, or CSAN_NO_ARGUMENT. */
static uint16_t argument_add(struct description *own, const char *text)
{
    size_t count = own->kernel.argument_count;
    char *copy = count < CSAN_NO_ARGUMENT ? strdup(text) : NULL;
    char **grown = copy ? realloc(own->texts, (count + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(copy);
        return CSAN_NO_ARGUMENT;
    }
    grown[count] = copy;
    own->texts = grown;
    own->kernel.arguments = (const char *const *)grown;
    __atomic_store_n(&own->kernel.argument_count, count + 1, __ATOMIC_RELAXED);
    return (uint16_t)count;
}

/* What a report calls a parameter: its position, and the byte in it for a pointer in a struct. */
static void parameter_text(char *text, const char *before, uint32_t index, uint32_t start,
                           uint32_t offset)
{
    if (offset > start)
        snprintf(text, ARGUMENT_BYTES, "%s%u+%u", before, index, offset - start);
    else
        snprintf(text, ARGUMENT_BYTES, "%s%u", before, index);
}

static uint32_t start_of(const struct ptx_function *ptx, uint32_t index)
{
    return index < ptx->param_count ? ptx->params[index].offset : 0;
}

static bool offsets_grow(struct description *own, uint32_t count)
{
    uint16_t *grown = realloc(own->argument_of_offset, count * sizeof *grown);
    if (!grown)
        return false;
    memset(grown + own->argument_offsets, 0, (count - own->argument_offsets) * sizeof *grown);
    own->argument_of_offset = grown;
    own->argument_offsets = count;
    return true;
}

uint16_t kernel_description_argument(struct kernel *kernel, uint32_t index, uint32_t start,
                                     uint32_t offset)
{
    struct description *own = own_of(kernel);
    if (offset >= own->argument_offsets && !offsets_grow(own, offset + 8))
        return CSAN_NO_ARGUMENT;
    uint16_t *slot = &own->argument_of_offset[offset];
    if (!*slot) {
        char text[ARGUMENT_BYTES];
        parameter_text(text, "", index, start, offset);
        *slot = (uint16_t)(argument_add(own, text) + 1);
    }
    return (uint16_t)(*slot - 1);
}

static uint16_t argument_of_parameter(struct description *own, uint32_t index, uint32_t offset)
{
    const struct ptx_function *ptx = own->kernel.ptx;
    if (offset >= ptx->param_bytes)
        return CSAN_NO_ARGUMENT;
    return kernel_description_argument(&own->kernel, index, start_of(ptx, index), offset);
}

static uint16_t argument_of_named(struct description *own, const struct access_base *base)
{
    for (size_t i = 0; i < own->named_count; i++) {
        const struct named *named = &own->named[i];
        if (named->kind == base->kind && named->variable == base->variable &&
            named->param_offset == base->param_offset)
            return named->argument;
    }
    char text[ARGUMENT_BYTES];
    const char *before = base->kind == ACCESS_BASE_ADDRESS ? "*" : "";
    if (base->variable)
        snprintf(text, sizeof text, "%s%s", before, base->variable->name);
    else
        parameter_text(text, before, base->param_index,
                       start_of(own->kernel.ptx, base->param_index), base->param_offset);
    struct named *grown = realloc(own->named, (own->named_count + 1) * sizeof *grown);
    if (!grown)
        return CSAN_NO_ARGUMENT;
    own->named = grown;
    grown[own->named_count] = (struct named){.kind = base->kind,
                                             .param_offset = base->param_offset,
                                             .variable = base->variable,
                                             .argument = argument_add(own, text)};
    return grown[own->named_count++].argument;
}

/* Each base has one argument for as long as the kernel lives, since launches of one place share a
 * site: for variables and tables in the order they are met. */
uint16_t kernel_description_argument_slow(struct description *own, const struct access_base *base)
{
    if (base->kind == ACCESS_BASE_ADDRESS && base->param_index == ACCESS_NO_PARAM)
        return CSAN_NO_ARGUMENT; /* a number that several made */
    if (base->kind == ACCESS_BASE_PARAM || base->kind == ACCESS_BASE_OBJECT)
        return argument_of_parameter(own, base->param_index, base->param_offset);
    return argument_of_named(own, base);
}

/* What may be a pointer has its argument from the start, so that few sites are made anew. */
static void describe_arguments(struct description *own)
{
    const struct ptx_function *ptx = own->kernel.ptx;
    for (uint32_t i = 0; i < ptx->param_count; i++)
        if (ptx->params[i].size == 8)
            argument_of_parameter(own, i, ptx->params[i].offset);
}

/* The heap of kernels has no ranges. On a GPU nobody sees what is touched of it. */
static bool names_heap(const struct ptx_module *module)
{
    static const char *const names[] = {"malloc", "free", "__nv_aligned_device_malloc"};
    for (uint32_t i = 0; i < module->function_count; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (module->functions[i]->is_prototype &&
                strcmp(module->functions[i]->name, names[k]) == 0)
                return true;
    return false;
}

static uint64_t identity_hash(const struct kernel *kernel, uint64_t seed)
{
    const uint64_t hash = hash_mix(hash_mix(seed, kernel->image.words[0]), kernel->image.words[1]);
    return hash_mix_bytes(hash, kernel->symbol, strlen(kernel->symbol));
}

struct kernel *kernel_description_create(const struct kernel_source *source, void *demangle)
{
    static uint64_t newest;
    struct description *own = aligned_alloc(_Alignof(struct description), sizeof *own);
    if (!own)
        return NULL;
    memset(own, 0, sizeof *own);
    own->references = 1;
    own->kernel.number = __atomic_add_fetch(&newest, 1, __ATOMIC_RELAXED);
    own->source = *source;
    own->source.image = image_retain(source->image);
    own->kernel.name = name_of_kernel(source->name, demangle);
    own->kernel.symbol = name_of_kernel(source->name, NULL);
    own->kernel.collective = strncmp(source->name, "ncclDevKernel", 13) == 0;
    own->kernel.image = source->identity;
    for (uint64_t i = 0; i < 2 && own->kernel.symbol; i++)
        own->kernel.identity[i] = identity_hash(&own->kernel, i + 1);
    pthread_mutex_init(&own->mutex, NULL);
    if (source->ptx)
        layout_find(&own->kernel.layout, NULL, source->ptx);
    if (source->ptx && (own->access = access_kernel_create(source->ptx)) != NULL) {
        own->kernel.ptx = source->ptx;
        own->kernel.atomics = kernel_atomics_find(source->ptx);
        own->kernel.faults_width = kernel_faults_width(source->ptx);
        own->kernel.uses_heap = driver_is_embedded() && names_heap(source->ptx->module);
        describe_arguments(own);
    }
    return &own->kernel;
}

struct kernel *kernel_description_retain(struct kernel *kernel)
{
    if (kernel)
        __atomic_fetch_add(&own_of(kernel)->references, 1, __ATOMIC_RELAXED);
    return kernel;
}

void kernel_description_release(struct kernel *kernel)
{
    struct description *own = own_of(kernel);
    if (!own || __atomic_sub_fetch(&own->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    access_kernel_release(own->access);
    image_release(own->source.image);
    pthread_mutex_destroy(&own->mutex);
    for (size_t i = 0; i < kernel->argument_count; i++)
        free(own->texts[i]);
    free(own->texts);
    free(own->variables.items);
    free(own->argument_of_offset);
    free(own->named);
    free(kernel->learning);
    layout_release(&kernel->layout);
    free(own);
}

/* ---- Variables ---- */

bool kernel_description_variable_ask(struct description *own, struct launch_pointer_finder *finder)
{
    guard_unlock_object(LOCK_KERNEL, &own->mutex);
    __atomic_store_n(&own->has_variables, true, __ATOMIC_RELAXED);
    struct launch_pointer_variable found = launch_pointer_variable_ask(finder, &own->source);
    guard_lock_object(LOCK_KERNEL, &own->mutex);
    if (finder->context)
        launch_pointer_variable_keep(finder, found);
    return finder->context != NULL;
}

bool kernel_description_variable(struct kernel *kernel, const struct ptx_variable *variable,
                                 uint64_t *address, uint64_t *bytes)
{
    struct description *own = own_of(kernel);
    struct launch_pointer_finder finder = {.variables = &own->variables,
                                           .ptx = own->kernel.ptx,
                                           .context = stream_current_context(),
                                           .generation = launch_pointer_address_generation()};
    guard_lock_object(LOCK_KERNEL, &own->mutex);
    const struct launch_pointer_variable *found = launch_pointer_variable_find(&finder, variable);
    if (!found && kernel_description_variable_ask(own, &finder))
        found = launch_pointer_variable_find(&finder, variable);
    *address = found ? found->address : 0;
    *bytes = found ? found->bytes : 0;
    guard_unlock_object(LOCK_KERNEL, &own->mutex);
    return *address != 0;
}

uint16_t kernel_description_variable_argument(struct kernel *kernel,
                                              const struct ptx_variable *variable)
{
    struct access_base base = {.kind = ACCESS_BASE_VARIABLE, .variable = variable};
    return argument_of_named(own_of(kernel), &base);
}
