/* The hooks of modules and libraries. From these csan learns where function handles and their PTX
 * come from, and where variables lie. */
#include "driver_hooks.h"
#include "runtime/hook/state/implicit_wait.h"
#include "runtime/hook/kernel/kernel.h"

/* Makes the call, and does `seen` when it succeeded. A load promises no order; where the host was
 * seen to wait for the device (tests/litmus), a report says so. */
#define MODULE_HOOK(call, seen)                                                                    \
    CUresult result = call;                                                                        \
    if (result == CUDA_SUCCESS) {                                                                  \
        seen;                                                                                      \
    }                                                                                              \
    return result

CUresult hook_module_load(const struct driver_entry *entry, CUmodule *module, const char *fname)
{
    MODULE_HOOK(DRIVER_REAL(entry, cuModuleLoad_v2000)(module, fname),
                kernel_seen_load(*module, NULL, fname, false));
}

CUresult hook_module_load_data(const struct driver_entry *entry, CUmodule *module,
                               const void *image)
{
    MODULE_HOOK(DRIVER_REAL(entry, cuModuleLoadData_v2000)(module, image),
                implicit_wait_for_lane(WAIT_MODULE_LOAD, entry, 0, CSAN_NO_LANE);
                kernel_seen_load(*module, image, NULL, false));
}

CUresult hook_module_load_data_ex(const struct driver_entry *entry, CUmodule *module,
                                  const void *image, unsigned int numOptions, CUjit_option *options,
                                  void **optionValues)
{
    MODULE_HOOK(DRIVER_REAL(entry, cuModuleLoadDataEx_v2010)(module, image, numOptions, options,
                                                             optionValues),
                kernel_seen_load(*module, image, NULL, false));
}

CUresult hook_module_load_fat_binary(const struct driver_entry *entry, CUmodule *module,
                                     const void *fatCubin)
{
    MODULE_HOOK(DRIVER_REAL(entry, cuModuleLoadFatBinary_v2000)(module, fatCubin),
                kernel_seen_load(*module, fatCubin, NULL, false));
}

CUresult hook_library_load_data(const struct driver_entry *entry, CUlibrary *library,
                                const void *code, CUjit_option *jitOptions, void **jitOptionsValues,
                                unsigned int numJitOptions, CUlibraryOption *libraryOptions,
                                void **libraryOptionValues, unsigned int numLibraryOptions)
{
    MODULE_HOOK(DRIVER_REAL(entry, cuLibraryLoadData_v12000)(
                    library, code, jitOptions, jitOptionsValues, numJitOptions, libraryOptions,
                    libraryOptionValues, numLibraryOptions),
                kernel_seen_load(*library, code, NULL, true));
}

CUresult hook_library_load_from_file(const struct driver_entry *entry, CUlibrary *library,
                                     const char *fileName, CUjit_option *jitOptions,
                                     void **jitOptionsValues, unsigned int numJitOptions,
                                     CUlibraryOption *libraryOptions, void **libraryOptionValues,
                                     unsigned int numLibraryOptions)
{
    MODULE_HOOK(DRIVER_REAL(entry, cuLibraryLoadFromFile_v12000)(
                    library, fileName, jitOptions, jitOptionsValues, numJitOptions, libraryOptions,
                    libraryOptionValues, numLibraryOptions),
                kernel_seen_load(*library, NULL, fileName, true));
}

/* Unloading promises no order, though the host was seen to wait (tests/litmus). Handles are reused:
 * what hangs on them is forgotten before the call; when it fails the kernels are found again by
 * their names. */
CUresult hook_module_unload(const struct driver_entry *entry, CUmodule hmod)
{
    kernel_seen_unload(hmod);
    CUresult result = DRIVER_REAL(entry, cuModuleUnload_v2000)(hmod);
    if (result == CUDA_SUCCESS)
        implicit_wait_for_lane(WAIT_MODULE_UNLOAD, entry, 0, CSAN_NO_LANE);
    return result;
}

CUresult hook_library_unload(const struct driver_entry *entry, CUlibrary library)
{
    kernel_seen_unload(library);
    return DRIVER_REAL(entry, cuLibraryUnload_v12000)(library);
}

CUresult hook_module_get_function(const struct driver_entry *entry, CUfunction *hfunc,
                                  CUmodule hmod, const char *name)
{
    MODULE_HOOK(DRIVER_REAL(entry, cuModuleGetFunction_v2000)(hfunc, hmod, name),
                kernel_seen_function(*hfunc, hmod, name));
}

CUresult hook_library_get_kernel(const struct driver_entry *entry, CUkernel *pKernel,
                                 CUlibrary library, const char *name)
{
    MODULE_HOOK(DRIVER_REAL(entry, cuLibraryGetKernel_v12000)(pKernel, library, name),
                kernel_seen_function((CUfunction)*pKernel, library, name));
}

CUresult hook_library_get_module(const struct driver_entry *entry, CUmodule *pMod,
                                 CUlibrary library)
{
    MODULE_HOOK(DRIVER_REAL(entry, cuLibraryGetModule_v12000)(pMod, library),
                kernel_seen_module_of_library(*pMod, library));
}

CUresult hook_kernel_get_function(const struct driver_entry *entry, CUfunction *pFunc,
                                  CUkernel kernel)
{
    MODULE_HOOK(DRIVER_REAL(entry, cuKernelGetFunction_v12000)(pFunc, kernel),
                kernel_seen_alias(*pFunc, kernel));
}

/* "Both parameters dptr and bytes are optional (however, at least one must be non-NULL)": a program
 * that wants the size alone does not use the variable yet. */
static void seen_variable(void *module, const char *name, const CUdeviceptr_v2 *base,
                          const size_t *bytes)
{
    if (base && *base && *bytes)
        kernel_seen_variable(module, name, *base, *bytes);
}

CUresult hook_module_get_global(const struct driver_entry *entry, CUdeviceptr_v2 *dptr,
                                size_t *bytes, CUmodule hmod, const char *name)
{
    size_t own;
    if (dptr && !bytes)
        bytes = &own;
    MODULE_HOOK(DRIVER_REAL(entry, cuModuleGetGlobal_v3020)(dptr, bytes, hmod, name),
                seen_variable(hmod, name, dptr, bytes));
}

CUresult hook_library_get_global(const struct driver_entry *entry, CUdeviceptr *dptr, size_t *bytes,
                                 CUlibrary library, const char *name)
{
    size_t own;
    if (dptr && !bytes)
        bytes = &own;
    MODULE_HOOK(DRIVER_REAL(entry, cuLibraryGetGlobal_v12000)(dptr, bytes, library, name),
                seen_variable(library, name, dptr, bytes));
}

CUresult hook_library_get_managed(const struct driver_entry *entry, CUdeviceptr *dptr,
                                  size_t *bytes, CUlibrary library, const char *name)
{
    size_t own;
    if (dptr && !bytes)
        bytes = &own;
    MODULE_HOOK(DRIVER_REAL(entry, cuLibraryGetManaged_v12000)(dptr, bytes, library, name),
                seen_variable(library, name, dptr, bytes));
}
