/* Whether a kernel may run beside the previous one in its stream, and lets the next one do so: its
 * griddepcontrol instructions. A launch with programmatic stream serialization may begin when all
 * blocks of the previous kernel have executed launch_dependents or ended. What comes after its
 * griddepcontrol.wait sees that kernel finished, with all that it wrote (PTX ISA, "griddepcontrol";
 * CUDA C++ Programming Guide, "Programmatic Dependent Launch and Synchronization"). */
#ifndef RUNTIME_ACCESS_DEPENDENT_LAUNCH_H
#define RUNTIME_ACCESS_DEPENDENT_LAUNCH_H

#include "runtime/ptx/ir.h"

struct dependent_launch {
    bool waits;      /* it has a griddepcontrol.wait */
    bool lets;       /* it has a griddepcontrol.launch_dependents, */
    bool lets_early; /* and it may reach one before it has waited */
};

struct builder;

/* For a graph under construction. The first function records a griddepcontrol instruction. The
 * second runs after all of them, once blocks are numbered: it finds graph.dependent_launch and the
 * early accesses. */
void dependent_launch_note(struct builder *b, const struct ptx_instruction *instruction);
void dependent_launch_find(struct builder *b);

/* Looks only at the instructions of the function, and of all that it may call. For functions
 * without a graph. */
struct dependent_launch dependent_launch_scan(const struct ptx_function *function);

#endif
