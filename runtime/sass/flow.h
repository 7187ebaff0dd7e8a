/* The control-flow graph of a kernel's machine code: basic blocks and the edges between them.
 * Threads that wait at a barrier go on where an earlier instruction set that barrier's
 * reconvergence point. The analysis assumes that a called function returns behind its call. For
 * sm_75 to sm_121 (step.h). Thread-safe. */
#ifndef RUNTIME_SASS_FLOW_H
#define RUNTIME_SASS_FLOW_H

#include "runtime/sass/clobbers.h"

enum { FLOW_NOWHERE = UINT32_MAX };

struct flow_block {
    uint32_t first, end;   /* instructions; the end is none of it */
    uint32_t next;         /* the block behind, if control may go on; or FLOW_NOWHERE */
    uint32_t taken;        /* the block that its last instruction leads to; or FLOW_NOWHERE */
    bool to_reconvergence; /* instead, to any of the flow's reconvergence blocks */
    bool is_reached;
    uint32_t callee; /* what its last instruction calls: at `taken`, back to `next` */
};

struct flow {
    uint32_t count, block_count, reconvergence_count, callee_count;
    struct step *steps;        /* what the instructions do */
    struct flow_block *blocks; /* in their order; control enters at the first */
    uint32_t *reconvergence;   /* blocks */
    struct clobbers *clobbers;
};

/* Finds the graph of a kernel's code. The caller frees `flow` even after a failure. Adds to `work`
 * about one unit for each tenth of a microsecond. False: a branch target is not known, it would
 * take more than `most`, or memory is short. */
bool flow_find(struct flow *flow, const uint8_t *instructions, uint64_t bytes,
               uint32_t architecture, uint32_t *work, uint32_t most);
void flow_free(struct flow *flow);

#endif
