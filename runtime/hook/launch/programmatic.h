/* Launches that may overlap the launch before them in their stream (attribute "programmatic stream
 * serialization"), and kernels that let the next one begin early.
 *
 * What such a launch touches before its griddepcontrol.wait is ordered after what the previous
 * kernel was itself ordered after when it began. What it touches after the wait is ordered after
 * that kernel's end (PTX ISA, "griddepcontrol"; CUDA Driver API,
 * CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION). Ordinary work that follows in the stream
 * is ordered after all of them.
 *
 * csan assumes that a kernel whose code is not known waits before it touches anything, and does not
 * let others begin early. It says so once. */
#ifndef RUNTIME_HOOK_LAUNCH_PROGRAMMATIC_H
#define RUNTIME_HOOK_LAUNCH_PROGRAMMATIC_H

#include "runtime/hook/kernel/launch_accesses.h"
#include "runtime/hook/state/stream.h"

/* A launch that is being enqueued. */
struct programmatic {
    bool allowed;                 /* it has the attribute */
    struct stream_overlap before; /* from stream_use_launch; taken */
    csan_snapshot *start;         /* between begin and end: what the next launch may begin after */
};

/* All with the hooks' lock. Begin: true if the op was enqueued here, because it is not on the
 * stream's lane; else the caller enqueues it on that lane. Call end in any case. */
bool programmatic_begin(struct programmatic *launch, struct stream *stream, csan_site site,
                        const struct launch_accesses_touched *touched);
void programmatic_end(struct programmatic *launch, struct stream *stream,
                      const struct launch_accesses_touched *touched);

#endif
