/* Libraries loaded at run time. CUDA Runtime API, "Library Management". */
#include "runtime/device/cudart/runtime.h"

/* The names and numbers of the options are the driver's own (enum cudaJitOption, CUjit_option). */
API cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
                                    enum cudaJitOption *jit_options, void **jit_values,
                                    unsigned int jit_count, enum cudaLibraryOption *library_options,
                                    void **library_values, unsigned int library_count)
{
    ENTER();
    return error_from(driver.cuLibraryLoadData[0](
        (CUlibrary *)library, code, (CUjit_option *)jit_options, jit_values, jit_count,
        (CUlibraryOption *)library_options, library_values, library_count));
}

API cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *file,
                                        enum cudaJitOption *jit_options, void **jit_values,
                                        unsigned int jit_count,
                                        enum cudaLibraryOption *library_options,
                                        void **library_values, unsigned int library_count)
{
    ENTER();
    return error_from(driver.cuLibraryLoadFromFile[0](
        (CUlibrary *)library, file, (CUjit_option *)jit_options, jit_values, jit_count,
        (CUlibraryOption *)library_options, library_values, library_count));
}

API cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    ENTER();
    return error_from(driver.cuLibraryUnload[0]((CUlibrary)library));
}

API cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
    ENTER();
    return error_from(driver.cuLibraryGetKernel[0]((CUkernel *)kernel, (CUlibrary)library, name));
}

API cudaError_t cudaLibraryGetGlobal(void **pointer, size_t *bytes, cudaLibrary_t library,
                                     const char *name)
{
    ENTER();
    return error_from(
        driver.cuLibraryGetGlobal[0]((CUdeviceptr *)pointer, bytes, (CUlibrary)library, name));
}

API cudaError_t cudaLibraryGetManaged(void **pointer, size_t *bytes, cudaLibrary_t library,
                                      const char *name)
{
    ENTER();
    return error_from(
        driver.cuLibraryGetManaged[0]((CUdeviceptr *)pointer, bytes, (CUlibrary)library, name));
}

API cudaError_t cudaLibraryGetUnifiedFunction(void **function, cudaLibrary_t library,
                                              const char *symbol)
{
    ENTER();
    return error_from(driver.cuLibraryGetUnifiedFunction[0](function, (CUlibrary)library, symbol));
}

API cudaError_t cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t library)
{
    ENTER();
    return error_from(driver.cuLibraryGetKernelCount[0](count, (CUlibrary)library));
}

API cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int count,
                                            cudaLibrary_t library)
{
    ENTER();
    return error_from(
        driver.cuLibraryEnumerateKernels[0]((CUkernel *)kernels, count, (CUlibrary)library));
}
