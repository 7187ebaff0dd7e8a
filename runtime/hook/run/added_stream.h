/* Copies and sets that are made in another stream: see added_order.h. A stream is identified by how
 * many streams the program had created before it. That number is the same in every run of a program
 * that does the same. Without any lock. */
#ifndef RUNTIME_HOOK_RUN_ADDED_STREAM_H
#define RUNTIME_HOOK_RUN_ADDED_STREAM_H

#include "runtime/hook/run/added_order.h"

void added_stream_created(CUstream stream);
void added_stream_destroyed(CUstream stream);

/* Makes the call in the order's stream, if that exists by now and the call is a copy or a set. */
void added_stream_move(struct added *order, struct watched_call *call);
/* The order asks in which stream that is. */
void added_stream_note(struct added *order, const struct watched_call *call);

#endif
