/* Patched modules. See module.h. */
#include "runtime/tracer/module.h"
#include "runtime/hook/handle_table.h"
#include "runtime/tracer/budget.h"
#include "runtime/tracer/gate.h"
#include "runtime/sass/machine_code.h"
#include "runtime/tracer/patches.h"
#include "runtime/sass/step.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A function whose launches were wanted. */
struct function {
    CUfunction handle;
    struct module *module;
    struct wish wish;
    struct grain_history grain;
    bool blind;
    bool copies;        /* through tensor maps that are told */
    bool touched;       /* something, once */
    UT_hash_handle hh;  /* in its module's */
    UT_hash_handle all; /* in the table's, of the newest with that handle */
};

enum module_state { MODULE_PLAIN, MODULE_CHANGING, MODULE_PATCHED };

struct module {
    CUmodule handle;
    CUcontext context;
    enum module_state state;
    bool launched;     /* since its state is what it is */
    bool taught;       /* and traced for what it was patched for */
    bool confirms;     /* it was patched to confirm only */
    bool refused;      /* to be changed */
    bool awaited;      /* to be patched, by a graph that is about to be made of it */
    bool passing;      /* for that alone */
    unsigned taken;    /* by such graphs, as it is when it is not patched */
    bool kept;         /* so, for the graph that was made: not to be patched */
    bool missed;       /* launches were wanted since */
    bool gone;         /* unloaded: in no table, and freed by whoever holds it last */
    unsigned wanted;   /* functions, for whatever */
    unsigned learning; /* of which to learn */
    unsigned flying;   /* launches that began and have not ended */
    unsigned others;   /* launches of it and nodes of graphs that teach nothing, and waits of a
                          program that wants nothing, since it was patched or one did; and one for
                          so many of any module's that were heard of */
    unsigned patience; /* how many make what is wanted of it forgotten */
    struct machine_code *code;
    struct function *functions;
    UT_hash_handle hh;
};

/* What is launched once and never again would keep its module patched for ever, as would nodes of
 * graphs that are not wanted any more. Each time that it is given up, it is waited for twice as
 * long the next.
 */
enum { PATIENCE = 256, PATIENCE_MAX = 1 << 24, HEARD = 32 };

/* Where there is no time left, what was patched while there was is so for so many of them. */
enum { UNPAID = 8 };

#define MS UINT64_C(1000000)

/* So many times the program waits for the device, and nothing is wanted, before what is patched all
 * the same counts as unwanted. */
enum { QUIET = 4 };

static struct {
    Sanitizer_SubscriberHandle subscriber;
    bool eager;
    /* Held while the Sanitizer API is called, which wants its callers one by one. A callback tries
     * it, for PATCHES_WAIT_MS at most, and does without. */
    pthread_mutex_t calls;
    bool listening;        /* of `calls`; atomic */
    unsigned quiet;        /* atomic */
    pthread_mutex_t mutex; /* of what follows; no call is made with it */
    struct module *modules;
    struct function *functions;
    struct budget learning, confirming;
    unsigned patched; /* modules, or about to be; atomic */
    unsigned looking; /* modules that are patched to confirm; atomic */
    bool busy;        /* code runs that somebody pays for, as far as is known; atomic */
    bool changes;     /* that wait; atomic */
    unsigned heard;   /* launches, of which patience has not waned yet; atomic */
    unsigned refused; /* modules and contexts */
    unsigned hidden;  /* graphs that are being made of any modules */
    SanitizerResult refusal;
} table = {.calls = PTHREAD_MUTEX_INITIALIZER,
           .mutex = PTHREAD_MUTEX_INITIALIZER,
           .learning = {.part = 20},
           .confirming = {.part = 100}};

static void changes_set(bool wait)
{
    __atomic_store_n(&table.changes, wait, __ATOMIC_RELAXED);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void state_set(struct module *module, enum module_state state, bool launched)
{
    unsigned before = module->state != MODULE_PLAIN;
    module->state = state;
    module->launched = launched;
    module->taught = false;
    module->others = 0;
    __atomic_add_fetch(&table.patched, (state != MODULE_PLAIN) - before, __ATOMIC_RELAXED);
}

static void confirms_set(struct module *module, bool confirms)
{
    __atomic_add_fetch(&table.looking, (unsigned)confirms - module->confirms, __ATOMIC_RELAXED);
    module->confirms = confirms;
}

/* Whose time it takes that the module is patched; NULL: nobody's, nothing was asked of it. */
static struct budget *payer(const struct module *module)
{
    if (module->learning > 0 || module->awaited)
        return &table.learning;
    return module->confirms ? &table.confirming : NULL;
}

/* Patched code is launched. */
static void launched_set(struct module *module)
{
    struct budget *budget = payer(module);
    module->launched = true;
    if (!budget)
        return;
    budget_busy(budget, now_ns());
    __atomic_store_n(&table.busy, true, __ATOMIC_RELAXED);
}

static void refuse(SanitizerResult why)
{
    if (table.refused++ == 0)
        table.refusal = why;
}

unsigned module_refusals(SanitizerResult *first)
{
    pthread_mutex_lock(&table.mutex);
    unsigned count = table.refused;
    *first = table.refusal;
    pthread_mutex_unlock(&table.mutex);
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
    if (pthread_mutex_timedlock(&table.calls, &until) == 0) {
        result = patches_load(api, context);
        pthread_mutex_unlock(&table.calls);
    }
    if (result == SANITIZER_SUCCESS)
        return;
    pthread_mutex_lock(&table.mutex);
    refuse(result);
    pthread_mutex_unlock(&table.mutex);
}

static SanitizerResult listen(const struct sanitizer_api *api, bool on)
{
    SanitizerResult result = api->enable_domain(on, table.subscriber, SANITIZER_CB_DOMAIN_LAUNCH);
    if (result == SANITIZER_SUCCESS)
        result = api->enable_domain(on, table.subscriber, SANITIZER_CB_DOMAIN_GRAPHS);
    if (result == SANITIZER_SUCCESS)
        __atomic_store_n(&table.listening, on, __ATOMIC_RELAXED);
    return result;
}

SanitizerResult module_open(const struct sanitizer_api *api, Sanitizer_SubscriberHandle subscriber,
                            uint64_t learning_ms, uint64_t confirming_ms, bool eager)
{
    table.subscriber = subscriber;
    table.eager = eager;
    table.learning.allowance = learning_ms < UINT64_MAX / MS ? learning_ms * MS : UINT64_MAX;
    table.confirming.allowance = confirming_ms * MS;
    return eager ? listen(api, true) : SANITIZER_SUCCESS;
}

/* False: another thread is at it, or launches. */
static bool changes_begin(void)
{
    if (pthread_mutex_trylock(&table.calls) != 0)
        return false;
    if (gate_close())
        return true;
    pthread_mutex_unlock(&table.calls);
    return false;
}

static void changes_end(void)
{
    gate_open();
    pthread_mutex_unlock(&table.calls);
}

bool module_listen(const struct sanitizer_api *api)
{
    __atomic_store_n(&table.quiet, 0, __ATOMIC_RELAXED);
    if (__atomic_load_n(&table.listening, __ATOMIC_RELAXED))
        return true;
    if (!changes_begin())
        return false;
    bool listening = table.listening || listen(api, true) == SANITIZER_SUCCESS;
    changes_end();
    return listening;
}

static SanitizerResult patch(const struct sanitizer_api *api, struct module *module)
{
    SanitizerResult result = table.listening ? SANITIZER_SUCCESS : listen(api, true);
    return result == SANITIZER_SUCCESS ? patches_put(api, module->handle) : result;
}

/* ---- Modules and functions ---- */

static struct module *module_find(CUmodule handle)
{
    struct module *module = NULL;
    HASH_FIND_PTR(table.modules, &handle, module);
    return module;
}

static struct module *module_get(CUmodule handle, CUcontext context)
{
    struct module *module = module_find(handle);
    if (!module && (module = calloc(1, sizeof *module))) {
        module->handle = handle;
        module->context = context;
        module->patience = PATIENCE;
        HASH_ADD_PTR(table.modules, handle, module);
        if (!module->hh.tbl) { /* memory is short */
            free(module);
            module = NULL;
        }
    }
    return module;
}

static void module_free_unless_held(struct module *module)
{
    if (!module->gone || module->flying > 0 || module->state == MODULE_CHANGING)
        return;
    machine_code_free(module->code);
    free(module);
}

static struct function *function_newest(CUfunction handle)
{
    struct function *function = NULL;
    HASH_FIND(all, table.functions, &handle, sizeof handle, function);
    return function;
}

/* Handles come again for others once a module is unloaded: all that is known by them goes. */
static void module_forget(struct module *module)
{
    struct function *function, *next;
    HASH_ITER(hh, module->functions, function, next)
    {
        HASH_DEL(module->functions, function);
        if (function_newest(function->handle) == function)
            HASH_DELETE(all, table.functions, function);
        free(function);
    }
    if (module->state == MODULE_PATCHED) {
        confirms_set(module, false);
        state_set(module, MODULE_PLAIN, false);
    }
    HASH_DEL(table.modules, module);
    module->gone = true;
    module_free_unless_held(module);
}

static struct function *function_find(const struct module *module, CUfunction handle)
{
    struct function *function = NULL;
    HASH_FIND_PTR(module->functions, &handle, function);
    return function;
}

static struct function *function_create(struct module *module, CUfunction handle, const char *name)
{
    struct function *function = calloc(1, sizeof *function);
    if (!function)
        return NULL;
    function->handle = handle;
    function->module = module;
    function->blind = machine_code_is_blind(module->code, name);
    function->copies = machine_code_maps(module->code, name) != NULL;
    grain_history_init(&function->grain);
    HASH_ADD_PTR(module->functions, handle, function);
    if (!function->hh.tbl) { /* memory is short */
        free(function);
        return NULL;
    }
    struct function *before = function_newest(handle);
    if (before)
        HASH_DELETE(all, table.functions, before);
    HASH_ADD(all, table.functions, handle, sizeof handle, function);
    if (function->all.tbl)
        return function;
    HASH_DEL(module->functions, function);
    free(function);
    return NULL;
}

static void want_set(struct function *function, enum wish_for what)
{
    struct module *module = function->module;
    const enum wish_for before = function->wish.what;
    module->wanted += (what != WISH_NOTHING) - (before != WISH_NOTHING);
    module->learning += (what == WISH_TO_LEARN) - (before == WISH_TO_LEARN);
    wish_set(&function->wish, what);
}

static void want_more(struct function *function, enum wish_for what)
{
    if (function->wish.what < what && !function->blind)
        want_set(function, what);
}

/* `tried`: it was launched, if at all, and not as wanted. */
static void want_no_more(struct function *function, bool tried)
{
    const struct module *module = function->module;
    if (tried && module->state == MODULE_PATCHED && !module->kept)
        wish_try_ends(&function->wish);
    want_set(function, WISH_NOTHING);
}

/* Its functions are wanted no more, until they are asked for again. */
static void module_give_up(struct module *module)
{
    struct function *function, *next;
    HASH_ITER(hh, module->functions, function, next)
    {
        want_no_more(function, true);
    }
}

static struct function *function_want(struct module *module, CUfunction handle, const char *name,
                                      enum wish_for want)
{
    struct function *function = function_find(module, handle);
    if (!function)
        function = function_create(module, handle, name);
    if (function)
        want_more(function, want);
    return function;
}

struct reads *module_reads(CUmodule handle, const char *kernel, uint32_t words)
{
    pthread_mutex_lock(&table.mutex);
    const struct module *module = module_find(handle);
    struct reads *reads = module ? machine_code_reads(module->code, kernel, words) : NULL;
    pthread_mutex_unlock(&table.mutex);
    return reads;
}

uint32_t module_maps(CUmodule handle, const char *kernel, struct map_use *maps)
{
    pthread_mutex_lock(&table.mutex);
    const struct module *module = module_find(handle);
    const struct map_uses *found = module ? machine_code_maps(module->code, kernel) : NULL;
    const uint32_t count = found ? found->count : 0;
    if (count)
        memcpy(maps, found->uses, count * sizeof *maps);
    pthread_mutex_unlock(&table.mutex);
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
    const bool learn = budget_launch(&table.learning, now) ||
                       __atomic_load_n(&table.patched, __ATOMIC_RELAXED) > 0;
    const bool confirm = budget_launch(&table.confirming, now) ||
                         __atomic_load_n(&table.looking, __ATOMIC_RELAXED) > 0;
    return (learn ? TRACE_TO_LEARN : 0) | (confirm ? TRACE_TO_CONFIRM : 0);
}

bool module_may_learn(void)
{
    pthread_mutex_lock(&table.mutex);
    bool may = is_affordable(&table.learning);
    pthread_mutex_unlock(&table.mutex);
    return may;
}

/* What is patched since it was loaded stays so until it is launched from, wanted or not. */
static bool is_due(const struct module *module)
{
    const struct budget *budget = payer(module);
    if (module->refused)
        return false;
    if (module->state == MODULE_PLAIN)
        return !module->kept && (module->wanted > 0 || module->awaited) &&
               is_affordable(budget ? budget : &table.confirming);
    if (module->state != MODULE_PATCHED)
        return false;
    if (module->kept)
        return true;
    return module->launched &&
           (module->wanted == 0 ||
            (budget && !is_affordable(budget) && (module->taught || module->others >= UNPAID)));
}

void module_want(CUfunction handle, enum wish_for want)
{
    pthread_mutex_lock(&table.mutex);
    struct function *function = function_newest(handle);
    if (function)
        want_more(function, want);
    if (function && function->module->state == MODULE_PLAIN && is_due(function->module))
        changes_set(true);
    pthread_mutex_unlock(&table.mutex);
}

/* What is wanted of it may come yet; and its module is patched where there is time by now. */
static bool is_waited_for(struct function *function)
{
    const struct module *module = function ? function->module : NULL;
    if (!module || module->kept || module->refused)
        return false;
    if (module->state == MODULE_PLAIN && is_due(module))
        changes_set(true);
    return wish_outlasts_launch(&function->wish, module->state == MODULE_PATCHED);
}

bool module_settle(CUfunction handle, bool launch)
{
    struct module *module, *next;
    pthread_mutex_lock(&table.mutex);
    const bool waits = launch && is_waited_for(function_newest(handle));
    HASH_ITER(hh, table.modules, module, next)
    {
        if (waits)
            break;
        struct function *function = function_find(module, handle);
        if (!function || function->wish.what == WISH_NOTHING)
            continue;
        want_no_more(function, launch);
        changes_set(true);
    }
    pthread_mutex_unlock(&table.mutex);
    return !waits;
}

/* A wish for which there is no time now is kept. */
static bool may_be_tried(struct function *function, enum wish_for want)
{
    if (function->module->state != MODULE_PLAIN || function->blind)
        return true;
    if (!wish_is_worth_a_try(&function->wish))
        return false;
    const bool may = is_affordable(want == WISH_TO_LEARN ? &table.learning : &table.confirming);
    if (!may)
        want_more(function, want);
    return may;
}

bool module_may_be_traced(CUfunction handle, enum wish_for want)
{
    pthread_mutex_lock(&table.mutex);
    struct function *function = function_newest(handle);
    const bool kept = function && function->module->kept;
    const bool may = !function || (!kept && may_be_tried(function, want));
    if (kept)
        function->module->missed = true;
    pthread_mutex_unlock(&table.mutex);
    return may;
}

bool module_may_trace(CUfunction handle)
{
    pthread_mutex_lock(&table.mutex);
    const struct function *function = function_newest(handle);
    bool may = !function || function->blind || function->module->state == MODULE_PATCHED;
    pthread_mutex_unlock(&table.mutex);
    return may;
}

/* ---- Launches ---- */

enum module_answer module_launch_begin(const Sanitizer_LaunchData *data,
                                       struct module_launch *launch)
{
    enum module_answer answer = MODULE_NOT_NOW;
    pthread_mutex_lock(&table.mutex);
    struct module *module = module_get(data->module, data->context);
    struct function *function =
        module ? function_want(module, launch->function, data->functionName, launch->want) : NULL;
    if (function && (function->blind || (function->copies && !launch->copies_told))) {
        answer = MODULE_BLIND;
    } else if (function && module->state == MODULE_PATCHED) {
        answer = MODULE_READY;
        launched_set(module);
        module->taught |= launch->want == WISH_TO_LEARN || module->learning == 0;
        if (launch->want == WISH_TO_LEARN)
            wish_catch(&function->wish);
        if (function->wish.what == WISH_TO_CONFIRM) /* once */
            want_set(function, WISH_NOTHING);
        else
            module->others = 0;
        if (module->wanted == 0)
            changes_set(true);
        module->flying++;
        launch->module = module;
    } else if (function && is_due(module)) {
        changes_set(true);
    }
    pthread_mutex_unlock(&table.mutex);
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
        changes_set(true);
}

bool module_launched(CUmodule handle)
{
    if (__atomic_load_n(&table.patched, __ATOMIC_RELAXED) == 0)
        return false;
    __atomic_add_fetch(&table.heard, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&table.mutex);
    struct module *module = module_find(handle);
    bool patched = module && module->state != MODULE_PLAIN;
    if (module && module->state == MODULE_PATCHED) {
        launched_set(module);
        patience_wanes(module, 1);
    }
    pthread_mutex_unlock(&table.mutex);
    return patched;
}

/* The program waits. What somebody wanted is not waited for for ever, though nothing of it is
 * launched: meanwhile all launches are heard of. `quiet`: it wants nothing; what is patched since
 * it was loaded and nobody asked for is due. */
static void patched_are_waited_for(bool quiet)
{
    struct module *module, *next;
    const unsigned heard = __atomic_exchange_n(&table.heard, 0, __ATOMIC_RELAXED);
    const unsigned times = heard / HEARD;
    __atomic_add_fetch(&table.heard, heard % HEARD, __ATOMIC_RELAXED);
    if (!quiet && times == 0)
        return;
    pthread_mutex_lock(&table.mutex);
    HASH_ITER(hh, table.modules, module, next)
    {
        if (module->state != MODULE_PATCHED)
            continue;
        const bool was_wanted = module->wanted > 0;
        patience_wanes(module, times + quiet);
        if (module->wanted > 0 || module->launched || (!quiet && !was_wanted))
            continue;
        module->launched = true;
        changes_set(true);
    }
    pthread_mutex_unlock(&table.mutex);
}

void module_waited(void)
{
    if (!__atomic_load_n(&table.listening, __ATOMIC_RELAXED))
        return;
    bool quiet = __atomic_add_fetch(&table.quiet, 1, __ATOMIC_RELAXED) >= QUIET;
    if (__atomic_load_n(&table.patched, __ATOMIC_RELAXED) > 0)
        patched_are_waited_for(quiet);
    else
        __atomic_store_n(&table.heard, 0, __ATOMIC_RELAXED);
}

void module_listen_no_more(const struct sanitizer_api *api)
{
    if (__atomic_load_n(&table.listening, __ATOMIC_RELAXED) &&
        __atomic_load_n(&table.patched, __ATOMIC_RELAXED) == 0 && changes_begin()) {
        if (__atomic_load_n(&table.patched, __ATOMIC_RELAXED) == 0) /* it grows with `calls` only */
            listen(api, false);
        changes_end();
    }
}

/* ---- Executable graphs ---- */

void module_make_ready(CUmodule handle, CUcontext context, bool launches_wanted)
{
    pthread_mutex_lock(&table.mutex);
    struct module *module = module_get(handle, context);
    if (module && module->state == MODULE_PLAIN && !module->kept) {
        module->passing = !launches_wanted && (module->passing || !module->awaited);
        module->awaited = true;
        changes_set(true);
    }
    pthread_mutex_unlock(&table.mutex);
}

bool module_is_taken(CUmodule handle, CUcontext context)
{
    pthread_mutex_lock(&table.mutex);
    struct module *module = module_get(handle, context);
    if (module)
        module->taken += module->state != MODULE_PATCHED;
    const bool plain = !module || module->state != MODULE_PATCHED;
    pthread_mutex_unlock(&table.mutex);
    return plain;
}

void module_all_are_taken(void)
{
    pthread_mutex_lock(&table.mutex);
    table.hidden++;
    pthread_mutex_unlock(&table.mutex);
}

/* Changes that are due are made by whoever made the graph. */
static void keep(struct module *module)
{
    module->kept = true;
    if (module->state == MODULE_PATCHED)
        changes_set(true);
}

bool module_was_taken(CUmodule handle, CUcontext context, bool plain, bool made)
{
    pthread_mutex_lock(&table.mutex);
    struct module *module = module_get(handle, context);
    if (module && module->passing && module->state == MODULE_PATCHED) {
        module->launched = true;
        changes_set(true);
    }
    if (module && made && (plain || module->state != MODULE_PATCHED))
        keep(module);
    if (module) {
        module->awaited = module->passing = false;
        module->taken -= plain && module->taken > 0;
    }
    pthread_mutex_unlock(&table.mutex);
    return module != NULL;
}

void module_all_were_taken(bool made)
{
    struct module *module, *next;
    pthread_mutex_lock(&table.mutex);
    table.hidden--;
    HASH_ITER(hh, table.modules, module, next)
    {
        if (made)
            keep(module);
    }
    pthread_mutex_unlock(&table.mutex);
}

unsigned module_kept(void)
{
    unsigned count = 0;
    struct module *module, *next;
    pthread_mutex_lock(&table.mutex);
    HASH_ITER(hh, table.modules, module, next)
    {
        count += module->kept && module->missed;
    }
    pthread_mutex_unlock(&table.mutex);
    return count;
}

unsigned module_never_caught(void)
{
    unsigned count = 0;
    struct function *function, *next;
    pthread_mutex_lock(&table.mutex);
    HASH_ITER(all, table.functions, function, next)
    {
        count += wish_is_never_caught(&function->wish);
    }
    pthread_mutex_unlock(&table.mutex);
    return count;
}

/* ---- Records ---- */

struct grain module_grain(CUfunction handle, uint64_t threads, uint64_t reach)
{
    pthread_mutex_lock(&table.mutex);
    const struct function *function = function_newest(handle);
    struct grain grain = grain_for(function ? &function->grain : NULL, threads, reach);
    pthread_mutex_unlock(&table.mutex);
    return grain;
}

void module_too_wide(const struct module_launch *launch)
{
    pthread_mutex_lock(&table.mutex);
    struct function *function = function_find(launch->module, launch->function);
    if (function)
        grain_too_wide(&function->grain);
    pthread_mutex_unlock(&table.mutex);
}

void module_too_small(const struct module_launch *launch, uint32_t largest)
{
    pthread_mutex_lock(&table.mutex);
    struct function *function = function_find(launch->module, launch->function);
    if (function)
        grain_too_small(&function->grain, &launch->grain, launch->threads, largest);
    pthread_mutex_unlock(&table.mutex);
}

bool module_record_is_likely(const struct module_launch *launch, bool empty)
{
    pthread_mutex_lock(&table.mutex);
    struct function *function = function_find(launch->module, launch->function);
    bool likely = !empty || (function && !function->touched);
    if (function && !empty)
        function->touched = true;
    pthread_mutex_unlock(&table.mutex);
    return likely;
}

void module_launch_end(const struct module_launch *launch)
{
    if (!launch->module)
        return;
    pthread_mutex_lock(&table.mutex);
    launch->module->flying--;
    module_free_unless_held(launch->module);
    pthread_mutex_unlock(&table.mutex);
}

/* ---- Changes ---- */

bool module_changes_wait(void)
{
    return __atomic_load_n(&table.changes, __ATOMIC_RELAXED) ||
           __atomic_load_n(&table.busy, __ATOMIC_RELAXED);
}

static void tries_begin(struct module *module)
{
    struct function *function, *next;
    HASH_ITER(hh, module->functions, function, next)
    {
        wish_try_begins(&function->wish);
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
    struct budget *budget = confirms ? &table.confirming : payer(module);
    if (from == MODULE_PATCHED)
        module_give_up(module);
    state_set(module, MODULE_CHANGING, false);
    pthread_mutex_unlock(&table.mutex);
    uint64_t begin_ns = now_ns();
    SanitizerResult result =
        to == MODULE_PATCHED ? patch(api, module) : api->unpatch_module(module->handle);
    pthread_mutex_lock(&table.mutex);
    if (to == MODULE_PATCHED && result == SANITIZER_SUCCESS && !module->gone &&
        (module->taken > 0 || module->kept || table.hidden > 0)) {
        pthread_mutex_unlock(&table.mutex); /* by a graph that could not wait (gate.h) */
        if (api->unpatch_module(module->handle) == SANITIZER_SUCCESS)
            to = MODULE_PLAIN;
        pthread_mutex_lock(&table.mutex);
    }
    if (budget)
        budget_spend(budget, begin_ns, now_ns());
    module->refused = result != SANITIZER_SUCCESS;
    if (module->refused && !module->gone)
        refuse(result);
    if (module->refused || module->gone)
        to = module->gone ? MODULE_PLAIN : from;
    confirms_set(module, confirms && to == MODULE_PATCHED && !module->refused);
    if (to == MODULE_PATCHED && from != to)
        tries_begin(module);
    module->awaited = false;
    state_set(module, to, to == from);
    module_free_unless_held(module);
}

/* One that is due, can be changed now, and lies in that context; *rest: others are due. */
static struct module *change_next(CUcontext context, bool *rest)
{
    struct module *module, *next, *found = NULL;
    *rest = false;
    HASH_ITER(hh, table.modules, module, next)
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
    if (gate_is_forced())
        return false;
    pthread_mutex_lock(&table.mutex);
    struct module *module = change_next(context, &rest);
    const bool found = module != NULL;
    changes_set(found || rest);
    if (found)
        change(api, module);
    pthread_mutex_unlock(&table.mutex);
    return found;
}

static bool rests(bool (*idle)(void))
{
    if (!idle())
        return false;
    pthread_mutex_lock(&table.mutex);
    budget_idle(&table.learning, now_ns());
    budget_idle(&table.confirming, now_ns());
    __atomic_store_n(&table.busy, false, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&table.mutex);
    return true;
}

void module_changes_make(const struct sanitizer_api *api, CUcontext context, bool (*idle)(void))
{
    /* Launches may come in between, and before the gate is closed. */
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
    bool calls = pthread_mutex_trylock(&table.calls) == 0;
    pthread_mutex_lock(&table.mutex);
    struct module *module = module_find(data->module);
    if (module) /* its end was not seen */
        module_forget(module);
    module = module_get(data->module, data->context);
    if (module)
        module->code = code;
    else
        machine_code_free(code);
    if (module && calls && (wanted || (table.eager && table.listening))) /* else later */
        change(api, module);
    pthread_mutex_unlock(&table.mutex);
    if (calls)
        pthread_mutex_unlock(&table.calls);
}

void module_unloads(CUmodule handle)
{
    pthread_mutex_lock(&table.mutex);
    struct module *module = module_find(handle);
    if (module)
        module_forget(module);
    pthread_mutex_unlock(&table.mutex);
}

void module_context_ends(CUcontext context)
{
    struct module *module, *next;
    pthread_mutex_lock(&table.mutex);
    HASH_ITER(hh, table.modules, module, next)
    {
        if (module->context == context)
            module_forget(module);
    }
    pthread_mutex_unlock(&table.mutex);
}
