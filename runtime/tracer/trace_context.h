/* Contexts in which launches are traced, and the records that each has.
 *
 * Thread-safe; a callback that says that a context ends waits for a moment at most. */
#ifndef RUNTIME_TRACER_TRACE_CONTEXT_H
#define RUNTIME_TRACER_TRACE_CONTEXT_H

#include "runtime/tracer/buffer.h"

/* A record of that size, or the next larger one, in the current context; NULL: none is free.
 * largest: the largest size that exists, for such a launch. */
struct buffer *trace_context_record(uint32_t size, uint32_t *largest);
/* It ends: its records are out of use. */
void trace_context_close(CUcontext context);

#endif
