/* Modules whose code is in executable graphs. When such a graph is made, it takes what a launch of
 * the kernel needs, as the code is at that moment (runtime/hook/graph/graph_code.h). Thread-safe,
 * as module.h. */
#ifndef RUNTIME_TRACER_MODULE_GRAPH_H
#define RUNTIME_TRACER_MODULE_GRAPH_H

#include "runtime/hook/interpose/driver.h"

/* A graph will hold kernels of that module whose launches may be traced at times. Patches the
 * module, if that is possible now. It stays patched only while the graph is made, unless the
 * graph's first launches are wanted. */
void module_make_ready(CUmodule handle, CUcontext context, bool launches_wanted);
/* Before it is made of that module's code: true where that is not patched, or memory is short. And
 * after, where it was `made`: unless the code was patched all the while, the module is kept
 * unpatched for as long as it is loaded (runtime/hook/graph/graph_code.h). False: memory is short.
 */
bool module_is_taken(CUmodule handle, CUcontext context);
bool module_was_taken(CUmodule handle, CUcontext context, bool plain, bool made);
/* The same for a graph that may hold code of any module: all modules are kept. */
void module_all_are_taken(void);
void module_all_were_taken(bool made);
/* How many modules are kept unpatched although launches of their kernels were wanted. */
unsigned module_kept(void);

#endif
