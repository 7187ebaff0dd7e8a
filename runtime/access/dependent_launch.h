/* Whether a kernel may run beside the one before it in its stream, and lets the one behind it: its
 * griddepcontrol instructions. A launch with programmatic stream serialization may begin as soon as
 * all blocks of the kernel before have said launch_dependents or ended; what comes after its
 * griddepcontrol.wait sees that kernel done, with all that it wrote (PTX ISA, "griddepcontrol";
 * CUDA C++ Programming Guide, "Programmatic Dependent Launch and Synchronization"). */
#ifndef RUNTIME_ACCESS_DEPENDENT_LAUNCH_H
#define RUNTIME_ACCESS_DEPENDENT_LAUNCH_H

#include "runtime/ptx/ir.h"

struct dependent_launch {
    bool waits;      /* it has a griddepcontrol.wait */
    bool lets;       /* it has a griddepcontrol.launch_dependents, */
    bool lets_early; /* and one may be reached before it has waited */
};

struct builder;

/* For a graph under construction. The first function records a griddepcontrol instruction. The
 * second runs after all of them, once blocks are numbered: it finds graph.dependent_launch and the
 * early accesses. */
void dependent_launch_note(struct builder *b, const struct ptx_instruction *instruction);
void dependent_launch_find(struct builder *b);

/* By the instructions of the function, and of all it may call, alone: for what has no graph. */
struct dependent_launch dependent_launch_scan(const struct ptx_function *function);

#endif
