/* NVIDIA's Sanitizer API as csan's tracer uses it, built as libsanitizer-public.so for tests on
 * machines without a GPU: it observes the fake driver (fake_gpu.c), calls the subscriber back, and
 * runs csan's patches, compiled for the host (host_patch.h), for what the test says that kernels
 * touch. FAKE_SANITIZER in the environment: "taken", another tool has subscribed. */
#define __CUDA_API_VERSION_INTERNAL
#include "tests/unit/hook/tracer/fake_cubin.h"
#include "tests/unit/hook/tracer/fake_gpu.h"
#include "tests/unit/sass/sm90_code.h"

#include "runtime/tracer/record.h"

#include <sanitizer_callbacks.h>
#include <sanitizer_patching.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

enum { MODULES = 4096 };

/* Places given up are NULL. */
struct modules {
    int used;
    CUmodule at[MODULES];
};

/* patch.cu */
SanitizerPatchResult csan_patch_access(void *userdata, uint64_t pc, void *ptr, uint32_t accessSize,
                                       uint32_t flags, const void *pData);

/* The launch that is in its callback, of this thread. */
struct Sanitizer_Launch_st {
    const void *userdata;
};

/* What patched code finds that was given no data. */
#define NOBODY_S_RECORD ((void *)0x100)

static struct {
    pthread_mutex_t mutex;
    Sanitizer_CallbackFunc callback;
    int domains[SANITIZER_CB_DOMAIN_SIZE];
    CUcontext patches_in;
    CUcontext launches_in;     /* NULL: in the current one */
    struct modules live;       /* patched */
    struct modules instructed; /* what is to be patched in it was said */
    struct fake_changes changes;
    int refuse_patches, refuse_records, block, blocked, tensor_maps;
    uint64_t address, stride;
    uint32_t bytes, count;
    int kind;
    struct function_data {
        CUfunction function;
        const void *userdata;
        struct function_data *next;
    } * functions;
    struct module_code {
        CUmodule module;
        const char *kernel; /* all that it has */
        struct module_code *next;
    } * codes;
    const char *kernel;                /* of modules that are loaded now, with its parameters */
    uint32_t param_bytes, words, ends; /* ends: a word of them, plus one */
} api = {.mutex = PTHREAD_MUTEX_INITIALIZER, .kernel = "kernel"};

static int (*launching_now)(void); /* of the driver */

/* Initial-exec: other storage of a library that was opened late is what a leak sanitizer stops at.
 */
static __thread int in_launch __attribute__((tls_model("initial-exec")));
static __thread int in_load __attribute__((tls_model("initial-exec")));

/* ---- Controls ---- */

EXPORT void fake_touch(uint64_t address, uint32_t bytes, uint64_t stride, uint32_t count, int kind)
{
    pthread_mutex_lock(&api.mutex);
    api.address = address;
    api.bytes = bytes;
    api.stride = stride;
    api.count = count;
    api.kind = kind;
    pthread_mutex_unlock(&api.mutex);
}
EXPORT struct fake_changes fake_changes(void)
{
    pthread_mutex_lock(&api.mutex);
    struct fake_changes changes = api.changes;
    pthread_mutex_unlock(&api.mutex);
    return changes;
}
EXPORT void fake_refuse_patches(int result)
{
    api.refuse_patches = result;
}
EXPORT void fake_refuse_records(int result)
{
    api.refuse_records = result;
}
EXPORT void fake_launch_in(CUcontext context)
{
    api.launches_in = context;
}
EXPORT void fake_copy_by_tensor_maps(int on)
{
    api.tensor_maps = on;
}
EXPORT void fake_code(const char *kernel, uint32_t bytes, uint32_t words)
{
    api.kernel = kernel;
    api.param_bytes = bytes;
    api.words = words;
    api.ends = 0;
}
EXPORT void fake_code_ends(uint32_t word)
{
    api.ends = word + 1;
}
EXPORT void fake_block_changes(int on)
{
    __atomic_store_n(&api.block, on, __ATOMIC_RELEASE);
}
EXPORT int fake_changes_blocked(void)
{
    return __atomic_load_n(&api.blocked, __ATOMIC_ACQUIRE);
}

/* ---- What the driver reports ---- */

static void call_back(Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id, const void *data)
{
    if (api.callback && __atomic_load_n(&api.domains[domain], __ATOMIC_RELAXED))
        api.callback(NULL, domain, id, data);
}

static void context_changed(CUcontext context, int created)
{
    const Sanitizer_ResourceContextData data = {.context = context};
    call_back(SANITIZER_CB_DOMAIN_RESOURCE,
              created ? SANITIZER_CBID_RESOURCE_CONTEXT_CREATION_FINISHED
                      : SANITIZER_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
              &data);
}

static CUmodule *find_in(struct modules *modules, CUmodule module)
{
    for (int i = 0; i < modules->used; i++)
        if (modules->at[i] == module)
            return &modules->at[i];
    return NULL;
}

static void keep_in(struct modules *modules, CUmodule module)
{
    CUmodule *place = find_in(modules, NULL);
    if (!place && modules->used == MODULES)
        abort();
    *(place ? place : &modules->at[modules->used++]) = module;
}

/* What the real one leaves of instructions when a module is unpatched or gone: nothing. */
static void forget(CUmodule module)
{
    CUmodule *live = find_in(&api.live, module), *instructed = find_in(&api.instructed, module);
    if (live)
        api.changes.live--;
    if (live)
        *live = NULL;
    if (instructed)
        *instructed = NULL;
}

/* A load through the tensor map that is the first 64 bytes of the parameters, and a store through
 * the one behind it: their addresses are the constant bank's and an offset. */
static const struct instruction copies[] = {
    {UINT64_C(0x0000300000047ab9), 0xa00},                                      /* ULDC.64 UR4 */
    {UINT64_C(0x0000000004067897) | (uint64_t)FAKE_PARAMS_AT << 32, 0xfffe03f}, /* UIADD3.64 UR6 */
    {UINT64_C(0x00000008060075b4), 0x8008000},                                  /* UTMALDG [UR6] */
    {UINT64_C(0x0000004006067897), 0xfffe03f},                                  /* UIADD3.64 UR6 */
    {UINT64_C(0x00000008060073b5), 0x8008000},                                  /* UTMASTG [UR6] */
    {UINT64_C(0x000000000000794d), 0x3800000}};                                 /* EXIT */

/* The same of any element of an array of such halves, and of one that is from the third on. */
static const struct instruction copies_elements[] = {
    {UINT64_C(0x0000300000047ab9), 0xa00}, /* ULDC.64 UR4 */
    {UINT64_C(0x0000000004067897) | (uint64_t)(FAKE_PARAMS_AT + 48) << 32, 0xfffe03f},
    {UINT64_C(0x00000040080678a5), 0xf8e0006},  /* UIMAD.WIDE.U32 UR6, UR8 */
    {UINT64_C(0x00000008060075b4), 0x8008000},  /* UTMALDG [UR6] */
    {UINT64_C(0x0000008006067897), 0xfffe03f},  /* UIADD3.64 UR6 */
    {UINT64_C(0x00000008060073b5), 0x8008000},  /* UTMASTG [UR6] */
    {UINT64_C(0x000000000000794d), 0x3800000}}; /* EXIT */

/* Handles come again for others. With the mutex. */
static void code_set(CUmodule module, const char *kernel)
{
    struct module_code *code = api.codes;
    while (code && code->module != module)
        code = code->next;
    if (!code) {
        code = calloc(1, sizeof *code);
        code->module = module;
        code->next = api.codes;
        api.codes = code;
    }
    code->kernel = kernel;
}

static const char *kernel_of(CUmodule module)
{
    pthread_mutex_lock(&api.mutex);
    const struct module_code *code = api.codes;
    while (code && code->module != module)
        code = code->next;
    const char *kernel = code ? code->kernel : "kernel";
    pthread_mutex_unlock(&api.mutex);
    return kernel;
}

static void module_changed(CUmodule module, CUcontext context, int loaded)
{
    if (loaded) {
        pthread_mutex_lock(&api.mutex);
        code_set(module, api.kernel);
        pthread_mutex_unlock(&api.mutex);
    }
    uint8_t cubin[FAKE_CUBIN_BYTES];
    struct instruction code[40] = {{api.tensor_maps == 1 ? FAKE_UTMALDG : FAKE_LDG, 0}};
    uint32_t count = 1;
    for (uint32_t i = 0; api.tensor_maps == 2 && i < sizeof copies / sizeof *copies; i++)
        code[count++] = copies[i];
    for (uint32_t i = 0;
         api.tensor_maps == 3 && i < sizeof copies_elements / sizeof *copies_elements; i++)
        code[count++] = copies_elements[i];
    for (uint32_t word = 0; word < 32; word++) {
        if (api.words >> word & 1)
            code[count++] = ldc(2, FAKE_PARAMS_AT + 4 * word);
        if (api.ends == word + 1) {
            code[count++] = isetp_number(0, 2 /* equal */, 0, 2, 0);
            code[count++] = when(0, 1, exits());
        }
    }
    code[count++] = exits();
    const struct fake_function kernel = {api.kernel, 1, (uint16_t)api.param_bytes, code, count};
    const Sanitizer_ResourceModuleData data = {.context = context,
                                               .module = module,
                                               .cubinSize = fake_cubin(cubin, &kernel, 1),
                                               .pCubin = (const char *)cubin};
    in_load = loaded;
    call_back(SANITIZER_CB_DOMAIN_RESOURCE,
              loaded ? SANITIZER_CBID_RESOURCE_MODULE_LOADED
                     : SANITIZER_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
              &data);
    in_load = 0;
    pthread_mutex_lock(&api.mutex);
    if (!loaded)
        forget(module);
    pthread_mutex_unlock(&api.mutex);
}

static void run_patched(void *userdata)
{
    static const uint32_t flags[] = {[FAKE_READ] = SANITIZER_MEMORY_DEVICE_FLAG_READ,
                                     [FAKE_WRITE] = SANITIZER_MEMORY_DEVICE_FLAG_WRITE,
                                     [FAKE_ATOMIC] = SANITIZER_MEMORY_DEVICE_FLAG_READ |
                                                     SANITIZER_MEMORY_DEVICE_FLAG_WRITE};
    const uint64_t value = 0;
    for (uint32_t i = 0; i < api.count; i++)
        csan_patch_access(userdata, 0, (void *)(api.address + i * api.stride), api.bytes,
                          flags[api.kind], api.kind == FAKE_WRITE ? &value : NULL);
}

/* A function's data is that of its nodes, whatever their launch was given. */
static struct function_data *data_of(CUfunction function)
{
    struct function_data *data = NULL;
    for (data = api.functions; data && data->function != function; data = data->next)
        continue;
    return data;
}

static void launching(CUfunction function, CUmodule module, CUcontext context, CUstream stream)
{
    struct Sanitizer_Launch_st launch = {NOBODY_S_RECORD};
    const Sanitizer_LaunchData data = {.context = api.launches_in ? api.launches_in : context,
                                       .module = module,
                                       .function = function,
                                       .functionName = kernel_of(module),
                                       .hLaunch = &launch,
                                       .stream = stream};
    in_launch = 1;
    call_back(SANITIZER_CB_DOMAIN_LAUNCH, SANITIZER_CBID_LAUNCH_BEGIN, &data);
    in_launch = 0;
    pthread_mutex_lock(&api.mutex);
    api.changes.heard +=
        __atomic_load_n(&api.domains[SANITIZER_CB_DOMAIN_LAUNCH], __ATOMIC_RELAXED);
    if (launch.userdata && find_in(&api.live, module) && find_in(&api.instructed, module))
        run_patched((void *)launch.userdata);
    pthread_mutex_unlock(&api.mutex);
}

static void launching_node(CUfunction function, CUmodule module, CUcontext context,
                           CUgraphNode node)
{
    struct Sanitizer_Launch_st launch = {NOBODY_S_RECORD};
    const Sanitizer_GraphNodeLaunchData data = {.node = node,
                                                .nodeType = CU_GRAPH_NODE_TYPE_KERNEL,
                                                .launchData = {.context = context,
                                                               .module = module,
                                                               .function = function,
                                                               .functionName = kernel_of(module),
                                                               .hLaunch = &launch}};
    in_launch = 1;
    call_back(SANITIZER_CB_DOMAIN_GRAPHS, SANITIZER_CBID_GRAPHS_NODE_LAUNCH_BEGIN, &data);
    in_launch = 0;
    pthread_mutex_lock(&api.mutex);
    api.changes.heard +=
        __atomic_load_n(&api.domains[SANITIZER_CB_DOMAIN_GRAPHS], __ATOMIC_RELAXED);
    pthread_mutex_unlock(&api.mutex);
}

static void node_runs(CUfunction function, CUmodule module, int larger)
{
    pthread_mutex_lock(&api.mutex);
    const struct function_data *data = data_of(function);
    void *userdata = data ? (void *)data->userdata : NOBODY_S_RECORD;
    if (find_in(&api.live, module) && find_in(&api.instructed, module)) {
        api.changes.forbidden += !larger;
        if (userdata)
            run_patched(userdata);
    }
    pthread_mutex_unlock(&api.mutex);
}

static int is_patched(CUmodule module)
{
    pthread_mutex_lock(&api.mutex);
    int patched = find_in(&api.live, module) != NULL;
    pthread_mutex_unlock(&api.mutex);
    return patched;
}

EXPORT void fake_launch_node(CUmodule module)
{
    launching_node((CUfunction)module, module, NULL, NULL);
    node_runs((CUfunction)module, module, 1);
}

/* ---- The interface ---- */

EXPORT SanitizerResult sanitizerSubscribe(Sanitizer_SubscriberHandle *subscriber,
                                          Sanitizer_CallbackFunc callback, void *userdata)
{
    static const struct fake_observer observer = {launching,  launching_node, node_runs,
                                                  is_patched, module_changed, context_changed};
    const char *how = getenv("FAKE_SANITIZER");
    (void)userdata;
    if (how && strcmp(how, "taken") == 0)
        return SANITIZER_ERROR_MAX_LIMIT_REACHED;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void (*observe)(const struct fake_observer *) =
        (void (*)(const struct fake_observer *))(driver ? dlsym(driver, "fake_observe") : NULL);
    launching_now = (int (*)(void))(driver ? dlsym(driver, "fake_launching_now") : NULL);
    if (!observe || !launching_now)
        return SANITIZER_ERROR_NOT_INITIALIZED;
    api.callback = callback;
    *subscriber = (Sanitizer_SubscriberHandle)&api;
    observe(&observer);
    return SANITIZER_SUCCESS;
}
EXPORT SanitizerResult sanitizerEnableDomain(uint32_t enable, Sanitizer_SubscriberHandle subscriber,
                                             Sanitizer_CallbackDomain domain)
{
    (void)subscriber;
    if (domain == SANITIZER_CB_DOMAIN_LAUNCH)
        __atomic_add_fetch(&api.changes.forbidden, launching_now(), __ATOMIC_RELAXED);
    __atomic_store_n(&api.domains[domain], (int)enable, __ATOMIC_RELAXED);
    return SANITIZER_SUCCESS;
}
EXPORT SanitizerResult sanitizerGetResultString(SanitizerResult result, const char **text)
{
    *text = result == SANITIZER_ERROR_INVALID_PARAMETER ? "an invalid parameter" : "no success";
    return SANITIZER_SUCCESS;
}
EXPORT SanitizerResult sanitizerAddPatches(const void *image, CUcontext context)
{
    if (!image || !context)
        return SANITIZER_ERROR_INVALID_PARAMETER;
    api.patches_in = context;
    return SANITIZER_SUCCESS;
}
EXPORT SanitizerResult sanitizerPatchInstructions(Sanitizer_InstructionId id, CUmodule module,
                                                  const char *patch)
{
    (void)id;
    if (!module || strncmp(patch, "csan_patch_", 11) != 0 || !api.patches_in)
        return SANITIZER_ERROR_INVALID_PARAMETER;
    pthread_mutex_lock(&api.mutex);
    if (!find_in(&api.instructed, module))
        keep_in(&api.instructed, module);
    pthread_mutex_unlock(&api.mutex);
    return SANITIZER_SUCCESS;
}

/* The real one stops for ever within a launch's callback. While it loads, a module has no code that
 * another thread may launch. */
static SanitizerResult change(CUmodule module, int patched)
{
    if (__atomic_load_n(&api.block, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&api.blocked, 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&api.block, __ATOMIC_ACQUIRE))
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        __atomic_store_n(&api.blocked, 0, __ATOMIC_RELEASE);
    }
    SanitizerResult result = api.refuse_patches;
    pthread_mutex_lock(&api.mutex);
    if (in_launch || (!patched && !find_in(&api.live, module)))
        result = SANITIZER_ERROR_INVALID_OPERATION;
    if (in_launch || (!in_load && launching_now()))
        __atomic_add_fetch(&api.changes.forbidden, 1, __ATOMIC_RELAXED);
    if (result == SANITIZER_SUCCESS) {
        api.changes.patched += patched;
        api.changes.at_load += patched && in_load;
        api.changes.unpatched += !patched;
        api.changes.live += patched;
        if (patched)
            keep_in(&api.live, module);
        else
            forget(module);
    }
    pthread_mutex_unlock(&api.mutex);
    return result;
}
EXPORT SanitizerResult sanitizerPatchModule(CUmodule module)
{
    return change(module, 1);
}
EXPORT SanitizerResult sanitizerUnpatchModule(CUmodule module)
{
    return change(module, 0);
}
static void record_given(const void *userdata)
{
    api.changes.traced += userdata != NULL;
    api.changes.shift = (uint32_t)((uintptr_t)userdata & RECORD_GRANULE_MASK);
    api.changes.size = (uint32_t)((uintptr_t)userdata % RECORD_ALIGNMENT >> RECORD_SIZE_SHIFT);
}
EXPORT SanitizerResult sanitizerSetLaunchCallbackData(Sanitizer_LaunchHandle launch,
                                                      CUfunction kernel,
                                                      Sanitizer_StreamHandle stream,
                                                      const void *userdata)
{
    (void)kernel;
    (void)stream;
    if (api.refuse_records && userdata)
        return api.refuse_records;
    launch->userdata = userdata;
    pthread_mutex_lock(&api.mutex);
    record_given(userdata);
    pthread_mutex_unlock(&api.mutex);
    return SANITIZER_SUCCESS;
}
EXPORT SanitizerResult sanitizerSetCallbackData(CUfunction kernel, const void *userdata)
{
    if (api.refuse_records && userdata)
        return api.refuse_records;
    pthread_mutex_lock(&api.mutex);
    struct function_data *data = data_of(kernel);
    if (!data) {
        data = calloc(1, sizeof *data);
        data->function = kernel;
        data->next = api.functions;
        api.functions = data;
    }
    data->userdata = userdata;
    record_given(userdata);
    pthread_mutex_unlock(&api.mutex);
    return SANITIZER_SUCCESS;
}
