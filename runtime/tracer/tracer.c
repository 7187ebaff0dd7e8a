/* The tracer of a GPU: a source of traces (runtime/hook/observe/trace_source.h). For the requested
 * launches it patches a kernel's machine code with NVIDIA's Sanitizer API (Compute Sanitizer API
 * Reference Manual, Patching API). When there are no requests, it removes the patch.
 *
 * A traced launch has a record in device memory (buffer.h). The launch callback, within the
 * driver's call, attaches the record to the launch if the kernel's module is patched (module.h).
 * After the call csan records an event behind the launch, and the reader reports (reader.h). The
 * program waits for none of this. */
#include "runtime/hook/session/guard.h"
#include "runtime/hook/interpose/driver_thread.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/observe/trace_source.h"
#include "runtime/tracer/api.h"
#include "runtime/tracer/buffer.h"
#include "runtime/tracer/first_launch.h"
#include "runtime/tracer/patch_gate.h"
#include "runtime/tracer/module.h"
#include "runtime/tracer/module_graph.h"
#include "runtime/tracer/trace_context.h"
#include "runtime/tracer/reader.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const struct sanitizer_api *api;
    bool prepared;
    const char *why; /* there are no traces; NULL: there are */
    uint64_t ids;    /* atomic */
    void *kernel_get_function, *func_get_module, *push, *pop;
} tracer;

/* The calling thread's launch in the making, only while its hook runs; and the number of its
 * newest. */
static __thread struct watch *own __attribute__((tls_model("initial-exec")));
static __thread uint64_t own_last __attribute__((tls_model("initial-exec")));
/* And the nodes of the graph that it launches, and whether no other launch is under way meanwhile.
 */
static __thread struct watch *own_nodes __attribute__((tls_model("initial-exec")));
static __thread bool own_alone __attribute__((tls_model("initial-exec")));
/* What the calling thread loads now it loads for a launch that may be traced. */
static __thread bool own_load __attribute__((tls_model("initial-exec")));

/* ---- The launch in the making ---- */

/* Withdraws the launch's trace. A launch that the driver had begun may have reached the device. */
static void own_drop(void)
{
    struct watch *watch = own;
    own = NULL;
    if (watch && watch->id) {
        watch->discarded = true;
        reader_take(watch);
    } else if (watch) {
        watch_drop(watch);
    }
}

/* Asked right after the driver's call: the launch is marked, and goes to the reader. */
static uint64_t tracer_last_launch(void)
{
    struct watch *watch = own;
    if (watch && watch->id) {
        own = NULL;
        own_last = watch->id;
        reader_take(watch);
    } else if (watch) {
        own_drop();
    }
    return own_last;
}

/* ---- Callbacks ---- */

static void watch_begins(struct watch *watch)
{
    watch->id = __atomic_add_fetch(&tracer.ids, 1, __ATOMIC_RELAXED);
}

/* A launch by itself is given its own record. Nodes of a graph are so as far as the driver's
 * streams for them differ, else they share the last one's: those of a chain do, whatever their
 * kernels. A function's data, set within the callback for its node, is that function's for this
 * launch alone, also where earlier ones have not begun (all seen on an H200, driver 580.159.04). */
static SanitizerResult record_give(const Sanitizer_LaunchData *data, bool is_node, uint64_t record)
{
    const void *userdata = (const void *)(uintptr_t)record;
    return is_node ? tracer.api->set_function_data(data->function, userdata)
                   : tracer.api->set_launch_data(data->hLaunch, data->function, data->hStream,
                                                 userdata);
}

/* Patched code uses whatever userdata it finds, so csan must set it to none (otherwise graph nodes
 * failed with an illegal address on an H200, driver 580). */
static void launch_untraced(const Sanitizer_LaunchData *data, bool is_node)
{
    if (module_launched(data->module))
        record_give(data, is_node, 0);
}

/* The module is patched: its launch is given the record. */
static bool launch_traced(const Sanitizer_LaunchData *data, bool is_node, struct watch *watch)
{
    uint64_t record = record_userdata(watch->buffer->record, watch->launch.granularity.shift,
                                      watch->buffer->size);
    if (record_give(data, is_node, record) == SANITIZER_SUCCESS) {
        watch_begins(watch);
        return true;
    }
    module_launch_end(&watch->launch);
    watch->launch.module = NULL;
    launch_untraced(data, is_node);
    return false;
}

/* Of a launch that is to be traced. A CUkernel is launched in its stream's context (CUDA Driver
 * API, cuLaunchKernel), which may be another than the current one that the record is of: on another
 * device the patch would fault. False: it is not traced. */
static bool watch_launch(const Sanitizer_LaunchData *data, bool is_node, struct watch *watch)
{
    enum module_answer answer = data->context == buffer_context(watch->buffer)
                                    ? module_launch_begin(data, &watch->launch)
                                    : MODULE_NOT_NOW;
    if (answer == MODULE_READY)
        return launch_traced(data, is_node, watch);
    watch->blind = answer == MODULE_BLIND;
    if (watch->blind)
        watch_begins(watch);
    launch_untraced(data, is_node);
    return watch->blind;
}

/* Within the driver's call, on the thread that launches. */
static void launch_begins(const Sanitizer_LaunchData *data)
{
    if (!own || own->id != 0)
        launch_untraced(data, false);
    else if (!watch_launch(data, false, own))
        own_drop();
}

/* The place in the list of the node's; what it points to may be NULL. */
static struct watch **own_node(CUgraphNode node)
{
    struct watch **at = &own_nodes;
    while (*at && (*at)->node != node)
        at = &(*at)->next;
    return at;
}

/* Finds the node by its function, which no other node has: after its graph is destroyed, the driver
 * reports a node by another handle than the graph had (seen on an H200, driver 580.159.04). */
static struct watch *own_node_of(CUfunction function)
{
    struct watch *watch = own_nodes;
    while (watch && watch->function != function)
        watch = watch->next;
    return watch;
}

/* Nodes of one function share what the last one is given: should there be others after all, that is
 * nothing, and the record stays empty. */
static void node_begins(const Sanitizer_GraphNodeLaunchData *node)
{
    const Sanitizer_LaunchData *data = &node->launchData;
    if (node->nodeType != CU_GRAPH_NODE_TYPE_KERNEL)
        return;
    struct watch *watch = own_alone && !node->isGraphUpload ? own_node_of(data->function) : NULL;
    if (!watch || watch->id != 0) {
        launch_untraced(data, true);
        return;
    }
    watch_launch(data, true, watch);
}

static void resource_changes(Sanitizer_CallbackId id, const void *data)
{
    const Sanitizer_ResourceModuleData *module = data;
    const Sanitizer_ResourceContextData *context = data;
    switch (id) {
    case SANITIZER_CBID_RESOURCE_CONTEXT_CREATION_FINISHED:
        module_patches_load(tracer.api, context->context);
        first_launch_owe(context->context);
        break;
    case SANITIZER_CBID_RESOURCE_MODULE_LOADED:
        module_loaded(tracer.api, module, own_load);
        break;
    case SANITIZER_CBID_RESOURCE_MODULE_UNLOAD_STARTING:
        module_unloads(module->module);
        break;
    case SANITIZER_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
        first_launch_forget(context->context);
        module_context_ends(context->context);
        trace_context_close(context->context);
        break;
    default:
        break;
    }
}

/* A forked child is still subscribed, with csan off and locks that nobody may release. */
static void called_back(void *user, Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id,
                        const void *data)
{
    const uint32_t depth = guard_self.depth;
    (void)user;
    if (__atomic_load_n(&session_state, __ATOMIC_RELAXED) != SESSION_ON || first_launch_is_made())
        return;
    guard_self.depth = 1; /* what the API calls is csan's own */
    if (domain == SANITIZER_CB_DOMAIN_LAUNCH && id == SANITIZER_CBID_LAUNCH_BEGIN)
        launch_begins(data);
    else if (domain == SANITIZER_CB_DOMAIN_GRAPHS && id == SANITIZER_CBID_GRAPHS_NODE_LAUNCH_BEGIN)
        node_begins(data);
    else if (domain == SANITIZER_CB_DOMAIN_RESOURCE)
        resource_changes(id, data);
    guard_self.depth = depth;
}

/* ---- The source ---- */

/* Where every launch is to be traced, that takes what it takes. */
static uint64_t learning_limit(void)
{
    const struct session_options *options = session_options();
    bool all = options->access.traced_first || options->verify_ranges;
    return all ? UINT64_MAX : (uint64_t)options->learn_warmup_ms;
}

/* Contexts and modules made before this are not seen, so it is done before the driver starts. */
static void tracer_prepare(bool asked)
{
    static Sanitizer_SubscriberHandle subscriber;
    const bool traces = session_options()->learn_memory_mb > 0;
    const struct sanitizer_api *api = traces ? sanitizer_api_open(&tracer.why) : NULL;
    if (!traces) /* then no code is to be patched */
        tracer.why = "learn_memory_mb=0 gives it no memory";
    if (!api)
        return;
    tracer.api = api;
    SanitizerResult result = api->subscribe(&subscriber, called_back, NULL);
    if (result == SANITIZER_SUCCESS)
        result = api->enable_domain(1, subscriber, SANITIZER_CB_DOMAIN_RESOURCE);
    if (result == SANITIZER_SUCCESS)
        result = module_open(api, subscriber, learning_limit(),
                             (uint64_t)session_options()->learn_confirm_ms, asked);
    if (result == SANITIZER_ERROR_MAX_LIMIT_REACHED)
        tracer.why = "another tool has the driver's tools interface";
    else if (result != SANITIZER_SUCCESS)
        tracer.why = sanitizer_api_text(api, result);
    tracer.prepared = result == SANITIZER_SUCCESS;
}

/* `prepared` does not change once the driver runs. */
static void tracer_launch_begins(void)
{
    if (!tracer.prepared)
        return;
    own_alone = own_nodes && patch_gate_close();
    if (!own_alone)
        patch_gate_enter();
}

static void tracer_launch_ends(void)
{
    if (!tracer.prepared)
        return;
    const bool mixed = own_alone && !patch_gate_open();
    for (struct watch *watch = own_nodes; watch; watch = watch->next)
        watch->mixed |= mixed;
    if (!own_alone)
        patch_gate_leave();
    own_alone = false;
}

static void tracer_context_made(void)
{
    if (!first_launch_is_owed())
        return;
    CUstreamCaptureMode mode = driver_capture_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    first_launch_make();
    driver_capture_mode(mode);
}

static bool tracer_open(device_trace_done *done, void *user)
{
    if (!tracer.prepared)
        return false;
    if (!reader_start(done, user))
        tracer.why = "no thread could be started";
    return !tracer.why;
}

static void changes_make(void)
{
    if (!module_changes_wait())
        return;
    CUstreamCaptureMode mode = driver_capture_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    CUcontext context = stream_current_context();
    if (context)
        module_changes_make(tracer.api, context, stream_context_is_idle);
    driver_capture_mode(mode);
}

static void tracer_waited(void)
{
    module_waited();
    changes_make();
    module_listen_no_more(tracer.api);
}

/* With a record; NULL: there is none now. */
static struct watch *watch_make(const struct trace_want *what)
{
    struct module_launch launch = {
        .function = what->function,
        .want = what->confirms ? TRACE_REQUEST_TO_CONFIRM : TRACE_REQUEST_TO_LEARN,
        .threads = what->threads,
        .copies_known = what->maps_are_known,
        .granularity = module_granularity(what->function, what->threads, what->reach)};
    uint32_t largest;
    CUstreamCaptureMode mode = driver_capture_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    struct buffer *buffer = trace_context_record(launch.granularity.size, &largest);
    driver_capture_mode(mode);
    const size_t mapped_bytes = what->mapped_count * sizeof *what->mapped;
    struct watch *watch = buffer ? malloc(sizeof *watch + mapped_bytes) : NULL;
    if (watch) {
        launch.granularity.size = buffer->size;
        *watch = (struct watch){.stream = what->stream,
                                .thread_default = what->thread_default,
                                .buffer = buffer,
                                .largest = largest,
                                .mapped_count = what->mapped_count,
                                .launch = launch};
        if (mapped_bytes)
            memcpy(watch->mapped, what->mapped, mapped_bytes);
    } else if (buffer) {
        buffer_return(buffer);
    }
    return watch;
}

/* With a record, and the module patched as far as is known; NULL: it cannot be traced now. No
 * module is patched for a launch that has no record: that may never change, as where a larger one
 * is needed than the device has memory for. */
static struct watch *watch_want(const struct trace_want *what)
{
    const enum trace_request_for want =
        what->confirms ? TRACE_REQUEST_TO_CONFIRM : TRACE_REQUEST_TO_LEARN;
    if (what->collective || !module_may_be_traced(what->function, want))
        return NULL;
    struct watch *watch = watch_make(what);
    if (!watch)
        return NULL;
    if (!module_listen(tracer.api)) {
        watch_drop(watch);
        return NULL;
    }
    module_want(what->function, watch->launch.want);
    changes_make();
    if (module_may_trace(what->function))
        return watch;
    watch_drop(watch);
    return NULL;
}

static bool tracer_want(const struct trace_want *what)
{
    own_drop();
    own = what ? watch_want(what) : NULL;
    return own != NULL;
}

/* In the current context, and its function; NULL: there is none, or the driver does not know. A
 * kernel that is loaded at its first use is loaded now, as its launch would have done a moment
 * later (CUDA C++ Programming Guide, "Lazy Loading"). */
static CUmodule module_and_function_of(CUfunction handle, CUfunction *function)
{
    CUmodule module = NULL;
    *function = handle;
    PFN_cuFuncGetModule_v11000 get_module = (PFN_cuFuncGetModule_v11000)driver_function_cached(
        &tracer.func_get_module, "cuFuncGetModule");
    PFN_cuKernelGetFunction_v12000 get_function =
        (PFN_cuKernelGetFunction_v12000)driver_function_cached(&tracer.kernel_get_function,
                                                               "cuKernelGetFunction");
    if (!get_module || !stream_current_context())
        return NULL;
    if (get_module(&module, handle) == CUDA_SUCCESS)
        return module;
    if (!get_function || get_function(function, (CUkernel)handle) != CUDA_SUCCESS ||
        get_module(&module, *function) != CUDA_SUCCESS)
        return NULL;
    return module;
}

static CUmodule module_of(CUfunction handle)
{
    CUfunction function;
    return module_and_function_of(handle, &function);
}

static bool tracer_want_node(CUgraphNode node, const struct trace_want *what)
{
    struct watch *watch = *own_node(node) ? NULL : watch_want(what);
    if (!watch)
        return false;
    watch->node = node;
    CUstreamCaptureMode mode = driver_capture_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    module_and_function_of(what->function, &watch->function);
    driver_capture_mode(mode);
    watch->next = own_nodes;
    own_nodes = watch;
    return true;
}

static uint64_t tracer_node_launched(CUgraphNode node, bool succeeded)
{
    struct watch **at = own_node(node), *watch = *at;
    const uint64_t id = watch ? watch->id : 0;
    if (!watch)
        return 0;
    *at = watch->next;
    watch->next = NULL;
    watch->discarded = !succeeded;
    if (id)
        reader_take(watch);
    else
        watch_drop(watch);
    return succeeded ? id : 0;
}

/* The module of that kernel, and in which context; NULL: it is not known. */
static CUmodule module_of_code(const struct trace_code *kernel, CUcontext *context)
{
    PFN_cuCtxPushCurrent_v4000 push =
        (PFN_cuCtxPushCurrent_v4000)driver_function_cached(&tracer.push, "cuCtxPushCurrent_v2");
    PFN_cuCtxPopCurrent_v4000 pop =
        (PFN_cuCtxPopCurrent_v4000)driver_function_cached(&tracer.pop, "cuCtxPopCurrent_v2");
    *context = stream_current_context();
    if (!kernel->context || kernel->context == *context)
        return module_of(kernel->function);
    CUcontext popped;
    *context = kernel->context;
    if (!push || !pop || push(kernel->context) != CUDA_SUCCESS)
        return NULL;
    CUmodule module = module_of(kernel->function);
    pop(&popped);
    return module;
}

static bool tracer_changes_code(void)
{
    return tracer.prepared;
}

/* What is loaded for it is patched while it loads. */
static void make_ready(const struct trace_code *kernels, size_t count)
{
    CUcontext context;
    bool learned = false;
    for (size_t i = 0; i < count; i++)
        learned |= kernels[i].learned;
    if (!learned)
        return;
    own_load = module_may_learn() && module_listen(tracer.api);
    for (size_t i = 0; i < count; i++) {
        CUmodule module = kernels[i].learned ? module_of_code(&kernels[i], &context) : NULL;
        if (module)
            module_make_ready(module, context, kernels[i].wanted);
    }
    own_load = false;
    changes_make();
}

static void tracer_graph_begins(struct trace_code *kernels, size_t count, bool others)
{
    CUcontext context;
    CUstreamCaptureMode mode = driver_capture_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    make_ready(kernels, count);
    patch_gate_enter();
    if (others)
        module_all_are_taken();
    for (size_t i = 0; i < count; i++) {
        CUmodule module = module_of_code(&kernels[i], &context);
        kernels[i].plain = !module || module_is_taken(module, context);
    }
    driver_capture_mode(mode);
}

static void tracer_graph_ends(const struct trace_code *kernels, size_t count, bool others,
                              bool made)
{
    CUcontext context;
    bool unknown = false;
    CUstreamCaptureMode mode = driver_capture_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    for (size_t i = 0; i < count; i++) {
        CUmodule module = module_of_code(&kernels[i], &context);
        unknown |= !module || !module_was_taken(module, context, kernels[i].plain, made);
    }
    if (unknown && !others)
        module_all_are_taken();
    if (unknown || others)
        module_all_were_taken(made);
    driver_capture_mode(mode);
    patch_gate_leave();
    changes_make();
}

/* Its module, if it is loaded now, is patched at once, and the launch is heard of. */
static struct reads *tracer_reads(CUfunction function, const char *kernel, uint32_t words)
{
    CUstreamCaptureMode mode = driver_capture_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    own_load = module_may_learn() && module_listen(tracer.api);
    CUmodule module = module_of(function);
    own_load = false;
    driver_capture_mode(mode);
    return module ? module_reads(module, kernel, words) : NULL;
}

static uint32_t tracer_maps(CUfunction function, const char *kernel, struct map_use *maps)
{
    CUstreamCaptureMode mode = driver_capture_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    CUmodule module = module_of(function);
    driver_capture_mode(mode);
    return module ? module_maps(module, kernel, maps) : 0;
}

static const char *tracer_missing(void)
{
    static char text[160];
    SanitizerResult first;
    if (!tracer.why && !tracer.prepared)
        return "csan began after the driver did";
    unsigned refused = tracer.why ? 0 : module_refusals(&first);
    unsigned kept = tracer.why || refused ? 0 : module_kept();
    unsigned never = tracer.why || refused || kept ? 0 : module_never_caught();
    if (kept)
        snprintf(text, sizeof text, "graphs hold the code of %u module%s as it was", kept,
                 kept == 1 ? "" : "s");
    if (never)
        snprintf(
            text, sizeof text,
            "those of %u kernel%s came only while nothing was patched (access=exact traces all)",
            never, never == 1 ? "" : "s");
    if (!refused)
        return kept || never ? text : tracer.why;
    snprintf(text, sizeof text, "the Sanitizer API refused %u module%s or context%s (first: %s)",
             refused, refused == 1 ? "" : "s", refused == 1 ? "" : "s",
             sanitizer_api_text(tracer.api, first));
    return text;
}

const struct trace_source *tracer_source(void)
{
    static const struct trace_source source = {.name = TRACE_SOURCE_GPU,
                                               .prepare = tracer_prepare,
                                               .context_made = tracer_context_made,
                                               .open = tracer_open,
                                               .want = tracer_want,
                                               .launch_begins = tracer_launch_begins,
                                               .launch_ends = tracer_launch_ends,
                                               .changes_code = tracer_changes_code,
                                               .graph_begins = tracer_graph_begins,
                                               .graph_ends = tracer_graph_ends,
                                               .last_launch = tracer_last_launch,
                                               .want_node = tracer_want_node,
                                               .node_launched = tracer_node_launched,
                                               .settle = module_settle,
                                               .reads = tracer_reads,
                                               .maps = tracer_maps,
                                               .time = module_time,
                                               .waited = tracer_waited,
                                               .rest = reader_rest,
                                               .resume = reader_resume,
                                               .missing = tracer_missing};
    return &source;
}
