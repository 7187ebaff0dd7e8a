/* The modules that the tracer knows, and those of their functions whose launches were wanted. They
 * are found by their handles, until they are unloaded. module.h decides when to patch them;
 * module_graph.h is about graphs made of them.
 *
 * The table's mutex guards all of it, unless a member says atomic or `calls`. */
#ifndef RUNTIME_TRACER_MODULES_H
#define RUNTIME_TRACER_MODULES_H

#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/sass/machine_code.h"
#include "runtime/tracer/api.h"
#include "runtime/tracer/budget.h"
#include "runtime/tracer/granularity.h"
#include "runtime/tracer/trace_request.h"

#include <pthread.h>

/* A function whose launches were wanted. */
struct module_function {
    CUfunction handle;
    struct module *module;
    struct trace_request request;
    struct granularity_history granularity;
    bool blind;
    bool copies;        /* through tensor maps that are known */
    bool touched;       /* something, once */
    UT_hash_handle hh;  /* in its module's */
    UT_hash_handle all; /* in the table's list; of several with one handle, the newest */
};

/* A kernel that is launched once and never again would keep its module patched for ever, as would
 * nodes of graphs that are not wanted any more. So csan gives up waiting, and waits twice as long
 * the next time. */
enum { MODULE_PATIENCE = 256 };

enum module_state { MODULE_PLAIN, MODULE_CHANGING, MODULE_PATCHED };

struct module {
    CUmodule handle;
    CUcontext context;
    enum module_state state;
    bool launched;     /* since its state is what it is */
    bool taught;       /* and traced for what it was patched for */
    bool confirms;     /* it was patched to confirm only */
    bool refused;      /* to be changed */
    bool awaited;      /* a graph that is about to be made of it needs it patched */
    bool passing;      /* for that alone */
    unsigned taken;    /* such graphs need it as it is, that is, unpatched */
    bool kept;         /* so, for the graph that was made: not to be patched */
    bool missed;       /* launches were wanted since */
    bool gone;         /* unloaded: in no table; its last holder frees it */
    unsigned wanted;   /* functions, for whatever */
    unsigned learning; /* of which to learn */
    unsigned flying;   /* launches that began and have not ended */
    unsigned others;   /* since it was patched or last useful: its launches and graph nodes that
                          taught nothing, waits of a program without a request, and one for every so
                          many launches of any module */
    unsigned patience; /* after so many, wanted launches are forgotten: MODULE_PATIENCE at first */
    struct machine_code *code;
    struct module_function *functions;
    UT_hash_handle hh;
};

extern struct modules {
    Sanitizer_SubscriberHandle subscriber;
    bool eager;
    /* Held during calls of the Sanitizer API, which allows one caller at a time. A callback tries
     * to take it for PATCHES_WAIT_MS and then goes on without it. */
    pthread_mutex_t calls;
    bool listening;        /* of `calls`; atomic */
    unsigned quiet;        /* atomic */
    pthread_mutex_t mutex; /* of what follows; no call is made with it */
    struct module *by_handle;
    struct module_function *functions;
    struct budget learning, confirming;
    unsigned patched; /* modules, or about to be; atomic */
    unsigned looking; /* modules that are patched to confirm; atomic */
    bool busy;        /* code runs for which a budget pays, as far as is known; atomic */
    bool changes;     /* that wait; atomic */
    unsigned heard;   /* launches, of which patience has not waned yet; atomic */
    unsigned refused; /* modules and contexts */
    unsigned hidden;  /* graphs that are being made of any modules */
    SanitizerResult refusal;
} modules;

struct module *modules_find(CUmodule handle);
/* The same for that context; it is made if there is none. NULL: memory is short. */
struct module *modules_get(CUmodule handle, CUcontext context);
/* After a module is unloaded, its handles are used again for others. So this forgets all that is
 * known by them. */
void modules_forget(struct module *module);
/* Frees a module that is gone, unless a launch or a change holds it. */
void modules_drop(struct module *module);
/* The newest module with that handle; NULL: none. */
struct module_function *modules_function(CUfunction handle);
/* Changes wait, as a hint; without the mutex, too. */
void modules_changes_set(bool wait);

struct module_function *module_function_find(const struct module *module, CUfunction handle);
/* Of one that is not there; NULL: memory is short. */
struct module_function *module_function_create(struct module *module, CUfunction handle,
                                               const char *name);
void module_state_set(struct module *module, enum module_state state, bool launched);
void module_confirms_set(struct module *module, bool confirms);
/* The budget that pays for the patched module; NULL: none, nothing was wanted of it. */
struct budget *module_payer(const struct module *module);

#endif
