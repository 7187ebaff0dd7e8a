/* An image: a linked module that is ready to run. Owns the programs of its functions, which are
 * decoded on first use, and the addresses of its functions and variables. The driver calls it at
 * module load. */
#include "runtime/device/exec/exec_engine.h"

#include <stdio.h>
#include <stdlib.h>

static int compare_functions(const void *left, const void *right)
{
    uintptr_t a = (uintptr_t) * (const struct ptx_function *const *)left;
    uintptr_t b = (uintptr_t) * (const struct ptx_function *const *)right;
    return (a > b) - (a < b);
}

static uint32_t align_up(uint64_t value, uint64_t align)
{
    return (uint32_t)((value + align - 1) / align * align);
}

/* A GPU's kernel without shared variables of its own finds dynamic shared memory at a multiple of
 * that. Kernels whose tensor copies and products swizzle 128 bytes count on it, whatever they say:
 * the pattern repeats after 1024 bytes (PTX ISA 5.5.7). */
enum { DYNAMIC_ALIGNMENT = 1024 };

/* Device functions' shared variables lie behind the module's own; each kernel's behind those, all
 * kernels' at the same place; dynamic shared memory behind the largest of them, so that a device
 * function finds it without knowing which kernel called. */
static void place_shared(exec_image *image)
{
    const struct ptx_module *module = image->module;
    uint64_t top = align_up(module->shared_bytes, 256);
    for (uint32_t i = 0; i < module->function_count; i++) {
        const struct ptx_function *f = module->functions[i];
        if (f->is_entry || f->shared_bytes == 0)
            continue;
        image->shared_base[i] = (uint32_t)top;
        top = align_up(top + f->shared_bytes, 256);
    }
    uint64_t largest = 0, align = DYNAMIC_ALIGNMENT;
    for (uint32_t i = 0; i < module->function_count; i++) {
        if (!module->functions[i]->is_entry)
            continue;
        image->shared_base[i] = (uint32_t)top;
        if (module->functions[i]->shared_bytes > largest)
            largest = module->functions[i]->shared_bytes;
    }
    for (uint32_t i = 0; i < module->variable_count; i++) {
        const struct ptx_variable *v = module->variables[i];
        if (v->space == PTX_SPACE_SHARED && v->unsized && v->align > align)
            align = v->align;
    }
    image->dynamic_base = align_up(top + largest, align);
}

exec_image *exec_image_create(const struct ptx_module *module, uint64_t global_address,
                              uint64_t const_address)
{
    exec_image *image = calloc(1, sizeof *image);
    if (!image)
        return NULL;
    size_t count = module->function_count + (size_t)1;
    image->module = module;
    image->global_address = global_address;
    image->const_address = const_address;
    pthread_mutex_init(&image->lock, NULL);
    image->programs = calloc(count, sizeof *image->programs);
    image->sorted = calloc(count, sizeof *image->sorted);
    image->sorted_index = calloc(count, sizeof *image->sorted_index);
    image->shared_base = calloc(count, sizeof *image->shared_base);
    if (!image->programs || !image->sorted || !image->sorted_index || !image->shared_base) {
        exec_image_release(image);
        return NULL;
    }
    for (uint32_t i = 0; i < module->function_count; i++)
        image->sorted[i] = module->functions[i];
    qsort(image->sorted, module->function_count, sizeof *image->sorted, compare_functions);
    for (uint32_t i = 0; i < module->function_count; i++) {
        const struct ptx_function *f = module->functions[i];
        const struct ptx_function **found = bsearch(&f, image->sorted, module->function_count,
                                                    sizeof *image->sorted, compare_functions);
        image->sorted_index[found - image->sorted] = i;
    }
    place_shared(image);
    return image;
}

void exec_image_release(exec_image *image)
{
    if (!image)
        return;
    for (uint32_t i = 0; image->programs && i < image->module->function_count; i++)
        program_release(atomic_load(&image->programs[i]));
    free(image->programs);
    free(image->sorted);
    free(image->sorted_index);
    free(image->shared_base);
    pthread_mutex_destroy(&image->lock);
    free(image);
}

struct program *image_program(struct exec_image *image, uint32_t index)
{
    struct program *program = atomic_load_explicit(&image->programs[index], memory_order_acquire);
    if (program)
        return program;
    pthread_mutex_lock(&image->lock);
    program = atomic_load(&image->programs[index]);
    if (!program) {
        program = program_decode(image, index);
        atomic_store_explicit(&image->programs[index], program, memory_order_release);
    }
    pthread_mutex_unlock(&image->lock);
    return program;
}

uint32_t image_function(const struct exec_image *image, const struct ptx_function *function)
{
    if (function && function->is_prototype && function->name)
        function = ptx_module_function(image->module, function->name);
    if (!function || function->is_prototype)
        return NO_FUNCTION;
    const struct ptx_function **found =
        bsearch(&function, image->sorted, image->module->function_count, sizeof *image->sorted,
                compare_functions);
    return found ? image->sorted_index[found - image->sorted] : NO_FUNCTION;
}

uint64_t exec_image_function_address(const exec_image *image, const struct ptx_function *function)
{
    uint32_t index = image_function(image, function);
    return index == NO_FUNCTION ? 0 : FUNCTION_BASE + (uint64_t)index * FUNCTION_STRIDE;
}

uint32_t image_function_at(const struct exec_image *image, uint64_t address)
{
    uint64_t offset = address - FUNCTION_BASE;
    if (address < FUNCTION_BASE || offset % FUNCTION_STRIDE != 0 ||
        offset / FUNCTION_STRIDE >= image->module->function_count)
        return NO_FUNCTION;
    uint32_t index = (uint32_t)(offset / FUNCTION_STRIDE);
    return image->module->functions[index]->is_prototype ? NO_FUNCTION : index;
}

bool image_variable(const struct exec_image *image, const struct ptx_variable *variable,
                    uint64_t *address)
{
    if (variable->linkage == PTX_LINK_EXTERN && !variable->unsized && variable->name) {
        const struct ptx_variable *found = ptx_module_variable(image->module, variable->name);
        variable = found ? found : variable;
    }
    if (variable->unsized && variable->space == PTX_SPACE_SHARED) {
        *address = image->dynamic_base;
        return true;
    }
    if (variable->linkage == PTX_LINK_EXTERN)
        return false;
    switch (variable->space) {
    case PTX_SPACE_GLOBAL:
        *address = image->global_address + variable->offset;
        return true;
    case PTX_SPACE_CONST:
        *address = image->const_address + variable->offset;
        return true;
    case PTX_SPACE_SHARED: {
        uint32_t owner = variable->owner ? image_function(image, variable->owner) : NO_FUNCTION;
        *address = variable->offset + (owner == NO_FUNCTION ? 0 : image->shared_base[owner]);
        return true;
    }
    default:
        return false;
    }
}

static void write_initial(const exec_image *image, const struct ptx_variable *variable,
                          uint8_t *segment)
{
    uint8_t *bytes = segment + variable->offset;
    if (variable->init)
        memcpy(bytes, variable->init, variable->size);
    else
        memset(bytes, 0, variable->size);
    for (uint32_t i = 0; i < variable->relocation_count; i++) {
        const struct ptx_relocation *r = &variable->relocations[i];
        uint64_t address = 0;
        const struct ptx_variable *target = r->variable || r->function
                                                ? r->variable
                                                : ptx_module_variable(image->module, r->symbol);
        const struct ptx_function *function =
            r->function || target ? r->function : ptx_module_function(image->module, r->symbol);
        if (function)
            address = exec_image_function_address(image, function);
        else if (!target || !image_variable(image, target, &address))
            continue;
        address = (address + (uint64_t)r->addend) >> (8 * (r->shift & 7));
        uint64_t room = variable->size > r->offset ? variable->size - r->offset : 0;
        uint64_t width = r->bytes < room ? r->bytes : room;
        memcpy(bytes + r->offset, &address, width < 8 ? width : 8);
    }
}

void exec_image_initialise(const exec_image *image, void *global_segment, void *const_segment)
{
    for (uint32_t i = 0; i < image->module->variable_count; i++) {
        const struct ptx_variable *v = image->module->variables[i];
        uint8_t *segment = v->space == PTX_SPACE_GLOBAL  ? global_segment
                           : v->space == PTX_SPACE_CONST ? const_segment
                                                         : NULL;
        if (segment && v->linkage != PTX_LINK_EXTERN && !v->unsized)
            write_initial(image, v, segment);
    }
}

/* ---- attributes ---------------------------------------------------------------------------- */

uint64_t exec_local_bytes(const struct ptx_function *kernel)
{
    return kernel->local_bytes;
}

uint64_t exec_shared_bytes(const struct ptx_function *kernel)
{
    return kernel->shared_bytes + (kernel->module ? kernel->module->shared_bytes : 0);
}

/* ---- preparing ----------------------------------------------------------------------------- */

/* Decode everything reachable by direct calls. Returns the first that is not supported. */
static const struct program *prepare_all(exec_image *image, uint32_t first, uint32_t *queue,
                                         bool *seen, bool *ordered, bool *short_of_memory)
{
    uint32_t count = 0;
    *ordered = false;
    queue[count++] = first;
    seen[first] = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct program *program = image_program(image, queue[i]);
        *short_of_memory |= !program;
        if (!program || !program->supported)
            return program;
        *ordered |= program->ordered;
        for (uint32_t k = 0; k < program->callee_count; k++) {
            uint32_t callee = program->callees[k];
            if (!seen[callee]) {
                seen[callee] = true;
                queue[count++] = callee;
            }
        }
    }
    return NULL;
}

bool image_prepare(exec_image *image, const struct ptx_function *kernel, bool *ordered,
                   char *message, size_t message_bytes)
{
    uint32_t first = image_function(image, kernel);
    if (first == NO_FUNCTION) {
        snprintf(message, message_bytes, "kernel '%s' has no body", kernel ? kernel->name : "");
        return false;
    }
    size_t count = image->module->function_count;
    uint32_t *queue = calloc(count, sizeof *queue);
    bool *seen = calloc(count, sizeof *seen);
    bool short_of_memory = !queue || !seen;
    const struct program *bad =
        short_of_memory ? NULL : prepare_all(image, first, queue, seen, ordered, &short_of_memory);
    free(queue);
    free(seen);
    if (short_of_memory)
        snprintf(message, message_bytes, "kernel '%s': not enough memory", kernel->name);
    else if (bad && bad->function != kernel)
        snprintf(message, message_bytes, "kernel '%s': in function '%s': %s", kernel->name,
                 bad->function->name, bad->message);
    else if (bad)
        snprintf(message, message_bytes, "kernel '%s': %s", kernel->name, bad->message);
    return !short_of_memory && !bad;
}

bool exec_prepare(exec_image *image, const struct ptx_function *kernel, char *message,
                  size_t message_bytes)
{
    bool ordered;
    return image_prepare(image, kernel, &ordered, message, message_bytes);
}
