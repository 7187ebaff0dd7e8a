/* Access sets of launches as the detector's accesses. See launch_accesses.h. */
#include "runtime/hook/kernel/launch_accesses.h"
#include "runtime/hook/kernel/kernel_description_state.h"
#include "runtime/access/instruction_accesses.h"
#include "runtime/hook/kernel/launch_pointer.h"
#include "runtime/hook/state/known_contents.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Dims are handed on as they are. */
_Static_assert(sizeof(struct access_dim) == sizeof(struct csan_dim) &&
                   offsetof(struct access_dim, stride) == offsetof(struct csan_dim, stride) &&
                   offsetof(struct access_dim, count) == offsetof(struct csan_dim, count) &&
                   (int)ACCESS_MAX_DIMS == (int)CSAN_MAX_DIMS,
               "the two kinds of dims are one");
_Static_assert((int)ACCESS_READ == (int)CSAN_READ && (int)ACCESS_WRITE == (int)CSAN_WRITE &&
                   (int)ACCESS_ATOMIC == (int)CSAN_ATOMIC,
               "the two kinds of access are one");

/* ---- Parameters ---- */

/* One launch in the making. */
struct making {
    struct description *own;
    const struct launch_accesses_launch *launch;
    struct launch_accesses_touched *touched;
    struct launch_pointer_finder finder;
};

/* One address for each parameter. */
static bool parameters_find(const struct making *making)
{
    const struct ptx_function *ptx = making->own->kernel.ptx;
    struct launch_accesses_touched *touched = making->touched;
    size_t bytes;
    if (making->launch->parameters) {
        touched->parameters = (const void *const *)making->launch->parameters;
        return true;
    }
    const uint8_t *buffer = layout_extra(making->launch->extra, &bytes);
    const void **addresses = touched->own_parameters;
    if (ptx->param_count > LAUNCH_ACCESSES_PARAMETERS)
        addresses = touched->parameter_room = malloc(ptx->param_count * sizeof *addresses);
    if (!addresses)
        return false;
    for (uint32_t i = 0; i < ptx->param_count; i++) {
        const struct ptx_param *param = &ptx->params[i];
        bool inside = buffer && param->offset <= bytes && param->size <= bytes - param->offset;
        addresses[i] = inside ? buffer + param->offset : NULL;
    }
    touched->parameters = addresses;
    return true;
}

/* ---- Ranges ---- */

static const uint8_t bound_of[] = {
    [ACCESS_EXACT] = CSAN_EXACT,
    [ACCESS_BOUND_DIRECTION] = CSAN_BOUND_DIRECTION,
    [ACCESS_BOUND_DATA] = CSAN_BOUND_DATA,
    [ACCESS_BOUND_GUARD] = CSAN_BOUND_GUARD,
    [ACCESS_BOUND_SHAPE] = CSAN_BOUND_SHAPE,
    [ACCESS_BOUND_BUDGET] = CSAN_BOUND_BUDGET,
};

static uint64_t clamp(__int128 value)
{
    if (value < 0)
        return 0;
    return value > (__int128)UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

/* The first byte of an access, and the one behind the last. 1 when it lies in memory as a whole. */
static bool hull_of(const struct csan_access *access, __int128 base, uint64_t *first, uint64_t *end)
{
    __int128 low = base, high = base + access->bytes;
    for (uint8_t i = 0; i < access->dim_count; i++) {
        __int128 reach = (__int128)access->dims[i].stride *
                         (access->dims[i].count ? access->dims[i].count - 1 : 0);
        if (reach < 0)
            low += reach;
        else
            high += reach;
    }
    *first = clamp(low);
    *end = clamp(high);
    return low >= 0 && high <= (__int128)UINT64_MAX;
}

static void interval(struct csan_access *access, uint64_t first, uint64_t end)
{
    access->base = first;
    access->bytes = end - first;
    access->dims = NULL;
    access->dim_count = 0;
}

/* From the first byte to the end of the owner's; where csan saw none, the detector looks. */
static void extend_to_end(struct csan_access *access, uint64_t first,
                          const struct launch_pointer *base)
{
    if (first >= base->owner_start && first < base->owner_end)
        interval(access, first, base->owner_end);
    else if (base->end)
        interval(access, base->owner_start, base->owner_end);
    else {
        interval(access, first, first);
        access->bytes = CSAN_TO_END;
    }
}

/* A range that is not exact may go beyond what its pointer can reach. One that stays in the
 * allocation is kept, even over several blocks of a declared pool; one that does not, or has no
 * end, is taken to be of the owner's. */
static void cut(struct csan_access *access, __int128 start, uint64_t bytes,
                struct launch_pointer *base)
{
    uint64_t first, end;
    if (bytes == ACCESS_TO_END && !access->dim_count && start == base->address && !base->placed) {
        access->bytes = CSAN_TO_END; /* the detector looks for its end anyway */
        return;
    }
    launch_pointer_place(base);
    if (bytes == ACCESS_WHOLE || bytes == ACCESS_TO_END) {
        access->bytes = 1;
        hull_of(access, start, &first, &end);
        extend_to_end(access, bytes == ACCESS_WHOLE && base->end ? base->owner_start : first, base);
        return;
    }
    bool whole = hull_of(access, start, &first, &end);
    bool inside = first >= base->start && end <= base->end;
    bool meets = first < base->end && base->start < end;
    uint64_t low = base->start, high = base->end;
    if (first < base->owner_end && base->owner_start < end) {
        low = base->owner_start;
        high = base->owner_end;
    }
    if (!inside && meets)
        interval(access, first > low ? first : low, end < high ? end : high);
    else if (!whole)
        interval(access, first, end); /* it must not wrap around */
}

/* Of an object, what it covers and not the whole allocation. */
static void object_shape(struct csan_access *access, const struct object_memory *object)
{
    access->base = object->base;
    access->bytes = object->bytes == CSAN_TO_END ? ACCESS_TO_END : object->bytes;
    access->dims = object->dims;
    access->dim_count = object->dim_count;
    if (access->kind == CSAN_ATOMIC)
        access->element_bytes = object->element_bytes;
}

static void range_add(struct making *making, const struct access_range *range)
{
    struct launch_accesses_touched *touched = making->touched;
    struct launch_pointer *base = &touched->bases[range->base];
    if (base->state != LAUNCH_POINTER_KNOWN)
        return;
    struct csan_access *access = &touched->accesses[touched->access_count];
    *access = (struct csan_access){.base = base->address + (uint64_t)range->offset,
                                   .bytes = range->bytes,
                                   .dims = (const struct csan_dim *)range->dims,
                                   .dim_count = range->dim_count,
                                   .kind = range->kind,
                                   .bound = range->bound < sizeof bound_of ? bound_of[range->bound]
                                                                           : CSAN_BOUND_SHAPE,
                                   .argument = base->argument};
    if (range->kind == ACCESS_ATOMIC) {
        const struct kernel_atomics atomics = making->own->kernel.atomics;
        access->element_bytes = range->width ? range->width : atomics.bytes;
        access->order = atomics.order;
    }
    if (base->object) {
        object_shape(access, base->object);
        if (access->bound == CSAN_BOUND_DIRECTION)
            access->bound = CSAN_BOUND_OBJECT;
    }
    if (access->bound != CSAN_EXACT || range->bytes >= ACCESS_WHOLE)
        cut(access, (__int128)base->address + range->offset, access->bytes, base);
    if (access->bytes)
        touched->access_count++;
}

/* What describes the textures and surfaces: whoever destroys one frees that. */
static void descriptions_add(struct launch_accesses_touched *touched)
{
    for (size_t i = 0; i < touched->base_count; i++) {
        const struct object_memory *object = touched->bases[i].object;
        if (object && object->description)
            touched->accesses[touched->access_count++] =
                (struct csan_access){.base = object->description,
                                     .bytes = 1,
                                     .kind = CSAN_READ,
                                     .bound = CSAN_BOUND_OBJECT,
                                     .argument = touched->bases[i].argument};
    }
}

/* ---- The whole ---- */

static bool room_find(struct launch_accesses_touched *touched, const struct access_set *set)
{
    touched->bases = touched->own_bases;
    touched->accesses = touched->own_accesses;
    if (set->base_count > LAUNCH_ACCESSES_BASES)
        touched->bases = malloc(set->base_count * sizeof *touched->bases);
    const size_t accesses = (size_t)set->range_count + set->base_count; /* and descriptions */
    if (accesses > LAUNCH_ACCESSES_ACCESSES)
        touched->accesses = malloc(accesses * sizeof *touched->accesses);
    return touched->bases && touched->accesses;
}

static void room_release(struct launch_accesses_touched *touched)
{
    if (touched->bases != touched->own_bases)
        free(touched->bases);
    if (touched->accesses != touched->own_accesses)
        free(touched->accesses);
    touched->bases = NULL;
    touched->accesses = NULL;
    touched->base_count = touched->access_count = touched->object_count =
        touched->after_wait_count = 0;
    touched->level = CSAN_LEVEL_UNKNOWN;
    touched->exact = false;
}

static void set_resolve(struct making *making, const struct access_set *set)
{
    struct launch_accesses_touched *touched = making->touched;
    bool known = set->complete;
    touched->set = set;
    making->finder.objects_guessed = making->finder.objects_found = 0;
    if (!room_find(touched, set)) {
        room_release(touched);
        return;
    }
    touched->base_count = set->base_count;
    for (uint32_t i = 0; i < set->base_count; i++) {
        launch_pointer_find(&making->finder, &set->bases[i], touched, &touched->bases[i]);
        touched->bases[i].argument = kernel_description_argument_of(making->own, &set->bases[i]);
        known = known && touched->bases[i].state != LAUNCH_POINTER_UNKNOWN;
    }
    /* One of several candidates is the object: if csan knows none of them, it did not see its
     * creation. */
    known = known && !(making->finder.objects_guessed & ~making->finder.objects_found);
    for (uint32_t i = 0; i < set->range_count; i++)
        if (!set->ranges[i].early)
            range_add(making, &set->ranges[i]);
    touched->after_wait_count = touched->access_count;
    for (uint32_t i = 0; i < set->range_count; i++)
        if (set->ranges[i].early)
            range_add(making, &set->ranges[i]);
    descriptions_add(touched);
    bool better = touched->access_count == 0;
    for (size_t i = 0; i < touched->access_count && !better; i++)
        better = touched->accesses[i].bound != CSAN_BOUND_DIRECTION &&
                 touched->accesses[i].bound != CSAN_BOUND_OBJECT;
    touched->exact = known && set->exact && !making->own->kernel.uses_heap;
    if (known)
        touched->level = better ? CSAN_LEVEL_RANGES : CSAN_LEVEL_DIRECTION;
}

bool launch_accesses_is_constant(const struct launch_accesses_touched *touched,
                                 const struct csan_access *access)
{
    for (size_t i = 0; i < touched->base_count; i++) {
        const struct ptx_variable *variable = touched->set->bases[i].variable;
        if (touched->set->bases[i].kind == ACCESS_BASE_VARIABLE && variable &&
            variable->space == PTX_SPACE_CONST && touched->bases[i].state == LAUNCH_POINTER_KNOWN &&
            access->base - touched->bases[i].address < variable->size)
            return true;
    }
    return false;
}

struct csan_access *launch_accesses_replace(struct launch_accesses_touched *touched, size_t count,
                                            size_t dim_count, struct csan_dim **dims)
{
    bool fits = count <= LAUNCH_ACCESSES_ACCESSES && dim_count <= LAUNCH_ACCESSES_DIMS;
    struct csan_access *accesses =
        fits ? touched->own_accesses
             : malloc(count * sizeof *accesses + dim_count * sizeof **dims + 1);
    if (!accesses)
        return NULL;
    if (touched->accesses != touched->own_accesses)
        free(touched->accesses);
    touched->accesses = accesses;
    touched->access_count = touched->after_wait_count = count;
    *dims = fits ? touched->own_dims : (struct csan_dim *)(accesses + count);
    return accesses;
}

/* Nothing is known of what it writes. */
static bool forget_all(const struct launch_accesses_launch *launch)
{
    return !launch->writes_declared && known_contents_doubt_all();
}

/* What the launch may write is no longer known. 1 when that was known. */
static bool forget_written(const struct launch_accesses_launch *launch,
                           const struct launch_accesses_touched *touched)
{
    bool any = false;
    if (!known_contents_any())
        return false;
    if (touched->level == CSAN_LEVEL_UNKNOWN)
        return forget_all(launch);
    for (size_t i = 0; i < touched->access_count; i++) {
        const struct csan_access *access = &touched->accesses[i];
        uint64_t first = access->base, end = UINT64_MAX;
        if (access->kind == CSAN_READ)
            continue;
        if (access->bytes != CSAN_TO_END)
            hull_of(access, access->base, &first, &end);
        any |= known_contents_forget(first, end - first);
    }
    return any;
}

static const struct access_set *set_find(struct making *making)
{
    const struct launch_accesses_launch *launch = making->launch;
    struct access_launch wanted = {.dynamic_shared = launch->shared,
                                   .parameters = making->touched->parameters,
                                   .read = launch_pointer_read,
                                   .user = &making->finder,
                                   .memory_version = known_contents_version()};
    memcpy(wanted.grid, launch->grid, sizeof wanted.grid);
    memcpy(wanted.block, launch->block, sizeof wanted.block);
    memcpy(wanted.cluster, launch->cluster, sizeof wanted.cluster);
    return access_set_find(making->own->access, &wanted);
}

/* A variable whose place is not known is asked for without the lock, and all is done again. So it
 * is when the kernel writes to the very table that it takes pointers from: then that is not known.
 */
static void touched_find(struct making *making)
{
    enum { VARIABLE_LIMIT = 1024 };
    bool forgotten = false;
    for (int asked = 0;; room_release(making->touched)) {
        const struct access_set *set = set_find(making);
        bool early = making->finder.missing != NULL;
        if (!early)
            set_resolve(making, set);
        if (making->finder.missing && asked++ < VARIABLE_LIMIT &&
            kernel_description_variable_ask(making->own, &making->finder)) {
            if (early)
                known_contents_answers_changed(); /* the set was made without, and kept */
            continue;
        }
        if (early)
            set_resolve(making, set);
        if (!forget_written(making->launch, making->touched) || !set->reads_memory || forgotten)
            return;
        forgotten = true;
    }
}

/* ---- What comes near ---- */

/* What this launch read, with the kernel locked. */
static void note_ahead(struct description *own, const struct access_set *set)
{
    const struct ptx_function *ptx = own->kernel.ptx;
    struct access_piece pieces[ACCESS_PIECES + 3];
    size_t count = access_set_pieces(own->access, set, pieces);
    pieces[count++] = (struct access_piece){&ptx->params, AHEAD_LINE};
    pieces[count++] = (struct access_piece){
        own->argument_of_offset, own->argument_offsets * sizeof *own->argument_of_offset};
    pieces[count++] = (struct access_piece){ptx->params, ptx->param_count * sizeof *ptx->params};
    own->ahead_of = set;
    prefetch_note(&own->ahead, pieces, count);
}

void launch_accesses_prefetch(const struct kernel *kernel)
{
    const struct description *own = (const struct description *)kernel;
    for (size_t i = 0; i < offsetof(struct description, ahead); i += AHEAD_LINE)
        __builtin_prefetch((const char *)own + i);
    prefetch_begin(&own->ahead);
}

static struct dependent_launch overlap_of(struct description *own)
{
    if (!own->overlap_found)
        own->overlap = access_dependent_launch(own->access);
    own->overlap_found = true;
    return own->overlap;
}

void launch_accesses_begin(struct kernel *kernel, const struct launch_accesses_launch *launch,
                           struct launch_accesses_touched *touched)
{
    struct description *own = own_of(kernel);
    struct making making = {.own = own,
                            .launch = launch,
                            .touched = touched,
                            .finder = {.variables = &own->variables, .ptx = kernel->ptx}};
    touched->set = NULL;
    touched->parameter_room = NULL;
    touched->bases = touched->own_bases;
    touched->accesses = touched->own_accesses;
    touched->base_count = touched->access_count = touched->object_count =
        touched->after_wait_count = 0;
    touched->level = CSAN_LEVEL_UNKNOWN;
    touched->exact = false;
    touched->overlap = (struct dependent_launch){0};
    if (__atomic_load_n(&own->has_variables, __ATOMIC_RELAXED)) {
        making.finder.generation = launch_pointer_address_generation();
        making.finder.context = stream_current_context();
    }
    guard_lock_object(LOCK_KERNEL, &own->mutex);
    if (own->access && parameters_find(&making))
        touched_find(&making);
    else
        forget_all(launch);
    if (own->access)
        touched->overlap = overlap_of(own);
    if (touched->set && touched->set != own->ahead_of)
        note_ahead(own, touched->set);
}

void launch_accesses_end(struct kernel *kernel, struct launch_accesses_touched *touched)
{
    guard_unlock_object(LOCK_KERNEL, &own_of(kernel)->mutex);
    room_release(touched);
    free(touched->parameter_room);
}

/* The argument that is known worst, as the set's reason has it. */
static const char *argument_explained(const struct kernel *kernel,
                                      const struct launch_accesses_touched *touched)
{
    const struct access_set *set = touched->set;
    for (uint32_t i = 0; set->complete && touched->base_count && i < set->range_count; i++) {
        uint16_t argument = touched->bases[set->ranges[i].base].argument;
        if (set->ranges[i].bound != ACCESS_EXACT)
            return argument < kernel->argument_count ? kernel->arguments[argument] : NULL;
    }
    return NULL;
}

void launch_accesses_explain(struct kernel *kernel, const struct launch_accesses_touched *touched)
{
    struct description *own = own_of(kernel);
    const struct access_set *set = touched->set;
    if (own->explained || touched->exact)
        return;
    own->explained = true;
    if (!set) {
        session_note(own->source.foreign_ptx
                         ? "kernel %s: what it touches is not known: its PTX is of another "
                           "architecture than the machine code that runs"
                         : "kernel %s: what it touches is not known: csan found no PTX of it",
                     kernel->name);
        return;
    }
    char place[48] = "";
    const char *argument = argument_explained(kernel, touched);
    const char *reason = set->reason && *set->reason ? set->reason
                         : argument                  ? "it is known by direction only"
                                                     : "a pointer of it is not known";
    if (set->reason_line)
        snprintf(place, sizeof place, " (PTX line %u)", set->reason_line);
    if (argument)
        session_note("kernel %s: argument %s is bounded: %s%s", kernel->name, argument, reason,
                     place);
    else
        session_note("kernel %s: not all that it touches is known: %s%s", kernel->name, reason,
                     place);
}
