/* The bases of a kernel's accesses: a pointer among its parameters, a variable of its module, a
 * number, or an object. This file finds their addresses in one launch, and what memory holds there.
 *
 * Owns the addresses of each kernel's variables, and the generation that they belong to.
 * launch_accesses.c finds a launch's bases here, with the kernel locked unless a function says
 * otherwise. kernel.c and memory.c report when addresses end. range_verifier.c and trace.c read
 * what was found. */
#ifndef RUNTIME_HOOK_KERNEL_LAUNCH_POINTER_H
#define RUNTIME_HOOK_KERNEL_LAUNCH_POINTER_H

#include "runtime/access/access_set.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/state/object_table.h"

struct kernel_source;
struct launch_accesses_touched;

enum launch_pointer_state {
    LAUNCH_POINTER_NOTHING,
    LAUNCH_POINTER_KNOWN,
    LAUNCH_POINTER_UNKNOWN
}; /* NOTHING: a null pointer */

/* A base of the set in this launch. */
struct launch_pointer {
    uint64_t address;
    uint64_t start, end; /* the allocation that it points into; end 0: none */
    uint64_t owner_start,
        owner_end; /* the declared pool's block there; without one, the allocation */
    uint16_t argument;
    uint8_t state; /* enum launch_pointer_state */
    bool placed;   /* start and end are looked up */
    const struct object_memory
        *object; /* an object's memory; NULL: none, or no room for its shape */
};

/* Where a variable of the module lies, according to the driver in one context. */
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

/* The search for one launch's bases, on its caller's stack. */
struct launch_pointer_finder {
    struct launch_pointer_variables *variables; /* the kernel's */
    const struct ptx_function *ptx;
    CUcontext context; /* the calling thread's context, once a variable was met */
    uint64_t generation;
    const struct ptx_variable *missing; /* its place has to be asked for */
    /* Kinds of objects, one bit each: those that a computed index chooses, and those found among
     * them. */
    uint8_t objects_guessed, objects_found;
};

/* Contexts or modules are gone: from now on the driver must be asked again for variables'
 * addresses. Without any lock. */
void launch_pointer_addresses_changed(void);

/* A number that changes whenever variables may have moved. Without any lock. */
uint64_t launch_pointer_address_generation(void);

/* NULL: not known in the finder's context; it is added to `missing`. */
const struct launch_pointer_variable *
launch_pointer_variable_find(struct launch_pointer_finder *finder,
                             const struct ptx_variable *variable);
/* Asks the driver for the missing variables, in the current context. Without any lock. */
struct launch_pointer_variable launch_pointer_variable_ask(struct launch_pointer_finder *finder,
                                                           const struct kernel_source *source);
/* Replaces what is no longer true. */
void launch_pointer_variable_keep(struct launch_pointer_finder *finder,
                                  struct launch_pointer_variable found);

/* Fills in a base from the launch's parameters, except for its argument. Objects' memory is kept in
 * `touched`. */
void launch_pointer_find(struct launch_pointer_finder *finder, const struct access_base *base,
                         struct launch_accesses_touched *touched, struct launch_pointer *to);
/* Looks up the allocation that the base points into, once. */
void launch_pointer_place(struct launch_pointer *base);

/* What memory holds at a base: struct access_launch's `read`, `user` being the finder. */
bool launch_pointer_read(void *user, const struct access_base *base, const void *const *parameters,
                         int64_t offset, uint32_t bytes, void *to);

#endif
