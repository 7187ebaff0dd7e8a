/* Modules whose code executable graphs are made of. What a launch of a graph takes of a kernel is
 * put into the graph when that is made, as the code is then (runtime/hook/graph/graph_code.h).
 * Thread-safe; as module.h. */
#ifndef RUNTIME_TRACER_MODULE_GRAPH_H
#define RUNTIME_TRACER_MODULE_GRAPH_H

#include "runtime/hook/interpose/driver.h"

/* It is to hold kernels of that module's whose launches are traced now and then: patched, if that
 * can be now; afterwards no longer than the graph is made, unless its first launches are wanted. */
void module_make_ready(CUmodule handle, CUcontext context, bool launches_wanted);
/* Before it is made of that module's code: true where that is not patched, or memory is short. And
 * after, where it was `made`: unless the code was patched all the while, the module is kept
 * unpatched for as long as it is loaded (runtime/hook/graph/graph_code.h). False: memory is short.
 */
bool module_is_taken(CUmodule handle, CUcontext context);
bool module_was_taken(CUmodule handle, CUcontext context, bool plain, bool made);
/* The same where it may hold code of any: all that there are are kept. */
void module_all_are_taken(void);
void module_all_were_taken(bool made);
/* How many are kept though launches of theirs were wanted. */
unsigned module_kept(void);

#endif
