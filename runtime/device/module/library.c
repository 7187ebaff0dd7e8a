/* Libraries and kernels: code that belongs to no context (cuLibrary*, cuKernel*). In each context
 * that uses one it becomes a module, loaded at the first use. */
#include "runtime/device/module/module.h"
#include "runtime/device/module/image.h"

#include <stdlib.h>

static bool add_kernels(struct CUlib_st *library)
{
    const struct ptx_module *ptx = library->code->ptx;
    struct CUkern_st **last = &library->kernels;
    for (uint32_t i = 0; i < ptx->function_count; i++) {
        if (!ptx->functions[i]->is_entry || ptx->functions[i]->is_prototype)
            continue;
        struct CUkern_st *kernel = calloc(1, sizeof *kernel);
        if (!kernel)
            return false;
        kernel->library = library;
        kernel->ptx = ptx->functions[i];
        settings_start(&kernel->settings, kernel->ptx);
        object_add(&kernel->object, OBJECT_KERNEL);
        *last = kernel;
        last = &kernel->next;
        library->kernel_count++;
    }
    return true;
}

static struct CUmod_st *loaded_module(const struct CUlib_st *library,
                                      const struct CUctx_st *context)
{
    struct CUmod_st *module = context->modules;
    while (module && module->library != library)
        module = module->next;
    return module;
}

static void library_free(struct CUlib_st *library)
{
    for (struct CUctx_st *context = device.contexts; context; context = context->next) {
        struct CUmod_st *module = loaded_module(library, context);
        if (module)
            module_unload(module);
    }
    struct CUlib_st **link = &device.libraries;
    while (*link != library)
        link = &(*link)->next;
    *link = library->next;
    object_remove(&library->object);
    while (library->kernels) {
        struct CUkern_st *kernel = library->kernels;
        library->kernels = kernel->next;
        object_remove(&kernel->object);
        free(kernel);
    }
    code_release(library->code);
    free(library);
}

static CUresult library_module(struct CUlib_st *library, struct CUctx_st *context,
                               struct CUmod_st **module)
{
    if (context->home)
        context = context->home;
    *module = loaded_module(library, context);
    return *module ? CUDA_SUCCESS : module_create(context, library->code, library, module);
}

CUresult kernel_function(struct CUkern_st *kernel, struct CUctx_st *context,
                         struct CUfunc_st **function)
{
    struct CUmod_st *module;
    CUresult result = library_module(kernel->library, context, &module);
    if (result != CUDA_SUCCESS)
        return result;
    *function = module->functions;
    while (*function && (*function)->ptx != kernel->ptx)
        *function = (*function)->next;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult function_resolve(CUfunction handle, struct CUctx_st *context, struct CUfunc_st **function)
{
    if (context->home)
        context = context->home;
    *function = object_find(handle, OBJECT_FUNCTION);
    if (*function)
        return CUDA_SUCCESS;
    struct CUkern_st *kernel = object_find(handle, OBJECT_KERNEL);
    return kernel ? kernel_function(kernel, context, function) : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- Libraries ----------------------------------------------------------------------------- */

static CUresult add_library(struct code *code, CUlibrary *handle)
{
    struct CUlib_st *library = calloc(1, sizeof *library);
    if (!library)
        return CUDA_ERROR_OUT_OF_MEMORY;
    code->references++;
    library->code = code;
    library->next = device.libraries;
    device.libraries = library;
    object_add(&library->object, OBJECT_LIBRARY);
    if (!add_kernels(library)) {
        library_free(library);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *handle = library;
    return CUDA_SUCCESS;
}

CUresult library_add_native(struct code *code, struct CUkern_st **kernel)
{
    CUlibrary library = NULL;
    CUresult result = add_library(code, &library);
    *kernel = result == CUDA_SUCCESS ? library->kernels : NULL;
    return result;
}

CUresult CUDAAPI cuLibraryLoadData(CUlibrary *handle, const void *image, CUjit_option *jitOptions,
                                   void **jitOptionsValues, unsigned int numJitOptions,
                                   CUlibraryOption *libraryOptions, void **libraryOptionValues,
                                   unsigned int numLibraryOptions)
{
    /* The options say what of the image may be kept: we keep nothing of it. */
    (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
    struct image_log log;
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    device_leave(CUDA_SUCCESS);
    if (!handle || !image)
        return CUDA_ERROR_INVALID_VALUE;
    image_log_options(&log, numJitOptions, jitOptions, jitOptionsValues);
    bool shell;
    struct ptx_module *ptx = image_load(image, &log, &shell, &result);
    if (!ptx)
        return result;
    struct code *code = code_create(ptx, shell);
    if (!code)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = device_enter();
    if (result == CUDA_SUCCESS)
        result = device_leave(add_library(code, handle));
    code_release(code);
    return result;
}

CUresult CUDAAPI cuLibraryLoadFromFile(CUlibrary *library, const char *fileName,
                                       CUjit_option *jitOptions, void **jitOptionsValues,
                                       unsigned int numJitOptions, CUlibraryOption *libraryOptions,
                                       void **libraryOptionValues, unsigned int numLibraryOptions)
{
    CUresult result;
    if (!fileName)
        return CUDA_ERROR_INVALID_VALUE;
    void *image = module_read_file(fileName, &result);
    if (!image)
        return result;
    result = cuLibraryLoadData(library, image, jitOptions, jitOptionsValues, numJitOptions,
                               libraryOptions, libraryOptionValues, numLibraryOptions);
    free(image);
    return result;
}

static CUresult enter(CUlibrary handle, struct CUlib_st **library)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    *library = object_find(handle, OBJECT_LIBRARY);
    return *library ? CUDA_SUCCESS : device_leave(CUDA_ERROR_INVALID_HANDLE);
}

CUresult CUDAAPI cuLibraryUnload(CUlibrary handle)
{
    struct CUlib_st *library;
    CUresult result = enter(handle, &library);
    if (result != CUDA_SUCCESS)
        return result;
    library_free(library);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuLibraryGetKernel(CUkernel *pKernel, CUlibrary handle, const char *name)
{
    struct CUlib_st *library;
    CUresult result = enter(handle, &library);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pKernel || !name)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    const struct ptx_function *ptx = ptx_module_function(library->code->ptx, name);
    struct CUkern_st *kernel = library->kernels;
    while (kernel && kernel->ptx != ptx)
        kernel = kernel->next;
    if (!ptx || !kernel)
        return device_leave(CUDA_ERROR_NOT_FOUND);
    *pKernel = kernel;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib)
{
    struct CUlib_st *library;
    CUresult result = enter(lib, &library);
    if (result != CUDA_SUCCESS)
        return result;
    if (!count)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *count = library->kernel_count;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels,
                                           CUlibrary lib)
{
    struct CUlib_st *library;
    CUresult result = enter(lib, &library);
    if (result != CUDA_SUCCESS)
        return result;
    if (!kernels)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct CUkern_st *kernel = library->kernels;
    for (unsigned i = 0; i < numKernels && kernel; i++, kernel = kernel->next)
        kernels[i] = kernel;
    return device_leave(CUDA_SUCCESS);
}

/* Enter for what needs the library in the current context. */
static CUresult enter_module(CUlibrary handle, struct CUmod_st **module)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUlib_st *library = object_find(handle, OBJECT_LIBRARY);
    if (!library)
        return device_leave(CUDA_ERROR_INVALID_HANDLE);
    result = library_module(library, context, module);
    return result == CUDA_SUCCESS ? result : device_leave(result);
}

CUresult CUDAAPI cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
    struct CUmod_st *module = NULL;
    CUresult result = enter_module(library, &module);
    if (result != CUDA_SUCCESS)
        return result;
    if (!pMod)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *pMod = module;
    return device_leave(CUDA_SUCCESS);
}

static CUresult get_global(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name,
                           bool managed_only)
{
    struct CUmod_st *module = NULL;
    CUresult result = enter_module(library, &module);
    if (result != CUDA_SUCCESS)
        return result;
    if (!name || (!dptr && !bytes))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    uint64_t address, size;
    bool is_managed;
    result = module_global(module, name, &address, &size, &is_managed);
    if (result == CUDA_SUCCESS && managed_only && !is_managed)
        result = CUDA_ERROR_NOT_FOUND;
    if (result == CUDA_SUCCESS && dptr)
        *dptr = address;
    if (result == CUDA_SUCCESS && bytes)
        *bytes = size;
    return device_leave(result);
}

CUresult CUDAAPI cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
                                    const char *name)
{
    return get_global(dptr, bytes, library, name, false);
}

CUresult CUDAAPI cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
                                     const char *name)
{
    return get_global(dptr, bytes, library, name, true);
}

/* ---- Kernels ------------------------------------------------------------------------------- */

CUresult CUDAAPI cuKernelGetFunction(CUfunction *pFunc, CUkernel handle)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUkern_st *kernel = object_find(handle, OBJECT_KERNEL);
    if (!kernel)
        return device_leave(CUDA_ERROR_INVALID_HANDLE);
    if (!pFunc)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct CUfunc_st *function;
    result = kernel_function(kernel, context, &function);
    if (result == CUDA_SUCCESS)
        *pFunc = function;
    return device_leave(result);
}

CUresult CUDAAPI cuKernelGetLibrary(CUlibrary *pLib, CUkernel handle)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    struct CUkern_st *kernel = object_find(handle, OBJECT_KERNEL);
    if (!kernel)
        return device_leave(CUDA_ERROR_INVALID_HANDLE);
    if (!pLib)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *pLib = kernel->library;
    return device_leave(CUDA_SUCCESS);
}
