/* Provenance: for every register of a kernel and of the functions it calls, the set of sources its
 * value may derive from. A fixed point over all instructions in any order: it holds whatever branch
 * is taken. It follows values through moves and integer arithmetic, .local and .param variables by
 * offset, shared memory and the kernel's own allocations as one lump each, and calls by merging all
 * callers of a function. Values read from global memory are SOURCE_LOADED. Only direction.c
 * uses it. */
#ifndef RUNTIME_ACCESS_PROVENANCE_H
#define RUNTIME_ACCESS_PROVENANCE_H

#include "runtime/access/source_set.h"

/* One reachable function and its registers' sets. */
struct provenance_function {
    const struct ptx_function *function;
    source_set *registers;
};

/* The contents of memory without known offsets: stored in 8 bytes or more, and in fewer. */
struct lump {
    source_set wide, narrow;
};

struct provenance {
    struct arena *arena;
    struct source_table *sources;
    const struct ptx_function *kernel;
    struct provenance_function *functions; /* the kernel first, then in order of appearance */
    size_t function_count, function_capacity;
    struct frame *frames; /* what .local and .param variables hold */
    size_t frame_count, frame_capacity;
    uint32_t *frame_slots; /* variables to frames, open addressing, index plus one */
    size_t frame_slot_count;
    struct lump shared, heap; /* the contents of shared memory, and of what the kernel allocates */
    const struct ptx_function **taken; /* functions whose address is taken in the module */
    size_t taken_count, taken_capacity;
    bool taken_known; /* collected only when a call needs it */
    bool changed;
    uint64_t visits, budget;
    const struct ptx_function *unresolved;         /* a callee without a body, or */
    const struct ptx_instruction *unresolved_call; /* a call through a pointer of unknown value */
    const struct ptx_function *unresolved_in;      /* and in which function it stands */
};

/* Computes the fixed point in *p. False when the budget of
 * instruction visits ended first, or there are too many sets. */
bool provenance_find(struct provenance *p, const struct ptx_function *kernel, uint64_t budget,
                     struct arena *arena);

/* The sources of an address operand of an instruction of a function. */
source_set provenance_address(struct provenance *p, const struct provenance_function *in,
                              const struct ptx_operand *address);

#endif
