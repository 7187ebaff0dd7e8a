/* From function handles to what kernels touch. See kernel.h. */
#include "runtime/hook/kernel/kernel.h"
#include "csan/base/hash.h"
#include "csan/detector/context.h"
#include "runtime/hook/session/deferred.h"
#include "runtime/hook/interpose/call_count.h"
#include "runtime/hook/kernel/user_ptx.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/hook/kernel/identity.h"
#include "runtime/hook/kernel/code_reads.h"
#include "runtime/hook/kernel/image.h"
#include "runtime/hook/kernel/image_embedded.h"
#include "runtime/hook/kernel/image_place.h"
#include "runtime/hook/kernel/layout.h"
#include "runtime/hook/state/name.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/state/architecture.h"
#include "runtime/hook/state/variable.h"
#include "csan/base/lock_order.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A module or a library; the driver's handles of both never coincide. */
struct module {
    void *handle;
    bool library;
    struct image *image;         /* NULL: no PTX */
    struct learn_image identity; /* zeros: not known yet, or never */
    void *whole;                 /* of a library's module: the library; else itself */
    char *file;                  /* that its code is of; NULL: not known */
    bool stays;                  /* at `place`, of which it can still be made */
    struct image_place place;
    UT_hash_handle hh;
};

struct function {
    CUfunction handle;
    void *module; /* its handle, or NULL */
    char *name;
    struct image *user_image; /* PTX that the program gave, or NULL */
    struct kernel *kernel;    /* NULL until launched */
    UT_hash_handle hh;
};

/* Some of the kernels that a thread launched lately, which need no lock to be found again: those
 * whose handles lead to one place of its table, the newest first. They hold their kernels until
 * others need the room or the thread ends, also when the modules are gone. One line of the cache.
 */
enum { RECENT_WAYS = 3, RECENT_BITS = 9, RECENT_COUNT = 1 << RECENT_BITS };
struct recent {
    _Alignas(64) uint64_t generation; /* of the table, when they were found there */
    CUfunction handles[RECENT_WAYS];
    struct kernel *kernels[RECENT_WAYS];
};

static __thread struct recent *self __attribute__((tls_model("initial-exec")));

static struct {
    struct module *modules;
    struct function *functions;
    uint64_t generation; /* another one whenever a handle lost its kernel */
    pthread_key_t key;   /* of `self` */
    pthread_once_t once;
    pthread_mutex_t resolving; /* one PTX reader at a time; taken before the hooks' lock */
    void *func_get_name, *kernel_get_name, *func_get_module, *module_get_global,
        *library_get_global;
    void *demangle; /* __cxa_demangle, where the process has a C++ library */
} table = {.once = PTHREAD_ONCE_INIT, .resolving = PTHREAD_MUTEX_INITIALIZER};

/* ---- The tables, under the hooks' lock ---- */

static struct module *module_find(const void *handle)
{
    struct module *module = NULL;
    HASH_FIND_PTR(table.modules, &handle, module);
    return module;
}

static struct function *function_find(CUfunction handle)
{
    struct function *function = NULL;
    HASH_FIND_PTR(table.functions, &handle, function);
    return function;
}

static void function_drop(struct function *function)
{
    __atomic_fetch_add(&table.generation, 1, __ATOMIC_RELEASE);
    HASH_DEL(table.functions, function);
    kernel_description_release(function->kernel);
    image_release(function->user_image);
    free(function->name);
    free(function);
}

static void module_drop(struct module *module)
{
    struct function *function = NULL, *next = NULL;
    HASH_ITER(hh, table.functions, function, next)
    {
        if (function->module == module->handle)
            function_drop(function);
    }
    variable_module_ended(module->handle);
    HASH_DEL(table.modules, module);
    image_release(module->image);
    free(module->file);
    free(module);
}

/* A handle that is known already is a reused one whose end was not seen. */
static struct module *module_add(void *handle, bool library, struct image *image)
{
    struct module *module = module_find(handle);
    if (module)
        module_drop(module);
    module = calloc(1, sizeof *module);
    if (!module)
        return NULL;
    module->handle = module->whole = handle;
    module->library = library;
    module->image = image;
    HASH_ADD_PTR(table.modules, handle, module);
    return module;
}

static struct function *function_add(CUfunction handle, void *module, const char *name)
{
    struct function *function = function_find(handle);
    if (function && function->module == module && strcmp(function->name, name) == 0)
        return function;
    if (function)
        function_drop(function);
    function = calloc(1, sizeof *function);
    char *copy = function ? strdup(name) : NULL;
    if (!copy) {
        free(function);
        return NULL;
    }
    function->handle = handle;
    function->module = module;
    function->name = copy;
    HASH_ADD_PTR(table.functions, handle, function);
    return function;
}

static struct kernel *kernel_find(CUfunction handle)
{
    guard_lock();
    struct function *function = function_find(handle);
    struct kernel *kernel = function ? kernel_description_retain(function->kernel) : NULL;
    guard_unlock();
    return kernel;
}

/* ---- What the module hooks report ---- */

void kernel_seen_load(void *module, const void *data, const char *path, bool library)
{
    struct learn_image identity = {{0}};
    struct image_place place = {0};
    char *file = NULL;
    const bool learns = session_options()->access.traces;
    const bool stays = data && image_place_find(&place, data, &file);
    struct image *image = data ? image_of_data(data, stays ? &place : NULL) : image_of_file(path);
    if (learns && !stays)
        identity = data ? identity_of_data(data, 0) : identity_of_file(path);
    if (!data && path)
        file = strdup(path);
    guard_lock();
    struct module *added = module_add(module, library, image);
    if (added) {
        added->file = file;
        file = NULL;
        added->identity = identity;
        added->stays = learns && stays;
        added->place = place;
    } else {
        image_release(image);
    }
    guard_unlock();
    free(file);
}

/* The module is of the same code. */
static void module_share(void *handle, const struct module *owner)
{
    struct image *image = image_retain(owner->image);
    struct learn_image identity = owner->identity;
    const bool stays = owner->stays;
    const struct image_place place = owner->place;
    void *whole = owner->handle;
    char *file = owner->file ? strdup(owner->file) : NULL;
    struct module *module = module_add(handle, false, image);
    if (!module) {
        image_release(image);
        free(file);
        return;
    }
    module->whole = whole;
    module->file = file;
    module->identity = identity;
    module->stays = stays;
    module->place = place;
}

void kernel_seen_module_of_library(CUmodule module, CUlibrary library)
{
    guard_lock();
    struct module *owner = module_find(library);
    if (owner && !module_find(module))
        module_share(module, owner);
    guard_unlock();
}

void kernel_seen_unload(void *handle)
{
    launch_pointer_addresses_changed();
    guard_lock();
    struct module *module = module_find(handle);
    if (module)
        module_drop(module);
    else
        variable_module_ended(handle);
    guard_unlock();
}

void kernel_seen_function(CUfunction function, void *module, const char *name)
{
    if (!name)
        return;
    guard_lock();
    function_add(function, module, name);
    guard_unlock();
}

void kernel_seen_alias(CUfunction function, CUkernel kernel)
{
    guard_lock();
    struct function *original = function_find((CUfunction)kernel);
    struct function *alias =
        original ? function_add(function, original->module, original->name) : NULL;
    if (alias && alias != original && !alias->user_image)
        alias->user_image = image_retain(original->user_image);
    guard_unlock();
}

/* ---- Resolving ---- */

/* Looked up before any lock is taken: dlsym takes the loader's, which another thread may hold while
 * its constructors launch kernels. A C++ library may come later than the first kernel. */
void kernel_symbols_find(void)
{
    driver_function_cached(&table.func_get_name, "cuFuncGetName");
    driver_function_cached(&table.kernel_get_name, "cuKernelGetName");
    driver_function_cached(&table.func_get_module, "cuFuncGetModule");
    driver_function_cached(&table.module_get_global, "cuModuleGetGlobal_v2");
    driver_function_cached(&table.library_get_global, "cuLibraryGetGlobal");
    layout_symbols_find();
    if (!__atomic_load_n(&table.demangle, __ATOMIC_RELAXED))
        __atomic_store_n(&table.demangle, dlsym(RTLD_DEFAULT, "__cxa_demangle"), __ATOMIC_RELAXED);
}

static void *symbol(void **slot)
{
    return __atomic_load_n(slot, __ATOMIC_ACQUIRE);
}

const char *kernel_shown_name(const char *name)
{
    return name_of_kernel(name, symbol(&table.demangle));
}

/* A handle csan did not see given out: the driver knows its name. */
static void ask_driver(CUfunction handle)
{
    const char *name = NULL;
    CUmodule module = NULL;
    PFN_cuFuncGetName_v12030 func_name = (PFN_cuFuncGetName_v12030)symbol(&table.func_get_name);
    PFN_cuKernelGetName_v12030 kernel_name =
        (PFN_cuKernelGetName_v12030)symbol(&table.kernel_get_name);
    PFN_cuFuncGetModule_v11000 get_module =
        (PFN_cuFuncGetModule_v11000)symbol(&table.func_get_module);
    bool named = func_name && func_name(&name, handle) == CUDA_SUCCESS && name;
    if (named && (!get_module || get_module(&module, handle) != CUDA_SUCCESS))
        module = NULL;
    if (!named)
        named = kernel_name && kernel_name(&name, (CUkernel)handle) == CUDA_SUCCESS && name;
    guard_lock();
    function_add(handle, module, named ? name : "an unnamed kernel");
    guard_unlock();
}

static const char *const qualifiers[] = {[IMAGE_VARIABLE_UNKNOWN] = "variable",
                                         [IMAGE_VARIABLE_CONSTANT] = "__constant__",
                                         [IMAGE_VARIABLE_DEVICE] = "__device__",
                                         [IMAGE_VARIABLE_MANAGED] = "__managed__"};

/* 0: the newest PTX is read, as the embedded device does. Devices of several architectures: that of
 * the current context, for a kernel's first launch. Without any lock: it asks the driver. */
static uint32_t device_architecture(void)
{
    int major, minor;
    if (driver_is_embedded())
        return 0;
    architecture_current(&major, &minor);
    return (uint32_t)(major * 10 + minor);
}

void kernel_seen_variable(void *handle, const char *name, uint64_t base, uint64_t bytes)
{
    guard_lock();
    const bool known = !name || variable_is_known(base, bytes, name);
    const struct module *module = known ? NULL : module_find(handle);
    const void *owner = module ? module->whole : handle;
    struct image *image = module ? image_retain(module->image) : NULL;
    char *file = module && module->file ? strdup(module->file) : NULL;
    guard_unlock();
    if (!known) {
        const uint32_t architecture = device_architecture();
        lock_order_take(LOCK_PTX_READER, &table.resolving);
        image_set_device(image, architecture);
        const enum image_variable kind = image_variable(image, name);
        guard_lock();
        if (!variable_is_known(base, bytes, name))
            variable_found(owner, base, bytes, qualifiers[kind], name, file ? file : "");
        guard_unlock();
        lock_order_give(LOCK_PTX_READER, &table.resolving);
    }
    image_release(image);
    free(file);
}

static CUresult ask_variable(void *module, bool library, const char *name, CUdeviceptr_v2 *base,
                             size_t *bytes)
{
    PFN_cuModuleGetGlobal_v3020 of_module =
        (PFN_cuModuleGetGlobal_v3020)symbol(&table.module_get_global);
    PFN_cuLibraryGetGlobal_v12000 of_library =
        (PFN_cuLibraryGetGlobal_v12000)symbol(&table.library_get_global);
    CUresult result = CUDA_ERROR_NOT_FOUND;
    if (library ? !of_library : !of_module)
        return result;
    result = library ? of_library(base, bytes, module, name) : of_module(base, bytes, module, name);
    call_count_own(library ? "cuLibraryGetGlobal" : "cuModuleGetGlobal_v2", result);
    return result;
}

static bool find_variable(void *module, bool library, const char *name, uint64_t *address,
                          uint64_t *bytes)
{
    CUdeviceptr_v2 base = 0;
    size_t size = 0;
    const CUresult result = ask_variable(module, library, name, &base, &size);
    *address = base;
    *bytes = size;
    if (result != CUDA_SUCCESS || !base || !size)
        return false;
    kernel_seen_variable(module, name, base, size);
    return true;
}

/* Of an image that stays where it is it is made at the first launch of a kernel: most are never
 * looked at. */
static struct learn_image module_identity(void *handle)
{
    struct learn_image identity = {{0}};
    struct image_place place;
    guard_lock();
    struct module *module = module_find(handle);
    const bool stays = module && module->stays;
    if (module)
        identity = module->identity;
    if (stays)
        place = module->place;
    guard_unlock();
    const void *data = stays && !identity_is_known(identity) ? image_place_image(&place) : NULL;
    if (!data)
        return identity;
    identity = identity_of_data(data, 0);
    guard_lock();
    module = module_find(handle);
    if (module)
        module->identity = identity;
    guard_unlock();
    return identity;
}

struct reads *kernel_code_reads(CUfunction handle, const char *name, uint32_t words)
{
    struct image_place place;
    int major, minor;
    guard_lock();
    const struct function *function = function_find(handle);
    const struct module *module = function ? module_find(function->module) : NULL;
    const bool stays = module && module->stays;
    if (stays)
        place = module->place;
    guard_unlock();
    const void *data = stays ? image_place_image(&place) : NULL;
    architecture_current(&major, &minor);
    return data ? code_reads_find(data, (uint32_t)(major * 10 + minor), name, words) : NULL;
}

/* Where its line information says that it is. */
static void define(const struct kernel *kernel, const struct ptx_function *ptx)
{
    char place[PATH_MAX + 16];
    for (uint32_t i = 0; i < ptx->module->file_count && ptx->source_line; i++) {
        if (ptx->module->files[i].index != ptx->source_file)
            continue;
        snprintf(place, sizeof place, "%s:%u", ptx->module->files[i].name, ptx->source_line);
        context_define_kernel(session_context(), kernel->name, place);
        return;
    }
}

static void resolve_named(CUfunction handle, uint32_t architecture)
{
    struct kernel_source source = {.find = find_variable};
    struct image *user_image = NULL;
    char *name = NULL;
    bool loaded = false; /* before csan's eyes: other images of the program are not its code */
    guard_lock();
    struct function *function = function_find(handle);
    if (function && !function->kernel) {
        struct module *owner = module_find(function->module);
        loaded = owner != NULL;
        source.name = name = strdup(function->name);
        source.module = function->module;
        source.library = owner && owner->library;
        source.image = owner ? image_retain(owner->image) : NULL;
        user_image = image_retain(function->user_image);
    }
    guard_unlock();
    if (!name)
        return;
    source.identity = module_identity(source.module);
    image_set_device(source.image, architecture);
    source.ptx = image_function(source.image, name);
    source.foreign_ptx = source.ptx && image_is_foreign(source.image);
    if (!source.ptx && user_image && (source.ptx = user_ptx_function(user_image, handle, name))) {
        image_release(source.image);
        source.image = image_retain(user_image);
    }
    if (!source.ptx && !loaded)
        source.ptx = image_embedded_function(name, architecture, &source.foreign_ptx);
    if (source.foreign_ptx) /* its code may touch something else */
        source.ptx = NULL;
    struct kernel *kernel = kernel_description_create(&source, symbol(&table.demangle));
    if (kernel && source.ptx)
        define(kernel, source.ptx);
    image_release(source.image);
    image_release(user_image);
    guard_lock();
    function = function_find(handle);
    if (function && !function->kernel && kernel) {
        function->kernel = kernel;
        kernel = NULL;
    }
    guard_unlock();
    kernel_description_release(kernel);
    free(name);
}

/* Takes the lock of those who read PTX, and finds out which function it is. */
static void resolving_begin(CUfunction handle)
{
    lock_order_take(LOCK_PTX_READER, &table.resolving);
    guard_lock();
    bool known = function_find(handle) != NULL;
    guard_unlock();
    if (!known)
        ask_driver(handle);
}

static void kernel_resolve(CUfunction handle)
{
    kernel_symbols_find();
    const uint32_t architecture = device_architecture();
    resolving_begin(handle);
    resolve_named(handle, architecture);
    lock_order_give(LOCK_PTX_READER, &table.resolving);
}

/* What was found without it, if anything was, is not changed. */
static void give(struct function *function, struct image *image)
{
    image_release(function->user_image);
    function->user_image = image_retain(image);
    if (!function->kernel || function->kernel->ptx)
        return;
    kernel_description_release(function->kernel);
    function->kernel = NULL;
    __atomic_fetch_add(&table.generation, 1, __ATOMIC_RELEASE);
}

void kernel_set_user_ptx(CUfunction handle, const char *ptx, size_t bytes)
{
    struct image *image = image_of_text(ptx, bytes);
    if (!image) {
        session_note("csan_kernel_ptx: the %zu bytes given for a kernel are no PTX: they should "
                     "start with a comment or .version",
                     bytes);
        return;
    }
    kernel_symbols_find();
    resolving_begin(handle);
    guard_lock();
    struct function *function = function_find(handle), *other = NULL, *next = NULL;
    HASH_ITER(hh, table.functions, other, next)
    {
        if (other == function ||
            (function && function->module && other->module == function->module &&
             strcmp(other->name, function->name) == 0))
            give(other, image);
    }
    guard_unlock();
    lock_order_give(LOCK_PTX_READER, &table.resolving);
    image_release(image);
}

/* ---- Recent kernels ---- */

/* From one of them on. */
static void recent_drop(struct recent *recent, size_t first)
{
    for (size_t i = first; i < RECENT_WAYS; i++) {
        kernel_description_release(recent->kernels[i]);
        recent->handles[i] = NULL;
        recent->kernels[i] = NULL;
    }
}

static void recent_end(void *value)
{
    struct recent *recent = value;
    if (!guard_enter_aside()) /* which processes what names them */
        return;               /* csan is off, or the thread was ended within a call */
    for (size_t i = 0; i < RECENT_COUNT; i++)
        recent_drop(recent + i, 0);
    free(recent);
    self = NULL;
    guard_leave();
}

static void recent_key(void)
{
    pthread_key_create(&table.key, recent_end);
}

static struct recent *recent_create(void)
{
    pthread_once(&table.once, recent_key);
    struct recent *fresh = aligned_alloc(_Alignof(struct recent), RECENT_COUNT * sizeof *fresh);
    if (fresh)
        memset(fresh, 0, RECENT_COUNT * sizeof *fresh);
    if (!fresh || pthread_setspecific(table.key, fresh) != 0) {
        free(fresh);
        return NULL;
    }
    return self = fresh;
}

static void recent_add(struct recent *recent, CUfunction handle, uint64_t generation,
                       struct kernel *kernel)
{
    const bool stale = recent->generation != generation;
    if (recent->kernels[stale ? 0 : RECENT_WAYS - 1])
        deferred_flush(); /* what goes may be named there */
    recent_drop(recent, stale ? 0 : RECENT_WAYS - 1);
    for (size_t i = RECENT_WAYS - 1; i > 0; i--) {
        recent->handles[i] = recent->handles[i - 1];
        recent->kernels[i] = recent->kernels[i - 1];
    }
    recent->generation = generation;
    recent->handles[0] = handle;
    recent->kernels[0] = kernel;
}

static struct kernel *kernel_of_slow(CUfunction handle, struct recent *recent)
{
    uint64_t generation = __atomic_load_n(&table.generation, __ATOMIC_ACQUIRE);
    struct kernel *kernel = kernel_find(handle);
    if (!kernel) {
        kernel_resolve(handle);
        kernel = kernel_find(handle);
    }
    if (kernel)
        recent_add(recent, handle, generation, kernel);
    return kernel;
}

static size_t recent_place(CUfunction handle)
{
    return hash_spread((uintptr_t)handle) >> (64 - RECENT_BITS);
}

static struct kernel *recall(const struct recent *recent, CUfunction handle)
{
    if (recent->generation != __atomic_load_n(&table.generation, __ATOMIC_ACQUIRE))
        return NULL;
    for (size_t i = 0; i < RECENT_WAYS; i++)
        if (recent->handles[i] == handle)
            return recent->kernels[i];
    return NULL;
}

struct kernel *kernel_recall(CUfunction handle)
{
    return self ? recall(self + recent_place(handle), handle) : NULL;
}

void kernel_prefetch(CUfunction handle)
{
    const struct kernel *kernel = kernel_recall(handle);
    if (kernel)
        launch_accesses_prefetch(kernel);
}

struct kernel *kernel_of(CUfunction handle)
{
    struct recent *recent = self ? self : recent_create();
    if (!recent)
        return NULL;
    recent += recent_place(handle);
    struct kernel *kernel = recall(recent, handle);
    return kernel ? kernel : kernel_of_slow(handle, recent);
}
