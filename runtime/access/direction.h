/* Directions: through which pointers a kernel reads, writes or atomically updates memory, from its
 * PTX alone, before any launch. This is the lowest level of knowledge about a kernel: the caller
 * chooses a pointer's range (to the end of its allocation).
 *
 * Every register gets the set of things that its value may derive from (provenance.h), whatever the
 * order of execution, through calls, .local copies and shared memory. Each access is then
 * attributed to what its address derives from. If something cannot be known, the result is
 * incomplete and says where. */
#ifndef RUNTIME_ACCESS_DIRECTION_H
#define RUNTIME_ACCESS_DIRECTION_H

#include "runtime/access/instruction_accesses.h"

enum access_source {
    ACCESS_SOURCE_PARAM,    /* a pointer in the kernel's parameters */
    ACCESS_SOURCE_OBJECT,   /* a texture, a surface or a tensor map in them: the memory under it */
    ACCESS_SOURCE_VARIABLE, /* a __device__ or __constant__ variable of the module */
};

struct access_pointer {
    enum access_source source;
    enum instruction_access_object object; /* OBJECT: which kind */
    uint32_t param_index;                  /* PARAM, OBJECT: which parameter */
    uint32_t param_offset; /* PARAM, OBJECT: byte in the parameter buffer where the 8 bytes of
                              the pointer or handle lie, or the 128 of the tensor map; inside
                              the parameter for a member of a struct passed by value */
    const struct ptx_variable *variable; /* VARIABLE */
    bool reads, writes; /* plain, or atomic at .cta or .cluster scope, which other kernels ignore */
    bool atomics;       /* atom, red and strong ld/st (.volatile too) at .gpu or .sys scope */
    bool guessed;       /* PARAM: these 8 bytes may be no pointer at all (a struct read through a
                           computed index, or p + n with both of 8 bytes): one if they point into an
                           allocation, else to be left out. OBJECT: likewise no object */
};

struct access_directions {
    const struct access_pointer
        *pointers; /* PARAM and OBJECT by offset, then VARIABLE in order of first use */
    uint32_t count;
    bool complete;        /* false: there are, or may be, accesses that `pointers` lacks */
    char reason[192];     /* not complete: why, naming the line; one line, first place found */
    uint32_t reason_line; /* in the PTX text; 0: no place */
    uint32_t visits;      /* instructions looked at, all rounds together: the work it took */
};

/* The limit of instruction visits, in all sweeps together, at 50 to 100 ns each. Kernels converge
 * in 2 to 6 sweeps. The first is for callers who can wait, the second for a launch that waits: 5
 * ms. */
enum { DIRECTION_BUDGET = 1000000, DIRECTION_BUDGET_LAUNCH = 50000 };

/* The directions of a kernel (a function with a body), by at most DIRECTION_BUDGET visits. NULL
 * when memory is short. Release with access_directions_release; `variable` points into the kernel's
 * module. Thread-safe. */
const struct access_directions *access_directions_find(const struct ptx_function *kernel);

/* The same within a launch's budget, charging only the instructions that `wanted` says true of: for
 * those whose range is not known; NULL: all. `function` is the kernel or one that it calls. */
typedef bool access_directions_wanted(void *user, const struct ptx_function *function,
                                      const struct ptx_instruction *instruction);
const struct access_directions *access_directions_find_some(const struct ptx_function *kernel,
                                                            access_directions_wanted *wanted,
                                                            void *user);
void access_directions_release(const struct access_directions *directions);

#endif
