/* Bases of launches as addresses. See launch_pointer.h. */
#include "runtime/hook/kernel/launch_pointer.h"
#include "runtime/hook/state/known_contents.h"
#include "runtime/hook/kernel/launch_accesses.h"
#include "runtime/hook/state/graph_memory.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/session/counters.h"

#include <stdlib.h>
#include <string.h>

static struct {
    uint64_t generation; /* of the addresses of variables */
} table;

/* ---- Variables ---- */

void launch_pointer_addresses_changed(void)
{
    __atomic_fetch_add(&table.generation, 1, __ATOMIC_RELAXED);
    known_contents_addresses_changed();
}

uint64_t launch_pointer_address_generation(void)
{
    return __atomic_load_n(&table.generation, __ATOMIC_RELAXED);
}

const struct launch_pointer_variable *
launch_pointer_variable_find(struct launch_pointer_finder *finder,
                             const struct ptx_variable *variable)
{
    const struct launch_pointer_variables *own = finder->variables;
    for (size_t i = 0; finder->context && i < own->count; i++)
        if (own->items[i].variable == variable && own->items[i].context == finder->context &&
            own->items[i].generation == finder->generation)
            return &own->items[i];
    finder->missing = variable;
    return NULL;
}

struct launch_pointer_variable launch_pointer_variable_ask(struct launch_pointer_finder *finder,
                                                           const struct kernel_source *source)
{
    struct launch_pointer_variable found = {.variable = finder->missing};
    finder->missing = NULL;
    finder->generation = launch_pointer_address_generation();
    finder->context = stream_current_context();
    if (!source->module || !source->find(source->module, source->library, found.variable->name,
                                         &found.address, &found.bytes))
        found.address = found.bytes = 0;
    found.context = finder->context;
    found.generation = finder->generation;
    return found;
}

void launch_pointer_variable_keep(struct launch_pointer_finder *finder,
                                  struct launch_pointer_variable found)
{
    struct launch_pointer_variables *own = finder->variables;
    size_t i = 0;
    while (i < own->count && own->items[i].generation == finder->generation)
        i++;
    if (i == own->count) {
        struct launch_pointer_variable *grown = realloc(own->items, (i + 1) * sizeof *grown);
        if (!grown)
            return;
        own->items = grown;
        own->count++;
    }
    own->items[i] = found;
}

/* ---- Parameters ---- */

/* Where the `bytes` bytes of a base lie among the parameters; NULL: nowhere. */
static const void *parameter_bytes(const struct ptx_function *ptx, const void *const *parameters,
                                   const struct access_base *base, uint32_t bytes)
{
    if (base->param_index >= ptx->param_count || !parameters[base->param_index])
        return NULL;
    const struct ptx_param *param = &ptx->params[base->param_index];
    uint32_t inside = base->param_offset - param->offset;
    if (base->param_offset < param->offset || (uint64_t)inside + bytes > param->size)
        return NULL;
    return (const uint8_t *)parameters[base->param_index] + inside;
}

static bool parameter_pointer(const struct ptx_function *ptx, const void *const *parameters,
                              const struct access_base *base, uint64_t *value)
{
    const void *bytes = parameter_bytes(ptx, parameters, base, sizeof *value);
    if (bytes)
        memcpy(value, bytes, sizeof *value);
    return bytes != NULL;
}

/* ---- What memory holds ---- */

/* An address that the module's initialiser holds there: 8 bytes, or it is not followed. */
static bool initial_address(struct launch_pointer_finder *finder,
                            const struct ptx_relocation *relocation, uint64_t offset,
                            uint32_t bytes, void *to)
{
    if (relocation->offset != offset || bytes != 8 || relocation->bytes != 8 || relocation->shift ||
        !relocation->variable)
        return false;
    const struct launch_pointer_variable *found =
        launch_pointer_variable_find(finder, relocation->variable);
    uint64_t value = found ? found->address + (uint64_t)relocation->addend : 0;
    memcpy(to, &value, sizeof value);
    return found && found->address;
}

/* What the module says that a constant holds; kernels cannot write there (PTX ISA, "Constant State
 * Space"), and the host did not. */
static bool read_initial(struct launch_pointer_finder *finder, const struct ptx_variable *variable,
                         uint64_t address, uint64_t offset, uint32_t bytes, void *to)
{
    if (variable->space != PTX_SPACE_CONST || variable->unsized || offset > variable->size ||
        bytes > variable->size - offset || !known_contents_is_initial(address + offset, bytes))
        return false;
    for (uint32_t i = 0; i < variable->relocation_count; i++) {
        const struct ptx_relocation *relocation = &variable->relocations[i];
        if (relocation->offset < offset + bytes && offset < relocation->offset + relocation->bytes)
            return initial_address(finder, relocation, offset, bytes, to);
    }
    if (variable->init)
        memcpy(to, variable->init + offset, bytes);
    else
        memset(to, 0, bytes);
    return true;
}

bool launch_pointer_read(void *user, const struct access_base *base, const void *const *parameters,
                         int64_t offset, uint32_t bytes, void *to)
{
    struct launch_pointer_finder *finder = user;
    const struct launch_pointer_variable *variable = NULL;
    uint64_t address = 0;
    switch (base->kind) {
    case ACCESS_BASE_PARAM:
        if (!parameter_pointer(finder->ptx, parameters, base, &address))
            return false;
        break;
    case ACCESS_BASE_VARIABLE:
        variable = launch_pointer_variable_find(finder, base->variable);
        address = variable ? variable->address : 0;
        break;
    case ACCESS_BASE_ADDRESS:
        address = base->address;
        break;
    default:
        return false;
    }
    if (!address)
        return false;
    if (known_contents_read(address + (uint64_t)offset, bytes, to))
        return true;
    return variable && offset >= 0 &&
           read_initial(finder, base->variable, address, (uint64_t)offset, bytes, to);
}

/* ---- Bases ---- */

void launch_pointer_place(struct launch_pointer *base)
{
    uint64_t bytes = 0;
    if (base->placed)
        return;
    base->placed = true;
    if (!csan_memory_find(session_context(), base->address, &base->start, &bytes, NULL)) {
        if (graph_memory_find(base->address, &base->start, &base->end)) {
            base->owner_start = base->start;
            base->owner_end = base->end;
        }
        return;
    }
    base->end = base->start + bytes;
    if (!csan_memory_owner(session_context(), base->address, &base->owner_start, &bytes))
        base->owner_start = base->start; /* it has just been freed by another thread */
    base->owner_end = base->owner_start + bytes;
}

static void launch_pointer_of_variable(struct launch_pointer_finder *finder,
                                       const struct ptx_variable *variable,
                                       struct launch_pointer *to)
{
    const struct launch_pointer_variable *found = launch_pointer_variable_find(finder, variable);
    if (!found || !found->address)
        return;
    to->state = LAUNCH_POINTER_KNOWN;
    to->address = to->start = to->owner_start = found->address;
    to->end = to->owner_end = found->address + found->bytes;
    to->placed = true;
}

/* Keeps what lies under an object for as long as the accesses. */
static const struct object_memory *object_keep(struct launch_accesses_touched *touched,
                                               const struct object_memory *memory)
{
    if (touched->object_count == LAUNCH_ACCESSES_OBJECTS)
        return NULL;
    touched->own_objects[touched->object_count] = *memory;
    return &touched->own_objects[touched->object_count++];
}

static void launch_pointer_of_object(struct launch_pointer_finder *finder,
                                     const struct access_base *base,
                                     struct launch_accesses_touched *touched,
                                     struct launch_pointer *to)
{
    struct object_memory memory;
    const void *name =
        parameter_bytes(finder->ptx, touched->parameters, base, object_name_bytes(base->object));
    enum object_answer answer = name ? object_find(base->object, name, &memory) : OBJECT_UNKNOWN;
    if (base->guessed)
        finder->objects_guessed |= (uint8_t)(1u << base->object);
    if (base->guessed && (answer == OBJECT_MEMORY || answer == OBJECT_ARRAY))
        finder->objects_found |= (uint8_t)(1u << base->object);
    switch (answer) {
    case OBJECT_UNKNOWN:
        if (base->guessed)
            to->state = LAUNCH_POINTER_NOTHING;
        break;
    case OBJECT_NONE:
        to->state = LAUNCH_POINTER_NOTHING;
        break;
    case OBJECT_ARRAY:
        counters_unmodelled("textures and surfaces over arrays not seen created");
        to->state = LAUNCH_POINTER_NOTHING;
        break;
    case OBJECT_MEMORY:
        to->state = LAUNCH_POINTER_KNOWN;
        to->address = memory.base;
        to->object = object_keep(touched, &memory);
        break;
    }
}

void launch_pointer_find(struct launch_pointer_finder *finder, const struct access_base *base,
                         struct launch_accesses_touched *touched, struct launch_pointer *to)
{
    *to = (struct launch_pointer){.state = LAUNCH_POINTER_UNKNOWN, .argument = CSAN_NO_ARGUMENT};
    switch (base->kind) {
    case ACCESS_BASE_PARAM:
        if (parameter_pointer(finder->ptx, touched->parameters, base, &to->address))
            to->state = to->address ? LAUNCH_POINTER_KNOWN : LAUNCH_POINTER_NOTHING;
        break;
    case ACCESS_BASE_VARIABLE:
        launch_pointer_of_variable(finder, base->variable, to);
        break;
    case ACCESS_BASE_ADDRESS:
        to->address = base->address;
        to->state = to->address ? LAUNCH_POINTER_KNOWN : LAUNCH_POINTER_NOTHING;
        break;
    case ACCESS_BASE_OBJECT:
        launch_pointer_of_object(finder, base, touched, to);
        return;
    default:
        break;
    }
    if (base->guessed && to->state == LAUNCH_POINTER_KNOWN) {
        launch_pointer_place(to);
        if (!to->end)
            to->state = LAUNCH_POINTER_NOTHING;
    }
}
