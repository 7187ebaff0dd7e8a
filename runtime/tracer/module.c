/* Patched modules. See module.h. */
#include "runtime/tracer/module.h"
#include "runtime/tracer/patch_gate.h"
#include "runtime/tracer/modules.h"
#include "runtime/tracer/patches.h"
#include "csan/base/lock_order.h"

#include <string.h>
#include <time.h>

/* HEARD: so many launches of any module's count as one of each. */
enum { PATIENCE_MAX = 1 << 24, HEARD = 32 };

/* Where there is no time left, what was patched while there was is so for so many of them. */
enum { UNPAID = 8 };

#define MS UINT64_C(1000000)

/* So many times the program waits for the device, and nothing is wanted, before what is patched all
 * the same counts as unwanted. */
enum { QUIET = 4 };

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Patched code is launched. */
static void launched_set(struct module *module)
{
    struct budget *budget = module_payer(module);
    module->launched = true;
    if (!budget)
        return;
    budget_busy(budget, now_ns());
    __atomic_store_n(&modules.busy, true, __ATOMIC_RELAXED);
}

static void refuse(SanitizerResult why)
{
    if (modules.refused++ == 0)
        modules.refusal = why;
}

unsigned module_refusals(SanitizerResult *first)
{
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    unsigned count = modules.refused;
    *first = modules.refusal;
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
    return count;
}

/* ---- The Sanitizer API ---- */

/* Contexts are made while another one's modules are patched, which takes less than this. */
enum { PATCHES_WAIT_MS = 200 };

void module_patches_load(const struct sanitizer_api *api, CUcontext context)
{
    struct timespec until;
    SanitizerResult result = SANITIZER_ERROR_UNKNOWN;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PATCHES_WAIT_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    if (lock_order_try(LOCK_TRACER_CALLS, pthread_mutex_timedlock(&modules.calls, &until)) == 0) {
        result = patches_load(api, context);
        lock_order_give(LOCK_TRACER_CALLS, &modules.calls);
    }
    if (result == SANITIZER_SUCCESS)
        return;
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    refuse(result);
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
}

static SanitizerResult listen(const struct sanitizer_api *api, bool on)
{
    SanitizerResult result = api->enable_domain(on, modules.subscriber, SANITIZER_CB_DOMAIN_LAUNCH);
    if (result == SANITIZER_SUCCESS)
        result = api->enable_domain(on, modules.subscriber, SANITIZER_CB_DOMAIN_GRAPHS);
    if (result == SANITIZER_SUCCESS)
        __atomic_store_n(&modules.listening, on, __ATOMIC_RELAXED);
    return result;
}

SanitizerResult module_open(const struct sanitizer_api *api, Sanitizer_SubscriberHandle subscriber,
                            uint64_t learning_ms, uint64_t confirming_ms, bool eager)
{
    modules.subscriber = subscriber;
    modules.eager = eager;
    modules.learning.allowance = learning_ms < UINT64_MAX / MS ? learning_ms * MS : UINT64_MAX;
    modules.confirming.allowance = confirming_ms * MS;
    return eager ? listen(api, true) : SANITIZER_SUCCESS;
}

/* False: another thread is at it, or launches. */
static bool changes_begin(void)
{
    if (lock_order_try(LOCK_TRACER_CALLS, pthread_mutex_trylock(&modules.calls)) != 0)
        return false;
    if (patch_gate_close())
        return true;
    lock_order_give(LOCK_TRACER_CALLS, &modules.calls);
    return false;
}

static void changes_end(void)
{
    patch_gate_open();
    lock_order_give(LOCK_TRACER_CALLS, &modules.calls);
}

bool module_listen(const struct sanitizer_api *api)
{
    __atomic_store_n(&modules.quiet, 0, __ATOMIC_RELAXED);
    if (__atomic_load_n(&modules.listening, __ATOMIC_RELAXED))
        return true;
    if (!changes_begin())
        return false;
    bool listening = modules.listening || listen(api, true) == SANITIZER_SUCCESS;
    changes_end();
    return listening;
}

static SanitizerResult patch(const struct sanitizer_api *api, struct module *module)
{
    SanitizerResult result = modules.listening ? SANITIZER_SUCCESS : listen(api, true);
    return result == SANITIZER_SUCCESS ? patches_put(api, module->handle) : result;
}

/* ---- Modules and functions ---- */

static void want_set(struct module_function *function, enum trace_request_for what)
{
    struct module *module = function->module;
    const enum trace_request_for before = function->request.what;
    module->wanted += (what != TRACE_REQUEST_NOTHING) - (before != TRACE_REQUEST_NOTHING);
    module->learning += (what == TRACE_REQUEST_TO_LEARN) - (before == TRACE_REQUEST_TO_LEARN);
    trace_request_set(&function->request, what);
}

static void want_more(struct module_function *function, enum trace_request_for what)
{
    if (function->request.what < what && !function->blind)
        want_set(function, what);
}

/* `tried`: it was launched, if at all, and not as wanted. */
static void want_no_more(struct module_function *function, bool tried)
{
    const struct module *module = function->module;
    if (tried && module->state == MODULE_PATCHED && !module->kept)
        trace_request_try_ends(&function->request);
    want_set(function, TRACE_REQUEST_NOTHING);
}

/* Its functions are wanted no more, until they are asked for again. */
static void module_give_up(struct module *module)
{
    struct module_function *function, *next;
    HASH_ITER(hh, module->functions, function, next)
    {
        want_no_more(function, true);
    }
}

static struct module_function *function_want(struct module *module, CUfunction handle,
                                             const char *name, enum trace_request_for want)
{
    struct module_function *function = module_function_find(module, handle);
    if (!function)
        function = module_function_create(module, handle, name);
    if (function)
        want_more(function, want);
    return function;
}

struct reads *module_reads(CUmodule handle, const char *kernel, uint32_t words)
{
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    const struct module *module = modules_find(handle);
    struct reads *reads = module ? machine_code_reads(module->code, kernel, words) : NULL;
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
    return reads;
}

uint32_t module_maps(CUmodule handle, const char *kernel, struct map_use *maps)
{
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    const struct module *module = modules_find(handle);
    const struct map_uses *found = module ? machine_code_maps(module->code, kernel) : NULL;
    const uint32_t count = found ? found->count : 0;
    if (count)
        memcpy(maps, found->uses, count * sizeof *maps);
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
    return count;
}

static bool is_affordable(const struct budget *budget)
{
    return budget_allows(budget, now_ns());
}

/* For what modules are patched is paid for. */
unsigned module_time(void)
{
    const uint64_t now = now_ns();
    const bool learn = budget_launch(&modules.learning, now) ||
                       __atomic_load_n(&modules.patched, __ATOMIC_RELAXED) > 0;
    const bool confirm = budget_launch(&modules.confirming, now) ||
                         __atomic_load_n(&modules.looking, __ATOMIC_RELAXED) > 0;
    return (learn ? TRACE_TO_LEARN : 0) | (confirm ? TRACE_TO_CONFIRM : 0);
}

bool module_may_learn(void)
{
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    bool may = is_affordable(&modules.learning);
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
    return may;
}

/* What is patched since it was loaded stays so until it is launched from, wanted or not. */
static bool is_due(const struct module *module)
{
    const struct budget *budget = module_payer(module);
    if (module->refused)
        return false;
    if (module->state == MODULE_PLAIN)
        return !module->kept && (module->wanted > 0 || module->awaited) &&
               is_affordable(budget ? budget : &modules.confirming);
    if (module->state != MODULE_PATCHED)
        return false;
    if (module->kept)
        return true;
    return module->launched &&
           (module->wanted == 0 ||
            (budget && !is_affordable(budget) && (module->taught || module->others >= UNPAID)));
}

void module_want(CUfunction handle, enum trace_request_for want)
{
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    struct module_function *function = modules_function(handle);
    if (function)
        want_more(function, want);
    if (function && function->module->state == MODULE_PLAIN && is_due(function->module))
        modules_changes_set(true);
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
}

/* What is wanted of it may come yet; and its module is patched where there is time by now. */
static bool is_waited_for(struct module_function *function)
{
    const struct module *module = function ? function->module : NULL;
    if (!module || module->kept || module->refused)
        return false;
    if (module->state == MODULE_PLAIN && is_due(module))
        modules_changes_set(true);
    return trace_request_outlasts_launch(&function->request, module->state == MODULE_PATCHED);
}

bool module_settle(CUfunction handle, bool launch)
{
    struct module *module, *next;
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    const bool waits = launch && is_waited_for(modules_function(handle));
    HASH_ITER(hh, modules.by_handle, module, next)
    {
        if (waits)
            break;
        struct module_function *function = module_function_find(module, handle);
        if (!function || function->request.what == TRACE_REQUEST_NOTHING)
            continue;
        want_no_more(function, launch);
        modules_changes_set(true);
    }
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
    return !waits;
}

/* If there is no time now, the request stays. */
static bool may_be_tried(struct module_function *function, enum trace_request_for want)
{
    if (function->module->state != MODULE_PLAIN || function->blind)
        return true;
    if (!trace_request_is_worth_a_try(&function->request))
        return false;
    const bool may =
        is_affordable(want == TRACE_REQUEST_TO_LEARN ? &modules.learning : &modules.confirming);
    if (!may)
        want_more(function, want);
    return may;
}

bool module_may_be_traced(CUfunction handle, enum trace_request_for want)
{
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    struct module_function *function = modules_function(handle);
    const bool kept = function && function->module->kept;
    const bool may = !function || (!kept && may_be_tried(function, want));
    if (kept)
        function->module->missed = true;
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
    return may;
}

bool module_may_trace(CUfunction handle)
{
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    const struct module_function *function = modules_function(handle);
    bool may = !function || function->blind || function->module->state == MODULE_PATCHED;
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
    return may;
}

/* ---- Launches ---- */

enum module_answer module_launch_begin(const Sanitizer_LaunchData *data,
                                       struct module_launch *launch)
{
    enum module_answer answer = MODULE_NOT_NOW;
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    struct module *module = modules_get(data->module, data->context);
    struct module_function *function =
        module ? function_want(module, launch->function, data->functionName, launch->want) : NULL;
    if (function && (function->blind || (function->copies && !launch->copies_known))) {
        answer = MODULE_BLIND;
    } else if (function && module->state == MODULE_PATCHED) {
        answer = MODULE_READY;
        launched_set(module);
        module->taught |= launch->want == TRACE_REQUEST_TO_LEARN || module->learning == 0;
        if (launch->want == TRACE_REQUEST_TO_LEARN)
            trace_request_catch(&function->request);
        if (function->request.what == TRACE_REQUEST_TO_CONFIRM) /* once */
            want_set(function, TRACE_REQUEST_NOTHING);
        else
            module->others = 0;
        if (module->wanted == 0)
            modules_changes_set(true);
        module->flying++;
        launch->module = module;
    } else if (function && is_due(module)) {
        modules_changes_set(true);
    }
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
    return answer;
}

/* It is patched, and that teaches nothing, so many times more. */
static void patience_wanes(struct module *module, unsigned times)
{
    module->others += times;
    if (module->others >= module->patience && module->wanted > 0) {
        module_give_up(module);
        module->patience *= module->patience < PATIENCE_MAX ? 2 : 1;
    }
    if (is_due(module))
        modules_changes_set(true);
}

bool module_launched(CUmodule handle)
{
    if (__atomic_load_n(&modules.patched, __ATOMIC_RELAXED) == 0)
        return false;
    __atomic_add_fetch(&modules.heard, 1, __ATOMIC_RELAXED);
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    struct module *module = modules_find(handle);
    bool patched = module && module->state != MODULE_PLAIN;
    if (module && module->state == MODULE_PATCHED) {
        launched_set(module);
        patience_wanes(module, 1);
    }
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
    return patched;
}

/* The program waits. A request ends after a while even if no launch of its function comes, because
 * csan listens to all launches meanwhile. `quiet`: the program requests nothing; then modules that
 * are patched since they were loaded, without a request, are due. */
static void patched_are_waited_for(bool quiet)
{
    struct module *module, *next;
    const unsigned heard = __atomic_exchange_n(&modules.heard, 0, __ATOMIC_RELAXED);
    const unsigned times = heard / HEARD;
    __atomic_add_fetch(&modules.heard, heard % HEARD, __ATOMIC_RELAXED);
    if (!quiet && times == 0)
        return;
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    HASH_ITER(hh, modules.by_handle, module, next)
    {
        if (module->state != MODULE_PATCHED)
            continue;
        const bool was_wanted = module->wanted > 0;
        patience_wanes(module, times + quiet);
        if (module->wanted > 0 || module->launched || (!quiet && !was_wanted))
            continue;
        module->launched = true;
        modules_changes_set(true);
    }
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
}

void module_waited(void)
{
    if (!__atomic_load_n(&modules.listening, __ATOMIC_RELAXED))
        return;
    bool quiet = __atomic_add_fetch(&modules.quiet, 1, __ATOMIC_RELAXED) >= QUIET;
    if (__atomic_load_n(&modules.patched, __ATOMIC_RELAXED) > 0)
        patched_are_waited_for(quiet);
    else
        __atomic_store_n(&modules.heard, 0, __ATOMIC_RELAXED);
}

void module_listen_no_more(const struct sanitizer_api *api)
{
    if (__atomic_load_n(&modules.listening, __ATOMIC_RELAXED) &&
        __atomic_load_n(&modules.patched, __ATOMIC_RELAXED) == 0 && changes_begin()) {
        if (__atomic_load_n(&modules.patched, __ATOMIC_RELAXED) ==
            0) /* it grows with `calls` only */
            listen(api, false);
        changes_end();
    }
}

unsigned module_never_caught(void)
{
    unsigned count = 0;
    struct module_function *function, *next;
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    HASH_ITER(all, modules.functions, function, next)
    {
        count += trace_request_is_never_caught(&function->request);
    }
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
    return count;
}

/* ---- Records ---- */

struct granularity module_granularity(CUfunction handle, uint64_t threads, uint64_t reach)
{
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    const struct module_function *function = modules_function(handle);
    struct granularity granularity =
        granularity_for(function ? &function->granularity : NULL, threads, reach);
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
    return granularity;
}

void module_too_wide(const struct module_launch *launch)
{
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    struct module_function *function = module_function_find(launch->module, launch->function);
    if (function)
        granularity_too_wide(&function->granularity);
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
}

void module_too_small(const struct module_launch *launch, uint32_t largest)
{
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    struct module_function *function = module_function_find(launch->module, launch->function);
    if (function)
        granularity_too_small(&function->granularity, &launch->granularity, launch->threads,
                              largest);
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
}

bool module_record_is_likely(const struct module_launch *launch, bool empty)
{
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    struct module_function *function = module_function_find(launch->module, launch->function);
    bool likely = !empty || (function && !function->touched);
    if (function && !empty)
        function->touched = true;
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
    return likely;
}

void module_launch_end(const struct module_launch *launch)
{
    if (!launch->module)
        return;
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    launch->module->flying--;
    modules_drop(launch->module);
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
}

/* ---- Changes ---- */

bool module_changes_wait(void)
{
    return __atomic_load_n(&modules.changes, __ATOMIC_RELAXED) ||
           __atomic_load_n(&modules.busy, __ATOMIC_RELAXED);
}

static void tries_begin(struct module *module)
{
    struct module_function *function, *next;
    HASH_ITER(hh, module->functions, function, next)
    {
        trace_request_try_begins(&function->request);
    }
}

/* With both locks; the table's is given back meanwhile. A launch that begins meanwhile finds the
 * module changing and is not traced. */
static void change(const struct sanitizer_api *api, struct module *module)
{
    enum module_state from = module->state;
    enum module_state to = from == MODULE_PLAIN ? MODULE_PATCHED : MODULE_PLAIN;
    const bool confirms =
        from == MODULE_PATCHED ? module->confirms : module->wanted > 0 && module->learning == 0;
    struct budget *budget = confirms ? &modules.confirming : module_payer(module);
    if (from == MODULE_PATCHED)
        module_give_up(module);
    module_state_set(module, MODULE_CHANGING, false);
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
    uint64_t begin_ns = now_ns();
    SanitizerResult result =
        to == MODULE_PATCHED ? patch(api, module) : api->unpatch_module(module->handle);
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    if (to == MODULE_PATCHED && result == SANITIZER_SUCCESS && !module->gone &&
        (module->taken > 0 || module->kept || modules.hidden > 0)) {
        lock_order_give(LOCK_TRACER_MODULES,
                        &modules.mutex); /* by a graph that could not wait (patch_gate.h) */
        if (api->unpatch_module(module->handle) == SANITIZER_SUCCESS)
            to = MODULE_PLAIN;
        lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    }
    if (budget)
        budget_spend(budget, begin_ns, now_ns());
    module->refused = result != SANITIZER_SUCCESS;
    if (module->refused && !module->gone)
        refuse(result);
    if (module->refused || module->gone)
        to = module->gone ? MODULE_PLAIN : from;
    module_confirms_set(module, confirms && to == MODULE_PATCHED && !module->refused);
    if (to == MODULE_PATCHED && from != to)
        tries_begin(module);
    module->awaited = false;
    module_state_set(module, to, to == from);
    modules_drop(module);
}

/* One that is due, can be changed now, and lies in that context; *rest: others are due. */
static struct module *change_next(CUcontext context, bool *rest)
{
    struct module *module, *next, *found = NULL;
    *rest = false;
    HASH_ITER(hh, modules.by_handle, module, next)
    {
        if (!is_due(module))
            continue;
        if (!found && module->context == context && module->flying == 0)
            found = module;
        else
            *rest = true;
    }
    return found;
}

static bool change_one(const struct sanitizer_api *api, CUcontext context)
{
    bool rest;
    if (patch_gate_is_forced())
        return false;
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    struct module *module = change_next(context, &rest);
    const bool found = module != NULL;
    modules_changes_set(found || rest);
    if (found)
        change(api, module);
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
    return found;
}

static bool rests(bool (*idle)(void))
{
    if (!idle())
        return false;
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    budget_idle(&modules.learning, now_ns());
    budget_idle(&modules.confirming, now_ns());
    __atomic_store_n(&modules.busy, false, __ATOMIC_RELAXED);
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
    return true;
}

void module_changes_make(const struct sanitizer_api *api, CUcontext context, bool (*idle)(void))
{
    /* Launches may come in between, before the gate is closed. */
    for (bool more = rests(idle); more && changes_begin();) {
        more = idle() && change_one(api, context);
        changes_end();
    }
}

/* ---- Modules come and go ---- */

void module_loaded(const struct sanitizer_api *api, const Sanitizer_ResourceModuleData *data,
                   bool wanted)
{
    struct machine_code *code = machine_code_read(data->pCubin, data->cubinSize);
    bool calls = lock_order_try(LOCK_TRACER_CALLS, pthread_mutex_trylock(&modules.calls)) == 0;
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    struct module *module = modules_find(data->module);
    if (module) /* its end was not seen */
        modules_forget(module);
    module = modules_get(data->module, data->context);
    if (module)
        module->code = code;
    else
        machine_code_free(code);
    if (module && calls && (wanted || (modules.eager && modules.listening))) /* else later */
        change(api, module);
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
    if (calls)
        lock_order_give(LOCK_TRACER_CALLS, &modules.calls);
}

void module_unloads(CUmodule handle)
{
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    struct module *module = modules_find(handle);
    if (module)
        modules_forget(module);
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
}

void module_context_ends(CUcontext context)
{
    struct module *module, *next;
    lock_order_take(LOCK_TRACER_MODULES, &modules.mutex);
    HASH_ITER(hh, modules.by_handle, module, next)
    {
        if (module->context == context)
            modules_forget(module);
    }
    lock_order_give(LOCK_TRACER_MODULES, &modules.mutex);
}
