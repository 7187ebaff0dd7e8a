/* Bases: what the accesses of a kernel start from (a pointer among its parameters, a variable of
 * its module, a number, an object), as addresses in one launch, and what memory holds there.
 *
 * Owns where the variables of each kernel lie, and the generation that such places are of.
 * launch_accesses.c finds a launch's bases here, with the kernel locked where nothing else is said;
 * kernel.c and memory.c say when addresses end, range_verifier.c and trace.c read what was found.
 */
#ifndef RUNTIME_HOOK_KERNEL_LAUNCH_POINTER_H
#define RUNTIME_HOOK_KERNEL_LAUNCH_POINTER_H

#include "runtime/access/access_set.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/state/object_table.h"

struct launch_accesses_source;
struct launch_accesses_touched;

enum launch_pointer_state {
    LAUNCH_POINTER_NOTHING,
    LAUNCH_POINTER_KNOWN,
    LAUNCH_POINTER_UNKNOWN
}; /* NOTHING: a null pointer */

/* A base of the set in this launch. */
struct launch_pointer {
    uint64_t address;
    uint64_t start, end;             /* of the allocation it points into; end 0: in none */
    uint64_t owner_start, owner_end; /* of the declared pool's block there, else the same */
    uint16_t argument;
    uint8_t state;                      /* enum launch_pointer_state */
    bool placed;                        /* start and end are looked up */
    const struct object_memory *object; /* of an object; NULL: none, or no room for its shape */
};

/* A variable of the module: its place, as the driver said in a context. */
struct launch_pointer_variable {
    const struct ptx_variable *variable;
    CUcontext context;
    uint64_t generation;     /* of all addresses: see launch_pointer_address_generation */
    uint64_t address, bytes; /* address 0: the driver knows none */
};

/* Those of a kernel that were asked for. */
struct launch_pointer_variables {
    struct launch_pointer_variable *items; /* the kernel's to free */
    size_t count;
};

/* Who looks for bases: of one launch, on its caller's stack. */
struct launch_pointer_finder {
    struct launch_pointer_variables *variables; /* the kernel's */
    const struct ptx_function *ptx;
    CUcontext context; /* the calling thread's, once a variable was met */
    uint64_t generation;
    const struct ptx_variable *missing; /* its place has to be asked for */
    /* Kinds of objects, a bit for each: picked by a computed index, and found among those. */
    uint8_t objects_guessed, objects_found;
};

/* Contexts or modules are gone: variables are where the driver says from now on. Without any lock.
 */
void launch_pointer_addresses_changed(void);

/* Another number whenever variables may have moved. Without any lock. */
uint64_t launch_pointer_address_generation(void);

/* NULL: not known in the finder's context, and `missing` from now on. */
const struct launch_pointer_variable *
launch_pointer_variable_find(struct launch_pointer_finder *finder,
                             const struct ptx_variable *variable);
/* Where the driver has what is missing, in the context that is current now. Without any lock. */
struct launch_pointer_variable
launch_pointer_variable_ask(struct launch_pointer_finder *finder,
                            const struct launch_accesses_source *source);
/* Replaces what is no longer true. */
void launch_pointer_variable_keep(struct launch_pointer_finder *finder,
                                  struct launch_pointer_variable found);

/* By the launch's parameters, all but its argument. Objects' memory is kept in `touched`. */
void launch_pointer_find(struct launch_pointer_finder *finder, const struct access_base *base,
                         struct launch_accesses_touched *touched, struct launch_pointer *to);
/* Looks up the allocation it points into, once. */
void launch_pointer_place(struct launch_pointer *base);

/* What memory holds at a base: struct access_launch's `read`, `user` being the finder. */
bool launch_pointer_read(void *user, const struct access_base *base, const void *const *parameters,
                         int64_t offset, uint32_t bytes, void *to);

#endif
