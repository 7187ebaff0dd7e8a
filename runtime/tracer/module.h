/* The modules of the program that are patched, and their functions whose launches are traced.
 *
 * Patching and unpatching wait for all that the context's streams do, and stop for ever within a
 * launch callback (seen on an H200, driver 580, CUDA 13.0). So a module is patched within the
 * callback that says it was loaded, when it has no code on the device yet, and from then on only
 * while the context is idle; else later.
 *
 * Thread-safe. Callbacks come on threads that may hold the driver's own locks, and the Sanitizer
 * API takes those: so no lock that a callback waits for, but for a moment, is held while that API
 * is called. */
#ifndef RUNTIME_TRACER_MODULE_H
#define RUNTIME_TRACER_MODULE_H

#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/observe/trace_source.h"
#include "runtime/tracer/api.h"
#include "runtime/tracer/granularity.h"
#include "runtime/tracer/trace_request.h"

struct module;

/* A launch that is traced, of a patched module, which stays patched until its end. */
struct module_launch {
    struct module *module; /* NULL: none is kept patched for it */
    CUfunction function;   /* as the program passes it: a CUkernel, too */
    enum trace_request_for want;
    uint64_t threads;  /* of its grid */
    bool copies_known; /* the requester knows what the launch touches through tensor maps */
    struct granularity granularity;
};

enum module_answer {
    MODULE_NOT_NOW,
    MODULE_READY,
    MODULE_BLIND /* no patch is called for some of the kernel's accesses (machine_code.h) */
};

/* Once, before all else: who is called back, for modules and contexts already. Learning and
 * confirming may take so many milliseconds at first (learning, UINT64_MAX: all there are), and a
 * twentieth and a hundredth of the time after.
 * `eager`: most kernels will be wanted, so modules are patched while they load. */
SanitizerResult module_open(const struct sanitizer_api *api, Sanitizer_SubscriberHandle subscriber,
                            uint64_t learning_ms, uint64_t confirming_ms, bool eager);

/* ---- In callbacks ---- */

/* Gives a context the patches' code. Call it before modules of that context are loaded. */
void module_patches_load(const struct sanitizer_api *api, CUcontext context);
/* `wanted`: a launch of one of its kernels may soon be traced. */
void module_loaded(const struct sanitizer_api *api, const Sanitizer_ResourceModuleData *data,
                   bool wanted);
void module_unloads(CUmodule handle);
void module_context_ends(CUcontext context);

/* At a launch that is to be traced, of which everything but the module is filled in: whether its
 * module is patched; it then stays so. If it is not patched, it will be when the context is idle.
 */
enum module_answer module_launch_begin(const Sanitizer_LaunchData *data,
                                       struct module_launch *launch);
/* At any other launch, also that of a graph's node: whether it may run patched code. The launch
 * must then pass patched code an empty record. */
bool module_launched(CUmodule handle);

/* ---- Elsewhere ---- */

/* As machine_code_reads, of a kernel of that module. */
struct reads *module_reads(CUmodule handle, const char *kernel, uint32_t words);
/* As struct trace_source's `maps`. */
uint32_t module_maps(CUmodule handle, const char *kernel, struct map_use *maps);

/* As granularity_for, of what is known of the function's launches. */
struct granularity module_granularity(CUfunction function, uint64_t threads, uint64_t reach);

/* The functions below follow a launch that began. Any thread calls them; the end comes last and
 * once. */
void module_launch_end(const struct module_launch *launch);
/* As granularity_too_wide and granularity_too_small. */
void module_too_wide(const struct module_launch *launch);
void module_too_small(const struct module_launch *launch, uint32_t largest);
/* Whether its record can be right. A function that touched something once, and now nothing, may not
 * be patched any more. */
bool module_record_is_likely(const struct module_launch *launch, bool empty);

/* Launches of the function are wanted, or are not any more. Its module will be patched or unpatched
 * when the context is idle. To confirm only, that does not happen too often. */
void module_want(CUfunction function, enum trace_request_for want);
/* `launch`: a launch was not wanted. False: then an earlier, wanted one may still come, since its
 * module is not patched, or has not been for long. */
bool module_settle(CUfunction function, bool launch);
/* Called before each launch from which csan could learn: as struct trace_source's `time`. A hint,
 * without a lock. */
unsigned module_time(void);
/* Whether there is time to learn new kernels. */
bool module_may_learn(void);
/* Requests a trace of one of the function's launches. False: csan does not try, because the module
 * must stay as it is, recent patches for it caught no launch, or there is no time now. */
bool module_may_be_traced(CUfunction function, enum trace_request_for want);
/* Whether a launch of it could be traced now, as far as is known. */
bool module_may_trace(CUfunction function);

/* A launch's callback takes a microsecond, that of a graph's node a third of one, so there are none
 * while no module is patched; to turn them on or off takes a quarter of one. Nodes have them
 * whatever was on when their graph was made (seen on an H200, driver 580.159.04). Before a launch
 * that is wanted: false when there are none now. And when the program has waited for the device,
 * before changes are made and after. */
bool module_listen(const struct sanitizer_api *api);
void module_waited(void);
void module_listen_no_more(const struct sanitizer_api *api);

/* Whether a module waits to be patched or unpatched, or it is useful to know when the context is
 * idle. A hint, without a lock. */
bool module_changes_wait(void);
/* Makes the waiting changes in that context, which is current, as long as `idle` says that it is
 * idle. */
void module_changes_make(const struct sanitizer_api *api, CUcontext context, bool (*idle)(void));

/* How many kernels were launched again and again, but never as wanted, while their modules were
 * patched for them. */
unsigned module_never_caught(void);
/* How many modules or contexts the Sanitizer API refused, and its first reason. */
unsigned module_refusals(SanitizerResult *first);

#endif
