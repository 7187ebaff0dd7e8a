/* Launches that may overlap the one before them in their stream (attribute "programmatic stream
 * serialization"), and kernels that let the one behind begin early. What such a launch touches
 * before its griddepcontrol.wait is ordered after what the kernel before was itself ordered after
 * as it began; what it touches behind it, after that kernel's end (PTX ISA, "griddepcontrol"; CUDA
 * Driver API, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION). What comes behind in the
 * stream in the usual way is ordered after all of them.
 *
 * A kernel whose code is not known is taken to wait before it touches anything, and not to let
 * others begin early: said once. */
#ifndef RUNTIME_HOOK_LAUNCH_PROGRAMMATIC_H
#define RUNTIME_HOOK_LAUNCH_PROGRAMMATIC_H

#include "runtime/hook/kernel/launch_accesses.h"
#include "runtime/hook/state/stream.h"

/* A launch that is being enqueued. */
struct programmatic {
    bool allowed;                 /* it has the attribute */
    struct stream_overlap before; /* from stream_use_launch; taken */
    csan_snapshot *start;         /* begin to end: of what the next launch may begin behind */
};

/* All with the hooks' lock. Begin: true when the op was enqueued here, because it is not on the
 * stream's lane; else the caller enqueues it on that lane. End follows in any case. */
bool programmatic_begin(struct programmatic *launch, struct stream *stream, csan_site site,
                        const struct launch_accesses_touched *touched);
void programmatic_end(struct programmatic *launch, struct stream *stream,
                      const struct launch_accesses_touched *touched);

#endif
