/* Modules: the code of one image in one context, with its variables. Loads images (image.c reads
 * them), gives the variables memory, and finds functions and variables by name. */
#include "runtime/device/module/module.h"
#include "csan/base/environment.h"
#include "runtime/device/module/image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATIC_SHARED_MAX = 48 << 10, FILE_MAX_BYTES = 1 << 30 };

void code_release(struct code *code)
{
    if (--code->references)
        return;
    ptx_module_release(code->ptx);
    free(code);
}

struct code *code_create(struct ptx_module *ptx, bool shell)
{
    struct code *code = calloc(1, sizeof *code);
    if (!code) {
        ptx_module_release(ptx);
        return NULL;
    }
    code->references = 1;
    code->shell = shell;
    code->ptx = ptx;
    return code;
}

/* "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES": 48 KiB less the static ones until it is set.
 */
void settings_start(struct settings *settings, const struct ptx_function *ptx)
{
    uint64_t shared = exec_shared_bytes(ptx);
    *settings = (struct settings){.carveout = -1};
    settings->dynamic_shared_limit =
        shared < STATIC_SHARED_MAX ? STATIC_SHARED_MAX - (int)shared : 0;
}

/* ---- Create and release -------------------------------------------------------------------- */

static bool has_managed(const struct ptx_module *ptx)
{
    for (uint32_t i = 0; i < ptx->variable_count; i++)
        if (ptx->variables[i]->managed)
            return true;
    return false;
}

/* Managed variables are the host's too: with one of them, all of a module's globals are managed. */
static bool allocate_segments(struct CUmod_st *module, struct CUctx_st *context)
{
    const struct ptx_module *ptx = module->code->ptx;
    module->managed = has_managed(ptx);
    if (ptx->global_bytes) {
        struct arena *arena = module->managed ? &device.host_memory : &device.device_memory;
        enum memory_owner owner = module->managed ? OWNER_MANAGED : OWNER_MODULE;
        module->globals = arena_allocate(arena, ptx->global_bytes, memory_tag(context, owner), 0);
        if (!module->globals)
            return false;
    }
    if (ptx->const_bytes) {
        module->constants = arena_allocate(&device.device_memory, ptx->const_bytes,
                                           memory_tag(context, OWNER_MODULE), 0);
        if (!module->constants)
            return false;
    }
    return true;
}

/* Segments are always cleared: a reused block holds what its last owner left. */
static bool place_variables(struct CUmod_st *module, struct CUctx_st *context)
{
    const struct ptx_module *ptx = module->code->ptx;
    if (!allocate_segments(module, context))
        return false;
    module->image = exec_image_create(ptx, module->globals, module->constants);
    if (!module->image)
        return false;
    void *globals = module->globals ? memory_pointer(module->globals) : NULL;
    void *constants = module->constants ? memory_pointer(module->constants) : NULL;
    if (globals)
        memset(globals, 0, ptx->global_bytes);
    if (constants)
        memset(constants, 0, ptx->const_bytes);
    exec_image_initialise(module->image, globals, constants);
    return true;
}

static struct CUkern_st *library_kernel(const struct CUlib_st *library,
                                        const struct ptx_function *ptx)
{
    struct CUkern_st *kernel = library ? library->kernels : NULL;
    while (kernel && kernel->ptx != ptx)
        kernel = kernel->next;
    return kernel;
}

static bool add_functions(struct CUmod_st *module)
{
    const struct ptx_module *ptx = module->code->ptx;
    struct CUfunc_st **last = &module->functions;
    for (uint32_t i = 0; i < ptx->function_count; i++) {
        if (!ptx->functions[i]->is_entry || ptx->functions[i]->is_prototype)
            continue;
        struct CUfunc_st *function = calloc(1, sizeof *function);
        if (!function)
            return false;
        function->module = module;
        function->ptx = ptx->functions[i];
        function->kernel = library_kernel(module->library, function->ptx);
        settings_start(&function->own_settings, function->ptx);
        function->settings =
            function->kernel ? &function->kernel->settings : &function->own_settings;
        object_add(&function->object, OBJECT_FUNCTION);
        *last = function;
        last = &function->next;
        module->function_count++;
    }
    return true;
}

CUresult module_create(struct CUctx_st *context, struct code *code, struct CUlib_st *library,
                       struct CUmod_st **created)
{
    struct CUmod_st *module = calloc(1, sizeof *module);
    if (!module)
        return CUDA_ERROR_OUT_OF_MEMORY;
    code->references++;
    module->code = code;
    module->library = library;
    module->context = context;
    module->references = 1;
    object_add(&module->object, OBJECT_MODULE);
    struct CUmod_st **last = &context->modules;
    while (*last)
        last = &(*last)->next;
    *last = module;
    if (!place_variables(module, context) || !add_functions(module)) {
        module_unload(module);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *created = module;
    return CUDA_SUCCESS;
}

void module_retain(struct CUmod_st *module)
{
    module->references++;
}

void module_release(struct CUmod_st *module)
{
    if (--module->references)
        return;
    exec_image_release(module->image);
    if (module->globals)
        arena_free(module->managed ? &device.host_memory : &device.device_memory, module->globals);
    if (module->constants)
        arena_free(&device.device_memory, module->constants);
    while (module->functions) {
        struct CUfunc_st *function = module->functions;
        module->functions = function->next;
        free(function->state);
        free(function);
    }
    code_release(module->code);
    free(module);
}

void module_unload(struct CUmod_st *module)
{
    struct CUmod_st **link = &module->context->modules;
    while (*link != module)
        link = &(*link)->next;
    *link = module->next;
    object_remove(&module->object);
    for (struct CUfunc_st *function = module->functions; function; function = function->next)
        object_remove(&function->object);
    module->context = NULL;
    module_release(module);
}

void module_forget_context(struct CUctx_st *context)
{
    while (context->modules)
        module_unload(context->modules);
}

/* ---- Load ---------------------------------------------------------------------------------- */

void *module_read_file(const char *path, CUresult *result)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        *result = CUDA_ERROR_FILE_NOT_FOUND;
        return NULL;
    }
    char *bytes = NULL;
    long length = -1;
    *result = CUDA_ERROR_OPERATING_SYSTEM;
    if (!fseek(file, 0, SEEK_END) && (length = ftell(file)) >= 0 && length <= FILE_MAX_BYTES &&
        !fseek(file, 0, SEEK_SET))
        bytes = malloc((size_t)length + 1);
    if (bytes && fread(bytes, 1, (size_t)length, file) == (size_t)length) {
        bytes[length] = 0;
        *result = CUDA_SUCCESS;
    } else {
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    return bytes;
}

/* A current context is asked for before the work of parsing and again after it, without the lock
 * in between. */
static CUresult load(CUmodule *handle, const void *image, struct image_log *log)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    device_leave(CUDA_SUCCESS);
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    bool shell;
    struct ptx_module *ptx = image_load(image, log, &shell, &result);
    if (!ptx)
        return result;
    struct code *code = code_create(ptx, shell);
    if (!code)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = device_enter_context(&context);
    if (result != CUDA_SUCCESS) {
        code_release(code);
        return result;
    }
    struct CUmod_st *module = NULL;
    result = module_create(context, code, NULL, &module);
    code_release(code);
    if (result == CUDA_SUCCESS)
        *handle = module;
    return device_leave(result);
}

CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                                    CUjit_option *options, void **optionValues)
{
    struct image_log log;
    image_log_options(&log, numOptions, options, optionValues);
    return load(module, image, &log);
}

CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image)
{
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult CUDAAPI cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
    return cuModuleLoadDataEx(module, fatCubin, 0, NULL, NULL);
}

CUresult CUDAAPI cuModuleLoad(CUmodule *module, const char *fname)
{
    CUresult result;
    if (!fname)
        return CUDA_ERROR_INVALID_VALUE;
    void *image = module_read_file(fname, &result);
    if (!image)
        return result;
    result = cuModuleLoadData(module, image);
    free(image);
    return result;
}

static CUresult enter(CUmodule handle, struct CUmod_st **module)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    *module = object_find(handle, OBJECT_MODULE);
    return *module ? CUDA_SUCCESS : device_leave(CUDA_ERROR_INVALID_HANDLE);
}

CUresult CUDAAPI cuModuleUnload(CUmodule hmod)
{
    struct CUmod_st *module;
    CUresult result = enter(hmod, &module);
    if (result != CUDA_SUCCESS)
        return result;
    if (module->library)
        return device_leave(CUDA_ERROR_NOT_PERMITTED);
    module_unload(module);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    const char *wanted = environment_get("CUDA_MODULE_LOADING");
    *mode = wanted && !strcmp(wanted, "EAGER") ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

/* ---- Names --------------------------------------------------------------------------------- */

CUresult CUDAAPI cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    struct CUmod_st *module;
    CUresult result = enter(hmod, &module);
    if (result != CUDA_SUCCESS)
        return result;
    if (!hfunc || !name)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    const struct ptx_function *ptx = ptx_module_function(module->code->ptx, name);
    struct CUfunc_st *function = module->functions;
    while (function && function->ptx != ptx)
        function = function->next;
    if (!ptx || !function)
        return device_leave(CUDA_ERROR_NOT_FOUND);
    *hfunc = function;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuModuleGetFunctionCount(unsigned int *count, CUmodule mod)
{
    struct CUmod_st *module;
    CUresult result = enter(mod, &module);
    if (result != CUDA_SUCCESS)
        return result;
    if (!count)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *count = module->function_count;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions,
                                            CUmodule mod)
{
    struct CUmod_st *module;
    CUresult result = enter(mod, &module);
    if (result != CUDA_SUCCESS)
        return result;
    if (!functions)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct CUfunc_st *function = module->functions;
    for (unsigned i = 0; i < numFunctions && function; i++, function = function->next)
        functions[i] = function;
    return device_leave(CUDA_SUCCESS);
}

CUresult module_global(const struct CUmod_st *module, const char *name, uint64_t *address,
                       uint64_t *bytes, bool *is_managed)
{
    const struct ptx_variable *variable = ptx_module_variable(module->code->ptx, name);
    uint64_t segment = !variable                             ? 0
                       : variable->space == PTX_SPACE_GLOBAL ? module->globals
                       : variable->space == PTX_SPACE_CONST  ? module->constants
                                                             : 0;
    if (!segment || variable->linkage == PTX_LINK_EXTERN)
        return CUDA_ERROR_NOT_FOUND;
    *address = segment + variable->offset;
    *bytes = variable->size;
    *is_managed = variable->managed;
    return CUDA_SUCCESS;
}

/* "Both parameters dptr and bytes are optional. If one of them is NULL, it is ignored." */
CUresult CUDAAPI cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod,
                                      const char *name)
{
    struct CUmod_st *module;
    CUresult result = enter(hmod, &module);
    if (result != CUDA_SUCCESS)
        return result;
    if (!name || (!dptr && !bytes))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    uint64_t address, size;
    bool is_managed;
    result = module_global(module, name, &address, &size, &is_managed);
    if (result == CUDA_SUCCESS && dptr)
        *dptr = address;
    if (result == CUDA_SUCCESS && bytes)
        *bytes = size;
    return device_leave(result);
}
