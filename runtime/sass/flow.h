/* Where control may go in a kernel's machine code: blocks of instructions that are entered at the
 * first alone, and the ways between them. Threads that wait for each other go on where that was
 * said before; what is called returns behind its own call, which is assumed. For sm_75 to sm_121
 * (step.h). Thread-safe. */
#ifndef RUNTIME_SASS_FLOW_H
#define RUNTIME_SASS_FLOW_H

#include "runtime/sass/clobbers.h"

enum { FLOW_NOWHERE = UINT32_MAX };

struct flow_block {
    uint32_t first, end; /* instructions; the end is none of it */
    uint32_t next;       /* the block behind, if control may go on; or FLOW_NOWHERE */
    uint32_t taken;      /* the block that its last instruction leads to; or FLOW_NOWHERE */
    bool to_meetings;    /* to any of the flow's meetings instead */
    bool is_reached;
    uint32_t callee; /* what its last instruction calls: at `taken`, back to `next` */
};

struct flow {
    uint32_t count, block_count, meeting_count, callee_count;
    struct step *steps;        /* what the instructions do */
    struct flow_block *blocks; /* in their order; control enters at the first */
    uint32_t *meetings;        /* blocks */
    struct clobbers *callees;
};

/* Of a kernel's code; to be freed whether it succeeds or not. Adds to `work` a unit for each tenth
 * of a microsecond or so that it takes. False: control may go where that is not told, it would take
 * more than `most`, or memory is short. */
bool flow_find(struct flow *flow, const uint8_t *instructions, uint64_t bytes,
               uint32_t architecture, uint32_t *work, uint32_t most);
void flow_free(struct flow *flow);

#endif
